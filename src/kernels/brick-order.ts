/** Sorts points by brick: Morton order of bricks, then Morton order of cubes of 8 cells within, by a radix sort. */
import { searchCell, wrap } from "./stencil.js";
import type { Axes, Axis, Bricking } from "./types.js";

/** Cells per edge of a cube, as a power of two; coarser if the keys do not fit 32 bits. */
const CUBE_BITS = 3;
const KEY_BITS = 32;
/** Bits sorted per pass. */
const DIGIT_BITS = 11;
const DIGITS = 1 << DIGIT_BITS;

/** Per axis and node, its part of the sort key: the key of a point in cell (i, j, k) is `x[i] | y[j] | z[k]`. */
export interface SortTables {
  readonly x: Uint32Array;
  readonly y: Uint32Array;
  readonly z: Uint32Array;
}

/** Bits needed to tell `count` values apart. */
function bitsFor(count: number): number {
  return count <= 1 ? 0 : 32 - Math.clz32(count - 1);
}

/**
 * Positions of each axis' bits in a Morton code whose axes have different numbers of bits, lowest first; x varies
 * fastest.
 */
function mortonPositions(bits: readonly number[], from: number): number[][] {
  const positions: number[][] = [[], [], []];
  let next = from;
  for (let level = 0; level < Math.max(...bits); level++) {
    for (let a = 0; a < 3; a++) if (level < bits[a]) positions[a].push(next++);
  }
  return positions;
}

/** Puts bit b of `value` at position `positions[b]`. */
function deposit(value: number, positions: readonly number[]): number {
  let out = 0;
  positions.forEach((position, b) => {
    if ((value >>> b) & 1) out |= 1 << position;
  });
  return out;
}

/** The key tables of a grid and the bricks of one of its fields. */
export function sortTables(axes: readonly Pick<Axis, "nodes">[], bricking: Bricking): SortTables {
  const { edge, count } = bricking;
  const brickBits = count.map(bitsFor);
  const free = KEY_BITS - brickBits.reduce((sum, bits) => sum + bits, 0);
  let shift = CUBE_BITS;
  const cubeBits = () => edge.map((nodes) => bitsFor(Math.ceil(nodes / 2 ** shift)));
  while (cubeBits().reduce((sum, bits) => sum + bits, 0) > free) shift++;
  const inner = mortonPositions(cubeBits(), 0);
  const outer = mortonPositions(
    brickBits,
    cubeBits().reduce((sum, bits) => sum + bits, 0),
  );
  const [x, y, z] = axes.map(({ nodes }, a) =>
    Uint32Array.from({ length: nodes }, (_, node) => {
      const brick = Math.floor(node / edge[a]);
      return deposit(brick, outer[a]) | deposit((node - brick * edge[a]) >> shift, inner[a]);
    }),
  );
  return { x, y, z };
}

/** The node at or below a coordinate, wrapped or limited to the axis. */
export function cellOf(axis: Axis, x: number): number {
  if (axis.coordinates !== null) return searchCell(axis.coordinates, x);
  const cell = Math.floor((x - axis.origin) / axis.spacing);
  return axis.periodic ? wrap(cell, axis.nodes) : Math.min(Math.max(cell, 0), axis.nodes - 1);
}

/**
 * Adds to the sum of each point what a table has for its cell.
 *
 * @param table   one entry per node, and one more for the first of the next period
 * @param triples every third number is a coordinate, the first at index 0; NaN counts for any node
 * @param shift   subtracted from the coordinates
 */
export function addByCell(
  axis: Axis,
  table: Uint16Array,
  triples: Float32Array,
  shift: number,
  sums: Uint16Array,
): void {
  const { nodes, origin, spacing, periodic, coordinates } = axis;
  if (coordinates !== null || !periodic) {
    for (let i = 0; i < sums.length; i++) sums[i] += table[cellOf(axis, triples[3 * i] - shift) | 0];
    return;
  }
  // Without a branch or a division; rounding may choose the wrong one of two nodes for a point between them.
  const first = origin + shift;
  const perLength = 1 / (nodes * spacing);
  for (let i = 0; i < sums.length; i++) {
    const turns = (triples[3 * i] - first) * perLength;
    sums[i] += table[((turns - Math.floor(turns)) * nodes) | 0];
  }
}

/**
 * Sorts points by key; stable.
 *
 * @param positions x, y, z of `count` points
 * @param keys      scratch, length at least 2 * count
 * @param indices   length at least 2 * count; its first `count` entries become the indices of the points in key order
 * @param sorted    receives the positions in key order; null: they are not wanted
 */
export function sortByBrick(
  axes: Axes,
  tables: SortTables,
  positions: Float64Array,
  count: number,
  keys: Uint32Array,
  indices: Uint32Array,
  sorted: Float64Array | null,
): void {
  const [ax, ay, az] = axes;
  let differing = 0;
  for (let i = 0; i < count; i++) {
    const x = tables.x[cellOf(ax, positions[3 * i])];
    const y = tables.y[cellOf(ay, positions[3 * i + 1])];
    const z = tables.z[cellOf(az, positions[3 * i + 2])];
    keys[i] = x | y | z;
    indices[i] = i;
    differing |= keys[i] ^ keys[0];
  }
  const starts = new Uint32Array(DIGITS);
  let from = 0;
  for (let shift = 0; shift < KEY_BITS; shift += DIGIT_BITS) {
    if (((differing >>> shift) & (DIGITS - 1)) === 0) continue;
    sortDigit(keys, indices, from, count - from, count, shift, starts);
    from = count - from;
  }
  if (from !== 0) indices.copyWithin(0, count, 2 * count);
  if (sorted === null) return;
  for (let i = 0; i < count; i++) for (let a = 0; a < 3; a++) sorted[3 * i + a] = positions[3 * indices[i] + a];
}

/** One counting pass: entries from `from` go to `to`, ordered by the digit at `shift`, equal digits as they were. */
function sortDigit(
  keys: Uint32Array,
  indices: Uint32Array,
  from: number,
  to: number,
  count: number,
  shift: number,
  starts: Uint32Array,
): void {
  starts.fill(0);
  for (let i = from; i < from + count; i++) starts[(keys[i] >>> shift) & (DIGITS - 1)]++;
  let next = to;
  for (let digit = 0; digit < DIGITS; digit++) {
    const size = starts[digit];
    starts[digit] = next;
    next += size;
  }
  for (let i = from; i < from + count; i++) {
    const target = starts[(keys[i] >>> shift) & (DIGITS - 1)]++;
    keys[target] = keys[i];
    indices[target] = indices[i];
  }
}
