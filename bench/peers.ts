/** `npm run bench:peers`: compares other implementations with ours, on the same field and points, in turn. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createScheme } from "../dist/kernels/index.js";
import { SCRATCH_BYTES } from "../dist/kernels/simd/index.js";
import { alternate, type Comparison, type Contestant, cpuNanoseconds, nanoseconds } from "./alternate.js";
import { Arena, brickCube, createBatch, createSorter, cubeAxes, randomPositions, smoothFlow } from "./field.js";
import { NEIGHBOUR_MIB, startNeighbour } from "./neighbour.js";
import { type Peer, startPeer, versionOf } from "./peer-process.js";
import { type BenchOptions, type Row, readOptions, report } from "./row.js";
import { linesOfPoints } from "./touched.js";

const SEED = 2_048;
/** Nodes per edge of our bricks. */
const EDGE = 64;
/** The distance that any two methods may have at a point, trilinear interpolation included. */
const TOLERANCE = 0.05;
const OPTIONS = { fd8Legacy: false };

/** Weights of four frames half a step past the second. */
const PCHIP = [-0.0625, 0.5625, 0.5625, -0.0625] as const;
/** Sparse points: 8 for 16^3 nodes; and how many a sample evaluates at least, by passes over them. */
const SPARSE_DENSITY = 8 / 16 ** 3;
const SPARSE_SAMPLE = 8192;
/** Bytes of caches of which the lines that they lack are counted: of a core, and shared by all. */
const CACHES = [2 ** 20, 2 ** 25] as const;

const COMPILERS = [
  ["gcc-avx2", ["-O3", "-mavx2"]],
  ["gcc-native", ["-O3", "-march=native"]],
] as const;
/**
 * Python cases: backend, the kernel of ours that it is compared with, and the most points it gets. NumPy is compared
 * with our batches too, because users of either have points in random order.
 */
const PYTHON = [
  ["spline3", "scipy-spline3", "lag4", 100_000],
  ["spline5", "scipy-spline5", "lag6", 100_000],
  ["grid-cubic", "scipy-grid-cubic", "lag4", 20_000],
  ["numpy-lag8", "numpy", "lag8", 20_000],
  ["numpy-lag8-optimized", "numpy-optimized", "lag8", 20_000],
  ["numpy-lag8-blocks", "numpy-blocks", "lag8", 20_000],
  ["numpy-lag8", "numpy", "lag8-batch", 20_000],
  ["numpy-lag8-optimized", "numpy-optimized", "lag8-batch", 20_000],
  ["numpy-lag8-blocks", "numpy-blocks", "lag8-batch", 20_000],
  ["vtk-probe", "vtk-probe", "lag4", 100_000],
] as const;

/** Nanoseconds a point of a pass, and the velocity at its first point. */
interface Passed {
  readonly time: number;
  readonly first: readonly number[];
}

/** A cube, points in it, and both again in files for the peers. */
interface Setting {
  readonly nodes: number;
  readonly points: number;
  readonly arguments: readonly string[];
  /** Passes of ours over the first `points` sorted points, or over all of them in random order with sort and return. */
  evaluate(method: string, backend: "simd" | "plain", points: number): Passed;
  batch(method: string): Passed;
  /** `passes` passes over the points in one frame, or in four. */
  combine(method: string, order: "random" | "sorted", passes: number, frames: 1 | 4): Passed;
  /** Lines of 64 bytes that a sorted point reads of so many frames, and those that caches of `CACHES` lack. */
  lines(method: string, frames: 1 | 4): readonly number[];
  /** The answer of the plain kernel at the first point in an order. */
  at(order: "random" | "sorted", method: string): Passed;
}

function prepare(folder: string, nodes: number, points: number, fields: 1 | 4 = 1): Setting {
  const bricks = Math.ceil(nodes / EDGE) ** 3;
  const arena = new Arena(12 * fields * bricks * EDGE ** 3 + 128 * points + SCRATCH_BYTES + 2 ** 20);
  const accelerator = arena.accelerator();
  const axes = cubeAxes(nodes);
  const field = brickCube(arena, nodes, EDGE, 3);
  const random = randomPositions(arena, points, SEED);
  const sorted = arena.float64(3 * points);
  const sorter = createSorter(arena, axes, field, points);
  sorter.sort(points, random, sorted);
  const out = arena.float64(3 * points);
  const file = (name: string, data: Float64Array | Float32Array) => {
    const path = join(folder, `${name}-${nodes}`);
    writeFileSync(path, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    return path;
  };
  const again = arena.float64(3 * points);
  // Frames after the first one are made when they are first asked for.
  const frames = [[field]];
  return {
    nodes,
    points,
    arguments: [
      `${nodes}`,
      `${points}`,
      file("field", denseFlow(nodes)),
      file("random", random),
      file("sorted", sorted),
    ],
    evaluate(method, backend, some) {
      const scheme = createScheme("velocity", method, axes, OPTIONS, backend === "simd" ? accelerator : undefined);
      const time = nanoseconds(() => scheme.evaluate([field], sorted, 0, some, out)) / some;
      return { time, first: [...out.subarray(0, 3)] };
    },
    combine(method, order, passes, count) {
      const positions = order === "sorted" ? sorted : random;
      while (frames.length < count) frames.push([brickCube(arena, nodes, EDGE, 3)]);
      const scheme = createScheme("velocity", method, axes, OPTIONS, accelerator);
      const time = cpuNanoseconds(() => {
        for (let i = 0; i < passes; i++) {
          if (count === 1) scheme.evaluate([field], positions, 0, points, out);
          else scheme.combine(frames, PCHIP, positions, 0, points, out);
        }
      });
      return { time: time / (passes * points), first: [...out.subarray(0, 3)] };
    },
    lines(method, count) {
      return linesOfPoints(nodes, Number(method.slice(3)), count, sorted, CACHES);
    },
    at(order, method) {
      const scheme = createScheme("velocity", method, axes, OPTIONS);
      const time = nanoseconds(() => scheme.evaluate([field], order === "sorted" ? sorted : random, 0, 1, out));
      return { time, first: [...out.subarray(0, 3)] };
    },
    batch(method) {
      const scheme = createScheme("velocity", method, axes, OPTIONS, accelerator);
      const batch = createBatch(scheme, field, sorter, again, out);
      const answers: Float32Array[] = [];
      const time = nanoseconds(() => answers.push(batch(points, random))) / points;
      return { time, first: answers.flatMap((answer) => [...answer.subarray(0, 3)]) };
    },
  };
}

/** The flow as one array [z][y][x][component]. */
function denseFlow(nodes: number): Float32Array {
  const value = smoothFlow(nodes);
  const field = new Float32Array(3 * nodes ** 3);
  let at = 0;
  for (let k = 0; k < nodes; k++) {
    for (let j = 0; j < nodes; j++) {
      for (let i = 0; i < nodes; i++) for (let c = 0; c < 3; c++) field[at++] = value(i, j, k, c);
    }
  }
  return field;
}

/** Fails when two implementations do not answer the same question. */
function agree(ours: readonly number[], theirs: readonly number[], name: string): void {
  if (theirs.length !== 3 || theirs.some((value, c) => !(Math.abs(value - (ours[c] as number)) < TOLERANCE)))
    throw new Error(`${name} answers ${theirs} where we answer ${ours}`);
}

type Started = readonly { readonly backend: string; readonly peer: Peer }[];

/** Our C loops, once per set of compiler flags. */
function startLoops(folder: string, setting: Setting): Started {
  if (versionOf("gcc") === null) {
    console.log(`skipped: C loops, ${setting.nodes} nodes (there is no gcc)`);
    return [];
  }
  const source = fileURLToPath(new URL("./peers/loops.c", import.meta.url));
  return COMPILERS.map(([backend, flags]) => {
    const program = join(folder, backend);
    execFileSync("gcc", [...flags, "-o", program, source, "-lm"], { stdio: "inherit" });
    return { backend, peer: startPeer(program, setting.arguments) };
  });
}

/** Interpreters that may have the packages: the first on the path, and that of the system. */
const INTERPRETERS = ["python3", "/usr/bin/python3"];

/** The Python cases that are there, and the processes behind them. */
async function startPython(setting: Setting): Promise<{ cases: ReadonlyMap<string, Peer>; peers: readonly Peer[] }> {
  const script = fileURLToPath(new URL("./peers/peers.py", import.meta.url));
  const cases = new Map<string, Peer>();
  const reasons = new Map(PYTHON.map(([name]) => [name as string, "there is no python3"]));
  const peers: Peer[] = [];
  for (const interpreter of INTERPRETERS) {
    if (reasons.size === 0 || versionOf(interpreter) === null) continue;
    const peer = startPeer(interpreter, [script, ...setting.arguments]);
    peers.push(peer);
    const missing = JSON.parse(await peer.line()) as Record<string, string | null>;
    for (const name of [...reasons.keys()]) {
      const reason = missing[name] ?? null;
      if (reason === null) cases.set(name, peer);
      if (reason === null) reasons.delete(name);
      else reasons.set(name, reason);
    }
  }
  for (const [name, reason] of reasons) console.log(`skipped: ${name} (${reason})`);
  console.log(
    "skipped: vtk-tracer (vtkParticleTracer wants a source of several times; one made in Python ends VTK 9.1)",
  );
  return { cases, peers };
}

/** Contestants of one kernel on one cube. */
class Round {
  readonly #contestants: Contestant[] = [];
  readonly #setting: Setting;
  readonly #name: string;
  readonly #order: "random" | "sorted";
  readonly #first: readonly number[];
  readonly #more: Row["params"];

  /**
   * @param first the velocity at the first point in that order, which every answer is held against
   * @param more  parameters of the rows
   */
  constructor(
    setting: Setting,
    name: string,
    order: "random" | "sorted",
    first: readonly number[],
    more: Row["params"] = {},
  ) {
    this.#setting = setting;
    this.#name = name;
    this.#order = order;
    this.#first = first;
    this.#more = more;
  }

  /** Adds the Python cases that this kernel is compared with. */
  addPython(cases: ReadonlyMap<string, Peer>): void {
    for (const [peerCase, backend, kernel, most] of PYTHON) {
      const peer = cases.get(peerCase);
      if (kernel !== this.#name || peer === undefined) continue;
      const some = Math.min(this.#setting.points, most);
      this.add(backend, some, () => peer.pass(peerCase, this.#order, some));
    }
  }

  /** @param asked the order of the points where it is another, and the velocity at the first of them */
  add(
    backend: string,
    points: number,
    run: () => Promise<Passed>,
    asked: { order: "random" | "sorted"; first: readonly number[] } = { order: this.#order, first: this.#first },
  ): Contestant {
    const { nodes } = this.#setting;
    const params = { nodes, order: asked.order, points, brick: EDGE, ...this.#more };
    const contestant = {
      row: { bench: "peer", case: this.#name, backend, unit: "ns/point", params },
      run: async () => {
        const { time, first } = await run();
        agree(asked.first, first, backend);
        return time;
      },
    };
    this.#contestants.push(contestant);
    return contestant;
  }

  /** Rows of all, and of `comparisons`: by default, of how many times as fast as each of the others the first is. */
  async rows(rounds: number, quick: boolean, comparisons?: readonly Comparison[]): Promise<Row[]> {
    const [ours, ...others] = this.#contestants as [Contestant, ...Contestant[]];
    const asked = comparisons ?? others.map((over) => this.compare(over, ours, `${over.row.backend} / simd`));
    return await alternate(this.#contestants, rounds, quick, asked);
  }

  compare(over: Contestant, under: Contestant, unit: string): Comparison {
    return { case: this.#name, unit, over, under };
  }
}

async function benchInCache(folder: string, { quick }: BenchOptions): Promise<Row[]> {
  const setting = prepare(folder, 64, quick ? 20_000 : 100_000);
  const loops = startLoops(folder, setting);
  const python = await startPython(setting);
  const rows: Row[] = [];
  for (const method of ["Lag4", "Lag6", "Lag8"]) {
    const name = method.toLowerCase();
    const round = new Round(setting, name, "sorted", setting.at("sorted", method).first);
    const all = setting.points;
    round.add("simd", all, async () => setting.evaluate(method, "simd", all));
    round.add("plain", 4_000, async () => setting.evaluate(method, "plain", 4_000));
    for (const { backend, peer } of loops) {
      round.add(`${backend}-dot`, all, () => peer.pass(`${name}-dot`, "sorted", all));
      round.add(`${backend}-rows`, all, () => peer.pass(`${name}-rows`, "sorted", all));
    }
    round.addPython(python.cases);
    rows.push(...(await round.rows(quick ? 3 : 9, quick)));
  }
  const batches = new Round(setting, "lag8-batch", "random", setting.at("random", "Lag8").first);
  batches.add("simd", setting.points, async () => setting.batch("Lag8"));
  batches.addPython(python.cases);
  rows.push(...(await batches.rows(quick ? 3 : 9, quick)));
  await Promise.all([...loops.map(({ peer }) => peer.close()), ...python.peers.map((peer) => peer.close())]);
  return rows;
}

/**
 * Sparse points in four frames and in one, compared with C in vectors of the processor's and of WebAssembly's length
 * that adds four frames, or reads the lines of a point first; and the lines that these points read.
 */
async function benchSparse(folder: string, { quick }: BenchOptions, nodes: 64 | 256): Promise<Row[]> {
  const points = SPARSE_DENSITY * nodes ** 3;
  const setting = prepare(folder, nodes, points, 4);
  const loops = startLoops(folder, setting);
  const methods = nodes === 64 ? ["Lag4", "Lag6", "Lag8"] : ["Lag6", "Lag8"];
  const rounds = quick ? 3 : nodes === 64 ? 21 : 9;
  // Of larger cubes, a cache keeps hardly a line from one pass to the next.
  const rows = nodes === 64 ? methods.flatMap((method) => lineRows(setting, method)) : [];
  for (const method of methods) rows.push(...(await sparseRound(setting, loops, method, {}).rows(rounds, quick)));
  // In random order, no point finds a line that another has read: as in small requests to large cubes.
  if (nodes === 256) rows.push(...(await sparseRound(setting, loops, "Lag6", {}, "random").rows(rounds, quick)));
  if (nodes === 64) {
    const end = await startNeighbour();
    try {
      const more = { neighbour: NEIGHBOUR_MIB };
      for (const method of methods) rows.push(...(await sparseRound(setting, loops, method, more).rows(rounds, quick)));
    } finally {
      await end();
    }
  }
  await Promise.all(loops.map(({ peer }) => peer.close()));
  return rows;
}

/** The contestants of one method on sparse points, and what their rows compare. */
function sparseRound(
  setting: Setting,
  loops: Started,
  method: string,
  more: Row["params"],
  order: "random" | "sorted" = "sorted",
) {
  const { points } = setting;
  const passes = Math.ceil(SPARSE_SAMPLE / points);
  const lag = method.toLowerCase();
  const round = new Round(setting, `${lag}-pchip-sparse`, order, setting.at(order, method).first, more);
  const simd = round.add("simd", points, async () => setting.combine(method, order, passes, 4));
  const one = round.add("simd-one", points, async () => setting.combine(method, order, passes, 1));
  const comparisons = [round.compare(simd, one, "simd of one frame")];
  for (const { backend, peer } of loops) {
    const bits = backend === "gcc-native" ? "" : "128";
    const add = (form: string) =>
      round.add(`${backend}-${form}`, points, () => peer.pass(`${lag}-${form}`, order, passes * points));
    const alone = add(`one${bits}`);
    for (const form of [`frames${bits}`, `frames${bits}-ahead`]) {
      const frames = add(form);
      comparisons.push(round.compare(frames, simd, `${backend}-${form} / simd`));
      comparisons.push(round.compare(frames, alone, `${backend}-${form} of one frame`));
    }
  }
  return { rows: (rounds: number, quick: boolean) => round.rows(rounds, quick, comparisons) };
}

/** Rows of the lines of 64 bytes that a point reads of flat arrays, and of those that caches lack. */
function lineRows(setting: Setting, method: string): Row[] {
  return ([1, 4] as const).flatMap((frames) =>
    setting.lines(method, frames).map((value, i) => ({
      bench: "peer",
      case: `${method.toLowerCase()}-pchip-sparse`,
      backend: "count",
      value,
      unit: i === 0 ? "lines/point" : `lines/point beyond ${(CACHES[i - 1] as number) / 2 ** 20} MiB`,
      spread: 0,
      rounds: 1,
      params: { nodes: setting.nodes, points: setting.points, frames },
    })),
  );
}

/** A cube no cache holds: our batches of random points, sort included, against C loops whose points come sorted. */
async function benchBeyondCache(folder: string, { quick }: BenchOptions): Promise<Row[]> {
  const setting = prepare(folder, 256, quick ? 200_000 : 1_000_000);
  const loops = startLoops(folder, setting);
  const rows: Row[] = [];
  for (const method of ["Lag4", "Lag8"]) {
    const name = `${method.toLowerCase()}-batch`;
    const round = new Round(setting, name, "sorted", setting.at("sorted", method).first);
    const { first } = setting.at("random", method);
    round.add("simd", setting.points, async () => setting.batch(method), { order: "random", first });
    for (const { backend, peer } of loops) {
      for (const form of ["dot", "rows"]) {
        const peerCase = `${method.toLowerCase()}-${form}`;
        round.add(`${backend}-${form}`, setting.points, () => peer.pass(peerCase, "sorted", setting.points));
      }
    }
    rows.push(...(await round.rows(quick ? 3 : 7, quick)));
  }
  await Promise.all(loops.map(({ peer }) => peer.close()));
  return rows;
}

const options = readOptions();
const folder = mkdtempSync(join(tmpdir(), "fieldprobe-peers-"));
try {
  const rows = [
    ...(await benchSparse(folder, options, 64)),
    ...(await benchSparse(folder, options, 256)),
    ...(await benchInCache(folder, options)),
    ...(await benchBeyondCache(folder, options)),
  ];
  report(rows, options);
} finally {
  rmSync(folder, { recursive: true });
}
