/**
 * `npm run bench:cluster`: what clusters of 2, 4 and 8 processes cost against one process: processor time on data in cache, bytes read of
 * data beyond one cache, the rate of small queries, and how far the planning model (`cluster-model.ts`) is off.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Query } from "../dist/engine/query.js";
import { writeCube } from "../dist/generate/cube.js";
import { ask, pointsIn } from "./ask.js";
import { bytesRead, COSTS, overlap, predictCpu, type Workload } from "./cluster-model.js";
import { type BenchCluster, openBenchCluster } from "./cluster-processes.js";
import { randomNumbers } from "./field.js";
import { quantile, type Row, readOptions, report, summarise } from "./row.js";
import { touchedBytes } from "./touched.js";

const PERIOD = 2 * Math.PI;
const MIB = 1024 * 1024;
/** Cores of the machine that the figures are for. */
const CORES = 2;
/** Processes, and worker threads of each: one process as it is set up for two cores, then one thread a process. */
const SHAPES = [
  [1, CORES],
  [2, 1],
  [4, 1],
  [8, 1],
] as const;
/** Shapes with sixteen threads on two cores; the first is what the others are compared with. */
const CROWDED = [
  [1, 16],
  [4, 4],
  [8, 2],
] as const;
const POINTS = 1_000_000;
/** Rounds before the measured ones. */
const WARM_UP = 3;

const options = readOptions();
const rows: Row[] = [];
const folder = mkdtempSync(join(tmpdir(), "fieldprobe-bench-"));

/** One row. */
function row(
  name: string,
  processes: number,
  unit: string,
  values: readonly number[],
  params: Row["params"] = {},
): Row {
  const backend = processes === 1 ? "one process" : `${processes} processes`;
  return { bench: "cluster", case: name, backend, unit, params: { ...params, processes }, ...summarise(values) };
}

async function makeCube(name: string, nodes: number, steps: number, chunk: number): Promise<string> {
  const data = join(folder, name);
  mkdirSync(data);
  const cube = { kind: "random", nodes: [nodes, nodes, nodes], steps, filter: "none", seed: 5 } as const;
  await writeCube({ ...cube, chunk: [chunk, chunk, chunk], name, folder: data }, () => {});
  return data;
}

/** Processor times and wall times of a query, warmed up. */
async function timed(cluster: BenchCluster, query: Query, points: Float32Array) {
  const cpu: number[] = [];
  const wall: number[] = [];
  for (let round = -WARM_UP; round < (options.quick ? 3 : 7); round++) {
    const before = cluster.cpu();
    const { milliseconds } = await ask(cluster.engine, query, points);
    // Answers are whole before the threads that made them have settled.
    await new Promise((resolve) => setTimeout(resolve, 30));
    if (round < 0) continue;
    cpu.push(cluster.cpu() - before);
    wall.push(milliseconds);
  }
  return { cpu, wall };
}

const WORKLOADS = [
  ["Lag4", "None"],
  ["Lag8", "None"],
  ["Lag4", "PCHIP"],
] as const;

/** Data in cache: each shape against the first. @param crowded whether there are more threads than cores, which no model covers */
async function inCache(data: string, shapes: readonly (readonly [number, number])[], crowded: boolean): Promise<void> {
  const points = pointsIn(randomNumbers(17), POINTS, -PERIOD, 3 * PERIOD);
  const first = new Map<string, number>();
  for (const [processes, threads] of shapes) {
    const cluster = await openBenchCluster({ processes, threads, cacheBytes: 256 * MIB, data });
    try {
      for (const words of WORKLOADS) await largeQueries(cluster, [processes, threads], words, points, first, crowded);
      if (!crowded) await smallQueries(cluster, processes, first);
    } finally {
      await cluster.close();
    }
  }
}

/** A million points: processor time, wall time, requests. @param first receives the figures of the first shape */
async function largeQueries(
  cluster: BenchCluster,
  [processes, threads]: readonly [number, number],
  [spatialInterpolation, temporalInterpolation]: (typeof WORKLOADS)[number],
  points: Float32Array,
  first: Map<string, number>,
  crowded: boolean,
): Promise<void> {
  const interpolation = { spatialInterpolation, temporalInterpolation };
  const query = { operation: "GetVelocity", dataset: "cached", time: 0.15, ...interpolation } as const;
  const asked = (): number => cluster.engine.status().pieces?.asked ?? 0;
  const before = asked();
  const { cpu, wall } = await timed(cluster, query, points);
  const requests = (asked() - before) / (cpu.length + WARM_UP);
  const name = `${spatialInterpolation} ${temporalInterpolation}`;
  const one = first.get(name) ?? quantile(cpu, 0.5);
  first.set(name, one);
  const add = (what: string, unit: string, values: readonly number[]): void => {
    rows.push(row(`${name}, ${what}`, processes, unit, values, { points: POINTS, threads }));
  };
  add("CPU", "ms", cpu);
  add("wall", "ms", wall);
  const against = cpu.map((ms) => ms / one);
  add("CPU against one", "ratio", against);
  add("requests a query", "", [requests]);
  if (crowded) return;
  const work: Workload = { cpuMs: one, points: POINTS, values: 3, touchedBytes: 0, bricks: 4 };
  const model = predictCpu(work, { processes, cores: CORES, cacheBytes: 256 * MIB, machines: 1 }, 0);
  const predicted = cpu.map((ms) => model / ms);
  add("CPU by the model", "ratio", predicted);
}

/** Small queries: processor time of one in a process that works alone, and in one of a cluster. */
async function smallQueries(cluster: BenchCluster, processes: number, first: Map<string, number>): Promise<void> {
  const interpolation = { spatialInterpolation: "Lag8", temporalInterpolation: "None" } as const;
  const query = { operation: "GetVelocity", dataset: "cached", time: 0.1, ...interpolation } as const;
  for (const points of [1, 50]) {
    const some = pointsIn(randomNumbers(9), points, 0, PERIOD);
    const count = options.quick ? 300 : 1000;
    const each: number[] = [];
    for (let round = -1; round < 5; round++) {
      const before = cluster.cpu();
      for (let i = 0; i < count; i++) await ask(cluster.engine, query, some);
      if (round >= 0) each.push((1000 * (cluster.cpu() - before)) / count);
    }
    const name = `${points} points, rate of N against N times one`;
    const one = first.get(name) ?? quantile(each, 0.5);
    first.set(name, one);
    rows.push(row(`${points} points, CPU a query`, processes, "us", each, { points }));
    const rate = each.map((us) => one / us);
    rows.push(row(name, processes, "ratio", rate, { points }));
  }
}

/** Data four times one cache: bytes read over bytes touched, first and later queries, and what the caches hold. */
async function beyondCache(): Promise<void> {
  const nodes = options.quick ? 128 : 256;
  const chunk = 16;
  const data = await makeCube("large", nodes, 1, chunk);
  const cacheBytes = Math.max(MIB, Math.floor((nodes ** 3 * 12) / 4));
  const points = pointsIn(randomNumbers(3), options.quick ? 20_000 : 100_000, 0, PERIOD);
  const touchedOnce = touchedBytes(nodes, chunk, 8, points);
  const interpolation = { spatialInterpolation: "Lag8", temporalInterpolation: "None" } as const;
  const query = { operation: "GetVelocity", dataset: "large", time: 0, ...interpolation } as const;
  const params = { nodes, points: points.length / 3, cacheMiB: Math.round(cacheBytes / MIB) };
  let computing: number | null = null;
  for (const [processes] of SHAPES) {
    const cluster = await openBenchCluster({ processes, threads: 1, cacheBytes, data });
    try {
      const read: number[] = [];
      const cpu: number[] = [];
      const wall: number[] = [];
      for (let round = 0; round < 6; round++) {
        const before = sum(await cluster.bytesRead());
        const spent = cluster.cpu();
        wall.push((await ask(cluster.engine, query, points)).milliseconds);
        cpu.push(cluster.cpu() - spent);
        read.push(sum(await cluster.bytesRead()) - before);
      }
      const ratios = read.map((bytes) => bytes / touchedOnce);
      const held = sum(await cluster.bytesCached()) / (nodes ** 3 * 12);
      const later = quantile(cpu.slice(2), 0.5);
      computing ??= Math.max(0, later - (COSTS.readNs * touchedOnce) / 1e6);
      const bricks = nodes / chunk;
      const work = { cpuMs: computing, points: points.length / 3, values: 3, touchedBytes: touchedOnce, bricks };
      const shape = { processes, cores: CORES, cacheBytes, machines: 1 };
      const again = bytesRead(work, shape);
      rows.push(
        row("beyond the cache, read/touched, first", processes, "ratio", ratios.slice(0, 1), params),
        row("beyond the cache, read/touched, later", processes, "ratio", ratios.slice(1), params),
        row(
          "beyond the cache, read by the model",
          processes,
          "ratio",
          [(touchedOnce * overlap(bricks, processes)) / (read[0] as number)],
          params,
        ),
        row("beyond the cache, CPU, later", processes, "ms", cpu.slice(2), params),
        row("beyond the cache, CPU by the model", processes, "ratio", [predictCpu(work, shape, again) / later], params),
        row("beyond the cache, wall, first", processes, "ms", wall.slice(0, 1), params),
        row("beyond the cache, wall, later", processes, "ms", wall.slice(2), params),
        row("beyond the cache, cached/data", processes, "ratio", [held], params),
      );
    } finally {
      await cluster.close();
    }
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Prints some rows as a table: a line per case, a column per number of processes. */
function table(title: string, cases: readonly string[], shapes: readonly (readonly [number, number])[]): void {
  const cell = (name: string, processes: number, threads: number): string => {
    const found = rows.find(
      ({ case: one, params }) =>
        one === name && params.processes === processes && (params.threads ?? threads) === threads,
    );
    return found === undefined ? "" : `${found.value.toFixed(2)} ± ${found.spread.toFixed(2)}`;
  };
  const lines = cases.map((name) => [name, ...shapes.map(([processes, threads]) => cell(name, processes, threads))]);
  const head = [title, ...shapes.map(([processes, threads]) => `${processes} x ${threads}`)];
  for (const line of [head, head.map(() => "---"), ...lines]) console.log(`| ${line.join(" | ")} |`);
  console.log();
}

const names = WORKLOADS.map((words) => words.join(" "));
try {
  const data = await makeCube("cached", 128, 4, 32);
  await inCache(data, SHAPES, false);
  await beyondCache();
  if (!options.quick) await inCache(data, CROWDED, true);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
report(rows, options);
const against = names.map((name) => `${name}, CPU against one`);
table("processes x threads", [...against, ...names.map((name) => `${name}, requests a query`)], SHAPES);
table(
  "data four times one cache",
  ["first", "later"].map((when) => `beyond the cache, read/touched, ${when}`).concat("beyond the cache, cached/data"),
  SHAPES,
);
table(
  "small queries",
  [1, 50].map((points) => `${points} points, rate of N against N times one`),
  SHAPES,
);
table(
  "model over measurement",
  [
    ...names.map((name) => `${name}, CPU by the model`),
    "beyond the cache, read by the model",
    "beyond the cache, CPU by the model",
  ],
  SHAPES,
);
if (!options.quick) table("sixteen threads, against one process with them", against, CROWDED);
