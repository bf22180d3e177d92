/** Answers `dispersion`: statistics of paths over time, without the paths. */
import type { DispersionSums, GroupSize, PathPart } from "../../../analysis/dispersion.js";
import { addPaths, dispersionMeans, dispersionSums } from "../../../analysis/dispersion.js";
import { compileExpression, componentsIn } from "../../../analysis/expression.js";
import { namesFor } from "../../../analysis/names.js";
import type { Dataset } from "../../../engine/contract/dataset.js";
import { joinedValues, type Query, writeTriples } from "../../../engine/contract/query.js";
import { withoutNoise } from "../../../float32/format.js";
import { tooManyPoints } from "../../../shared/errors.js";
import { numbered } from "../../../shared/random.js";
import { blockOf, type Values } from "../../../storage/tools/long-numbers.js";
import type { TimeSlices } from "../../http/policies/time-slices.js";
import type { RequestLife } from "../../http/request-life.js";
import { type Context, DryRun } from "../context.js";
import { wrong } from "../faults.js";
import { computeRuns } from "../parts.js";
import { RANDOM_POINT_RECORDS, randomPoints } from "../points/random-points.js";
import { valuesAlong } from "../points/values-along.js";
import type { MemberValues, RequestedPoints } from "../question/member-values.js";
import { motionIn, queryOver } from "../question/particles.js";
import { openPoints } from "../question/points.js";
import { pointDerivatives, spatialName } from "../question/schemes.js";
import { namesOf } from "../question/what.js";
import { intervalIn, stepIn } from "../question/when.js";
import { type Box, boxIn, boxOfAll } from "../question/where.js";
import { runQuery } from "../run-query.js";
import { type Tabled, tabled } from "./analysis.js";
import { onlyWhat } from "./spectra/spectral-quantities.js";

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
  const { every = 1, orders = [2] } = question;
  const { moves, found } = motionIn(question);
  const step = stepIn(question, dataset);
  const asked = alongIn(question, dataset);
  const { count, together, read } = await seedsOf(context, question);
  const query: Query = { ...queryOver(interval, step, dataset), ...{ recordEvery: every, ...moves } };
  const records = 2 + Math.abs(interval.end - interval.start) / step / every;
  checkAlong(asked, records, count, together);
  const most = Math.min(roomIn(life, query, context.part === null ? count : 0), PART_RECORDS / records);
  const part = together * Math.max(1, Math.floor(most / together));
  const tracked = async (from: number, to: number) => pathsOf(context, query, await read(from, to), from, count, asked);
  // Without particles, it tells the layout of records.
  let some = await tracked(0, context.part === null ? Math.min(part, count) : 0);
  const { times } = some;
  const gap = ((times.at(-1) as number) - times[0]) / (times.length - 1);
  if (asked?.isAll && !times.every((time, i) => Math.abs(time - times[0] - i * gap) <= 1e-6 * Math.abs(gap)))
    throw wrong("origins", "all needs records at equal times: choose step and every so that they end at the end");
  const sizes = [some.width, 3, ...(question.what === undefined ? [] : [asked?.names.length ?? 0])];
  const widths = sizes.map((size) => size * some.records);
  const numbersOf = async (from: number, to: number) => (await tracked(from, to)).numbers;
  const held = context.part === null ? null : await computeRuns(context, count, widths, numbersOf, together);
  if (context.part instanceof DryRun) return tabled({}, {});
  const sums = dispersionSums(some.records, together, orders, asked);
  for (let from = 0; from < count; from += part) {
    const to = Math.min(count, from + part);
    if (held !== null) {
      const blockIn = (all: Values, n: number) => blockOf(all, widths[n] * from, widths[n] * to);
      some = { ...some, particles: to - from, numbers: (await Promise.all(held.map(blockIn))) as Float32Array[] };
    } else if (from > 0) some = await tracked(from, to);
    const [positions, velocities, values = velocities] = some.numbers as [Float32Array, Float32Array, Float32Array?];
    await addAll(sums, { ...some, positions, velocities, values }, life.slices);
  }
  return tabled(
    { times, ...dispersionMeans(sums, question.remove !== "none") },
    { ...found, step, orders, ...(question.increments === undefined ? {} : { origins: question.origins ?? "start" }) },
  );
}

/** @throws RequestError for increments that would take too long or whose histograms are too large */
function checkAlong(given: ReturnType<typeof alongIn>, records: number, all: number, one: number): void {
  const size = given?.names.length ?? 0;
  const terms = given?.isAll ? ((records ** 2 / 2) * (given.orders ?? []).length * size) / 3 : 0;
  if (terms * one > INCREMENTS.company || terms * all > INCREMENTS.all)
    throw wrong("origins", `all of ${Math.floor(records)} records are too many: state every, or fewer points`);
  const numbers = size * Math.floor(records) * (given?.bins?.count ?? 0);
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

/** Particles at the recorded times, and what is `asked` along their paths. `all`: those of the question, from `first` on. */
async function pathsOf(
  { life, dataset }: Context,
  query: Query,
  points: Float32Array,
  first: number,
  all: number,
  asked: ReturnType<typeof alongIn>,
) {
  const particles = points.length / 3;
  const result = await runQuery(life, query, (evaluation) => {
    writeTriples(evaluation.points, points);
    if (query.diffusion !== undefined) writeTriples(evaluation.velocities, numbered(first, particles));
    // One slot serves all parts.
    if (particles > 0) life.declareWork((3 * evaluation.work * all) / particles);
  });
  try {
    const columns = [compileExpression("u", namesFor(dataset), "with"), ...(asked?.columns ?? [])];
    const along = await valuesAlong(life, columns, asked?.derivatives ?? "Fd4Lag4", query, result, null);
    const { itemsPerPoint: records, components: width, recordTimes = [] } = result;
    const times = Array.from(recordTimes, withoutNoise);
    return { particles, records, width, times, numbers: [joinedValues(result), ...along.map(({ values }) => values)] };
  } finally {
    result.release();
  }
}

/** The quantity along paths, and its increments or bins. Throws RequestError. */
function alongIn(question: MemberValues, dataset: Dataset) {
  const { what, increments, origins, bins, range } = question;
  if (increments === undefined && origins !== undefined)
    throw wrong("origins", "it is of increments, which state powers");
  if ((bins === undefined) !== (range === undefined)) throw wrong("bins", "histograms have bins and range");
  const binned = bins === undefined || range === undefined ? null : { count: bins, range };
  if (increments === undefined && binned === null) {
    if (what === undefined) return null;
    throw wrong("what", "its increments or histograms are answered: state increments, or bins and range");
  }
  const { name, text } = onlyWhat(question, dataset);
  const column = compileExpression(text, namesOf(question, dataset), "what");
  const [names, columns] = what ? [componentsIn(name, column.shape), [column]] : [["x", "y", "z"], []];
  const options = { orders: increments ?? null, isAll: origins === "all", bins: binned };
  return { ...options, names, columns, derivatives: spatialName(pointDerivatives(question)) };
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
  readonly count: number;
  readonly together: GroupSize;
  /** The start positions of whole groups. */
  read(from: number, to: number): Promise<Float32Array>;
}

/** The start positions in order. Throws RequestError if they leave the domain, LimitError. */
async function seedsOf(context: Context, question: MemberValues): Promise<Seeds> {
  const { dataset, life, part } = context;
  const wanted = question.points as RequestedPoints;
  if ("rows" in wanted || "input" in wanted) {
    const source = await openPoints(context, question, false, true);
    const together = ("rows" in wanted && wanted.together) || 1;
    if (part === null) await life.reserveGeneratedPoints(source.count, RANDOM_POINT_RECORDS);
    return { count: source.count, together, read: async (from, to) => (await source.read(from, to)).triples };
  }
  const { seed } = wanted;
  const { groups, together, corners, edge, reach } = groupsIn(wanted);
  if (part === null) await life.reserveGeneratedPoints(groups * together, RANDOM_POINT_RECORDS);
  const { origin, extent } = insetBox(reach, dataset, boxIn(question, dataset));
  const read = async (from: number, to: number): Promise<Float32Array> => {
    const [first, count] = [from / together, (to - from) / together];
    const centres = await randomPoints(life.slices, count, seed, origin, extent, "points", first);
    return together === 1 ? centres : turned(life.slices, centres, corners, edge, seed, first);
  };
  return { count: groups * together, together, read };
}

function groupsIn(wanted: Drawn) {
  if ("random" in wanted) return { groups: wanted.random, together: 1, corners: [], edge: 0, reach: 0 } as const;
  const edge = wanted.distance;
  if ("pairs" in wanted) return { groups: wanted.pairs, together: 2, corners: PAIR, edge, reach: edge / 2 } as const;
  return { groups: wanted.tetrads, together: 4, corners: TETRAD, edge, reach: edge * Math.sqrt(3 / 8) } as const;
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
    const [from, to] = [origin[a], origin[a] + extent[a]];
    if (periodic) return [from, to] as const;
    const [first, length] = [whole.origin[a], whole.extent[a]];
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
  first: number,
): Promise<Float32Array> {
  const count = centres.length / 3;
  const turns = await randomPoints(slices, count, seed, [0, 0, 0], [1, 2 * Math.PI, 2 * Math.PI], "directions", first);
  const points = new Float32Array(centres.length * corners.length);
  const turn = (i: number): void => {
    const [part, a, b] = turns.subarray(i, i + 3) as unknown as [number, number, number];
    const [s, t] = [Math.sqrt(1 - part), Math.sqrt(part)];
    const rows = rotation(s * Math.sin(a), s * Math.cos(a), t * Math.sin(b), t * Math.cos(b));
    let at = i * corners.length;
    for (const corner of corners)
      for (const [c, row] of rows.entries())
        points[at++] = centres[i + c] + size * row.reduce((sum, r, k) => sum + r * corner[k], 0);
  };
  const turnSome = (from: number, to: number): void => {
    for (let i = from; i < to; i++) turn(3 * i);
  };
  await slices.each(count, turnSome, TURNED_TOGETHER);
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
