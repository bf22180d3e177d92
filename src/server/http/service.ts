/** `Service` holds what every interface of the service shares; `Facts` is what the access log keeps of a request. */
import type { FastifyInstance } from "fastify";
import type { Config } from "../../config.js";
import type { Engine } from "../../engine/query.js";
import type { Admission } from "./admission.js";
import type { Auth } from "./auth.js";
import type { Connections } from "./connections.js";
import type { Tick, TimeSlices } from "./event-loop.js";
import type { Metrics } from "./metrics.js";
import type { Outgoing } from "./outgoing.js";
import type { Repeats } from "./repeats.js";

/** Path of the SOAP service, which the other interfaces tell their callers. */
export const SOAP_PATH = "/service/turbulence.asmx";

/** Shared by the interfaces of one service. */
export interface Service {
  readonly config: Config;
  readonly engine: Engine;
  readonly auth: Auth;
  readonly admission: Admission;
  readonly connections: Connections;
  readonly outgoing: Outgoing;
  readonly repeats: Repeats;
  readonly metrics: Metrics;
  readonly slices: TimeSlices;
  readonly tick: Tick;
  /** Public address without a slash at its end; from the configuration, else of the listening socket. */
  baseUrl(): string;
}

/** An interface: it gets an encapsulated instance, so its parsers, hooks and error handlers stay its own. */
export type Plugin = (app: FastifyInstance, service: Service) => void | Promise<void>;

/** Notes about a request while it is served, for one log line and the counters. */
export interface RequestFacts {
  /** The interface that serves it, or "http". */
  interface: string;
  /** A name of the operation table, or "none". */
  operation: string;
  /** Set where the status does not say it. */
  outcome: string | null;
  points: number;
  /** The dataset asked for. */
  dataset: string | null;
  /** Milliseconds that the request waited for a slot. */
  queueMs: number;
  /** Milliseconds from there to the whole result. */
  computeMs: number;
  /** Milliseconds of writing the answer, without waiting for its reader. */
  encodeMs: number;
  /** Names the token, never the token itself. */
  token: string | null;
}

/** Of a request of which nothing is known yet. */
export const NO_FACTS: Readonly<RequestFacts> = {
  interface: "http",
  operation: "none",
  outcome: null,
  points: 0,
  dataset: null,
  queueMs: 0,
  computeMs: 0,
  encodeMs: 0,
  token: null,
};

declare module "fastify" {
  interface FastifyRequest {
    facts: RequestFacts;
  }
  interface FastifyInstance {
    connections: Connections;
    /** Reads the token file and the TLS files again, and logs what has changed. */
    reload(): void;
  }
}
