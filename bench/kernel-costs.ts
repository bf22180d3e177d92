/** Measures what the sort, derivatives, filters and thresholds cost compared with Lagrange interpolation. */
import { createBoxFilter } from "../dist/kernels/filter/box-filter.js";
import { createNodeFilter } from "../dist/kernels/filter/node-filter.js";
import { createScheme } from "../dist/kernels/index.js";
import { createHits, createThreshold } from "../dist/kernels/threshold.js";
import type { BrickReader } from "../dist/kernels/types.js";
import { type Comparison, type Contestant, nanoseconds } from "./alternate.js";
import { createSorter, cubeAxes } from "./field.js";
import { EDGE, evaluation, type Group, lag8, OPTIONS, type Setting } from "./kernel-setting.js";

const FILTERS = [
  ["box-velocity-16dx", "boxVelocity"],
  ["box-gradient-16dx", "boxVelocityGradient"],
  ["box-stress-16dx", "boxStress"],
] as const;

/** The sort alone, with bringing positions into its order, compared with Lag8 of the sorted points. */
export function sortGroup(setting: Setting): Group {
  const { nodes, arena, velocity, positions } = setting;
  const points = positions.random.length / 3;
  const sorter = createSorter(arena, cubeAxes(nodes), velocity, points);
  const sorted = arena.float64(3 * points);
  const params = { nodes, order: "random", points, brick: EDGE };
  const sort: Contestant = {
    row: { bench: "kernel", case: "sort", backend: "simd", unit: "ns/point", params },
    run: () => nanoseconds(() => sorter.sort(points, positions.random, sorted)) / points,
  };
  const values = evaluation(setting, "sort-lag8", lag8(setting), [velocity], "simd", "sorted", points);
  return {
    contestants: [sort, values],
    comparisons: [{ case: "sort", unit: "of lag8", over: sort, under: values }],
  };
}

/** The gradient, compared with Lag8. */
export function gradientGroup(setting: Setting): Group {
  const { nodes, accelerator, velocity, positions } = setting;
  const points = positions.sorted.length / 3;
  const scheme = createScheme("velocityGradient", "Fd4Lag4", cubeAxes(nodes), OPTIONS, accelerator);
  const gradient = evaluation(setting, "gradient-with-lag8", scheme, [velocity], "simd", "sorted", points);
  const one = evaluation(setting, "lag8-with-gradient", lag8(setting), [velocity], "simd", "sorted", points);
  return {
    contestants: [one, gradient],
    comparisons: [{ case: "gradient-fd4lag4", unit: "of lag8", over: gradient, under: one }],
  };
}

function readerOf({ velocity }: Setting): BrickReader {
  return {
    components: 3,
    bricking: velocity.bricking,
    visit: (_frame, brick, use) => use(velocity.data, velocity.table[brick] as number),
  };
}

/**
 * Means and sub-grid-scale stress over cubes of nodes of three widths, at all points at once, compared with Lag8 at
 * sorted ones.
 */
export function nodeFilterGroup(setting: Setting): Group {
  const { nodes, velocity, positions } = setting;
  const points = positions.random.length / 3;
  const one = evaluation(setting, "node-filter-lag8", lag8(setting), [velocity], "simd", "sorted", points);
  const comparisons: Comparison[] = [];
  const filters = ([7, 31, nodes < 101 ? 63 : 101] as const).flatMap((width) =>
    (["mean", "covariance"] as const).map((quantity): Contestant => {
      const filter = createNodeFilter(quantity, cubeAxes(nodes), width, [3]);
      const out = new Float64Array(points * filter.components);
      const name = `node-${quantity}`;
      const params = { nodes, order: "random", points, brick: EDGE, width };
      const contestant = {
        row: { bench: "kernel", case: name, backend: "plain", unit: "ns/point", params },
        run: () =>
          nanoseconds(() => filter.evaluate([readerOf(setting)], 0, positions.random, 0, points, out)) / points,
      };
      comparisons.push({ case: `${name}-${width}`, unit: "lag8 points", over: contestant, under: one });
      return contestant;
    }),
  );
  return { contestants: [one, ...filters], comparisons };
}

/** All nodes of the cube against a threshold that none exceeds. */
export function thresholdGroup(setting: Setting): Group {
  const { nodes } = setting;
  const count = Math.min(nodes, 64);
  const contestants = (["norm", "vorticity", "q"] as const).map((kind): Contestant => {
    const quantity = kind === "norm" ? ({ kind, size: 3 } as const) : ({ kind, order: 4 } as const);
    const threshold = createThreshold(cubeAxes(nodes), quantity);
    const search = () => threshold.search(readerOf(setting), 0, [0, 0, 0], [count, count, count], 1e9, createHits(1));
    const params = { nodes, points: count ** 3, brick: EDGE };
    return {
      row: { bench: "kernel", case: `threshold-${kind}`, backend: "plain", unit: "ns/node", params },
      run: () => nanoseconds(search) / count ** 3,
    };
  });
  return { contestants, comparisons: [] };
}

/** Filters 16 spacings wide, one layer, at a few points, compared with Lag8 at sorted ones. */
export function filterGroup(setting: Setting): Group {
  const { nodes, velocity, positions } = setting;
  const axes = cubeAxes(nodes);
  const points = 20;
  const reader = readerOf(setting);
  const frames = { frames: [0], weights: [1] };
  const sorted = positions.sorted.length / 3;
  const one = evaluation(setting, "filter-lag8", lag8(setting), [velocity], "simd", "sorted", sorted);
  const comparisons: Comparison[] = [];
  const filters = FILTERS.map(([name, kernel]): Contestant => {
    const filter = createBoxFilter(kernel, axes, 16 * axes[0].spacing, 1);
    const out = new Float64Array(points * filter.components);
    const work = () => filter.evaluate([reader], frames, positions.random, 0, points, out);
    const params = { nodes, order: "random", points, brick: EDGE };
    const contestant = {
      row: { bench: "kernel", case: name, backend: "plain", unit: "ns/point", params },
      run: () => nanoseconds(work) / points,
    } as const;
    comparisons.push({ case: name, unit: "lag8 points", over: contestant, under: one });
    return contestant;
  });
  return { contestants: [one, ...filters], comparisons };
}
