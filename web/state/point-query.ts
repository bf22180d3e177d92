/** A point query is one operation at a list of points; the page sends, exports and copies the same record. */
import {
  type Integrator,
  type Operation,
  type OperationName,
  operationOf as rowOf,
} from "../../src/shared/operations.js";

export interface PointQuery {
  readonly operation: OperationName;
  readonly dataset: string;
  /** Parameters by name in the order of the table; only `time` may be a list. */
  readonly parameters: Readonly<Record<string, string | number | readonly number[]>>;
  /** x, y, z of each point. */
  readonly points: Float32Array;
}

/** Particles to follow on their way. */
export interface Tracking {
  readonly query: PointQuery;
  /** Steps from one recorded position to the next. */
  readonly every: number;
  /**
   * Whether particles stop where they leave through open faces, and tell when; else the first of them fails the query.
   */
  readonly stops: boolean;
  readonly integrator: Integrator;
  /** The time at which each particle starts; null: all at that of the query. */
  readonly starts: Float32Array | null;
  /** Expression of the quantity that is recorded too; null for none. */
  readonly along: string | null;
}

/** A flow map of a plane. */
export interface StretchingQuery {
  readonly dataset: string;
  readonly body: {
    readonly start: number;
    readonly end: number;
    readonly dt: number;
    readonly method: string;
    readonly plane: { readonly normal: "x" | "y" | "z"; readonly at: number; readonly count: readonly number[] };
    readonly region: { readonly origin: readonly number[]; readonly extent: readonly number[] };
  };
}

/** The row of the operation table behind a query. */
export function operationOf(query: Pick<PointQuery, "operation">): Operation {
  return rowOf(query.operation);
}
