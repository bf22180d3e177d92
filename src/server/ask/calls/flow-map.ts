/** Answers `flow_map`: the map from start to end positions of particles, its gradient, and its stretching. */
import { type Query, writeTriples } from "../../../engine/contract/query.js";
import { tooManyPoints } from "../../../shared/errors.js";
import { RECORDS, type SpatialInterpolation } from "../../../shared/operations.js";
import type { Values } from "../../../storage/tools/long-numbers.js";
import type { AnsweredQuantity, CallAnswer, GridAnswer } from "../answer.js";
import type { Context } from "../context.js";
import { checkAlone, wrong } from "../faults.js";
import { computeRuns } from "../parts.js";
import type { MemberValues } from "../question/member-values.js";
import { queryOver, schemeIn } from "../question/particles.js";
import { pointsOf } from "../question/sample-grid.js";
import { pointDerivatives, spatialName } from "../question/schemes.js";
import { intervalIn, stepIn } from "../question/when.js";
import { samplesIn } from "../question/where.js";
import { runQuery } from "../run-query.js";
import { gridOf, samplePoints } from "./grid.js";
import { unitOf } from "./values.js";

/** Parts of a flow map: the first number of each in its records, and its dimensions. */
const PARTS = { map: [0, [3]], gradient: [3, [3, 3]], eigenvalues: [12, [3]], ftle: [15, []] } as const;
type PartName = keyof typeof PARTS;
const USUAL = ["map", "gradient", "ftle"] as const;

function partNamed(text: string): PartName {
  if (Object.hasOwn(PARTS, text)) return text as PartName;
  throw wrong("what", `expected some of ${Object.keys(PARTS).join(", ")}, not ${text}`);
}

export async function flowMap(context: Context, question: MemberValues): Promise<CallAnswer<GridAnswer>> {
  const { life, dataset } = context;
  const names = question.what === undefined ? USUAL : question.what.map(({ text }) => partNamed(text));
  checkAlone(names.length, question.format ?? "json");
  const interval = intervalIn(question);
  if ("each" in interval) throw wrong("time", "a flow map starts all particles at once: first:last");
  const step = stepIn(question, dataset);
  const samples = samplesIn(question, dataset);
  const query: Query = {
    ...{ ...queryOver(interval, step, dataset), ...schemeIn(question) },
    flowMap: spatialName(pointDerivatives(question)) as SpatialInterpolation,
  };
  const parts = names.map((name) => ({ name, first: PARTS[name][0], shape: PARTS[name][1], columns: columnsOf(name) }));
  const mapped = async (from: number, to: number): Promise<readonly Float32Array[]> => {
    const result = await runQuery(life, query, async (evaluation) => {
      const limit = life.limit(evaluation.limit);
      if (to - from > limit.points) throw tooManyPoints(limit.name, to - from, limit.points, limit.tracking);
      await life.countPoints(to - from);
      writeTriples(evaluation.points, await samplePoints(samples, context, from, to));
    });
    life.onEnd(() => result.release());
    const out = parts.map(({ columns }) => new Float32Array(columns.length * (to - from)));
    let point = 0;
    for (const records of result.values)
      for (let at = 0; at < records.length; at += RECORDS.FlowMap.length, point++)
        for (const [q, { first, columns }] of parts.entries()) {
          const n = columns.length;
          out[q]?.set(records.subarray(at + first, at + first + n), n * point);
        }
    return out;
  };
  const count = pointsOf(samples.grid);
  const widths = parts.map(({ columns }) => columns.length);
  const numbers = await computeRuns(context, count, widths, mapped);
  const quantities = parts.map(({ name, shape, columns }, q): AnsweredQuantity => {
    const unit = name === "map" ? unitOf(dataset, "length") : null;
    return { name, columns, shape, unit, values: numbers[q] as Values };
  });
  const answer: GridAnswer = { kind: "grid", ...gridOf(samples, context), quantities };
  return { answer, restatements: { what: names, samples: [...samples.counts], step } };
}

function columnsOf(name: PartName): readonly string[] {
  if (name === "ftle") return [name];
  if (name === "map") return ["x", "y", "z"].map((letter) => `map.${letter}`);
  if (name === "eigenvalues") return [0, 1, 2].map((i) => `eigenvalues[${i}]`);
  return [0, 1, 2].flatMap((i) => [0, 1, 2].map((j) => `gradient[${i}][${j}]`));
}
