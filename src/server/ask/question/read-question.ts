/** Reads the members of a question from a query string, a body, or both, and reports all faults at once. */
import { keyOf } from "../../../analysis/expression.js";
import { nearestName } from "../../../analysis/names.js";
import type { Dataset } from "../../../engine/contract/dataset.js";
import { CALL_NAMES, type CallName, callOf, MEMBERS, type MemberName, memberOf } from "../../../shared/calls.js";
import { excerpt } from "../../../shared/errors.js";
import { Faults, wrong } from "../faults.js";
import { exampleFor } from "./example.js";
import type { MemberValues } from "./member-values.js";
import { readMember } from "./read-member.js";
import { namesOf } from "./what.js";

export type GivenMembers = Map<string, unknown>;

/** Most unknown members that are reported: each costs a search for a similar name. */
const MAX_UNKNOWN = 16;

/** Members whose parts may be given one by one, as in `points.random=1000`. */
const OBJECT_MEMBERS: readonly string[] = Object.keys(MEMBERS).filter(
  (name) => memberOf(name as MemberName).objectMembers,
);

/** The members of a query string. Throws RequestError for repeated ones. */
export function membersOfQuery(query: unknown): GivenMembers {
  const given: GivenMembers = new Map();
  for (const [name, value] of Object.entries((query ?? {}) as Record<string, unknown>)) {
    if (Array.isArray(value)) throw wrong(excerpt(name), "it is given more than once");
    const [whole = "", leaf, ...deeper] = name.split(".");
    if (leaf === undefined || !OBJECT_MEMBERS.includes(whole)) {
      given.set(name, value);
      continue;
    }
    const earlier = given.get(whole);
    if (deeper.length > 0 || typeof earlier === "string") throw wrong(excerpt(name), `${whole} is given in two ways`);
    given.set(whole, { ...(earlier as object | undefined), [leaf]: value });
  }
  return given;
}

/** The members of a JSON body. Throws RequestError unless it is an object. */
export function membersOfJson(body: unknown): GivenMembers {
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw wrong("question", "the body is an object of members");
  return new Map(Object.entries(body));
}

/** The members of a query string and of a body. Throws RequestError for a member in both. */
export function joinMembers(query: GivenMembers, body: GivenMembers): GivenMembers {
  for (const name of body.keys())
    if (query.has(name)) throw wrong(excerpt(name), "it is in the query string and in the body");
  return new Map([...query, ...body]);
}

/** The call of a name. Throws RequestError that lists the calls. */
export function callNamed(name: unknown): CallName {
  const call = CALL_NAMES.find((one) => one === name);
  if (call !== undefined) return call;
  const given = String(name);
  const problem = name === undefined ? "it is missing" : `there is no call ${excerpt(given)}`;
  throw wrong("call", `${problem}; calls are ${CALL_NAMES.join(", ")}`, nearestName(given, CALL_NAMES));
}

function unknownMember(name: string, call: CallName): Error {
  const { members } = callOf(call);
  const reason = Object.hasOwn(MEMBERS, name) ? `${call} does not take it` : "there is no such member";
  const text = `${reason}; ${call} takes ${members.join(", ")}`;
  const error = wrong(excerpt(name), text, nearestName(name, members));
  error.message = `${excerpt(name)}: ${text}.`;
  return error;
}

/** Refuses names given to other quantities than those that the dataset has by them, as in `p = u.x`. */
function checkGivenNames(values: MemberValues, dataset: Dataset, faults: Faults): void {
  for (const { name, text } of values.what?.filter(({ isNamed }) => isNamed) ?? []) {
    const [known, given] = [name, text].map((one) => keyOf(one, namesOf(values, dataset)));
    if (known !== undefined && known !== given)
      faults.add(wrong("what", `${name} is a quantity of ${dataset.name}: take another name for ${excerpt(text)}`));
  }
}

/** Reads the members of a call. Throws RequestError with everything that is wrong. */
export function readQuestion(call: CallName, given: GivenMembers, dataset: Dataset): MemberValues {
  const faults = new Faults();
  const { members, required } = callOf(call);
  const values: Record<string, unknown> = {};
  let unknown = 0;
  for (const [name, value] of given) {
    if (!members.includes(name as MemberName)) {
      if (++unknown <= MAX_UNKNOWN) faults.add(unknownMember(name, call));
    } else if (value !== null && value !== undefined)
      values[name] = faults.try(name as MemberName, () => readMember(name as MemberName, value, call));
  }
  for (const name of required)
    if (given.get(name) === undefined || given.get(name) === null) {
      if (name === "time" && given.has("frame")) continue;
      faults.add(wrong(name, `it is missing${exampleFor(call, dataset)}`));
    }
  if (values.time !== undefined && values.frame !== undefined)
    faults.add(wrong("frame", "give time or frame, not both"));
  checkGivenNames(values as MemberValues, dataset, faults);
  faults.raise();
  return values as MemberValues;
}
