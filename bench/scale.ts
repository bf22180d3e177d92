/**
 * `npm run bench:scale`: points per second over SOAP against worker threads and against points in flight.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { inTurn } from "./alternate.js";
import { type Row, readOptions, report, summarise } from "./row.js";
import { type Server, startOurs } from "./server-process.js";
import { velocity } from "./service.bench.js";
import { nullOpRequest, open } from "./soap-load.js";

/** A question: the name of the case, the operation and its members. */
const QUESTIONS = [
  ["NullOp", "NullOp", ""],
  ["GetVelocity Lag8", "GetVelocity", velocity("Lag8", "None")],
  ["GetVelocity Lag8 PCHIP", "GetVelocity", velocity("Lag8", "PCHIP")],
] as const;
const POINTS = 100_000;
/** Connections, and points of each request, that make the points in flight. */
const IN_FLIGHT: readonly (readonly [connections: number, points: number])[] = [
  [1, 10],
  [1, 100],
  [1, 1_000],
  [1, 10_000],
  [1, 100_000],
  [4, 100_000],
  [16, 100_000],
];

/** Nanoseconds a point while each connection repeats its request. */
async function nanoseconds(
  { port }: Server,
  request: Buffer,
  points: number,
  connections: number,
  times: number,
): Promise<number> {
  const opened = await Promise.all(Array.from({ length: connections }, () => open(port)));
  const since = performance.now();
  await Promise.all(
    opened.map(async (connection) => {
      for (let i = 0; i < times; i++) await connection.ask(request);
    }),
  );
  const took = performance.now() - since;
  for (const connection of opened) connection.close();
  return (1e6 * took) / (points * connections * times);
}

/** Rows of contestants that are measured in turn; the first round is not counted. */
async function measure(
  contestants: readonly { row: Omit<Row, "value" | "spread" | "rounds">; run: () => Promise<number> }[],
  rounds: number,
): Promise<Row[]> {
  const samples = await inTurn(
    contestants.map(({ run }) => run),
    rounds + 1,
  );
  return contestants.map(({ row }, i) => ({ ...row, ...summarise((samples[i] as number[]).slice(1)) }));
}

/** Worker threads to measure: powers of two, and one for each core. */
function workerCounts(): number[] {
  const cores = availableParallelism();
  const powers = Array.from({ length: Math.floor(Math.log2(cores)) + 1 }, (_, i) => 2 ** i);
  return [...new Set([...powers, cores])];
}

const about = { bench: "scale", backend: "fieldprobe", unit: "ns/point" } as const;

async function byWorkers(folder: string, rounds: number): Promise<Row[]> {
  const counts = workerCounts();
  const servers = await Promise.all(counts.map((count) => startOurs(mkdtempSync(join(folder, "state-")), count)));
  try {
    const contestants = QUESTIONS.flatMap(([name, operation, members]) => {
      const request = nullOpRequest(POINTS, operation, members);
      return servers.map((server, i) => ({
        row: { ...about, case: name, params: { workers: counts[i] as number, points: POINTS, connections: 2 } },
        run: () => nanoseconds(server, request, POINTS, 2, 1),
      }));
    });
    return await measure(contestants, rounds);
  } finally {
    for (const { process: child } of servers) child.kill();
  }
}

async function byPointsInFlight(folder: string, rounds: number): Promise<Row[]> {
  const server = await startOurs(mkdtempSync(join(folder, "state-")));
  try {
    const contestants = QUESTIONS.flatMap(([name, operation, members]) =>
      IN_FLIGHT.map(([connections, points]) => {
        const request = nullOpRequest(points, operation, members);
        const times = Math.max(1, Math.min(100, Math.floor(POINTS / points)));
        return {
          row: { ...about, case: name, params: { inFlight: connections * points, points, connections } },
          run: () => nanoseconds(server, request, points, connections, times),
        };
      }),
    );
    return await measure(contestants, rounds);
  } finally {
    server.process.kill();
  }
}

const options = readOptions();
const rounds = options.quick ? 3 : 7;
const folder = mkdtempSync(join(tmpdir(), "fieldprobe-bench-"));
try {
  report([...(await byWorkers(folder, rounds)), ...(await byPointsInFlight(folder, rounds))], options);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
