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
import { predictWall, type Workload } from "./cluster-model.js";
import { type BenchCluster, openBenchCluster } from "./cluster-processes.js";
import { randomNumbers } from "./field.js";
import { type Row, readOptions, report, summarise } from "./row.js";
import { touchedBytes } from "./touched.js";

const PERIOD = 2 * Math.PI;
const MIB = 1024 * 1024;
/** Processes, and worker threads of each. */
const SHAPES = [
  [1, 2],
  [2, 1],
  [4, 4],
  [8, 2],
] as const;
const POINTS = 1_000_000;

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

/** Processor time and wall time of a query, warmed up. */
async function timed(cluster: BenchCluster, query: Query, points: Float32Array, warmUp: number, rounds: number) {
  const cpu: number[] = [];
  const wall: number[] = [];
  for (let round = -warmUp; round < rounds; round++) {
    const before = cluster.cpu();
    const { milliseconds } = await ask(cluster.engine, query, points);
    if (round < 0) continue;
    cpu.push(cluster.cpu() - before);
    wall.push(milliseconds);
  }
  return { cpu: median(cpu), wall: median(wall), cpus: cpu, walls: wall };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] as number;
}

/** In cache: processor time against one process, and the model's wall time against the measured one. */
async function inCache(): Promise<void> {
  const data = await makeCube("cached", 128, 4, 32);
  const points = pointsIn(randomNumbers(17), POINTS, -PERIOD, 3 * PERIOD);
  const single = new Map<string, { cpu: number; wall: number }>();
  for (const [processes, threads] of SHAPES) {
    const cluster = await openBenchCluster({ processes, threads, cacheBytes: 256 * MIB, data });
    try {
      for (const [spatialInterpolation, temporalInterpolation] of [
        ["Lag4", "None"],
        ["Lag8", "None"],
        ["Lag4", "PCHIP"],
      ] as const) {
        const query = {
          operation: "GetVelocity",
          dataset: "cached",
          time: 0.15,
          spatialInterpolation,
          temporalInterpolation,
        } as const;
        const found = await timed(cluster, query, points, options.quick ? 3 : 12, options.quick ? 3 : 9);
        const name = `${spatialInterpolation} ${temporalInterpolation}`;
        const params = { points: POINTS, threads };
        rows.push(
          row(`${name}, CPU`, processes, "ms", found.cpus, params),
          row(`${name}, wall`, processes, "ms", found.walls, params),
        );
        const one = single.get(name) ?? found;
        single.set(name, one);
        const work: Workload = { cpuMs: one.cpu, points: POINTS, values: 3, readBytes: 0 };
        const model = predictWall(work, { processes, threads, cores: 2, divided: processes > 1 });
        rows.push(
          row(
            `${name}, CPU against one`,
            processes,
            "ratio",
            found.cpus.map((cpu) => cpu / one.cpu),
            params,
          ),
        );
        rows.push(row(`${name}, wall by the model`, processes, "ratio", [model / found.wall], params));
      }
    } finally {
      await cluster.close();
    }
  }
}

/** Data four times one cache: bytes read over bytes touched, first and later queries, and what the caches hold. */
async function beyondCache(): Promise<void> {
  const nodes = options.quick ? 128 : 256;
  const chunk = 16;
  const data = await makeCube("large", nodes, 1, chunk);
  const cacheBytes = Math.max(MIB, Math.floor((nodes ** 3 * 12) / 4));
  const points = pointsIn(randomNumbers(3), options.quick ? 20_000 : 100_000, 0, PERIOD);
  const touched = touchedBytes(nodes, chunk, 8, points);
  const query = {
    operation: "GetVelocity",
    dataset: "large",
    time: 0,
    spatialInterpolation: "Lag8",
    temporalInterpolation: "None",
  } as const;
  for (const [processes] of SHAPES) {
    const cluster = await openBenchCluster({ processes, threads: 1, cacheBytes, data });
    try {
      const read: number[] = [];
      const walls: number[] = [];
      for (let round = 0; round < 6; round++) {
        const before = sum(await cluster.bytesRead());
        walls.push((await ask(cluster.engine, query, points)).milliseconds);
        read.push((sum(await cluster.bytesRead()) - before) / touched);
      }
      const held = sum(await cluster.bytesCached()) / (nodes ** 3 * 12);
      const params = { nodes, points: points.length / 3, cacheMiB: Math.round(cacheBytes / MIB) };
      rows.push(
        row("4 caches of data, read/touched, first query", processes, "ratio", read.slice(0, 1), params),
        row("4 caches of data, read/touched, all 6", processes, "ratio", [sum(read) / read.length], params),
        row("4 caches of data, wall, first query", processes, "ms", walls.slice(0, 1), params),
        row("4 caches of data, wall, later", processes, "ms", walls.slice(1), params),
        row("4 caches of data, cached/data", processes, "ratio", [held], params),
      );
    } finally {
      await cluster.close();
    }
  }
}

/** Small queries: processor time of one in a process that works alone, and in one of a cluster. */
async function smallQueries(): Promise<void> {
  const data = join(folder, "cached");
  const costs = new Map<string, number>();
  for (const processes of [1, 2, 4, 8]) {
    const cluster = await openBenchCluster({ processes, threads: 1, cacheBytes: 256 * MIB, data });
    try {
      for (const points of [1, 50]) {
        const some = pointsIn(randomNumbers(9), points, 0, PERIOD);
        const query = {
          operation: "GetVelocity",
          dataset: "cached",
          time: 0.1,
          spatialInterpolation: "Lag8",
          temporalInterpolation: "None",
        } as const;
        const count = options.quick ? 300 : 3000;
        for (let i = 0; i < count; i++) await ask(cluster.engine, query, some);
        const before = cluster.cpu();
        for (let i = 0; i < count; i++) await ask(cluster.engine, query, some);
        const each = (1000 * (cluster.cpu() - before)) / count;
        const one = costs.get(String(points)) ?? each;
        costs.set(String(points), one);
        rows.push(row(`${points} points, CPU a query`, processes, "us", [each], { points }));
        rows.push(row(`${points} points, rate of N against N times one`, processes, "ratio", [one / each], { points }));
      }
    } finally {
      await cluster.close();
    }
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

try {
  await inCache();
  await beyondCache();
  await smallQueries();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
report(rows, options);
