/** Cuts the points of a query into pieces, one for each peer, in the order of the query. */
import { setImmediate as nextTick } from "node:timers/promises";
import type { Slab } from "../engine/contract/task.js";
import type { SharedPoints } from "../engine/main/sharing.js";
import { addByCell } from "../kernels/brick-order.js";
import type { Triple } from "../kernels/types.js";
import type { Regions } from "./regions.js";

const TICK_POINTS = 65_536;

export interface PointsToCut extends Omit<SharedPoints, "out"> {
  /** Index in the query of each point; null: the index here. */
  readonly indices: Uint32Array | null;
}

export interface PointPiece extends PointsToCut {
  readonly owner: number;
  readonly indices: Uint32Array;
}

/**
 * Divides points by the owners of their regions. A point with a coordinate that is not a number goes to any owner.
 * `shift`: displacement of the grid, subtracted from the coordinates; `allocate` lends memory for the pieces.
 */
export async function cutPoints(
  { axes, tables }: Regions,
  owners: Uint8Array,
  { points, velocities, count, indices: queryIndices }: PointsToCut,
  shift: Triple,
  allocate: (bytes: number) => Uint8Array<SharedArrayBuffer>,
): Promise<PointPiece[]> {
  const ownerOf = allocate(count);
  const counts = new Uint32Array(256);
  const regionNumbers = new Uint16Array(Math.min(TICK_POINTS, count));
  await walkSlabs(points, (triples, first, size) => {
    const regions = regionNumbers.subarray(0, size).fill(0);
    for (const a of [0, 1, 2] as const) addByCell(axes[a], tables[a], triples.subarray(a), shift[a], regions);
    for (let i = 0; i < size; i++) {
      const owner = owners[regions[i]];
      ownerOf[first + i] = owner;
      counts[owner]++;
    }
  });
  const starts = new Uint32Array(counts.length);
  for (let owner = 1; owner < starts.length; owner++) starts[owner] = starts[owner - 1] + counts[owner - 1];
  const indexBytes = allocate(4 * count);
  const indices = new Uint32Array(indexBytes.buffer, indexBytes.byteOffset, count);
  const deal = async (slabs: readonly Slab[]): Promise<Float32Array | null> => {
    if (slabs.length === 0) return null;
    const block = allocate(12 * count);
    const dealt = new Float32Array(block.buffer, block.byteOffset, 3 * count);
    const next = starts.slice();
    await walkSlabs(slabs, (triples, first, size) => {
      for (let i = 0; i < size; i++) {
        const to = next[ownerOf[first + i]]++;
        indices[to] = first + i;
        dealt[3 * to] = triples[3 * i];
        dealt[3 * to + 1] = triples[3 * i + 1];
        dealt[3 * to + 2] = triples[3 * i + 2];
      }
    });
    return dealt;
  };
  const [triples, moving] = [await deal(points), await deal(velocities)];
  if (queryIndices !== null) for (let i = 0; i < count; i++) indices[i] = queryIndices[indices[i]];
  const pieces: PointPiece[] = [];
  for (let owner = 0; owner < counts.length; owner++) {
    const size = counts[owner];
    if (size === 0) continue;
    const [from, to] = [starts[owner], starts[owner] + size];
    const slabs = (all: Float32Array | null): readonly Slab[] =>
      all === null ? [] : [{ triples: all.subarray(3 * from, 3 * to), count: size }];
    const piece = { owner, count: size, indices: indices.subarray(from, to) };
    pieces.push({ ...piece, points: slabs(triples), velocities: slabs(moving) });
  }
  return pieces;
}

/** Walks slabs, a bounded number of points in each turn of the event loop. */
async function walkSlabs(
  slabs: readonly Slab[],
  walk: (triples: Float32Array, first: number, size: number) => void,
): Promise<void> {
  let [first, since] = [0, 0];
  for (const { triples, count } of slabs)
    for (let from = 0; from < count; from += TICK_POINTS) {
      const size = Math.min(TICK_POINTS, count - from);
      if (since + size > TICK_POINTS) {
        await nextTick();
        since = 0;
      }
      walk(triples.subarray(3 * from, 3 * (from + size)), first, size);
      since += size;
      first += size;
    }
}

/** Copies the values of a piece, `width` per point, to their positions in the answer. */
export function mergeValues(
  values: readonly Float32Array[],
  indices: Uint32Array,
  width: number,
  out: Float32Array,
): void {
  let point = 0;
  for (const block of values) {
    for (let at = 0; at < block.length; point++) {
      const to = width * indices[point];
      for (let c = 0; c < width; c++) out[to + c] = block[at++];
    }
  }
}
