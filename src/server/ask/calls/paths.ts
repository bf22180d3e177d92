/** Answers `paths`: particles over an interval, with quantities along them. */
import { joinedValues, type Query, type Result } from "../../../engine/contract/query.js";
import { withoutNoise } from "../../../float32/format.js";
import { type Integrator, type OperationName, RECORDS, type SpatialInterpolation } from "../../../shared/operations.js";
import type { Numbers } from "../../../storage/tools/long-numbers.js";
import { type CallAnswer, type Column, columnOf, type RowsAnswer } from "../answer.js";
import { answered, type Context } from "../context.js";
import { wrong } from "../faults.js";
import { answerAtOwnTimes } from "../points/own-times.js";
import { valuesAlong } from "../points/values-along.js";
import type { MemberValues } from "../question/member-values.js";
import { type Points, pointsOf } from "../question/points.js";
import { compileWhat, namesOf, pointDerivatives, type Quantity, spatialName } from "../question/what.js";
import { type Interval, intervalIn, stepIn } from "../question/when.js";
import { runAtPoints } from "../run-query.js";
import { unitOf } from "./values.js";

/** Records of three float32 kept per point of a path. */
const PATH_RECORDS = 2;

/** The integrator; particles with drag use heun only. @throws RequestError */
function integratorOf({ integrator, drag }: MemberValues): Integrator {
  if (drag === undefined) return integrator ?? "rk4";
  if (integrator === undefined || integrator === "heun") return "heun";
  throw wrong("integrator", "particles with drag are tracked by heun");
}

function queryOf(question: MemberValues, interval: Interval, step: number, { dataset }: Context): Query {
  const { method = "Lag8", tolerance, every = 1, open_faces = "stop", last = false, drag, frozen = false } = question;
  const integrator = integratorOf(question);
  const length = "each" in interval ? interval.each : interval.end - interval.start;
  const steps = Math.max(1, Math.ceil(Math.abs(length) / step - 1e-9));
  const common = {
    ...{ dataset: dataset.name, spatialInterpolation: spatialName(method) as SpatialInterpolation, integrator },
    ...{ openFaces: open_faces, exitTimes: true, recordEvery: last ? steps : every },
    ...{ ...(tolerance === undefined ? {} : { tolerance }), ...(drag === undefined ? {} : { Tp: drag }) },
    ...(frozen ? { frozen } : {}),
  };
  const named = (tracer: OperationName, times: object): Query =>
    ({ operation: drag === undefined ? tracer : "GetPositionInertialParticle", ...times, ...common }) as Query;
  if (drag !== undefined && length < 0) throw wrong("time", "particles with drag are not tracked backwards");
  if (!("each" in interval))
    return named("GetPositionByEnd", { StartTime: interval.start, EndTime: interval.end, dt: step });
  if (Math.abs(steps * step - Math.abs(length)) > 1e-6 * step)
    throw wrong("time", `each:D needs a whole number of steps: ${Math.abs(length)} is not one of ${step}`);
  return named("GetPosition", { dt: Math.sign(length) * step, nt: steps });
}

async function track({ life }: Context, query: Query, points: Points): Promise<Result> {
  if (points.times !== null) {
    const result = await answerAtOwnTimes(life, query, "StartTime", {
      ...{ points: points.triples, times: points.times },
      ...(points.velocities === null ? {} : { velocities: points.velocities }),
    });
    // Records of paths with different starts are timed from their own start.
    const recordTimes = result.recordTimes?.map((time, _, [start = 0]) => time - start);
    return { ...result, ...(recordTimes === undefined ? {} : { recordTimes }) };
  }
  return runAtPoints(life, query, points.triples, (own) => life.limit(own), points.velocities);
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
    if (parts.length === 1) return parts[0] as Float32Array;
    const width = names.length / parts.length;
    const out = new Float32Array(parts.length * (parts[0] as Float32Array).length);
    for (const [e, part] of parts.entries())
      for (let i = 0; i < part.length; i++)
        out[names.length * Math.floor(i / width) + width * e + (i % width)] = part[i] as number;
    return out;
  });
}

export async function paths(context: Context, question: MemberValues): Promise<CallAnswer<RowsAnswer>> {
  const { life, dataset } = context;
  const { what = [], last = false } = question;
  const interval = intervalIn(question);
  const isEach = "each" in interval;
  const quantities = compileWhat(what, namesOf(question, dataset));
  const step = stepIn(question, dataset);
  const points = await pointsOf(context, question, PATH_RECORDS, isEach);
  if (points.velocities !== null && question.drag === undefined)
    throw wrong("points", "initial velocities vx, vy, vz are of particles with drag");
  const query = queryOf(question, interval, step, context);
  const result = await track(context, query, points);
  const values = await along(context, quantities, question, query, result, points.times);
  const { itemsPerPoint: all, components: width, recordTimes = new Float64Array(1) } = result;
  const names: readonly string[] = RECORDS[result.record ?? "Point3"];
  const records = joinedValues(result);
  const first = last ? all - 1 : 0;
  const kept = all - first;
  const count = points.count * kept;
  const row = (i: number): number => all * Math.floor(i / kept) + first + (i % kept);
  const pick = (source: Float32Array, size: number): Float32Array => {
    if (first === 0) return source;
    const out = life.floats(size * count);
    for (let i = 0; i < count; i++)
      for (let c = 0; c < size; c++) out[size * i + c] = source[size * row(i) + c] as number;
    return out;
  };
  const [time, length] = [unitOf(dataset, "time"), unitOf(dataset, "length")];
  const times = Float64Array.from({ length: count }, (_, i) =>
    withoutNoise((points.times?.[Math.floor(i / kept)] ?? 0) + (recordTimes[first + (i % kept)] as number)),
  );
  const own = pick(records, width);
  const exit = names.indexOf("exit");
  const steps = names.indexOf("steps");
  const none = new Float32Array(exit < 0 ? count : 0).fill(Number.NaN);
  const leadColumns: Column[] = [
    columnOf(
      "particle",
      Int32Array.from({ length: count }, (_, i) => Math.floor(i / kept)),
    ),
    columnOf("t", times, time),
    ...["x", "y", "z"].map((name, c) => columnOf(name, own, length, width, c)),
    exit < 0 ? columnOf("exit", none, time) : columnOf("exit", own, time, width, exit),
    ...(steps < 0 ? [] : [columnOf("steps", own, null, width, steps)]),
  ];
  const answers = quantities.map((one, q) => answered(one, pick(values[q] as Float32Array, one.columns.length)));
  const positions = {
    name: "position",
    columns: ["x", "y", "z"],
    shape: [3],
    unit: length,
    values: placesOf(own, width, count),
  };
  const answer: RowsAnswer = {
    kind: "rows",
    count,
    leadColumns,
    quantities: answers,
    shape: [points.count, kept],
    positions,
    paths: fileOf(leadColumns, answers, points, recordTimes.subarray(first), kept),
  };
  const found = { integrator: integratorOf(question), step, frozen: question.frozen || undefined };
  return { answer, found };
}

function placesOf(records: Float32Array, width: number, count: number): Float32Array {
  const out = new Float32Array(3 * count);
  for (let i = 0; i < count; i++) for (let c = 0; c < 3; c++) out[3 * i + c] = records[width * i + c] as number;
  return out;
}

/** Paths in the CF layout of trajectories. */
function fileOf(
  lead: readonly Column[],
  quantities: RowsAnswer["quantities"],
  points: Points,
  times: Float64Array,
  records: number,
): RowsAnswer["paths"] {
  const columns = [
    ...lead.filter(({ name }) => name !== "particle" && name !== "t"),
    ...quantities.flatMap(({ columns: names, values }) =>
      names.map((name, c) => columnOf(name, values, null, names.length, c)),
    ),
  ];
  const count = points.count * records;
  const values = new Float32Array(columns.length * count);
  for (const [c, { values: from, stride, offset }] of columns.entries())
    for (let i = 0; i < count; i++) values[columns.length * i + c] = (from as Numbers)[stride * i + offset] as number;
  const names = columns.map(({ name }) => name);
  return {
    records: { particles: points.count, records, times: [...times], columns: names, values },
    starts: points.times,
  };
}
