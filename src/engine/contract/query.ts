/** Interface between the servers and the engine: queries in, results out. */
import type { DerivedPlan } from "../../analysis/derived.js";
import type { Merged, ReductionPlan } from "../../analysis/plan.js";
import type { SpectrumPlan, SpectrumSums } from "../../analysis/spectrum.js";
import type { StepLimit } from "../../shared/errors.js";
import type {
  FieldName,
  Integrator,
  OperationName,
  RecordName,
  SpatialInterpolation,
  TemporalInterpolation,
} from "../../shared/operations.js";
import type { Dataset, OpenFaces, Triple } from "../../storage/dataset/dataset.js";
import type { LevelQuantity, LevelSet } from "../../storage/levels/level-store.js";
import type { Histogram, LevelExtrema } from "../../storage/levels/level-sums.js";
import type { DiskCounts, StoreStatus } from "../../storage/remote/objects/store-status.js";
import type { StorePort } from "../../storage/remote/store-port.js";
import type { DraftRequest } from "../../storage/tools/drafts.js";
import type { DraftView } from "../../storage/tools/report.js";
import type { TextWorkers } from "../../text/text-task.js";
import type { ReducedParts } from "./reduced-parts.js";

export interface FrameBox {
  readonly field: FieldName;
  readonly frame: number;
  /** First node along x, y, z, counted from 0. */
  readonly first: Triple;
  /** Nodes taken along x, y, z, and nodes from one to the next. */
  readonly count: Triple;
  readonly stride: Triple;
}

/** A box within a region, in nodes of the region. */
export interface RegionBox {
  readonly from: Triple;
  readonly count: Triple;
}

export interface ReductionQuery {
  readonly plan: ReductionPlan;
  readonly frames: readonly number[];
  readonly derived?: DerivedPlan | null;
  /** Parts that need not be read because all their columns are known; in this process alone. */
  readonly skip?: { readonly fill: number; readonly isEmpty: (box: Omit<FrameBox, "field">) => boolean };
}

export interface SpectrumQuery {
  readonly plan: SpectrumPlan;
  readonly frames: readonly number[];
  readonly times: readonly number[];
  readonly derived: DerivedPlan | null;
}

/** Inputs that transforms provide, interpolated at points by a spatial option. */
export interface DerivedQuery {
  readonly plan: DerivedPlan;
  readonly points: Float32Array;
  readonly method: string;
}

/** A scalar expression that a cutout evaluates at its nodes. */
export interface QuantityQuery extends Pick<ReductionPlan, "order" | "names"> {
  readonly expression: string;
  readonly columns: readonly string[];
  /** Whole periods, in nodes, by which the coordinates of the box are shifted along each axis. */
  readonly ahead: Triple;
  readonly derived: DerivedPlan | null;
}

/** The members of a request except its token and its points; members that its operation lacks are absent. */
export interface Query {
  readonly operation: OperationName;
  readonly dataset?: string;
  /** Whether its times came as float32 rather than in double precision. */
  readonly singleTimes?: boolean;
  readonly time?: number;
  /** Weights of the frames for each point, if points have their own times; for grids at rest only. */
  readonly weights?: Float64Array;
  /** Tracking: `frozen` follows the velocity at StartTime throughout, so that no other time needs to be stored. */
  readonly frozen?: boolean;
  readonly StartTime?: number;
  readonly EndTime?: number;
  readonly dt?: number;
  readonly nt?: number;
  readonly Tp?: number;
  readonly filterlength?: number;
  readonly nlayers?: number;
  /** Filters, searches and cutouts: the field by its letter or name. */
  readonly field?: string;
  readonly filterwidth?: number;
  readonly spacing?: number;
  readonly threshold?: number;
  /** Corners of a box of nodes, counted from 1; both belong to it. */
  readonly x_start?: number;
  readonly y_start?: number;
  readonly z_start?: number;
  readonly x_end?: number;
  readonly y_end?: number;
  readonly z_end?: number;
  readonly T?: number;
  readonly x_step?: number;
  readonly y_step?: number;
  readonly z_step?: number;
  readonly filter_width?: number;
  readonly X?: number;
  readonly Y?: number;
  readonly Z?: number;
  readonly Xwidth?: number;
  readonly Ywidth?: number;
  readonly Zwidth?: number;
  /**
   * GetAnyCutoutWeb: the box, instead of `field`, `T`, corners and steps. On a periodic axis it may continue over the
   * seam for one more period. A force in closed form is evaluated at its nodes.
   */
  readonly nodes?: FrameBox;
  /** Datasets that expressions name besides: as the request has found them. */
  readonly others?: Readonly<Record<string, Dataset>>;
  readonly reduction?: ReductionQuery;
  readonly spectrum?: SpectrumQuery;
  /** With `nodes`: derived inputs at points, at `time` by `temporalInterpolation`. */
  readonly derivedAt?: DerivedQuery;
  /** GetAnyCutoutWeb: an expression that is cut out instead of the field. */
  readonly quantity?: QuantityQuery;
  readonly spatialInterpolation?: SpatialInterpolation;
  readonly temporalInterpolation?: TemporalInterpolation;
  /**
   * Tracking: records the positions after every `recordEvery` steps. Records of a particle follow one another: its
   * start, each recorded step, and the last step, which has the bits of the query without this member. More than
   * `query.points` records in all is a LimitError.
   */
  readonly recordEvery?: number;
  /** Tracking without drag: the scheme that moves particles; absent: heun. */
  readonly integrator?: Integrator;
  /** Tracking by equal steps without drag: answers the flow map, with its gradient by this scheme. */
  readonly flowMap?: SpatialInterpolation;
  /** With dopri5: the aim for the error of a path, as a distance; absent: 1e-6 of the smallest spacing. */
  readonly tolerance?: number;
  /** Tracking: treatment of particles that leave through open faces; absent: as the dataset states. */
  readonly openFaces?: OpenFaces;
  /** Tracking by equal steps without drag: random displacements, of particles that `velocities` numbers. */
  readonly diffusion?: { readonly diffusivity: number; readonly seed: number };
  /** Tracking: whether walls end paths as open faces do; absent: they hold particles, or reflect them with diffusion. */
  readonly walls?: "stop";
  /** Tracking: if particles stop at open faces, records end with the time of the exit, NaN before it. */
  readonly exitTimes?: boolean;
}

/**
 * Receives decoded triples. The writer fills `slab` (x, y, z, x, y, z, ...) from index 0 and calls `commit` when it is
 * full or the input ends; the sink then replaces the slab. An abort replaces it too, at any time, so the writer reads
 * `slab` again after every wait.
 */
export interface TripleSink {
  readonly slab: Float32Array;
  /** Hands over the first `count` triples of `slab`. */
  commit(count: number): void;
}

export function writeTriples(sink: TripleSink, triples: Float32Array): void {
  for (let from = 0; from < triples.length; ) {
    const { slab } = sink;
    const part = triples.subarray(from, from + slab.length);
    slab.set(part);
    sink.commit(part.length / 3);
    from += part.length;
  }
}

/** The most evaluations of a field of a small query. */
export const SMALL_WORK = 4096;

/** A running query: points go in as they arrive, and work starts before the last one is in. */
export interface Evaluation {
  readonly points: TripleSink;
  /** Initial velocities of GetPositionInertialParticle; with `diffusion` the numbers of particles (`shared/random.ts`). */
  readonly velocities: TripleSink;
  /** Nodes of a search or a cutout, which count as points; 0 for other queries. */
  readonly nodes: number;
  /** The largest number of points of this query, and the limit that sets it. */
  readonly limit: { readonly points: number; readonly name: string; readonly tracking?: StepLimit };
  /** The largest number of points of a task of a job; absent: `limit`. */
  readonly taskPoints?: number;
  /** Evaluations of a field for the points so far; 0 for a bad query. */
  readonly work: number;
  /** Records of three numbers per point of an answer that is held as a whole; absent: one. */
  readonly recordsPerPoint?: number;
  /** Records of the answer so far, beyond one per point; 0 for a bad query. */
  readonly extraRecords: number;
  /** Threads that read and write large texts; absent: the caller's thread does both. */
  readonly textThreads?: TextWorkers;
  /**
   * Ends the input and waits for the result. Rejects with the first error of the check order (dataset, time,
   * availability, options, coordinates), DeadlineError, BusyError, DataError, WorkerError, or CancelledError.
   */
  finish(): Promise<Result>;
  /** Stops all work of this query; `finish` rejects with CancelledError. Harmless after the end. */
  abort(): void;
}

/** The answer in the order of the points; `values` are parts of `items * components` float32, whole records each. */
export interface Result {
  readonly items: number;
  /** Records per point: 1, but (8^nlayers - 1) / 7 for box filters and `recordTimes.length` with `recordEvery`. */
  readonly itemsPerPoint: number;
  readonly components: number;
  readonly record?: RecordName;
  readonly values: readonly Float32Array[];
  /** Parts of a result that is not held as a whole, in order; each may be read until the next one is requested. */
  readonly stream?: AsyncIterable<Float32Array>;
  /** Bytes that a streamed result keeps until its end: points, and parts that wait to be read. */
  readonly heldBytes?: number;
  readonly reduced?: Merged;
  readonly sums?: SpectrumSums;
  readonly atPoints?: readonly Float64Array[];
  readonly shape?: readonly number[];
  /** With `recordEvery`: the time of each record of a particle. */
  readonly recordTimes?: Float64Array;
  /** Threads that write a large result in shared memory as text; absent: the caller's thread writes it. */
  readonly textThreads?: TextWorkers;
  release(): void;
}

export interface LentMemory {
  readonly bytes: Uint8Array<SharedArrayBuffer>;
  giveBack(): void;
}

/** The numbers of a result that is held as a whole, in one array. */
export function joinedValues({ values, items, components }: Result): Float32Array {
  const all = new Float32Array(items * components);
  let at = 0;
  for (const part of values) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

export interface PeerStatus {
  readonly name: string;
  /** Whether it takes pieces: it is alive, is not draining, and runs the same code on some of the same data. */
  readonly usable: boolean;
  /** Datasets of which it holds the same bytes. */
  readonly shared: number;
  readonly differing: number;
  /** Pieces that it has been sent and has not answered. */
  readonly outstanding: number;
}

/** Versions of the code and the bytes by which this process and its peers compute. */
export interface SharedGenerations {
  /** The generation of a dataset, or of all datasets together; null while it is unknown. */
  of(dataset: Dataset | null): string | null;
  isElsewhere(generation: string): boolean;
}

/** Counts of the pieces of queries that were divided among peers, since the start. */
export interface PieceCounts {
  /** Evaluated by this process: it owns their regions, or no peer was available. */
  readonly own: number;
  readonly asked: number;
  /** Pieces that the peer refused or did not answer, and that others evaluated. */
  readonly refused: number;
  readonly late: number;
  readonly answered: number;
}

/** Counts of regions of the datasets that a cluster divides. */
export interface RegionCounts {
  readonly owned: number;
  /** Regions of which more than half is in the cache, in any frame. */
  readonly cached: number;
}

export interface HeldBricks {
  readonly dataset: Dataset;
  readonly field: FieldName;
  readonly bricks: readonly number[];
}

/** The state of a running engine, for /metrics and /readyz. */
export interface EngineStatus {
  readonly ready: boolean;
  /** Files that wait for a person to confirm their description. */
  readonly waiting: number;
  readonly workers: number;
  readonly workersConfigured: number;
  readonly queued: number;
  readonly running: number;
  /** Small batches that the main thread has evaluated, since the start. */
  readonly inlined: number;
  readonly pointsInFlight: number;
  /** Bytes lent to queries for points, results, text and transforms, and all bytes of that memory. */
  readonly lentBytes: number;
  readonly sharedBytes: number;
  readonly bytesRead: number;
  readonly cacheHits: number;
  readonly cacheMisses: number;
  readonly cacheBytes: number;
  readonly stores: readonly StoreStatus[];
  /** Counts of the stores' cache on disk; null if there is none. */
  readonly storeCache: DiskCounts | null;
  /** The other processes of the cluster; none if this one works alone. */
  readonly peers: readonly PeerStatus[];
  readonly pieces: PieceCounts | null;
  /** Datasets whose bytes have not all been compared with the peers; null without a cluster. */
  readonly unverified: number | null;
  /** The connection to the cluster, and the reason if there is none; null without a cluster. */
  readonly nats: { readonly connected: boolean; readonly problem: string | null } | null;
}

export interface StartControl {
  readonly signal?: AbortSignal;
  /** Time that the result may take after the end of the input; absent: the limit `query.deadlineMs`. */
  readonly deadlineMs?: number;
  /** The version of the dataset, so that all queries of a request read the same one; absent: the present one. */
  readonly dataset?: Dataset;
  /** Whether a large result may come in parts, which are computed as they are read. */
  readonly stream?: boolean;
  /** The client whose share of the worker threads the query uses, compared by identity; absent: its own share. */
  readonly client?: unknown;
  /**
   * Called with the store when the query begins to wait for its bricks, and with null when it computes again or has
   * ended. False ends the query as Busy: too many wait already.
   */
  readonly onStoreWait?: (store: string | null) => boolean;
  /** Whether it uses worker threads only when no other query waits for them. */
  readonly background?: boolean;
  /** Whether this process evaluates the whole query, even in a cluster. */
  readonly alone?: boolean;
  readonly points?: number;
  /** The part of a search or a cutout to evaluate; absent: the whole. */
  readonly box?: RegionBox | null;
  /** The parts of a reduction whose states are the values of the result (`packStates`); absent: all parts. */
  readonly parts?: ReducedParts | null;
}

/** Components of an expression that need no transforms, at nodes. */
export function nodeQuantity(
  columns: readonly string[],
  names: QuantityQuery["names"],
  order: 4 | 6 | 8 = 4,
): QuantityQuery {
  return { expression: columns[0] as string, columns, order, names, ahead: [0, 0, 0], derived: null };
}

export type { DraftView, Histogram, LevelExtrema, LevelQuantity, LevelSet };

/** A quantity for which levels are made, and its expression at nodes. */
export interface RequestedLevels {
  readonly text: string;
  readonly components: 1 | 3;
  /** The field on whose nodes the quantity is evaluated. */
  readonly field: FieldName;
  readonly quantity: QuantityQuery;
}

export interface LevelWeights {
  readonly weights: { readonly all: number; readonly least: number };
  readonly known: readonly number[];
}

export interface MakeControl extends Pick<StartControl, "signal" | "client" | "background"> {
  readonly progress?: (fraction: number) => void;
}

/** A file that waits for a person to confirm its description. */
export interface WaitingFile {
  readonly location: string;
  readonly message: string;
  /** Its path with `*` for the last number of its name; null if there is none. */
  readonly series: string | null;
}

export interface Engine {
  /** Datasets served now, by name in alphabetical order. */
  datasets(): readonly Dataset[];
  /** The dataset of that name or alias, any letter case. */
  find(name: string): Dataset | undefined;
  /** The coarser levels of a dataset; null if there are none. */
  levels(dataset: Dataset): LevelSet | null;
  /** Extrema of a quantity in cubes of 8^3 nodes. Throws DataError. */
  levelExtrema(set: LevelSet, quantity: LevelQuantity, frame: number): Promise<LevelExtrema>;
  /** Weights of nodes by component: sum, minimum, and sum over nodes that have a value. Throws DataError. */
  levelWeights(set: LevelSet, quantity: LevelQuantity, frame: number): Promise<LevelWeights>;
  /** Histograms of the components of a quantity. Throws DataError. */
  levelHistograms(set: LevelSet, quantity: LevelQuantity, frame: number): Promise<readonly Histogram[]>;
  /** Makes levels of all fields and of some expressions. Throws DataError, CancelledError. */
  makeLevels(dataset: Dataset, quantities: readonly RequestedLevels[], control: MakeControl): Promise<LevelSet>;
  /** Begins a query. Never throws for a bad query: `finish` rejects. */
  start(query: Query, control: StartControl): Evaluation;
  /** Reads a JSON body on a worker thread (`readJsonBody`). Throws RequestError of what is wrong with it. */
  readJson(bytes: Uint8Array, client: unknown, background?: boolean): Promise<unknown>;
  /** Lends uninitialised memory. Throws RangeError when the system gives no more. */
  lend(bytes: number): LentMemory;
  status(): EngineStatus;
  /** Connects a thread to the one that reads stores, if there is one. */
  connectStores?(connection: StorePort): void;
  waiting(): readonly WaitingFile[];
  /** Reads the draft of waiting files; confirms it if no question is open. Throws RequestError, DataError. */
  draft(request: Pick<DraftRequest, "paths" | "texts" | "confirms" | "shown">): Promise<DraftView>;
  held(): readonly HeldBricks[];
  /** Null without a cluster. */
  regions(): RegionCounts | null;
  /** Null without a cluster. */
  generations(): SharedGenerations | null;
  reload(): Promise<void>;
  /** Ends running queries, waiting at most `graceMs`; false if some had to be killed. */
  close(graceMs: number): Promise<boolean>;
}
