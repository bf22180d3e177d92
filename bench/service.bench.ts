/** The service over SOAP on loopback, in a process of its own: throughput of large requests, latency of small ones. */
import { type ChildProcess, spawn } from "node:child_process";
import { Agent, request } from "node:http";
import { availableParallelism, tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import type { Engine } from "../dist/engine/contract/query.js";
import { alternate, type Comparison, type Contestant, inTurn } from "./alternate.js";
import { ask, checkSame, openOn } from "./ask.js";
import { randomNumbers } from "./field.js";
import { type BenchOptions, quantile, type Row, ratioRow, summarise } from "./row.js";

const BIN = fileURLToPath(new URL("../bin/fieldprobe.js", import.meta.url));
const DATA = fileURLToPath(new URL("../data/isotropic32", import.meta.url));
const NAMESPACE = "http://turbulence.pha.jhu.edu/";
const PERIOD = 2 * Math.PI;
/** As the wire has it: a float32. */
const TIME = Math.fround(0.1);
const SEED = 1;
const CACHE_BYTES = 256 * 1024 * 1024;

/** A service in a process of its own. */
export interface Started {
  readonly port: number;
  readonly child: ChildProcess;
}

/** Starts the service over a folder of data on a free port. */
export function start(data = DATA): Promise<Started> {
  const settings = { FIELDPROBE_DATA: data, FIELDPROBE_STATE: tmpdir(), FIELDPROBE_EVENTS: "off" };
  const env = { ...process.env, ...settings, FIELDPROBE_CACHE_BYTES: String(CACHE_BYTES) };
  const child = spawn(process.execPath, [BIN, "serve", "--port", "0"], { env, stdio: ["ignore", "pipe", "ignore"] });
  return new Promise((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`the service ended with ${code}`)));
    child.stdout?.on("data", (text: Buffer) => {
      const port = /listening on http:\/\/[^:]+:(\d+)/.exec(text.toString())?.[1];
      if (port) resolve({ port: Number(port), child });
    });
  });
}

/** Random coordinates of points, as `body` writes them. */
export function coordinates(points: number, seed: number): string[] {
  const random = randomNumbers(seed);
  return Array.from({ length: 3 * points }, () => (random() * PERIOD).toFixed(7));
}

/** A SOAP 1.1 request with random points. */
export function body(operation: string, members: string, points: number, seed: number): Buffer {
  const at = coordinates(points, seed);
  const items = Array.from(
    { length: points },
    (_, i) => `<Point3><x>${at[3 * i]}</x><y>${at[3 * i + 1]}</y><z>${at[3 * i + 2]}</z></Point3>`,
  );
  return Buffer.from(
    `<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>` +
      `<${operation} xmlns="${NAMESPACE}">${members}<points>${items.join("")}</points></${operation}></soap:Body></soap:Envelope>`,
  );
}

/** The members of GetVelocity before its points. */
export function velocity(method: string, temporal: string): string {
  return (
    `<dataset>isotropic32</dataset><time>${TIME}</time><spatialInterpolation>${method}</spatialInterpolation>` +
    `<temporalInterpolation>${temporal}</temporalInterpolation>`
  );
}

/** Posts a body and reads the whole answer; milliseconds. */
function post(port: number, agent: Agent, payload: Buffer): Promise<number> {
  const begin = performance.now();
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "text/xml; charset=utf-8", "content-length": payload.length };
    const sent = request({ port, agent, headers, host: "127.0.0.1", method: "POST", path: "/service/turbulence.asmx" });
    sent.once("error", reject);
    sent.once("response", (response) => {
      if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`));
      response.resume();
      response.once("end", () => resolve(performance.now() - begin));
    });
    sent.end(payload);
  });
}

/** Latencies of requests in turn on some connections, each asking again as soon as it is answered. */
async function latencies(port: number, payload: Buffer, connections: number, seconds: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const samples: number[] = [];
  const end = performance.now() + seconds * 1000;
  const loop = async (): Promise<void> => {
    while (performance.now() < end) samples.push(await post(port, agent, payload));
  };
  await Promise.all(Array.from({ length: connections }, loop));
  agent.destroy();
  return samples;
}

/** The coordinates of a SOAP answer, in order. */
export async function numbersOf(port: number, payload: Buffer): Promise<Float32Array> {
  const headers = { "content-type": "text/xml; charset=utf-8" };
  const asked = { method: "POST", headers, body: new Uint8Array(payload) };
  const answer = await (await fetch(`http://127.0.0.1:${port}/service/turbulence.asmx`, asked)).text();
  return Float32Array.from(answer.matchAll(/<(?:\w+:)?[xyz]>([^<]*)</g), ([, number]) => Number(number));
}

/** The questions to the service and, the same, to an engine in this process. */
interface Asked {
  readonly name: string;
  readonly payload: Buffer;
  readonly answers: () => Promise<{ numbers: Float32Array; milliseconds: number }>;
}

function velocityOf(engine: Engine, method: "Lag6" | "Lag8", temporal: "None" | "PCHIP", points: number): Asked {
  const query = {
    operation: "GetVelocity",
    dataset: "isotropic32",
    time: TIME,
    spatialInterpolation: method,
    temporalInterpolation: temporal,
  } as const;
  const positions = Float32Array.from(coordinates(points, SEED), Number);
  return {
    name: `GetVelocity ${method}${temporal === "PCHIP" ? " PCHIP" : ""}`,
    payload: body("GetVelocity", velocity(method, temporal), points, SEED),
    async answers() {
      let numbers: Float32Array = new Float32Array();
      const { milliseconds } = await ask(engine, query, positions, (values) => {
        numbers = values;
      });
      return { numbers, milliseconds };
    },
  };
}

function nullOp(points: number): Asked {
  const numbers = Float32Array.from(coordinates(points, SEED), Number);
  return {
    name: "NullOp",
    payload: body("NullOp", "", points, SEED),
    answers: async () => ({ numbers, milliseconds: 0 }),
  };
}

/** Fails unless the service answers what the engine does, to the last bit. */
async function checkAnswers(port: number, asked: readonly Asked[]): Promise<void> {
  for (const { name, payload, answers } of asked)
    checkSame(name, await numbersOf(port, payload), (await answers()).numbers);
}

/** Points/s of large requests on one connection; GetVelocity against NullOp; how far decoding and computing overlap. */
async function throughput(port: number, engine: Engine, quick: boolean): Promise<Row[]> {
  const points = quick ? 20_000 : 100_000;
  const asked = [
    nullOp(points),
    velocityOf(engine, "Lag8", "None", points),
    velocityOf(engine, "Lag8", "PCHIP", points),
  ];
  await checkAnswers(port, asked);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const params = { points, connections: 1, workers: availableParallelism() };
  const row = { bench: "service", unit: "points/s", params } as const;
  const overSoap = asked.map(
    ({ name, payload }): Contestant => ({
      run: async () => points / ((await post(port, agent, payload)) / 1000),
      row: { ...row, case: name, backend: "fieldprobe" },
    }),
  );
  const [none, ...others] = overSoap as [Contestant, ...Contestant[]];
  const comparisons = others.map((over): Comparison => ({ case: over.row.case, unit: "of NullOp", over, under: none }));
  const rows = await alternate(overSoap, quick ? 5 : 15, quick, comparisons);
  // Were nothing done at the same time, a request would take as long as NullOp and the engine's work one after the
  // other.
  const last = asked[2] as Asked;
  const [empty, whole, engineOnly] = await inTurn<number>(
    [
      () => post(port, agent, (asked[0] as Asked).payload),
      () => post(port, agent, last.payload),
      async () => (await last.answers()).milliseconds,
    ],
    quick ? 5 : 15,
  );
  agent.destroy();
  const sums = (empty ?? []).map((time, round) => time + (engineOnly?.[round] as number));
  const overlap = { bench: "service", case: `${last.name}, time`, unit: "of NullOp plus engine", params };
  return [...rows, ratioRow(overlap, whole ?? [], sums)];
}

/** p50 and p99 in ms of small requests on eight connections, and their ratios round by round. */
async function latency(port: number, none: Asked, some: Asked, quick: boolean): Promise<Row[]> {
  const asked = [none, some];
  await checkAnswers(port, asked);
  const seconds = quick ? 0.6 : 6;
  const load = ({ payload }: Asked, duration: number) => latencies(port, payload, 8, duration);
  for (const one of asked) await load(one, quick ? 0.5 : 2);
  const samples = await inTurn(
    asked.map((one) => () => load(one, seconds)),
    quick ? 3 : 5,
  );
  const params = { points: 50, connections: 8, workers: availableParallelism(), seconds };
  const figures = samples.map((rounds) => ({
    p50: rounds.map((times) => quantile(times, 0.5)),
    p99: rounds.map((times) => quantile(times, 0.99)),
  }));
  const names = [none.name, some.name] as const;
  const rows = names.flatMap((name, i) =>
    (["p50", "p99"] as const).map((label): Row => {
      const row = { bench: "service", case: `${name}, ${label}`, backend: "fieldprobe", unit: "ms", params };
      return { ...row, ...summarise(figures[i]?.[label] ?? []) };
    }),
  );
  const [empty, full] = figures as [(typeof figures)[number], (typeof figures)[number]];
  const ratio = { bench: "service", params } as const;
  return [
    ...rows,
    ratioRow({ ...ratio, case: `${names[1]}, p50`, unit: "of NullOp's p50" }, full.p50, empty.p50),
    ratioRow({ ...ratio, case: `${names[1]}, p99`, unit: "of its p50" }, full.p99, full.p50),
  ];
}

/** Rows `service`: large requests on one connection, small ones on eight. */
export async function benchService({ quick }: BenchOptions): Promise<Row[]> {
  const { port, child } = await start(DATA);
  const engine = await openOn(DATA, availableParallelism(), CACHE_BYTES);
  try {
    return [
      ...(await throughput(port, engine, quick)),
      ...(await latency(port, nullOp(50), velocityOf(engine, "Lag6", "PCHIP", 50), quick)),
    ];
  } finally {
    await engine.close(1000);
    child.removeAllListeners("exit");
    child.kill("SIGTERM");
  }
}
