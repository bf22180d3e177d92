/** Tasks of the worker threads, as plain records and shared arrays. */
import type { DerivedPlan } from "../../analysis/derived.js";
import type { PartBox, ReductionPlan } from "../../analysis/plan.js";
import type { SpectrumPlan, TransformPlan } from "../../analysis/spectrum.js";
import type { Hits } from "../../kernels/threshold.js";
import type { FrameWeights } from "../../kernels/types.js";
import type { ErrorCode, ErrorContext } from "../../shared/errors.js";
import type { Bricking, Dataset, FieldName, Triple } from "../../storage/dataset/dataset.js";
import type { DraftRequest } from "../../storage/tools/drafts.js";
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

/** State of a task that waited for a store through whole time slices. */
export interface Waited {
  readonly waits: true;
  /** The brick for which it waits, and how often that has changed. */
  readonly brick: string;
  readonly changes: number;
}

/** A task that reads a dataset. */
interface ReadingTask {
  readonly dataset: Dataset;
  /** Number of the dataset's first field in the brick cache; the others follow. */
  readonly source: number;
  /** Word 0 becomes 1 when the task may stop. */
  readonly cancel: Int32Array;
  /** Null or absent: no wait since its last progress. */
  readonly waited?: Waited | null;
}

/** A dataset that expressions name besides that of their task. */
export interface OtherDataset<Data> {
  readonly name: string;
  readonly dataset: Data;
  readonly source: number;
  readonly others?: readonly OtherDataset<Data>[];
}

interface NodesTask extends ReadingTask {
  readonly others?: readonly OtherDataset<Dataset>[];
}

/** A bound on the adaptive steps of all particles of a query, whichever threads move them. */
export interface StepBudget {
  readonly most: number;
  /** Word 0: the steps tried so far, rejected ones included. */
  readonly tried: BigInt64Array;
}

/** One batch of a query: points in, `count * itemsPerPoint * components` float32 out. */
export interface BatchTask extends ReadingTask {
  readonly kind: "batch";
  readonly query: Query;
  /** Fields that the batch reads, in the order of its kernel. */
  readonly fields: readonly FieldName[];
  /** Index of the batch's first point in the query. */
  readonly first: number;
  readonly points: readonly Slab[];
  /** Initial velocities, or numbers of particles, one per point; empty: the velocities of the flow. */
  readonly velocities: readonly Slab[];
  readonly count: number;
  readonly steps: number;
  readonly step: number;
  readonly last: number;
  readonly itemsPerPoint: number;
  readonly out: Float32Array;
  /** Position in `out` of each point in sweep order; null: `out` is that of this batch, in the order of `points`. */
  readonly outIndices: Uint32Array | null;
  /** The sweep over combined bricks to which the batch belongs. */
  readonly combined?: CombinedSweep;
  /** The range of tiles of a filter over cubes; absent: all tiles. */
  readonly part?: { readonly index: number; readonly of: number };
  /** Bound on the adaptive steps of the query. */
  readonly stepBudget?: StepBudget;
  /** Evaluations of a field at a point. */
  readonly work: number;
  /** Work done in earlier time slices. */
  readonly progress?: Progress;
  /** Tracking: state of the particles between time slices (`particle-state.ts`). */
  readonly particles?: Float64Array;
}

/** Reads the bricks of a waiting batch into the cache. */
export interface AheadTask extends Omit<BatchTask, "kind"> {
  readonly kind: "ahead";
}

/** Progress of a batch or a cutout at the end of a time slice. */
export interface Progress {
  /** Points in the order of evaluation, steps of tracking, or planes of a cutout. */
  readonly done: number;
  /** Whether bricks are on their way from a store. */
  readonly waits?: boolean;
}

/** Puts points in sweep order (`plan/by-sweep.ts`), unless the bricks that they touch fit the cache. */
export interface SortTask extends Omit<ReadingTask, "waited"> {
  readonly kind: "sort";
  readonly points: readonly Slab[];
  readonly count: number;
  readonly first: number;
  readonly shift: Triple;
  readonly bricking: Bricking;
  readonly shape: SweepShape;
  /** Bricks of each frame that the cache holds. */
  readonly room: number;
  /** Word 0 becomes 1 when the points have been put in order. */
  readonly arranged: Int32Array;
  /** Receives the points in sweep order, and the index in the query of each. */
  readonly triples: Float32Array;
  readonly order: Uint32Array;
}

export interface ScanTask {
  readonly kind: "scan";
  readonly folders: readonly string[];
  readonly descriptors?: string | null;
  /** States found by an earlier scan, by location. */
  readonly known: ReadonlyMap<string, string>;
  readonly served?: ReadonlyMap<string, Float64Array>;
  /** Whether the last scan took so long that this one must not take a worker. */
  readonly slow: boolean;
  /** File with the findings of earlier processes; null: it is not read. */
  readonly index: string | null;
}

/** Reads what a file that waits is taken for, and keeps it if it is confirmed. */
export interface DraftTask extends DraftRequest {
  readonly kind: "draft";
}

/** Returns at once, which shows that a worker runs. */
export interface PingTask {
  readonly kind: "ping";
}

/** Finds the nodes of a box whose value is above a threshold. */
export interface SearchTask extends ReadingTask {
  readonly kind: "search";
  readonly region: NodeRegion;
  readonly method: string;
  readonly threshold: number;
  /** The most hits that need to be listed. */
  readonly most: number;
}

/** Joins the parts of a search and sorts their hits. */
export interface JoinTask {
  readonly kind: "join";
  readonly parts: readonly Hits[];
  /** Hits of all parts together. */
  readonly count: number;
}

/** Copies a box of nodes, with strides and means, into `out`: [z][y][x][component]. */
export interface CutoutTask extends NodesTask {
  readonly kind: "cutout";
  readonly region: NodeRegion;
  /** An expression to evaluate instead of the field, and inputs that transforms have provided. */
  readonly quantity?: QuantityQuery;
  readonly derived?: DerivedFields | null;
  readonly out: Float32Array;
  readonly progress?: Progress;
}

/** Reduces quantities at the nodes of a part of a region. */
export interface ReduceTask extends NodesTask {
  readonly kind: "reduce";
  readonly plan: ReductionPlan;
  /** The nodes of the part, and its position in the region of the plan. */
  readonly region: NodeRegion;
  readonly box: PartBox;
  /** Inputs that transforms have provided. */
  readonly derived?: DerivedFields | null;
  /** What all columns are, if the part need not be read. */
  readonly fill?: number;
}

/** Stages: planes along x and y that are kept or summed, rows along z that are summed or derived, planes back, and derived fields at points. */
type TransformStage =
  | { readonly stage: "forward"; readonly plan: TransformPlan }
  | { readonly stage: "planes"; readonly plan: SpectrumPlan }
  | { readonly stage: "sum"; readonly plan: SpectrumPlan }
  | { readonly stage: "derive" | "back"; readonly plan: DerivedPlan }
  | {
      readonly stage: "at";
      readonly plan: DerivedPlan;
      readonly points: Float32Array;
      readonly method: string;
    };

/** Transforms `count` planes, rows or points of a frame from number `from` on. */
export type TransformTask = TransformStage & TransformParts;

interface TransformParts extends NodesTask {
  readonly kind: "transform";
  /** Number of the stored frame, and its time. */
  readonly frame: number;
  readonly time: number;
  /** Frames whose weighted sum is transformed; absent: `frame`. */
  readonly blend?: FrameWeights;
  readonly from: number;
  readonly count: number;
  readonly scratch: ScratchPlanes;
  /** Inputs that transforms have provided. */
  readonly derived?: DerivedFields | null;
}

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
  | DraftTask
  | PingTask;

/** The outcome of a task; errors cross as data, because cloning drops their class and members. */
export type TaskOutcome<T> = { readonly ok: true; readonly value: T } | (Failure & { readonly ok: false });

/** An error as data. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly context: ErrorContext;
  /** For the log. */
  readonly detail: string;
}
