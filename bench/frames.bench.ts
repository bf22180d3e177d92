/** Compares the cost of combining four frames with that of one frame, in CPU and in turns, by the density of points. */
import { createScheme } from "../dist/kernels/index.js";
import { SCRATCH_BYTES } from "../dist/kernels/simd/index.js";
import { alternate, type Comparison, type Contestant, cpuNanoseconds } from "./alternate.js";
import { Arena, brickCube, createSorter, cubeAxes, randomPositions } from "./field.js";
import { CHECKED, checkClose, type Group, OPTIONS } from "./kernel-setting.js";
import type { BenchOptions, Row } from "./row.js";

const NODES = 64;
/** Nodes per edge of a brick: stencils cross faces as often as in data of usual chunks. */
const EDGE = 32;
const TILES = (NODES / 16) ** 3;
/** Points per 16^3 nodes. */
const DENSITIES = [250, 60, 8] as const;
const MAX_COMPONENTS = 9;
/** Points that a sample has at least. */
const SAMPLE_POINTS = 8_000;
const SEED = 4_096;
/** Weights of four frames half a step past the second. */
const PCHIP = [-0.0625, 0.5625, 0.5625, -0.0625] as const;
/** Case names, kernels and options. */
const CASES = [
  ["lag4", "velocity", "Lag4"],
  ["lag6", "velocity", "Lag6"],
  ["lag8", "velocity", "Lag8"],
  ["spline-m2q8", "velocity", "M2Q8"],
  ["gradient-fd4lag4", "velocityGradient", "Fd4Lag4"],
  ["gradient-fd4", "velocityGradient", "None_Fd4"],
] as const;

/** Rows `frames`: ns/point of CPU of four frames and of one, and their ratio, for each kernel and density. */
export async function benchFrames({ quick }: BenchOptions): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { contestants, comparisons } of frameGroups())
    rows.push(...(await alternate(contestants, quick ? 5 : 21, quick, comparisons)));
  return rows;
}

/** One group for each kernel: four frames and one, at each density. */
function frameGroups(): Group[] {
  const most = DENSITIES[0] * TILES;
  const arena = new Arena(4 * 12 * NODES ** 3 + (8 * MAX_COMPONENTS + 96) * most + 2 * SCRATCH_BYTES + 2 ** 20);
  const accelerator = arena.accelerator();
  const axes = cubeAxes(NODES);
  const frames = PCHIP.map(() => [brickCube(arena, NODES, EDGE, 3)]);
  const [one = []] = frames;
  const random = randomPositions(arena, most, SEED);
  const sorter = createSorter(arena, axes, one[0] as (typeof one)[number], most);
  const out = arena.float64(MAX_COMPONENTS * most);
  const sets = DENSITIES.map((density) => {
    const count = density * TILES;
    const positions = arena.float64(3 * count);
    sorter.sort(count, random, positions);
    return { density, count, positions };
  });
  return CASES.map(([name, kernel, method]) => {
    const scheme = createScheme(kernel, method, axes, OPTIONS, accelerator);
    const contestants: Contestant[] = [];
    const comparisons: Comparison[] = [];
    for (const { density, count, positions } of sets) {
      const params = { nodes: NODES, brick: EDGE, points: count, density };
      const alone = () => scheme.evaluate(one, positions, 0, count, out);
      const combined = () => scheme.combine(frames, PCHIP, positions, 0, count, out);
      // The four frames hold the same values here, and their weights add up to 1.
      alone();
      const expected = out.slice(0, scheme.components * CHECKED);
      combined();
      checkClose(`${name}-pchip`, out, expected, expected.length);
      const contestant = (title: string, work: () => void): Contestant => ({
        row: { bench: "frames", case: title, backend: "cpu", unit: "ns/point", params },
        run: () => {
          // A sample of few points would be shorter than the clock can tell.
          const repeats = Math.max(1, Math.ceil(SAMPLE_POINTS / count));
          const some = (): void => {
            for (let i = 0; i < repeats; i++) work();
          };
          return cpuNanoseconds(some) / (repeats * count);
        },
      });
      const under = contestant(`${name}-one-time`, alone);
      const over = contestant(`${name}-pchip`, combined);
      contestants.push(under, over);
      comparisons.push({ case: `${name}-pchip`, unit: "of one time", over, under });
    }
    return { contestants, comparisons };
  });
}
