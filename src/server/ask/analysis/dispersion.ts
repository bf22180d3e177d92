/** Answers `dispersion`: statistics of paths over time, without the paths. */
import {
  addPaths,
  type DispersionSums,
  dispersionMeans,
  dispersionSums,
  type GroupSize,
  type PathPart,
} from "../../../analysis/dispersion.js";
import { compileExpression } from "../../../analysis/expression.js";
import { namesFor } from "../../../analysis/names.js";
import type { Dataset } from "../../../engine/contract/dataset.js";
import { joinedValues, type Query, writeTriples } from "../../../engine/contract/query.js";
import { withoutNoise } from "../../../float32/format.js";
import { tooManyPoints } from "../../../shared/errors.js";
import type { SpatialInterpolation } from "../../../shared/operations.js";
import type { TimeSlices } from "../../http/policies/time-slices.js";
import type { RequestLife } from "../../http/request-life.js";
import type { Context } from "../context.js";
import { wrong } from "../faults.js";
import { DRAWN_RECORDS, randomPoints } from "../points/point-columns.js";
import { valuesAlong } from "../points/values-along.js";
import type { MemberValues, RequestedPoints } from "../question/member-values.js";
import { pointsOf } from "../question/points.js";
import { spatialName } from "../question/what.js";
import { intervalIn, stepIn } from "../question/when.js";
import { type Box, boxIn, boxOfAll } from "../question/where.js";
import { runQuery } from "../run-query.js";
import { type Tabled, tabled } from "./analysis.js";

/** Records that are held at once. */
const PART_RECORDS = 2 ** 20;
/** Records added between two checks of the clock. */
const SLICE_RECORDS = 8192;
/** Bounds on increments: terms of a group of particles, which one turn adds, terms of all groups, and bins. */
const INCREMENTS = { company: 2 ** 22, all: 2 ** 30, numbers: 2 ** 20 } as const;
/** Groups turned between two checks of the clock. */
const TURNED_TOGETHER = 512;

/** Random particles, pairs at a given distance, or regular tetrads with edges of a given length. */
type Drawn = Exclude<RequestedPoints, { readonly rows: unknown } | { readonly input: unknown }>;

/** Tracks particles part by part and adds up the statistics in their order. */
export async function dispersion(context: Context, question: MemberValues): Promise<Tabled> {
  const { dataset, life } = context;
  const interval = intervalIn(question);
  if ("each" in interval) throw wrong("time", "dispersion starts all particles at once: first:last");
  const { every = 1, orders = [2], integrator = "rk4", open_faces = "stop", tolerance } = question;
  const step = stepIn(question, dataset);
  const increments = incrementsIn(question);
  const { points, together } = await seedsOf(context, question);
  const query: Query = {
    ...{ operation: "GetPositionByEnd", dataset: dataset.name, StartTime: interval.start, EndTime: interval.end },
    ...{ dt: step, recordEvery: every, integrator, openFaces: open_faces, exitTimes: true },
    spatialInterpolation: spatialName(question.method ?? "Lag8") as SpatialInterpolation,
    ...(tolerance === undefined ? {} : { tolerance }),
  };
  const count = points.length / 3;
  const records = 2 + Math.abs(interval.end - interval.start) / step / every;
  checkIncrements(increments, records, count, together);
  const most = Math.min(roomIn(life, query, count), PART_RECORDS / records);
  const part = together * Math.max(1, Math.floor(most / together));
  let sums: DispersionSums | null = null;
  let times: readonly number[] = [];
  for (let from = 0; from < count; from += part) {
    const some = await pathsOf(context, query, points.subarray(3 * from, 3 * (from + part)), count);
    sums ??= dispersionSums(some.records, together, orders, increments);
    await addAll(sums, some, life.slices);
    ({ times } = some);
    if (increments?.isAll && !areUniform(times))
      throw wrong("origins", "all needs records at equal times: choose step and every so that they end at the end");
  }
  return tabled(
    { times, ...dispersionMeans(sums as DispersionSums, question.remove !== "none") },
    { step, orders, ...(increments === null ? {} : { origins: question.origins ?? "start" }) },
  );
}

/** @throws RequestError for increments that would take too long or whose histograms are too large */
function checkIncrements(given: ReturnType<typeof incrementsIn>, records: number, all: number, one: number): void {
  const terms = given?.isAll ? (records ** 2 / 2) * given.orders.length : 0;
  if (terms * one > INCREMENTS.company || terms * all > INCREMENTS.all)
    throw wrong("origins", `all of ${Math.floor(records)} records are too many: state every, or fewer points`);
  const numbers = 3 * Math.floor(records) * (given?.bins?.count ?? 0);
  if (numbers > INCREMENTS.numbers)
    throw wrong("bins", `the histograms have ${numbers} numbers; at most ${INCREMENTS.numbers} are sent`);
}

/** The particles that fit into one query. Throws LimitError if `count` are too many for the request. */
function roomIn(life: RequestLife, query: Query, count: number): number {
  const limitOf = (one: Query) => {
    const evaluation = life.start(one);
    evaluation.abort();
    life.forget(evaluation);
    return life.limit(evaluation.limit);
  };
  const { recordEvery: _, ...unrecorded } = query;
  const { points, name, tracking } = limitOf(unrecorded);
  if (count > points) throw tooManyPoints(name, count, points, tracking);
  return limitOf(query).points;
}

/** Positions and velocities of particles at the recorded times. `all`: number of particles of the question. */
async function pathsOf(
  { life, dataset }: Context,
  query: Query,
  points: Float32Array,
  all: number,
): Promise<PathPart & { readonly times: readonly number[] }> {
  const particles = points.length / 3;
  const result = await runQuery(life, query, (evaluation) => {
    writeTriples(evaluation.points, points);
    // One slot serves all parts.
    life.declareWork((3 * evaluation.work * all) / particles);
  });
  try {
    const velocity = [compileExpression("u", namesFor(dataset), "with")];
    const [along] = await valuesAlong(life, velocity, "Fd4Lag4", query, result, null);
    const { itemsPerPoint: records, components: width, recordTimes = [] } = result;
    const times = Array.from(recordTimes, withoutNoise);
    const velocities = along?.values as Float32Array;
    return { particles, records, width, positions: joinedValues(result), velocities, times };
  } finally {
    result.release();
  }
}

/** Increments along paths. Throws RequestError. */
function incrementsIn({ increments, origins, bins, range }: MemberValues) {
  const other = Object.entries({ origins, bins, range }).find(([, value]) => value !== undefined);
  if (increments === undefined && other !== undefined) throw wrong(other[0], "it is of increments, which state powers");
  if (increments === undefined) return null;
  const odd = increments.find((p) => !(p > 0 && p <= 16));
  if (odd !== undefined) throw wrong("increments", `expected powers above 0 and up to 16, not ${odd}`);
  if ((bins === undefined) !== (range === undefined)) throw wrong("bins", "histograms have bins and range");
  if (range !== undefined && !(range[0] < range[1])) throw wrong("range", "the first edge must be below the last");
  const binned = bins === undefined || range === undefined ? null : { count: bins, range };
  return { orders: increments, isAll: origins === "all", bins: binned };
}

function areUniform(times: readonly number[]): boolean {
  const step = ((times.at(-1) as number) - (times[0] as number)) / (times.length - 1);
  return times.every((time, i) => Math.abs(time - (times[0] as number) - i * step) <= 1e-6 * Math.abs(step));
}

async function addAll(sums: DispersionSums, part: PathPart, slices: TimeSlices): Promise<void> {
  const companies = part.particles / sums.groupSize;
  const step = Math.ceil(SLICE_RECORDS / (part.records * sums.groupSize));
  for (let from = 0; from < companies; from += step) {
    if (from > 0) await slices.pause();
    addPaths(sums, part, from, Math.min(companies, from + step));
  }
}

interface Seeds {
  readonly points: Float32Array;
  readonly together: GroupSize;
}

/** The start positions in order. Throws RequestError if they leave the domain, LimitError. */
async function seedsOf(context: Context, question: MemberValues): Promise<Seeds> {
  const { dataset, life } = context;
  const wanted = question.points as RequestedPoints;
  if ("rows" in wanted || "input" in wanted) {
    const { triples, count } = await pointsOf(context, question, 0, false, true);
    await life.reserveGeneratedPoints(count, DRAWN_RECORDS);
    return { points: triples, together: ("rows" in wanted && wanted.together) || 1 };
  }
  const box = boxIn(question, dataset);
  const { slices } = life;
  await life.reserveGeneratedPoints(countOf(wanted), DRAWN_RECORDS);
  const { seed } = wanted;
  const drawn = (count: number, reach: number): Promise<Float32Array> => {
    const { origin, extent } = insetBox(reach, dataset, box);
    return randomPoints(slices, count, seed, origin, extent);
  };
  if ("random" in wanted) return { points: await drawn(wanted.random, 0), together: 1 };
  const { distance } = wanted;
  if ("pairs" in wanted) {
    const centres = await drawn(wanted.pairs, distance / 2);
    return { points: await turned(slices, centres, PAIR, distance, seed), together: 2 };
  }
  const centres = await drawn(wanted.tetrads, distance * Math.sqrt(3 / 8));
  return { points: await turned(slices, centres, TETRAD, distance, seed), together: 4 };
}

function countOf(wanted: Drawn): number {
  if ("random" in wanted) return wanted.random;
  return "pairs" in wanted ? 2 * wanted.pairs : 4 * wanted.tetrads;
}

/** Corners of a pair and of a regular tetrad around its centre, with edges of length 1. */
const PAIR = [
  [-0.5, 0, 0],
  [0.5, 0, 0],
] as const;
const TETRAD = [
  [1, 1, 1],
  [1, -1, -1],
  [-1, 1, -1],
  [-1, -1, 1],
].map((corner) => corner.map((x) => x / Math.sqrt(8)));

/** The box of possible centres, at least `reach` away from open faces. Throws RequestError if it is empty. */
function insetBox(reach: number, dataset: Dataset, { origin, extent }: Box): Box {
  const whole = boxOfAll(dataset);
  const runs = dataset.axes.map(({ periodic }, a) => {
    const [from, to] = [origin[a] as number, (origin[a] as number) + (extent[a] as number)];
    if (periodic) return [from, to] as const;
    const [first, length] = [whole.origin[a] as number, whole.extent[a] as number];
    return [Math.max(from, first + reach), Math.min(to, first + length - reach)] as const;
  });
  if (runs.some(([from, to]) => from > to)) throw wrong("points", "there is no room for them in the box");
  return { origin: runs.map(([from]) => from), extent: runs.map(([from, to]) => to - from) };
}

/** Puts corners around centres, each set turned at random. Source: Shoemake, Graphics Gems III (1992) 124. */
async function turned(
  slices: TimeSlices,
  centres: Float32Array,
  corners: readonly (readonly number[])[],
  size: number,
  seed: number,
): Promise<Float32Array> {
  const count = centres.length / 3;
  const turns = await randomPoints(slices, count, seed, [0, 0, 0], [1, 2 * Math.PI, 2 * Math.PI], "directions");
  const points = new Float32Array(centres.length * corners.length);
  const turn = (i: number): void => {
    const [part, a, b] = turns.subarray(i, i + 3) as unknown as [number, number, number];
    const [s, t] = [Math.sqrt(1 - part), Math.sqrt(part)];
    const rows = rotation(s * Math.sin(a), s * Math.cos(a), t * Math.sin(b), t * Math.cos(b));
    let at = i * corners.length;
    for (const corner of corners)
      for (const [c, row] of rows.entries())
        points[at++] =
          (centres[i + c] as number) + size * row.reduce((sum, r, k) => sum + r * (corner[k] as number), 0);
  };
  await slices.each(
    count,
    (from, to) => {
      for (let i = from; i < to; i++) turn(3 * i);
    },
    TURNED_TOGETHER,
  );
  return points;
}

/** The rotation of a unit quaternion, row by row. */
function rotation(x: number, y: number, z: number, w: number): readonly (readonly number[])[] {
  return [
    [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
    [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
    [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
  ];
}
