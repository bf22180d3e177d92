/** Sources of the bricks of a field in a thread: stored bricks, or the combined bricks of a sweep. Types only. */
import type { Bricking } from "../../kernels/types.js";
import type { FrameBricks } from "../../storage/bricks/brick-reader.js";

export interface BrickSource {
  readonly source: number;
  readonly components: number;
  readonly bricking: Bricking;
  readonly load: (frame: number, brick: number, into: Float32Array) => void;
  /**
   * Starts to fetch bricks from a store, waits for a moment if none has arrived, and returns those that have arrived
   * or failed. Absent for files on this machine, which `load` reads.
   */
  readonly fetched?: ((bricks: readonly FrameBricks[]) => readonly FrameBricks[]) | undefined;
  /** Itself, if the bricks are combined ones. */
  readonly combined?: CombinedBricks;
}

export interface CombinedMemory {
  /** The whole block as float32, and as float64. */
  readonly data: Float32Array;
  readonly sums: Float64Array;
  /** Index in `data` of room for one stored brick. */
  readonly scratch: number;
}

/** The combined bricks of a field in a sweep (`../contract/combined-bricks.ts`). */
export interface CombinedBricks {
  /** The source of the bricks that they are made of. */
  readonly stored: BrickSource;
  /** Float32 values of a stored brick. */
  readonly storedValues: number;
  /**
   * Makes combined bricks: the sum over frames, in their order, of weighted nodes.
   *
   * @param offsets index of the first value of each in `memory.data`
   * @param made    called with the index of each in `bricks`
   * @returns the bytes of stored bricks that were read
   * @throws DataError
   */
  make(
    bricks: readonly number[],
    offsets: readonly number[],
    memory: CombinedMemory,
    made: (at: number) => void,
  ): number;
  /**
   * The combined bricks to make with a missing one, because they need the same stored brick: all of its combined bricks
   * if points `first .. last` lie in its layer and column, else those as far along as the missing one.
   */
  madeWith(brick: number, positions: Float64Array, first: number, last: number): number[];
  /**
   * Starts to fetch the stored bricks that some combined ones are made of, in every frame; waits for a moment if none
   * has arrived; returns whether all have arrived or failed, as those of local files always have.
   */
  areFetched(bricks: readonly number[]): boolean;
  /** The combined bricks that the sweep no longer needs and has not dropped yet. */
  passed(positions: Float64Array, workerIndex: number): number[];
  /** Marks that this thread no longer evaluates a batch. */
  leave(workerIndex: number): void;
}
