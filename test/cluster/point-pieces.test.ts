/** Portions hold every point once, in order, with its owner; merged values are in the order of the query. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutPoints, mergeValues } from "../../src/cluster/point-pieces.js";
import { ownersOf, regionsOf } from "../../src/cluster/regions.js";
import type { Slab } from "../../src/engine/contract/task.js";
import type { Axis } from "../../src/kernels/types.js";

const axis: Axis = { nodes: 128, origin: -3, spacing: 0.5, periodic: true, coordinates: null };
const ended: Axis = { nodes: 128, origin: 0, spacing: 1, periodic: false, coordinates: null };
const table: Axis = { ...ended, coordinates: Float64Array.from({ length: 128 }, (_, i) => i ** 2) };
const regions = regionsOf([axis, ended, table], { edge: [32, 32, 32], count: [4, 4, 4] });
const owners = ownersOf(regions, [true, true, true], "");
const room = (bytes: number): Uint8Array<SharedArrayBuffer> => new Uint8Array(new SharedArrayBuffer(bytes));

/** The owner of a point, found by walking the axes. */
function ownerOf(x: number, y: number, z: number): number {
  const i = (((Math.floor((x + 3) / 0.5) - 4) % 128) + 128) % 128;
  const j = Math.max(0, Math.min(127, Math.floor(y)) - 4);
  const k = Math.max(0, Math.floor(Math.sqrt(Math.min(z, 127 ** 2 - 1))) - 4);
  const along = (node: number): number => Math.floor(node / 64);
  return owners[along(i) + 2 * along(j) + 4 * along(k)] as number;
}

describe("pieces", () => {
  const coordinate = fc.float({ min: -200, max: 200, noNaN: true });
  const high = fc.float({ min: 1, max: 16000, noNaN: true }).map((z) => Math.fround(z + 0.1));
  const low = fc.float({ min: 0, max: 126, noNaN: true });

  it("hold every point once, with its velocity, and give the values back in order", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(coordinate, low, high), { maxLength: 300 }),
        fc.nat(100),
        async (points, cut) => {
          const all = Float32Array.from(points.flat());
          const at = 3 * Math.min(cut, points.length);
          const slabs = [all.slice(0, at), all.slice(at)].map((triples) => ({ triples, count: triples.length / 3 }));
          const work = { points: slabs, velocities: slabs, count: points.length, indices: null };
          const pieces = await cutPoints(regions, owners, work, [0, 0, 0], room);
          const out = new Float32Array(all.length);
          for (const {
            owner,
            count,
            indices,
            points: [slab],
            velocities,
          } of pieces) {
            const { triples } = slab as Slab;
            expect([indices.length, triples.length]).toEqual([count, 3 * count]);
            expect([...indices].every((index, i) => i === 0 || index > (indices[i - 1] as number))).toBe(true);
            expect(velocities).toEqual([slab]);
            for (const index of indices)
              expect(ownerOf(...(all.subarray(3 * index, 3 * index + 3) as unknown as [number, number, number]))).toBe(
                owner,
              );
            mergeValues([triples.subarray(0, 3), triples.subarray(3)], indices, 3, out);
          }
          expect(out).toEqual(all);
        },
      ),
    );
  });

  it("keep the indices of points that are divided again", async () => {
    const triples = Float32Array.of(1, 1, 1, 40, 70, 9000, 2, 2, 2);
    const indices = Uint32Array.of(5, 7, 9);
    const work = { points: [{ triples, count: 3 }], velocities: [], count: 3, indices };
    const pieces = await cutPoints(regions, owners, work, [0, 0, 0], room);
    const found = pieces.flatMap((piece) =>
      Array.from(piece.indices, (index, i) => [index, piece.points[0]?.triples[3 * i] as number]),
    );
    expect(found.sort(([one = 0], [other = 0]) => one - other)).toEqual([
      [5, 1],
      [7, 40],
      [9, 2],
    ]);
  });

  it("leave what is no number to one of the owners", async () => {
    const triples = Float32Array.of(Number.NaN, 1, 1, 1, Number.POSITIVE_INFINITY, 1, 1, 1, 1);
    const work = { points: [{ triples, count: 3 }], velocities: [], count: 3, indices: null };
    const pieces = await cutPoints(regions, owners, work, [0, 0, 0], room);
    expect(pieces.reduce((sum, { count }) => sum + count, 0)).toBe(3);
  });
});
