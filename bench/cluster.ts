/**
 * `npm run bench:cluster`: what clusters of 2, 4 and 8 processes cost against one process: processor time on data in
 * cache, bytes read of data beyond one cache, the rate of small queries, and how far the planning model
 * (`cluster-model.ts`) is off. `--only cached,small,beyond16,beyond32,crowded` measures those parts alone, and `--processes 1,2,4` those clusters.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Engine } from "../dist/engine/contract/query.js";
import { writeCube } from "../dist/tools/generate/cube.js";
import { ask, pointsIn } from "./ask.js";
import { bytesRead, overlap, predictCpu, type Workload } from "./cluster-model.js";
import { type BenchCluster, openBenchCluster, type Spent } from "./cluster-processes.js";
import { SMALL, smallRequests } from "./cluster-small.js";
import { randomNumbers } from "./field.js";
import { OPTIONS, quantile, type Row, report, summarise } from "./row.js";
import { touchedBytes } from "./touched.js";

const PERIOD = 2 * Math.PI;
const MIB = 1024 * 1024;
/** Cores of the machine that the figures are for. */
const CORES = 2;
const PARTS = ["cached", "small", "beyond16", "beyond32", "crowded"];
const { values: options } = parseArgs({
  options: {
    ...OPTIONS,
    only: { type: "string", default: PARTS.join(",") },
    processes: { type: "string", default: "1,2,4,8" },
  },
});
const parts = new Set(options.only.split(","));
const unknown = [...parts].find((part) => !PARTS.includes(part));
if (unknown !== undefined) throw new Error(`--only knows ${PARTS.join(", ")}, not ${unknown}`);
/** Processes, and worker threads of each: one process as it is set up for two cores, then one thread a process. */
type Shape = readonly [processes: number, threads: number];
const SHAPES = options.processes.split(",").map((count): Shape => [Number(count), count === "1" ? CORES : 1]);
/** Shapes with sixteen threads on two cores; the first is what the others are compared with. */
const CROWDED = [
  [1, 16],
  [4, 4],
  [8, 2],
] as const;
const POINTS = 1_000_000;
/** Rounds before the measured ones, the first time: of eight processes each has an eighth of a query to compile by. */
const WARM_UP = options.quick ? 16 : 48;
/** The same with other schemes afterwards. */
const WARM_UP_AGAIN = 6;
/** The same beyond the cache, by the chunks along each axis of the grid, and rounds that are measured. */
const WARM_UP_BEYOND = new Map([
  [16, 40],
  [32, 10],
]);
const ROUNDS_BEYOND = 5;
/** Chunks along each axis of the grids beyond the cache. */
const BRICKS = [...WARM_UP_BEYOND.keys()];
/** Deviation of the model from a measurement that it is held to. */
const TOLERANCE = 0.25;

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

const WORKLOADS = [
  ["Lag4", "None"],
  ["Lag8", "None"],
  ["Lag4", "PCHIP"],
] as const;

/** A cluster under measurement, with its processes and the worker threads of each. */
interface Measured {
  readonly shape: Shape;
  readonly cluster: BenchCluster;
}

/**
 * Data in cache: all shapes are asked in turn, so that what else runs on the machine meets all of them; each is
 * compared with the first.
 *
 * @param crowded whether there are more threads than cores, which no model covers
 */
async function inCache(data: string, shapes: readonly Shape[], crowded: boolean): Promise<void> {
  const points = pointsIn(randomNumbers(17), POINTS, -PERIOD, 3 * PERIOD);
  const clusters: Measured[] = [];
  const open = async (shape: Shape): Promise<Measured> => {
    const [processes, threads] = shape;
    return { shape, cluster: await openBenchCluster({ processes, threads, cacheBytes: 256 * MIB, data }) };
  };
  const alone = await open([1, 1]);
  try {
    for (const shape of shapes) clusters.push(await open(shape));
    for (const words of WORKLOADS) await largeQueries(clusters, crowded ? null : alone, words, points);
  } finally {
    for (const { cluster } of [alone, ...clusters]) await cluster.close();
  }
}

/** Answers are whole before the threads that made them have settled. */
function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 30));
}

/** Points moved into the part of the grid along z that one of the processes owns: each brick has more of them. */
function denser(points: Float32Array, processes: number): Float32Array {
  return processes === 1
    ? points
    : points.map((x, at) => (at % 3 === 2 ? ((x / PERIOD - Math.floor(x / PERIOD)) * PERIOD) / processes : x));
}

/**
 * A million points: processor time, wall time, requests.
 * @param alone one process of one thread, which the model begins with; null: no model covers these clusters
 */
async function largeQueries(
  clusters: readonly Measured[],
  alone: Measured | null,
  [spatialInterpolation, temporalInterpolation]: (typeof WORKLOADS)[number],
  points: Float32Array,
): Promise<void> {
  const interpolation = { spatialInterpolation, temporalInterpolation };
  const query = { operation: "GetVelocity", dataset: "cached", time: 0.15, ...interpolation } as const;
  const found = clusters.map((measured) => ({ ...measured, spent: [] as Spent[], wall: [] as number[], asked: 0 }));
  const rounds = options.quick ? 3 : 9;
  const warmUp =
    spatialInterpolation === WORKLOADS[0][0] && temporalInterpolation === WORKLOADS[0][1] ? WARM_UP : WARM_UP_AGAIN;
  const dense = clusters.map(({ shape: [processes] }) => ({ points: denser(points, processes), cpu: [] as number[] }));
  for (let round = -warmUp; round < rounds; round++) {
    for (const { points: some, cpu } of alone === null || round < -WARM_UP_AGAIN ? [] : dense) {
      const spent = alone?.cluster.cpu() ?? 0;
      await ask(alone?.cluster.engine as Engine, query, some);
      await settled();
      if (round >= 0) cpu.push((alone?.cluster.cpu() ?? 0) - spent);
    }
    for (const one of found) {
      const asked = (): number => one.cluster.engine.status().pieces?.asked ?? 0;
      const before = asked();
      let wall = 0;
      const spent = await one.cluster.spent(async () => {
        wall = (await ask(one.cluster.engine, query, points)).milliseconds;
        await settled();
      });
      if (round < 0) continue;
      one.spent.push(spent);
      one.wall.push(wall);
      one.asked += asked() - before;
    }
  }
  const ones = (found[0] as (typeof found)[number]).spent;
  for (const [at, { shape, spent, wall, asked }] of found.entries()) {
    const [processes, threads] = shape;
    const cpu = spent.map(({ all }) => all);
    const name = `${spatialInterpolation} ${temporalInterpolation}`;
    const add = (what: string, unit: string, values: readonly number[]): void => {
      rows.push(row(`${name}, ${what}`, processes, unit, values, { points: POINTS, threads }));
    };
    add("CPU", "ms", cpu);
    for (const part of processes === 1 ? [] : (["asker", "natsServer"] as const))
      add(
        `CPU of the ${part === "asker" ? "asking process" : "NATS server"}`,
        "ms",
        spent.map((each) => each[part]),
      );
    add("wall", "ms", wall);
    add(
      "CPU against one",
      "ratio",
      cpu.map((ms, round) => ms / (ones[round] as Spent).all),
    );
    add("requests a query", "", [asked / rounds]);
    if (alone === null) continue;
    const predicted = cpu.map((ms, round) => {
      const work: Workload = {
        cpuMs: dense[at]?.cpu[round] as number,
        points: POINTS,
        values: 3,
        touchedBytes: 0,
        bricks: 4,
      };
      return predictCpu(work, { processes, cores: CORES, cacheBytes: 256 * MIB, machines: 1 }, 0) / ms;
    });
    add("CPU by the model", "ratio", predicted);
  }
}

/**
 * Data four times one cache: bytes read over bytes touched, first and later queries, and what the caches hold.
 *
 * @param bricks chunks of 16 nodes along each axis of the grid: the more there are, the less is read on two sides
 */
async function beyondCache(bricks: number): Promise<void> {
  const chunk = options.quick ? 8 : 16;
  const nodes = bricks * chunk;
  const dataset = `large${bricks}`;
  const data = await makeCube(dataset, nodes, 1, chunk);
  const name = `beyond the cache, ${bricks} chunks an axis`;
  const cacheBytes = Math.max(MIB, Math.floor((nodes ** 3 * 12) / 4));
  const points = pointsIn(randomNumbers(3), options.quick ? 20_000 : 100_000, 0, PERIOD);
  const touchedOnce = touchedBytes(nodes, chunk, 8, points);
  const interpolation = { spatialInterpolation: "Lag8", temporalInterpolation: "None" } as const;
  const query = { operation: "GetVelocity", dataset, time: 0, ...interpolation } as const;
  const params = { nodes, points: points.length / 3, cacheMiB: Math.round(cacheBytes / MIB) };
  const warmUp = WARM_UP_BEYOND.get(bricks) as number;
  const cached = await openBenchCluster({ processes: 1, threads: 1, cacheBytes: 5 * cacheBytes, data });
  const spentAlone: number[] = [];
  try {
    for (let round = -warmUp; round < ROUNDS_BEYOND; round++) {
      const spent = cached.cpu();
      await ask(cached.engine, query, points);
      await settled();
      if (round >= 0) spentAlone.push(cached.cpu() - spent);
    }
  } finally {
    await cached.close();
  }
  const computing = quantile(spentAlone, 0.5);
  rows.push(row(`${name}, CPU in cache`, 1, "ms", spentAlone, params));
  for (const [processes] of SHAPES) {
    const cluster = await openBenchCluster({ processes, threads: 1, cacheBytes, data });
    try {
      const read: number[] = [];
      const cpu: number[] = [];
      const wall: number[] = [];
      for (let round = 0; round <= warmUp + ROUNDS_BEYOND; round++) {
        const before = sum(await cluster.bytesRead());
        const spent = cluster.cpu();
        wall.push((await ask(cluster.engine, query, points)).milliseconds);
        await settled();
        cpu.push(cluster.cpu() - spent);
        read.push(sum(await cluster.bytesRead()) - before);
      }
      const ratios = read.map((bytes) => bytes / touchedOnce);
      const held = sum(await cluster.bytesCached()) / (nodes ** 3 * 12);
      const later = quantile(cpu.slice(-ROUNDS_BEYOND), 0.5);
      const work = { cpuMs: computing, points: points.length / 3, values: 3, touchedBytes: touchedOnce, bricks };
      const shape = { processes, cores: CORES, cacheBytes, machines: 1 };
      const again = bytesRead(work, shape);
      rows.push(
        row(`${name}, read/touched, first`, processes, "ratio", ratios.slice(0, 1), params),
        row(`${name}, read/touched, later`, processes, "ratio", ratios.slice(1), params),
        row(
          `${name}, read by the model`,
          processes,
          "ratio",
          [(touchedOnce * overlap(bricks, processes)) / (read[0] as number)],
          params,
        ),
        row(`${name}, CPU, later`, processes, "ms", cpu.slice(-ROUNDS_BEYOND), params),
        row(`${name}, CPU by the model`, processes, "ratio", [predictCpu(work, shape, again) / later], params),
        row(`${name}, wall, first`, processes, "ms", wall.slice(0, 1), params),
        row(`${name}, wall, later`, processes, "ms", wall.slice(-ROUNDS_BEYOND), params),
        row(`${name}, cached/data`, processes, "ratio", [held], params),
        row(`${name}, late pieces`, processes, "", [cluster.engine.status().pieces?.late ?? 0], params),
      );
    } finally {
      await cluster.close();
    }
  }
}

/** Requests of 1 and 50 points. */
async function small(data: string): Promise<void> {
  const sizes = SHAPES.map(([processes]) => processes).filter((processes) => processes > 1);
  for (const found of await smallRequests({ data, dataset: "cached", sizes, quick: options.quick })) {
    const { points, processes, cpuUs, rate } = found;
    rows.push(row(`${points} points, CPU a request`, processes, "us", cpuUs, { points }));
    rows.push(row(`${points} points, rate of N against N times one`, processes, "ratio", rate, { points }));
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Prints some rows as a table: a line per case, a column per number of processes. */
function table(title: string, cases: readonly string[], shapes: readonly Shape[]): void {
  const cell = (name: string, processes: number, threads: number): string => {
    const found = rows.find(
      ({ case: one, params }) =>
        one === name && params.processes === processes && (params.threads ?? threads) === threads,
    );
    return found === undefined ? "" : `${found.value.toFixed(2)} ± ${found.spread.toFixed(2)}`;
  };
  const lines = cases.map((name) => [name, ...shapes.map(([processes, threads]) => cell(name, processes, threads))]);
  const head = [title, ...shapes.map(([processes, threads]) => `${processes} x ${threads}`)];
  if (lines.every(([, ...cells]) => cells.every((text) => text === ""))) return;
  for (const line of [head, head.map(() => "---"), ...lines]) console.log(`| ${line.join(" | ")} |`);
  console.log();
}

const names = WORKLOADS.map((words) => words.join(" "));
try {
  const data = await makeCube("cached", 128, 4, 32);
  if (parts.has("cached")) await inCache(data, SHAPES, false);
  if (parts.has("small")) await small(data);
  for (const bricks of BRICKS) if (parts.has(`beyond${bricks}`)) await beyondCache(bricks);
  if (parts.has("crowded") && !options.quick) await inCache(data, CROWDED, true);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
report(rows, { json: options.json ?? null, quick: options.quick });
const against = names.map((name) => `${name}, CPU against one`);
table("processes x threads", [...against, ...names.map((name) => `${name}, requests a query`)], SHAPES);
const beyond = BRICKS.map((bricks) => `beyond the cache, ${bricks} chunks an axis`);
table(
  "data four times one cache",
  beyond.flatMap((name) =>
    ["read/touched, first", "read/touched, later", "cached/data", "late pieces"].map((what) => `${name}, ${what}`),
  ),
  SHAPES,
);
table(
  "small queries",
  SMALL.map((points) => `${points} points, rate of N against N times one`),
  SHAPES,
);
const models = [
  ...names.map((name) => `${name}, CPU by the model`),
  ...beyond.flatMap((name) => [`${name}, read by the model`, `${name}, CPU by the model`]),
];
table("model over measurement", models, SHAPES);
const off = rows.filter(({ case: name, value }) => models.includes(name) && Math.abs(value - 1) > TOLERANCE);
for (const { case: name, params, value } of off)
  console.log(`${name}, ${params.processes} processes: the model is off by ${Math.round(100 * (value - 1))} %`);
console.log(
  off.length === 0
    ? `the model is within ${100 * TOLERANCE} % everywhere`
    : `${off.length} of the model's figures are off`,
);
table("sixteen threads, against one process with them", against, CROWDED);
