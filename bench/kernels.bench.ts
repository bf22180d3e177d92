/** Kernels on one core: every point kernel in SIMD and plain, sorted and random points, the sort, time, filters, two threads. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { createBoxFilter } from "../dist/kernels/box-filter.js";
import type { BrickField, BrickReader, Scheme } from "../dist/kernels/field.js";
import { createScheme } from "../dist/kernels/index.js";
import { SCRATCH_BYTES, type SimdAccelerator } from "../dist/kernels/simd/index.js";
import { alternate, type Contestant, nanoseconds } from "./alternate.js";
import { Arena, brickCube, createBatch, createSorter, cubeAxes, randomPositions } from "./field.js";
import type { Share } from "./kernels-worker.js";
import type { BenchOptions, Row } from "./row.js";

const SEED = 1_024;
/** Nodes per edge of a brick. */
const EDGE = 64;
const OPTIONS = { fd8Legacy: false };

/** Case names, kernels and options. */
const KERNELS = [
  ["none", "velocity", "None"],
  ["lag4", "velocity", "Lag4"],
  ["lag6", "velocity", "Lag6"],
  ["lag8", "velocity", "Lag8"],
  ["lag8-with-pressure", "velocityPressure", "Lag8"],
  ["gradient-fd4lag4", "velocityGradient", "Fd4Lag4"],
  ["gradient-fd8", "velocityGradient", "None_Fd8"],
  ["hessian-fd4lag4", "velocityHessian", "Fd4Lag4"],
  ["hessian-fd8", "velocityHessian", "None_Fd8"],
  ["laplacian-fd4lag4", "velocityLaplacian", "Fd4Lag4"],
  ["pressure-gradient-fd4lag4", "pressureGradient", "Fd4Lag4"],
  ["pressure-hessian-fd4lag4", "pressureHessian", "Fd4Lag4"],
] as const;
const FILTERS = [
  ["box-velocity-16dx", "boxVelocity"],
  ["box-gradient-16dx", "boxVelocityGradient"],
  ["box-stress-16dx", "boxStress"],
] as const;
/** Weights of four frames half a step past the second. */
const PCHIP = [-0.0625, 0.5625, 0.5625, -0.0625] as const;
const MOST_COMPONENTS = 18;
/** Points that a sample of small batches has in all; each batch has others, so that none finds its nodes in a cache. */
const SAMPLE_POINTS = 20_000;

/** A cube in a shared memory, and points in it. */
interface Setting {
  readonly nodes: number;
  readonly arena: Arena;
  readonly accelerator: SimdAccelerator;
  readonly velocity: BrickField;
  readonly pressure: BrickField;
  readonly positions: Readonly<Record<"random" | "sorted", Float64Array>>;
  readonly out: Float64Array;
}

function prepare(nodes: number, points: number): Setting {
  const bricks = Math.ceil(nodes / EDGE) ** 3;
  const arena = new Arena(16 * bricks * EDGE ** 3 + (8 * MOST_COMPONENTS + 192) * points + 8 * SCRATCH_BYTES + 2 ** 20);
  const accelerator = arena.accelerator();
  const velocity = brickCube(arena, nodes, EDGE, 3);
  const pressure = brickCube(arena, nodes, EDGE, 1);
  const random = randomPositions(arena, points, SEED);
  const sorted = arena.float64(3 * points);
  createSorter(arena, accelerator, cubeAxes(nodes), velocity, points).sort(points, random, sorted);
  const out = arena.float64(MOST_COMPONENTS * points);
  return { nodes, arena, accelerator, velocity, pressure, positions: { random, sorted }, out };
}

function fieldsOf({ velocity, pressure }: Setting, kernel: string): BrickField[] {
  if (kernel === "velocityPressure") return [velocity, pressure];
  return kernel.startsWith("pressure") ? [pressure] : [velocity];
}

/** `points` points, the whole set when there is no need to save time. */
function evaluation(
  setting: Setting,
  name: string,
  scheme: Scheme,
  fields: readonly BrickField[],
  backend: string,
  order: "random" | "sorted",
  points: number,
): Contestant {
  const positions = setting.positions[order];
  const params = { nodes: setting.nodes, order, points, brick: EDGE };
  return {
    row: { bench: "kernel", case: name, backend, unit: "ns/point", params },
    run: () => nanoseconds(() => scheme.evaluate(fields, positions, 0, points, setting.out)) / points,
  };
}

/** One kernel against its plain twin, on sorted and random points. */
function kernelContestants(setting: Setting, [name, kernel, method]: (typeof KERNELS)[number]): Contestant[] {
  const axes = cubeAxes(setting.nodes);
  const fields = fieldsOf(setting, kernel);
  const all = setting.positions.random.length / 3;
  const plain = createScheme(kernel, method, axes, OPTIONS);
  const simd = createScheme(kernel, method, axes, OPTIONS, setting.accelerator);
  return (["sorted", "random"] as const).flatMap((order) => [
    evaluation(setting, name, simd, fields, "simd", order, all),
    evaluation(setting, name, plain, fields, "plain", order, Math.min(all, 4_000)),
  ]);
}

/** What batches of random points cost with their sort, by number of points. */
function batchContestants(setting: Setting, methods: readonly string[], sizes: readonly number[]): Contestant[] {
  const { nodes, arena, accelerator, velocity, positions, out } = setting;
  const most = Math.max(...sizes);
  const axes = cubeAxes(nodes);
  const sorter = createSorter(arena, accelerator, axes, velocity, most);
  const sorted = arena.float64(3 * most);
  return methods.flatMap((method) => {
    const scheme = createScheme("velocity", method, axes, OPTIONS, accelerator);
    const batch = createBatch(scheme, velocity, sorter, sorted, out);
    return sizes.map((points) => {
      const params = { nodes, order: "random", points, brick: EDGE };
      const name = `${method.toLowerCase()}-batch`;
      const repeats = Math.max(1, Math.floor(SAMPLE_POINTS / points));
      const work = () => {
        for (let i = 0; i < repeats; i++) batch(points, positions.random.subarray(3 * i * points));
      };
      return {
        row: { bench: "kernel", case: name, backend: "simd", unit: "ns/point", params },
        run: () => nanoseconds(work) / (repeats * points),
      };
    });
  });
}

/** The sort alone, positions brought into its order included. */
function sortContestant({ nodes, arena, accelerator, velocity, positions }: Setting): Contestant {
  const points = positions.random.length / 3;
  const sorter = createSorter(arena, accelerator, cubeAxes(nodes), velocity, points);
  const sorted = arena.float64(3 * points);
  const params = { nodes, order: "random", points, brick: EDGE };
  return {
    row: { bench: "kernel", case: "sort", backend: "simd", unit: "ns/point", params },
    run: () => nanoseconds(() => sorter.sort(points, positions.random, sorted)) / points,
  };
}

/** Lag8 at one time and with PCHIP: four frames and their weighted sum. */
function timeContestants(setting: Setting): Contestant[] {
  const { nodes, accelerator, velocity, positions, out } = setting;
  const points = positions.sorted.length / 3;
  const scheme = createScheme("velocity", "Lag8", cubeAxes(nodes), OPTIONS, accelerator);
  const sum = new Float64Array(3 * points);
  const work = () => {
    for (const [f, weight] of PCHIP.entries()) {
      scheme.evaluate([velocity], positions.sorted, 0, points, out);
      if (f === 0) for (let i = 0; i < sum.length; i++) sum[i] = weight * (out[i] as number);
      else for (let i = 0; i < sum.length; i++) (sum[i] as number) += weight * (out[i] as number);
    }
  };
  const params = { nodes, order: "sorted", points, brick: EDGE };
  return [
    evaluation(setting, "lag8-one-time", scheme, [velocity], "simd", "sorted", points),
    {
      row: { bench: "kernel", case: "lag8-pchip", backend: "simd", unit: "ns/point", params },
      run: () => nanoseconds(work) / points,
    },
  ];
}

/** Filters 16 spacings wide, one layer, at a few points. */
function filterContestants({ nodes, accelerator, velocity, positions }: Setting): Contestant[] {
  const axes = cubeAxes(nodes);
  const points = 20;
  const reader: BrickReader = {
    components: 3,
    bricking: velocity.bricking,
    visit: (_frame, brick, use) => use(velocity.data, velocity.table[brick] as number),
  };
  const frames = { frames: [0], weights: [1] };
  return FILTERS.flatMap(([name, kernel]) =>
    (["simd", "plain"] as const).map((backend) => {
      const filter = createBoxFilter(
        kernel,
        axes,
        16 * axes[0].spacing,
        1,
        backend === "simd" ? accelerator : undefined,
      );
      const out = new Float64Array(points * filter.components);
      const work = () => filter.evaluate([reader], frames, positions.random, 0, points, out);
      const params = { nodes, order: "random", points, brick: EDGE };
      return {
        row: { bench: "kernel", case: name, backend, unit: "ns/point", params },
        run: () => nanoseconds(work) / points,
      };
    }),
  );
}

/** Lag8 of the same points by one thread and by two threads on one memory. */
async function benchThreads(setting: Setting, rounds: number, quick: boolean): Promise<Row[]> {
  const { nodes, arena, velocity, positions } = setting;
  const points = positions.sorted.length / 3;
  const workers = [0, 1].map(() => new Worker(new URL("./kernels-worker.js", import.meta.url)));
  const scratch = workers.map(() => arena.uint8(SCRATCH_BYTES).byteOffset);
  const evaluate = async (shares: number): Promise<number> => {
    const start = process.hrtime.bigint();
    await Promise.all(
      workers.slice(0, shares).map((worker, w) => {
        const first = Math.floor((w * points) / shares);
        const count = Math.floor(((w + 1) * points) / shares) - first;
        const { memory } = arena;
        const share: Share = {
          memory,
          scratch: scratch[w] as number,
          axes: cubeAxes(nodes),
          fields: [velocity],
          positions: positions.sorted,
          first,
          count,
          out: setting.out,
        };
        const answer = once(worker, "message");
        worker.postMessage(share);
        return answer;
      }),
    );
    return Number(process.hrtime.bigint() - start) / points;
  };
  const contestant = (shares: number): Contestant => {
    const params = { nodes, order: "sorted", points, brick: EDGE, workers: shares };
    const row = { bench: "kernel", case: "lag8-threads", backend: "simd", unit: "ns/point", params };
    return { row, run: () => evaluate(shares) };
  };
  try {
    return await alternate([contestant(1), contestant(2)], rounds, quick);
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}

/** Cubes of 64 nodes an axis, which caches hold, and of 256, which they do not. */
export async function benchKernels({ quick }: BenchOptions): Promise<Row[]> {
  const rows: Row[] = [];
  const measure = async (contestants: readonly Contestant[], rounds: number) => {
    rows.push(...(await alternate(contestants, rounds, quick)));
  };
  const rounds = quick ? 5 : 11;
  const small = prepare(64, quick ? 20_000 : 50_000);
  for (const kernel of KERNELS) await measure(kernelContestants(small, kernel), rounds);
  await measure(timeContestants(small), rounds);
  await measure(filterContestants(small), rounds);
  rows.push(...(await benchThreads(small, rounds, quick)));
  const sweep = 200_000;
  const requestSizes = quick ? [1_000, sweep] : [100, 1_000, 10_000, 100_000, sweep, 1_000_000];
  const large = prepare(256, Math.max(...requestSizes));
  const fewer = quick ? 3 : 7;
  for (const name of ["lag8", "lag4"]) {
    for (const kernel of KERNELS.filter(([row]) => row === name))
      await measure(kernelContestants(large, kernel), fewer);
  }
  await measure([sortContestant(large)], fewer);
  await measure(batchContestants(large, ["Lag8", "Lag4"], requestSizes), fewer);
  for (const nodes of quick ? [32, 128] : [32, 64, 128, 512])
    await measure(batchContestants(prepare(nodes, sweep), ["Lag8"], [sweep]), fewer);
  return rows;
}
