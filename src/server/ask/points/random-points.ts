/** Points at random in a box, equal in every call with their seed. */
import { drawTriple } from "../../../shared/random.js";
import type { TimeSlices } from "../../http/policies/time-slices.js";

/**
 * Memory of a random point until the answer is computed, in records of three float32: the point, here and in the query,
 * its inputs, and columns.
 */
export const RANDOM_POINT_RECORDS = 8;

/**
 * Draws points at random in a box, three float32 each: point i is the same in every call with its seed.
 * @param purpose what they are drawn for, so that points and directions of one seed are independent
 * @param first   number of the first point
 */
export async function randomPoints(
  slices: TimeSlices,
  count: number,
  seed: number,
  origin: readonly number[],
  extent: readonly number[],
  purpose: "points" | "directions" = "points",
  first = 0,
): Promise<Float32Array> {
  const out = new Float32Array(3 * count);
  const words = new Uint32Array(4);
  await slices.each(count, (from, to) => {
    for (let i = from; i < to; i++) {
      const drawn = drawTriple(seed, first + i, purpose, words);
      for (let a = 0; a < 3; a++) out[3 * i + a] = origin[a] + drawn[a] * extent[a];
    }
  });
  return out;
}
