/** Queries to an engine in process: random points in, time and bytes read out. */
import { pino } from "pino";
import { loadConfig } from "../dist/config.js";
import { openEngine } from "../dist/engine/engine.js";
import type { Engine, Query } from "../dist/engine/query.js";

const MOST_MS = 3_600_000;

/** An engine on the datasets of a folder. */
export function openOn(folder: string, workers: number, cacheBytes: number): Promise<Engine> {
  const settings = { DATA: folder, WORKERS: String(workers), CACHE_BYTES: String(cacheBytes) };
  return openEngine(loadConfig(settings, {}), pino({ level: "warn" }));
}

/** What a query took. */
export interface Asked {
  readonly milliseconds: number;
  readonly bytesRead: number;
}

/** Runs a query to its end; the clock covers handing the points over too. */
export async function ask(engine: Engine, query: Query, points: Float32Array): Promise<Asked> {
  const before = engine.status().bytesRead;
  const start = performance.now();
  const evaluation = engine.start(query, { deadlineMs: MOST_MS });
  for (let i = 0; i < points.length; ) {
    const { slab } = evaluation.points;
    const size = Math.min(slab.length, points.length - i);
    slab.set(points.subarray(i, i + size));
    evaluation.points.commit(size / 3);
    i += size;
  }
  const result = await evaluation.finish();
  const milliseconds = performance.now() - start;
  result.release();
  return { milliseconds, bytesRead: engine.status().bytesRead - before };
}

/** Random points in a box of edge `length` whose lowest corner is `origin` on every axis. */
export function pointsIn(random: () => number, count: number, origin: number, length: number): Float32Array {
  return Float32Array.from({ length: 3 * count }, () => origin + random() * length);
}
