/** The service over SOAP on loopback, in a process of its own: throughput of large requests, latency of small ones. */
import { type ChildProcess, spawn } from "node:child_process";
import { Agent, request } from "node:http";
import { availableParallelism, tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { alternate } from "./alternate.js";
import { randomNumbers } from "./field.js";
import { type BenchOptions, quantile, type Row, summarise } from "./row.js";

const BIN = fileURLToPath(new URL("../bin/fieldprobe.js", import.meta.url));
const DATA = fileURLToPath(new URL("../data", import.meta.url));
const NAMESPACE = "http://turbulence.pha.jhu.edu/";
const PERIOD = 2 * Math.PI;

/** A service in a process of its own. */
export interface Started {
  readonly port: number;
  readonly child: ChildProcess;
}

/** Starts the service over the shipped data on a free port. */
export function start(): Promise<Started> {
  const env = { ...process.env, FIELDPROBE_DATA: DATA, FIELDPROBE_STATE: tmpdir(), FIELDPROBE_EVENTS_DB: ":memory:" };
  const child = spawn(process.execPath, [BIN, "serve", "--port", "0"], { env, stdio: ["ignore", "pipe", "ignore"] });
  return new Promise((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`the service ended with ${code}`)));
    child.stdout?.on("data", (text: Buffer) => {
      const port = /listening on http:\/\/[^:]+:(\d+)/.exec(text.toString())?.[1];
      if (port) resolve({ port: Number(port), child });
    });
  });
}

/** A SOAP 1.1 request with random points. */
export function body(operation: string, members: string, points: number, seed: number): Buffer {
  const random = randomNumbers(seed);
  const number = (): string => (random() * PERIOD).toFixed(7);
  const items = Array.from(
    { length: points },
    () => `<Point3><x>${number()}</x><y>${number()}</y><z>${number()}</z></Point3>`,
  );
  return Buffer.from(
    `<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>` +
      `<${operation} xmlns="${NAMESPACE}">${members}<points>${items.join("")}</points></${operation}></soap:Body></soap:Envelope>`,
  );
}

/** The members of GetVelocity before its points. */
export function velocity(method: string, temporal: string): string {
  return (
    `<dataset>isotropic32</dataset><time>0.1</time><spatialInterpolation>${method}</spatialInterpolation>` +
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

/** Latencies of one operation on so many connections, each asking again as soon as it is answered. */
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

/** Rows `service`: points/s of large requests on one connection, p50 and p99 in ms of small ones on eight. */
export async function benchService({ quick }: BenchOptions): Promise<Row[]> {
  const { port, child } = await start();
  try {
    const points = quick ? 20_000 : 100_000;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const large = [
      ["NullOp", body("NullOp", "", points, 1)],
      ["GetVelocity Lag8", body("GetVelocity", velocity("Lag8", "None"), points, 1)],
    ] as const;
    const rows = await alternate(
      large.map(([name, payload]) => ({
        run: async () => points / ((await post(port, agent, payload)) / 1000),
        row: {
          bench: "service",
          case: name,
          backend: "fieldprobe",
          unit: "points/s",
          params: { points, connections: 1, workers: availableParallelism() },
        },
      })),
      quick ? 5 : 15,
    );
    agent.destroy();
    const small = [
      ["NullOp", body("NullOp", "", 50, 2)],
      ["GetVelocity Lag6 PCHIP", body("GetVelocity", velocity("Lag6", "PCHIP"), 50, 2)],
    ] as const;
    const rounds = quick ? 1 : 5;
    const seconds = quick ? 2 : 6;
    const figures = new Map<string, number[]>();
    for (let round = -1; round < rounds; round++) {
      for (const [name, payload] of small) {
        const samples = await latencies(port, payload, 8, round < 0 ? 1 : seconds);
        if (round < 0) continue;
        for (const [label, q] of [
          ["p50", 0.5],
          ["p99", 0.99],
        ] as const) {
          const key = `${name}, ${label}`;
          figures.set(key, [...(figures.get(key) ?? []), quantile(samples, q)]);
        }
      }
    }
    for (const [name, samples] of figures) {
      const params = { points: 50, connections: 8, workers: availableParallelism(), seconds };
      rows.push({ bench: "service", case: name, backend: "fieldprobe", unit: "ms", params, ...summarise(samples) });
    }
    return rows;
  } finally {
    child.removeAllListeners("exit");
    child.kill("SIGTERM");
  }
}
