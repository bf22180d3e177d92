/** What the interfaces of a service share. */
import type { FastifyInstance } from "fastify";
import type { Engine } from "../../engine/contract/query.js";
import type { Config } from "../../shared/config.js";
import type { Auth } from "./auth.js";
import type { FileParts } from "./file-parts.js";
import type { Metrics } from "./metrics.js";
import type { Admission } from "./policies/admission.js";
import type { Connections } from "./policies/connections.js";
import type { Outgoing } from "./policies/outgoing.js";
import type { TimeSlices } from "./policies/time-slices.js";
import type { RequestFacts } from "./request-facts.js";
import type { Tags } from "./validators.js";

export const SOAP_PATH = "/service/turbulence.asmx";

/** Null if there is no input of the id, or it is another's. */
export type OpenInput = (
  owner: string | null,
  id: string,
  bytesPerPoint: number,
) => Promise<{ readonly count: number; read(): AsyncIterable<Buffer> } | null>;

/** A plug-in without which the service is ready too. */
export interface OptionalPlugin {
  /** Its state in `/readyz`. */
  state(): string;
  /** Reads its data, once the server listens and when files are to be read again. */
  open(): Promise<void>;
}

export interface Service {
  readonly config: Config;
  readonly engine: Engine;
  readonly auth: Auth;
  readonly admission: Admission;
  readonly connections: Connections;
  readonly outgoing: Outgoing;
  readonly metrics: Metrics;
  readonly slices: TimeSlices;
  readonly tags: Tags;
  /** Optional plug-ins by name; each adds itself. */
  readonly optional: Map<string, OptionalPlugin>;
  readonly jobs: boolean;
  readonly inputs: { open?: OpenInput };
  /** By this secret the process knows the tasks of its own jobs. */
  readonly taskKey: string;
  /** Of the public address, without a slash at its end. */
  readonly basePath: string;
  /** Without a slash at its end; from the configuration, else of the listening socket. */
  baseUrl(): string;
}

/** An interface: it gets an encapsulated instance, so its parsers, hooks and error handlers stay its own. */
export type Plugin = (app: FastifyInstance, service: Service) => void | Promise<void>;

declare module "fastify" {
  interface FastifyRequest {
    facts: RequestFacts;
  }
  interface FastifyInstance {
    connections: Connections;
    slices: TimeSlices;
    fileParts: FileParts;
    optional: Service["optional"];
    /** Reads the token file and the TLS files again. */
    reload(): void;
  }
}
