/** A whole run of `generate isotropic` with the options of the shipped flow has the shipped flow's statistics. */
import { expect, it } from "vitest";
import { writeIsotropic } from "../../tools/generate/isotropic.js";
import { scratchFolder } from "../support/scratch.js";

const SCRATCH = scratchFolder();
const OPTIONS = { nodes: 32, viscosity: 0.036, spinUp: 40, frames: 15, name: "isotropic32", aliases: [] };

/** Least and largest value of the frames of docs/demonstration-data.md, widened by what other seeds may have. */
const BOUNDS = {
  energy: [0.45, 0.51],
  dissipation: [0.09, 0.14],
  reynolds: [17, 20.5],
  skewness: [-0.45, -0.15],
  resolution: [1.35, 1.5],
  turnover: [3.1, 3.8],
} as const;

it.each([5, 6])("makes a flow of the shipped statistics from seed %i", async (seed) => {
  const { reports } = await writeIsotropic({ ...OPTIONS, seed, folder: `${SCRATCH}/${seed}` }, () => {});
  expect(reports).toHaveLength(15);
  for (const report of reports) {
    for (const [name, [least, most]] of Object.entries(BOUNDS)) {
      const value = report[name as keyof typeof BOUNDS];
      expect({ name, value, isInside: value >= least && value <= most }).toEqual({ name, value, isInside: true });
    }
    expect(report.spectrum[1]).toBeCloseTo(0.3, 6);
    expect(report.spectrum[2]).toBeCloseTo(0.13, 6);
  }
});
