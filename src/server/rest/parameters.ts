/** Parameters of a request, from query string or JSON, are checked by the rows of the operation table. */
import type { Query } from "../../engine/contract/query.js";
import { shortestFloat32 } from "../../float32/format.js";
import { excerpt, RequestError } from "../../shared/errors.js";
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

/** Members of a request as text, by name; only `time` may have more than one. */
export type TextMembers = Map<string, readonly string[]>;

/** Members given in the body or by the path and the headers, never as parameters. */
function isParameter(member: Member): boolean {
  return !member.type.startsWith("ArrayOf") && (member.type !== "string" || member.name === "field");
}

/** The parameters of an operation, in the order of the table. */
export function parametersOf(operation: Operation): readonly Member[] {
  return operation.request.filter(isParameter);
}

/** The arrays of triples that an operation takes. */
export function arraysOf(operation: Operation): readonly Member[] {
  return operation.request.filter((member) => member.type.startsWith("ArrayOf"));
}

/** Arrays that an octet-stream may leave out by `<name>=false` in the query string: all but the points. */
export function optionalArraysOf(operation: Operation): readonly string[] {
  return arraysOf(operation)
    .slice(1)
    .map((member) => member.name);
}

/** Members of a region, which `region.ts` reads. */
export const REGION_MEMBERS = ["origin", "extent", "start", "end", "step"] as const;

/** Whether an operation takes a region for its corners. */
function hasRegion({ family }: Operation): boolean {
  return family === "search" || family === "cutout";
}

function isOfRegion(name: string): boolean {
  return REGION_MEMBERS.some((member) => name === `region.${member}`);
}

/** The error of a member that is missing, unknown or wrong. */
export function refuse(member: string, message: string): RequestError {
  return new RequestError("InvalidRequest", message, { member });
}

/** The error of an unknown member; it lists the known ones. */
export function refuseUnknown(
  what: string,
  kind: "member" | "parameter",
  name: string,
  known: readonly string[],
): RequestError {
  const list = known.length === 0 ? "none" : known.join(", ");
  return refuse(excerpt(name), `${what} has no ${kind} "${excerpt(name)}"; it has ${list}.`);
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

/** Whether a member may be a list: several times in one request. */
export function mayBeList(member: Member): boolean {
  return member.name === "time";
}

/** Whether every required parameter of an operation is there, so that its query can start. */
export function isComplete(operation: Operation, texts: TextMembers): boolean {
  return parametersOf(operation).every((member) => texts.has(member.name));
}

/** Times that are read in one go; a longer list is read in several time slices. */
const TIMES_AT_ONCE = 1024;

/** Reads a list of times of any length. @throws RequestError naming `time` */
export async function readTimes(
  given: readonly string[],
  slices: TimeSlices,
  member = "time",
): Promise<readonly number[]> {
  const times: number[] = [];
  for (let from = 0; from < given.length; from += TIMES_AT_ONCE) {
    for (const time of timesNow(given.slice(from, from + TIMES_AT_ONCE), member)) times.push(time);
    await slices.pause();
  }
  return times;
}

function timesNow(given: readonly string[], member = "time"): number[] {
  return given.map((text) => readDouble(text, member));
}

/** A request without its points. */
export interface ApiRequest {
  /** The query at each time, or once if the operation has no time. */
  readonly query: Query;
  /** The parameters as understood, which the answer repeats; `time` is a list only if there are several. */
  readonly options: Readonly<Record<string, string | number | readonly number[]>>;
  /** The times asked for; none if the operation has none. */
  readonly times: readonly number[];
  /** Tracking: the starts of the paths, if each has its own. */
  readonly starts?: Float64Array;
}

/**
 * Checks the parameters of a request.
 *
 * @param list the times, if they have been read already
 * @throws RequestError naming the first member, in the order of the table, that is missing or wrong
 */
export function readRequest(
  operation: Operation,
  dataset: string | null,
  texts: TextMembers,
  list: readonly number[] | null,
): ApiRequest {
  const common: Record<string, string | number> = {};
  const options: Record<string, string | number | readonly number[]> = {};
  let times: readonly number[] = [];
  for (const member of parametersOf(operation)) {
    const given = texts.get(member.name);
    if (given === undefined || given.length === 0) throw refuseMissing(operation, member);
    if (mayBeList(member)) {
      times = list ?? timesNow(given);
      options[member.name] = times.length > 1 ? times : times[0];
    } else {
      if (given.length > 1) throw refuse(member.name, `${member.name} is given more than once.`);
      const value = readValue(member, given[0]);
      common[member.name] = value;
      options[member.name] = isTime(member) || typeof value === "string" ? value : Number(shortestFloat32(value));
    }
  }
  const query = {
    operation: operation.name as OperationName,
    ...(dataset === null ? {} : { dataset }),
    ...common,
  } as Query;
  return { query: times.length === 1 ? { ...query, time: times[0] } : query, options, times };
}

/**
 * Takes the parameters of an operation out of a parsed query string; a list is separated by commas or repeated.
 *
 * @throws RequestError naming a parameter that the operation does not have
 */
export function textsOfQueryString(operation: Operation, query: unknown, extra: readonly string[] = []): TextMembers {
  const members = parametersOf(operation);
  const texts: TextMembers = new Map();
  for (const [name, given] of Object.entries((query ?? {}) as Record<string, string | string[]>)) {
    const member = members.find((row) => row.name === name);
    if (member === undefined) {
      if (hasRegion(operation) && isOfRegion(name)) texts.set(name, [String(given)]);
      if (extra.includes(name) || texts.has(name)) continue;
      const own = hasRegion(operation) ? ["region.*"] : [];
      throw refuseUnknown(operation.name, "parameter", name, [...members.map((row) => row.name), ...own, ...extra]);
    }
    const list = typeof given === "string" ? [given] : given;
    texts.set(name, mayBeList(member) ? list.flatMap((text) => text.split(",")) : list);
  }
  return texts;
}

/** Members by which each point has its own time, and the member that they replace. */
const OWN_LISTS: ReadonlyMap<string, readonly string[]> = new Map([
  ["times", ["time"]],
  ["startTimes", ["StartTime"]],
  ["pairing", ["time", "StartTime"]],
]);

/** The items of a JSON list of numbers as text. */
function listOf(name: string, text: string): readonly string[] {
  const inner = text.slice(1, -1).trim();
  if (inner === "") throw refuse(name, `${name} is an empty list.`);
  return inner.split(",").map((part) => part.trim());
}

/** Parameters of tracking that are not in the body, each with a value. */
const IN_QUERY_STRING: ReadonlyMap<string, string> = new Map([
  ["openFaces", "stop"],
  ["integrator", "rk4"],
  ["tolerance", "1e-6"],
]);

/**
 * Parses the value of a JSON member, without rounding its numbers.
 *
 * @param text the value as written, valid JSON
 * @throws RequestError when the operation has no such member, or the value is of another kind
 */
export function textsOfJson(operation: Operation, name: string, text: string): readonly string[] {
  const members = parametersOf(operation);
  const member = members.find((row) => row.name === name);
  const own = OWN_LISTS.get(name);
  if (own !== undefined && arraysOf(operation).length > 0 && members.some((row) => own.includes(row.name))) {
    if (name !== "pairing" && !text.startsWith("[")) throw refuse(name, `${name} must be a list of numbers.`);
    return name === "pairing" ? [readOneOf(name, JSON.parse(text), ["each"])] : listOf(name, text);
  }
  if (name === "region" && hasRegion(operation)) return [text];
  if (member === undefined) {
    const region = hasRegion(operation) ? ["region"] : [];
    const known = [...[...members, ...arraysOf(operation)].map((row) => row.name), ...region];
    const example = IN_QUERY_STRING.get(name);
    if (example !== undefined && operation.family === "track")
      throw refuse(name, `${name} belongs in the query string, as in "?${name}=${example}", not in the body.`);
    throw refuseUnknown(operation.name, "member", name, known);
  }
  const numeric = member.type === "float" || member.type === "int";
  const quoted = text.startsWith('"');
  if (numeric && mayBeList(member) && text.startsWith("[")) return listOf(name, text);
  if (numeric ? !/^-?\d/.test(text) : !quoted) {
    throw refuse(name, `${name} must be a ${numeric ? "number" : "string"}.`);
  }
  return [quoted ? (JSON.parse(text) as string) : text];
}
