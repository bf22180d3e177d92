/** A thread gives back what it has dropped without being asked for more memory, and only if there is much. */
import { getHeapStatistics } from "node:v8";
import { expect, it } from "vitest";
import { GarbageCollection } from "../../src/shared/collect-garbage.js";

const used = (): number => getHeapStatistics().used_heap_size;
const objects = (count: number): object[] => Array.from({ length: count }, (_, i) => ({ a: i, b: [i] }));

it("collects when the heap has grown by more than 16 MiB, and not before", async () => {
  const garbage = new GarbageCollection();
  await garbage.collect();
  const before = used();
  let kept: object[] | null = objects(400_000);
  const grown = used() - before;
  expect(grown).toBeGreaterThan(16 * 2 ** 20);
  expect(kept).toHaveLength(400_000);
  kept = null;
  await garbage.collectIfGrown();
  expect(used() - before).toBeLessThan(grown / 2);
  const least = used();
  objects(20_000);
  const more = used();
  await garbage.collectIfGrown();
  expect(used()).toBeGreaterThanOrEqual(Math.min(more, least + 2 ** 20));
});

it("collects once for all who ask meanwhile", async () => {
  const garbage = new GarbageCollection();
  const first = garbage.collect();
  expect(garbage.collect()).toBe(first);
  await first;
  expect(garbage.collect()).not.toBe(first);
});
