/**
 * Expands a list of references within bounds: a few bytes of `templates` can expand to any number of characters. A
 * template is plain text; nothing in it is computed or run.
 */
import { DataError } from "../../shared/errors.js";
import { STORE_BOUNDS } from "../../shared/store-settings.js";
import { type Json, objectOf } from "../dataset/documents.js";
import type { ListDocument, ReferenceValue } from "./list-document.js";

/** The version of a target when its list was written, if it was known. */
export interface TargetStamp {
  readonly bytes?: number;
  /** Time of the last change in milliseconds, for local files. */
  readonly modifiedMs?: number;
  /** Digest of its version as stated by its host, for remote files. */
  readonly version?: string;
}

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

export function otherTarget(list: string, target: string): DataError {
  return new DataError(`${list}: ${target} has changed since the list was written; write the list anew`);
}

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

function* expansions(place: string, { rest: list, entries }: ListDocument): Generator<ReferenceValue> {
  if (Array.isArray(list.gen) ? list.gen.length > 0 : list.gen !== undefined)
    throw new DataError(`${place}: "gen" is not read; write the list anew with each reference in "refs"`);
  const templates = new Map(
    Object.entries(objectOf(list.templates)).map(([name, text]) => [name, checkedText(place, text)]),
  );
  const textOf = (name: string): string => {
    const text = templates.get(name);
    if (text === undefined || text.includes("{{"))
      throw new DataError(`${place} cannot be expanded: {{${name.slice(0, 200)}}} is not the name of a text`);
    return text;
  };
  for (const [key, value] of entries) {
    const isTemplate = Array.isArray(value) && String(value[0]).includes("{{");
    if (!isTemplate) yield [key, value];
    else {
      const target = checkedText(place, value[0]).replace(/\{\{(.*?)\}\}/g, (_, name: string) => textOf(name.trim()));
      yield [key, [target, ...value.slice(1)]];
    }
  }
}

function checkedText(place: string, text: unknown): string {
  if (typeof text !== "string") throw new DataError(`${place}: a template is not text`);
  if (text.length > STORE_BOUNDS.templateLength)
    throw new DataError(`${place}: a template has more than ${STORE_BOUNDS.templateLength} characters`);
  return text;
}
