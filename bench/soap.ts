/** `npm run bench:soap`: the SOAP facade against gSOAP and the `soap` package, in turn in one run; memory and turns. */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inTurn } from "./alternate.js";
import { checkSame } from "./ask.js";
import { printRow, type Row, ratioRow, readOptions, summarise, writeRows } from "./row.js";
import { type Server, start, startOurs } from "./server-process.js";
import { body, numbersOf } from "./service.bench.js";
import { cpuSeconds, nullOpRequest, open, resetPeak, residentBytes, threadSeconds } from "./soap-load.js";

const MIB = 2 ** 20;
const BULK_POINTS = 100_000;
const LARGE_POINTS = 1_000_000;
/** Points of bulk requests, with how many requests make a round. */
const BULK: readonly (readonly [points: number, requests: number])[] = [
  [1_000, 200],
  [BULK_POINTS, 5],
  [LARGE_POINTS, 1],
];
const CONNECTIONS = 16;
const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Values of SOAP_IO in gSOAP: flushed at once, buffered, stored, chunked. */
const GSOAP_MODES = ["0", "1", "2", "3"];

/**
 * Compiles the gSOAP server from our description, as fast as gcc makes it; null, with the reason, if tools or
 * headers are missing.
 */
function compileGsoap(folder: string, wsdl: string): string | null {
  writeFileSync(join(folder, "service.wsdl"), wsdl);
  const sources = [at("../bench/peers/gsoap-server.c"), "soapC.c", "soapServer.c"];
  for (const [program, words] of [
    ["wsdl2h", ["-c", "-o", "service.h", "service.wsdl"]],
    ["soapcpp2", ["-c", "-S", "-x", "-L", "service.h"]],
    ["gcc", ["-O3", "-march=native", "-I", folder, "-o", "server", ...sources, "-lgsoap", "-lpthread"]],
  ] as const) {
    const { error, status, stderr } = spawnSync(program, words, { cwd: folder, encoding: "utf8" });
    if (status === 0) continue;
    const reason = error ? error.message : (/error: (.*)/.exec(stderr)?.[1] ?? stderr.slice(0, 200));
    process.stdout.write(`skipped: gsoap (${program}: ${reason})\n`);
    return null;
  }
  return join(folder, "server");
}

/** Starts the gSOAP server in the I/O mode that costs least, after some tries of each in turns. */
async function startFastest(
  program: string,
  tries: number,
  cost: (server: Server) => Promise<number>,
): Promise<Server> {
  const modes = await Promise.all(GSOAP_MODES.map((mode) => start("gsoap", program, [mode])));
  try {
    await Promise.all(modes.map(checkEcho));
    const samples = await inTurn(
      modes.map((server) => () => named(server, cost)),
      tries,
    );
    const costs = samples.map((costs) => Math.min(...costs));
    const best = modes[costs.indexOf(Math.min(...costs))] as Server;
    process.stdout.write(
      `gsoap: I/O mode ${GSOAP_MODES[modes.indexOf(best)]} of ${costs.map((c) => c.toFixed(2)).join(", ")} us\n`,
    );
    for (const server of modes) if (server !== best) server.process.kill();
    return best;
  } catch (error) {
    for (const server of modes) server.process.kill();
    throw error;
  }
}

/**
 * CPU microseconds per point of one round of bulk requests: those of all threads, and of the main thread alone. The
 * request is given: to make one of a million points takes longer than a server waits for a connection to ask something.
 */
async function cpuPerPoint(
  { pid, port }: Server,
  request: Buffer,
  points: number,
  requests: number,
): Promise<{ all: number; main: number }> {
  const connection = await open(port);
  await connection.ask(request);
  const before = threadSeconds(pid);
  for (let i = 0; i < requests; i++) await connection.ask(request);
  const after = threadSeconds(pid);
  connection.close();
  const each = 1e6 / (requests * points);
  return { all: each * (after.all - before.all), main: each * (after.main - before.main) };
}

/** One round at one point per request: requests per second, and CPU microseconds that each costs its server. */
async function requestRound({ pid, port }: Server, seconds: number): Promise<{ rate: number; cpu: number }> {
  const request = nullOpRequest(1);
  const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => open(port)));
  const since = performance.now();
  const before = cpuSeconds(pid);
  let count = 0;
  await Promise.all(
    connections.map(async (connection) => {
      while (performance.now() - since < 1000 * seconds) {
        await connection.ask(request);
        count++;
      }
    }),
  );
  const rate = (1000 * count) / (performance.now() - since);
  const cpu = (1e6 * (cpuSeconds(pid) - before)) / count;
  for (const connection of connections) connection.close();
  return { rate, cpu };
}

/** Measures a server; an error names it, and says whether it still runs. */
async function named<T>(server: Server, measure: (server: Server) => Promise<T>): Promise<T> {
  try {
    return await measure(server);
  } catch (cause) {
    // The end of a process is told a moment after that of its connections.
    await new Promise((resolve) => setTimeout(resolve, 200));
    throw new Error(`${server.name} could not be measured; ${server.end() || "it still runs"}`, { cause });
  }
}

/** Measures all servers in turn, so that a busy machine is busy for all of them; samples by the name of the server. */
async function measureAll<T>(
  servers: readonly Server[],
  rounds: number,
  measure: (server: Server) => Promise<T>,
): Promise<Map<string, T[]>> {
  const samples = await inTurn<T>(
    servers.map((server) => () => named(server, measure)),
    rounds,
  );
  return new Map(servers.map(({ name }, i) => [name, samples[i] as T[]]));
}

/** Fails unless a server answers a request of three points with these points. */
async function checkEcho({ name, port }: Server): Promise<void> {
  const payload = body("NullOp", "", 3, 1);
  const sent = Float32Array.from(payload.toString().matchAll(/<[xyz]>([^<]*)</g), ([, number]) => Number(number));
  checkSame(name, sent, await numbersOf(port, payload));
}

function rowsOf(
  name: string,
  unit: string,
  params: Row["params"],
  figures: ReadonlyMap<string, readonly number[]>,
): Row[] {
  const ours = figures.get("fieldprobe") ?? [];
  return [...figures].flatMap(([backend, rounds]) => {
    const row = { bench: "soap", case: name, backend, unit, params, ...summarise(rounds) };
    if (backend === "fieldprobe") return [row];
    const ratios = rounds.map((value, i) => (ours[i] as number) / value);
    return [row, { bench: "soap", case: `${name} ours/peer`, backend, unit: "ratio", params, ...summarise(ratios) }];
  });
}

/** R122: peak resident memory above idle while one request of a million points is served. */
async function memoryRows(server: Server, rounds: number): Promise<Row[]> {
  const members =
    "<dataset>isotropic32</dataset><time>0.1</time><spatialInterpolation>Lag4</spatialInterpolation><temporalInterpolation>None</temporalInterpolation>";
  const rows: Row[] = [];
  for (const [operation, content] of [
    ["NullOp", ""],
    ["GetVelocity", members],
  ] as const) {
    const request = nullOpRequest(LARGE_POINTS, operation, content);
    const small = nullOpRequest(20_000, operation, content);
    const figures: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const connection = await open(server.port);
      await connection.ask(small);
      await new Promise((resolve) => setTimeout(resolve, 500));
      resetPeak(server.pid);
      const idle = residentBytes(server.pid).now;
      await connection.ask(request);
      figures.push((residentBytes(server.pid).peak - idle) / MIB);
      connection.close();
    }
    const params = {
      points: LARGE_POINTS,
      requestBytes: request.length,
      limitMiB: Math.round((40 * LARGE_POINTS) / MIB) + 64,
    };
    rows.push({
      bench: "soap",
      case: `${operation} peak memory`,
      backend: "fieldprobe",
      unit: "MiB",
      params,
      ...summarise(figures),
    });
  }
  return rows;
}

/** R124: the longest turn the service has measured. */
async function turnRow({ port }: Server): Promise<Row> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const seconds = Number(/^fieldprobe_longest_turn_seconds (\S+)/m.exec(text)?.[1]);
  return {
    bench: "soap",
    case: "longest turn",
    backend: "fieldprobe",
    unit: "ms",
    value: 1000 * seconds,
    spread: 0,
    rounds: 1,
    params: { limitMs: 10 },
  };
}

/** Bulk NullOp against gSOAP in its best mode for each size: CPU of all threads and of the main thread, a point. */
async function* bulkRows(ours: Server, program: string | null, quick: boolean): AsyncGenerator<Row[]> {
  for (const [points, requests] of BULK) {
    const tries = quick ? 1 : 2;
    const request = nullOpRequest(points);
    const best =
      program === null
        ? null
        : await startFastest(program, tries, async (server) => (await cpuPerPoint(server, request, points, 1)).all);
    const contestants = best ? [ours, best] : [ours];
    try {
      const used = await measureAll(contestants, quick ? 3 : 7, (server) =>
        cpuPerPoint(server, request, points, requests),
      );
      const params = { points, connections: 1 };
      const figure = (name: "all" | "main") =>
        new Map([...used].map(([server, found]) => [server, found.map((one) => one[name])]));
      const main = new Map([["fieldprobe", figure("main").get("fieldprobe") as number[]]]);
      yield [
        ...rowsOf("NullOp CPU per point", "us", params, figure("all")),
        ...rowsOf("NullOp CPU of the main thread", "us/point", params, main),
      ];
    } finally {
      best?.process.kill();
    }
  }
}

/** Figures of `paced-load`, times in milliseconds. */
interface PacedLoad {
  /** Requests answered a second. */
  readonly rate: number;
  /** From the moment at which a request was due to the end of its answer: the median, and of 99 of 100 at most. */
  readonly p50: number;
  /** In the median of windows of a thousand requests. */
  readonly p99: number;
  readonly all99: number;
  /** By which the program woke late. */
  readonly late: number;
}

/** Compiles the program that asks at equal intervals; null, with the reason, if gcc is missing. */
function compilePacedLoad(folder: string): string | null {
  const program = join(folder, "paced-load");
  const words = ["-O2", "-D_GNU_SOURCE", "-o", program, at("../bench/peers/paced-load.c"), "-lm"];
  const { error, status, stderr } = spawnSync("gcc", words, { encoding: "utf8" });
  if (status === 0) return program;
  process.stdout.write(`skipped: half load (gcc: ${error?.message ?? stderr.slice(0, 200)})\n`);
  return null;
}

/** Asks a server; `rate` 0: as fast as it answers. */
function askPaced(program: string, port: number, rate: number, count: number): Promise<PacedLoad> {
  const child = spawn(program, [port, rate, count, CONNECTIONS].map(String), { stdio: ["pipe", "pipe", "inherit"] });
  let text = "";
  child.stdout.on("data", (part: Buffer) => {
    text += part.toString();
  });
  child.stdin.end(nullOpRequest(1));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => (code === 0 ? resolve(JSON.parse(text)) : reject(new Error(`paced-load: ${code}`))));
  });
}

/**
 * Requests of one point at half the rate that each server reaches, asked by a program in C that sleeps in between: how
 * long callers wait, and how much longer the slowest of a hundred. A generator in Node has pauses of its own, which are
 * longer than these times.
 */
async function halfLoadRows(servers: readonly Server[], folder: string, quick: boolean): Promise<Row[]> {
  const program = compilePacedLoad(folder);
  if (program === null) return [];
  const seconds = quick ? 0.5 : 2;
  const used = await measureAll(servers, quick ? 3 : 7, async ({ port }) => {
    const { rate } = await askPaced(program, port, 0, 10_000 * seconds);
    return { ...(await askPaced(program, port, rate / 2, Math.ceil((rate / 2) * seconds))), most: rate };
  });
  const params = { points: 1, connections: CONNECTIONS, load: 0.5 };
  const figure = (name: "most" | "p50" | "p99" | "all99" | "late") =>
    new Map([...used].map(([server, found]) => [server, found.map((one) => one[name])]));
  const ofMedian = (name: "p99" | "all99", title: string): Row[] =>
    [...figure(name)].map(([server, values]) => ({
      ...ratioRow(
        { bench: "soap", case: title, unit: "of its p50", params },
        values,
        figure("p50").get(server) as number[],
      ),
      backend: server,
    }));
  const late = rowsOf("NullOp at half load, generator late", "ms", params, figure("late"));
  return [
    ...rowsOf("NullOp requests, asked from C", "1/s", params, figure("most")),
    ...rowsOf("NullOp at half load, p50", "ms", params, figure("p50")),
    ...ofMedian("p99", "NullOp at half load, p99"),
    ...ofMedian("all99", "NullOp at half load, p99 with the machine's pauses"),
    ...late.filter(({ unit }) => unit === "ms"),
  ];
}

/** Requests of one point from many connections, against gSOAP and the `soap` package. */
async function requestRows(
  ours: Server,
  program: string | null,
  folder: string,
  wsdl: string,
  quick: boolean,
): Promise<Row[]> {
  const seconds = quick ? 0.5 : 2;
  const contestants = [ours];
  try {
    if (program)
      contestants.push(await startFastest(program, 1, async (server) => (await requestRound(server, 0.5)).cpu));
    contestants.push(await start("soap", process.execPath, [at("soap-server.js")], wsdl));
    await checkEcho(contestants.at(-1) as Server);
    for (const server of contestants) await requestRound(server, seconds);
    const requests = await measureAll(contestants, quick ? 3 : 7, (server) => requestRound(server, seconds));
    const figure = (name: "rate" | "cpu") =>
      new Map([...requests].map(([server, figures]) => [server, figures.map((found) => found[name])]));
    const params = { points: 1, connections: CONNECTIONS };
    return [
      ...rowsOf("NullOp requests", "1/s", params, figure("rate")),
      ...rowsOf("NullOp CPU per request", "us", params, figure("cpu")),
      ...(await halfLoadRows(contestants, folder, quick)),
    ];
  } finally {
    for (const { process: child } of contestants.slice(1)) child.kill();
  }
}

const options = readOptions();
const { quick } = options;
const folder = mkdtempSync(join(tmpdir(), "fieldprobe-bench-"));
const ours = await startOurs(mkdtempSync(join(folder, "state-")));
const rows: Row[] = [];
/** Prints rows as soon as they are there: a run of minutes may be ended before its end. */
const add = (found: readonly Row[]): void => {
  for (const row of found) printRow(row);
  rows.push(...found);
};
try {
  await checkEcho(ours);
  const wsdl = await (await fetch(`http://127.0.0.1:${ours.port}/service/turbulence.asmx?wsdl`)).text();
  const program = compileGsoap(folder, wsdl);
  add(await memoryRows(ours, quick ? 2 : 5));
  for await (const found of bulkRows(ours, program, quick)) add(found);
  add(await requestRows(ours, program, folder, wsdl, quick));
  add([await turnRow(ours)]);
  writeRows(rows, options);
} finally {
  ours.process.kill();
  rmSync(folder, { recursive: true, force: true });
}
