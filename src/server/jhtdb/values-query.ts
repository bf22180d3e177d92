/** Query string of `POST values`: operation, options and times. */
import type { Dataset } from "../../engine/contract/dataset.js";
import type { Query } from "../../engine/contract/query.js";
import { parseFloat32 } from "../../float32/parse.js";
import { excerpt, LimitError, RequestError } from "../../shared/errors.js";
import type { Operation, OperationName, SpatialInterpolation } from "../../shared/operations.js";
import { refuse } from "../http/refusal.js";
import { readTexts } from "./query-texts.js";
import { METHODS, OPERATORS, operationFor, TEMPORAL_METHODS, variablesOf } from "./variables.js";

/** Number by which clients mark a parameter as not given. */
const NOT_GIVEN = -999.9;

export interface ValuesQuery {
  readonly dataset: string;
  readonly operation: Operation;
  readonly query: Query;
  /** Times as given: a series, one time, or the start of a track. */
  readonly times: readonly number[];
  readonly isTrack: boolean;
}

const PARAMETERS = [
  "authToken",
  "dataset",
  "function",
  "var",
  "t",
  "sint",
  "sop",
  "tint",
  "timepoint_end",
  "delta_t",
] as const;

type Parameter = (typeof PARAMETERS)[number];

/** Public datasets whose clients give the number of a frame, from 1, instead of a time. */
const COUNTED_DATASETS = /^(isotropic(4096|8192|32768)|(st)?sabl2048low|rotstrat4096|channel5200)$/i;

/** Whether clients count frames, by the descriptor or by the name of the dataset. */
export function countsFrames(name: string, dataset?: Pick<Dataset, "countsFrames">): boolean {
  return dataset?.countsFrames === true || COUNTED_DATASETS.test(name);
}

/** Stored times of frames by number, from 1. Throws RequestError. */
export function timesOfFrames(frames: readonly number[], stored: readonly number[]): number[] {
  return frames.map((frame) => {
    const time = stored[frame - 1];
    if (time !== undefined) return time;
    const message = `t is ${frame}, but this dataset takes numbers of frames, 1 to ${stored.length}, instead of times.`;
    throw new RequestError("OutOfRange", message, { member: "t" });
  });
}

function readChoice(given: ReadonlyMap<Parameter, string>, name: Parameter, allowed: readonly string[]): string {
  const text = given.get(name);
  const list = `${name} must be one of ${allowed.join(", ")}`;
  if (text === undefined) throw refuse(name, `${name} is missing: ${list}.`);
  const found = allowed.find((option) => option === text.toLowerCase());
  if (found === undefined) throw refuse(name, `${list}, not "${excerpt(text)}".`);
  return found;
}

/** A number in the range of float32; null if absent or `NOT_GIVEN`. */
function readNumber(given: ReadonlyMap<Parameter, string>, name: Parameter): number | null {
  const text = given.get(name)?.trim();
  if (text === undefined || text === "" || Number(text) === NOT_GIVEN) return null;
  const single = parseFloat32(text);
  if (single === undefined) throw refuse(name, `${name} is not a number: "${excerpt(text)}".`);
  if (!Number.isFinite(single))
    throw new RequestError("OutOfRange", `${name} is not a finite float32.`, { member: name });
  return Number(text);
}

/**
 * Reads the query string, with a series of at most `most` times.
 * @param find finds the dataset of a name, which has the variables
 * @throws RequestError naming the first wrong parameter; LimitError for a longer series
 */
export function readValuesQuery(
  parameters: unknown,
  most: number,
  find: (name: string) => Dataset | undefined,
): ValuesQuery {
  const given = readTexts(parameters, PARAMETERS);
  const named = given.get("function");
  if (named !== undefined && named !== "GetVariable") throw refuse("function", "function must be GetVariable.");
  const dataset = given.get("dataset");
  if (dataset === undefined) throw refuse("dataset", "dataset is missing.");
  const variables = variablesOf(find(dataset));
  const codes = variables.map((row) => row.code);
  const code = readChoice(given, "var", codes);
  const variable = variables[codes.indexOf(code)];
  const operators = OPERATORS.filter((operator) => operationFor(variable, operator) !== null);
  const operator = readChoice(given, "sop", operators) as (typeof OPERATORS)[number];
  const operation = operationFor(variable, operator) as Operation;
  const methods = [...METHODS].flatMap(([name, option]) => (operation.spatial.includes(option) ? [name] : []));
  const method = readChoice(given, "sint", methods);
  const temporal = readChoice(given, "tint", Object.keys(TEMPORAL_METHODS)) as keyof typeof TEMPORAL_METHODS;
  const start = readNumber(given, "t");
  if (start === null) throw refuse("t", "t is missing: the time.");
  const end = readNumber(given, "timepoint_end");
  const step = readNumber(given, "delta_t");
  if ((end === null) !== (step === null)) {
    throw refuse(
      end === null ? "timepoint_end" : "delta_t",
      "timepoint_end and delta_t are given together or not at all.",
    );
  }
  const tracks = operation.request.some((member) => member.name === "StartTime");
  if (tracks && end === null) throw refuse("timepoint_end", "position needs timepoint_end and delta_t.");
  const options = { dataset, spatialInterpolation: METHODS.get(method) as SpatialInterpolation };
  const name = operation.name as OperationName;
  if (tracks) {
    const track = { StartTime: start, EndTime: end as number, dt: step as number };
    return { dataset, operation, query: { operation: name, ...options, ...track }, times: [start], isTrack: true };
  }
  const query = {
    ...{ operation: name, ...options, temporalInterpolation: TEMPORAL_METHODS[temporal] },
    ...(variable.field === undefined ? {} : { field: variable.field }),
  };
  const times = end === null || step === null ? [start] : seriesTimes(start, end, step, most);
  return { dataset, operation, query, times, isTrack: false };
}

/** `start + k step` up to `end`, including an end missed by less than a millionth of a step, as clients expect. */
function seriesTimes(start: number, end: number, step: number, most: number): number[] {
  if (!(step > 0)) throw refuse("delta_t", "delta_t must be above 0.");
  if (end < start) throw refuse("timepoint_end", "timepoint_end must not be before t.");
  const count = Math.floor((end - start) / step + 1e-6) + 1;
  if (count > most) throw new LimitError("query.points", `The series has ${count} times; at most ${most} are allowed.`);
  return Array.from({ length: count }, (_, k) => start + k * step);
}
