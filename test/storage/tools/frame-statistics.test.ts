/** Frame statistics against closed forms. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDataset } from "../../../src/storage/bricks/brick-reader.js";
import { type Divergence, isDoubtful, shuffledText } from "../../../src/storage/tools/divergence.js";
import { frameStatistics } from "../../../src/storage/tools/frame-statistics.js";
import { writeHdf5 } from "../../support/cubes.js";
import { openProposed } from "../../support/open-confirmed.js";
import { scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();
const N = 40;

type Point = readonly [number, number, number];

/** Statistics of a velocity given at the nodes of a cube, stretched along y. */
async function statisticsOf(name: string, velocity: (at: Point) => readonly [number, number, number]) {
  mkdirSync(join(SCRATCH, name));
  const y = Float64Array.from({ length: N }, (_, i) => i / N + 0.1 * Math.sin((2 * Math.PI * i) / N));
  const even = Float64Array.from({ length: N }, (_, i) => i / N);
  const path = await writeHdf5(join(SCRATCH, name, "u.h5"), (file) => {
    const data = new Float32Array(3 * N ** 3);
    for (let i = 0; i < N ** 3; i++) {
      const node = [i % N, Math.floor(i / N) % N, Math.floor(i / N ** 2)] as const;
      data.set(velocity([even[node[0]] as number, y[node[1]] as number, even[node[2]] as number]), 3 * i);
    }
    file.create_dataset({ name: "velocity", data, shape: [N, N, N, 3], chunks: [16, 16, 16, 3] });
    file.create_dataset({ name: "x", data: even });
    file.create_dataset({ name: "y", data: y });
    file.create_dataset({ name: "z", data: even });
  });
  const dataset = openProposed(path, 2 ** 26);
  const open = openDataset(dataset);
  const fractions: number[] = [];
  const found = await frameStatistics(dataset, open, "velocity", 0, async (fraction) => void fractions.push(fraction));
  open.close();
  expect(fractions).toHaveLength(27);
  expect(fractions.at(-1)).toBe(1);
  return found;
}

describe("frameStatistics", () => {
  it("finds range and rms over all components, and no divergence in a linear flow without one", async () => {
    const found = await statisticsOf("shear", ([x, y, z]) => [2 * x + z, -3 * y, z + x]);
    expect(found.divergence?.own).toBeLessThan(1e-5);
    expect(found.nonFinite).toBe(0);
    let squares = 0;
    for (let k = 0; k < N; k++)
      for (let j = 0; j < N; j++)
        for (let i = 0; i < N; i++) {
          const [x, y, z] = [i / N, j / N + 0.1 * Math.sin((2 * Math.PI * j) / N), k / N];
          squares += (2 * x + z) ** 2 + 9 * y * y + (z + x) ** 2;
        }
    expect(found.rms).toBeCloseTo(Math.sqrt(squares / (3 * N ** 3)), 6);
    expect(found.max).toBeCloseTo((3 * (N - 1)) / N, 6);
  });

  it("finds the divergence over the gradient of flows that have one, as stored and with shuffled axes", async () => {
    // Three equal terms and no others: the sum is 3, the root of the sum of squares is sqrt(3).
    const { divergence } = await statisticsOf("expansion", ([x, y, z]) => [x, y, z]);
    expect(divergence?.own).toBeCloseTo(Math.sqrt(3), 5);
    expect(divergence?.shuffled[0]).toBeCloseTo(0, 5);
    expect(divergence?.shuffled[1]).toBeCloseTo(1 / Math.sqrt(3), 5);
    // Without divergence if the last two components change places.
    const swapped = (await statisticsOf("swapped", ([x, y, z]) => [2 * x, -z, -y])).divergence as Divergence;
    expect(swapped.own).toBeCloseTo(2 / Math.sqrt(6), 5);
    expect(swapped.shuffled[0]).toBeCloseTo(0, 5);
    expect(shuffledText(swapped)).toMatch(/^with shuffled axes .*: the order is probably wrong \(says nothing for /);
    expect(isDoubtful({ own: 0.58, shuffled: [0.57, 0.6] })).toBe(false);
  });

  it("counts what is not finite and leaves it out", async () => {
    const hole = (at: Point) => at[0] === 0.5 && at[2] === 0.25;
    const found = await statisticsOf("holes", (at) =>
      hole(at) ? [Number.NaN, Number.POSITIVE_INFINITY, 1] : [1, 1, 1],
    );
    expect(found).toMatchObject({ min: 1, max: 1, rms: 1, nonFinite: 2 * N });
  });
});
