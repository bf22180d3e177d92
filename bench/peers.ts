/** `npm run bench:peers`: compares other implementations with ours, on the same field and points, in turn. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createScheme } from "../dist/kernels/index.js";
import { SCRATCH_BYTES } from "../dist/kernels/simd/index.js";
import { alternate, type Contestant, nanoseconds } from "./alternate.js";
import { Arena, brickCube, createBatch, createSorter, cubeAxes, randomPositions, smoothFlow } from "./field.js";
import { type Peer, startPeer, versionOf } from "./peer-process.js";
import { type BenchOptions, type Row, readOptions, report } from "./row.js";

const SEED = 2_048;
/** Nodes per edge of our bricks. */
const EDGE = 64;
/** The distance that any two methods may have at a point, trilinear interpolation included. */
const TOLERANCE = 0.05;
const OPTIONS = { fd8Legacy: false };

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
  /** The answer of the plain kernel at the first point in an order. */
  at(order: "random" | "sorted", method: string): Passed;
}

function prepare(folder: string, nodes: number, points: number): Setting {
  const bricks = Math.ceil(nodes / EDGE) ** 3;
  const arena = new Arena(12 * bricks * EDGE ** 3 + 128 * points + SCRATCH_BYTES + 2 ** 20);
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
  const source = fileURLToPath(new URL("../bench/peers/loops.c", import.meta.url));
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
  const script = fileURLToPath(new URL("../bench/peers/peers.py", import.meta.url));
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

  /** @param first the velocity at the first point in that order, which every answer is held against */
  constructor(setting: Setting, name: string, order: "random" | "sorted", first: readonly number[]) {
    this.#setting = setting;
    this.#name = name;
    this.#order = order;
    this.#first = first;
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
    const params = { nodes, order: asked.order, points, brick: EDGE };
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

  /** Rows of all, and of how many times as fast as each of the others the first is. */
  async rows(rounds: number, quick: boolean): Promise<Row[]> {
    const [under, ...others] = this.#contestants as [Contestant, ...Contestant[]];
    const compare = (over: Contestant) => ({ case: this.#name, unit: `${over.row.backend} / simd`, over, under });
    return await alternate(this.#contestants, rounds, quick, others.map(compare));
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
  const rows = [...(await benchInCache(folder, options)), ...(await benchBeyondCache(folder, options))];
  report(rows, options);
} finally {
  rmSync(folder, { recursive: true });
}
