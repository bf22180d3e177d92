/** Writing triples against a limit. */
import { expect, it } from "vitest";
import { tooManyPoints } from "../../../src/server/rest/triple-writer.js";

it("says that a single point is too much where a limit admits none", () => {
  expect(tooManyPoints({ points: 3, name: "query.points" }).message).toBe("The request has more than 3 points.");
  const none = tooManyPoints({ points: 0, name: "query.filterSamples" });
  expect(none.message).toBe("A single point is more work than the limit allows.");
  expect(none.context.limit).toBe("query.filterSamples");
});
