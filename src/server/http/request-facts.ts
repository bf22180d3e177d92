/** What the access log and the counters keep of a request while it is served. */
export interface RequestFacts {
  /** The interface that serves it, or "http". */
  interface: string;
  /** A name of the operation table, or "none". */
  operation: string;
  /** Set if the status does not say it. */
  outcome: string | null;
  points: number;
  /** The requested dataset. */
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

/** The facts of a request before anything is known. */
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

/** The outcome of a request whose facts do not state it, by its status and whether its answer was taken whole. */
export function outcomeOf({ outcome }: RequestFacts, isWhole: boolean, status: number): string {
  if (outcome !== null) return outcome;
  if (!isWhole) return "cancelled";
  return status < 400 ? "ok" : String(status);
}
