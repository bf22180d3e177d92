/** Sorts the points of a section into sweep order: by column, layer, row and brick (`sweep-shape.ts`). */
import { cellOf, type SortTables, sortByBrick } from "../../kernels/brick-order.js";
import { firstOutside } from "../../kernels/stencil.js";
import type { Axes, Bricking } from "../../kernels/types.js";
import type { Dataset } from "../../storage/dataset/dataset.js";
import type { Message } from "../contract/dataset-copy.js";
import { fillPositions, outsideError } from "../contract/positions.js";
import { referenceNode, STENCIL_REACH, type SweepShape } from "../contract/sweep-shape.js";
import type { SortTask } from "../contract/task.js";
import { throwIfCancelled } from "./refusals.js";

/** Nodes per edge of the blocks by which points within a brick are ordered, as a power of two. */
const CUBE_BITS = 4;
const KEY_BITS = 32;

/** A part of the sort key: its value for the reference node of a stencil, and the number of values. */
interface KeyPart {
  readonly axis: number;
  readonly values: number;
  readonly valueAt: (node: number, brick: number) => number;
}

/** The key tables of a sweep; from the highest bits down: column, layer, row, brick in the row, block in the brick. */
export function sweepTables(
  axes: Axes,
  { edge, count }: Bricking,
  { axes: order, width, reference }: SweepShape,
): SortTables {
  const [row, next, along] = order;
  const blocks = edge.map((nodes, axis): KeyPart => {
    const valueAt = (node: number, brick: number) => (node - brick * nodes) >> CUBE_BITS;
    return { axis, values: Math.ceil(nodes / 2 ** CUBE_BITS), valueAt };
  });
  const inColumn = (axis: number): KeyPart => {
    const wide = width[axis];
    return { axis, values: wide, valueAt: (_, brick) => brick % wide };
  };
  const column = (axis: number): KeyPart => {
    const wide = width[axis];
    return { axis, values: Math.ceil(count[axis] / wide), valueAt: (_, brick) => Math.floor(brick / wide) };
  };
  const bricks = [inColumn(row), inColumn(next), inColumn(along), column(row), column(next)];
  const parts = [...blocks, ...bricks];
  const fits = parts.reduce((sum, { values }) => sum + bitsOf(values), 0) <= KEY_BITS;
  const tables = axes.map(({ nodes }) => new Uint32Array(nodes));
  let shift = 0;
  for (const { axis, values, valueAt } of fits ? parts : bricks) {
    const table = tables[axis] as Uint32Array;
    for (let cell = 0; cell < table.length; cell++) {
      const node = referenceNode(axes[axis as 0 | 1 | 2], cell, reference);
      const part = valueAt(node, Math.floor(node / edge[axis]));
      table[cell] = (table[cell] | (part << shift)) >>> 0;
    }
    shift += bitsOf(values);
  }
  const [x, y, z] = tables as [Uint32Array, Uint32Array, Uint32Array];
  return { x, y, z };
}

function bitsOf(values: number): number {
  return values <= 1 ? 0 : 32 - Math.clz32(values - 1);
}

/** Whether the stencils at some points touch at most `room` bricks. */
export function fewBricks(
  axes: Axes,
  { edge, count }: Bricking,
  positions: Float64Array,
  points: number,
  room: number,
): boolean {
  const strides = [1, count[0], count[0] * count[1]] as const;
  const [x, y, z] = axes.map((axis, a) =>
    Int32Array.from({ length: axis.nodes }, (_, cell) => {
      return Math.floor(referenceNode(axis, cell, -STENCIL_REACH) / edge[a]) * strides[a];
    }),
  ) as [Int32Array, Int32Array, Int32Array];
  const marks = new Uint8Array(strides[2] * count[2]);
  const lowest: number[] = [];
  const mark = (brick: number, list: number[]): void => {
    if (marks[brick] === 0) list.push(brick);
    marks[brick] = 1;
  };
  const [axisX, axisY, axisZ] = axes;
  for (let i = 0; i < 3 * points && lowest.length <= room; i += 3) {
    const column = x[cellOf(axisX, positions[i])];
    const row = y[cellOf(axisY, positions[i + 1])];
    const brick = column + row + z[cellOf(axisZ, positions[i + 2])];
    if (marks[brick] === 0) mark(brick, lowest);
  }
  let touched = lowest;
  for (const a of [0, 1, 2] as const) {
    if (touched.length > room) return false;
    const all = [...touched];
    for (const brick of touched) {
      const at = Math.floor(brick / strides[a]) % count[a];
      if (at + 1 < count[a]) mark(brick + strides[a], all);
      else if (axes[a].periodic) mark(brick - at * strides[a], all);
    }
    touched = all;
  }
  return touched.length <= room;
}

/**
 * Puts the points of a section in sweep order, unless their bricks fit the cache.
 *
 * @throws RequestError for the first point outside the domain, CancelledError
 */
export function sortSection(task: Message<SortTask>, { axes }: Dataset): null {
  const { points, count, first, shift, bricking, shape, room, triples, order, arranged } = task;
  const checkCancel = () => throwIfCancelled(task.cancel);
  const positions = new Float64Array(3 * count);
  fillPositions(points, positions, shift);
  const outside = firstOutside(axes, positions, count);
  if (outside >= 0) throw outsideError(axes, positions, outside, first + outside);
  if (fewBricks(axes, bricking, positions, count, room)) return null;
  checkCancel();
  const indices = new Uint32Array(2 * count);
  const keys = new Uint32Array(2 * count);
  sortByBrick(axes, sweepTables(axes, bricking, shape), positions, count, keys, indices, null);
  checkCancel();
  fillPositions(points, positions, [0, 0, 0]);
  for (let i = 0; i < count; i++) {
    const from = indices[i];
    order[i] = first + from;
    for (let a = 0; a < 3; a++) triples[3 * i + a] = positions[3 * from + a];
  }
  Atomics.store(arranged, 0, 1);
  return null;
}
