/** Compares paths, flow maps and dispersion with NumPy; it is skipped if NumPy is not there. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";
import { connect } from "../../src/client/index.js";
import { scatter } from "../support/accuracy.js";
import { askNumpy, NUMPY, WITHOUT, writeRaw } from "../support/analysis-data.js";
import { pathEnds } from "../support/operation-questions.js";
import { determinant } from "../support/path-accuracy.js";
import { scratchFolder } from "../support/scratch.js";
import { serveTestData } from "../support/service.js";

const SHIPPED = fileURLToPath(new URL("../../data/isotropic32/isotropic32.h5", import.meta.url));
const SCRIPT = fileURLToPath(new URL("./paths_oracle.py", import.meta.url));

const COUNT = 40;
const flat = scatter(COUNT);
type Place = [number, number, number];
const points = Array.from({ length: COUNT }, (_, i) => [...flat.subarray(3 * i, 3 * i + 3)] as Place);
const times = { start: 0.5, end: 1.5 };

const TASKS = [
  { task: "ends", method: "Lag6", count: 256, ...times },
  { task: "ends", method: "M2Q8", count: 256, ...times },
  { task: "ends", method: "M2Q8", count: 256, start: 1.5, end: 0.5 },
  { task: "flowMap", method: "Lag8", derivatives: "Fd4Lag4", count: 50, ...times },
  { task: "flowMap", method: "M2Q8", derivatives: "M2Q8", count: 50, ...times },
  { task: "dispersion", method: "Lag6", count: 20, every: 5, orders: [2, 3], ...times },
] as const;
interface FlowMapTruth {
  readonly gradient: number[][][];
  readonly volume: number;
}
type Truth = [
  Place[],
  Place[],
  Place[],
  FlowMapTruth,
  FlowMapTruth,
  Readonly<Record<"meanSquare" | "meanSquareAxes" | "velocitySquare" | "autocorrelation", readonly number[]>> & {
    readonly separation: Record<string, number[]>;
    readonly eigenvalues: number[][];
  },
];

const folder = scratchFolder();
const service = await serveTestData();
const client = await connect(service.url);
afterAll(() => service.close());

async function askOracle(): Promise<Truth> {
  const velocity = join(folder, "velocity");
  await writeRaw(SHIPPED, "velocity", velocity);
  return askNumpy(SCRIPT, { velocity, nodes: 32, origin: -0.2, step: 0.2, points, tasks: TASKS });
}

async function distances(
  truth: Place[],
  { start, end, method }: { start: number; end: number; method: string },
  more: object,
) {
  const asked = { StartTime: start, EndTime: end, dt: 1 / 256, spatialInterpolation: method, points };
  const ends = await pathEnds(client, "isotropic32", { ...asked, ...more });
  const off = (i: number) => [0, 1, 2].map((c) => (ends[i]?.[c] as number) - (truth[i]?.[c] as number));
  return points.map((_, i) => Math.hypot(...off(i)));
}

const worst = (ours: unknown, truth: unknown): number => {
  const [a, b] = [[ours].flat(4), [truth].flat(4)] as number[][];
  expect(a).toHaveLength((b as number[]).length);
  return Math.max(...(a as number[]).map((x, i) => Math.abs(x - (b?.[i] as number))));
};

it.skipIf(NUMPY === undefined)(`paths are those of NumPy${WITHOUT}`, { timeout: 120_000 }, async () => {
  const [lag, spline, back, lagMap, splineMap, means] = await askOracle();
  for (const [truth, task] of [
    [lag, TASKS[0]],
    [spline, TASKS[1]],
    [back, TASKS[2]],
  ] as const) {
    expect(Math.max(...(await distances(truth, task, { integrator: "rk4" })))).toBeLessThan(3e-6);
    const adaptive = await distances(truth, task, { integrator: "dopri5", tolerance: 1e-4, dt: 1 });
    expect(adaptive.filter((error) => error <= 1e-4).length).toBeGreaterThanOrEqual(0.95 * COUNT);
  }
  for (const [truth, { method, derivatives }] of [
    [lagMap, TASKS[3]],
    [splineMap, TASKS[4]],
  ] as const) {
    const maps = points.map(async ([x, y, z]) => {
      const asked = { what: "gradient", x, y, z, time: "0.5:1.5", step: 0.02, method, derivatives };
      return (await client.flow_map("isotropic32", asked)).data.gradient;
    });
    const gradients = (await Promise.all(maps)) as number[][][];
    expect(worst(gradients, truth.gradient)).toBeLessThan(2e-4);
    const volumes = gradients.map((F) => Math.abs(determinant(F.flat()) - 1)).sort((a, b) => a - b);
    expect(((volumes[COUNT / 2 - 1] as number) + (volumes[COUNT / 2] as number)) / 2).toBeCloseTo(truth.volume, 5);
  }
  expect(splineMap.volume).toBeLessThan(1e-3);
  const asked = { time: "0.5:1.5", step: 0.05, every: 5, orders: [2, 3], method: "Lag6" } as const;
  const four = await client.dispersion("isotropic32", { ...asked, points: { tetrads: points } });
  const two = await client.dispersion("isotropic32", { ...asked, points: { pairs: points } });
  for (const [name, oracle] of [
    ["mean_square", "meanSquare"],
    ["mean_square_axes", "meanSquareAxes"],
    ["velocity_square", "velocitySquare"],
    ["autocorrelation", "autocorrelation"],
  ] as const) {
    expect(worst(four[name], means[oracle])).toBeLessThan(1e-5);
    expect(two[name]).toEqual(four[name]);
  }
  for (const order of ["2", "3"])
    expect(worst(two.pairs?.separation[order], means.separation[order])).toBeLessThan(1e-3);
  expect(worst(four.tetrads?.eigenvalues, means.eigenvalues)).toBeLessThan(1e-4);
});
