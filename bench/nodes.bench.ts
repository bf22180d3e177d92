/**
 * Filters over cubes of nodes and a search of all nodes, through the engine: a cube of 128^3 and one of 256^3 nodes.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import type { Engine, Query } from "../dist/engine/contract/query.js";
import { ask, makeCube, openOn, pointsIn } from "./ask.js";
import { randomNumbers } from "./field.js";
import { type BenchOptions, type Row, ratioRow, summarise } from "./row.js";

const WIDTHS = [7, 31, 101] as const;
const PERIOD = 2 * Math.PI;
const LAG8 = { spatialInterpolation: "Lag8", temporalInterpolation: "None" } as const;
/** CPU after which a filter is not asked once more. */
const MAX_MICROSECONDS = 10e6;

/**
 * Rows `nodes`: CPU of filters by width, in microseconds and in Lag8 points, and milliseconds of a search for vorticity
 * by None_Fd4.
 */
export async function benchNodes({ quick }: BenchOptions): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), "fieldprobe-bench-"));
  const workers = availableParallelism();
  const rows: Row[] = [];
  try {
    for (const nodes of quick ? [128] : [128, 256]) {
      const name = `cube${nodes}`;
      await makeCube(folder, name, [nodes, 64]);
      const limits = { QUERY_FILTER_SAMPLES: String(Number.MAX_SAFE_INTEGER) };
      const engine = await openOn(join(folder, name), workers, 600 * 2 ** 20, limits);
      const rounds = quick ? 1 : 3;
      rows.push(...(await filters(engine, name, nodes, quick ? 2_000 : 100_000, rounds)));
      rows.push(await search(engine, name, nodes, workers, 2 * rounds + 1));
      await engine.close(1000);
    }
    return rows;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The filters, each compared with Lag8 velocities at the same points in the same round. */
async function filters(engine: Engine, dataset: string, nodes: number, points: number, rounds: number): Promise<Row[]> {
  const positions = pointsIn(randomNumbers(7), points, 0, PERIOD);
  const microseconds = async (query: Query): Promise<number> =>
    (1000 * (await ask(engine, query, positions)).cpuMilliseconds) / points;
  const lag8: Query = { operation: "GetVelocity", dataset, time: 0, ...LAG8 };
  const rows: Row[] = [];
  await microseconds(lag8);
  for (const operation of ["GetBoxFilter", "GetBoxFilterSGSsymtensor"] as const) {
    for (const width of WIDTHS) {
      const query: Query = { operation, dataset, field: "u", time: 0, filterwidth: (width * PERIOD) / nodes };
      const samples: number[] = [];
      const beside: number[] = [];
      for (let round = 0, spent = 0; round < rounds && spent < MAX_MICROSECONDS; round++) {
        beside.push(await microseconds(lag8));
        const sample = await microseconds(query);
        samples.push(sample);
        spent += sample * points;
      }
      const params = { nodes, width, points };
      const row = { bench: "nodes", case: operation, params } as const;
      rows.push({ ...row, backend: "cpu", unit: "us/point", ...summarise(samples) });
      rows.push(ratioRow({ ...row, unit: "Lag8 points" }, samples, beside));
    }
  }
  return rows;
}

async function search(engine: Engine, dataset: string, nodes: number, workers: number, rounds: number): Promise<Row> {
  const query: Query = {
    ...{ operation: "GetThreshold", dataset, field: "vorticity", time: 0, threshold: 6 },
    ...{ spatialInterpolation: "None_Fd4", x_start: 1, y_start: 1, z_start: 1 },
    ...{ x_end: nodes, y_end: nodes, z_end: nodes },
  };
  const samples: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const since = performance.now();
    (await engine.start(query, {}).finish()).release();
    samples.push(performance.now() - since);
  }
  const params = { nodes, workers };
  return { bench: "nodes", case: "GetThreshold vorticity", backend: "wall", unit: "ms", params, ...summarise(samples) };
}
