/**
 * Thousands of files with statements of all kinds: none is served, and of the drafts none without an open or red line is
 * wrong. SOAK_SEED chooses others.
 */
import { unlinkSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { beforeAll, expect, it } from "vitest";
import { loadHdf5 } from "../../src/storage/hdf5/library.js";
import { scratchFolder } from "../support/scratch.js";
import { isComplete, isPossible, statedWays, verdictOf } from "../support/stated-files.js";

const SCRATCH = scratchFolder();
const FILES = 3000;
const SEED = Number(process.env.SOAK_SEED ?? 20_261_123);

beforeAll(() => loadHdf5());

it(`drafts ${FILES} files, none wrong without an open or red line, with seed ${SEED}`, async () => {
  const counts = { right: 0, asked: 0, shown: 0, complete: 0, askedWithoutNeed: 0, few: 0 };
  let made = 0;
  await fc.assert(
    fc.asyncProperty(statedWays.filter(isPossible), async (way) => {
      const path = join(SCRATCH, `file${made++}.h5`);
      const { verdict, answers } = await verdictOf(path, way);
      unlinkSync(path);
      expect(verdict).not.toBe("wrong");
      if (verdict !== "wrong") counts[verdict]++;
      if (answers <= 4) counts.few++;
      if (!isComplete(way)) return;
      counts.complete++;
      if (verdict === "asked") counts.askedWithoutNeed++;
    }),
    { numRuns: FILES, seed: SEED },
  );
  console.log(JSON.stringify(counts));
  expect(counts.few).toBeGreaterThanOrEqual(0.8 * made);
});
