/** Batches in order of arrival hold each point once, however slabs and batches end. */
import { expect, it } from "vitest";
import { sliceSlabs } from "../../../../src/engine/main/plan/plan.js";

/** Slabs of so many points, numbered on x, in memory that is larger. */
function slabsOf(counts: readonly number[]) {
  let number = 0;
  return counts.map((count) => {
    const triples = new Float32Array(3 * (count + 2)).fill(Number.NaN);
    for (let i = 0; i < count; i++) triples.set([number++, 0, 0], 3 * i);
    return { triples, count };
  });
}

it.each([
  [0, 12],
  [0, 5],
  [5, 7],
  [3, 4],
  [4, 1],
  [2, 9],
  [11, 1],
  [12, 0],
])("from point %i the next %i are those, and no slab is empty", (first, count) => {
  const parts = sliceSlabs(slabsOf([5, 1, 6]), first, count);
  const numbers = parts.flatMap(({ triples }) => [...triples].filter((_, i) => i % 3 === 0));
  expect(numbers).toEqual(Array.from({ length: count }, (_, i) => first + i));
  for (const part of parts) {
    expect(part.count).toBeGreaterThan(0);
    expect(part.triples).toHaveLength(3 * part.count);
  }
});
