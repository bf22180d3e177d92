/** Bytes read and time per point when data is cold, warm, and larger than the cache. */
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import type { Query } from "../dist/engine/contract/query.js";
import { type Asked, ask, makeCube, openOn, pointsIn } from "./ask.js";
import { randomNumbers } from "./field.js";
import { type BenchOptions, type Row, summarise } from "./row.js";
import { checkAbc, touchedBytes } from "./touched.js";

const PERIOD = 2 * Math.PI;
const MIB = 1024 * 1024;
const TIME = 0.16;
/** Points of the queries that start the threads. */
const FEW_POINTS = 20_000;
/** The flow decays by half a percent from there to the nearest frame. */
const TOLERANCE = 0.01;

/**
 * Rows `storage`: time per point (ns/point) of a first query (`cold`), the same again (`warm`), and with caches smaller
 * than a frame and threads that run (`beyond cache`); and for each of them bytes read over bytes of the chunks that the
 * stencils touch (`reads`).
 */
export async function benchStorage({ quick }: BenchOptions): Promise<Row[]> {
  const nodes = quick ? 128 : 256;
  const chunk = quick ? 16 : 32;
  const points = quick ? 20_000 : 100_000;
  const settings = [
    ["cold", 2048],
    ["warm", 2048],
    ...(quick ? [8] : [64, 32, 16]).map((cache) => ["beyond cache", cache] as const),
  ] as const;
  const folder = mkdtempSync(join(tmpdir(), "fieldprobe-bench-"));
  try {
    await makeCube(folder, "cube", [nodes, chunk], { kind: "abc", steps: 4 });
    const positions = pointsIn(randomNumbers(7), points, 0, PERIOD);
    const touched = touchedBytes(nodes, chunk, 8, positions);
    const rows: Row[] = [];
    for (const temporalInterpolation of ["None", "PCHIP"] as const) {
      const frames = temporalInterpolation === "None" ? 1 : 4;
      const query = {
        operation: "GetVelocity",
        dataset: "cube",
        time: TIME,
        spatialInterpolation: "Lag8",
        temporalInterpolation,
      } as const;
      for (const [name, cacheMiB] of settings) {
        const samples = await measure(folder, cacheMiB * MIB, name, query, positions, quick ? 2 : 5);
        const params = { nodes, points, chunk, frames, workers: availableParallelism(), cacheMiB };
        const row = { bench: "storage", backend: "fieldprobe", params } as const;
        const time = samples.map(({ milliseconds }) => (milliseconds * 1e6) / points);
        rows.push({ ...row, case: name, unit: "ns/point", ...summarise(time) });
        const reads = samples.map(({ bytesRead }) => bytesRead / (frames * touched));
        rows.push({ ...row, case: `${name}, reads`, unit: "of bytes touched", ...summarise(reads) });
      }
    }
    return rows;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Rounds, each with a fresh engine that has answered nothing, the same query, or small ones that start its threads. */
async function measure(
  folder: string,
  cacheBytes: number,
  name: "cold" | "warm" | "beyond cache",
  query: Query,
  positions: Float32Array,
  rounds: number,
): Promise<Asked[]> {
  const check = checkAbc(positions, TIME, TOLERANCE);
  // All in the first bricks of the field, so that nearly everything is read by the query itself.
  const few = positions.subarray(0, 3 * FEW_POINTS).map((at) => at / 64);
  const samples: Asked[] = [];
  for (let round = 0; round < rounds; round++) {
    const engine = await openOn(folder, availableParallelism(), cacheBytes);
    if (name === "warm") await ask(engine, query, positions);
    if (name === "beyond cache") await Promise.all([few, few, few].map((points) => ask(engine, query, points)));
    samples.push(await ask(engine, query, positions, check));
    await engine.close(1000);
  }
  return samples;
}
