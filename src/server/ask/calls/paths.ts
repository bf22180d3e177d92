/** Answers `paths`: particles over an interval, with quantities along them. */
import { joinedValues, type Query, type Result } from "../../../engine/contract/query.js";
import { withoutNoise } from "../../../float32/format.js";
import { RECORDS } from "../../../shared/operations.js";
import { numbered } from "../../../shared/random.js";
import { blockOf, LongNumbers, type Numbers, typeOf, type Values } from "../../../storage/tools/long-numbers.js";
import { spanOf } from "../../http/describe.js";
import { type CallAnswer, type Column, columnOf, columnsOf, type RowsAnswer } from "../answer.js";
import { answered, type Context, DryRun } from "../context.js";
import { wrong } from "../faults.js";
import { computeRuns } from "../parts.js";
import { answerAtOwnTimes } from "../points/own-times.js";
import { valuesAlong } from "../points/values-along.js";
import type { MemberValues } from "../question/member-values.js";
import { motionIn, queryOver } from "../question/particles.js";
import { heldPoints, openPoints, type Points } from "../question/points.js";
import { pointDerivatives, spatialName } from "../question/schemes.js";
import { compileWhat, namesOf, type Quantity } from "../question/what.js";
import { type Interval, intervalIn, stepIn } from "../question/when.js";
import { runAtPoints } from "../run-query.js";
import { timesIn } from "./residence.js";
import { unitOf } from "./values.js";

/** Records of three float32 kept per point of a path. */
const PATH_RECORDS = 2;

function queryOf(
  question: MemberValues,
  moves: Partial<Query>,
  interval: Interval,
  step: number,
  { dataset }: Context,
): Query {
  const { every = 1, drag } = question;
  const last = question.last && question.residence === undefined && question.exit_from === undefined;
  const length = "each" in interval ? interval.each : interval.end - interval.start;
  const steps = Math.max(1, Math.ceil(Math.abs(length) / step - 1e-9));
  const common = { ...moves, recordEvery: last ? steps : every };
  if (drag !== undefined && length < 0) throw wrong("time", "particles with drag are not tracked backwards");
  if (!("each" in interval)) return { ...queryOver(interval, step, dataset), ...common };
  if (Math.abs(steps * step - Math.abs(length)) > 1e-6 * step)
    throw wrong("time", `each:D needs a whole number of steps: ${Math.abs(length)} is not one of ${step}`);
  return { operation: "GetPosition", dataset: dataset.name, dt: Math.sign(length) * step, nt: steps, ...common };
}

/** Tracks particles. `first`: number of the first one in the question. */
async function track({ life }: Context, query: Query, points: Points, first: number): Promise<Result> {
  const own = query.diffusion === undefined ? points.velocities : numbered(first, points.count);
  if (points.times !== null) {
    const result = await answerAtOwnTimes(life, query, "StartTime", {
      ...{ points: points.triples, times: points.times },
      ...(own === null ? {} : { velocities: own }),
    });
    // Records of paths with different starts are timed from their own start.
    const recordTimes = result.recordTimes?.map((time, _, [start = 0]) => time - start);
    return { ...result, ...(recordTimes === undefined ? {} : { recordTimes }) };
  }
  return runAtPoints(life, query, points.triples, (limit) => life.limit(limit), own);
}

/** Quantities along paths, the components of each as adjacent numbers. */
async function along(
  context: Context,
  quantities: readonly Quantity[],
  question: MemberValues,
  query: Query,
  result: Result,
  starts: Float64Array | null,
): Promise<readonly Float32Array[]> {
  if (quantities.length === 0) return [];
  const columns = quantities.flatMap(({ expressions }) => expressions);
  const derivatives = spatialName(pointDerivatives(question));
  const found = await valuesAlong(context.life, columns, derivatives, query, result, starts);
  let next = 0;
  return quantities.map(({ expressions, columns: names }) => {
    const parts = expressions.map(() => (found[next++] as (typeof found)[number]).values);
    if (parts.length === 1) return parts[0];
    const width = names.length / parts.length;
    const out = new Float32Array(parts.length * parts[0].length);
    for (const [e, part] of parts.entries())
      for (let i = 0; i < part.length; i++)
        out[names.length * Math.floor(i / width) + width * e + (i % width)] = part[i];
    return out;
  });
}

/** The layout of the records of each particle: their names, the first that is kept, how many, and their times. */
function layoutOf({ itemsPerPoint: all, components: width, record, recordTimes }: Result, last: boolean) {
  const first = last ? all - 1 : 0;
  const times = (recordTimes ?? new Float64Array(1)).subarray(first);
  const names: readonly string[] = RECORDS[record ?? "Point3"];
  return { names, width, first, kept: all - first, times };
}

export async function paths(context: Context, question: MemberValues): Promise<CallAnswer<RowsAnswer>> {
  const { life, dataset, part } = context;
  const { what = [], last = false } = question;
  const interval = intervalIn(question);
  const isEach = "each" in interval;
  const quantities = compileWhat(what, namesOf(question, dataset));
  const step = stepIn(question, dataset);
  const source = await openPoints(context, question, isEach);
  const { moves, found: restated } = motionIn(question);
  const found = { ...restated, step, frozen: question.frozen || undefined };
  // Paths with separate starts are grouped by them, and are one task.
  if (isEach && part instanceof DryRun)
    return { answer: { kind: "rows", count: 0, leadColumns: [], quantities: [], shape: [] }, restatements: found };
  const { residence, exit_from } = question;
  const regions = [residence, exit_from].filter((region) => region !== undefined);
  const periods = dataset.axes.map((axis) => (axis.periodic ? spanOf(axis).length : 0));
  const query = queryOf(question, moves, interval, step, context);
  const tracked = async (points: Points, from = 0) => {
    if (points.velocities !== null && question.drag === undefined)
      throw wrong("points", "initial velocities vx, vy, vz are of particles with drag");
    const result = await track(context, query, points, from);
    const values = await along(context, quantities, question, query, result, points.times);
    const layout = layoutOf(result, last);
    const all = layout.first + layout.kept;
    const pick = (from: Float32Array, size: number): Float32Array => {
      if (layout.first === 0) return from;
      const out = life.floats(size * points.count);
      for (let i = 1; i <= points.count; i++)
        out.set(from.subarray(size * (all * i - 1), size * all * i), size * (i - 1));
      return out;
    };
    const picked = values.map((one, q) => pick(one, quantities[q]?.columns.length as number));
    const records = joinedValues(result);
    const spent: Float32Array[] = [];
    for (const region of regions)
      spent.push(pick(await timesIn(context, region, periods, records, result, points.times), 3));
    return { layout, numbers: [pick(records, layout.width), ...picked, ...spent] };
  };
  // Without points, it tells the layout of records.
  const points = part === null ? await heldPoints(context, source, PATH_RECORDS) : await source.read(0, 0);
  const { layout, numbers: known } = await tracked(points);
  const { names, width, kept, times } = layout;
  const columns = quantities.map((one) => one.columns.length);
  const widths = [width, ...columns, ...regions.map(() => 3)].map((one) => one * kept);
  const run = async (from: number, to: number) => (await tracked(await source.read(from, to), from)).numbers;
  const numbers = part === null ? known : await computeRuns(context, source.count, widths, run);
  const count = source.count * kept;
  const records = numbers[0] as Values;
  const [time, length] = [unitOf(dataset, "time"), unitOf(dataset, "length")];
  const timeOf = (i: number): number => withoutNoise((points.times?.[Math.floor(i / kept)] ?? 0) + times[i % kept]);
  const [exit, steps] = [names.indexOf("exit"), names.indexOf("steps")];
  const particles = made(Int32Array, count, (i) => Math.floor(i / kept));
  const never = made(Float32Array, count, () => Number.NaN);
  const leadColumns: Column[] = [
    columnOf("particle", particles),
    columnOf("t", made(Float64Array, count, timeOf), time),
    ...["x", "y", "z"].map((name, c) => columnOf(name, records, length, width, c)),
    exit < 0 ? columnOf("exit", never, time) : columnOf("exit", records, time, width, exit),
    ...(steps < 0 ? [] : [columnOf("steps", records, null, width, steps)]),
    ...(residence === undefined ? [] : [columnOf("residence", numbers[1 + columns.length] as Values, time, 3)]),
    ...(exit_from === undefined ? [] : [columnOf("exit_from", numbers.at(-1) as Values, time, 3, 1)]),
    ...(exit_from === undefined ? [] : [columnOf("censored", numbers.at(-1) as Values, null, 3, 2)]),
  ];
  const answers = quantities.map((one, q) => answered(one, numbers[q + 1] as Values));
  const positions = {
    ...{ name: "position", columns: ["x", "y", "z"], shape: [3], unit: length },
    values: placesOf(records, width, count),
  };
  const isFile = question.format === "nc" || question.format === "h5";
  const answer: RowsAnswer = {
    ...{ kind: "rows", count, leadColumns, quantities: answers, shape: [source.count, kept], positions },
    ...(isFile ? { paths: await fileOf(leadColumns, answers, points, times, kept) } : {}),
  };
  return { answer, restatements: found };
}

function made<T extends Numbers>(
  type: { from(of: { readonly length: number }, at: (_: unknown, i: number) => number): T },
  count: number,
  at: (i: number) => number,
): LongNumbers {
  const block = (from: number, to: number) => type.from({ length: to - from }, (_, i) => at(from + i));
  return new LongNumbers(typeOf(block(0, 0)), count, block);
}

function placesOf(records: Values, width: number, count: number): LongNumbers {
  return new LongNumbers("<f4", 3 * count, async (from, to) => {
    const first = Math.floor(from / 3);
    const block = await blockOf(records, width * first, width * Math.ceil(to / 3));
    return Float32Array.from(
      { length: to - from },
      (_, i) => block[width * (Math.floor((from + i) / 3) - first) + ((from + i) % 3)],
    );
  });
}

async function fileOf(
  lead: readonly Column[],
  quantities: RowsAnswer["quantities"],
  points: Points,
  times: Float64Array,
  records: number,
): Promise<NonNullable<RowsAnswer["paths"]>> {
  const columns = [...lead.filter(({ name }) => name !== "particle" && name !== "t"), ...columnsOf(quantities)];
  const count = points.count * records;
  const values = new Float32Array(columns.length * count);
  for (const [c, { values: from, stride, offset }] of columns.entries()) {
    const block = await blockOf(from, 0, from.length);
    for (let i = 0; i < count; i++) values[columns.length * i + c] = block[stride * i + offset];
  }
  const names = columns.map(({ name }) => name);
  const units = [lead.find(({ name }) => name === "t")?.unit ?? null, ...columns.map(({ unit }) => unit)];
  return {
    records: { particles: points.count, records, times: [...times], columns: names, units, values },
    starts: points.times,
  };
}
