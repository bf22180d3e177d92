/**
 * Expands a list of references, as kerchunk writes it, within bounds: a few bytes of `gen` and `templates` can
 * expand to any number of references and characters.
 */
import { parse } from "reference-spec-reader";
import { DataError } from "../../errors.js";
import { STORE_BOUNDS } from "../../store-settings.js";
import { type Json, objectOf } from "./documents.js";

/** References that are expanded at a time, between two looks at what they have become. */
const AT_A_TIME = 1000;

/** The version of a target when its list was written, as far as it was known. */
export interface TargetStamp {
  readonly bytes?: number;
  /** Time of its last change in milliseconds: of a file on this machine. */
  readonly modifiedMs?: number;
  /** Digest of its version as its host tells it: of a file at an address. */
  readonly version?: string;
}

/** The stamps of the targets that a list states. */
export function stampsOf(list: Json): ReadonlyMap<string, TargetStamp> {
  return new Map(
    Object.entries(objectOf(list.targets)).map(([target, stamp]) => {
      const { bytes, modifiedMs, version } = objectOf(stamp);
      return [
        target,
        {
          ...(typeof bytes === "number" ? { bytes } : {}),
          ...(typeof modifiedMs === "number" ? { modifiedMs } : {}),
          ...(typeof version === "string" ? { version } : {}),
        },
      ];
    }),
  );
}

/** The error of a target that is not the one that a list was written for. */
export function otherTarget(list: string, target: string): DataError {
  return new DataError(
    `${list}: ${target} has changed since the list was written; write it anew with fieldprobe inspect --references`,
  );
}

/** A value of a list: a text, or a target with an offset and a length. */
export type ReferenceValue = readonly [key: string, value: unknown];

/** The references of a list. @param place names it @throws DataError beyond a bound, or if it cannot be expanded */
export function* referencesOf(place: string, list: Json): Generator<ReferenceValue> {
  if (!("version" in list)) {
    yield* counted(place, [Object.entries(list)]);
    return;
  }
  const templates = objectOf(list.templates);
  for (const template of Object.values(templates)) checkTemplate(place, template);
  yield* counted(place, expansions(place, list, templates));
}

/** Counts references and characters. */
function* counted(place: string, parts: Iterable<readonly ReferenceValue[]>): Generator<ReferenceValue> {
  let [references, length] = [0, 0];
  for (const part of parts)
    for (const entry of part) {
      length += entry[0].length + lengthOf(entry[1]);
      if (++references > STORE_BOUNDS.references)
        throw new DataError(`${place} holds more than ${STORE_BOUNDS.references} references`);
      if (length > STORE_BOUNDS.expandedLength)
        throw new DataError(`${place} expands to more than ${STORE_BOUNDS.expandedLength} characters`);
      yield entry;
    }
}

function lengthOf(value: unknown): number {
  const text = Array.isArray(value) ? value[0] : value;
  return typeof text === "string" ? text.length : 0;
}

/** The references of a list of version 1, some at a time. */
function* expansions(place: string, list: Json, templates: Json): Generator<readonly ReferenceValue[]> {
  const expand = (part: object): readonly ReferenceValue[] => {
    try {
      return [...(parse({ version: 1, templates, refs: {}, ...part } as never) as ReadonlyMap<string, unknown>)];
    } catch (cause) {
      throw new DataError(`${place} cannot be expanded: ${(cause as Error).message.slice(0, 200)}`, cause);
    }
  };
  const refs = Object.entries(objectOf(list.refs));
  for (const [, value] of refs)
    if (Array.isArray(value) && String(value[0]).includes("{{")) checkTemplate(place, value[0]);
  for (let from = 0; from < refs.length; from += AT_A_TIME)
    yield expand({ refs: Object.fromEntries(refs.slice(from, from + AT_A_TIME)) });
  for (const made of Array.isArray(list.gen) ? list.gen : []) {
    const { dimensions, ...rest } = objectOf(made);
    for (const text of Object.values(rest)) checkTemplate(place, text);
    for (const some of combinations(place, objectOf(dimensions)))
      yield expand({ gen: [{ ...rest, dimensions: some }] });
  }
}

/** @throws DataError for what is no text, or longer than any that a writer needs */
function checkTemplate(place: string, text: unknown): void {
  if (typeof text !== "string") throw new DataError(`${place}: a template is no text`);
  if (text.length > STORE_BOUNDS.templateLength)
    throw new DataError(`${place}: a template has more than ${STORE_BOUNDS.templateLength} characters`);
}

/** The values of dimensions in small parts: all of the last dimension at a time, some of it if it is long. */
function* combinations(place: string, dimensions: Json): Generator<Record<string, readonly number[]>> {
  const names = Object.keys(dimensions);
  const counts = names.map((name) => countOf(place, dimensions[name]));
  const total = counts.reduce((product, count) => product * count, 1);
  if (total > STORE_BOUNDS.references)
    throw new DataError(`${place} generates more than ${STORE_BOUNDS.references} references`);
  const [first, ...others] = names;
  if (first === undefined || total === 0) return;
  const step = Math.max(1, Math.floor((AT_A_TIME * counts[0]) / total));
  const rest = Object.fromEntries(others.map((name, at) => [name, valuesOf(dimensions[name], 0, counts[at + 1])]));
  for (let from = 0; from < counts[0]; from += step)
    yield { [first]: valuesOf(dimensions[first], from, Math.min(from + step, counts[0])), ...rest };
}

/** Values of a dimension: a list of them, or a range. */
function countOf(place: string, dimension: unknown): number {
  if (Array.isArray(dimension)) return dimension.length;
  const { start, stop, step } = rangeOf(dimension);
  const count = Math.max(0, Math.ceil((stop - start) / step));
  if (!(step > 0) || Number.isNaN(count)) throw new DataError(`${place}: a dimension of "gen" is no range`);
  return count;
}

function valuesOf(dimension: unknown, from: number, to: number): readonly number[] {
  if (Array.isArray(dimension)) return dimension.slice(from, to);
  const { start, step } = rangeOf(dimension);
  return Array.from({ length: to - from }, (_, at) => start + step * (from + at));
}

function rangeOf(dimension: unknown): { start: number; stop: number; step: number } {
  const { start = 0, stop, step = 1 } = objectOf(dimension);
  return { start: Number(start), stop: Number(stop), step: Number(step) };
}
