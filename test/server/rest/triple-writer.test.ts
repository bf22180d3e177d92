/** Writing triples against a limit. */
import { expect, it } from "vitest";
import { TripleStore, TripleWriter } from "../../../src/server/rest/triple-writer.js";

it("refuses the first triple beyond a limit and names the limit", () => {
  const writer = new TripleWriter(new TripleStore(), { points: 1, name: "query.points" });
  writer.add(1, 2, 3);
  expect(() => writer.add(4, 5, 6)).toThrow("Request size too large (2 > 1)");
  const none = new TripleWriter(new TripleStore(), { points: 0, name: "query.filterSamples" });
  expect(() => none.add(1, 2, 3)).toThrow("a single point exceeds query.filterSamples");
});
