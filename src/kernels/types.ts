/** What kernels see of a dataset: axes, stored times, and fields cut into bricks. Types only. */

/**
 * One grid axis. Uniform: node i is at `origin + i * spacing`, and a periodic axis repeats after `nodes * spacing`.
 * Tabulated: node i is at `coordinates[i]`, ascending, never periodic; `spacing` is then the smallest interval.
 */
export interface Axis {
  readonly nodes: number;
  readonly origin: number;
  readonly spacing: number;
  readonly periodic: boolean;
  readonly coordinates: Float64Array | null;
  /**
   * Lengths by which the domain begins before the first node and ends behind the last, where other fields have nodes:
   * the stencils at the ends are evaluated there too. Absent: none.
   */
  readonly beyond?: readonly [first: number, last: number];
  /** Faces of the cells around the nodes, ascending, one more than nodes. Absent: `cellWidths` says where they are. */
  readonly edges?: Float64Array;
}

/** Whether there is a wall at the first and at the last node of an axis; a face without one is open. */
export type Walls = readonly [first: boolean, last: boolean];

/** The axes of a grid in the order x, y, z. */
export type Axes = readonly [Axis, Axis, Axis];

/**
 * Stored times, guards included. Uniform: frame k is at `origin + k * step`; otherwise `values` lists them, ascending.
 * Frames `guardBefore .. count - 1 - guardAfter` are the queryable ones.
 */
export interface TimeAxis {
  readonly count: number;
  readonly origin: number;
  readonly step: number;
  readonly values: Float64Array | null;
  readonly guardBefore: number;
  readonly guardAfter: number;
}

/** Three numbers in the order x, y, z. */
export type Triple = readonly [number, number, number];

/**
 * The cut of a field: `edge` nodes a brick and `count` bricks along x, y, z. Brick (0, 0, 0) starts at node (0, 0, 0).
 * Bricks at the far faces have full size too; their surplus nodes hold nothing and are never read.
 */
export interface Bricking {
  readonly edge: Triple;
  readonly count: Triple;
}

/** Node values: float32 as stored, float64 for combinations of frames and for tests without rounding. */
export type Values = Float32Array | Float64Array;

/**
 * One frame of a field, in bricks of layout [z][y][x][component].
 * Brick (i, j, k) has index `(k * count[1] + j) * count[0] + i`, and `table[index]` is where it starts in `data`
 * (in elements), or -1 while it is not at hand.
 */
export interface BrickField {
  readonly components: number;
  readonly bricking: Bricking;
  readonly data: Values;
  readonly table: Int32Array;
}

/**
 * A spatial scheme bound to a grid: interpolation or differentiation of the fields of an operation at points. Positions
 * are float64 triples in the dataset's coordinates, any finite value on periodic axes, inside the domain on others.
 */
export interface Scheme {
  /** Values per point in `out`, over all fields. */
  readonly components: number;
  /**
   * Appends to `list`, from position `length` on, the index of every brick that the stencils of points
   * `first .. first + count - 1` touch and whose `marks` entry is 0, and sets that entry to 1.
   *
   * @returns the new length of the list
   */
  listBricks(
    bricking: Bricking,
    positions: Float64Array,
    first: number,
    count: number,
    marks: Uint8Array,
    list: Int32Array,
    length: number,
  ): number;
  /**
   * Overwrites `out[components * i ..]` for the points `first .. first + count - 1`; the bricks of `listBricks` must be at
   * hand.
   */
  evaluate(
    fields: readonly BrickField[],
    positions: Float64Array,
    first: number,
    count: number,
    out: Float64Array,
  ): void;
  /**
   * As `evaluate`, for the combination of frames, which comes first: a node's value is the sum over frames of
   * `weights[f]` times its value in `frames[f]`, in float64 and in this order. The bits of a point do not depend on the
   * points next to it. All frames of a field have one bricking; the bricks of `listBricks` must be at hand in each.
   */
  combine(
    frames: readonly (readonly BrickField[])[],
    weights: readonly number[],
    positions: Float64Array,
    first: number,
    count: number,
    out: Float64Array,
  ): void;
  /** As `combine`, with weights of its own for each point: those of `first + i` are `weights[frames.length * i ..]`. */
  combineEach(
    frames: readonly (readonly BrickField[])[],
    weights: Float64Array,
    positions: Float64Array,
    first: number,
    count: number,
    out: Float64Array,
  ): void;
  /**
   * As `combine`, with the same bits, of bricks that hold the combination already: `fields` have float64 nodes, summed
   * over frames in the order that `combine` adds them in.
   */
  evaluateCombined(
    fields: readonly BrickField[],
    positions: Float64Array,
    first: number,
    count: number,
    out: Float64Array,
  ): void;
  /**
   * As `combine`, with the same bits, if the bricks of all frames are not at hand at a time: for as many points,
   * from `first` on, as there is room for in scratch.
   *
   * @param withFrame calls `use` with the fields of frame `turn` while its bricks are at hand
   * @returns the number of points evaluated, between 1 and `count`
   */
  combineInTurn(
    weights: readonly number[],
    withFrame: (turn: number, use: (fields: readonly BrickField[]) => void) => void,
    positions: Float64Array,
    first: number,
    count: number,
    out: Float64Array,
  ): number;
}

/** Bricks of one field on demand, for kernels whose boxes may be larger than what can be held at once. */
export interface BrickReader {
  readonly components: number;
  readonly bricking: Bricking;
  /** Calls `use` with a brick of a frame, which stays in place until `use` returns. */
  visit(frame: number, brick: number, use: (data: Values, offset: number) => void): void;
}

/** A combination of stored frames: the value at a time is the sum of `weights[i]` times frame `frames[i]`. */
export interface FrameWeights {
  readonly frames: readonly number[];
  readonly weights: readonly number[];
}

/**
 * Velocity at `count` positions and one time into `out`, three values per point: all that particle tracking knows of a
 * flow.
 */
export type VelocitySampler = (positions: Float64Array, count: number, time: number, out: Float64Array) => void;

/** As `VelocitySampler`, with a time of its own for each position. */
export type TimedSampler = (positions: Float64Array, count: number, times: Float64Array, out: Float64Array) => void;
