/** Points per second of every operation in process, with one worker and with all of them, on the shipped turbulence. */
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import type { Query } from "../dist/engine/contract/query.js";
import { OLDER_OPERATIONS } from "../dist/shared/operations.js";
import { alternate, type Comparison, type Contestant } from "./alternate.js";
import { ask, checkSame, openOn, pointsIn } from "./ask.js";
import { randomNumbers } from "./field.js";
import type { BenchOptions, Row } from "./row.js";

const DATA = fileURLToPath(new URL("../data/isotropic32", import.meta.url));
const CACHE_BYTES = 256 * 1024 * 1024;
const PERIOD = 2 * Math.PI;
const SPACING = PERIOD / 32;

/** Points a query has, by how much work one is. */
const POINTS = { points: 100_000, force: 20_000, box: 100, track: 5_000, echo: 100_000 } as const;

interface Case {
  readonly name: string;
  readonly query: Query;
  readonly points: number;
}

/** Large requests, which show what a second worker gives. */
function largeCases(points: number): Case[] {
  const common = { operation: "GetVelocity", dataset: "isotropic32", time: 0.35 } as const;
  return (
    [
      ["Lag4", "None"],
      ["Lag8", "None"],
      ["Lag8", "PCHIP"],
    ] as const
  ).map(([spatialInterpolation, temporalInterpolation]) => ({
    name: `GetVelocity ${spatialInterpolation}${temporalInterpolation === "PCHIP" ? " PCHIP" : ""}`,
    query: { ...common, spatialInterpolation, temporalInterpolation },
    points,
  }));
}

function cases(): Case[] {
  return OLDER_OPERATIONS.flatMap(({ name, family, spatial }): Case[] => {
    const common = { operation: name, dataset: "isotropic32" } as const;
    if (family === "echo") return [{ name, query: { operation: name }, points: POINTS.echo }];
    if (family === "filter") {
      const query: Query = {
        ...common,
        time: 0.3,
        filterlength: Math.fround(8 * SPACING),
        nlayers: 1,
        temporalInterpolation: "None",
      };
      return [{ name, query, points: POINTS.box }];
    }
    if (family === "track") {
      const time =
        name === "GetPosition" ? { StartTime: 0.3, dt: 0.01, nt: 10 } : { StartTime: 0.3, EndTime: Math.fround(0.35) };
      const drag = name === "GetPositionInertialParticle" ? { Tp: 0.1 } : {};
      return [{ name, query: { ...common, ...time, ...drag, spatialInterpolation: "Lag6" }, points: POINTS.track }];
    }
    const methods =
      family === "force" ? (["None"] as const) : spatial.filter((method) => !/^M\dQ/.test(method) || method === "M2Q8");
    const points = family === "force" ? POINTS.force : POINTS.points;
    return methods.map((method) => ({
      name: `${name} ${method}`,
      query: { ...common, time: 0.3, spatialInterpolation: method, temporalInterpolation: "None" },
      points,
    }));
  });
}

/**
 * Rows `engine`: unit points/s, params points, workers and nodes; one worker and all of them take turns. If a
 * machine has more than one, rows `ratio` say how many times faster all are.
 */
export async function benchEngine({ quick }: BenchOptions): Promise<Row[]> {
  const counts = [...new Set([1, availableParallelism()])];
  if (counts.length === 1) console.log("skipped: workers against one (there is one processor)");
  const engines = await Promise.all(counts.map((workers) => openOn(DATA, workers, CACHE_BYTES)));
  const random = randomNumbers(1);
  const rows: Row[] = [];
  for (const { name, query, points } of [...cases(), ...largeCases(quick ? 100_000 : 1_000_000)]) {
    const positions = pointsIn(random, points, 0, PERIOD);
    const answers: Float32Array[] = [];
    for (const engine of engines) await ask(engine, query, positions, (values) => answers.push(values));
    checkSame(name, answers[0] as Float32Array, answers.at(-1) as Float32Array);
    const contestants = engines.map(
      (engine, e): Contestant => ({
        run: async () => points / ((await ask(engine, query, positions)).milliseconds / 1000),
        row: {
          bench: "engine",
          case: name,
          backend: "fieldprobe",
          unit: "points/s",
          params: { points, workers: counts[e] as number, nodes: 32 },
        },
      }),
    );
    const [one, all] = contestants as [Contestant, Contestant?];
    const comparisons: Comparison[] = all ? [{ case: name, unit: "times one worker", over: all, under: one }] : [];
    rows.push(...(await alternate(contestants, quick ? 3 : 11, quick, comparisons)));
  }
  await Promise.all(engines.map((engine) => engine.close(1000)));
  return rows;
}
