/** Divides the points of a batch among peers by shard, so that each peer finds the bricks in its cache. */

import type { BatchTask } from "../../engine/task.js";
import { searchCell, wrap } from "../../kernels/stencil.js";
import { frameWeights } from "../../kernels/time.js";
import type { Axis, Bricking } from "../../kernels/types.js";
import type { Dataset, Triple } from "../../storage/dataset.js";
import { hashText, slotOf } from "./placement.js";

/** Ranges that a field's bricks are divided into, in Morton order. */
const RANGE_BITS = 9;
const RANGES = 1 << RANGE_BITS;
/** Frames of a time chunk. */
const CHUNK_FRAMES = 4;

/** The points of a shipment. */
export interface Portion {
  /** Indices in the batch, ascending; null: `count` points from `first` on. */
  readonly indices: Uint32Array | null;
  readonly first: number;
  readonly count: number;
  /** The peer whose cache suits it, or null. */
  readonly peer: string | null;
}

/** The tables that give the shard of a point. */
export interface Shards {
  readonly axes: readonly [Axis, Axis, Axis];
  /** Per axis and grid node its part of the range's number. */
  readonly tables: readonly [Uint16Array, Uint16Array, Uint16Array];
  readonly slots: Uint16Array;
}

/** The shards of datasets, made once per time chunk. */
export class ShardTables {
  readonly #made = new WeakMap<Dataset, Map<string, Shards>>();

  /** The shards of the field that a task reads first, in the time chunk where it starts; null when it reads none. */
  of({ dataset, query, fields }: BatchTask, generation: string): Shards | null {
    const [source] = fields.flatMap((name) => dataset.fields[name] ?? []);
    if (!source) return null;
    const [frame = 0] = frameWeights(dataset.time, query.time ?? query.StartTime ?? 0, "None").frames;
    const chunk = Math.floor(frame / CHUNK_FRAMES);
    const known = this.#made.get(dataset) ?? new Map<string, Shards>();
    this.#made.set(dataset, known);
    const key = `${chunk} ${fields[0]}`;
    const shards = known.get(key) ?? {
      axes: dataset.axes,
      tables: rangeTables(dataset.axes, source.bricking),
      slots: slotsOf(generation, chunk),
    };
    known.set(key, shards);
    return shards;
  }
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

/** The grid node at or below a coordinate; any for a coordinate that is not finite. */
function cellOf(axis: Axis, x: number): number {
  if (axis.coordinates !== null) return searchCell(axis.coordinates, x);
  const cell = Math.floor((x - axis.origin) / axis.spacing) || 0;
  if (!Number.isFinite(cell)) return 0;
  return axis.periodic ? wrap(cell, axis.nodes) : Math.min(Math.max(cell, 0), axis.nodes - 1);
}

/** The range of each point, after `shift` is subtracted from its coordinates. */
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

/** Cuts a batch into portions of at most `most` points, in the order of the batch, for any peer. */
export function cutEvenly(count: number, most: number): Portion[] {
  const portions = Math.ceil(count / most);
  return Array.from({ length: portions }, (_, k) => {
    const first = Math.floor((k * count) / portions);
    return { indices: null, first, count: Math.floor(((k + 1) * count) / portions) - first, peer: null };
  });
}

/**
 * Cuts a batch into portions by peer. A portion keeps the order of the batch, so that its first bad point is the batch's.
 *
 * @param ranges range of each point
 * @param choose the peer of a slot, told how many points it is about
 * @param least  a peer with fewer points than that is not sent any: they go to the peer that has most
 * @param most   points of a piece
 */
export function cutByPeer(
  { slots }: Shards,
  ranges: Uint16Array,
  choose: (slot: number, points: number) => string,
  least: number,
  most: number,
): Portion[] {
  const counts = new Uint32Array(RANGES);
  for (const range of ranges) counts[range]++;
  const totals = new Map<string, number>();
  const chosen = Array.from(counts, (points, range) => {
    if (points === 0) return "";
    const peer = choose(slots[range], points);
    totals.set(peer, (totals.get(peer) ?? 0) + points);
    return peer;
  });
  const [[largest] = [""]] = [...totals].sort(([, a], [, b]) => b - a);
  for (const [peer, points] of totals) {
    if (points >= least || peer === largest) continue;
    totals.set(largest, (totals.get(largest) as number) + points);
    totals.delete(peer);
  }
  const names = [...totals.keys()];
  const numbers = chosen.map((peer) => Math.max(0, names.indexOf(totals.has(peer) ? peer : largest)));
  const lists = names.map((peer) => ({ peer, indices: new Uint32Array(totals.get(peer) as number), filled: 0 }));
  for (let i = 0; i < ranges.length; i++) {
    const list = lists[numbers[ranges[i]]] as (typeof lists)[number];
    list.indices[list.filled++] = i;
  }
  return lists.flatMap(({ peer, indices }) =>
    cutEvenly(indices.length, most).map(({ first, count }) => ({
      indices: indices.subarray(first, first + count),
      first: 0,
      count,
      peer,
    })),
  );
}
