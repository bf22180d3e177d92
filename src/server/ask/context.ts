/** What answering a question works with, and the members that its answer states as they were understood. */
import { createHash } from "node:crypto";
import type { Dataset } from "../../engine/contract/dataset.js";
import type { CutoutThread } from "../../engine/cutouts/cutout-thread.js";
import { LimitError } from "../../shared/errors.js";
import type { RequestLife } from "../http/request-life.js";
import type { Service } from "../http/service.js";
import { randomPoints } from "../rest/analysis/point-columns.js";
import type { AnsweredQuantity } from "./answer.js";
import { wrong } from "./faults.js";
import type { AskedPoints, AskedQuantity, AskedTimes, MemberValues } from "./read-member.js";
import { type Quantity, whatTexts } from "./what.js";
import { boxIn } from "./where.js";

/** What a call answers with. */
export interface Context {
  readonly life: RequestLife;
  readonly service: Service;
  readonly thread: CutoutThread;
  readonly dataset: Dataset;
}

/** Members as they were understood: those that were given, and defaults that the call adds. */
export type Understood = Readonly<Record<string, unknown>>;

/** Rows of points that an answer repeats. */
const REPEATED_POINTS = 1000;

/** Points of a question as float32, and the time of each, if they have one. */
export interface Points {
  readonly triples: Float32Array;
  readonly times: Float64Array | null;
  /** Initial velocities, if they are given. */
  readonly velocities: Float32Array | null;
  readonly count: number;
}

/**
 * Checks what a call evaluates at all of its times.
 *
 * @throws LimitError that says how many of either fit
 */
export function checkFits(
  { life, service }: Context,
  count: number,
  times: number,
  of: "points" | "samples" | "nodes",
): void {
  const most = service.config.limits["query.points"];
  const { points, name } = life.limit({ points: most, name: "query.points" });
  if (count * times <= points) return;
  const [each, some] = [Math.floor(points / times), Math.floor(points / count)];
  const fits = [
    ...(some > 0 ? [`${some} of ${times} times with as many ${of}`] : []),
    ...(each > 0 ? [`${each} ${of}${times > 1 ? ` at ${times} times` : ""}`] : []),
  ];
  const what = fits.length === 0 ? "" : `: ${fits.join(", or ")} would fit`;
  throw new LimitError(name, `Request size too large (${count * times} > ${points})${what}`);
}

/** The points of a question: its rows, or random ones. @throws RequestError, LimitError */
export async function pointsOf(
  context: Context,
  values: MemberValues,
  records: number,
  isTimed: boolean,
  isGrouped = false,
): Promise<Points> {
  const { life, dataset } = context;
  const points = values.points as AskedPoints;
  if ("pairs" in points || "tetrads" in points || ("together" in points && !isGrouped))
    throw wrong("points", "pairs and tetrads are for dispersion; take rows or random");
  if ("random" in points) {
    if (isTimed) throw wrong("points", "with a time for each, points are rows x, y, z, t");
    await life.reserve(points.random, records);
    const { origin, extent } = boxIn(values, dataset);
    const triples = await randomPoints(life.slices, points.random, points.seed, origin, extent);
    return { triples, times: null, velocities: null, count: points.random };
  }
  for (const name of ["x", "y", "z", "i", "j", "k"] as const)
    if (values[name] !== undefined) throw wrong(name, "it is the box of random points, and the points are given");
  if ("input" in points) return pointsOfInput(context, points.input, records, isTimed);
  const { rows, width } = points;
  const count = rows.length / width;
  await life.reserve(count, records);
  const columns = points.columns ?? ["x", "y", "z", ...(isTimed ? ["t"] : []), "vx", "vy", "vz"].slice(0, width);
  const place = (name: string) => columns.indexOf(name);
  if (place("x") < 0 || place("y") < 0 || place("z") < 0) throw wrong("points", "the columns x, y and z are needed");
  if (isTimed !== place("t") >= 0 || (!isTimed && points.columns === undefined && width === 4))
    throw wrong(
      "points",
      isTimed ? "with a time for each, a row has x, y, z, t" : "a row has x, y, z; a fourth number needs time=each",
    );
  const triples = life.floats(3 * count);
  const pick = (names: readonly string[], out: Float32Array | Float64Array): void => {
    for (const [c, name] of names.entries()) {
      const at = place(name);
      for (let i = 0; i < count; i++) out[names.length * i + c] = rows[width * i + at] as number;
    }
  };
  pick(["x", "y", "z"], triples);
  const odd = triples.findIndex((one) => !Number.isFinite(one));
  if (odd >= 0) throw wrong(`points[${Math.floor(odd / 3)}]`, `${"xyz"[odd % 3]} is not a finite float32`);
  const times = isTimed ? new Float64Array(count) : null;
  if (times !== null) pick(["t"], times);
  const velocities = place("vx") >= 0 ? new Float32Array(3 * count) : null;
  if (velocities !== null) pick(["vx", "vy", "vz"], velocities);
  return { triples, times, velocities, count };
}

/** The points of an input. @throws RequestError if there is none, or it is another's */
async function pointsOfInput(
  { life, service }: Context,
  id: string,
  records: number,
  isTimed: boolean,
): Promise<Points> {
  const input = await service.inputs.open?.(life.owner, id, isTimed ? 16 : 12);
  if (input === undefined || input === null) throw wrong("points.input", "there is no input of that id");
  const { count } = input;
  await life.reserve(count, records);
  const triples = life.floats(3 * count);
  const times = isTimed ? new Float64Array(count) : null;
  const width = isTimed ? 4 : 3;
  let at = 0;
  for await (const octets of input.read()) {
    const numbers = new Float32Array(Uint8Array.from(octets).buffer);
    for (let i = 0; i < numbers.length; i += width, at++) {
      triples.set(numbers.subarray(i, i + 3), 3 * at);
      if (times !== null) times[at] = numbers[i + 3] as number;
    }
    await life.slices.pause();
  }
  return { triples, times, velocities: null, count };
}

/** Points as a question repeats them: many are counted and named by their digest. */
export function pointsText(points: AskedPoints): unknown {
  if (!("rows" in points)) return points;
  const { rows, width } = points;
  const count = rows.length / width;
  if (count > REPEATED_POINTS) {
    const bytes = Buffer.from(rows.buffer, rows.byteOffset, rows.byteLength);
    return { count, sha256: createHash("sha256").update(bytes).digest("hex") };
  }
  const list = Array.from({ length: count }, (_, i) => [...rows.subarray(width * i, width * (i + 1))]);
  return points.together === undefined ? list : { [points.together === 2 ? "pairs" : "tetrads"]: list };
}

/** Places of a question as it repeats them, whole axes left out. */
export function placesText(values: MemberValues): Understood {
  const texts: Record<string, unknown> = {};
  for (const name of ["x", "y", "z"] as const) {
    const span = values[name];
    if (span !== undefined) texts[name] = "at" in span ? span.at : `${span.first}:${span.last}`;
  }
  for (const name of ["i", "j", "k"] as const) {
    const span = values[name];
    if (span !== undefined)
      texts[name] =
        "node" in span
          ? span.node
          : `${span.first ?? ""}:${span.end ?? ""}${span.stride === 1 ? "" : `:${span.stride}`}`;
  }
  return texts;
}

/** Times as they were read, as text. */
export function timesText(time: AskedTimes): unknown {
  if (time === "all") return time;
  if ("at" in time) return time.at;
  if ("list" in time) return [...time.list];
  if ("each" in time) return time.each === null ? "each" : `each:${time.each}`;
  return `${time.first}:${time.last}${time.step === null ? "" : `:${time.step}`}`;
}

/** Times of a question as it repeats them. @param times those that were found; a list stays one */
export function timeText(
  { frame }: MemberValues,
  times: readonly number[],
  isList: boolean,
  frames?: readonly number[],
): Understood {
  if (frame === undefined) return { time: isList ? [...times] : times[0] };
  if (frame === "all" || typeof frame === "string") return { frame: "all" };
  if (frames !== undefined) return { frame: isList ? [...frames] : frames[0] };
  if ("at" in frame) return { frame: frame.at };
  if ("list" in frame) return { frame: [...frame.list] };
  if ("node" in frame) return { frame: frame.node };
  return { frame: `${frame.first ?? ""}:${frame.end ?? ""}:${frame.stride}` };
}

/** The filter of a question as it repeats it. */
export function filterText({ filter }: MemberValues): Understood {
  return filter === undefined ? {} : { filter: `${filter.kind}:${filter.width}` };
}

/** Quantities as a question repeats them. */
export function whatText(what: readonly AskedQuantity[]): Understood {
  return { what: whatTexts(what) };
}

/** A quantity with its numbers. */
export function answered(
  { name, columns, shape, unit }: Quantity,
  values: Float32Array | Float64Array,
): AnsweredQuantity {
  return { name, columns, shape, unit, values };
}
