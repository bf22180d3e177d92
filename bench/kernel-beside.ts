/** What the sort, derivatives, time and box filters cost beside Lag8. */
import { createBoxFilter } from "../dist/kernels/filter/box-filter.js";
import { createScheme } from "../dist/kernels/index.js";
import type { BrickReader } from "../dist/kernels/types.js";
import { type Comparison, type Contestant, nanoseconds } from "./alternate.js";
import { createSorter, cubeAxes } from "./field.js";
import { CHECKED, checkClose, EDGE, evaluation, type Group, lag8, OPTIONS, type Setting } from "./kernel-setting.js";

const FILTERS = [
  ["box-velocity-16dx", "boxVelocity"],
  ["box-gradient-16dx", "boxVelocityGradient"],
  ["box-stress-16dx", "boxStress"],
] as const;
/** Weights of four frames half a step past the second. */
const PCHIP = [-0.0625, 0.5625, 0.5625, -0.0625] as const;

/** The sort alone, positions brought into its order included, beside Lag8 of the sorted points. */
export function sortGroup(setting: Setting): Group {
  const { nodes, arena, accelerator, velocity, positions } = setting;
  const points = positions.random.length / 3;
  const sorter = createSorter(arena, accelerator, cubeAxes(nodes), velocity, points);
  const sorted = arena.float64(3 * points);
  const params = { nodes, order: "random", points, brick: EDGE };
  const sort: Contestant = {
    row: { bench: "kernel", case: "sort", backend: "simd", unit: "ns/point", params },
    run: () => nanoseconds(() => sorter.sort(points, positions.random, sorted)) / points,
  };
  const beside = evaluation(setting, "sort-lag8", lag8(setting), [velocity], "simd", "sorted", points);
  return {
    contestants: [sort, beside],
    comparisons: [{ case: "sort", unit: "of lag8", over: sort, under: beside }],
  };
}

/** The gradient, and Lag8 with PCHIP (four frames and their weighted sum), beside Lag8 at one time. */
export function timeGroup(setting: Setting): Group {
  const { nodes, accelerator, velocity, positions, out } = setting;
  const points = positions.sorted.length / 3;
  const scheme = lag8(setting);
  const sum = new Float64Array(3 * points);
  const work = () => {
    for (const [f, weight] of PCHIP.entries()) {
      scheme.evaluate([velocity], positions.sorted, 0, points, out);
      if (f === 0) for (let i = 0; i < sum.length; i++) sum[i] = weight * (out[i] as number);
      else for (let i = 0; i < sum.length; i++) (sum[i] as number) += weight * (out[i] as number);
    }
  };
  // The four frames are the same one here and their weights add up to 1.
  work();
  checkClose("lag8-pchip", sum, out, 3 * CHECKED);
  const params = { nodes, order: "sorted", points, brick: EDGE };
  const pchip: Contestant = {
    row: { bench: "kernel", case: "lag8-pchip", backend: "simd", unit: "ns/point", params },
    run: () => nanoseconds(work) / points,
  };
  const gradientScheme = createScheme("velocityGradient", "Fd4Lag4", cubeAxes(nodes), OPTIONS, accelerator);
  const gradient = evaluation(setting, "gradient-beside-lag8", gradientScheme, [velocity], "simd", "sorted", points);
  const one = evaluation(setting, "lag8-one-time", scheme, [velocity], "simd", "sorted", points);
  return {
    contestants: [one, pchip, gradient],
    comparisons: [
      { case: "lag8-pchip", unit: "of lag8", over: pchip, under: one },
      { case: "gradient-fd4lag4", unit: "of lag8", over: gradient, under: one },
    ],
  };
}

/** Filters 16 spacings wide, one layer, at a few points, beside Lag8 at sorted ones. */
export function filterGroup(setting: Setting): Group {
  const { nodes, accelerator, velocity, positions } = setting;
  const axes = cubeAxes(nodes);
  const points = 20;
  const reader: BrickReader = {
    components: 3,
    bricking: velocity.bricking,
    visit: (_frame, brick, use) => use(velocity.data, velocity.table[brick] as number),
  };
  const frames = { frames: [0], weights: [1] };
  const sorted = positions.sorted.length / 3;
  const one = evaluation(setting, "filter-lag8", lag8(setting), [velocity], "simd", "sorted", sorted);
  const comparisons: Comparison[] = [];
  const filters = FILTERS.flatMap(([name, kernel]) => {
    const answers: Float64Array[] = [];
    const both = (["simd", "plain"] as const).map((backend): Contestant => {
      const used = backend === "simd" ? accelerator : undefined;
      const filter = createBoxFilter(kernel, axes, 16 * axes[0].spacing, 1, used);
      const out = new Float64Array(points * filter.components);
      const work = () => filter.evaluate([reader], frames, positions.random, 0, points, out);
      work();
      answers.push(out.slice());
      const params = { nodes, order: "random", points, brick: EDGE };
      return {
        row: { bench: "kernel", case: name, backend, unit: "ns/point", params },
        run: () => nanoseconds(work) / points,
      };
    });
    const [simd, plain] = answers as [Float64Array, Float64Array];
    checkClose(name, simd, plain, plain.length);
    comparisons.push({ case: name, unit: "lag8 points", over: both[0] as Contestant, under: one });
    return both;
  });
  return { contestants: [one, ...filters], comparisons };
}
