/** What every interface of the service shares. */
import type { Config } from "../../config.js";
import type { Engine } from "../../engine/query.js";
import type { Admission } from "./admission.js";
import type { Auth } from "./auth.js";
import type { Metrics } from "./metrics.js";
import type { Round } from "./tick.js";
import type { Turns } from "./time-slice.js";

export interface Service {
  readonly config: Config;
  readonly engine: Engine;
  readonly auth: Auth;
  readonly admission: Admission;
  readonly metrics: Metrics;
  readonly turns: Turns;
  readonly round: Round;
  /** Public address without a slash at its end; from the configuration, else of the listening socket. */
  baseUrl(): string;
}

/** What is noted of a request while it is served, for one log line and the counters. */
export interface Facts {
  /** Who serves it: "http" or the name of an interface. */
  interface: string;
  /** A name of the operation table, or "none". */
  operation: string;
  /** Set where the status does not say it. */
  outcome: string | null;
  points: number;
  /** Names the token, never the token itself. */
  token: string | null;
}

declare module "fastify" {
  interface FastifyRequest {
    facts: Facts;
  }
}
