/** Analyses through the service, in turns with their anchors: NumPy and SciPy, or the calls that they replace. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { type RunningService, startService } from "../dist/main.js";
import { loadConfig } from "../dist/shared/config.js";
import { NavierStokes } from "../dist/tools/generate/navier-stokes.js";
import { ask, makeCube, pointsIn } from "./ask.js";
import { randomNumbers } from "./field.js";
import { findPython } from "./python.js";
import { type BenchOptions, type Row, ratioRow, summarise } from "./row.js";

const MIB = 2 ** 20;
const PERIOD = 2 * Math.PI;
const PEER = fileURLToPath(new URL("../bench/peers/analysis.py", import.meta.url));

interface Analysis {
  readonly name: string;
  readonly call: string;
  readonly body: object;
  /** What the ratio aims at. */
  readonly aim: number;
  readonly dataset?: "series";
  /** Whether CPU of all threads is compared, rather than time. */
  readonly isCpu?: boolean;
}

const BINS = {
  bins: [32, 32],
  range: [
    [-2, 2],
    [-2, 2],
  ],
};
const CPU = { aim: 1.5, isCpu: true } as const;

/** Analyses that NumPy answers too, by their names. */
const ANALYSES: readonly Analysis[] = [
  { name: "ux", call: "statistics", body: { what: "u.x" }, aim: 1 },
  { name: "strain", call: "statistics", body: { what: "ddot(S,S)" }, aim: 0.3 },
  { name: "spectrum", call: "spectrum", body: { what: "u" }, aim: 1.5 },
  {
    name: "structures",
    call: "structures",
    body: { where: "norm(omega) > 2*rms(norm(omega))", connectivity: 6 },
    aim: 1,
  },
  { ...CPU, name: "stress", call: "statistics", body: { what: "fluc(u.x)*fluc(u.y)", over: "x,z" } },
  { ...CPU, name: "quantiles", call: "statistics", body: { reduce: [{ quantiles: "u.x", at: [0.05, 0.5, 0.95] }] } },
  {
    ...{ ...CPU, name: "two conditions", call: "statistics" },
    body: { reduce: [{ conditional: "p", on: ["u.x", "u.y"], ...BINS }] },
  },
  { ...CPU, name: "correlation", call: "correlation", body: { what: "u.x", axis: "x", over: "x,z" } },
  { ...CPU, name: "modes", call: "spectrum", body: { what: "u.x", kind: "modes", axis: "x,z", over: "x,y,z" } },
  { ...CPU, name: "coherence", call: "spectrum", body: { cross: "u.x,u.y", kind: "line", axis: "x", over: "x,z" } },
  { ...CPU, name: "filter", call: "statistics", body: { what: "filter(u.x*p, gaussian:0.3)" } },
  {
    ...{ ...CPU, name: "increments", call: "structure_functions" },
    body: { what: "u.x", axis: "x", orders: "2", absolute: "1.5,3", separations: "1,2,4,8" },
  },
  {
    ...{ ...CPU, name: "around", call: "around" },
    body: { what: "p", where: "norm(omega) > 2*rms(norm(omega))", lag: "2" },
  },
  {
    ...{ ...CPU, name: "welch", call: "spectrum", dataset: "series" },
    body: { what: "u.x", kind: "frequency", frame: "all", segment: 32, over: "x,z", remove: "none" },
  },
];
/** Frames and nodes of the series. */
const SERIES = { frames: 128, nodes: 48 };

/** Rows `analysis`: seconds of analyses, and their ratios to the anchors. */
export async function benchAnalysis({ quick }: BenchOptions): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), "fieldprobe-bench-"));
  try {
    const nodes = quick ? 128 : 256;
    await makeCube(folder, "cube", [nodes, 64]);
    await makeCube(folder, "small", [64, 32]);
    await makeCube(folder, "series", [SERIES.nodes, 24], { steps: SERIES.frames });
    const rows = await withService(folder, 600, (service) => besidePeers(service, folder, nodes, quick ? 2 : 3));
    rows.push(...(await withService(folder, 600, (service) => againstCalls(service, quick ? 1 : 3))));
    await makeCube(folder, "bricks", [nodes, 32]);
    // Three layers of bricks and a little more.
    rows.push(await withService(folder, nodes === 256 ? 96 : 24, (service) => readsOf(service, nodes)));
    rows.push(...(await stepsOf(quick ? 10 : 40)));
    return rows;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function withService<T>(folder: string, cache: number, use: (service: RunningService) => Promise<T>): Promise<T> {
  const settings = {
    PORT: "0",
    DATA: folder,
    STATE: join(folder, "state"),
    WORKERS: "2",
    CACHE_BYTES: String(cache * MIB),
  };
  const service = await startService(loadConfig(settings, {}), pino({ level: "warn" }), true);
  try {
    return await use(service);
  } finally {
    await service.close();
  }
}

/** Asks, and returns seconds, CPU seconds and bytes of the answer. */
async function timed(service: RunningService, call: string, dataset: string, body: object) {
  const [since, cpu] = [performance.now(), process.cpuUsage()];
  const response = await fetch(`${service.url}/api/datasets/${dataset}/${call}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ frame: 0, ...body }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${call}: ${text}`);
  const { user, system } = process.cpuUsage(cpu);
  return { seconds: (performance.now() - since) / 1000, cpu: (user + system) / 1e6, bytes: text.length };
}

async function besidePeers(service: RunningService, folder: string, nodes: number, rounds: number): Promise<Row[]> {
  const peer = await startPeer(join(folder, "cube", "cube.h5"), join(folder, "series", "series.h5"), nodes);
  const rows: Row[] = [];
  for (const { name, call, body, aim, dataset = "cube", isCpu = false } of ANALYSES) {
    const why = peer === null ? "no python3 here has NumPy" : peer.missing[name];
    if (why) process.stderr.write(`analysis ${name}: NumPy is left out, ${why}\n`);
    const [ours, theirs]: [number[], number[]] = [[], []];
    // The first round warms both.
    for (let round = 0; round <= rounds; round++) {
      const { seconds, cpu } = await timed(service, call, dataset, body);
      const other = why || peer === null ? null : await peer.ask(name);
      if (round === 0) continue;
      ours.push(isCpu ? cpu : seconds);
      theirs.push((isCpu ? other?.cpu : other?.seconds) ?? Number.NaN);
    }
    const params = { nodes: dataset === "cube" ? nodes : SERIES.nodes, workers: 2 };
    const [row, unit] = [{ bench: "analysis", case: name, params } as const, isCpu ? "CPU s" : "s"];
    rows.push({ ...row, backend: "fieldprobe", unit, ...summarise(ours) });
    if (why) continue;
    rows.push({ ...row, backend: "numpy", unit, ...summarise(theirs) });
    rows.push(ratioRow({ ...row, unit: `of NumPy, aim ${aim}` }, ours, theirs));
  }
  peer?.process.kill();
  return rows;
}

interface Peer {
  readonly process: ChildProcess;
  readonly missing: Readonly<Record<string, string | null>>;
  ask(name: string): Promise<{ readonly seconds: number; readonly cpu: number }>;
}

async function startPeer(file: string, series: string, nodes: number): Promise<Peer | null> {
  const python = await findPython("numpy, h5py");
  if (python === null) return null;
  const child = spawn(python, [PEER, file, series, String(nodes)], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => (await lines.next()).value ?? "";
  const missing = JSON.parse(await next());
  const answer = async (name: string) => {
    child.stdin.write(`${name}\n`);
    const [seconds, cpu] = (await next()).split(" ").map(Number);
    return { seconds: Number(seconds), cpu: Number(cpu) };
  };
  return { process: child, missing, ask: answer };
}

/** Structure functions of 64^3 nodes at 15 separations, against the 300 calls of 35 000 points that they replace. */
async function againstCalls(service: RunningService, rounds: number): Promise<Row[]> {
  const separations = Array.from({ length: 15 }, (_, i) => i + 1);
  const points = pointsIn(randomNumbers(7), 35_000, 0, PERIOD);
  const query = { operation: "GetVelocity", dataset: "small", time: 0, spatialInterpolation: "Lag8" } as const;
  const [ours, theirs]: [number[], number[]] = [[], []];
  let bytes = 0;
  const calls = 30;
  for (let round = 0; round <= rounds; round++) {
    const asked = { orders: [2, 3], separations, terms: ["longitudinal"] };
    const one = await timed(service, "structure_functions", "small", asked);
    let cpu = 0;
    for (let call = 0; call < calls; call++)
      cpu += (await ask(service.engine, { ...query, temporalInterpolation: "None" }, points)).cpuMilliseconds / 1000;
    if (round === 0) continue;
    ours.push(one.cpu);
    theirs.push((300 / calls) * cpu);
    bytes = one.bytes;
  }
  const row = { bench: "analysis", case: "structure functions", params: { nodes: 64, separations: 15 } } as const;
  return [
    { ...row, backend: "fieldprobe", unit: "CPU s", ...summarise(ours) },
    { ...row, backend: "fieldprobe", unit: "bytes", ...summarise([bytes]) },
    { ...row, backend: "calls", unit: "CPU s", ...summarise(theirs) },
    ratioRow({ ...row, unit: "of 300 calls, aim 0.1" }, ours, theirs),
  ];
}

/** Bytes that one pass with derivatives reads when the cache holds a small part of the frame. */
async function readsOf(service: RunningService, nodes: number): Promise<Row> {
  const before = service.engine.status().bytesRead;
  await timed(service, "statistics", "bricks", { what: "ddot(S,S)" });
  const ratio = (service.engine.status().bytesRead - before) / (12 * nodes ** 3);
  const params = { nodes, workers: 2 };
  return {
    bench: "analysis",
    case: "reads",
    backend: "ratio",
    unit: "of the frame, aim 1.3",
    params,
    ...summarise([ratio]),
  };
}

/** A step of the simulation of `generate isotropic`: CPU with one thread, and seconds with one and two in turns. */
async function stepsOf(steps: number): Promise<Row[]> {
  const teams = [1, 2].map((threads) => ({ threads, simulation: new NavierStokes(64, 0.0105, 5, threads) }));
  const rounds = teams.map(() => ({ ms: [] as number[], cpu: [] as number[] }));
  for (let round = 0; round < 4; round++)
    for (const [i, { simulation }] of teams.entries()) {
      const [since, cpu] = [performance.now(), process.cpuUsage()];
      for (let step = 0; step < steps; step++) simulation.step(0.01);
      const { user, system } = process.cpuUsage(cpu);
      // The first round warms both.
      if (round === 0) continue;
      rounds[i]?.ms.push((performance.now() - since) / steps);
      rounds[i]?.cpu.push((user + system) / 1000 / steps);
    }
  for (const { simulation } of teams) await simulation.close();
  return teams.flatMap(({ threads }, i) => {
    const row = {
      bench: "analysis",
      case: "simulation step",
      backend: "generate",
      params: { nodes: 64, threads },
    } as const;
    const { ms, cpu } = rounds[i] as (typeof rounds)[number];
    return [
      { ...row, unit: "CPU ms", ...summarise(cpu) },
      { ...row, unit: "ms", ...summarise(ms) },
    ];
  });
}
