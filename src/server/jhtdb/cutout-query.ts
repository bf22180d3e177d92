/** Query string of `GET cutout/api/local`: nodes, frames and variable. */
import { type Axis, axesOfField, type Dataset, type FieldName } from "../../engine/contract/dataset.js";
import { excerpt, RequestError } from "../../shared/errors.js";
import type { Operation } from "../../shared/operations.js";
import { refuse } from "../http/refusal.js";
import { readTexts } from "./query-texts.js";
import { operationFor, type Variable, variablesOf } from "./variables.js";

export interface StridedRange {
  readonly first: number;
  /** First node as requested; on a periodic axis it may lie outside the period. */
  readonly from: number;
  readonly count: number;
  readonly stride: number;
}

export interface CutoutQuery {
  readonly variable: Variable;
  readonly operation: Operation;
  readonly axes: readonly [StridedRange, StridedRange, StridedRange];
  readonly frames: StridedRange;
}

const PARAMETERS = [
  "token",
  "function",
  "dataset",
  ...["x", "y", "z", "t"].flatMap((axis) => [`${axis}s`, `${axis}e`, `stride${axis}`]),
  "filter_width",
];

export function readCutoutTexts(query: unknown): ReadonlyMap<string, string> {
  return readTexts(query, PARAMETERS);
}

/** A whole number of at least `least`; a missing one is `fallback`, or an error if that is null. */
function whole(texts: ReadonlyMap<string, string>, name: string, fallback: number | null, least = 1): number {
  const text = texts.get(name);
  if (text === undefined && fallback !== null) return fallback;
  if (text === undefined) throw refuse(name, `${name} is missing.`);
  const value = /^-?\d{1,9}$/.test(text.trim()) ? Number(text) : Number.NaN;
  const bound = least === 1 ? " of at least 1" : "";
  if (!(value >= least)) throw refuse(name, `${name} must be a whole number${bound}, not "${excerpt(text)}".`);
  return value;
}

/** A range, counted from 1, inclusive. */
function range(texts: ReadonlyMap<string, string>, axis: string, length: number, wraps: boolean): StridedRange {
  const least = wraps ? Number.NEGATIVE_INFINITY : 1;
  const start = whole(texts, `${axis}s`, null, least);
  const end = whole(texts, `${axis}e`, null, least);
  const stride = whole(texts, `stride${axis}`, 1);
  if (end < start) throw refuse(`${axis}e`, `${axis}e must not be below ${axis}s.`);
  const first = wraps ? (((start - 1) % length) + length) % length : start - 1;
  const last = end + first - (start - 1);
  if (last > (wraps ? 2 : 1) * length) {
    const most = wraps ? `with ${axis}s = ${start}, the last is ${end - last + 2 * length}` : `the last is ${length}`;
    throw new RequestError("OutOfRange", `${axis}e is ${end}; ${most}.`, { member: `${axis}e` });
  }
  return { first, from: start - 1, count: Math.floor((end - start) / stride) + 1, stride };
}

/**
 * Box and frames of a cutout; on a periodic axis the box may continue over the seam for one more period. @param frames
 * queryable stored times @throws RequestError naming the first wrong parameter
 */
export function readCutoutQuery(texts: ReadonlyMap<string, string>, dataset: Dataset, frames: number): CutoutQuery {
  const stored = variablesOf(dataset).filter((row) => row.code !== "position" && operationFor(row, "field") !== null);
  const codes = stored.map((row) => row.code);
  const name = texts.get("function")?.toLowerCase() ?? "";
  const variable = stored[codes.indexOf(name)];
  if (variable === undefined) throw refuse("function", `function must be one of ${codes.join(", ")}.`);
  if (whole(texts, "filter_width", 1) !== 1) {
    throw new RequestError("Unsupported", "filter_width must be 1.", { member: "filter_width" });
  }
  const operation = operationFor(variable, "field") as Operation;
  const own = axesOfField(dataset, variable.field ?? (operation.fields[0] as FieldName));
  const [x, y, z] = own.map((axis: Axis, i) => range(texts, "xyz".charAt(i), axis.nodes, axis.periodic));
  return { variable, operation, axes: [x, y, z], frames: range(texts, "t", frames, false) };
}
