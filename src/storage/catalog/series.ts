/** Describes a series of files as one dataset: the pattern of their names, and a common descriptor. */

import { basename, dirname } from "node:path";
import { isAddress } from "../../shared/addresses.js";
import { DataError } from "../../shared/errors.js";
import { AXIS_NAMES, type Question } from "../dataset/dataset.js";
import { type Descriptor, type DescriptorInput, parseDescriptor } from "../dataset/descriptor.js";
import { openFile } from "../open-file.js";
import type { Answers } from "../recognise/answers.js";
import { requireDistinct } from "../recognise/fields.js";
import { timesOf } from "../recognise/grid.js";
import { Findings } from "../recognise/layout.js";
import { type Recognised, recognise } from "../recognise/recognise.js";
import { variesIn } from "../recognise/structure.js";

type FieldInput = NonNullable<DescriptorInput["fields"]["velocity"]>;
type SeriesPlace = { file: string; path: string };

/** Numbers that name a time: digits with or without a fraction. */
const NUMBERS = /\d+(?:\.\d+)?/g;

/** The part in which the names of a series differ. */
interface Pattern {
  /** The name with `{step}` in the place of the part. */
  readonly pattern: string;
  /** The part of each name. */
  readonly steps: string[];
}

/** Names that differ in one number: the pattern and the numbers as they are written. */
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

/** One file of a series: what it holds, and the number in its name. */
interface SeriesFile {
  readonly path: string;
  readonly step: string;
  readonly found: Recognised;
  /** Coordinates that it states along each axis, as text. */
  readonly grid: string;
}

/**
 * Describes files that hold one time each as one dataset, in the order of their numbers.
 *
 * @throws DataError when a file is not recognised, differs from the first in layout or coordinates, or holds several
 *   times
 */
export function recogniseSeries(paths: readonly string[], answers: Answers): Recognised {
  const folders = new Set(paths.map((path) => dirname(path)));
  if (folders.size > 1) throw new DataError(`the files of a series must be in one folder, not ${folders.size}`);
  const { pattern, steps } = findPattern(paths.map((path) => basename(path)));
  const members = inOrder(paths.map((path, index) => ({ path, step: steps[index], ...recogniseOne(path, answers) })));
  const [first] = members as [SeriesFile];
  for (const member of members.slice(1)) {
    if (shapeOf(member.found) !== shapeOf(first.found))
      throw new DataError(`${member.path} is laid out differently from ${first.path}`);
    if (member.found.units !== first.found.units)
      throw new DataError(
        `${member.path} states other units or labels than ${first.path}: ${member.found.units}, not ${first.found.units}`,
      );
    if (member.grid !== first.grid)
      throw new DataError(`${member.path} has other coordinates than ${first.path}: all frames must have the same`);
  }
  const findings = new Findings();
  const time = timeOf(members, answers, findings);
  const name = pattern.slice(0, pattern.indexOf("{")).replace(/[^A-Za-z0-9]+$/, "");
  const asked = ofAll(members, ({ questions }) => questions);
  const others = answers.times === undefined ? asked : asked.filter(({ about }) => about !== "times");
  const open = [...others, ...findings.questions];
  const assumed = ofAll(members, (found) => found.assumed);
  const written: DescriptorInput = {
    ...withoutQuestions(first.found.written),
    name: name === "" ? "series" : name,
    title: `${members.length} files ${pattern}`,
    time,
    fields: fieldsOf(members, isAddress(first.path) ? `${dirname(first.path)}/${pattern}` : pattern),
    ...(assumed.length === 0 ? {} : { assumed }),
    ...(open.length === 0 ? {} : { questions: open }),
  };
  const parsed = parseDescriptor(JSON.stringify(written));
  if ("problems" in parsed) throw new DataError(`the series cannot be described: ${parsed.problems.join("; ")}`);
  return {
    producer: first.found.producer,
    descriptor: parsed.descriptor,
    written,
    reasons: [
      `series: ${members.length} files ${pattern}, from ${first.step} to ${members[members.length - 1]?.step}.`,
      ...findings.reasons,
      ...first.found.reasons,
    ],
    warnings: [...new Set(members.flatMap(({ found }) => found.warnings))],
    units: first.found.units,
    dated: first.found.dated,
    timeTable: first.found.timeTable,
    isKnown: first.found.isKnown,
    seen: first.found.seen,
    structure: first.found.structure,
    varies: variesIn(members.map(({ found }) => found.structure)),
  };
}

function recogniseOne(path: string, answers: Answers): { found: Recognised; grid: string } {
  const { times: _, ...others } = answers;
  const found = recognise(path, others);
  if (found === null) throw new DataError(`the layout of ${path} is not recognised`);
  if ("values" in found.descriptor.time || found.descriptor.time.count > 1)
    throw new DataError(`${path} holds several times; a series has one per file`);
  return { found, grid: gridOf(path, found) };
}

/** Files by the times that they state, else by the numbers in their names. */
function inOrder(members: SeriesFile[]): SeriesFile[] {
  const times = timesFromOneDate(members);
  const timed = members.map((member, at) => ({ member, time: times?.[at] ?? null }));
  if (timed.every(({ time }) => time !== null) && new Set(timed.map(({ time }) => time)).size === timed.length)
    return timed.sort((a, b) => (a.time as number) - (b.time as number)).map(({ member }) => member);
  const sorted = members.sort((a, b) => Number(a.step) - Number(b.step));
  requireDistinct(
    sorted.map(({ step }) => step),
    "files",
  );
  return sorted;
}

/**
 * The times of files, counted from the date from which the earliest one counts, or as all of them state them; null if
 * some state none, or count in another way than others.
 */
function timesFromOneDate(members: readonly SeriesFile[]): number[] | null {
  const dated = members.flatMap(({ found }) => found.dated ?? []);
  const own = members.flatMap(({ found }) => statedTime(found) ?? []);
  const [first] = dated;
  if (own.length < members.length) return null;
  if (first === undefined) return own;
  const isOther = dated.some(({ calendar, seconds }) => calendar !== first.calendar || seconds !== first.seconds);
  if (dated.length < members.length || isOther) return null;
  const starts = dated.map(({ start }) => start);
  const sinces = own.map((time, at) => (starts[at] as number) + time * first.seconds);
  const origin = starts[sinces.indexOf(Math.min(...sinces))] as number;
  return own.map((time, at) => time + ((starts[at] as number) - origin) / first.seconds);
}

/** The time that a file states on the calendar of another one, or null. */
export function timeFrom(base: Recognised, found: Recognised): number | null {
  const time = statedTime(found);
  if (time === null || base.dated === null || found.dated === null) return time;
  const isOther = base.dated.calendar !== found.dated.calendar || base.dated.seconds !== found.dated.seconds;
  return isOther ? null : time + (found.dated.start - base.dated.start) / found.dated.seconds;
}

/** The time that a file states, or null. */
function statedTime(found: Recognised): number | null {
  const { time } = found.descriptor;
  const isAsked = questionsOf(found).some(({ about }) => about === "snapshot" || about === "times");
  const isStated = found.dated !== null || !isAsked;
  return !isStated || "values" in time ? null : time.origin;
}

/** The questions of all files except about their times; those of some files are asked with the names of these. */
function ofAll(members: readonly SeriesFile[], list: (found: Descriptor) => readonly Question[]): Question[] {
  const texts = new Map<string, { readonly question: Question; readonly files: string[]; more?: string }>();
  for (const { path, found } of members)
    for (const question of list(found.descriptor).filter(({ about }) => about !== "snapshot")) {
      // A number that differs from file to file is one question.
      const key = JSON.stringify(question).replaceAll(/-?\d+(\.\d+)?(e[-+]?\d+)?/g, "0");
      const known = texts.get(key);
      if (known === undefined) texts.set(key, { question, files: [basename(path)] });
      else {
        known.files.push(basename(path));
        if (known.question.question !== question.question) known.more = " Other files have other numbers.";
      }
    }
  return [...texts.values()].map(({ question, files, more = "" }) =>
    files.length === members.length
      ? { ...question, question: `${question.question}${more}` }
      : {
          ...question,
          question: `In ${files.slice(0, 3).join(", ")}${files.length > 3 ? ` and ${files.length - 3} more` : ""}: ${question.question}${more}`,
        },
  );
}

function questionsOf({ descriptor }: Recognised): readonly Question[] {
  return [...descriptor.questions, ...descriptor.assumed];
}

function withoutQuestions({ questions: _, assumed: __, ...members }: DescriptorInput): DescriptorInput {
  return members;
}

/** Times that the files state, else the numbers in their names, with a question. */
function timeOf(members: readonly SeriesFile[], answers: Answers, findings: Findings): DescriptorInput["time"] {
  const own = timesFromOneDate(members) ?? [];
  const isAscending = own.every((time, index) => index === 0 || time > own[index - 1]);
  if (answers.times !== undefined || (own.length === members.length && isAscending))
    return timesOf(members.length, { value: own, where: "each file" }, null, answers, findings);
  findings.ask(
    "times",
    "The files give no ascending times; the numbers in their names are a guess.",
    "--times FIRST:STEP or a list, or time in a descriptor",
  );
  const value = members.map(({ step }) => Number(step));
  return timesOf(members.length, { value, where: "the names of the files" }, null, answers, findings);
}

/**
 * The fields of the first file with the pattern for its name; datasets that are numbered too follow their own numbers.
 */
function fieldsOf(members: readonly SeriesFile[], pattern: string): DescriptorInput["fields"] {
  const [first] = members as [SeriesFile];
  const steps = members.map(({ step }) => step);
  const even = evenSteps(steps);
  return Object.fromEntries(
    Object.entries(first.found.written.fields).map(([name, field]) => {
      const labels = members.map(({ found }) => firstStepOf(found, name));
      const [firstStep = 0, second] = labels;
      const stepIncrement = second === undefined ? 1 : Math.max(second - firstStep, 1);
      const numbered = JSON.stringify(field).includes("{step:0") && new Set(labels).size > 1;
      if (numbered && labels.some((label, index) => label !== firstStep + index * stepIncrement))
        throw new DataError(
          `the numbers of ${name} in the files (${labels.slice(0, 4).join(", ")}, ...) are not evenly spaced`,
        );
      const own = numbered ? { firstStep, stepIncrement } : {};
      if (even !== null && (!numbered || (firstStep === even.firstStep && stepIncrement === even.stepIncrement))) {
        const { place, ...series } = even;
        return [name, inSeries(field as FieldInput, pattern.replace("{step}", place), series, numbered)];
      }
      return [name, inSeries(field as FieldInput, pattern, { steps, ...own }, numbered)];
    }),
  ) as DescriptorInput["fields"];
}

/** Whole numbers that grow evenly, all of one width or without leading zeros, as a descriptor says them; else null. */
function evenSteps(steps: readonly string[]): { place: string; firstStep: number; stepIncrement: number } | null {
  const [firstStep, second] = steps.map(Number) as [number, number | undefined];
  const stepIncrement = second === undefined ? 1 : second - firstStep;
  const width = Math.min(...steps.map((step) => step.length));
  const regular = steps.every(
    (step, index) => /^\d+$/.test(step) && step === String(firstStep + index * stepIncrement).padStart(width, "0"),
  );
  return regular && stepIncrement > 0 ? { place: `{step:0${width}d}`, firstStep, stepIncrement } : null;
}

function firstStepOf({ written }: Recognised, name: string): number {
  return (written.fields[name as "velocity"] as FieldInput | undefined)?.firstStep ?? 0;
}

function inSeries(field: FieldInput, pattern: string, series: object, numbered: boolean): FieldInput {
  const fixed = numbered ? null : (field.firstStep ?? 0);
  const at = (place: SeriesPlace) => ({
    ...place,
    file: pattern,
    path:
      fixed === null
        ? place.path
        : place.path.replace(/\{step:0(\d+)d\}/, (_, digits) => `${fixed}`.padStart(digits, "0")),
  });
  return "components" in field
    ? { ...field, ...series, components: field.components.map(at) as never }
    : { ...field, ...at(field), ...series };
}

/** Everything of a description that must agree between the files of a series. */
function shapeOf({ producer, written }: Recognised): string {
  const text = JSON.stringify({ producer, axes: written.axes, fields: written.fields });
  return text.replaceAll(/"file":"[^"]*"|"firstStep":\d+/g, "");
}

/** The coordinates that a file states along each axis. */
function gridOf(path: string, { descriptor }: Recognised): string {
  const file = openFile(path);
  try {
    return AXIS_NAMES.map((name) => {
      const axis = descriptor.axes[name];
      if (!("coordinates" in axis)) return JSON.stringify(axis);
      const { coordinates } = axis;
      if (Array.isArray(coordinates)) return coordinates.join();
      return file.numbers(file.resolve(coordinates.path) ?? coordinates.path).join();
    }).join("; ");
  } finally {
    file.close();
  }
}
