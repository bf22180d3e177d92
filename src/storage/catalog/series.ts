/** Describes a series of files as one dataset. */
import { basename, dirname, extname } from "node:path";
import { isAddress } from "../../shared/addresses.js";
import { DataError, readOr } from "../../shared/errors.js";
import { shortList } from "../../shared/messages.js";
import { AXIS_NAMES, type Question } from "../dataset/dataset.js";
import { type Descriptor, type DescriptorInput, frameCount, parseDescriptor, timesIn } from "../dataset/descriptor.js";
import type { Answers } from "../recognise/answers.js";
import { requireDistinct } from "../recognise/fields.js";
import { timesOf } from "../recognise/frame-times.js";
import { Findings, frameLabels, TIMES_ANSWER } from "../recognise/layout.js";
import { type Recognised, recogniseOpen } from "../recognise/recognise.js";
import { UnitedFile, withFiles } from "../united-file.js";
import { type Difference, differences, firstOf, isAbout, varyingKeys } from "./differences.js";

type FieldInput = NonNullable<DescriptorInput["fields"]["velocity"]>;
type SeriesPlace = { file: string; path: string };

const MAX_VARIABLES = 64;
const LAST_NUMBER = /\d+(?:\.\d+)?(?=\D*$)/;
/** Numbers that name a time: digits with or without a fraction. */
const NUMBERS = /\d+(?:\.\d+)?/g;

interface Pattern {
  /** The name, with `{step}` in place of the part that varies. */
  readonly pattern: string;
  readonly steps: string[];
}

export function findPattern(names: readonly string[]): Pattern {
  const [first] = names as [string];
  for (const { index, 0: digits } of [...first.matchAll(NUMBERS)].reverse()) {
    const [head, tail] = [first.slice(0, index), first.slice(index + digits.length)];
    const steps = names.map((name) =>
      name.startsWith(head) && name.endsWith(tail) ? name.slice(head.length, name.length - tail.length) : "",
    );
    if (steps.every((step) => /^\d+(\.\d+)?$/.test(step))) return { pattern: `${head}{step}${tail}`, steps };
  }
  throw new DataError(`the names ${names.slice(0, 3).join(", ")}, ... do not differ in one number`);
}

interface SeriesFile {
  readonly paths: readonly string[];
  readonly step: string;
  readonly found: Recognised;
  /** Coordinates stated along each axis, as text. */
  readonly grid: readonly string[];
}

interface SeriesFrame {
  readonly member: SeriesFile;
  readonly local: number;
}

/**
 * Describes files as one dataset: each holds one time or several, with all fields or some. Their order is that of their
 * times, or else of the numbers in their names.
 * @throws DataError when a file is not recognised, or differs from the first in layout or coordinates
 */
export function recogniseSeries(paths: readonly string[], answers: Answers): Recognised {
  const folders = new Set(paths.map((path) => dirname(path)));
  if (folders.size > 1) throw new DataError(`the files of a series must be in one folder, not ${folders.size}`);
  const { sets, patterns } = setsOf(paths);
  const [only, ...others] = sets as [(typeof sets)[0], ...typeof sets];
  if (others.length === 0) return recogniseSet(only.paths, answers);
  const { times: _, ...rest } = answers;
  const members = inOrder(
    sets.map(({ step, paths: files }) => {
      const found = recogniseSet(files, rest);
      return { paths: files, step, found, grid: gridOf(files, found) };
    }),
  );
  const [first] = members as [SeriesFile];
  const [path] = first.paths as [string];
  for (const member of members.slice(1)) {
    const [other] = member.paths as [string];
    const unlike = differences(shapeOf(first.found), [], new Map(Object.entries(shapeOf(member.found))));
    if (unlike.length > 0) throw new DataError(`${other} is laid out differently from ${path}: ${firstOf(unlike)}`);
    if (member.found.units !== first.found.units)
      throw new DataError(
        `${other} states other units or labels than ${path}: ${member.found.units}, not ${first.found.units}`,
      );
    const axis = AXIS_NAMES.find((_, at) => member.grid[at] !== first.grid[at]);
    if (axis !== undefined)
      throw new DataError(`${other} has other coordinates than ${path} along ${axis}: all frames must have the same`);
  }
  const findings = new Findings();
  const frames = framesOf(members, answers, findings);
  const time = timeOf(frames, members, answers, findings);
  const [pattern = ""] = patterns;
  const name = pattern.slice(0, pattern.indexOf("{")).replace(/[^A-Za-z0-9]+$/, "");
  const questions = ofAll(members, ({ questions }) => questions);
  const left = answers.times === undefined ? questions : questions.filter(({ about }) => about !== "times");
  const open = [...left, ...findings.questions];
  const assumed = [...ofAll(members, (found) => found.assumed), ...findings.assumed];
  const count = `${paths.length} files ${patterns.join(", ")}`;
  const written: DescriptorInput = {
    ...withoutQuestions(first.found.written),
    name: name === "" ? "series" : name,
    title: count,
    time,
    fields: fieldsOf(frames, members, isAddress(path) ? `${dirname(path)}/` : "", patterns),
    ...(assumed.length === 0 ? {} : { assumed }),
    ...(open.length === 0 ? {} : { questions: open }),
  };
  return {
    ...first.found,
    ...described(written),
    reasons: [
      `series: ${count}, from ${first.step} to ${members[members.length - 1]?.step}.`,
      ...findings.reasons,
      ...first.found.reasons,
    ],
    warnings: [...new Set(members.flatMap(({ found }) => found.warnings))],
    sources: [...new Set(members.flatMap(({ found }) => found.sources))],
    varies: varyingKeys(members.map(({ found }) => found.structure)),
  };
}

function described(written: DescriptorInput): Pick<Recognised, "written" | "descriptor"> {
  const parsed = parseDescriptor(JSON.stringify(written));
  if ("problems" in parsed) throw new DataError(`the series cannot be described: ${parsed.problems.join("; ")}`);
  return { written, descriptor: parsed.descriptor };
}

function setsOf(paths: readonly string[]): {
  readonly sets: readonly { readonly step: string; readonly paths: readonly string[] }[];
  readonly patterns: readonly string[];
} {
  const names = paths.map((path) => basename(path));
  const stems = [...new Set(names.map(patternOf))];
  try {
    const { pattern, steps } = findPattern(names);
    return { sets: steps.map((step, at) => ({ step, paths: [paths[at] as string] })), patterns: [pattern] };
  } catch (error) {
    if (!(error instanceof DataError) || stems.length > MAX_VARIABLES) throw error;
    const steps = [...new Set(names.map(stepIn))];
    const sets = steps.map((step) => ({ step, paths: paths.filter((_, at) => stepIn(names[at] as string) === step) }));
    const lacking = sets.find((set) => set.paths.length !== stems.length);
    if (lacking !== undefined)
      throw new DataError(
        `${error.message}, nor has ${lacking.step || "each name"} a file for each of ${stems.join(", ")}`,
      );
    return { sets, patterns: stems };
  }
}

/** The number of a name that varies with time, and the name with `{step}` in its place. */
export const stepIn = (name: string): string => LAST_NUMBER.exec(basename(name, extname(name)))?.[0] ?? "";
export const patternOf = (name: string): string =>
  basename(name, extname(name)).replace(LAST_NUMBER, "{step}") + extname(name);

/** @param isLook whether a person looks, or the structure is needed */
export function recogniseSet(paths: readonly string[], answers: Answers, isLook = true): Recognised {
  const [path] = paths as [string];
  return withFiles(paths, (file) => {
    const stems = paths.map((one) => basename(one, extname(one)));
    const name = paths.length === 1 ? (stems[0] as string) : stems.join("-").slice(0, 64);
    const found = recogniseOpen(file, answers, name, isLook);
    if (found === null) throw new DataError(`the layout of ${path} is not recognised`);
    if (!(file instanceof UnitedFile)) return found;
    const own = (_: string, value: unknown): unknown => {
      const place = value as { readonly file?: unknown; readonly path?: unknown } | null;
      if (typeof place?.file !== "string" || typeof place.path !== "string") return value;
      if (place.path.includes("{step"))
        throw new DataError(`${place.path} has a dataset for each time; such files cannot be joined by variable`);
      const holder = file.fileOf(place.path).path;
      return { ...place, file: isAddress(holder) ? holder : basename(holder) };
    };
    const written = JSON.parse(JSON.stringify(found.written), own) as DescriptorInput;
    const varies = [...found.varies, ...file.varies];
    const reasons = [`variables: of ${paths.map((one) => basename(one)).join(", ")}.`, ...found.reasons];
    return { ...found, ...described(written), varies, reasons };
  });
}

function inOrder(members: SeriesFile[]): SeriesFile[] {
  const times = timesFromOneDate(members);
  const timed = members.map((member, at) => ({ member, time: times?.[at]?.[0] ?? null }));
  if (timed.every(({ time }) => time !== null) && new Set(timed.map(({ time }) => time)).size === timed.length)
    return timed.sort((a, b) => (a.time as number) - (b.time as number)).map(({ member }) => member);
  const sorted = members.sort((a, b) => Number(a.step) - Number(b.step));
  requireDistinct(
    sorted.map(({ step }) => step),
    "files",
  );
  return sorted;
}

/** The frames of a series; where the times of two files overlap, as after a restart, one file keeps them. */
function framesOf(members: readonly SeriesFile[], said: Answers, findings: Findings): SeriesFrame[] {
  const { overlap } = said;
  const times = said.times === undefined || overlap !== undefined ? timesFromOneDate(members) : null;
  const all = members.map((member) => Array.from({ length: countOf(member) }, (_, local) => ({ member, local })));
  if (times === null) return all.flat();
  const isBefore = (one: number, other: number) => one < other - 1e-9 * Math.abs(other);
  let kept: { readonly frame: SeriesFrame; readonly time: number }[] = [];
  for (const [at, frames] of all.entries()) {
    const own = times[at] as readonly number[];
    const [start = 0] = own;
    const end = kept.at(-1)?.time;
    if (end !== undefined && !isBefore(end, start)) {
      const [name, other] = [members[at] as SeriesFile, kept.at(-1)?.frame.member as SeriesFile].map(({ paths }) =>
        basename(paths[0] as string),
      );
      if (overlap === undefined)
        findings.ask(
          "times",
          `${name} begins at ${start}, and ${other} ends at ${end}: the times of the two overlap.`,
          "--overlap last keeps those of the later file, --overlap first those of the earlier",
        );
      else findings.addReason(`times from ${start} to ${end}: of the ${overlap} file, from your answer.`);
      if (overlap !== "first") kept = kept.filter(({ time }) => isBefore(time, start));
    }
    const last = kept.at(-1)?.time ?? Number.NEGATIVE_INFINITY;
    const fresh = frames.map((frame, i) => ({ frame, time: own[i] as number }));
    kept.push(...fresh.filter(({ time }) => isBefore(last, time)));
  }
  return kept.map(({ frame }) => frame);
}

const countOf = ({ found: { descriptor } }: SeriesFile): number => frameCount(descriptor);

/** Times from the earliest date, or as all files state them; null if some state none, or in other units. */
function timesFromOneDate(members: readonly SeriesFile[]): (readonly number[])[] | null {
  const all = members.map(({ found }) => found);
  const sinceOf = ({ dated, descriptor }: Recognised) =>
    (dated?.start ?? 0) + (timesIn(descriptor)[0] ?? 0) * (dated?.seconds ?? 1);
  const base = all.reduce((earliest, one) => (sinceOf(one) < sinceOf(earliest) ? one : earliest));
  const times = all.map((one) => timesFrom(base, one) ?? []);
  return times.some((own) => own.length === 0) ? null : times;
}

export function timesFrom(base: Recognised, found: Recognised): readonly number[] | null {
  const times = statedTimes(found);
  const [from, own] = [base.dated, found.dated];
  if (times === null || (from === null && own === null)) return times;
  if (from === null || own === null) return null;
  if (from.calendar !== own.calendar || from.seconds !== own.seconds) return null;
  return times.map((time) => time + (own.start - from.start) / own.seconds);
}

/** The first difference of files from a structure in something that describes them; what they state otherwise is free. */
export function usedAmong(all: readonly Difference[], paths: readonly string[]): Difference | undefined {
  if (all.length === 0) return undefined;
  const used = () => {
    const { seen } = recogniseSet(paths, {});
    return all.find((one) => !one.isGroup && !seen.some(isAbout(one)));
  };
  return readOr(used, () => all[0]);
}

/** Times that files state by themselves, in seconds of their calendar if they are dated, or why they cannot be read. */
export function timesStatedBy(paths: readonly string[]): readonly number[] | string {
  const times = () => {
    const found = recogniseSet(paths, {}, false);
    const { start = 0, seconds = 1 } = found.dated ?? {};
    return statedTimes(found)?.map((time) => start + time * seconds) ?? [];
  };
  return readOr(times, ({ message }) => message);
}

function statedTimes(found: Recognised): readonly number[] | null {
  const { questions, assumed } = found.descriptor;
  const isRequested = [...questions, ...assumed].some(({ about }) => about === "snapshot" || about === "times");
  return found.dated === null && isRequested ? null : timesIn(found.descriptor);
}

/** Questions of all files except those about times; questions of some files are asked with the names of these. */
function ofAll(members: readonly SeriesFile[], list: (found: Descriptor) => readonly Question[]): Question[] {
  const texts = new Map<string, { readonly question: Question; readonly files: string[]; more?: string }>();
  for (const { paths, found } of members)
    for (const question of list(found.descriptor).filter(({ about }) => about !== "snapshot")) {
      // Questions that differ only in numbers are one question.
      const key = JSON.stringify(question).replaceAll(/-?\d+(\.\d+)?(e[-+]?\d+)?/g, "0");
      const known = texts.get(key);
      if (known === undefined) texts.set(key, { question, files: [nameOfSet(paths)] });
      else {
        known.files.push(nameOfSet(paths));
        if (known.question.question !== question.question) known.more = " Other files have other numbers.";
      }
    }
  return [...texts.values()].map(({ question, files, more = "" }) => {
    const where = files.length === members.length ? "" : `In ${shortList(files, 3, ", ")}: `;
    return { ...question, question: `${where}${question.question}${more}` };
  });
}

const withoutQuestions = ({ questions: _, assumed: __, ...members }: DescriptorInput): DescriptorInput => members;

const nameOfSet = (paths: readonly string[]): string => basename(paths[0] as string);

function timeOf(
  frames: readonly SeriesFrame[],
  members: readonly SeriesFile[],
  answers: Answers,
  findings: Findings,
): DescriptorInput["time"] {
  const known = timesFromOneDate(members);
  const own =
    known === null ? [] : frames.map(({ member, local }) => known[members.indexOf(member)]?.[local] as number);
  const isAscending = own.every((time, index) => index === 0 || time > (own[index - 1] as number));
  if (answers.times !== undefined || (own.length === frames.length && isAscending))
    return timesOf(frames.length, own.length === 0 ? null : { value: own, where: "each file" }, answers, findings);
  const isSingle = frames.length === members.length;
  findings.ask(
    "times",
    `The files give no ascending times; ${isSingle ? "the numbers in their names are" : "the numbers of their frames are"} a guess.`,
    TIMES_ANSWER,
  );
  const value = isSingle ? members.map(({ step }) => Number(step)) : frames.map((_, index) => index);
  return timesOf(frames.length, { value, where: "the names of the files" }, answers, findings);
}

function fieldsOf(
  frames: readonly SeriesFrame[],
  members: readonly SeriesFile[],
  folder: string,
  patterns: readonly string[],
): DescriptorInput["fields"] {
  const [first] = members as [SeriesFile];
  const steps = frames.map(({ member }) => member.step);
  const isSingle = members.every((member) => countOf(member) === 1);
  const named = (file: string): string =>
    folder + (patterns.find((one) => one.replace("{step}", first.step) === basename(file)) ?? (patterns[0] as string));
  return Object.fromEntries(
    Object.entries(first.found.written.fields).map(([name, field]) => {
      const fieldIn = ({ found }: SeriesFile) => found.written.fields[name as "velocity"] as FieldInput | undefined;
      const labels = frames.map(({ member }) => fieldIn(member)?.firstStep ?? 0);
      const isStepped = /\{step/.test(JSON.stringify(field));
      if (!isSingle && isStepped)
        throw new DataError(`${name} has a dataset for each time; files with several such times cannot be joined`);
      const listed = isSingle ? { steps } : { steps, frames: frames.map(({ local }) => local) };
      return [name, inSeries(field as FieldInput, named, { ...listed, ...(isStepped ? frameLabels(labels) : {}) })];
    }),
  ) as DescriptorInput["fields"];
}

function inSeries(field: FieldInput, pattern: (file: string) => string, series: object): FieldInput {
  const at = (place: SeriesPlace) => ({ ...place, file: pattern(place.file) });
  return "components" in field
    ? { ...field, ...series, components: field.components.map(at) as never }
    : { ...field, ...at(field), ...series };
}

function shapeOf({ producer, written: { axes, fields } }: Recognised): Record<string, string> {
  const parts = (value: unknown, key: string): [string, string][] => {
    // Units are compared as what they mean.
    if (/(^|\.)(file|firstStep|unit)$/.test(key)) return [];
    if (typeof value !== "object" || value === null) return [[key, `${value}`.replace(/\{step:0\d+d\}/, "{step}")]];
    return Object.entries(value).flatMap(([name, part]) => parts(part, key === "" ? name : `${key}.${name}`));
  };
  return Object.fromEntries(parts({ producer, axes, fields }, ""));
}

function gridOf(paths: readonly string[], { descriptor }: Recognised): string[] {
  return withFiles(paths, (file) =>
    AXIS_NAMES.map((name) => {
      const axis = descriptor.axes[name];
      if (!("coordinates" in axis)) return JSON.stringify(axis);
      const { coordinates } = axis;
      if (Array.isArray(coordinates)) return coordinates.join();
      return file.numbers(file.resolve(coordinates.path) ?? coordinates.path).join();
    }),
  );
}
