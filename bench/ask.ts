/** Queries to an engine in process: random points in, time, CPU and bytes read out. */
import { join } from "node:path";
import { pino } from "pino";
import { type Engine, joinedValues, type Query } from "../dist/engine/contract/query.js";
import { openEngine } from "../dist/engine/main/engine.js";
import { loadConfig } from "../dist/shared/config.js";
import { type CubeOptions, writeCube } from "../dist/tools/generate/cube.js";

const MAX_MS = 3_600_000;

/** An engine on the datasets of a folder. @param more settings by variable name without prefix */
export function openOn(
  folder: string,
  workers: number,
  cacheBytes: number,
  more: Readonly<Record<string, string>> = {},
): Promise<Engine> {
  const settings = { DATA: folder, WORKERS: String(workers), CACHE_BYTES: String(cacheBytes), ...more };
  return openEngine(loadConfig(settings, {}), pino({ level: "warn" }));
}

/** Writes a cube of `nodes`^3 nodes, in chunks of `edge`^3 that are not compressed, into a folder of its name. */
export async function makeCube(
  folder: string,
  name: string,
  [nodes, edge]: readonly [number, number],
  more: Partial<CubeOptions> = {},
): Promise<void> {
  const shape = { kind: "smooth", nodes: [nodes, nodes, nodes], chunk: [edge, edge, edge], steps: 1 } as const;
  await writeCube({ ...shape, filter: "none", seed: 1, ...more, name, folder: join(folder, name) }, () => undefined);
}

/** The cost of a query; CPU of all threads of this process. */
export interface Asked {
  readonly milliseconds: number;
  readonly cpuMilliseconds: number;
  readonly bytesRead: number;
}

/** Looks at an answer, in the order of the points, once the clock has stopped; throws when it is wrong. */
export type Check = (values: Float32Array) => void;

/** Runs a query to its end; the clock covers handing the points over too. */
export async function ask(engine: Engine, query: Query, points: Float32Array, check?: Check): Promise<Asked> {
  const before = engine.status().bytesRead;
  const cpu = process.cpuUsage();
  const start = performance.now();
  const evaluation = engine.start(query, { deadlineMs: MAX_MS });
  for (let i = 0; i < points.length; ) {
    const { slab } = evaluation.points;
    const size = Math.min(slab.length, points.length - i);
    slab.set(points.subarray(i, i + size));
    evaluation.points.commit(size / 3);
    i += size;
  }
  const result = await evaluation.finish();
  const milliseconds = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  const { items, itemsPerPoint, components } = result;
  const values = joinedValues(result);
  if (3 * items !== points.length * itemsPerPoint || values.length !== items * components)
    throw new Error(`${query.operation}: ${items} records of ${values.length} numbers for ${points.length / 3} points`);
  check?.(values);
  result.release();
  return { milliseconds, cpuMilliseconds: (user + system) / 1000, bytesRead: engine.status().bytesRead - before };
}

/** Random points in a box of edge `length` whose lowest corner is `origin` on every axis. */
export function pointsIn(random: () => number, count: number, origin: number, length: number): Float32Array {
  return Float32Array.from({ length: 3 * count }, () => origin + random() * length);
}

/** Fails unless the two answers are the same, bit for bit, finite, and not one number over and over. */
export function checkSame(name: string, one: Float32Array, other: Float32Array): void {
  const differs = one.findIndex((value, i) => value !== other[i] || !Number.isFinite(value));
  if (differs >= 0 || one.length !== other.length || one.length === 0)
    throw new Error(`${name}: number ${differs} is ${one[differs]} and ${other[differs]}`);
  if (one.length > 1 && one.every((value) => value === one[0])) throw new Error(`${name}: every number is ${one[0]}`);
}
