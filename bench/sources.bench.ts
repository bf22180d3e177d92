/**
 * Data behind HTTP, an HDF5 file read by ranges or through references: time of a first query against that of the line alone,
 * after a restart from the cache on disk, and warm against local.
 */
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
 * 100 MB/s, through references (`cold`) and by ranges of the file itself (`cold file`), each over the time that the line takes
 * for the bytes touched; `disk` the same file in a new process from the cache on disk; `warm` from the cache of both, and its
 * ratio, the order of the two changing from round to round.
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
      [join(folder, "near"), join(folder, "far"), join(folder, "file"), far].join(delimiter),
      positions,
      quick ? 2 : 5,
      join(folder, "cache"),
    );
    const lineMs = (1000 * touchedBytes(nodes, 32, 8, positions)) / BYTES_PER_SECOND;
    const params = { nodes, points, chunk: 32, workers: availableParallelism(), latencyMs: LATENCY_MS, lineMs };
    const row = { bench: "sources", params } as const;
    const times = (name: keyof typeof samples) => samples[name].map(({ milliseconds }) => milliseconds);
    const overLine = (name: keyof typeof samples): Row =>
      ratioRow(
        { ...row, case: `${name} over the line alone`, unit: "ratio" },
        times(name),
        times(name).map(() => lineMs),
      );
    return [
      { ...row, case: "cold", backend: "fieldprobe", unit: "ms", ...summarise(times("cold")) },
      overLine("cold"),
      { ...row, case: "cold file", backend: "fieldprobe", unit: "ms", ...summarise(times("cold file")) },
      overLine("cold file"),
      { ...row, case: "disk", backend: "fieldprobe", unit: "ms", ...summarise(times("disk")) },
      overLine("disk"),
      { ...row, case: "warm", backend: "fieldprobe", unit: "ms", ...summarise(times("warm")) },
      ratioRow({ ...row, case: "warm over local", unit: "ratio" }, times("warm"), times("local")),
    ];
  } finally {
    await server.terminate();
    rmSync(folder, { recursive: true });
  }
}

/**
 * Writes a cube, its references, and descriptors that read it through them and by ranges.
 *
 * @returns the address of the references
 */
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
  const places: [string, string] = [`${address}/near/near.refs.json`, `${address}/near/near.h5`];
  const text = readFileSync(join(near, "dataset.json"), "utf8");
  for (const [index, name] of ["far", "file"].entries()) {
    mkdirSync(join(folder, name));
    const there = text.replaceAll('"near.h5"', `"${places[index]}"`).replace('"near"', `"${name}"`);
    writeFileSync(join(folder, name, "dataset.json"), there);
  }
  return places[0];
}

/**
 * Rounds. Each first query, of the far copy, of the file, and of the file from a full cache on disk, has an engine of its own;
 * that of the far copy then answers the second queries.
 */
async function measure(data: string, positions: Float32Array, rounds: number, cache: string) {
  const check = checkAbc(positions, 0, 1e-3);
  const queryOf = (dataset: string): Query => ({
    operation: "GetVelocity",
    dataset,
    time: 0,
    spatialInterpolation: "Lag8",
    temporalInterpolation: "None",
  });
  const samples: Record<"cold" | "cold file" | "disk" | "warm" | "local", Asked[]> = {
    cold: [],
    "cold file": [],
    disk: [],
    warm: [],
    local: [],
  };
  const workers = availableParallelism();
  const fill = await openOn(data, workers, CACHE_BYTES, { CACHE_DIR: cache });
  await ask(fill, queryOf("file"), positions);
  await fill.close(1000);
  const first = async (name: "cold file" | "disk", settings: Readonly<Record<string, string>>): Promise<void> => {
    const engine = await openOn(data, workers, CACHE_BYTES, settings);
    samples[name].push(await ask(engine, queryOf("file"), positions, check));
    await engine.close(1000);
  };
  for (let round = 0; round < rounds; round++) {
    await first("cold file", {});
    await first("disk", { CACHE_DIR: cache });
    const engine = await openOn(data, workers, CACHE_BYTES);
    samples.cold.push(await ask(engine, queryOf("far"), positions, check));
    await ask(engine, queryOf("near"), positions);
    const pairs = [
      ["warm", "far"],
      ["local", "near"],
    ] as const;
    for (const [name, dataset] of round % 2 === 0 ? pairs : pairs.toReversed())
      samples[name].push(await ask(engine, queryOf(dataset), positions, check));
    await engine.close(1000);
  }
  return samples;
}
