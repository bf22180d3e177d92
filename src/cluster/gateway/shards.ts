/** Cuts a batch into pieces for nodes: by shard, so that each finds what it needs in its cache. */

import type { BatchTask } from "../../engine/task.js";
import { searchCell, wrap } from "../../kernels/stencil.js";
import { frameWeights } from "../../kernels/time.js";
import type { Axis, Bricking } from "../../kernels/types.js";
import { operationOf } from "../../operations.js";
import type { Dataset, Triple } from "../../storage/dataset.js";
import { hashText, slotOf } from "./placement.js";

/** Ranges that a field's bricks are divided into, in Morton order. */
const RANGE_BITS = 9;
const RANGES = 1 << RANGE_BITS;
/** Frames of a time chunk. */
const CHUNK_FRAMES = 4;

/** Points of a batch that go to one node together. */
export interface Piece {
  /** Indices in the batch, ascending; null: `count` points from `first` on. */
  readonly indices: Uint32Array | null;
  readonly first: number;
  readonly count: number;
  /** The node whose cache suits it, or null. */
  readonly node: string | null;
}

/** Which shard a point is in. */
export interface Shards {
  readonly axes: readonly [Axis, Axis, Axis];
  /** Per axis and node its part of the range's number. */
  readonly tables: readonly [Uint16Array, Uint16Array, Uint16Array];
  readonly slots: Uint16Array;
}

const cached = new WeakMap<Dataset, Map<string, Shards>>();

/** Shards of the field that a task reads first, in the time chunk where it starts; null when it reads none. */
export function shardsOf({ dataset, query }: BatchTask, generation: string): Shards | null {
  const { fields } = operationOf(query.operation);
  const [source] = fields.flatMap((name) => dataset.fields[name] ?? []);
  if (!source) return null;
  const [frame = 0] = frameWeights(dataset.time, query.time ?? query.StartTime ?? 0, "None").frames;
  const chunk = Math.floor(frame / CHUNK_FRAMES);
  const known = cached.get(dataset) ?? new Map<string, Shards>();
  cached.set(dataset, known);
  const key = `${chunk} ${fields[0]}`;
  const shards = known.get(key) ?? {
    axes: dataset.axes,
    tables: rangeTables(dataset.axes, source.bricking),
    slots: slotsOf(generation, chunk),
  };
  known.set(key, shards);
  return shards;
}

function slotsOf(generation: string, chunk: number): Uint16Array {
  const hash = hashText(generation);
  return Uint16Array.from({ length: RANGES }, (_, range) => slotOf(hash, chunk, range));
}

/** The leading bits of the Morton code of each node's brick; the bits of the three axes are added. */
function rangeTables(axes: Shards["axes"], { edge, count }: Bricking): Shards["tables"] {
  const bits = count.map((bricks) => (bricks <= 1 ? 0 : 32 - Math.clz32(bricks - 1)));
  const order: (readonly [axis: number, bit: number])[] = [];
  for (let level = 0; level < Math.max(...bits); level++) {
    for (let a = 0; a < 3; a++) if (level < bits[a]) order.push([a, level]);
  }
  const leading = order.slice(-RANGE_BITS);
  const table = (a: 0 | 1 | 2): Uint16Array =>
    Uint16Array.from({ length: axes[a].nodes }, (_, node) => {
      const brick = Math.floor(node / edge[a]);
      return leading.reduce((sum, [axis, bit], place) => sum + (axis === a ? ((brick >> bit) & 1) << place : 0), 0);
    });
  return [table(0), table(1), table(2)];
}

/** The node at or below a coordinate; any node for one that is nowhere. */
function cellOf(axis: Axis, x: number): number {
  if (axis.coordinates !== null) return searchCell(axis.coordinates, x);
  const cell = Math.floor((x - axis.origin) / axis.spacing) || 0;
  if (!Number.isFinite(cell)) return 0;
  return axis.periodic ? wrap(cell, axis.nodes) : Math.min(Math.max(cell, 0), axis.nodes - 1);
}

/** Range of each point, `shift` having been taken from its coordinates. */
export function rangesOf(
  { axes: [x, y, z], tables: [xs, ys, zs] }: Shards,
  segments: readonly { readonly triples: Float32Array | Float64Array; readonly count: number }[],
  shift: Triple,
): Uint16Array {
  const ranges = new Uint16Array(segments.reduce((sum, { count }) => sum + count, 0));
  let first = 0;
  for (const { triples, count } of segments) {
    for (let i = 0; i < count; i++) {
      ranges[first + i] =
        xs[cellOf(x, triples[3 * i] - shift[0])] +
        ys[cellOf(y, triples[3 * i + 1] - shift[1])] +
        zs[cellOf(z, triples[3 * i + 2] - shift[2])];
    }
    first += count;
  }
  return ranges;
}

/** Pieces of at most `most` points in the order of the batch, for any node. */
export function cutEvenly(count: number, most: number): Piece[] {
  const pieces = Math.ceil(count / most);
  return Array.from({ length: pieces }, (_, k) => {
    const first = Math.floor((k * count) / pieces);
    return { indices: null, first, count: Math.floor(((k + 1) * count) / pieces) - first, node: null };
  });
}

/**
 * Pieces by node; within one, points stay in the order of the batch, so that its first bad point is the batch's.
 *
 * @param ranges range of each point
 * @param choose the node of a slot, told how many points it is about
 * @param least  a node with fewer points than that is not sent any: they go to the node that has most
 * @param most   points of a piece
 */
export function cutByNode(
  { slots }: Shards,
  ranges: Uint16Array,
  choose: (slot: number, points: number) => string,
  least: number,
  most: number,
): Piece[] {
  const counts = new Uint32Array(RANGES);
  for (const range of ranges) counts[range]++;
  const totals = new Map<string, number>();
  const chosen = Array.from(counts, (points, range) => {
    if (points === 0) return "";
    const node = choose(slots[range], points);
    totals.set(node, (totals.get(node) ?? 0) + points);
    return node;
  });
  const [[largest] = [""]] = [...totals].sort(([, a], [, b]) => b - a);
  for (const [node, points] of totals) {
    if (points >= least || node === largest) continue;
    totals.set(largest, (totals.get(largest) as number) + points);
    totals.delete(node);
  }
  const names = [...totals.keys()];
  const numbers = chosen.map((node) => Math.max(0, names.indexOf(totals.has(node) ? node : largest)));
  const lists = names.map((node) => ({ node, indices: new Uint32Array(totals.get(node) as number), filled: 0 }));
  for (let i = 0; i < ranges.length; i++) {
    const list = lists[numbers[ranges[i]]] as (typeof lists)[number];
    list.indices[list.filled++] = i;
  }
  return lists.flatMap(({ node, indices }) =>
    cutEvenly(indices.length, most).map(({ first, count }) => ({
      indices: indices.subarray(first, first + count),
      first: 0,
      count,
      node,
    })),
  );
}
