/** Reads the query string of `GET cutout/api/local`: nodes, frames and variable. */
import { type Axis, axesOfField, type Dataset, type FieldName } from "../../engine/contract/dataset.js";
import { excerpt, RequestError } from "../../errors.js";
import type { Operation } from "../../operations.js";
import { refuse } from "../rest/parameters.js";
import { readTexts } from "./query-texts.js";
import { operationFor, type Variable, variablesOf } from "./variables.js";

/** Nodes or frames `first`, `first + stride`, ...; zero-based. */
export interface StridedRange {
  readonly first: number;
  readonly count: number;
  readonly stride: number;
}

/** The parameters of a request for a cutout. */
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

/** The parameters of a request as texts. */
export function readCutoutTexts(query: unknown): ReadonlyMap<string, string> {
  return readTexts(query, PARAMETERS);
}

/** Reads a whole number of at least 1; a missing one is `fallback`, or an error if that is null. */
function whole(texts: ReadonlyMap<string, string>, name: string, fallback: number | null): number {
  const text = texts.get(name);
  if (text === undefined && fallback !== null) return fallback;
  if (text === undefined) throw refuse(name, `${name} is missing.`);
  const value = /^\d{1,9}$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (!(value >= 1)) throw refuse(name, `${name} must be a whole number of at least 1, not "${excerpt(text)}".`);
  return value;
}

/** A one-based inclusive range with its stride. */
function range(texts: ReadonlyMap<string, string>, axis: string, length: number, wraps: boolean): StridedRange {
  const start = whole(texts, `${axis}s`, null);
  const end = whole(texts, `${axis}e`, null);
  const stride = whole(texts, `stride${axis}`, 1);
  if (end < start) throw refuse(`${axis}e`, `${axis}e must not be below ${axis}s.`);
  const last = wraps ? 2 * length : length;
  if (end > last)
    throw new RequestError("OutOfRange", `${axis}e is ${end}; the last is ${last}.`, { member: `${axis}e` });
  return { first: start - 1, count: Math.floor((end - start) / stride) + 1, stride };
}

/**
 * Reads the box and the frames of a cutout. On a periodic axis a box may continue over the seam for one more period.
 *
 * @param frames queryable stored times of the dataset
 * @throws RequestError naming the first parameter that is missing or wrong
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
  return {
    variable,
    operation,
    axes: [x, y, z],
    frames: range(texts, "t", frames, false),
  };
}
