/** A portion is the part of a query's points that one peer evaluates; its points stay in the order of the query. */
import { setImmediate as nextTick } from "node:timers/promises";
import type { Slab } from "../engine/contract/task.js";
import type { SharedPoints } from "../engine/main/sharing.js";
import { addByCell } from "../kernels/brick-order.js";
import type { Triple } from "../kernels/types.js";
import type { Regions } from "./regions.js";

/** Points treated in one tick. */
const TICK_POINTS = 65_536;

/** The points that are divided. */
export interface PointsToCut extends Omit<SharedPoints, "out"> {
  /** Index in the query of each point; null: its place. */
  readonly indices: Uint32Array | null;
}

/** The points of one owner: a slab of them, and one of initial velocities if they are given. */
export interface Portion extends PointsToCut {
  readonly owner: number;
  /** Ascending. */
  readonly indices: Uint32Array;
}

/**
 * Divides points by the owners of their regions.
 *
 * @param shift displacement of the grid, which is subtracted from the coordinates
 * @param room  lends memory for the portions
 */
export async function cutPoints(
  regions: Regions,
  owners: Uint8Array,
  { points, velocities, count, indices: given }: PointsToCut,
  shift: Triple,
  room: (bytes: number) => Uint8Array<SharedArrayBuffer>,
): Promise<Portion[]> {
  const found = room(count);
  const counts = await ownersOfPoints(regions, owners, points, shift, found);
  const places = room(4 * count);
  const indices = new Uint32Array(places.buffer, places.byteOffset, count);
  // Portions follow each other in the arrays.
  const starts = new Uint32Array(counts.length);
  for (let owner = 1; owner < starts.length; owner++) starts[owner] = starts[owner - 1] + counts[owner - 1];
  const deal = async (slabs: readonly Slab[]): Promise<Float32Array | null> => {
    if (slabs.length === 0) return null;
    const block = room(12 * count);
    const dealt = new Float32Array(block.buffer, block.byteOffset, 3 * count);
    const next = starts.slice();
    await walkSlabs(slabs, (from, first, start, last) => {
      for (let i = start; i < last; i++) {
        const to = next[found[first + i]]++;
        indices[to] = first + i;
        dealt[3 * to] = from[3 * i];
        dealt[3 * to + 1] = from[3 * i + 1];
        dealt[3 * to + 2] = from[3 * i + 2];
      }
    });
    return dealt;
  };
  const [triples, moving] = [await deal(points), await deal(velocities)];
  if (given !== null) for (let i = 0; i < count; i++) indices[i] = given[indices[i]];
  const portions: Portion[] = [];
  for (let owner = 0; owner < counts.length; owner++) {
    const size = counts[owner];
    if (size === 0) continue;
    const [from, to] = [starts[owner], starts[owner] + size];
    const slabs = (all: Float32Array | null): readonly Slab[] =>
      all === null ? [] : [{ triples: all.subarray(3 * from, 3 * to), count: size }];
    const portion = { owner, count: size, indices: indices.subarray(from, to) };
    portions.push({ ...portion, points: slabs(triples), velocities: slabs(moving) });
  }
  return portions;
}

/**
 * Finds the owner of each point, and counts the points of each owner; a coordinate that is not a number counts for any:
 * its owner refuses it.
 */
async function ownersOfPoints(
  { axes, tables }: Regions,
  owners: Uint8Array,
  points: readonly Slab[],
  shift: Triple,
  found: Uint8Array,
): Promise<Uint32Array> {
  const counts = new Uint32Array(256);
  const parts = new Uint16Array(Math.min(TICK_POINTS, found.length));
  await walkSlabs(points, (triples, first, from, to) => {
    parts.fill(0, 0, to - from);
    for (const a of [0, 1, 2] as const) {
      addByCell(axes[a], tables[a], triples.subarray(3 * from + a), shift[a], parts.subarray(0, to - from));
    }
    for (let i = 0; i < to - from; i++) {
      const owner = owners[parts[i]];
      found[first + from + i] = owner;
      counts[owner]++;
    }
  });
  return counts;
}

/**
 * Walks slabs in parts, at most one per tick.
 * @param walk triples of the slab, index of its first point, range
 */
async function walkSlabs(
  slabs: readonly Slab[],
  walk: (triples: Float32Array, first: number, from: number, to: number) => void,
): Promise<void> {
  let first = 0;
  let since = 0;
  for (const { triples, count } of slabs) {
    for (let from = 0; from < count; from += TICK_POINTS) {
      const to = Math.min(count, from + TICK_POINTS);
      if (since + to - from > TICK_POINTS) {
        await nextTick();
        since = 0;
      }
      walk(triples, first, from, to);
      since += to - from;
    }
    first += count;
  }
}

/** Copies the values of a portion, `width` a point, to their places in the answer. @param parts whole points each */
export function mergeValues(
  parts: readonly Float32Array[],
  indices: Uint32Array,
  width: number,
  out: Float32Array,
): void {
  let point = 0;
  for (const values of parts) {
    for (let at = 0; at < values.length; point++) {
      const to = width * indices[point];
      for (let c = 0; c < width; c++) out[to + c] = values[at++];
    }
  }
}
