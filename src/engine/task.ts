/** What crosses between the engine and its worker threads: plain records and shared arrays only. */
import type { ErrorCode, ErrorContext } from "../errors.js";
import type { KernelName } from "../operations.js";
import type { Dataset } from "../storage/grid.js";
import type { Query } from "./query.js";

/** A run of triples in shared memory. */
export interface Segment {
  readonly triples: Float32Array;
  readonly count: number;
}

/** One batch of a query: points in, `count * itemsPerPoint * components` float32 out. */
export interface BatchTask {
  readonly kind: "batch";
  readonly query: Query;
  readonly kernel: KernelName;
  readonly dataset: Dataset;
  /** Number of the dataset's first field in the brick cache; the others follow. */
  readonly source: number;
  /** Index of the batch's first point in the query. */
  readonly first: number;
  readonly points: readonly Segment[];
  /** Initial velocities, point by point; none: those of the flow. */
  readonly velocities: readonly Segment[];
  readonly count: number;
  readonly steps: number;
  readonly step: number;
  readonly itemsPerPoint: number;
  readonly out: Float32Array;
  /** Word 0 becomes 1 when the batch need not go on. */
  readonly cancel: Int32Array;
}

/** Reads the data folders. */
export interface ScanTask {
  readonly kind: "scan";
  readonly folders: readonly string[];
}

/** Answers at once: shows that workers run. */
export interface PingTask {
  readonly kind: "ping";
}

export type Task = BatchTask | ScanTask | PingTask;

export interface Scan {
  readonly datasets: readonly Dataset[];
  readonly problems: readonly { readonly location: string; readonly message: string }[];
}

/** What a worker returns; errors cross as data because cloning drops their class and members. */
export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false;
      readonly code: ErrorCode;
      readonly message: string;
      readonly context: ErrorContext;
      readonly detail: string;
    };
