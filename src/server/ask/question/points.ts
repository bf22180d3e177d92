/** Points of a question: rows, an input, or random points, read in parts or all at once. */
import { createHash } from "node:crypto";
import type { PointLines } from "../../../float32/point-lines.js";
import { excerpt } from "../../../shared/errors.js";
import { contradictionOf } from "../../../storage/dataset/units.js";
import { type Context, checkFits } from "../context.js";
import { outOfRange, wrong } from "../faults.js";
import { randomPoints } from "../points/random-points.js";
import type { MemberValues, RequestedPoints } from "./member-values.js";
import { boxIn, farthestOf } from "./where.js";

export const REPEATED_POINTS = 1000;
const STEP_POINTS = 4096;

/** Points as float32, and the time of each, if they have one. */
export interface Points {
  readonly triples: Float32Array;
  readonly times: Float64Array | null;
  readonly velocities: Float32Array | null;
  readonly count: number;
}

export interface PointSource {
  readonly count: number;
  read(from: number, to: number): Promise<Points>;
}

const columnNames = (width: number, isTimed: boolean): readonly string[] =>
  ["x", "y", "z", ...(isTimed ? ["t"] : []), "vx", "vy", "vz"].slice(0, width);

export async function openPoints(
  context: Context,
  values: MemberValues,
  isTimed: boolean,
  isGrouped = false,
): Promise<PointSource> {
  const { life, dataset, jobs } = context;
  const points = values.points as RequestedPoints;
  if ("pairs" in points || "tetrads" in points || ("together" in points && !isGrouped))
    throw wrong("points", "pairs and tetrads are for dispersion; take rows or random");
  if ("random" in points) {
    if (isTimed) throw wrong("points", "with a time for each, points are rows x, y, z, t");
    const { random, seed } = points;
    const { origin, extent } = boxIn(values, dataset);
    const read = async (from: number, to: number): Promise<Points> => {
      const triples = await randomPoints(life.slices, to - from, seed, origin, extent, "points", from);
      return { triples, times: null, velocities: null, count: to - from };
    };
    return { count: random, read };
  }
  const farthest = dataset.axes.map(farthestOf);
  for (const name of ["x", "y", "z", "i", "j", "k"] as const)
    if (values[name] !== undefined) throw wrong(name, "it is the box of random points, and the points are given");
  if ("input" in points) {
    const input = await jobs?.input(life.owner, points.input);
    if (input === undefined || input === null || jobs === null)
      throw wrong("points.input", "there is no input of that id");
    const rows = await jobs.inputs.open(input, isTimed);
    life.onEnd(() => void rows.close());
    const columns = columnNames(rows.width, isTimed);
    checkRows(rows.count, input, columns, context, values);
    const read = async (from: number, to: number) => pointsIn(await rows.read(from, to), from, columns, farthest);
    return { count: rows.count, read };
  }
  const { rows, width } = points;
  const columns = points.columns ?? columnNames(width, isTimed);
  checkRows(rows.length, points, columns, context, values);
  const isKnown = points.columns !== undefined || (isTimed ? [4, 7] : [3, 6]).includes(width);
  const row = isTimed
    ? "with a time for each, a row has x, y, z, t"
    : "a row has x, y, z; a fourth number needs time=each";
  if (!isKnown || isTimed !== columns.includes("t")) throw wrong("points", row);
  if (columns.includes("vx") && values.drag === undefined)
    throw wrong("points", "initial velocities vx, vy, vz are of particles with drag");
  const read = async (from: number, to: number) =>
    pointsIn(rows.subarray(width * from, width * to), from, columns, farthest);
  return { count: rows.length / width, read };
}

/** @throws RequestError for no rows, and a header with units that are not the dataset's, or velocities by other names */
function checkRows(
  count: number,
  { units: stated = [], unread = [] }: Partial<PointLines["header"]>,
  columns: readonly string[],
  { dataset: { name, units } }: Context,
  { drag }: MemberValues,
): void {
  if (count === 0) throw wrong("points", "at least one point is needed");
  if (drag !== undefined && unread.length > 0 && !columns.includes("vx"))
    throw wrong("points", `beside drag, ${excerpt(unread.join(", "))} is not read: name velocities vx, vy and vz`);
  const { length, time, velocity = length && time && `${length}/${time}` } = units;
  for (const { name: column, unit } of stated) {
    const [many, own = "no stated unit"] =
      column === "t" ? ["times", time] : column < "x" ? ["velocities", velocity] : ["lengths", length];
    if (contradictionOf(unit, own))
      throw wrong("points", `the header says ${excerpt(unit)}, and ${many} of "${name}" are in ${own}`);
  }
}

/** Reads all points of a question. `records`: of three float32 kept for each. Throws RequestError, LimitError. */
export async function pointsOf(
  context: Context,
  values: MemberValues,
  records: number,
  isTimed: boolean,
  isGrouped = false,
): Promise<Points> {
  return heldPoints(context, await openPoints(context, values, isTimed, isGrouped), records);
}

export async function heldPoints(context: Context, { count, read }: PointSource, records: number): Promise<Points> {
  const { life } = context;
  checkFits(context, count, 1, "points");
  await life.reserveGeneratedPoints(count, records);
  const triples = life.floats(3 * count);
  let [times, velocities]: [Float64Array | null, Float32Array | null] = [null, null];
  for (let from = 0; from < count; from += STEP_POINTS) {
    const some = await read(from, Math.min(count, from + STEP_POINTS));
    triples.set(some.triples, 3 * from);
    if (some.times !== null) {
      times ??= new Float64Array(count);
      times.set(some.times, from);
    }
    if (some.velocities !== null) {
      velocities ??= new Float32Array(3 * count);
      velocities.set(some.velocities, 3 * from);
    }
    await life.slices.pause();
  }
  return { triples, times, velocities, count };
}

export function sourceOf({ triples, times, velocities, count }: Points): PointSource {
  const read = async (from: number, to: number): Promise<Points> => ({
    triples: triples.subarray(3 * from, 3 * to),
    times: times?.subarray(from, to) ?? null,
    velocities: velocities?.subarray(3 * from, 3 * to) ?? null,
    count: to - from,
  });
  return { count, read };
}

/** The points in rows. `first`: number of the first row, for messages. `farthest`: along each axis. Throws RequestError. */
function pointsIn(rows: Float64Array, first: number, columns: readonly string[], farthest: readonly number[]): Points {
  const width = columns.length;
  const count = rows.length / width;
  const pick = <T extends Float32Array | Float64Array>(names: readonly string[], out: T): T => {
    for (const [c, name] of names.entries()) {
      const at = columns.indexOf(name);
      for (let i = 0; i < count; i++) out[names.length * i + c] = rows[width * i + at];
    }
    return out;
  };
  const triples = pick(["x", "y", "z"], new Float32Array(3 * count));
  const wrongAt = triples.findIndex((one, at) => !(Math.abs(one) <= farthest[at % 3]));
  if (wrongAt >= 0) {
    const [member, axis, value] = [`points[${first + Math.floor(wrongAt / 3)}]`, "xyz"[wrongAt % 3], triples[wrongAt]];
    if (!Number.isFinite(value)) throw wrong(member, `${axis} is not a finite float32`);
    throw outOfRange(member, `${axis} is ${value}, so far that float32 does not tell nodes apart`);
  }
  return {
    ...{ triples, count },
    times: columns.includes("t") ? pick(["t"], new Float64Array(count)) : null,
    velocities: columns.includes("vx") ? pick(["vx", "vy", "vz"], new Float32Array(3 * count)) : null,
  };
}

/** Rows with columns reordered to x, y, z, then t and velocities if given. */
export function plainRows(
  { rows, width, columns: given }: Extract<RequestedPoints, { readonly rows: Float64Array }>,
  isTimed: boolean,
): { readonly rows: Float64Array; readonly width: number } {
  const columns = given ?? columnNames(width, isTimed);
  const places = ["x", "y", "z", "t", "vx", "vy", "vz"].map((name) => columns.indexOf(name)).filter((at) => at >= 0);
  const count = rows.length / width;
  const out = new Float64Array(places.length * count);
  for (const [c, at] of places.entries())
    for (let i = 0; i < count; i++) out[places.length * i + c] = rows[width * i + at];
  return { rows: out, width: places.length };
}

/** Points as an answer restates them: large numbers of points by count and digest. */
export function pointsText(points: RequestedPoints): unknown {
  if (!("rows" in points)) return points;
  const { rows, width } = points.columns === undefined ? points : plainRows(points, false);
  const count = rows.length / width;
  if (count <= REPEATED_POINTS) return statedRows({ ...points, rows, width });
  const bytes = Buffer.from(rows.buffer, rows.byteOffset, rows.byteLength);
  return { count, sha256: createHash("sha256").update(bytes).digest("hex") };
}

export function statedRows({
  rows,
  width,
  together,
}: Extract<RequestedPoints, { readonly rows: Float64Array }>): unknown {
  const list = Array.from({ length: rows.length / width }, (_, i) => [...rows.subarray(width * i, width * (i + 1))]);
  return together === undefined ? list : { [together === 2 ? "pairs" : "tetrads"]: list };
}
