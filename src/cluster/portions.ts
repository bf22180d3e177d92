/** A portion is the part of a query's points that one peer evaluates; its points stay in the order of the query. */
import { setImmediate as turn } from "node:timers/promises";
import type { SharedPoints } from "../engine/sharing.js";
import type { Slab } from "../engine/task.js";
import { cellOf } from "../kernels/brick-order.js";
import type { Axis, Triple } from "../kernels/types.js";
import type { Regions } from "./regions.js";

/** Points between two turns of the event loop. */
const TURN = 65_536;

/** The points of one owner. */
export interface Portion {
  readonly owner: number;
  readonly count: number;
  /** Index in the query of each point, ascending. */
  readonly indices: Uint32Array;
  readonly triples: Float32Array;
  /** Initial velocities; empty: those of the flow. */
  readonly velocities: Float32Array;
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
  { points, velocities, count }: Omit<SharedPoints, "out">,
  shift: Triple,
  room: (bytes: number) => SharedArrayBuffer,
): Promise<Portion[]> {
  const found = new Uint8Array(room(count), 0, count);
  const counts = await ownersOfPoints(regions, owners, points, shift, found);
  const indices = new Uint32Array(room(4 * count), 0, count);
  const triples = new Float32Array(room(12 * count), 0, 3 * count);
  const moving = velocities.length > 0 ? new Float32Array(room(12 * count), 0, 3 * count) : new Float32Array(0);
  // Portions follow each other in the arrays.
  const ends = new Uint32Array(counts.length);
  for (let owner = 1; owner < ends.length; owner++) ends[owner] = ends[owner - 1] + counts[owner - 1];
  await forEachTurn(points, (from, first, start, end) => {
    for (let i = start; i < end; i++) {
      const to = ends[found[first + i]]++;
      indices[to] = first + i;
      triples[3 * to] = from[3 * i];
      triples[3 * to + 1] = from[3 * i + 1];
      triples[3 * to + 2] = from[3 * i + 2];
    }
  });
  return [...counts].flatMap((size, owner): Portion[] => {
    if (size === 0) return [];
    const [from, to] = [ends[owner] - size, ends[owner]];
    const portion = {
      ...{ owner, count: size, indices: indices.subarray(from, to) },
      ...{ triples: triples.subarray(3 * from, 3 * to), velocities: moving.subarray(3 * from, 3 * to) },
    };
    if (moving.length > 0) gather(velocities, portion.indices, portion.velocities);
    return [portion];
  });
}

/**
 * Finds the owner of each point, and counts the points of each owner; a coordinate that is no number counts for any:
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
  const parts = new Uint16Array(TURN);
  await forEachTurn(points, (triples, first, from, to) => {
    parts.fill(0, 0, to - from);
    for (const a of [0, 1, 2] as const) {
      const axis = axes[a];
      const add = axis.coordinates !== null || !axis.periodic ? addByCell : addByTurn;
      add(axis, tables[a], triples, 3 * from + a, shift[a], parts.subarray(0, to - from));
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
 * Adds what an axis contributes to the numbers of the points' regions.
 *
 * @param table of `Regions`
 * @param start of the first coordinate; the others follow at distances of three
 */
function addByCell(
  axis: Axis,
  table: Uint16Array,
  triples: Float32Array,
  start: number,
  shift: number,
  parts: Uint16Array,
): void {
  for (let i = 0, at = start; i < parts.length; i++, at += 3) parts[i] += table[cellOf(axis, triples[at] - shift) | 0];
}

/**
 * The same for a uniform periodic axis, without a branch or a division: of a point between two nodes rounding may find
 * the wrong one, which changes its owner, not its value. What is no number counts for node 0.
 */
function addByTurn(
  { nodes, origin, spacing }: Axis,
  table: Uint16Array,
  triples: Float32Array,
  start: number,
  shift: number,
  parts: Uint16Array,
): void {
  const first = origin + shift;
  const perLength = 1 / (nodes * spacing);
  for (let i = 0, at = start; i < parts.length; i++, at += 3) {
    const turns = (triples[at] - first) * perLength;
    parts[i] += table[((turns - Math.floor(turns)) * nodes) | 0];
  }
}

/**
 * Walks slabs in pieces, with turns of the event loop in between.
 * @param walk triples of the slab, index of its first point, range
 */
async function forEachTurn(
  slabs: readonly Slab[],
  walk: (triples: Float32Array, first: number, from: number, to: number) => void,
): Promise<void> {
  let first = 0;
  let since = 0;
  for (const { triples, count } of slabs) {
    for (let from = 0; from < count; from += TURN) {
      const to = Math.min(count, from + TURN);
      if (since + to - from > TURN) {
        await turn();
        since = 0;
      }
      walk(triples, first, from, to);
      since += to - from;
    }
    first += count;
  }
}

/** Copies the triples with some indices, which ascend. */
function gather(slabs: readonly Slab[], indices: Uint32Array, into: Float32Array): void {
  let i = 0;
  let start = 0;
  for (const { triples, count } of slabs) {
    for (; i < indices.length && indices[i] < start + count; i++) {
      for (let c = 0; c < 3; c++) into[3 * i + c] = triples[3 * (indices[i] - start) + c];
    }
    start += count;
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
