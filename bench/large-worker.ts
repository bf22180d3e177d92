/** The process that the large cube is asked in: prints the rows of `large.bench.ts` as JSON. */
import { availableParallelism } from "node:os";
import { inTurn } from "./alternate.js";
import { type Asked, ask, openOn, pointsIn } from "./ask.js";
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
}

const MIB = 2 ** 20;
const PERIOD = 2 * Math.PI;
/** Lag8 on 64 nodes a period of a flow of wavenumber 1, coordinates and answers in float32. */
const TOLERANCE = 5e-6;

const task = JSON.parse(process.argv[2] as string) as LargeTask;
const { nodes, chunk, smallNodes, cacheMiB, rounds } = task;
const workers = availableParallelism();
const random = randomNumbers(9);
const spacing = PERIOD / nodes;

/** One kind of query: its points, and the cube that they are put to. */
function kind(name: string, dataset: "large" | "small", points: number, firstNode: number, edgeNodes: number) {
  const size = dataset === "large" ? spacing : PERIOD / smallNodes;
  const positions = pointsIn(random, points, firstNode * size, edgeNodes * size);
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
  return { name, positions, query, params };
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
  const run = async ({ positions, query }: Kind, check = false): Promise<Sample> => {
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

function rowsOf({ name, params, positions }: Kind, first: Sample, samples: readonly Sample[]): Row[] {
  const row = { bench: "large", backend: "fieldprobe", params } as const;
  const touched = touchedBytes(params.nodes, params.chunk, 8, positions);
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

/**
 * Bricks along the edge of a box whose points and their neighbours fit the cache: there nothing is read, and points are
 * as dense.
 */
const fitting = Math.floor(Math.cbrt((cacheMiB * MIB) / (12 * chunk ** 3))) - 1;
const inCache = kind(
  "random, computing alone",
  "large",
  Math.round(randomPoints * ((fitting * chunk) / nodes) ** 3),
  chunk / 2,
  fitting * chunk,
);

/**
 * The random query beside reading its bricks alone and computing alone, in turn: what it takes of the larger of these.
 */
async function overlap(): Promise<Row[]> {
  const { query, positions, params } = everywhere;
  const readers = await startReaders(workers, { folder: task.folder, dataset: "large" });
  const samples = await inTurn<{ whole: number; reading: number; computing: number }>(
    [
      async () => {
        const { milliseconds: whole, bytesRead } = await ask(engine, query, positions);
        const reading = await readers.read(Math.round(bytesRead / readers.brickBytes));
        await ask(engine, inCache.query, inCache.positions);
        const again: number[] = [];
        while (again.length < 5) again.push((await ask(engine, inCache.query, inCache.positions)).milliseconds);
        return { whole, reading, computing: (summarise(again).value * params.points) / inCache.params.points };
      },
    ],
    rounds,
  );
  await readers.close();
  const all = samples.flat();
  const row = { bench: "large", backend: "fieldprobe", params } as const;
  const alone = (name: string, take: (one: (typeof all)[number]) => number): Row => {
    return {
      ...row,
      case: `random, ${name}`,
      unit: "ns/point",
      ...summarise(all.map((one) => (1e6 * take(one)) / params.points)),
    };
  };
  const larger = all.map(({ reading, computing }) => Math.max(reading, computing));
  return [
    alone("reading alone", ({ reading }) => reading),
    alone("computing alone", ({ computing }) => computing),
    ratioRow(
      { bench: "large", case: "random", unit: "of the larger of reading and computing", params },
      all.map(({ whole }) => whole),
      larger,
    ),
  ];
}

const near = [clustered, tenth, small];
const close = await sample(near);
const far = await sample([everywhere]);
const apart = await overlap();
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
