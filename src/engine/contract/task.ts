/** Tasks cross from the engine to its worker threads as plain records and shared arrays. */

import type { DerivedPlan } from "../../analysis/derived.js";
import type { PartBox, ReductionPlan } from "../../analysis/plan.js";
import type { SpectrumPlan, TransformPlan } from "../../analysis/spectrum.js";
import type { Hits } from "../../kernels/threshold.js";
import type { FrameWeights } from "../../kernels/types.js";
import type { ErrorCode, ErrorContext } from "../../shared/errors.js";
import type { Bricking, Dataset, FieldName, Triple } from "../../storage/file/dataset.js";
import type { CompressTask, JsonTask, ReadTask, WriteTask } from "../../text/text-task.js";
import type { CombinedSweep } from "./combined-bricks.js";
import type { NodeRegion } from "./node-region.js";
import type { QuantityQuery, Query } from "./query.js";
import type { DerivedFields, ScratchPlanes } from "./scratch.js";
import type { SweepShape } from "./sweep-shape.js";

/** Consecutive triples in shared memory. */
export interface Slab {
  readonly triples: Float32Array;
  readonly count: number;
}

/** How a task has waited for a store in time slices that it left with nothing done. */
export interface Waited {
  readonly waits: true;
  /** The brick that it waits for, and how often it was another one than before. */
  readonly brick: string;
  readonly changes: number;
}

/** A task that may read stores. */
interface ReadingTask {
  /** Null or absent: it has not waited since it last made progress. */
  readonly waited?: Waited | null;
}

/** A bound on the adaptive steps of all particles of a query, whichever threads move them. */
export interface StepBudget {
  readonly most: number;
  /** Word 0: the steps tried so far, whether or not they kept the tolerance. */
  readonly tried: BigInt64Array;
}

/** The evaluation of one batch of a query: points in, `count * itemsPerPoint * components` float32 out. */
export interface BatchTask extends ReadingTask {
  readonly kind: "batch";
  readonly query: Query;
  /** Fields that the batch reads, in the order of its kernel. */
  readonly fields: readonly FieldName[];
  readonly dataset: Dataset;
  /** Number of the dataset's first field in the brick cache; the others follow. */
  readonly source: number;
  /** Index of the batch's first point in the query. */
  readonly first: number;
  readonly points: readonly Slab[];
  /** Initial velocities, point by point; none: those of the flow. */
  readonly velocities: readonly Slab[];
  readonly count: number;
  readonly steps: number;
  readonly step: number;
  readonly last: number;
  readonly itemsPerPoint: number;
  readonly out: Float32Array;
  /** Points in sweep order: the place of each in `out`; null: `out` belongs to this batch, in the order of `points`. */
  readonly places: Uint32Array | null;
  /** The sweep over combined bricks to which the batch belongs; absent: its frames are combined at its points. */
  readonly combined?: CombinedSweep;
  /** The part of the tiles of a filter over cubes that the batch evaluates; absent: all of them. */
  readonly part?: { readonly index: number; readonly of: number };
  /** Word 0 becomes 1 when the batch is cancelled. */
  readonly cancel: Int32Array;
  /** Adaptive steps that the particles of the query may try; absent: its steps are known in advance. */
  readonly stepBudget?: StepBudget;
  /** Evaluations of a field at a point that the batch takes. */
  readonly work: number;
  /** Work done in earlier time slices; absent: none. */
  readonly progress?: Progress;
  /** Tracking: where the particles are kept between time slices (`particle-state.ts`); absent: nothing is kept. */
  readonly particles?: Float64Array;
}

/** Reads the bricks of a batch that waits into the cache, before a thread for it is free. */
export interface AheadTask extends Omit<BatchTask, "kind"> {
  readonly kind: "ahead";
}

/** The progress of a batch or a cutout whose time slice has ended before its work. */
export interface Progress {
  /** Points in the order of evaluation, steps of tracking, or planes of a cutout that are done. */
  readonly done: number;
  /** Whether the slice has ended because bricks are on their way from a store. */
  readonly waits?: boolean;
}

/**
 * Puts points in sweep order (`plan/by-sweep.ts`), unless the bricks that they touch fit the cache.
 */
export interface SortTask {
  readonly kind: "sort";
  readonly dataset: Dataset;
  /** Number of the dataset's first field in the brick cache. */
  readonly source: number;
  readonly points: readonly Slab[];
  readonly count: number;
  /** Index of the first point in the query. */
  readonly first: number;
  /** Displacement of the grid. */
  readonly shift: Triple;
  readonly bricking: Bricking;
  readonly shape: SweepShape;
  /** Bricks of each frame that the cache holds (`Sweep.room` of `plan/by-sweep.ts`). */
  readonly room: number;
  /** Word 0 becomes 1 when the points have been put in order. */
  readonly arranged: Int32Array;
  /** Word 0 becomes 1 when the task is cancelled. */
  readonly cancel: Int32Array;
  /** Receives the points in sweep order. */
  readonly triples: Float32Array;
  /** Receives the index in the query of each of them. */
  readonly order: Uint32Array;
}

/** Scans the data folders. */
export interface ScanTask {
  readonly kind: "scan";
  readonly folders: readonly string[];
  /** The separate folder of descriptors. */
  readonly descriptors?: string | null;
  /** States of what an earlier scan has seen, by location. */
  readonly known: ReadonlyMap<string, string>;
  /** Whether the last scan took so long that this one must not take a worker. */
  readonly slow: boolean;
  /** File with the findings of scans of earlier processes; null: it is not read. */
  readonly index: string | null;
}

/** Returns at once, which shows that a worker runs. */
export interface PingTask {
  readonly kind: "ping";
}

/** Finds the nodes of a box whose value is above a threshold. */
export interface SearchTask extends ReadingTask {
  readonly kind: "search";
  readonly dataset: Dataset;
  readonly source: number;
  readonly region: NodeRegion;
  readonly method: string;
  readonly threshold: number;
  /** Hits that the query may have: more need not be listed. */
  readonly most: number;
  /** Word 0 becomes 1 when the task need not continue. */
  readonly cancel: Int32Array;
}

/** Joins the parts of a search and sorts their hits. */
export interface JoinTask {
  readonly kind: "join";
  readonly parts: readonly Hits[];
  /** Hits of all parts together. */
  readonly count: number;
}

/** Copies a box of nodes, with strides and means, into `out`: [z][y][x][component]. */
export interface CutoutTask extends ReadingTask {
  readonly kind: "cutout";
  readonly dataset: Dataset;
  readonly source: number;
  readonly region: NodeRegion;
  /** What is evaluated at the nodes instead of the field, and inputs that transforms have made; absent: nothing. */
  readonly quantity?: QuantityQuery;
  readonly derived?: DerivedFields | null;
  readonly out: Float32Array;
  /** Word 0 becomes 1 when the task need not continue. */
  readonly cancel: Int32Array;
  /** Work done in earlier time slices; absent: none. */
  readonly progress?: Progress;
}

/** Reduces quantities at the nodes of a part of a region. */
export interface ReduceTask extends ReadingTask {
  readonly kind: "reduce";
  readonly dataset: Dataset;
  readonly source: number;
  readonly plan: ReductionPlan;
  /** The nodes of the part, and its place in the region of the plan. */
  readonly region: NodeRegion;
  readonly box: PartBox;
  /** Inputs that transforms have made of the frame; absent: none. */
  readonly derived?: DerivedFields | null;
  /** Word 0 becomes 1 when the task need not continue. */
  readonly cancel: Int32Array;
}

/**
 * What a transform does: planes along x and y, rows along z that are summed or derived, derived planes back, and
 * derived fields at points.
 */
type TransformStage =
  | { readonly stage: "forward"; readonly plan: TransformPlan }
  | { readonly stage: "sum"; readonly plan: SpectrumPlan }
  | { readonly stage: "derive" | "back"; readonly plan: DerivedPlan }
  | {
      readonly stage: "at";
      readonly plan: DerivedPlan;
      /** Those of the task alone. */
      readonly points: Float32Array;
      readonly method: string;
    };

/** Transforms `count` planes, rows or points of a frame from number `from` on. */
export type TransformTask = TransformStage & TransformParts;

interface TransformParts extends ReadingTask {
  readonly kind: "transform";
  readonly dataset: Dataset;
  readonly source: number;
  /** Number of the stored frame, and its time. */
  readonly frame: number;
  readonly time: number;
  /** The frames whose sum is transformed; absent: `frame`. */
  readonly blend?: FrameWeights;
  readonly from: number;
  readonly count: number;
  readonly scratch: ScratchPlanes;
  /** Inputs that transforms have made of the frame; absent: none. */
  readonly derived?: DerivedFields | null;
  /** Word 0 becomes 1 when the task need not continue. */
  readonly cancel: Int32Array;
}

/** A task for a worker thread. */
export type Task =
  | BatchTask
  | AheadTask
  | SortTask
  | SearchTask
  | JoinTask
  | CutoutTask
  | ReduceTask
  | TransformTask
  | ReadTask
  | WriteTask
  | JsonTask
  | CompressTask
  | ScanTask
  | PingTask;

/** The outcome of a task; errors cross as data because cloning drops their class and members. */
export type TaskOutcome<T> = { readonly ok: true; readonly value: T } | (Failure & { readonly ok: false });

/** An error as data. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly context: ErrorContext;
  /** For the log. */
  readonly detail: string;
}
