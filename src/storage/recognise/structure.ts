/**
 * Structural fingerprint of a file. A confirmed description is valid for files with the same fingerprint: paths, types,
 * shapes without time, attributes and small datasets. Chunks, filters, byte order and references may differ.
 */

import { basename } from "node:path";
import { DataError, readOr } from "../../shared/errors.js";
import { sha256 } from "../../shared/sha256.js";
import { type Descriptor, frameCount, partsIn, placesIn } from "../dataset/descriptor.js";
import { STEP_PLACE } from "../dataset/files.js";
import { type Attributes, isNumeric, typeText } from "../dataset/stored.js";
import { MAX_TABLE_BYTES, type StoredFile } from "../dataset/stored-file.js";
import { join, parentOf } from "./evidence.js";
import { sourcesAt } from "./layout.js";
import { isLibraryAttribute, valueText } from "./statements.js";
import { tableNamed } from "./usual-names.js";

/** Text by `path` of a dataset or group, or `path@name` of an attribute. */
export type Structure = ReadonlyMap<string, string>;

/** Members of a file beyond which a confirmation cannot list them. */
const MAX_MEMBERS = 20_000;
/** Elements of a dataset whose values belong to the structure. */
export const MAX_SMALL_VALUES = 65_536;
/** Characters up to which `shortenedText` keeps a value; of a longer value it keeps the digest. */
const SHORT_TEXT = 60;
export const VARIES = "(differs from time to time)";
/** Attributes of VTKHDF and Dedalus that count the times, and tables of VTKHDF with one row a time. */
const TIME_COUNTS = ["/VTKHDF/Steps@NSteps", "@writes"];
const STEPS_PATH = /^\/VTKHDF\/Steps\//;
/** Ending of the text of a source without values, which may come later. */
export const MISSING_SUFFIX = ", missing";
/** Ending of the key of the reason why no source is read. */
export const SOURCES_SUFFIX = " of its sources";

/** The parts of the path of a time before its number, and behind the number in the same name. */
type Steps = { readonly head: string; readonly tail: string };

interface Roles {
  /** By path, `{step}` included: the dimension of time, -1 if there is none. */
  readonly fields: ReadonlyMap<string, number>;
  readonly steps: readonly Steps[];
  readonly timeTable: string | null;
  readonly frames: number;
  readonly coordinates: ReadonlySet<string>;
}

/** @param files receives the sources of virtual datasets @throws DataError for too many members */
export function structureOf(
  file: StoredFile,
  descriptor: Descriptor,
  timeTable: string | null,
  files = new Set<string>(),
): Structure {
  const roles = rolesIn(file, descriptor, timeTable);
  const structure = new Map<string, string>();
  const seen = new Set<number | string>();
  const add = (key: string, text: string): void => {
    const previous = structure.get(key);
    structure.set(key, previous === undefined || previous === text ? text : VARIES);
    if (structure.size > MAX_MEMBERS) throw new DataError(`${file.path} has more than ${MAX_MEMBERS} members`);
  };
  const addAttributes = (key: string, attributes: Attributes): void => {
    for (const [name, value] of attributes) {
      const entry = `${key === "/" ? "" : key}@${name}`;
      const isCount = TIME_COUNTS.includes(entry) && Number(value) === roles.frames;
      if (!isCount && (!isLibraryAttribute(name) || name === "NAME")) add(entry, shortenedText(valueText(value)));
    }
  };
  const addSources = (path: string, key: string): void => {
    const sources = sourcesAt(file, path);
    for (const source of sources.files) files.add(source);
    if (sources.refusal !== null && sources.datasets.length === 0)
      add(`${key}${SOURCES_SUFFIX}`, sources.refusal.replace(`${file.path}: `, "").replace(/\.$/, ""));
    for (const [n, { name, stored, attributes }] of sources.datasets.entries()) {
      const hasTime = stored?.shape.length === file.describe(path).shape.length;
      const lengths = stored?.shape.filter((_, at) => !hasTime || at !== roles.fields.get(key));
      const text = stored === null ? MISSING_SUFFIX : `, ${typeText(stored)} ${lengths?.join(" x ")}`;
      add(`${key} of source ${n}`, name + text);
      addAttributes(`${key} of source ${n}`, attributes);
    }
  };
  const visit = (path: string): void => {
    const resolved = readOr(
      () => file.resolve(path),
      () => null,
    );
    const key = withStep(path, roles);
    if (resolved === null) {
      add(key, "a link that is not followed");
      return;
    }
    const identity = file.address(resolved) ?? resolved;
    if (seen.has(identity)) {
      add(key, `the object ${withStep(resolved, roles)}`);
      return;
    }
    seen.add(identity);
    const kind = file.kind(resolved);
    addAttributes(key, file.attributes(resolved));
    if (kind === "dataset") addSources(resolved, key);
    if (kind === "group") {
      add(key, "group");
      for (const name of file.names(resolved)) visit(join(path, name));
    } else add(key, kind === "dataset" ? datasetText(file, resolved, key, roles) : "a named type");
  };
  visit("/");
  return structure;
}

function rolesIn(file: StoredFile, descriptor: Descriptor, timeTable: string | null): Roles {
  const { fields, axes } = descriptor;
  const all = new Map<string, number>();
  const steps: Steps[] = [];
  for (const field of Object.values(fields)) {
    if (field === undefined) continue;
    for (const place of partsIn(field)) {
      const dimensions = place.dimensions ?? field.dimensions;
      steps.push(...[stepsIn(place.path) ?? []].flat());
      all.set(place.path.replace(STEP_PLACE, "{step}"), dimensions.indexOf("t"));
    }
  }
  const coordinates = new Set(placesIn(axes).map(({ path }) => path));
  // A file of a series has one time, unless it has a dimension for them.
  const isSeries = placesIn(fields).some((place) => place.file.includes("{step"));
  const frames = timesHeld(file, descriptor) ?? (isSeries ? 1 : frameCount(descriptor));
  return { fields: all, steps, timeTable, frames, coordinates };
}

/** Times that a file holds, which may have become more; null if no field of it has a dimension for them. */
export function timesHeld(file: StoredFile, { fields }: Descriptor): number | null {
  for (const field of Object.values(fields))
    for (const { path, dimensions = field?.dimensions ?? [] } of partsIn(field)) {
      const steps = stepsIn(path);
      const group = parentOf(`${steps?.head}.`);
      if (steps !== null && file.resolve(group) !== null)
        return file.names(group).filter((name) => numberIn(join(group, name), steps) !== null).length;
      const dataset = dimensions.includes("t") && !STEP_PLACE.test(path) ? file.resolve(path) : null;
      if (dataset !== null) return file.describe(dataset).shape[dimensions.indexOf("t")] ?? null;
    }
  return null;
}

function stepsIn(path: string): Steps | null {
  const [head = "", tail] = path.replace(STEP_PLACE, "{step}").split("{step}");
  return tail === undefined ? null : { head, tail: tail.split("/")[0] ?? "" };
}

/** The number of a time in a path, as text; null if there is none. */
function numberIn(path: string, { head, tail }: Steps): string | null {
  const [segment = ""] = path.startsWith(head) ? path.slice(head.length).split("/") : [];
  const number = segment.endsWith(tail) ? segment.slice(0, segment.length - tail.length) : "";
  return /^\d[\d.eE+-]*$/.test(number) ? number : null;
}

function withStep(path: string, { steps }: Roles): string {
  for (const one of steps) {
    const number = numberIn(path, one);
    if (number !== null) return `${one.head}{step}${path.slice(one.head.length + number.length)}`;
  }
  return path;
}

function datasetText(file: StoredFile, path: string, key: string, roles: Roles): string {
  const stored = file.describe(path);
  const { shape } = stored;
  const time = roles.fields.get(key);
  const isOverTime =
    roles.timeTable === path ||
    (time === undefined &&
      !roles.coordinates.has(path) &&
      shape.length === 1 &&
      shape[0] === roles.frames &&
      (shape[0] > 1 || STEPS_PATH.test(path)));
  const lengths = shape.filter((_, at) => at !== time && !(isOverTime && at === 0));
  const head = `${typeText(stored)} ${lengths.join(" x ")}`.trim();
  const count = shape.reduce((product, length) => product * length, 1);
  const role = tableNamed(basename(path))?.role;
  // The coordinates of a mesh are kept in the description, however many its nodes are.
  const most = role === undefined || role === "t" ? MAX_SMALL_VALUES : MAX_TABLE_BYTES / Float64Array.BYTES_PER_ELEMENT;
  const isRefused = sourcesAt(file, path).refusal !== null;
  if (time !== undefined || isOverTime || count > most || file.isUnwritten(path) || isRefused) return head;
  if (isNumeric(stored)) {
    const values = file.numbers(path);
    const text =
      values.length <= 4
        ? values.join(", ")
        : digest(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
    return `${head} = ${text}`;
  }
  const texts = count <= 64 ? file.texts(path) : null;
  return texts === null ? head : `${head} = ${shortenedText(texts.join(", "))}`;
}

const shortenedText = (text: string): string => (text.length <= SHORT_TEXT ? text : digest(Buffer.from(text)));

const digest = (bytes: Uint8Array): string => `sha256 ${sha256(bytes).slice(0, 24)}`;
