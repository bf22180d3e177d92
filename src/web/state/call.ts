/** One call of the service as the page makes it: the thing that is sent, exported and copied. */
import { OPERATIONS, type Operation, type OperationName } from "../../operations.js";

export interface Call {
  readonly operation: OperationName;
  readonly dataset: string;
  /** Parameters by name in the order of the table; only `time` may be a list. */
  readonly parameters: Readonly<Record<string, string | number | readonly number[]>>;
  /** x, y, z of each point. */
  readonly points: Float32Array;
}

/** The row of the table behind a call. */
export function operationOf(call: Pick<Call, "operation">): Operation {
  return OPERATIONS.find((row) => row.name === call.operation) as Operation;
}

/** Points of a call in all. */
export function countOf(call: Call): number {
  return call.points.length / 3;
}
