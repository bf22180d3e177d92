/**
 * Opens boxes of nodes of one field: in place when one brick holds them, gathered to scratch when they cross brick
 * faces.
 */
import { createRuns, cutRun, type Runs, wrap } from "./stencil.js";
import type { Axes, BrickField, Bricking, BrickReader, Values } from "./types.js";

/** A box of nodes on three axes; each axis is a run from `start` (0 <= start < nodes) that may pass a periodic seam. */
export interface Box {
  readonly start: Int32Array;
  readonly length: Int32Array;
}

/** Node (i, j, k) of the box is at `data[base + k * strideZ + j * strideY + i * components]`. */
export interface Block {
  data: Values;
  base: number;
  strideY: number;
  strideZ: number;
}

/** Opens boxes of up to `span` nodes per axis as blocks, and lists the bricks they touch. */
export interface BlockReader {
  /** Most nodes of a box along an axis. */
  readonly span: number;
  /** Set these before `open` and `listBricks`. */
  readonly box: Box;
  readonly block: Block;
  /**
   * Makes `block` represent `box` in a field. Nodes of unavailable bricks read as NaN.
   *
   * @throws RangeError if a single brick holds the whole box and is unavailable
   */
  open(field: BrickField): void;
  /**
   * Makes `block` represent a combination of frames of `box`: `weight` times the nodes of this one, added to those of
   * the frames before unless it is the `first`.
   */
  addFrame(field: BrickField, weight: number, first: boolean): void;
  /** Whether one brick holds the box; if so `onlyBrick` is its index, else `runs` are the parts of its axes. */
  isInOneBrick(bricking: Bricking): boolean;
  onlyBrick: number;
  readonly runs: readonly [Runs, Runs, Runs];
}

/** Scratch for boxes of up to `span` nodes per axis and `components` values per node, on a grid. */
export function createBlockReader(axes: Axes, span: number, components: number): BlockReader {
  const nodes = axes.map((axis) => axis.nodes);
  const box = { start: new Int32Array(3), length: new Int32Array(3) };
  const runs = [createRuns(span), createRuns(span), createRuns(span)] as const;
  const single = new Float32Array(components * span ** 3);
  let double: Float64Array | null = null;
  const doubles = (): Float64Array => {
    double ??= new Float64Array(single.length);
    return double;
  };

  const openDense = (data: Values, size: number): void => {
    self.block.data = data;
    self.block.base = 0;
    self.block.strideY = box.length[0] * size;
    self.block.strideZ = box.length[1] * self.block.strideY;
  };

  const self: BlockReader = {
    span,
    box,
    block: { data: single, base: 0, strideY: 0, strideZ: 0 },
    onlyBrick: 0,
    runs,
    isInOneBrick(bricking) {
      const { edge, count } = bricking;
      let lone = true;
      for (let a = 0; a < 3; a++) {
        const last = box.start[a] + box.length[a] - 1;
        if (last >= nodes[a] || ((last / edge[a]) | 0) !== ((box.start[a] / edge[a]) | 0)) lone = false;
      }
      if (lone) {
        const [i, j, k] = box.start;
        self.onlyBrick = (((k / edge[2]) | 0) * count[1] + ((j / edge[1]) | 0)) * count[0] + ((i / edge[0]) | 0);
      } else {
        for (let a = 0; a < 3; a++) cutRun(nodes[a], edge[a], box.start[a], box.length[a], runs[a]);
      }
      return lone;
    },
    open(field) {
      const { bricking, components: size } = field;
      const { block } = self;
      if (self.isInOneBrick(bricking)) {
        const [ex, ey, ez] = bricking.edge;
        const offset = field.table[self.onlyBrick];
        if (offset < 0) throw new RangeError(`brick ${self.onlyBrick} is not at hand`);
        const [i, j, k] = box.start;
        block.data = field.data;
        block.strideY = ex * size;
        block.strideZ = ey * block.strideY;
        block.base = offset + (k % ez) * block.strideZ + (j % ey) * block.strideY + (i % ex) * size;
      } else {
        openDense(field.data instanceof Float64Array ? doubles() : single, size);
        gather(field, runs, block, copyRow);
      }
    },
    addFrame(field, weight, first) {
      const { bricking, components: size } = field;
      for (let a = 0; a < 3; a++) cutRun(nodes[a], bricking.edge[a], box.start[a], box.length[a], runs[a]);
      openDense(doubles(), size);
      gather(field, runs, self.block, first ? scaleRow(weight) : addRow(weight));
    },
  };
  return self;
}

/** Puts `length` values from `data[from]` on into `box[to]` and the following. */
type PutRow = (data: Values, from: number, box: Values, to: number, length: number) => void;

/** Puts the parts of a box into `block.data`, a dense box; unavailable bricks leave NaN. */
function gather(field: BrickField, [rx, ry, rz]: readonly [Runs, Runs, Runs], block: Block, put: PutRow): void {
  const { components, data, table } = field;
  const { edge, count } = field.bricking;
  const { data: box, strideY, strideZ } = block;
  const rowStride = edge[0] * components;
  const planeStride = edge[1] * rowStride;
  for (let c = 0; c < rz.count; c++) {
    for (let b = 0; b < ry.count; b++) {
      for (let a = 0; a < rx.count; a++) {
        const offset = table[(rz.brick[c] * count[1] + ry.brick[b]) * count[0] + rx.brick[a]];
        const length = rx.length[a] * components;
        const corner = offset + rz.inner[c] * planeStride + ry.inner[b] * rowStride + rx.inner[a] * components;
        const start = rz.from[c] * strideZ + ry.from[b] * strideY + rx.from[a] * components;
        for (let k = 0; k < rz.length[c]; k++) {
          for (let j = 0; j < ry.length[b]; j++) {
            const from = corner + k * planeStride + j * rowStride;
            const to = start + k * strideZ + j * strideY;
            if (offset < 0) box.fill(Number.NaN, to, to + length);
            else put(data, from, box, to, length);
          }
        }
      }
    }
  }
}

function copyRow(data: Values, from: number, box: Values, to: number, length: number): void {
  for (let i = 0; i < length; i++) box[to + i] = data[from + i];
}

function copyComponent(data: Values, from: number, step: number, box: Values, to: number, length: number): void {
  for (let i = 0, at = from; i < length; i++, at += step) box[to + i] = data[at];
}

function scaleRow(weight: number): PutRow {
  return (data, from, box, to, length) => {
    for (let i = 0; i < length; i++) box[to + i] = weight * data[from + i];
  };
}

function addRow(weight: number): PutRow {
  return (data, from, box, to, length) => {
    for (let i = 0; i < length; i++) box[to + i] += weight * data[from + i];
  };
}

/**
 * The parts of a run that hold a node of `support`: bit j of the result for part j; bit t of `support` is node t of the
 * run.
 */
export function touchedRuns(runs: Runs, support: number): number {
  let touched = 0;
  for (let j = 0; j < runs.count; j++) {
    const part = ((1 << runs.length[j]) - 1) << runs.from[j];
    if ((support & part) !== 0) touched |= 1 << j;
  }
  return touched;
}

/**
 * Appends to `list` the unmarked bricks of the chosen parts (bit masks per axis) and marks them; returns the new
 * length.
 */
export function markBricks(
  bricking: Bricking,
  [rx, ry, rz]: readonly [Runs, Runs, Runs],
  chosenX: number,
  chosenY: number,
  chosenZ: number,
  marks: Uint8Array,
  list: Int32Array,
  length: number,
): number {
  const { count } = bricking;
  let end = length;
  for (let c = 0; c < rz.count; c++) {
    if ((chosenZ & (1 << c)) === 0) continue;
    for (let b = 0; b < ry.count; b++) {
      if ((chosenY & (1 << b)) === 0) continue;
      for (let a = 0; a < rx.count; a++) {
        if ((chosenX & (1 << a)) === 0) continue;
        const brick = (rz.brick[c] * count[1] + ry.brick[b]) * count[0] + rx.brick[a];
        if (marks[brick] !== 0) continue;
        marks[brick] = 1;
        list[end++] = brick;
      }
    }
  }
  return end;
}

/** Whether all bricks of a box are marked, as most are once a few points have marked theirs. */
export function areMarked({ count }: Bricking, [rx, ry, rz]: BlockReader["runs"], marks: Uint8Array): boolean {
  for (let c = 0; c < rz.count; c++)
    for (let b = 0; b < ry.count; b++)
      for (let a = 0; a < rx.count; a++)
        if (marks[(rz.brick[c] * count[1] + ry.brick[b]) * count[0] + rx.brick[a]] === 0) return false;
  return true;
}

/** Calls `use` for every part (i, j, k) of a box of nodes, made of the parts i, j, k of the runs, x fastest. */
export function forBrickParts(
  [rx, ry, rz]: readonly [Runs, Runs, Runs],
  use: (i: number, j: number, k: number) => void,
): void {
  for (let k = 0; k < rz.count; k++) {
    for (let j = 0; j < ry.count; j++) {
      for (let i = 0; i < rx.count; i++) use(i, j, k);
    }
  }
}

/**
 * Calls `use` for every part of a box of nodes, each inside one brick, for kernels whose boxes may be larger than what
 * is at hand at once. Part (i, j, k) is made of the parts i, j, k of the runs; its first node is at
 * `data[corner]`.
 */
export function visitBrickParts(
  reader: BrickReader,
  frame: number,
  [rx, ry, rz]: readonly [Runs, Runs, Runs],
  use: (data: Values, corner: number, i: number, j: number, k: number) => void,
): void {
  const { edge, count } = reader.bricking;
  const strideY = edge[0] * reader.components;
  const strideZ = edge[1] * strideY;
  let i = 0;
  let j = 0;
  let k = 0;
  const open = (data: Values, offset: number): void =>
    use(data, offset + rz.inner[k] * strideZ + ry.inner[j] * strideY + rx.inner[i] * reader.components, i, j, k);
  for (k = 0; k < rz.count; k++) {
    for (j = 0; j < ry.count; j++) {
      for (i = 0; i < rx.count; i++) {
        reader.visit(frame, (rz.brick[k] * count[1] + ry.brick[j]) * count[0] + rx.brick[i], open);
      }
    }
  }
}

/**
 * Overwrites `out` with the `count` nodes of a box of one frame in the layout [z][y][x][component].
 *
 * @param first first node on x, y, z; on a periodic axis it may lie outside, and the box may pass the seam
 * @param component the only component that is wanted; absent: all
 */
export function gatherBox(
  reader: BrickReader,
  axes: Axes,
  frame: number,
  first: ArrayLike<number>,
  count: ArrayLike<number>,
  out: Float32Array | Float64Array,
  component?: number,
): void {
  const { bricking, components } = reader;
  const runs = [createRuns(count[0]), createRuns(count[1]), createRuns(count[2])] as const;
  for (let a = 0; a < 3; a++) {
    const { nodes } = axes[a];
    cutRun(nodes, bricking.edge[a], wrap(first[a], nodes), count[a], runs[a]);
  }
  const [rx, ry, rz] = runs;
  const strideY = bricking.edge[0] * components;
  const strideZ = bricking.edge[1] * strideY;
  visitBrickParts(reader, frame, runs, (data, corner, i, j, k) => {
    const length = rx.length[i];
    for (let z = 0; z < rz.length[k]; z++) {
      for (let y = 0; y < ry.length[j]; y++) {
        const to = ((rz.from[k] + z) * count[1] + ry.from[j] + y) * count[0] + rx.from[i];
        const from = corner + z * strideZ + y * strideY;
        if (component === undefined) copyRow(data, from, out, components * to, components * length);
        else copyComponent(data, from + component, components, out, to, length);
      }
    }
  });
}
