/** Writing triples against a limit. */
import { expect, it } from "vitest";
import { TripleStore, TripleWriter } from "../../../src/server/http/triple-writer.js";

it("refuses the first triple beyond a limit and names the limit", () => {
  const writer = new TripleWriter(new TripleStore(), { points: 1, name: "query.points" });
  writer.add(1, 2, 3);
  expect(() => writer.add(4, 5, 6)).toThrow("Request size too large (2 > 1)");
  const none = new TripleWriter(new TripleStore(), { points: 0, name: "query.filterSamples" });
  expect(() => none.add(1, 2, 3)).toThrow("a single point exceeds query.filterSamples");
});

it("adds many triples up to the limit, those before counted, and refuses the next", () => {
  const store = new TripleStore();
  const writer = new TripleWriter(store, { points: 3, name: "query.points" });
  writer.add(1, 2, 3);
  expect(() => writer.addAll(Float32Array.of(4, 5, 6, 7, 8, 9, 10, 11, 12), 3)).toThrow("(4 > 3)");
  writer.flush();
  expect([writer.count, store.count]).toEqual([3, 3]);
  const slab = new Float32Array(30);
  store.replay({ slab, commit: () => undefined });
  expect([...slab.subarray(0, 10)]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 0]);
});
