/**
 * Describes a file by another one that is like it: thousands of files of one simulation code differ only in values,
 * times and details that are never asked for. A file that gives the same answers as another one has the same
 * outcome, except for its name and time.
 */
import { basename } from "node:path";
import { DataError } from "../../errors.js";
import type { Dataset, FieldSource, FileStamp } from "../file/dataset.js";
import type { Hdf5File } from "../hdf5-bytes/hdf5-file.js";
import type { Statement } from "./layouts/layout.js";
import type { Recognised } from "./layouts/recognise.js";
import { answerOf, isLike, type Observation, type ObservedFile } from "./observed-file.js";
import { type BytesBehind, bytesBehind } from "./same-bytes.js";
import type { CandidateOutcome } from "./scan.js";

/** Most templates that are kept: those that were of use last. */
const MOST_TEMPLATES = 8;
/** Templates that are made before one of them is of use: if no two files are alike, they only cost time. */
const TRIALS = 64;

/** A bare file, as it is named in an outcome. */
export interface NamedFile {
  readonly location: string;
  /** Name of the dataset. */
  readonly name: string;
  readonly digest: string;
  readonly stamp: FileStamp;
}

/** A file whose outcome is known, with which others are compared. */
interface LikeTemplate {
  /** Path, with symbolic links resolved. */
  readonly path: string;
  readonly outcome: CandidateOutcome;
  /** Answers that another file must give. */
  readonly observations: readonly Observation[];
  /** The question about its time, which may have another answer. */
  readonly time: Observation | null;
  /** The bytes that the answers rest on, once a file was like this one; null if they are not known. */
  bytes?: BytesBehind | null;
}

/** The outcomes of files that others may be like, of one scan. */
export class Likenesses {
  #templates: LikeTemplate[] = [];
  #trials = TRIALS;

  /** The outcome of an open file by one that it is like; null if there is none. */
  find(file: Hdf5File, named: NamedFile): CandidateOutcome | null {
    for (const [at, template] of this.#templates.entries()) {
      const time = likeTime(file, template);
      if (time === null) continue;
      this.#trials = TRIALS;
      if (at > 0) this.#templates = [template, ...this.#templates.filter((other) => other !== template)];
      return outcomeLike(template, named, time);
    }
    return null;
  }

  /**
   * Takes a file as a template for others, unless its name or time may be found in places that are not known.
   *
   * @param recognised null if it was refused before
   */
  add(file: ObservedFile, outcome: CandidateOutcome, recognised: Recognised | null): void {
    const { path, observations, isComplete } = file;
    if (!isComplete || recognised?.isNamed || this.#trials === 0) return;
    this.#trials--;
    const rest = withoutNames(outcome, path);
    if (rest === null || mentions([observations, rest], path)) return;
    const asked = observations.find((observation) => isAbout(observation, recognised?.timeFrom ?? null));
    const time = asked?.times === 1 && isSnapshotAt(outcome, numberIn(asked.answer)) ? asked : null;
    const others = observations.filter((observation) => observation !== time);
    this.#templates = [{ path, outcome, observations: others, time }, ...this.#templates].slice(0, MOST_TEMPLATES);
  }
}

/** Whether an observation is the question to which a statement in a file is the answer. */
function isAbout({ question, path, name }: Observation, place: Statement | null): boolean {
  if (place === null || path !== place.path) return false;
  return place.attribute === null ? question === "numbers" : question === "attribute" && name === place.attribute;
}

/**
 * The time of a file that is like a template; "none" if it has that of the template; null if it is not like it.
 */
function likeTime(file: Hdf5File, template: LikeTemplate): number | "none" | null {
  const { path, observations, time } = template;
  try {
    const { bytes } = template;
    const isSame = bytes != null && bytes.start === file.start && file.holds(bytes.parts, bytes.headers);
    if (!isSame && !isLike(file, observations)) return null;
    if (bytes === undefined) template.bytes = bytesIfThere(path, observations, file);
    if (time === null) return "none";
    const answer = answerOf(file, time);
    return typeof answer === typeof time.answer ? numberIn(answer) : null;
  } catch (error) {
    if (error instanceof DataError) return null;
    throw error;
  }
}

/** What the answers about a template rest on; null if it is not there or not readable any more. */
function bytesIfThere(path: string, observations: readonly Observation[], opener: Hdf5File): BytesBehind | null {
  try {
    return bytesBehind(path, observations, opener);
  } catch {
    return null;
  }
}

/** The only number of a value, or null. */
function numberIn(value: unknown): number | null {
  const number = value instanceof Float64Array && value.length === 1 ? value[0] : value;
  return typeof number === "number" && Number.isFinite(number) ? number : null;
}

/** Whether an outcome is a dataset of one frame at a time. */
function isSnapshotAt(outcome: CandidateOutcome, time: number | null): boolean {
  return "dataset" in outcome && outcome.dataset.time.count === 1 && outcome.dataset.time.origin === time;
}

/**
 * An outcome without the members that are known to hold the names of its file; null if it rests on other files
 * too.
 */
function withoutNames(outcome: CandidateOutcome, path: string): object | null {
  if ("problems" in outcome) return outcome;
  const { name: _, location: __, files, title, fields, ...others } = outcome.dataset;
  const parts = Object.values(fields).flatMap((field) => field.parts);
  if (files.length !== 1 || parts.some(({ file }) => file !== path)) return null;
  return [others, parts.map(({ file: ___, ...part }) => part), title === basename(path) ? "" : title];
}

/** Whether a text in a record has the name of a file in it. */
function mentions(record: object, path: string): boolean {
  const text = JSON.stringify(record, (_, value) => (ArrayBuffer.isView(value) ? null : value));
  return text.includes(JSON.stringify(basename(path)).slice(1, -1));
}

/** Gives the outcome of a template to another file, under its name and at its time. */
function outcomeLike({ path, outcome }: LikeTemplate, named: NamedFile, time: number | "none"): CandidateOutcome {
  if ("problems" in outcome) return outcome;
  const { location, name, digest, stamp } = named;
  const { dataset } = outcome;
  const fields: Dataset["fields"] = Object.fromEntries(
    Object.entries(dataset.fields).map(([field, source]) => [field, fieldIn(source, stamp.path)]),
  );
  const title = dataset.title === basename(path) ? basename(stamp.path) : dataset.title;
  // A descriptor as JSON has no -0.
  const moved = time === "none" ? dataset.time : { ...dataset.time, origin: time + 0 };
  return { dataset: { ...dataset, name, title, fields, time: moved, location, digest, files: [stamp] } };
}

/** The same field in another file. */
function fieldIn(source: FieldSource, file: string): FieldSource {
  return { ...source, parts: source.parts.map((part) => ({ ...part, file })) };
}
