/** Data behind HTTP, read through references: time of a first query against that of the line alone, and warm against local. */
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { Worker } from "node:worker_threads";
import type { Query } from "../dist/engine/query.js";
import { writeCube } from "../dist/generate/cube.js";
import { H5File } from "../dist/storage/hdf5/file.js";
import { loadHdf5 } from "../dist/storage/hdf5/library.js";
import { referencesOf } from "../dist/storage/tools/references.js";
import { type Asked, ask, openOn, pointsIn } from "./ask.js";
import { randomNumbers } from "./field.js";
import { type BenchOptions, type Row, ratioRow, summarise } from "./row.js";
import type { SlowServer } from "./slow-server-worker.js";
import { checkAbc, touchedBytes } from "./touched.js";

const PERIOD = 2 * Math.PI;
const CACHE_BYTES = 1024 ** 3;
const LATENCY_MS = 20;
const BYTES_PER_SECOND = 100e6;

/**
 * Rows `sources`: milliseconds of the same query of random points, Lag8 at one frame: `cold` behind a line of 20 ms and
 * 100 MB/s, the time that the line takes for the bytes touched, their ratio; `warm` from the cache of both, and its ratio.
 */
export async function benchSources({ quick }: BenchOptions): Promise<Row[]> {
  const nodes = quick ? 128 : 256;
  const points = quick ? 20_000 : 100_000;
  const folder = mkdtempSync(join(tmpdir(), "fieldprobe-bench-"));
  const slow: SlowServer = { folder, latencyMs: LATENCY_MS, bytesPerSecond: BYTES_PER_SECOND };
  const server = new Worker(new URL("./slow-server-worker.js", import.meta.url), { workerData: slow });
  const [port] = (await once(server, "message")) as [number];
  try {
    const far = await writeCubes(folder, `http://127.0.0.1:${port}`, nodes);
    const positions = pointsIn(randomNumbers(7), points, 0, PERIOD);
    const samples = await measure(
      [join(folder, "near"), join(folder, "far"), far].join(delimiter),
      positions,
      quick ? 2 : 5,
    );
    const lineMs = (1000 * touchedBytes(nodes, 32, 8, positions)) / BYTES_PER_SECOND;
    const params = { nodes, points, chunk: 32, workers: availableParallelism(), latencyMs: LATENCY_MS, lineMs };
    const row = { bench: "sources", params } as const;
    const times = (name: keyof typeof samples) => samples[name].map(({ milliseconds }) => milliseconds);
    const cold = times("cold");
    return [
      { ...row, case: "cold", backend: "fieldprobe", unit: "ms", ...summarise(cold) },
      ratioRow(
        { ...row, case: "cold over the line alone", unit: "ratio" },
        cold,
        cold.map(() => lineMs),
      ),
      { ...row, case: "warm", backend: "fieldprobe", unit: "ms", ...summarise(times("warm")) },
      ratioRow({ ...row, case: "warm over local", unit: "ratio" }, times("warm"), times("local")),
    ];
  } finally {
    await server.terminate();
    rmSync(folder, { recursive: true });
  }
}

/** Writes a cube, its references, and a descriptor that reads it through them. @returns the address of the references */
async function writeCubes(folder: string, address: string, nodes: number): Promise<string> {
  const near = join(folder, "near");
  await writeCube(
    {
      kind: "abc",
      nodes: [nodes, nodes, nodes],
      steps: 1,
      chunk: [32, 32, 32],
      filter: "none",
      seed: 1,
      name: "near",
      folder: near,
    },
    () => {},
  );
  await loadHdf5();
  const file = new H5File(join(near, "near.h5"));
  writeFileSync(join(near, "near.refs.json"), JSON.stringify(referencesOf(file, "near.h5").list));
  file.close();
  const list = `${address}/near/near.refs.json`;
  const text = readFileSync(join(near, "dataset.json"), "utf8");
  mkdirSync(join(folder, "far"));
  writeFileSync(
    join(folder, "far", "dataset.json"),
    text.replaceAll('"near.h5"', `"${list}"`).replace('"near"', '"far"'),
  );
  return list;
}

/** Rounds: a first query of the far copy, a second one, and a second one of the near copy, each round with a fresh engine. */
async function measure(data: string, positions: Float32Array, rounds: number) {
  const check = checkAbc(positions, 0, 1e-3);
  const queryOf = (dataset: string): Query => ({
    operation: "GetVelocity",
    dataset,
    time: 0,
    spatialInterpolation: "Lag8",
    temporalInterpolation: "None",
  });
  const samples: Record<"cold" | "warm" | "local", Asked[]> = { cold: [], warm: [], local: [] };
  for (let round = 0; round < rounds; round++) {
    const engine = await openOn(data, availableParallelism(), CACHE_BYTES);
    samples.cold.push(await ask(engine, queryOf("far"), positions, check));
    await ask(engine, queryOf("near"), positions);
    samples.warm.push(await ask(engine, queryOf("far"), positions, check));
    samples.local.push(await ask(engine, queryOf("near"), positions, check));
    await engine.close(1000);
  }
  return samples;
}
