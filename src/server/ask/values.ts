/** Answers `values`: quantities at points, at one time, at several, or at a time of each point's own. */

import type { Dataset } from "../../engine/contract/dataset.js";
import { DRAWN_RECORDS, evaluateAt, type PointOptions } from "../rest/analysis/point-columns.js";
import { aboutUnit } from "../rest/describe.js";
import { type Column, columnOf, type RowsAnswer } from "./answer.js";
import {
  answered,
  type Context,
  checkFits,
  filterText,
  placesText,
  pointsOf,
  pointsText,
  timeText,
  type Understood,
  whatText,
} from "./context.js";
import { wrong } from "./faults.js";
import type { MemberValues } from "./read-member.js";
import {
  checkFilterUsed,
  compileWhat,
  namesOf,
  pointDerivatives,
  type Quantity,
  spatialName,
  usualWhat,
} from "./what.js";
import { type Times, timesIn } from "./when.js";

/** How a question interpolates, as the engine names it. */
export function pointOptions(values: MemberValues): Omit<PointOptions, "time"> {
  const { method = "Lag8", time_method = "PCHIP", filter } = values;
  return {
    ...{ method: spatialName(method), derivatives: spatialName(pointDerivatives(values)), filter },
    temporalInterpolation: time_method === "nearest" ? "None" : "PCHIP",
  };
}

/** The members that say how values are interpolated, as an answer repeats them. */
export function howText(values: MemberValues): Understood {
  const { method = "Lag8", time_method = "PCHIP", units = "check" } = values;
  return { method, derivatives: pointDerivatives(values), time_method, ...filterText(values), level: 0, units };
}

/** The unit of lengths or times as a column states it. */
export function unitOf(dataset: Dataset, measure: "length" | "time"): string | null {
  return aboutUnit(dataset, measure).units ?? null;
}

/**
 * Evaluates quantities at points.
 *
 * @param into where the values of each quantity go, its components side by side
 */
export async function fillValues(
  { life, dataset }: Context,
  quantities: readonly Quantity[],
  points: Float32Array,
  options: PointOptions,
  into: readonly (Float32Array | Float64Array)[],
): Promise<void> {
  const targets = quantities.flatMap(({ expressions, columns }, q) =>
    expressions.map((expression, e) => ({
      ...{ expression, out: into[q] as Float32Array, width: columns.length },
      offset: (columns.length / expressions.length) * e,
    })),
  );
  const columns = targets.map(({ expression }) => expression);
  await evaluateAt(life, dataset, columns, points, options, (index, from, components) => {
    const { out, width, offset } = targets[index] as (typeof targets)[number];
    for (const [c, numbers] of components.entries())
      for (let i = 0; i < numbers.length; i++) out[width * (from + i) + offset + c] = numbers[i] as number;
  });
}

/** Answers a question. */
export async function values(
  context: Context,
  asked: MemberValues,
): Promise<{ answer: RowsAnswer; understood: Understood }> {
  const { life, dataset } = context;
  const { time } = asked;
  const isEach = typeof time === "object" && "each" in time;
  if (isEach && time.each !== null) throw wrong("time", "each:D is for paths; values takes each");
  const what = asked.what ?? usualWhat(dataset);
  const quantities = compileWhat(what, namesOf(asked, dataset));
  checkFilterUsed(asked, quantities);
  const when: Times = isEach ? { times: [], isList: false } : timesIn(asked, dataset);
  const rounds = Math.max(1, when.times.length);
  const { triples, times, count } = await pointsOf(context, asked, rounds * DRAWN_RECORDS, isEach);
  checkFits(context, count, rounds, "points");
  const numbers = quantities.map(({ columns }) => life.floats(columns.length * count * rounds));
  const options = pointOptions(asked);
  for (let round = 0; round < rounds; round++) {
    const at = numbers.map((all, q) => {
      const width = (quantities[q] as Quantity).columns.length * count;
      return all.subarray(round * width, (round + 1) * width);
    });
    const own = times ?? (when.times[round] as number);
    await fillValues(context, quantities, triples, { ...options, time: own }, at);
  }
  const lead = leadOf(triples, count, rounds, dataset);
  const t = times ?? (when.isList ? timesOfRows(when.times, count) : null);
  if (t !== null) lead.push(columnOf("t", t, unitOf(dataset, "time")));
  const answer: RowsAnswer = {
    ...{ kind: "rows", count: count * rounds, lead, shape: [...(when.isList ? [rounds] : []), count] },
    quantities: quantities.map((one, q) => answered(one, numbers[q] as Float32Array)),
  };
  const understood = {
    ...{ ...whatText(what), points: pointsText(asked.points as never), ...placesText(asked) },
    ...(isEach ? { time: "each" } : timeText(asked, when.times, when.isList)),
    ...howText(asked),
  };
  return { answer, understood };
}

/** The columns x, y and z, once for each time. */
function leadOf(triples: Float32Array, count: number, rounds: number, dataset: Dataset): Column[] {
  const all = rounds === 1 ? triples : new Float32Array(3 * count * rounds);
  if (rounds > 1)
    for (let round = 0; round < rounds; round++) all.set(triples.subarray(0, 3 * count), 3 * count * round);
  return ["x", "y", "z"].map((name, c) => columnOf(name, all, unitOf(dataset, "length"), 3, c));
}

function timesOfRows(times: readonly number[], count: number): Float64Array {
  return Float64Array.from({ length: times.length * count }, (_, i) => times[Math.floor(i / count)] as number);
}
