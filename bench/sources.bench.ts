/**
 * Data behind HTTP, a Zarr store or an HDF5 file by ranges or through references: time of a first query against that of
 * the line alone, with a cache on disk that is empty and one that is full, and warm against local.
 */
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { Worker } from "node:worker_threads";
import type { Query } from "../dist/engine/contract/query.js";
import { openSource } from "../dist/storage/catalog/source.js";
import { openHdf5 } from "../dist/storage/hdf5/file.js";
import { loadHdf5 } from "../dist/storage/hdf5/library.js";
import { objectTarget } from "../dist/storage/objects/object-target.js";
import { convertToZarr } from "../dist/storage/tools/convert-zarr.js";
import { referencesOf } from "../dist/storage/tools/references.js";
import { STORE_DEFAULTS } from "../dist/store-settings.js";
import { writeCube } from "../dist/tools/generate/cube.js";
import { type Asked, ask, openOn, pointsIn } from "./ask.js";
import { randomNumbers } from "./field.js";
import { type BenchOptions, type Row, ratioRow, summarise } from "./row.js";
import type { SlowServer } from "./slow-server-worker.js";
import { checkAbc, touchedBytes } from "./touched.js";

const PERIOD = 2 * Math.PI;
const CACHE_BYTES = 1024 ** 3;
const CHUNK = 32;
/** Points of the query that starts the threads. */
const WARM_POINTS = 20_000;
const LATENCY_MS = 20;
const BYTES_PER_SECOND = 100e6;

/** First queries behind the line: what they read, and whether a cache on disk keeps or has it. */
const FIRST = {
  "cold references": { dataset: "far", cache: "none" },
  "cold store": { dataset: "store", cache: "none" },
  "cold file": { dataset: "file", cache: "none" },
  "cold file, kept on disk": { dataset: "file", cache: "empty" },
  "file from disk": { dataset: "file", cache: "full" },
} as const;
type First = keyof typeof FIRST;

/**
 * Rows `sources`: milliseconds of the same query of random points, Lag8 at one frame, behind a line of 20 ms and 100
 * MB/s: the first query of a new engine in each way of `FIRST`, also over the time that the line alone takes for the
 * bytes touched; and `warm`, from the cache of bricks, over the same query of the local file, the order of the two
 * changing from round to round.
 */
export async function benchSources({ quick }: BenchOptions): Promise<Row[]> {
  const nodes = quick ? 128 : 256;
  const points = quick ? 20_000 : 100_000;
  const folder = mkdtempSync(join(tmpdir(), "fieldprobe-bench-"));
  const slow: SlowServer = { folder, latencyMs: LATENCY_MS, bytesPerSecond: BYTES_PER_SECOND };
  const server = new Worker(new URL("./slow-server-worker.js", import.meta.url), { workerData: slow });
  const [port] = (await once(server, "message")) as [number];
  try {
    const named = await writeCubes(folder, `http://127.0.0.1:${port}`, nodes);
    const positions = pointsIn(randomNumbers(7), points, 0, PERIOD);
    const data = [join(folder, "near"), join(folder, "far"), join(folder, "file"), ...named].join(delimiter);
    const samples = await measure(data, positions, quick ? 2 : 5, join(folder, "cache"));
    const lineMs = (1000 * touchedBytes(nodes, CHUNK, 8, positions)) / BYTES_PER_SECOND;
    const params = { nodes, points, chunk: CHUNK, workers: availableParallelism(), latencyMs: LATENCY_MS, lineMs };
    const row = { bench: "sources", params } as const;
    const times = (name: keyof typeof samples) => samples[name].map(({ milliseconds }) => milliseconds);
    const overLine = (name: keyof typeof samples): Row =>
      ratioRow(
        { ...row, case: `${name} over the line alone`, unit: "ratio" },
        times(name),
        times(name).map(() => lineMs),
      );
    const inMs = (name: keyof typeof samples): Row => {
      return { ...row, case: name, backend: "fieldprobe", unit: "ms", ...summarise(times(name)) };
    };
    return [
      ...(Object.keys(FIRST) as First[]).flatMap((name) => [inMs(name), overLine(name)]),
      inMs("warm"),
      ratioRow({ ...row, case: "warm over local", unit: "ratio" }, times("warm"), times("local")),
    ];
  } finally {
    await server.terminate();
    rmSync(folder, { recursive: true });
  }
}

/**
 * Writes a cube, its references, descriptors that read it through them and by ranges, and the cube as a store.
 *
 * @returns the addresses of the references and of the store
 */
async function writeCubes(folder: string, address: string, nodes: number): Promise<string[]> {
  const near = join(folder, "near");
  await writeCube(
    {
      kind: "abc",
      nodes: [nodes, nodes, nodes],
      steps: 1,
      chunk: [CHUNK, CHUNK, CHUNK],
      filter: "none",
      seed: 1,
      name: "near",
      folder: near,
    },
    () => {},
  );
  await loadHdf5();
  const file = openHdf5(join(near, "near.h5"));
  writeFileSync(join(near, "near.refs.json"), JSON.stringify(referencesOf(file, "near.h5").list));
  file.close();
  const places: [string, string] = [`${address}/near/near.refs.json`, `${address}/near/near.h5`];
  const text = readFileSync(join(near, "dataset.json"), "utf8");
  for (const [index, name] of ["far", "file"].entries()) {
    mkdirSync(join(folder, name));
    const there = text.replaceAll('"near.h5"', `"${places[index]}"`).replace('"near"', `"${name}"`);
    writeFileSync(join(folder, name, "dataset.json"), there);
  }
  const form = { name: "store", chunk: CHUNK, shard: 4 * CHUNK, compression: "none" } as const;
  const store = objectTarget(join(folder, "store.zarr"), STORE_DEFAULTS);
  await convertToZarr(openSource(near, CACHE_BYTES), store, form, () => {});
  return [places[0], `${address}/store.zarr`];
}

/**
 * Rounds. Each first query has an engine of its own, whose threads have answered a small local query before, as those
 * of a service have; that of the references then answers the second queries. The order of the first queries turns from
 * round to round.
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
  const names = Object.keys(FIRST) as First[];
  const samples = Object.fromEntries([...names, "warm", "local"].map((name) => [name, []])) as unknown as Record<
    First | "warm" | "local",
    Asked[]
  >;
  const workers = availableParallelism();
  const fill = await openOn(data, workers, CACHE_BYTES, { CACHE_DIR: join(cache, "full") });
  await ask(fill, queryOf("file"), positions);
  await fill.close(1000);
  const pairs = [
    ["warm", "far"],
    ["local", "near"],
  ] as const;
  for (let round = 0; round < rounds; round++) {
    for (const [at] of names.entries()) {
      const name = names[(at + round) % names.length] as First;
      const { dataset, cache: kept } = FIRST[name];
      const folder = join(cache, kept === "full" ? kept : `${round}`);
      const engine = await openOn(data, workers, CACHE_BYTES, kept === "none" ? {} : { CACHE_DIR: folder });
      await ask(engine, queryOf("near"), positions.subarray(0, 3 * WARM_POINTS));
      samples[name].push(await ask(engine, queryOf(dataset), positions, check));
      if (dataset === "far") {
        await ask(engine, queryOf("near"), positions);
        for (const [second, other] of round % 2 === 0 ? pairs : pairs.toReversed())
          samples[second].push(await ask(engine, queryOf(other), positions, check));
      }
      await engine.close(1000);
    }
  }
  return samples;
}
