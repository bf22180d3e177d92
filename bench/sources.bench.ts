/**
 * Data behind HTTP, a Zarr store or an HDF5 file by ranges: time of a first query against that of
 * the line alone, with a cache on disk that is empty and one that is full, and warm against local.
 */
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { Agent, get } from "node:http";
import { availableParallelism, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { Worker } from "node:worker_threads";
import type { Query } from "../dist/engine/contract/query.js";
import { STORE_DEFAULTS } from "../dist/shared/store-settings.js";
import { openSource } from "../dist/storage/catalog/source.js";
import { loadHdf5 } from "../dist/storage/hdf5/library.js";
import { objectTarget } from "../dist/storage/remote/objects/object-target.js";
import { convertToZarr } from "../dist/storage/tools/convert-zarr.js";
import { type Asked, ask, makeCube, openOn, pointsIn } from "./ask.js";
import { randomNumbers } from "./field.js";
import { type BenchOptions, type Row, ratioRow, summarise } from "./row.js";
import type { SlowServer } from "./slow-server-worker.js";
import { checkAbc, touchedBytes } from "./touched.js";

const PERIOD = 2 * Math.PI;
const CACHE_BYTES = 1024 ** 3;
const CHUNK = 32;
/** Points of the query that starts the threads. */
const WARM_POINTS = 20_000;
/** A line of 20 ms and 1 Gbit/s, and the machine's own. */
const LINES = [
  { name: "far", latencyMs: 20, bytesPerSecond: 125e6 },
  { name: "loopback", latencyMs: 0, bytesPerSecond: Number.POSITIVE_INFINITY },
] as const;
/** Connections of a plain download, and bytes of each of its requests. */
const CONNECTIONS = 16;
const PART_BYTES = 3 * 1024 * 1024;

/** First queries behind the line: what they read, and whether a cache on disk keeps or has it. */
const FIRST = {
  "cold store": { dataset: "store", cache: "none" },
  "cold file": { dataset: "file", cache: "none" },
  "cold file, kept on disk": { dataset: "file", cache: "empty" },
  "file from disk": { dataset: "file", cache: "full" },
} as const;
type First = keyof typeof FIRST;

/** Queries of other data, which follow the first ones in the same engine: its code has run, and nothing is cached. */
const NEXT = { "cold store": "next store", "cold file": "next file" } as const;
type Next = (typeof NEXT)[keyof typeof NEXT];
const isFollowed = (name: First): name is keyof typeof NEXT => name in NEXT;

/**
 * Rows `sources`: milliseconds of the same query of random points, Lag8 at one frame, behind each of `LINES`: the first
 * query of a new engine in each way of `FIRST` and the one of `NEXT` that follows it, also over a plain download of
 * the bytes touched over 16 connections, in turns; and `warm`, from the cache of bricks, over the same query of the
 * local file. CPU is that of all threads, the server's included; `least` is that of a download and a warm query, on all
 * cores.
 */
export async function benchSources({ quick }: BenchOptions): Promise<Row[]> {
  const rows: Row[] = [];
  for (const line of LINES) rows.push(...(await benchLine(line, quick)));
  return rows;
}

async function benchLine({ name: line, latencyMs, bytesPerSecond }: (typeof LINES)[number], quick: boolean) {
  const nodes = quick ? 128 : 256;
  const points = quick ? 20_000 : 100_000;
  const folder = mkdtempSync(join(tmpdir(), "fieldprobe-bench-"));
  const slow: SlowServer = { folder, latencyMs, bytesPerSecond };
  const server = new Worker(new URL("./slow-server-worker.js", import.meta.url), { workerData: slow });
  const [port] = (await once(server, "message")) as [number];
  try {
    const address = `http://127.0.0.1:${port}`;
    const named = await writeCubes(folder, address, nodes);
    const positions = pointsIn(randomNumbers(7), points, 0, PERIOD);
    const described = ["near", "file", "file-2"].map((name) => join(folder, name));
    const data = [...described, ...named].join(delimiter);
    const touched = touchedBytes(nodes, CHUNK, 8, positions);
    const download = () => plainDownload(`${address}/near/near.h5`, touched);
    const samples = await measure(data, positions, quick ? 2 : 5, join(folder, "cache"), download);
    const params = { nodes, points, chunk: CHUNK, workers: availableParallelism(), latencyMs, touched };
    const row = { bench: "sources", params } as const;
    const times = (name: keyof typeof samples) => samples[name].map(({ milliseconds }) => milliseconds);
    const inMs = (name: keyof typeof samples): Row => {
      return { ...row, case: `${name} (${line})`, backend: "fieldprobe", unit: "ms", ...summarise(times(name)) };
    };
    const over = (name: keyof typeof samples, under: keyof typeof samples, words: string): Row =>
      ratioRow({ ...row, case: `${name} over ${words} (${line})`, unit: "ratio" }, times(name), times(under));
    const cpuOf = (name: keyof typeof samples) => samples[name].map(({ cpuMilliseconds }) => cpuMilliseconds);
    const inCpu = (name: keyof typeof samples): Row => {
      return { ...row, case: `${name}, CPU (${line})`, backend: "fieldprobe", unit: "ms", ...summarise(cpuOf(name)) };
    };
    // What fetching and evaluating take at least if nothing else is done and no core is ever idle.
    const computing = cpuOf("warm");
    const least = cpuOf("download").map((cpu, i) => (cpu + (computing[i] as number)) / params.workers);
    const bound = `least over a plain download (${line})`;
    return [
      ...(["cold store", "next store", "download", "warm"] as const).map(inCpu),
      ratioRow({ ...row, case: bound, unit: "ratio" }, least, times("download")),
      ...[...(Object.keys(FIRST) as First[]), ...Object.values(NEXT)].flatMap((name) => [
        inMs(name),
        over(name, "download", "a plain download"),
      ]),
      inMs("download"),
      inMs("warm"),
      over("warm", "local", "local"),
    ];
  } finally {
    await server.terminate();
    rmSync(folder, { recursive: true });
  }
}

/** Downloads the beginning of a file by ranges over some connections at a time, and drops what comes. */
async function plainDownload(address: string, bytes: number): Promise<Asked> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const cpu = process.cpuUsage();
  const start = performance.now();
  let at = 0;
  let received = 0;
  const part = (first: number, last: number) =>
    new Promise<void>((resolve, reject) => {
      get(address, { agent, headers: { range: `bytes=${first}-${last}` } }, (answer) => {
        answer.on("data", (some: Buffer) => {
          received += some.length;
        });
        answer.on("end", resolve).on("error", reject);
      }).on("error", reject);
    });
  const connection = async () => {
    while (at < bytes) {
      const first = at;
      at = Math.min(bytes, first + PART_BYTES);
      await part(first, at - 1);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  agent.destroy();
  if (received !== bytes) throw new Error(`${received} of ${bytes} bytes came`);
  const { user, system } = process.cpuUsage(cpu);
  return { milliseconds: performance.now() - start, cpuMilliseconds: (user + system) / 1000, bytesRead: received };
}

/**
 * Writes a cube, a descriptor that reads it by ranges, and the cube as a store; the latter two twice, of which the
 * second is at another address. Returns the addresses of the stores.
 */
async function writeCubes(folder: string, address: string, nodes: number): Promise<string[]> {
  const near = join(folder, "near");
  await makeCube(folder, "near", [nodes, CHUNK], { kind: "abc" });
  await loadHdf5();
  const text = readFileSync(join(near, "dataset.json"), "utf8");
  const source = openSource(near, CACHE_BYTES, { yes: true });
  const named: string[] = [];
  for (const end of ["", "-2"]) {
    if (end !== "") symlinkSync(near, `${near}${end}`);
    const at = `${address}/near${end}`;
    mkdirSync(join(folder, `file${end}`));
    const there = text.replaceAll('"near.h5"', `"${at}/near.h5"`).replace('"near"', `"file${end}"`);
    writeFileSync(join(folder, `file${end}`, "dataset.json"), there);
    const form = { name: `store${end}`, chunk: CHUNK, shard: 4 * CHUNK, compression: "none" } as const;
    await convertToZarr(source, objectTarget(join(folder, `store${end}.zarr`), STORE_DEFAULTS), form, () => {});
    named.push(`${address}/store${end}.zarr`);
  }
  return named;
}

/**
 * Rounds. Each first query has an engine of its own, whose threads have answered a small local query before, as those
 * of a service have; that of the cold file then answers the second queries. The order of the first queries turns from
 * round to round.
 */
async function measure(
  data: string,
  positions: Float32Array,
  rounds: number,
  cache: string,
  download: () => Promise<Asked>,
) {
  const check = checkAbc(positions, 0, 1e-3);
  const queryOf = (dataset: string): Query => ({
    operation: "GetVelocity",
    dataset,
    time: 0,
    spatialInterpolation: "Lag8",
    temporalInterpolation: "None",
  });
  const names = Object.keys(FIRST) as First[];
  const samples = Object.fromEntries(
    [...names, ...Object.values(NEXT), "warm", "local", "download"].map((name) => [name, []]),
  ) as unknown as Record<First | Next | "warm" | "local" | "download", Asked[]>;
  const workers = availableParallelism();
  const fill = await openOn(data, workers, CACHE_BYTES, { CACHE_DIR: join(cache, "full") });
  await ask(fill, queryOf("file"), positions);
  await fill.close(1000);
  const pairs = [
    ["warm", "file"],
    ["local", "near"],
  ] as const;
  for (let round = 0; round < rounds; round++) {
    samples.download.push(await download());
    for (const [at] of names.entries()) {
      const name = names[(at + round) % names.length] as First;
      const { dataset, cache: kept } = FIRST[name];
      const folder = join(cache, kept === "full" ? kept : `${round}`);
      const engine = await openOn(data, workers, CACHE_BYTES, kept === "none" ? {} : { CACHE_DIR: folder });
      await ask(engine, queryOf("near"), positions.subarray(0, 3 * WARM_POINTS));
      samples[name].push(await ask(engine, queryOf(dataset), positions, check));
      if (isFollowed(name)) samples[NEXT[name]].push(await ask(engine, queryOf(`${dataset}-2`), positions, check));
      if (name === "cold file") {
        await ask(engine, queryOf("near"), positions);
        for (const [second, other] of round % 2 === 0 ? pairs : pairs.toReversed())
          samples[second].push(await ask(engine, queryOf(other), positions, check));
      }
      await engine.close(1000);
    }
  }
  return samples;
}
