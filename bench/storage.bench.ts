/** Bytes read and time per point when data is cold, warm, and larger than the cache. */
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import type { Query } from "../dist/engine/query.js";
import { writeCube } from "../dist/generate/cube.js";
import { ask, openOn, pointsIn } from "./ask.js";
import { randomNumbers } from "./field.js";
import { type BenchOptions, type Row, summarise } from "./row.js";

const PERIOD = 2 * Math.PI;
const MIB = 1024 * 1024;

/**
 * Rows `storage`: time per point (ns/point) of a first query (`cold`), the same again (`warm`), and with a cache of a third of
 * a frame (`beyond cache`); and for each of them bytes read over bytes of the frames that the points touch (`reads`).
 */
export async function benchStorage({ quick }: BenchOptions): Promise<Row[]> {
  const nodes = quick ? 128 : 192;
  const chunk = quick ? 16 : 32;
  const points = quick ? 20_000 : 200_000;
  const folder = mkdtempSync(join(tmpdir(), "fieldprobe-bench-"));
  try {
    const size = [nodes, nodes, nodes] as const;
    const shape = {
      kind: "random",
      nodes: size,
      steps: 4,
      chunk: [chunk, chunk, chunk] as const,
      filter: "none",
      seed: 1,
      name: "cube",
    } as const;
    await writeCube({ ...shape, folder: join(folder, "cube") }, () => {});
    const frame = nodes ** 3 * 12;
    const rows: Row[] = [];
    for (const temporalInterpolation of ["None", "PCHIP"] as const) {
      const frames = temporalInterpolation === "None" ? 1 : 4;
      const query = {
        operation: "GetVelocity",
        dataset: "cube",
        time: 0.15,
        spatialInterpolation: "Lag8",
        temporalInterpolation,
      } as const;
      for (const [name, cacheBytes, again] of [
        ["cold", 2048 * MIB, false],
        ["warm", 2048 * MIB, true],
        ["beyond cache", Math.max(MIB, Math.round(frame / 3)), false],
      ] as const) {
        const samples = await measure(folder, cacheBytes, again, query, points, quick ? 3 : 5);
        const params = {
          nodes,
          points,
          chunk,
          frames,
          workers: availableParallelism(),
          cacheMiB: Math.round(cacheBytes / MIB),
        };
        const row = { bench: "storage", backend: "fieldprobe", params } as const;
        const time = samples.map(({ milliseconds }) => (milliseconds * 1e6) / points);
        rows.push({ ...row, case: name, unit: "ns/point", ...summarise(time) });
        const reads = samples.map(({ bytesRead }) => bytesRead / (frames * frame));
        rows.push({ ...row, case: `${name}, reads`, unit: "of bytes touched", ...summarise(reads) });
      }
    }
    return rows;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Rounds, each with a fresh engine; `again` counts only the second run of the query. */
async function measure(
  folder: string,
  cacheBytes: number,
  again: boolean,
  query: Query,
  points: number,
  rounds: number,
) {
  const random = randomNumbers(7);
  const positions = pointsIn(random, points, 0, PERIOD);
  const samples = [];
  for (let round = 0; round < rounds; round++) {
    const engine = await openOn(folder, availableParallelism(), cacheBytes);
    if (again) await ask(engine, query, positions);
    samples.push(await ask(engine, query, positions));
    await engine.close(1000);
  }
  return samples;
}
