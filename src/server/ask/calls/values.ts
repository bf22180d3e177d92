/** Answers `values`: quantities at points, at one time, several times, or a separate time for each point. */
import type { Dataset } from "../../../engine/contract/dataset.js";
import { LongNumbers, type Values } from "../../../storage/tools/long-numbers.js";
import { aboutUnit } from "../../http/describe.js";
import { type CallAnswer, type Column, columnOf, type RowsAnswer } from "../answer.js";
import { answered, type Context, checkFits } from "../context.js";
import { wrong } from "../faults.js";
import { compute } from "../parts.js";
import { evaluateAt, type PointOptions } from "../points/point-columns.js";
import { RANDOM_POINT_RECORDS } from "../points/random-points.js";
import type { MemberValues } from "../question/member-values.js";
import { heldPoints, openPoints, type PointSource, sourceOf } from "../question/points.js";
import { pointOptions } from "../question/schemes.js";
import type { Quantity } from "../question/what.js";
import { compileWhat, defaultWhat, namesOf, whatText } from "../question/what.js";
import { type Times, timesIn } from "../question/when.js";
import { timeText } from "../restate.js";

export function unitOf(dataset: Dataset, measure: "length" | "time"): string | null {
  return aboutUnit(dataset, measure).units ?? null;
}

/** Evaluates quantities at points. `into`: receives the values of each quantity, its components adjacent. */
export async function fillValues(
  { life, dataset }: Context,
  quantities: readonly Quantity[],
  points: Float32Array,
  options: PointOptions,
  into: readonly (Float32Array | Float64Array)[],
): Promise<void> {
  const targets = quantities.flatMap(({ expressions, columns }, q) =>
    expressions.map((expression, e) => ({
      ...{ expression, out: into[q], width: columns.length },
      offset: (columns.length / expressions.length) * e,
    })),
  );
  const columns = targets.map(({ expression }) => expression);
  await evaluateAt(life, dataset, columns, points, options, (index, from, components) => {
    const { out, width, offset } = targets[index] as (typeof targets)[number];
    for (const [c, numbers] of components.entries())
      for (let i = 0; i < numbers.length; i++) out[width * (from + i) + offset + c] = numbers[i];
  });
}

export async function values(context: Context, question: MemberValues): Promise<CallAnswer<RowsAnswer>> {
  const { life, dataset } = context;
  const { time } = question;
  const isEach = typeof time === "object" && "each" in time;
  if (isEach && time.each !== null) throw wrong("time", "each:D is for paths; values takes each");
  const what = question.what ?? defaultWhat(dataset);
  const quantities = compileWhat(what, namesOf(question, dataset));
  const when: Times = isEach ? { times: [], isList: false } : timesIn(question, dataset);
  const timeCount = Math.max(1, when.times.length);
  const opened = await openPoints(context, question, isEach);
  const { count } = opened;
  const isWhole = context.part === null;
  if (isWhole) checkFits(context, count, timeCount, "points");
  const source = isWhole ? sourceOf(await heldPoints(context, opened, timeCount * RANDOM_POINT_RECORDS)) : opened;
  const options = pointOptions(question);
  const numbers = await compute(context, {
    ...{ count, times: timeCount, widths: quantities.map(({ columns }) => columns.length) },
    fill: async (round, from, to, into) => {
      // Separate times are checked with the first point.
      const { triples, times } = await source.read(from, isEach ? Math.max(to, 1) : to);
      if (to === 0 && isEach) into = quantities.map(({ columns }) => life.floats(columns.length));
      const at = { ...options, time: times ?? when.times[round] };
      await fillValues(context, quantities, triples, at, into);
    },
  });
  const leadColumns = await leadOf(source, when, timeCount, dataset, isWhole);
  if (isEach) leadColumns.push(await column("t", eachTime(source), dataset, isWhole));
  const answer: RowsAnswer = {
    ...{ kind: "rows", count: count * timeCount, leadColumns, shape: [...(when.isList ? [timeCount] : []), count] },
    quantities: quantities.map((one, q) => answered(one, numbers[q] as Values)),
  };
  const stated = isEach ? {} : timeText(question, when.times, when.isList);
  return { answer, restatements: { what: what.map(whatText), ...stated } };
}

/** The columns x, y and z, once for each time, and the times if there are several. */
async function leadOf(
  source: PointSource,
  { times, isList }: Times,
  timeCount: number,
  dataset: Dataset,
  isWhole: boolean,
): Promise<Column[]> {
  const { count } = source;
  const places = new LongNumbers("<f4", 3 * count * timeCount, async (from, to) => {
    const out = new Float32Array(to - from);
    for (let row = from / 3; row < to / 3; ) {
      const first = row % count;
      const some = await source.read(first, Math.min(count, first + to / 3 - row));
      out.set(some.triples, 3 * row - from);
      row += some.count;
    }
    return out;
  });
  const held: Values = isWhole ? await places.read(0, places.length) : places;
  const lead = ["x", "y", "z"].map((name, c) => columnOf(name, held, unitOf(dataset, "length"), 3, c));
  if (!isList) return lead;
  const ofRows = new LongNumbers("<f8", count * timeCount, (from, to) =>
    Float64Array.from({ length: to - from }, (_, i) => times[Math.floor((from + i) / count)]),
  );
  return [...lead, await column("t", ofRows, dataset, isWhole)];
}

const eachTime = (source: PointSource) =>
  new LongNumbers("<f8", source.count, async (from, to) => (await source.read(from, to)).times as Float64Array);

async function column(name: string, values: LongNumbers, dataset: Dataset, isWhole: boolean): Promise<Column> {
  return columnOf(name, isWhole ? await values.read(0, values.length) : values, unitOf(dataset, "time"));
}
