/** Points per second of every operation in process, with one worker and with all of them, on the shipped turbulence. */
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { loadConfig } from "../dist/config.js";
import { openEngine } from "../dist/engine/engine.js";
import type { Engine, Query } from "../dist/engine/query.js";
import { OPERATIONS } from "../dist/operations.js";
import { type BenchOptions, type Row, summarise } from "./row.js";

const DATA = fileURLToPath(new URL("../data", import.meta.url));
const PERIOD = 2 * Math.PI;
const SPACING = PERIOD / 32;

/** Points a query has, by how much work one is. */
const POINTS = { points: 100_000, force: 20_000, box: 100, track: 5_000, echo: 100_000 } as const;

interface Case {
  readonly name: string;
  readonly query: Query;
  readonly points: number;
}

function cases(): Case[] {
  return OPERATIONS.flatMap(({ name, kernel, spatial }): Case[] => {
    const common = { operation: name, dataset: "isotropic32" } as const;
    if (kernel === "echo") return [{ name, query: { operation: name }, points: POINTS.echo }];
    if (kernel.startsWith("box")) {
      const query: Query = {
        ...common,
        time: 0.3,
        filterlength: Math.fround(8 * SPACING),
        nlayers: 1,
        temporalInterpolation: "None",
      };
      return [{ name, query, points: POINTS.box }];
    }
    if (kernel.startsWith("track")) {
      const time =
        kernel === "trackStepped"
          ? { StartTime: 0.3, dt: 0.01, nt: 10 }
          : { StartTime: 0.3, EndTime: Math.fround(0.35) };
      const drag = kernel === "trackInertial" ? { Tp: 0.1 } : {};
      return [{ name, query: { ...common, ...time, ...drag, spatialInterpolation: "Lag6" }, points: POINTS.track }];
    }
    const methods = kernel === "force" ? (["None"] as const) : spatial;
    const points = kernel === "force" ? POINTS.force : POINTS.points;
    return methods.map((method) => ({
      name: `${name} ${method}`,
      query: { ...common, time: 0.3, spatialInterpolation: method, temporalInterpolation: "None" },
      points,
    }));
  });
}

/** One round: the whole query, points included. */
async function ask(engine: Engine, query: Query, points: Float32Array): Promise<number> {
  const start = performance.now();
  const evaluation = engine.start(query, {});
  for (let i = 0; i < points.length; ) {
    const { slab } = evaluation.points;
    const size = Math.min(slab.length, points.length - i);
    slab.set(points.subarray(i, i + size));
    evaluation.points.commit(size / 3);
    i += size;
  }
  const result = await evaluation.finish();
  const elapsed = performance.now() - start;
  result.release();
  return points.length / 3 / (elapsed / 1000);
}

/** Rows `engine`: unit points/s, params points and workers; the engines alternate round by round. */
export async function benchEngine({ quick }: BenchOptions): Promise<Row[]> {
  const counts = [...new Set([1, availableParallelism()])];
  const log = pino({ level: "silent" });
  const engines = await Promise.all(
    counts.map((workers) =>
      openEngine(loadConfig({ DATA, WORKERS: String(workers), CACHE_BYTES: "268435456" }, {}), log),
    ),
  );
  const rows: Row[] = [];
  let seed = 1;
  const random = (): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed / 2 ** 32;
  };
  for (const { name, query, points } of cases()) {
    const positions = Float32Array.from({ length: 3 * points }, () => random() * PERIOD);
    const rounds = quick ? 3 : 11;
    const figures = engines.map((): number[] => []);
    for (let round = -1; round < rounds; round++) {
      for (const [e, engine] of engines.entries()) {
        const figure = await ask(engine, query, positions);
        if (round >= 0) figures[e]?.push(figure);
      }
    }
    for (const [e, numbers] of figures.entries()) {
      const params = { points, workers: counts[e] as number, nodes: 32 };
      rows.push({
        bench: "engine",
        case: name,
        backend: "fieldprobe",
        unit: "points/s",
        params,
        ...summarise(numbers),
      });
    }
  }
  await Promise.all(engines.map((engine) => engine.close(1000)));
  return rows;
}
