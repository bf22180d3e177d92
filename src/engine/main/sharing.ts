/** Division of large queries among the peers of a cluster, which the engine considers before its own plans. */
import type { PartialMerge } from "../../analysis/parts.js";
import type { Engine, PeerStatus, PieceCounts, RegionBox, RegionCounts, SharedGenerations } from "../contract/query.js";
import type { ReducedParts } from "../contract/reduced-parts.js";
import type { BatchTask } from "../contract/task.js";
import type { CheckedQuery } from "./check-query.js";

/** The points of a query, and the memory that receives its values in their order. */
export type SharedPoints = Pick<BatchTask, "points" | "velocities" | "count" | "out">;

/** Conditions under which peers evaluate a query. */
export interface SharingControl {
  /** On the clock of `Date.now`. */
  readonly deadline: number;
  readonly signal: AbortSignal;
  /** The client whose share of the worker threads the query uses. */
  readonly client: unknown;
}

/** The evaluation of a query that is divided among peers; no task for a worker thread. */
export interface DividedTask {
  readonly kind: "divided";
  /** The whole query as a batch, evaluated at once if it is small and its bricks are cached. */
  readonly whole: BatchTask;
  run(control: SharingControl): Promise<void>;
}

/** Evaluates queries together with the peers. */
export interface Sharing {
  attach(engine: Engine): void;
  /** Whether the query may be divided; then nothing starts before all its points are known. */
  mayDivide(checked: CheckedQuery): boolean;
  /** Whether it pays to divide a query that may be divided. `count`: its points or nodes. */
  shouldDivide(checked: CheckedQuery, count: number): boolean;
  /** Evaluates a query at points. Throws the error that one process would report. */
  evaluate(checked: CheckedQuery, work: SharedPoints, control: SharingControl): Promise<void>;
  search(checked: CheckedQuery, control: SharingControl): Promise<readonly Float32Array[]>;
  /** Copies a box of a cutout into `out`: [z][y][x][component]. */
  cutout(checked: CheckedQuery, box: RegionBox, out: Float32Array, control: SharingControl): Promise<void>;
  /** Reduces parts of the region of a query. Returns the merged states of groups of parts. */
  reduce(checked: CheckedQuery, parts: ReducedParts, control: SharingControl): Promise<readonly PartialMerge[]>;
  status(): {
    readonly peers: readonly PeerStatus[];
    readonly pieces: PieceCounts;
    readonly unverified: number;
    readonly nats: { readonly connected: boolean; readonly problem: string | null };
    /** Bytes of shared memory that are lent to pieces. */
    readonly lentBytes: number;
  };
  regionCounts(): RegionCounts;
  readonly generations: SharedGenerations;
  /** Refuses further pieces of peers; accepted ones are queries of the engine. */
  drain(): void;
  close(): Promise<void>;
}
