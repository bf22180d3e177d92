/** Drafts of complete files with one statement more: right, with a line about it, or showing it; never wrong. */
import { unlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import "../../../support/hdf5-library.js";
import { fc } from "../../../support/property.js";
import { scratchFolder } from "../../../support/scratch.js";
import { isComplete, isPossible, statedWays, verdictOf } from "../../../support/stated-files.js";

const SCRATCH = scratchFolder();
/** Files here; test/soak writes thousands. */
const FILES = 150;
let made = 0;

it("is drafted right, with a line, or with the statement shown", { timeout: 120_000 }, async () => {
  const counts = { complete: 0, askedWithoutNeed: 0, doubtful: 0 };
  await fc.assert(
    fc.asyncProperty(statedWays.filter(isPossible), async (way) => {
      const path = join(SCRATCH, `file${made++}.h5`);
      const { verdict } = await verdictOf(path, way);
      unlinkSync(path);
      expect(verdict).not.toBe("wrong");
      if (!isComplete(way)) counts.doubtful++;
      else counts.complete++;
      if (isComplete(way) && verdict === "asked") counts.askedWithoutNeed++;
    }),
    { numRuns: FILES },
  );
  expect(counts.doubtful).toBeGreaterThan(FILES / 4);
  expect(counts.complete).toBeGreaterThan(FILES / 4);
  expect(counts.askedWithoutNeed).toBeLessThanOrEqual(0.03 * counts.complete);
});
