/** Kernels on one core: in SIMD and plain, sorted and random points, batches with their sort, two threads. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { createScheme } from "../dist/kernels/index.js";
import { SCRATCH_BYTES } from "../dist/kernels/simd/index.js";
import { alternate, type Comparison, type Contestant, nanoseconds } from "./alternate.js";
import { createBatch, createSorter, cubeAxes } from "./field.js";
import type { Group, Setting } from "./kernel-setting.js";
import { CHECKED, checkClose, EDGE, evaluation, lag8, OPTIONS, prepare } from "./kernel-setting.js";
import type { Share } from "./kernels-worker.js";
import type { BenchOptions, Row } from "./row.js";

/** Case names, kernels and options. */
const KERNELS = [
  ["lag4", "velocity", "Lag4"],
  ["lag6", "velocity", "Lag6"],
  ["lag8", "velocity", "Lag8"],
  ["gradient-fd4lag4", "velocityGradient", "Fd4Lag4"],
  ["hessian-fd4lag4", "velocityHessian", "Fd4Lag4"],
  ["spline-m2q8", "velocity", "M2Q8"],
  ["spline-m2q14", "velocity", "M2Q14"],
] as const;
/** Points that a sample of small batches has in all; each batch has others, so that none finds its nodes in a cache. */
const SAMPLE_POINTS = 20_000;

/** One kernel against its plain twin, on sorted and random points. */
function kernelGroup(setting: Setting, [name, kernel, method]: (typeof KERNELS)[number]): Group {
  const axes = cubeAxes(setting.nodes);
  const fields = [setting.velocity];
  const all = setting.positions.random.length / 3;
  const plain = createScheme(kernel, method, axes, OPTIONS);
  const simd = createScheme(kernel, method, axes, OPTIONS, setting.accelerator);
  const [fast, slow] = [simd, plain].map((scheme) => {
    scheme.evaluate(fields, setting.positions.random, 0, CHECKED, setting.out);
    return setting.out.slice(0, CHECKED * scheme.components);
  }) as [Float64Array, Float64Array];
  checkClose(name, fast, slow, slow.length);
  const [simdSorted, plainSorted, ...random] = (["sorted", "random"] as const).flatMap((order) => [
    evaluation(setting, name, simd, fields, "simd", order, all),
    evaluation(setting, name, plain, fields, "plain", order, Math.min(all, 4_000)),
  ]) as [Contestant, Contestant, ...Contestant[]];
  return {
    contestants: [simdSorted, plainSorted, ...random],
    comparisons: [{ case: name, unit: "plain / simd", over: plainSorted, under: simdSorted }],
  };
}

/** The cost of batches of random points with their sort, by number of points, and the largest `unsorted`. */
function batchGroup(setting: Setting, methods: readonly string[], sizes: readonly number[], unsorted: boolean): Group {
  const { nodes, arena, accelerator, velocity, positions, out } = setting;
  const most = Math.max(...sizes);
  const axes = cubeAxes(nodes);
  const sorter = createSorter(arena, axes, velocity, most);
  const sorted = arena.float64(3 * most);
  const comparisons: Comparison[] = [];
  const contestants = methods.flatMap((method) => {
    const scheme = createScheme("velocity", method, axes, OPTIONS, accelerator);
    const batch = createBatch(scheme, velocity, sorter, sorted, out);
    const name = `${method.toLowerCase()}-batch`;
    scheme.evaluate([velocity], positions.random, 0, CHECKED, out);
    const expected = out.slice(0, 3 * CHECKED);
    checkClose(name, batch(most, positions.random), expected, expected.length);
    const batches = sizes.map((points): Contestant => {
      const params = { nodes, order: "random", points, brick: EDGE };
      const repeats = Math.max(1, Math.floor(SAMPLE_POINTS / points));
      const work = () => {
        for (let i = 0; i < repeats; i++) batch(points, positions.random.subarray(3 * i * points));
      };
      return {
        row: { bench: "kernel", case: name, backend: "simd", unit: "ns/point", params },
        run: () => nanoseconds(work) / (repeats * points),
      };
    });
    if (!unsorted) return batches;
    const over = evaluation(setting, `${name}-unsorted`, scheme, [velocity], "simd", "random", most);
    const under = batches[sizes.indexOf(most)] as Contestant;
    comparisons.push({ case: name, unit: "unsorted / sorted", over, under });
    return [...batches, over];
  });
  return { contestants, comparisons };
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
    const [one, two] = [contestant(1), contestant(2)];
    setting.out.fill(0);
    await two.run();
    const last = 3 * (points - CHECKED);
    const byThreads = setting.out.slice(last, 3 * points);
    lag8(setting).evaluate([velocity], positions.sorted, points - CHECKED, CHECKED, setting.out);
    checkClose("lag8-threads", byThreads, setting.out.subarray(last, 3 * points), byThreads.length);
    const speedup = { case: "lag8-threads", unit: "one thread / two", over: one, under: two };
    return await alternate([one, two], rounds, quick, [speedup]);
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}

/** Cubes of 64 nodes an axis, which caches hold, and of 256, which they do not. */
export async function benchKernels({ quick }: BenchOptions): Promise<Row[]> {
  const rows: Row[] = [];
  const measure = async ({ contestants, comparisons }: Group, rounds: number) => {
    rows.push(...(await alternate(contestants, rounds, quick, comparisons)));
  };
  const rounds = quick ? 5 : 11;
  const small = prepare(64, quick ? 20_000 : 50_000);
  for (const kernel of KERNELS) await measure(kernelGroup(small, kernel), rounds);
  rows.push(...(await benchThreads(small, rounds, quick)));
  const sweep = 200_000;
  const requestSizes = quick ? [1_000, sweep] : [100, 1_000, 10_000, 100_000, sweep, 1_000_000];
  const large = prepare(256, Math.max(...requestSizes));
  const fewer = quick ? 3 : 7;
  for (const name of ["lag8", "lag4"]) {
    for (const kernel of KERNELS.filter(([row]) => row === name)) await measure(kernelGroup(large, kernel), fewer);
  }
  await measure(batchGroup(large, ["Lag8", "Lag4"], requestSizes, true), fewer);
  for (const nodes of quick ? [32, 128] : [32, 64, 128, 512])
    await measure(batchGroup(prepare(nodes, sweep), ["Lag8"], [sweep], false), fewer);
  return rows;
}
