/** Computes dispersion: statistics of paths over time, without the paths. */
import {
  type AskedIncrements,
  addPaths,
  type Company,
  type DispersionSums,
  dispersionMeans,
  dispersionSums,
  type PathPart,
} from "../../../analysis/dispersion.js";
import type { GroupAnswer } from "../../../analysis/reductions.js";
import type { Dataset, OpenFaces } from "../../../engine/contract/dataset.js";
import type { Query } from "../../../engine/contract/query.js";
import type { Integrator, SpatialInterpolation } from "../../../shared/operations.js";
import type { TimeSlices } from "../../http/policies/time-slices.js";
import { refuse } from "../../http/refusal.js";
import { randomPoints } from "../points/point-columns.js";
import { boxOf, type Lengths } from "../question/region.js";
import type { Means } from "./statistics.js";

const PART_RECORDS = 2 ** 20;
const SLICE_RECORDS = 8192;
/** Terms of increments from all records: of a company, which is one turn, and of all; and numbers of histograms. */
const INCREMENTS = { company: 2 ** 22, all: 2 ** 30, numbers: 2 ** 20 } as const;
const TURNED_TOGETHER = 512;

/** Particles at random places; pairs of them at a distance, or regular tetrads with such edges; or given points. */
type AskedSeeds =
  | { readonly random: number; readonly seed: number }
  | { readonly pairs: number; readonly distance: number; readonly seed: number }
  | { readonly tetrads: number; readonly distance: number; readonly seed: number }
  | { readonly points: Float32Array; readonly together: Company };

export interface AskedDispersion {
  readonly start: number;
  readonly end: number;
  readonly dt: number;
  readonly every: number;
  readonly seeds: AskedSeeds;
  readonly region?: Lengths;
  readonly orders: readonly number[];
  readonly remove: "mean" | "none";
  readonly increments?: AskedIncrements | undefined;
  readonly method: string;
  readonly integrator: Integrator;
  readonly tolerance?: number;
  readonly openFaces: OpenFaces;
}

/** Computes the answer: particles are tracked part by part and added up in their order. */
export async function dispersion(
  asked: AskedDispersion,
  dataset: Dataset,
  { admit, paths, slices }: Means,
): Promise<GroupAnswer> {
  const { start, end, dt, every, orders } = asked;
  await admit(seedCount(asked.seeds));
  const { points, together } = await seedsOf(asked, dataset, slices);
  const count = points.length / 3;
  const query = queryOf(asked, dataset);
  const records = 2 + Math.abs(end - start) / dt / every;
  checkIncrements(asked, records, count, together);
  const most = Math.min(paths.roomFor(query, count), PART_RECORDS / records);
  const part = together * Math.max(1, Math.floor(most / together));
  let sums: DispersionSums | null = null;
  let times: readonly number[] = [];
  for (let from = 0; from < count; from += part) {
    const some = await paths.along(query, points.subarray(3 * from, 3 * (from + part)));
    sums ??= dispersionSums(some.records, together, orders, asked.increments ?? null);
    await addAll(sums, some, slices);
    ({ times } = some);
    if (asked.increments?.isAll && !areUniform(times))
      throw refuse(
        "origins",
        "origins: all needs records at equal times: choose step and every so that they end at the end.",
      );
  }
  return { times, ...dispersionMeans(sums as DispersionSums, asked.remove !== "none") };
}

function checkIncrements({ increments: given }: AskedDispersion, records: number, all: number, one: number): void {
  const terms = given?.isAll ? (records ** 2 / 2) * given.orders.length : 0;
  if (terms * one > INCREMENTS.company || terms * all > INCREMENTS.all)
    throw refuse(
      "origins",
      `origins: all of ${Math.floor(records)} records are too many: state every, or fewer points.`,
    );
  const numbers = 3 * Math.floor(records) * (given?.bins?.count ?? 0);
  if (numbers > INCREMENTS.numbers)
    throw refuse("bins", `bins: the histograms have ${numbers} numbers; at most ${INCREMENTS.numbers} are sent.`);
}

function areUniform(times: readonly number[]): boolean {
  const step = ((times.at(-1) as number) - (times[0] as number)) / (times.length - 1);
  return times.every((time, i) => Math.abs(time - (times[0] as number) - i * step) <= 1e-6 * Math.abs(step));
}

async function addAll(sums: DispersionSums, part: PathPart, slices: TimeSlices): Promise<void> {
  const companies = part.particles / sums.company;
  const step = Math.ceil(SLICE_RECORDS / (part.records * sums.company));
  for (let from = 0; from < companies; from += step) {
    if (from > 0) await slices.pause();
    addPaths(sums, part, from, Math.min(companies, from + step));
  }
}

function queryOf(asked: AskedDispersion, dataset: Dataset): Query {
  const { start, end, dt, every, integrator, method, tolerance, openFaces } = asked;
  return {
    ...{ operation: "GetPositionByEnd", dataset: dataset.name, StartTime: start, EndTime: end, dt, recordEvery: every },
    ...{ spatialInterpolation: method as SpatialInterpolation, integrator, openFaces, exitTimes: true },
    ...(tolerance === undefined ? {} : { tolerance }),
  };
}

interface Seeds {
  readonly points: Float32Array;
  readonly together: Company;
}

function seedCount(seeds: AskedDispersion["seeds"]): number {
  if ("points" in seeds) return seeds.points.length / 3;
  if ("random" in seeds) return seeds.random;
  return "pairs" in seeds ? 2 * seeds.pairs : 4 * seeds.tetrads;
}

/** The seeds in their order. @throws RequestError if they do not fit into the domain */
async function seedsOf({ seeds, region }: AskedDispersion, dataset: Dataset, slices: TimeSlices): Promise<Seeds> {
  if ("points" in seeds) return seeds;
  const drawn = (count: number, seed: number | undefined, reach: number): Promise<Float32Array> => {
    const { origin, extent } = roomFor(reach, dataset, region);
    return randomPoints(slices, count, seed ?? 0, origin, extent);
  };
  if ("random" in seeds) return { points: await drawn(seeds.random, seeds.seed, 0), together: 1 };
  const { distance, seed } = seeds;
  if ("pairs" in seeds) {
    const centres = await drawn(seeds.pairs, seed, distance / 2);
    return { points: await turned(slices, centres, PAIR, distance, seed), together: 2 };
  }
  const centres = await drawn(seeds.tetrads, seed, distance * Math.sqrt(3 / 8));
  return { points: await turned(slices, centres, TETRAD, distance, seed), together: 4 };
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

/** Where centres may be: as far as `reach` from faces that are not periodic. @throws RequestError if nowhere */
function roomFor(
  reach: number,
  dataset: Dataset,
  region: AskedDispersion["region"],
): { readonly origin: readonly number[]; readonly extent: readonly number[] } {
  const { origin, extent } = boxOf(dataset, region);
  const whole = boxOf(dataset, undefined);
  const runs = dataset.axes.map(({ periodic }, a) => {
    const [from, to] = [origin[a] as number, (origin[a] as number) + (extent[a] as number)];
    if (periodic) return [from, to] as const;
    const [first, length] = [whole.origin[a] as number, whole.extent[a] as number];
    return [Math.max(from, first + reach), Math.min(to, first + length - reach)] as const;
  });
  if (runs.some(([from, to]) => from > to)) throw refuse("points", "points: there is no room for them in the box.");
  return { origin: runs.map(([from]) => from), extent: runs.map(([from, to]) => to - from) };
}

/** Puts corners around centres, each set turned at random. Source: Shoemake, Graphics Gems III (1992) 124. */
async function turned(
  slices: TimeSlices,
  centres: Float32Array,
  corners: readonly (readonly number[])[],
  size: number,
  seed = 0,
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
