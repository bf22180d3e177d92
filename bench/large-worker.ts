/** The process that the large cube is asked in: prints the rows of `large.bench.ts` as JSON. */
import { execFileSync } from "node:child_process";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { inTurn } from "./alternate.js";
import { type Asked, ask, openOn } from "./ask.js";
import { startReaders } from "./brick-readers.js";
import { randomNumbers } from "./field.js";
import { type Row, ratioRow, summarise } from "./row.js";
import { resetPeak, residentBytes } from "./soap-load.js";
import { checkAbc, touchedBytes } from "./touched.js";

/** The question. */
export interface LargeTask {
  readonly folder: string;
  readonly nodes: number;
  readonly chunk: number;
  readonly smallNodes: number;
  readonly cacheMiB: number;
  readonly randomPoints: number;
  readonly clusteredPoints: number;
  readonly rounds: number;
  /** A Python by which pages of files are dropped from the memory of the operating system; null: there is none. */
  readonly python: string | null;
}

const MIB = 2 ** 20;
const PERIOD = 2 * Math.PI;
/** Lag8 on 64 nodes a period of a flow of wavenumber 1, coordinates and answers in float32. */
const TOLERANCE = 5e-6;

const task: LargeTask = JSON.parse(process.argv[2] as string);
const { nodes, chunk, smallNodes, cacheMiB, rounds } = task;
const workers = availableParallelism();
/** The points of the query at hand: those of others would be counted as memory of the engine. */
const buffer = new Float32Array(3 * Math.max(task.randomPoints, task.clusteredPoints));
const spacing = PERIOD / nodes;

/** One kind of query: how its points are made, and the cube that they are put to. */
function kind(name: string, dataset: "large" | "small", points: number, firstNode: number, edgeNodes: number) {
  const size = dataset === "large" ? spacing : PERIOD / smallNodes;
  /** The same points at every call; they last until the next call of any kind. */
  const place = (): Float32Array => {
    const random = randomNumbers(9);
    const positions = buffer.subarray(0, 3 * points);
    for (let i = 0; i < positions.length; i++) positions[i] = firstNode * size + random() * edgeNodes * size;
    return positions;
  };
  const query = {
    operation: "GetVelocity",
    dataset,
    time: 0,
    spatialInterpolation: "Lag8",
    temporalInterpolation: "None",
  } as const;
  const params = {
    points,
    nodes: dataset === "large" ? nodes : smallNodes,
    chunk: dataset === "large" ? chunk : smallNodes,
    edge: edgeNodes,
    cacheMiB,
    workers,
  };
  return { name, place, query, params };
}

type Kind = ReturnType<typeof kind>;

/** Of queries in turn; the peak of resident memory is that of the one query. */
interface Sample extends Asked {
  readonly peakMiB: number;
}

const engine = await openOn(task.folder, workers, cacheMiB * MIB);

/** A kind of query: what the first took, from storage, and what the rounds after it took. */
interface Sampled {
  readonly kind: Kind;
  readonly first: Sample;
  readonly samples: readonly Sample[];
}

/** Runs the queries once, checks what they answer, then takes samples in turn. */
async function sample(kinds: readonly Kind[]): Promise<Sampled[]> {
  const run = async ({ place, query }: Kind, check = false): Promise<Sample> => {
    const positions = place();
    resetPeak(process.pid);
    const asked = await ask(engine, query, positions, check ? checkAbc(positions, 0, TOLERANCE) : undefined);
    return { ...asked, peakMiB: residentBytes(process.pid).peak / MIB };
  };
  const first: Sample[] = [];
  for (const each of kinds) first.push(await run(each, true));
  const runs = kinds.map((each) => () => run(each));
  const samples = await inTurn<Sample>(runs, rounds);
  return kinds.map((each, i) => ({ kind: each, first: first[i] as Sample, samples: samples[i] as Sample[] }));
}

function rowsOf({ name, params, place }: Kind, first: Sample, samples: readonly Sample[]): Row[] {
  const row = { bench: "large", backend: "fieldprobe", params } as const;
  const touched = touchedBytes(params.nodes, params.chunk, 8, place());
  const rowOf = (what: string, unit: string, figures: readonly number[]): Row => {
    return { ...row, case: name + what, unit, ...summarise(figures) };
  };
  return [
    rowOf(
      "",
      "ns/point",
      samples.map(({ milliseconds }) => (1e6 * milliseconds) / params.points),
    ),
    rowOf(
      ", CPU",
      "ns/point",
      samples.map(({ cpuMilliseconds }) => (1e6 * cpuMilliseconds) / params.points),
    ),
    rowOf(", first reads", "of bytes touched", [first.bytesRead / touched]),
    rowOf(
      ", reads",
      "of bytes touched",
      samples.map(({ bytesRead }) => bytesRead / touched),
    ),
    rowOf(
      ", peak memory above the cache",
      "MiB",
      [first, ...samples].map(({ peakMiB }) => peakMiB - cacheMiB),
    ),
  ];
}

const { randomPoints, clusteredPoints } = task;
const everywhere = kind("random", "large", randomPoints, 0, nodes);
// Across a border of chunks along each axis, the points as dense as in the small cube.
const clustered = kind("clustered", "large", clusteredPoints, smallNodes / 2, smallNodes);
const tenth = kind("a tenth of each edge", "large", clusteredPoints, Math.round(0.55 * nodes), Math.round(nodes / 10));
const small = kind("in the small cube", "small", clusteredPoints, 0, smallNodes);

/** The cache of an engine that only computes: as much of the cube as fits one memory of WebAssembly. */
const COMPUTING_MIB = 3072;
/**
 * Bricks along the edge of a box that fits this cache with its neighbours: points are as dense there as in the cube.
 */
const fitting = Math.min(nodes / chunk, Math.floor(Math.cbrt((COMPUTING_MIB * MIB) / (12 * chunk ** 3))) - 1);
const inCache = kind(
  "random, computing alone",
  "large",
  Math.round(randomPoints * ((fitting * chunk) / nodes) ** 3),
  fitting * chunk < nodes ? chunk / 2 : 0,
  fitting * chunk,
);

/** Asks the operating system to forget the pages of a file. */
const FORGET = "import os, sys; os.posix_fadvise(os.open(sys.argv[1], os.O_RDONLY), 0, 0, os.POSIX_FADV_DONTNEED)";

/**
 * Milliseconds that the random query would take if nothing had to be read, by an engine whose memory is freed again.
 */
async function computingAlone(): Promise<number[]> {
  const large = await openOn(task.folder, workers, COMPUTING_MIB * MIB);
  const samples: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const { milliseconds } = await ask(large, inCache.query, inCache.place());
    // The first fills the cache.
    if (round > 0) samples.push((milliseconds * randomPoints) / inCache.params.points);
  }
  await large.close(1000);
  return samples;
}

/**
 * The random query and reading its bricks alone, in turn, each compared with computing alone.
 *
 * @param name   of the rows
 * @param forget is called before each
 */
async function overlap(name: string, times: number, computing: readonly number[], forget: () => void): Promise<Row[]> {
  const { query, place, params } = everywhere;
  const positions = place();
  const readers = await startReaders(workers, { folder: task.folder, dataset: "large" });
  const samples: { readonly whole: number; readonly reading: number }[] = [];
  for (let round = 0; round < times; round++) {
    forget();
    const { milliseconds: whole, bytesRead } = await ask(engine, query, positions);
    forget();
    samples.push({ whole, reading: await readers.read(Math.round(bytesRead / readers.brickBytes)) });
  }
  await readers.close();
  const row = { bench: "large", params } as const;
  const rowOf = (what: string, figures: readonly number[]): Row => {
    const nanoseconds = figures.map((figure) => (1e6 * figure) / params.points);
    return { ...row, backend: "fieldprobe", case: name + what, unit: "ns/point", ...summarise(nanoseconds) };
  };
  const whole = samples.map((one) => one.whole);
  const reading = samples.map((one) => one.reading);
  const { value: computed } = summarise(computing);
  const ratioTo = (unit: string, others: readonly number[]) => ratioRow({ ...row, case: name, unit }, whole, others);
  return [
    rowOf(", whole", whole),
    rowOf(", reading alone", reading),
    rowOf(", computing alone", computing),
    ratioTo(
      "of the larger of reading and computing",
      reading.map((one) => Math.max(one, computed)),
    ),
    ratioTo(
      "of reading and then computing",
      reading.map((one) => one + computed),
    ),
  ];
}

const near = [clustered, tenth, small];
const close = await sample(near);
const far = await sample([everywhere]);
const computing = await computingAlone();
const apart = await overlap("random", rounds, computing, () => {});
const { python } = task;
if (python !== null) {
  const file = join(task.folder, "large", "large.h5");
  const forget = () => void execFileSync(python, ["-c", FORGET, file]);
  apart.push(...(await overlap("random, cold", Math.min(rounds, 5), computing, forget)));
}
const rows = [...close, ...far].flatMap(({ kind: each, first, samples }) => rowsOf(each, first, samples));
rows.push(...apart);
const [beside, aside, held] = close as [Sampled, Sampled, Sampled];
for (const { kind: each, samples } of [beside, aside]) {
  for (const [what, take] of [
    ["", ({ milliseconds }: Sample) => milliseconds],
    [", CPU", ({ cpuMilliseconds }: Sample) => cpuMilliseconds],
  ] as const) {
    const row = { bench: "large", case: each.name + what, unit: "of the small cube", params: each.params };
    rows.push(ratioRow(row, samples.map(take), held.samples.map(take)));
  }
}
await engine.close(1000);
process.stdout.write(JSON.stringify(rows));
