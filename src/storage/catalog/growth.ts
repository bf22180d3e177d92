/** Adds to confirmed files what follows their last time: in themselves, and in new files of their pattern and structure. */
import { existsSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isAddress } from "../../shared/addresses.js";
import { readOr } from "../../shared/errors.js";
import { type Descriptor, frameCount, partsIn, timesIn } from "../dataset/descriptor.js";
import { beingWritten, heldToWrite, isFresh, numberOf, STEP_PLACE } from "../dataset/files.js";
import type { Refusal } from "../dataset/scan.js";
import type { Recognised } from "../recognise/recognise.js";
import { structureOf, timesHeld } from "../recognise/structure.js";
import { withFiles } from "../united-file.js";
import { isNumbered, notAsConfirmed, placedSets } from "./confirmation.js";
import { differences } from "./differences.js";
import { recogniseSet, timesFrom, usedAmong } from "./series.js";
import type { Description } from "./verify.js";

const DIFFERS = "not as it was confirmed: ";

/** @param served times taken before: those of confirmed files are served on while others wait; later files may be rewritten */
export function withNewFrames(
  description: Description,
  served: Float64Array = new Float64Array(),
): { description: Description; waiting: readonly Refusal[] } {
  const { descriptor, folder } = description;
  const { confirmed } = descriptor;
  if (confirmed === undefined) return { description, waiting: [] };
  const fields = Object.values(descriptor.fields);
  const patterns = [...new Set(fields.flatMap(patternsOf))];
  const lead = fields.find((field) => patternsOf(field).length > 0);
  const steps = [...(lead?.steps ?? [])];
  const names = [...new Set(steps)];
  // A dimension of time, or a group or dataset for each time of one file.
  const hasTime = isNumbered(descriptor)
    ? lead === undefined
    : fields.some((field) => [field, ...partsIn(field)].some((one) => one?.dimensions?.includes("t")));
  const sets = placedSets(descriptor, folder);
  const longer = (hasTime ? sets : []).flatMap((paths, i) => {
    const step = names[i] ?? "";
    const own = lead === undefined ? frameCount(descriptor) : steps.filter((one) => one === step).length;
    const from = confirmed.times?.[i]?.length || own;
    const held = withFiles(paths, (file) => timesHeld(file, descriptor) ?? 0);
    return held > from ? [{ step, paths, from }] : [];
  });
  const fresh = newFiles(patterns, folder, new Set(names));
  const [first] = sets;
  if (longer.length + fresh.length === 0 || first === undefined) return { description, waiting: [] };
  const times = timesIn(descriptor);
  const frames = lead?.frames === undefined ? null : [...lead.frames];
  const labels: (string | number)[] = [];
  const waiting: Refusal[] = [];
  const held = heldToWrite();
  const base = clockOf(first, sets.at(-1) as string[], times.at(-1) as number, confirmed.times?.at(-1)?.length);
  const isOne = lead !== undefined && frames === null;
  for (const later of [...longer, ...fresh]) {
    const { step, paths, from } = later;
    const last = times.at(-1) as number;
    const found = typeof base === "string" ? waitsFor(base) : timesAfter(last, later, descriptor, base, held, served);
    const { own, why } = isOne && found.own.length + from > 1 ? waitsFor("it holds several times") : found;
    times.push(...own);
    steps.push(...own.map(() => step));
    if (isNumbered(descriptor) && own.length > 0) labels.push(...labelsOf(paths).slice(from, from + own.length));
    frames?.push(...own.map((_, k) => from + k));
    if (why === null) continue;
    const count = from + own.length;
    const waits = count > 0 ? `what follows its first ${count} times waits` : "waits as a file of its series";
    const message = (path: string) =>
      why.startsWith(DIFFERS)
        ? `${notAsConfirmed(description, path, why.slice(DIFFERS.length))} --same`
        : `${waits}: ${why}`;
    waiting.push(...paths.map((path) => ({ location: path, message: message(path), waits: true as const })));
  }
  if (times.length === frameCount(descriptor)) return { description, waiting };
  const longest = withFrames(descriptor, steps, frames, labels, times);
  return { description: { ...description, descriptor: longest }, waiting };
}

/** The texts or numbers of the times of files in their paths. */
function labelsOf(paths: readonly string[]): readonly (string | number)[] {
  const { descriptor } = recogniseSet(paths, {}, false);
  const [field] = Object.values(descriptor.fields);
  return field?.steps ?? timesIn(descriptor).map((_, frame) => numberOf(field ?? {}, frame));
}

function newFiles(patterns: readonly string[], folder: string, known: ReadonlySet<string>) {
  const [pattern = ""] = patterns;
  if (pattern === "" || isAddress(pattern) || isAddress(folder)) return [];
  const [head = "", tail = ""] = resolve(folder, pattern).split("{step}");
  const home = dirname(resolve(folder, pattern));
  return readdirSync(home)
    .map((name) => join(home, name))
    .filter((path) => path.startsWith(head) && path.endsWith(tail))
    .map((path) => path.slice(head.length, path.length - tail.length))
    .filter((step) => /^\d+(\.\d+)?$/.test(step) && !known.has(step))
    .map((step) => ({ step, paths: patterns.map((one) => resolve(folder, one.replace("{step}", step))), from: 0 }))
    .filter(({ paths }) => paths.every((path) => existsSync(path)))
    .sort((a, b) => Number(a.step) - Number(b.step));
}

export const isOfStructure = ({ message }: Refusal): boolean => message.includes(`(${DIFFERS}`);

function patternsOf(field: Descriptor["fields"][string] | undefined): string[] {
  return partsIn(field)
    .map(({ file }) => file)
    .filter((file) => STEP_PLACE.test(file));
}

/** The first files of a series if the last state its last time; otherwise why no further ones join. */
function clockOf(first: readonly string[], last: readonly string[], time: number, count = 0): Recognised | string {
  const clock = () => {
    const base = recogniseSet(first, {}, false);
    const stated = timesFrom(base, recogniseSet(last, {}, false))?.at(count - 1) ?? time;
    const isStated = Math.abs(stated - time) <= 1e-9 * Math.abs(time);
    return isStated ? base : "times were answered for the others; inspect the whole series again to add it";
  };
  return readOr(clock, ({ message }) => `the series cannot be read: ${message}`);
}

/** Further times that are taken, and why others wait. */
type Taken = { readonly own: readonly number[]; readonly why: string | null };
const waitsFor = (why: string): Taken => ({ own: [], why });

/** The times of files after the `from` first ones, which follow the last of the series; else why they do not join. */
function timesAfter(
  last: number,
  { paths, from }: { readonly paths: readonly string[]; readonly from: number },
  descriptor: Descriptor,
  base: Recognised,
  held: ReadonlySet<number>,
  served: Float64Array,
): Taken {
  const { structure = {}, varies = [], timeTable = null } = descriptor.confirmed ?? {};
  const fresh = paths.some(isFresh) ? "it was written to within the last 30 s" : null;
  const still = beingWritten(paths, held) === undefined ? fresh : "a program is writing to it";
  if (still !== null && (served.length === 0 || from === 0)) return waitsFor(still);
  const times = () => {
    const found = withFiles(paths, (file) => structureOf(file, descriptor, timeTable));
    const [other, ...others] = differences(structure, varies, found);
    const used = other && usedAmong([other, ...others], paths);
    if (used !== undefined) return `${used.text}, which its description uses`;
    if (other !== undefined) return `${DIFFERS}${other.text}`;
    const own = timesFrom(base, recogniseSet(paths, {}, false))?.slice(from);
    if (own === undefined) return "it does not state its time as the others do";
    return (own[0] as number) > last ? own : `its time ${own[0]} is not after ${last}, the last`;
  };
  const all = readOr(times, ({ message }) => message);
  if (typeof all === "string") return waitsFor(still ?? all);
  const end = still === null ? -1 : all.findIndex((time) => !served.includes(time));
  return end < 0 ? { own: all, why: null } : { own: all.slice(0, end), why: still };
}

function withFrames(
  descriptor: Descriptor,
  steps: readonly string[],
  frames: readonly number[] | null,
  labels: readonly (string | number)[],
  times: readonly number[],
): Descriptor {
  const fields = structuredClone(descriptor.fields);
  for (const field of Object.values(fields)) {
    if (field === undefined) continue;
    const isSeries = patternsOf(field).length > 0;
    if (isSeries) field.steps = [...steps];
    else if (field.steps) field.steps.push(...labels.map(String));
    if (isSeries && frames !== null) field.frames = [...frames];
    const before = timesIn(descriptor).map((_, frame) => numberOf(field, frame));
    if (labels.length > 0) field.numbers = [...before, ...labels.map(Number)];
  }
  return { ...descriptor, fields, time: { values: [...times], guardBefore: 0, guardAfter: 0 } };
}
