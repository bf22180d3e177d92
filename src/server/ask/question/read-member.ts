/** Reads the values of members, in text or JSON with the same meaning. */
import { FILTER_KINDS } from "../../../analysis/derived.js";
import { MAX_CHARACTERS } from "../../../analysis/expression-syntax.js";
import { nearestName } from "../../../analysis/names.js";
import type { CallMember, CallName, MemberName, MemberType } from "../../../shared/calls.js";
import { callOf, choicesOf, memberOf } from "../../../shared/calls.js";
import { excerpt } from "../../../shared/errors.js";
import { hasDoubledMember, isRows } from "../../../text/json-body.js";
import { NUMBER, readRows, shown } from "../../../text/rows.js";
import { wrong } from "../faults.js";
import type {
  RequestedFilter,
  RequestedFrames,
  RequestedNodes,
  RequestedPoints,
  RequestedQuantity,
  RequestedRegion,
  RequestedScale,
  RequestedSeparations,
  RequestedSpan,
  RequestedTimes,
} from "./member-values.js";

/** Splits a text at commas outside brackets. */
export function splitList(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    if ("([{".includes(text[i])) depth++;
    else if (")]}".includes(text[i])) depth--;
    else if (text[i] === "," && depth === 0) {
      parts.push(text.slice(from, i));
      from = i + 1;
    }
  }
  return [...parts, text.slice(from)].map((part) => part.trim());
}

function numberOf(value: unknown, member: string): number {
  const number = typeof value === "string" && NUMBER.test(value.trim()) ? Number(value) : value;
  if (typeof number !== "number" || !Number.isFinite(number)) throw wrong(member, `${shown(value)} is not a number`);
  return number;
}

function wholeOf(value: unknown, member: string): number {
  const number = numberOf(value, member);
  if (!Number.isSafeInteger(number)) throw wrong(member, `${shown(value)} is not a whole number`);
  return number;
}

function itemsOf(value: unknown, member: string): readonly unknown[] {
  const items = Array.isArray(value) ? value : typeof value === "string" ? splitList(value) : [value];
  if (items.length === 0 || items.some((item) => item === "")) throw wrong(member, "an item is missing");
  return items;
}

function fewOf(value: unknown, member: string): readonly unknown[] {
  const items = itemsOf(value, member);
  if (items.length > 64) throw wrong(member, "at most 64 items are given");
  return items;
}

const numbersOf = (value: unknown, member: string) => itemsOf(value, member).map((one) => numberOf(one, member));
const wholesOf = (value: unknown, member: string) => itemsOf(value, member).map((one) => wholeOf(one, member));

function bounded(number: number, { minimum, maximum }: CallMember, member: string, open: boolean): number {
  const isLargeEnough = minimum === undefined || (open ? number > minimum : number >= minimum);
  if (isLargeEnough && number <= (maximum ?? Number.POSITIVE_INFINITY)) return number;
  const upper = maximum === undefined ? "" : ` and at most ${maximum}`;
  throw wrong(member, `expected a number ${open ? "above" : "of at least"} ${minimum}${upper}, not ${number}`);
}

function choiceOf(value: unknown, choices: readonly string[], member: string): string {
  const text = String(value).trim();
  const found = choices.find((one) => one.toLowerCase() === text.toLowerCase());
  if (found !== undefined) return found;
  const plain = text.replace(/^None_?/i, (none) => (none.length === text.length ? "nearest" : ""));
  const nearest = choices.find((one) => one.toLowerCase() === plain.toLowerCase()) ?? nearestName(text, choices);
  throw wrong(member, `expected one of ${choices.join(", ")}, not ${shown(value)}`, nearest);
}

const MAX_QUANTITIES = 256;

/** Reads quantities. A later one may use names given to earlier ones; its text has them written out. */
export function readWhat(value: unknown, member = "what"): readonly RequestedQuantity[] {
  const given = new Map<string, string>();
  const list = itemsOf(value, member);
  if (list.length > MAX_QUANTITIES) throw wrong(member, `at most ${MAX_QUANTITIES} quantities are asked at once`);
  const items = list.map((item): RequestedQuantity => {
    if (typeof item !== "string") throw wrong(member, `${shown(item)} is not a quantity`);
    const [, name, own] = /^\s*([A-Za-z_]\w*)\s*=(?!=)\s*(.+)$/s.exec(item) ?? [];
    // In one pass: names inside an earlier text were written out when that text was read.
    const text = (own ?? item)
      .trim()
      .replaceAll(/(?<![\w.])([A-Za-z_]\w*)(?!\w|\s*\()/g, (known) =>
        given.has(known) ? `(${given.get(known)})` : known,
      );
    // Names within names can double the length again and again.
    if (text.length > MAX_CHARACTERS && given.size > 0)
      throw wrong(
        member,
        `with earlier names written out, ${excerpt(name ?? item)} has more than ${MAX_CHARACTERS} characters`,
      );
    if (name !== undefined) given.set(name, text);
    return { text, name: name ?? item.trim(), isNamed: name !== undefined };
  });
  const again = items.find(({ name }, i) => items.findIndex((one) => one.name === name) < i);
  if (again !== undefined) throw wrong(member, `${excerpt(again.name)} is there twice`);
  return items;
}

function readPoints(value: unknown, member: string): RequestedPoints {
  if (typeof value === "string") {
    if (value.trim().startsWith("{") || value.trim().startsWith("[")) return readPoints(parsed(value, member), member);
    return readRows(value, member);
  }
  if (Array.isArray(value)) return readRows(value.length > 0 && !Array.isArray(value[0]) ? [value] : value, member);
  if (typeof value !== "object" || value === null) throw wrong(member, `${shown(value)} is no list of points`);
  if (isRows(value)) return value;
  const { input, random, pairs, tetrads, distance, seed = 0, ...more } = value as Record<string, unknown>;
  const unknown = Object.keys(more)[0];
  if (unknown !== undefined)
    throw wrong(`${member}.${excerpt(unknown)}`, "expected input, random, pairs or tetrads, with distance and seed");
  const count = (one: unknown, name: string) => {
    const number = wholeOf(one, `${member}.${name}`);
    if (number < 1) throw wrong(`${member}.${name}`, "at least 1 is needed");
    return number;
  };
  const key = wholeOf(seed, `${member}.seed`);
  if (key < 0 || key >= 2 ** 32) throw wrong(`${member}.seed`, "expected 0 to 4294967295");
  if ([input, random, pairs, tetrads].filter((one) => one !== undefined).length !== 1)
    throw wrong(member, "expected one of input, random, pairs and tetrads");
  if (input !== undefined) return { input: String(input) };
  if (random !== undefined) return { random: count(random, "random"), seed: key };
  const together = pairs === undefined ? 4 : 2;
  const given = pairs ?? tetrads;
  if (Array.isArray(given) || isRows(given)) {
    const name = `${member}.${together === 2 ? "pairs" : "tetrads"}`;
    const read = isRows(given) ? given : readRows(given, name);
    const length = read.rows.length / read.width;
    if (length === 0 || length % together !== 0)
      throw wrong(name, `${length} points are not a multiple of ${together}`);
    return { ...read, together };
  }
  const length = numberOf(distance ?? "", `${member}.distance`);
  if (!(length > 0)) throw wrong(`${member}.distance`, "expected a length above 0");
  if (pairs !== undefined) return { pairs: count(pairs, "pairs"), distance: length, seed: key };
  return { tetrads: count(tetrads, "tetrads"), distance: length, seed: key };
}

function parsed(text: string, member: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw wrong(member, "this is not JSON, whose names have double quotes");
  }
  if (hasDoubledMember(value, Buffer.from(text))) throw wrong(member, "a member of it is given twice");
  return value;
}

/** An object, or the one in a text; null for anything else. */
function objectIn(value: unknown, member: string): Readonly<Record<string, unknown>> | null {
  const given = typeof value === "string" && value.trim().startsWith("{") ? parsed(value, member) : value;
  return typeof given === "object" && !Array.isArray(given)
    ? (given as Readonly<Record<string, unknown>> | null)
    : null;
}

function readAlong(value: unknown, member: string): RequestedSpan {
  const parts = Array.isArray(value) ? value : typeof value === "string" ? value.split(":") : [value];
  if (parts.length > 2) throw wrong(member, "expected a number or first:last");
  const [first, last] = parts.map((part) => numberOf(part, member)) as [number, number?];
  if (last === undefined) return { at: first };
  if (last < first) throw wrong(member, `expected first:last in ascending order, not ${first}:${last}`);
  return { first, last };
}

function readRegion(value: unknown, member: string): RequestedRegion {
  const { x, y, z, ...more } = objectIn(value, member) ?? {};
  const unknown = Object.keys(more)[0];
  if (unknown !== undefined || (x ?? y ?? z) === undefined)
    throw wrong(unknown === undefined ? member : `${member}.${excerpt(unknown)}`, "expected ranges of x, y or z");
  return [x, y, z].map((along, a) => (along === undefined ? null : readPair(rangeOf(along), `${member}.${"xyz"[a]}`)));
}

const rangeOf = (value: unknown): unknown => (typeof value === "string" ? value.replace(":", ",") : value);

function readNodes(value: unknown, member: string): RequestedNodes {
  if (typeof value !== "string" || !value.includes(":")) return { node: wholeOf(value, member) };
  const parts = value.split(":");
  if (parts.length > 3) throw wrong(member, "expected a number or first:end:stride");
  const [first, end, stride] = parts.map((part) => (part.trim() === "" ? null : wholeOf(part, member)));
  if (stride !== undefined && stride !== null && stride < 1) throw wrong(member, "the stride is at least 1");
  return { first: first ?? null, end: end ?? null, stride: stride ?? 1 };
}

const MAX_TIMES = 65_536;

function checkTimes(count: number, member: string): void {
  if (count > MAX_TIMES) throw wrong(member, `at most ${MAX_TIMES} times are asked at once`);
}

function readTimes(value: unknown, member: MemberName, call: CallName): RequestedTimes {
  if (typeof value === "number") return { at: numberOf(value, member) };
  if (Array.isArray(value)) {
    checkTimes(value.length, member);
    const list = numbersOf(value, member);
    // Paths have an interval, of which these are the ends.
    const [first, last, ...more] = callOf(call).members.includes("integrator") ? list : [];
    return first === undefined || last === undefined || more.length > 0 ? { list } : { first, last, step: null };
  }
  const text = String(value).trim();
  if (text === "all") return "all";
  if (text === "each") return { each: null };
  const parts = text.split(":");
  if (parts[0] === "each" && parts.length === 2) return { each: numberOf(parts[1], member) };
  if (parts.length === 1) {
    const items = splitList(text);
    checkTimes(items.length, member);
    const list = items.map((one) => numberOf(one, member));
    return list.length === 1 ? { at: list[0] } : { list };
  }
  if (parts.length > 3) throw wrong(member, "expected first:last:step");
  const [first = 0, last = 0, step = null] = parts.map((part) => numberOf(part, member));
  if (step === 0) throw wrong(member, "the step is not 0");
  if (step !== null) checkTimes((last - first) / step, member);
  return { first, last, step };
}

function readFrames(value: unknown, member: string): RequestedFrames {
  if (value === "all") return "all";
  if (typeof value === "string" && value.includes(":")) return readNodes(value, member);
  if (!Array.isArray(value) && !String(value).includes(",")) return { at: wholeOf(value, member) };
  return { list: wholesOf(value, member) };
}

function readFilter(value: unknown, member: string): RequestedFilter {
  const given = objectIn(value, member);
  const [first, ...more] = String(value).split(":");
  const { kind, width } = (given ?? { kind: first, width: more.join(":") }) as Record<string, unknown>;
  const kinds = [...FILTER_KINDS, "box"] as const;
  const found = kinds.find((one) => one === kind);
  if (found === undefined)
    throw wrong(
      member,
      `expected KIND:WIDTH with one of ${kinds.join(", ")}, such as gaussian:0.8`,
      nearestName(String(kind), kinds),
    );
  const length = numberOf(width, member);
  if (!(length > 0)) throw wrong(member, "the width is above 0");
  return { kind: found, width: length };
}

function readReductions(value: unknown, member: string): readonly Readonly<Record<string, unknown>>[] {
  if (typeof value === "string" && /^\s*budget:/.test(value)) return readReductions(splitList(value), member);
  const given = typeof value === "string" ? parsed(value.trim().startsWith("[") ? value : `[${value}]`, member) : value;
  const list = ((Array.isArray(given) ? given : [given]) as unknown[]).map((one) =>
    typeof one === "string" && one.trim().startsWith("budget:") ? { budget: one.trim().slice("budget:".length) } : one,
  );
  if (list.length < 1 || list.length > 32) throw wrong(member, "expected 1 to 32 reductions");
  const odd = list.findIndex((one) => typeof one !== "object" || one === null || Array.isArray(one));
  if (odd >= 0) throw wrong(`${member}[${odd}]`, 'expected a reduction such as {"moments": "p"}');
  return list as readonly Readonly<Record<string, unknown>>[];
}

function readSeparations(value: unknown, member: string): RequestedSeparations {
  const given = objectIn(value, member);
  if (given === null) {
    const nodes = wholesOf(value, member);
    if (nodes.length > 256 || nodes.some((one) => one < 1))
      throw wrong(member, "expected up to 256 numbers of nodes from 1");
    return { nodes };
  }
  const { lengths, nodes, pairs = 100_000, seed = 0, ...more } = given;
  const unknown = Object.keys(more)[0];
  if (unknown !== undefined) throw wrong(`${member}.${excerpt(unknown)}`, "expected lengths, pairs and seed");
  if (nodes !== undefined && lengths === undefined) return readSeparations(nodes, `${member}.nodes`);
  const list = numbersOf(lengths ?? "", `${member}.lengths`);
  if (list.length > 256 || list.some((one) => !(one > 0)))
    throw wrong(`${member}.lengths`, "expected up to 256 lengths above 0");
  const count = wholeOf(pairs, `${member}.pairs`);
  if (count < 1) throw wrong(`${member}.pairs`, "at least 1 is needed");
  return { lengths: list, pairs: count, seed: wholeOf(seed, `${member}.seed`) };
}

function readCounts(value: unknown, member: string): readonly number[] {
  const counts = wholesOf(value, member);
  if (counts.length > 3 || counts.some((one) => one < 1 || one > 65_536))
    throw wrong(member, "expected up to 3 whole numbers from 1 to 65536");
  return counts;
}

function readPair(value: unknown, member: string): readonly [number, number] {
  const [low, high, ...more] = numbersOf(value, member);
  if (low === undefined || high === undefined || more.length > 0 || !(low < high))
    throw wrong(member, "expected two ascending numbers LO,HI");
  return [low, high];
}

function readCondition(value: unknown, member: string): string {
  if (typeof value !== "string" || value.trim() === "") throw wrong(member, "expected a condition such as p > 0");
  return value.trim();
}

function readLevel(value: unknown, member: MemberName, call: CallName): number | "auto" {
  if (value === "auto" && call === "grid") return value;
  return bounded(wholeOf(value, member), { ...memberOf(member), minimum: 0 }, member, false);
}

function readScale(value: unknown, member: string): RequestedScale {
  const [kind, linear, ...more] = String(value).split(":");
  if ((kind === "linear" || kind === "log") && linear === undefined) return { kind };
  if (kind === "symlog" && linear !== undefined && more.length === 0 && numberOf(linear, member) > 0)
    return { kind, linear: numberOf(linear, member) };
  throw wrong(member, "expected linear, log, or symlog:C with C above 0");
}

export function readBoolean(value: unknown, member: string): boolean {
  const text = String(value).trim().toLowerCase();
  if (text === "true" || text === "") return true;
  if (text === "false") return false;
  throw wrong(member, `expected true or false, not ${shown(value)}`);
}

const READERS: Readonly<Record<MemberType, (value: unknown, name: MemberName, call: CallName) => unknown>> = {
  what: readWhat,
  points: readPoints,
  along: readAlong,
  nodes: readNodes,
  counts: readCounts,
  times: readTimes,
  frames: readFrames,
  choice: (value, name, call) => choiceOf(value, choicesOf(name, call), name),
  choices: (value, name, call) => [
    ...new Set(itemsOf(value, name).map((one) => choiceOf(one, choicesOf(name, call), name))),
  ],
  filter: readFilter,
  condition: readCondition,
  texts: (value, name) => fewOf(value, name).map(String),
  number: (value, name) => bounded(numberOf(value, name), memberOf(name), name, true),
  integer: (value, name) => bounded(wholeOf(value, name), memberOf(name), name, false),
  numbers: (value, name) => fewOf(value, name).map((one) => bounded(numberOf(one, name), memberOf(name), name, true)),
  integers: (value, name) => fewOf(value, name).map((one) => wholeOf(one, name)),
  pair: readPair,
  level: readLevel,
  scale: readScale,
  reductions: readReductions,
  events: (value, name) => objectIn(value, name) ?? choiceOf(value, ["centres"], name),
  separations: readSeparations,
  region: readRegion,
  boolean: readBoolean,
};

/** Reads the value of a member. Throws RequestError that names it. */
export function readMember(name: MemberName, value: unknown, call: CallName): unknown {
  return READERS[memberOf(name).type](value, name, call);
}
