/** What crosses between the engine and its worker threads: plain records and shared arrays only. */
import type { ErrorCode, ErrorContext } from "../errors.js";
import type { Bricking, Dataset, Triple } from "../storage/dataset.js";
import type { SweepShape } from "./plan/sweep-shape.js";
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
  /** Points in sweep order: the place of each of them in `out`; null: `out` is this batch's alone, in the order of `points`. */
  readonly places: Uint32Array | null;
  /** This batch reads one frame of several and keeps sums for the others; null: it reads all frames it needs. */
  readonly pass: Pass | null;
  /** Word 0 becomes 1 when the batch need not go on. */
  readonly cancel: Int32Array;
  /** When the query has to be over, on the clock of `Date.now`; absent while its input arrives. */
  readonly deadline?: number;
  /** Tracking: the part of the steps to take; absent: all of them. */
  readonly leg?: Leg;
}

/** A part of the steps of tracking; `out` then has only the records made in it (`legRecords`). */
export interface Leg {
  readonly from: number;
  readonly to: number;
  /**
   * Positions and, with drag, velocities of the particles, in the frame of the grid: where the leg starts when `from` is not
   * 0, and where it ends unless it is the last.
   */
  readonly positions: Float64Array;
  readonly velocities: Float64Array;
}

/** One of `count` frames, in the order of their weights: the first sets the sums, the last rounds them into `out`. */
export interface Pass {
  readonly index: number;
  readonly count: number;
  /** Per point and component of the batch. */
  readonly sums: Float64Array;
}

/**
 * Puts points in the order in which data that does not fit the cache is best walked (`sweep.ts`), unless the bricks that they
 * touch fit after all.
 */
export interface SortTask {
  readonly kind: "sort";
  readonly dataset: Dataset;
  readonly points: readonly Segment[];
  readonly count: number;
  /** Index of the first point in the query. */
  readonly first: number;
  /** How far the grid has moved. */
  readonly shift: Triple;
  readonly bricking: Bricking;
  readonly shape: SweepShape;
  /** Bricks of a frame that fit the cache, all frames together. */
  readonly room: number;
  /** Word 0 becomes 1 when the points have been put in order. */
  readonly arranged: Int32Array;
  /** Word 0 becomes 1 when the task need not go on. */
  readonly cancel: Int32Array;
  /** Receives the points in sweep order. */
  readonly triples: Float32Array;
  /** Receives the index in the query of each of them. */
  readonly order: Uint32Array;
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

export type Task = BatchTask | SortTask | ScanTask | PingTask;

export interface Scan {
  readonly datasets: readonly Dataset[];
  readonly problems: readonly { readonly location: string; readonly message: string }[];
}

/** What a worker returns; errors cross as data because cloning drops their class and members. */
export type Outcome<T> = { readonly ok: true; readonly value: T } | (Failure & { readonly ok: false });

/** An error as data. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly context: ErrorContext;
  /** For the log. */
  readonly detail: string;
}
