/** The service as its interfaces see it: engine, settings, authentication, limits and metrics. */
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

/** A task of a job: a call that the service sends to itself. */
export interface ServiceTask {
  /** The token that started the job; null without tokens. */
  readonly owner: string | null;
  /** Most points of this token; 0: any number. */
  readonly limit: number;
  /** The part of the call to answer; null: the whole call. */
  readonly part: unknown;
}

/** A plug-in without which the service is ready too. */
export interface OptionalPlugin {
  state(): string;
  /** Reads its data: when the server listens, and when files are to be read again. */
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
  /** The tasks of jobs that run, by the secret of each. */
  readonly tasks: Map<string, ServiceTask>;
  /** Path of the public address, without a slash at its end. */
  readonly basePath: string;
  /** Public address without a slash at its end: from the configuration, else from the listening socket. */
  baseUrl(): string;
}

/** An interface. It gets an encapsulated instance, so that its parsers, hooks and error handlers stay its own. */
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
