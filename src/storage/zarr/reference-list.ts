/**
 * Expands a list of references, as kerchunk writes it, within bounds: a few bytes of `gen` and `templates` can
 * expand to any number of references and characters.
 */
import { DataError } from "../../shared/errors.js";
import { STORE_BOUNDS } from "../../shared/store-settings.js";
import { type Json, objectOf } from "./documents.js";
import type { ListDocument, ReferenceValue } from "./list-document.js";
import { type Render, type TemplateValues, templateOf } from "./templates.js";

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
    `${list}: ${target} has changed since the list was written; rewrite it with fieldprobe inspect --references`,
  );
}

/** The references of a list. @param place names it @throws DataError beyond a bound, or if it cannot be expanded */
export function* referencesOf(place: string, list: ListDocument): Generator<ReferenceValue> {
  let [references, length] = [0, 0];
  for (const entry of "version" in list.rest ? expansions(place, list) : list.entries) {
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

/** The references of a list of version 1. */
function* expansions(place: string, { rest: list, entries }: ListDocument): Generator<ReferenceValue> {
  const templates = new Map(
    Object.entries(objectOf(list.templates)).map(([name, text]) => [name, checkedText(place, text)]),
  );
  const read = (text: unknown): Render => templateOf(place, checkedText(place, text), templates);
  const none: TemplateValues = new Map();
  for (const [key, value] of entries) {
    const isTemplate = Array.isArray(value) && String(value[0]).includes("{{");
    yield [key, isTemplate ? [read(value[0])(none), ...value.slice(1)] : value];
  }
  for (const made of Array.isArray(list.gen) ? list.gen : []) {
    const { dimensions, key, url, offset, length } = objectOf(made);
    const [keyOf, urlOf] = [read(key), read(url)];
    const part = offset === undefined || length === undefined ? [] : [read(offset), read(length)];
    for (const values of combinations(place, objectOf(dimensions)))
      yield [keyOf(values), [urlOf(values), ...part.map((render) => Number(render(values)))]];
  }
}

/** @throws DataError for what is not text, or longer than any that a writer needs */
function checkedText(place: string, text: unknown): string {
  if (typeof text !== "string") throw new DataError(`${place}: a template is not text`);
  if (text.length > STORE_BOUNDS.templateLength)
    throw new DataError(`${place}: a template has more than ${STORE_BOUNDS.templateLength} characters`);
  return text;
}

/** Every combination of the values of dimensions, in one map that is changed in between. */
function* combinations(place: string, dimensions: Json): Generator<TemplateValues> {
  const axes = Object.entries(dimensions).map(([name, dimension]) => ({ name, ...valuesOf(place, dimension) }));
  const total = axes.reduce((product, { count }) => product * count, 1);
  if (total > STORE_BOUNDS.references)
    throw new DataError(`${place} generates more than ${STORE_BOUNDS.references} references`);
  const values = new Map<string, string | number>();
  for (let combination = 0; axes.length > 0 && combination < total; combination++) {
    let rest = combination;
    for (const { name, count, at } of axes) {
      values.set(name, at(rest % count));
      rest = Math.floor(rest / count);
    }
    yield values;
  }
}

/** The values of a dimension: a list of them, or a range. */
function valuesOf(place: string, dimension: unknown): { count: number; at: (index: number) => string | number } {
  const isValue = (value: unknown): value is string | number => typeof value === "string" || Number.isFinite(value);
  if (Array.isArray(dimension) && dimension.every(isValue))
    return { count: dimension.length, at: (index) => dimension[index] as string | number };
  const { start = 0, stop, step = 1 } = objectOf(dimension);
  const [first, end, by] = [start, stop, step].map(Number);
  const count = Math.max(0, Math.ceil((end - first) / by));
  if (!(by > 0) || Number.isNaN(count)) throw new DataError(`${place}: a dimension of "gen" is not a range`);
  return { count, at: (index) => first + by * index };
}
