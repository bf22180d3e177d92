/** Measures the memory of a service that answers box filters close to `query.filterSamples`. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { LIMITS } from "../dist/shared/config.js";
import { writeCube } from "../dist/tools/generate/cube.js";
import { randomNumbers } from "./field.js";
import type { BenchOptions, Row } from "./row.js";
import { type Server, start } from "./server-process.js";
import { resetPeak, residentBytes } from "./soap-load.js";

const BIN = fileURLToPath(new URL("../bin/fieldprobe.js", import.meta.url));
const NODES = 128;
const PERIOD = 2 * Math.PI;
const MIB = 2 ** 20;
const CACHE_BYTES = 256 * MIB;
/** Queries at a time, in rows where time slices of several take turns on a thread. */
const AT_ONCE = 4;

/** A box filter: members of its query, evaluations and records per point. */
interface Case {
  readonly operation: string;
  readonly about: Readonly<Record<string, number>>;
  readonly members: Readonly<Record<string, string>>;
  readonly samples: number;
  readonly records: number;
}

/** A filter over cubes of `width` nodes. */
function overNodes(operation: string, width: number): Case {
  const members = { time: "0", field: "u", filterwidth: String((width * PERIOD) / NODES) };
  const differences = operation === "GetBoxFilterGradient";
  return {
    ...{ operation, about: { width }, records: 1 },
    members: differences ? { ...members, spacing: String((2 * PERIOD) / NODES) } : members,
    samples: (differences ? 6 : 1) * width ** 3,
  };
}

/** A filter over a cube of `2 ** halvings` leaves an edge, in `nlayers` layers. */
function overLeaves(operation: string, halvings: number, nlayers: number): Case {
  const filterlength = String((2 ** halvings * PERIOD) / NODES);
  return {
    ...{ operation, about: { leaves: 2 ** halvings, layers: nlayers }, samples: 8 ** halvings },
    members: { time: "0", filterlength, nlayers: String(nlayers), temporalInterpolation: "None" },
    records: (8 ** nlayers - 1) / 7,
  };
}

const CASES: readonly Case[] = [
  overNodes("GetBoxFilter", 7),
  overNodes("GetBoxFilter", 101),
  overNodes("GetBoxFilterSGSsymtensor", 31),
  overNodes("GetBoxFilterSGSsymtensor", 101),
  overNodes("GetBoxFilterGradient", 15),
  overLeaves("GetBoxFilterVelocity", 7, 1),
  overLeaves("GetBoxFilterVelocityGradient", 7, 7),
  overLeaves("GetBoxFilterSGSStress", 7, 7),
  overLeaves("GetBoxFilterSGSStress", 9, 3),
];

/** As many points as the limits take. */
function mostPoints({ samples, records }: Case): number {
  return Math.floor(Math.min(LIMITS["query.filterSamples"] / samples, LIMITS["query.points"] / records));
}

/** Asks over `/api` with octets in and out, and lets the answer go by. */
async function ask({ port }: Server, one: Case, points: number, seed: number): Promise<void> {
  const random = randomNumbers(seed);
  const body = Float32Array.from({ length: 3 * points }, () => PERIOD * random());
  const url = `http://127.0.0.1:${port}/api/datasets/cube${NODES}/${one.operation}?${new URLSearchParams(one.members)}`;
  const headers = { "content-type": "application/octet-stream", accept: "application/octet-stream" };
  const answer = await fetch(url, { method: "POST", headers, body });
  if (answer.status !== 200 || answer.body === null)
    throw new Error(`${one.operation}: ${answer.status} ${await answer.text()}`);
  for await (const _part of answer.body);
}

/** Starts a service on the cube, and lets every worker thread answer once. */
async function ready(folder: string, workers: number): Promise<Server> {
  const server = await start("fieldprobe", process.execPath, [BIN, "serve"], "", {
    ...process.env,
    FIELDPROBE_WORKERS: String(workers),
    FIELDPROBE_PORT: "0",
    FIELDPROBE_EVENTS: "off",
    FIELDPROBE_STATE: folder,
    FIELDPROBE_DATA: join(folder, "data"),
    FIELDPROBE_CACHE_BYTES: String(CACHE_BYTES),
  });
  await ask(server, overNodes("GetBoxFilter", 1), 100_000, 1);
  return server;
}

/** The growth of the resident memory of a service, at its peak, under `atOnce` queries at a time. */
async function growth(folder: string, workers: number, one: Case, points: number, atOnce: number): Promise<number> {
  const server = await ready(folder, workers);
  try {
    const before = residentBytes(server.pid).now;
    resetPeak(server.pid);
    await Promise.all(Array.from({ length: atOnce }, (_, i) => ask(server, one, points, i + 1)));
    return (residentBytes(server.pid).peak - before) / MIB;
  } finally {
    server.process.kill();
  }
}

/** Rows `memory`: MiB by which a service with one worker thread and with two grows while it answers. */
export async function benchMemory({ quick }: BenchOptions): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), "fieldprobe-memory-"));
  const rows: Row[] = [];
  try {
    const triple = (n: number) => [n, n, n] as const;
    const shape = { kind: "smooth", nodes: triple(NODES), steps: 1, chunk: triple(64), filter: "none", seed: 1 };
    await writeCube({ ...shape, name: `cube${NODES}`, folder: join(folder, "data") } as never, () => undefined);
    for (const one of CASES) {
      const points = Math.ceil(mostPoints(one) / (quick ? 50 : 1));
      for (const workers of [1, 2]) {
        for (const atOnce of [1, AT_ONCE]) {
          const value = await growth(folder, workers, one, points, atOnce);
          const params = { ...one.about, points, workers, queries: atOnce };
          const figures = { value, unit: "MiB", spread: 0, rounds: 1 };
          rows.push({ bench: "memory", case: one.operation, backend: "fieldprobe", ...figures, params });
        }
      }
    }
    return rows;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
