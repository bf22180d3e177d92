/** Parameters of a request, as text, are checked by the rows of the operation table. */
import type { Query } from "../../engine/contract/query.js";
import type { RequestError } from "../../shared/errors.js";
import {
  type Member,
  type Operation,
  type OperationName,
  SPATIAL_INTERPOLATION,
  TEMPORAL_INTERPOLATION,
  TIME_MEMBERS,
} from "../../shared/operations.js";
import type { TimeSlices } from "../http/policies/time-slices.js";
import { readDouble, readFiniteFloat, readInt } from "../http/read-number.js";
import { refuse } from "../http/refusal.js";

/** Members of a request as text, by name; only `time` may have more than one. */
export type TextMembers = ReadonlyMap<string, readonly string[]>;

/** Members given in the body or by the path and the headers, never as parameters. */
function isParameter(member: Member): boolean {
  return !member.type.startsWith("ArrayOf") && (member.type !== "string" || member.name === "field");
}

/** The parameters of an operation, in the order of the table. */
function parametersOf(operation: Operation): readonly Member[] {
  return operation.request.filter(isParameter);
}

/** The error of a missing member; it lists the choices. */
function refuseMissing({ spatial }: Operation, { name, type }: Member): RequestError {
  const choices =
    type === "SpatialInterpolation" ? spatial : type === "TemporalInterpolation" ? TEMPORAL_INTERPOLATION : [];
  return refuse(name, `${name} is missing${choices.length === 0 ? "" : `; it is one of ${choices.join(", ")}`}.`);
}

function readOneOf(member: string, text: string, allowed: readonly string[]): string {
  if (!allowed.includes(text)) throw refuse(member, `${member} must be one of ${allowed.join(", ")}.`);
  return text;
}

function readValue(member: Member, text: string): string | number {
  switch (member.type) {
    case "string":
      return text;
    case "float":
      return isTime(member) ? readDouble(text, member.name) : readFiniteFloat(text, member.name);
    case "int":
      return readInt(text, member.name);
    case "SpatialInterpolation":
      return readOneOf(member.name, text, SPATIAL_INTERPOLATION);
    case "TemporalInterpolation":
      return readOneOf(member.name, text, TEMPORAL_INTERPOLATION);
    default:
      throw new Error(`${member.name} is not a parameter`);
  }
}

/** Whether a member is a time or an interval, which keeps double precision. */
function isTime({ name, type }: Member): boolean {
  return type === "float" && TIME_MEMBERS.includes(name);
}

/** Whether every required parameter of an operation is there, so that its query can start. */
export function isComplete(operation: Operation, texts: TextMembers): boolean {
  return parametersOf(operation).every((member) => texts.has(member.name));
}

/** Times that are read in one go; a longer list is read in several time slices. */
const TIMES_AT_ONCE = 1024;

/** Reads a list of times of any length. @throws RequestError naming `time` */
export async function readTimes(given: readonly string[], slices: TimeSlices): Promise<readonly number[]> {
  const times: number[] = [];
  for (let from = 0; from < given.length; from += TIMES_AT_ONCE) {
    for (const time of timesNow(given.slice(from, from + TIMES_AT_ONCE))) times.push(time);
    await slices.pause();
  }
  return times;
}

function timesNow(given: readonly string[]): number[] {
  return given.map((text) => readDouble(text, "time"));
}

/** A request without its points. */
export interface ReadRequest {
  /** The query at each time, or once if the operation has no time. */
  readonly query: Query;
  /** The times asked for; none if the operation has none. */
  readonly times: readonly number[];
}

/**
 * Checks the parameters of a request.
 *
 * @param list the times, if they have been read already
 * @throws RequestError naming the first member, in the order of the table, that is missing or wrong
 */
export function readRequest(
  operation: Operation,
  dataset: string,
  texts: TextMembers,
  list: readonly number[] | null,
): ReadRequest {
  const common: Record<string, string | number> = {};
  let times: readonly number[] = [];
  for (const member of parametersOf(operation)) {
    const given = texts.get(member.name);
    if (given === undefined || given.length === 0) throw refuseMissing(operation, member);
    if (member.name === "time") times = list ?? timesNow(given);
    else {
      if (given.length > 1) throw refuse(member.name, `${member.name} is given more than once.`);
      common[member.name] = readValue(member, given[0]);
    }
  }
  const query = { operation: operation.name as OperationName, dataset, ...common } as Query;
  return { query: times.length === 1 ? { ...query, time: times[0] } : query, times };
}
