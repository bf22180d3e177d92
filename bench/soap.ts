/** `npm run bench:soap`: the SOAP facade against gSOAP and the `soap` package, in turn in one run; memory and turns. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { inTurn } from "./alternate.js";
import { checkSame } from "./ask.js";
import { type Row, readOptions, report, summarise } from "./row.js";
import { body, numbersOf } from "./service.bench.js";
import { cpuSeconds, nullOpRequest, open, resetPeak, residentBytes } from "./soap-load.js";

const MIB = 2 ** 20;
/** Points of bulk requests, with how many requests make a round. */
const BULK: readonly (readonly [points: number, requests: number])[] = [
  [1_000, 200],
  [100_000, 5],
  [1_000_000, 1],
];
const LARGE_POINTS = 1_000_000;
const CONNECTIONS = 16;
const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Values of SOAP_IO in gSOAP: flushed at once, buffered, stored, chunked. */
const GSOAP_MODES = ["0", "1", "2", "3"];

interface Server {
  readonly name: string;
  readonly process: ChildProcess;
  readonly pid: number;
  readonly port: number;
}

/** Starts a program and takes the port from the first line that has one at its end. */
async function start(
  name: string,
  program: string,
  words: readonly string[],
  input = "",
  env: NodeJS.ProcessEnv = process.env,
): Promise<Server> {
  const child = spawn(program, words, { stdio: ["pipe", "pipe", "ignore"], env });
  child.stdin.end(input);
  for await (const line of createInterface({ input: child.stdout })) {
    const port = /(\d+)$/.exec(line)?.[1];
    if (port === undefined) continue;
    // Log lines go on; nobody may wait for a full pipe.
    setImmediate(() => child.stdout.resume());
    return { name, process: child, pid: child.pid as number, port: Number(port) };
  }
  throw new Error(`${name} did not start`);
}

function startOurs(folder: string): Promise<Server> {
  const settings = { FIELDPROBE_PORT: "0", FIELDPROBE_STATE: folder, FIELDPROBE_DATA: at("../data") };
  return start("fieldprobe", process.execPath, [at("../bin/fieldprobe.js"), "serve"], "", {
    ...process.env,
    ...settings,
  });
}

/** Compiles the gSOAP server from our description, as fast as gcc makes it; null, with the reason, where tools or headers are missing. */
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

/** Starts the gSOAP server in the I/O mode that costs least in three tries each, in turns. */
async function startFastest(program: string, cost: (server: Server) => Promise<number>): Promise<Server> {
  const modes = await Promise.all(GSOAP_MODES.map((mode) => start("gsoap", program, [mode])));
  try {
    await Promise.all(modes.map(checkEcho));
    const samples = await inTurn(
      modes.map((server) => () => cost(server)),
      3,
    );
    const costs = samples.map((tries) => Math.min(...tries));
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

/** CPU microseconds per point of one round of bulk requests. */
async function cpuPerPoint({ pid, port }: Server, points: number, requests: number): Promise<number> {
  const connection = await open(port);
  const request = nullOpRequest(points);
  for (let i = 0; i < requests; i++) await connection.ask(request);
  const before = cpuSeconds(pid);
  for (let i = 0; i < requests; i++) await connection.ask(request);
  const used = cpuSeconds(pid) - before;
  connection.close();
  return (1e6 * used) / (requests * points);
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

/** Measures all servers in turn, so that a busy machine is busy for all of them; samples by the name of the server. */
async function measureAll<T>(
  servers: readonly Server[],
  rounds: number,
  measure: (server: Server) => Promise<T>,
): Promise<Map<string, T[]>> {
  const samples = await inTurn<T>(
    servers.map((server) => () => measure(server)),
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
    params: { limitMs: 50 },
  };
}

const options = readOptions();
const folder = mkdtempSync(join(tmpdir(), "fieldprobe-bench-"));
const servers: Server[] = [];
try {
  const ours = await startOurs(folder);
  servers.push(ours);
  const wsdl = await (await fetch(`http://127.0.0.1:${ours.port}/service/turbulence.asmx?wsdl`)).text();
  const memory = await memoryRows(ours, options.quick ? 2 : 5);
  const program = compileGsoap(folder, wsdl);
  const rounds = options.quick ? 3 : 9;
  const bulk: Row[] = [];
  for (const [points, requests] of BULK) {
    const contestants = [ours];
    if (program) {
      contestants.push(await startFastest(program, (server) => cpuPerPoint(server, points, requests)));
      servers.push(...contestants.slice(1));
    }
    await checkEcho(ours);
    const cpu = await measureAll(contestants, rounds, (server) => cpuPerPoint(server, points, requests));
    bulk.push(...rowsOf("NullOp CPU per point", "us", { points, connections: 1 }, cpu));
    for (const { process: child } of contestants.slice(1)) child.kill();
  }
  const contestants = [ours];
  if (program) contestants.push(await startFastest(program, async (server) => (await requestRound(server, 0.5)).cpu));
  contestants.push(await start("soap", process.execPath, [at("soap-server.js")], wsdl));
  servers.push(...contestants.slice(1));
  await checkEcho(contestants.at(-1) as Server);
  for (const server of contestants) await requestRound(server, 1);
  const requests = await measureAll(contestants, rounds, (server) => requestRound(server, options.quick ? 1 : 3));
  const figure = (name: "rate" | "cpu") =>
    new Map([...requests].map(([server, figures]) => [server, figures.map((found) => found[name])]));
  report(
    [
      ...bulk,
      ...rowsOf("NullOp requests", "1/s", { points: 1, connections: CONNECTIONS }, figure("rate")),
      ...rowsOf("NullOp CPU per request", "us", { points: 1, connections: CONNECTIONS }, figure("cpu")),
      ...memory,
      await turnRow(ours),
    ],
    options,
  );
} finally {
  for (const { process: child } of servers) child.kill();
  rmSync(folder, { recursive: true, force: true });
}
