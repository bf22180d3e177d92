/** Nodes of a period are uniform within the rounding of their coordinates. */
import { join } from "node:path";
import type { File } from "h5wasm/node";
import { expect, it } from "vitest";
import type { Dataset } from "../../../src/storage/dataset/dataset.js";
import { NODES, writeHdf5 } from "../../support/cubes.js";
import { openConfirmed } from "../../support/open-confirmed.js";
import { writeComponents } from "../../support/questionable-files.js";
import { scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();
const STEP = (2 * Math.PI) / NODES.x;
let made = 0;

/** A dataset whose x is a table in float64, periodic or not. */
async function withTable(x: (i: number) => number, periodic: string): Promise<Dataset> {
  const path = join(SCRATCH, `axis${made++}.h5`);
  await writeHdf5(path, (file: File) => {
    writeComponents(file);
    for (const axis of ["x", "y", "z"] as const)
      file.create_dataset({
        name: axis,
        data: Float64Array.from({ length: NODES[axis] }, (_, i) => (axis === "x" ? x(i) : i)),
      });
    file.create_attribute("axes", "zyx");
    file.create_attribute("periodic", periodic);
  });
  return openConfirmed(path, 2 ** 26);
}

const rounded = (digits: number) => (i: number) => Number((i * STEP).toFixed(digits));

it.each([
  ["float32 stored as float64", (i: number) => Math.fround(i * STEP), 2 ** -22],
  ["six digits", rounded(6), 1e-6],
  ["three digits", rounded(3), 1e-3],
])("takes coordinates of %s for those of a period, and says so", async (_, x, unit) => {
  const { axes, warnings } = await withTable(x, "x");
  const [{ nodes, origin, spacing, periodic, coordinates }] = axes;
  expect({ nodes, origin, periodic, coordinates }).toEqual({ nodes: 12, origin: 0, periodic: true, coordinates: null });
  expect(Math.abs(nodes * spacing - 2 * Math.PI)).toBeLessThan(2 * unit);
  expect(warnings.join("\n")).toMatch(/The coordinates along x are rounded numbers .* off by at most/);
});

it.each([
  ["one digit", rounded(1), /off their mean 0\.52\d+ by up to 0\.0\d+ \(--spacing and --origin/],
  ["a stretched grid", (i: number) => i + 0.01 * Math.sin(i), /off their mean 0\.99\d+ by up to 0\.01/],
])("refuses a period of %s with the deviation and what answers it", async (_, x, reason) => {
  await expect(withTable(x, "x")).rejects.toThrow(reason);
});

it("keeps the table of an axis that is not periodic, rounded or not", async () => {
  const { axes } = await withTable(rounded(3), "none");
  expect([...(axes[0].coordinates ?? [])]).toEqual(Array.from({ length: NODES.x }, (_, i) => rounded(3)(i)));
});
