/** Thousands of files with statements of all kinds: every one right or asked, none wrong. SOAK_SEED chooses others. */
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

it(`reads ${FILES} files right or asks about them, with seed ${SEED}`, async () => {
  const counts = { right: 0, asked: 0, complete: 0, askedWithoutNeed: 0 };
  let made = 0;
  await fc.assert(
    fc.asyncProperty(statedWays.filter(isPossible), async (way) => {
      const path = join(SCRATCH, `file${made++}.h5`);
      const verdict = await verdictOf(path, way);
      unlinkSync(path);
      expect(verdict).not.toBe("wrong");
      counts[verdict === "right" ? "right" : "asked"]++;
      if (!isComplete(way)) return;
      counts.complete++;
      if (verdict === "asked") counts.askedWithoutNeed++;
    }),
    { numRuns: FILES, seed: SEED },
  );
  console.log(JSON.stringify(counts));
  expect(counts.askedWithoutNeed).toBeLessThanOrEqual(0.03 * counts.complete);
});
