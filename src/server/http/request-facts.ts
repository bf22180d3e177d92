/** Facts about a request for the access log and the counters. */
export interface RequestFacts {
  interface: string;
  operation: string;
  /** The outcome, if the status does not show it. */
  outcome: string | null;
  points: number;
  dataset: string | null;
  queueMs: number;
  /** Milliseconds from there to the whole result. */
  computeMs: number;
  /** Milliseconds without waiting for the reader. */
  encodeMs: number;
  /** Name of the token, never the token itself. */
  token: string | null;
}

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

/** The outcome by the status and whether the answer was taken whole, unless the facts state it. */
export function outcomeOf({ outcome }: RequestFacts, isWhole: boolean, status: number): string {
  if (outcome !== null) return outcome;
  if (!isWhole) return "cancelled";
  return status < 400 ? "ok" : String(status);
}
