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
import { writeCube } from "../dist/tools/generate/cube.js";
import { NavierStokes } from "../dist/tools/generate/navier-stokes.js";
import { ask, pointsIn } from "./ask.js";
import { randomNumbers } from "./field.js";
import { findPython } from "./python.js";
import { type BenchOptions, type Row, ratioRow, summarise } from "./row.js";

const MIB = 2 ** 20;
const PERIOD = 2 * Math.PI;
const PEER = fileURLToPath(new URL("./peers/analysis.py", import.meta.url));

/** Analyses that NumPy answers too: its case, the body, and what the ratio aims at. */
const ANALYSES = [
  { name: "ux", call: "statistics", body: { what: "u.x" }, aim: 1 },
  { name: "strain", call: "statistics", body: { what: "ddot(S,S)" }, aim: 0.3 },
  { name: "spectrum", call: "spectrum", body: { what: "u" }, aim: 1.5 },
  {
    name: "structures",
    call: "structures",
    body: { where: "norm(omega) > 2*rms(norm(omega))", connectivity: 6 },
    aim: 1,
  },
] as const;

/** Rows `analysis`: seconds of analyses, and their ratios to the anchors. */
export async function benchAnalysis({ quick }: BenchOptions): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), "fieldprobe-bench-"));
  try {
    const nodes = quick ? 128 : 256;
    await makeCube(folder, "cube", nodes, 64);
    await makeCube(folder, "small", 64, 32);
    const rows = await withService(folder, 600, (service) => besidePeers(service, folder, nodes, quick ? 2 : 3));
    rows.push(...(await withService(folder, 600, (service) => againstCalls(service, quick ? 1 : 3))));
    await makeCube(folder, "bricks", nodes, 32);
    // Three layers of bricks and a little more.
    rows.push(await withService(folder, nodes === 256 ? 96 : 24, (service) => readsOf(service, nodes)));
    rows.push(...(await stepsOf(quick ? 10 : 40)));
    return rows;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function makeCube(folder: string, name: string, n: number, edge: number): Promise<void> {
  const shape = {
    kind: "smooth",
    nodes: [n, n, n],
    steps: 1,
    chunk: [edge, edge, edge],
    filter: "none",
    seed: 1,
  } as const;
  await writeCube({ ...shape, name, folder: join(folder, name) }, () => undefined);
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
  const peer = await startPeer(join(folder, "cube", "cube.h5"), nodes);
  const rows: Row[] = [];
  for (const { name, call, body, aim } of ANALYSES) {
    const why = peer === null ? "no python3 here has NumPy" : peer.missing[name];
    if (why) process.stderr.write(`analysis ${name}: NumPy is left out, ${why}\n`);
    const [ours, theirs]: [number[], number[]] = [[], []];
    // The first round warms both.
    for (let round = 0; round <= rounds; round++) {
      const { seconds } = await timed(service, call, "cube", body);
      const other = why || peer === null ? Number.NaN : await peer.ask(name);
      if (round === 0) continue;
      ours.push(seconds);
      theirs.push(other);
    }
    const row = { bench: "analysis", case: name, params: { nodes, workers: 2 } } as const;
    rows.push({ ...row, backend: "fieldprobe", unit: "s", ...summarise(ours) });
    if (why) continue;
    rows.push({ ...row, backend: "numpy", unit: "s", ...summarise(theirs) });
    rows.push(ratioRow({ ...row, unit: `of NumPy, aim ${aim}` }, ours, theirs));
  }
  peer?.process.kill();
  return rows;
}

interface Peer {
  readonly process: ChildProcess;
  readonly missing: Readonly<Record<string, string | null>>;
  ask(name: string): Promise<number>;
}

async function startPeer(file: string, nodes: number): Promise<Peer | null> {
  const python = await findPython("numpy, h5py");
  if (python === null) return null;
  const child = spawn(python, [PEER, file, String(nodes)], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => (await lines.next()).value ?? "";
  const missing = JSON.parse(await next());
  const answer = async (name: string): Promise<number> => {
    child.stdin.write(`${name}\n`);
    return Number((await next()).split(" ")[0]);
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
