/** Adds new files to a confirmed series: files of its pattern and structure whose times follow the last. */
import { existsSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isAddress } from "../../shared/addresses.js";
import { readOr } from "../../shared/errors.js";
import { type Descriptor, frameCount, partsIn, timesIn } from "../dataset/descriptor.js";
import { beingWritten, heldToWrite, isFresh, placeOf, STEP_PLACE } from "../dataset/files.js";
import type { Refusal } from "../dataset/scan.js";
import type { Recognised } from "../recognise/recognise.js";
import { structureOf } from "../recognise/structure.js";
import { withFiles } from "../united-file.js";
import { needsLook } from "./confirmation.js";
import { differences } from "./differences.js";
import { fileSets } from "./places.js";
import { recogniseSet, timesFrom, usedAmong } from "./series.js";
import type { Description } from "./verify.js";

const DIFFERS = "not as it was confirmed: ";

interface Grown {
  readonly description: Description;
  readonly waiting: readonly Refusal[];
}

/** The description with new files added, and the files of the series that wait. */
export function grown(description: Description): Grown {
  const { descriptor, folder } = description;
  const { confirmed } = descriptor;
  const patterns = [...new Set(Object.values(descriptor.fields).flatMap((field) => patternsOf(field)))];
  const [pattern = ""] = patterns;
  const isNumbered = /"path":"[^"]*\{step/.test(JSON.stringify(descriptor.fields));
  if (confirmed === undefined || isNumbered || pattern === "" || isAddress(pattern) || isAddress(folder))
    return { description, waiting: [] };
  const sets = fileSets(descriptor).map((files) => files.map((file) => resolve(folder, file)));
  const known = new Set(sets.flat());
  const places = patterns.map((one) => resolve(folder, one).replace(STEP_PLACE, "{step}"));
  const [head = "", tail = ""] = (places[0] as string).split("{step}");
  const stepIn = (path: string): string => path.slice(head.length, path.length - tail.length);
  const fresh = readdirSync(dirname(head))
    .map((name) => join(dirname(head), name))
    .filter(
      (path) => !known.has(path) && path.startsWith(head) && path.endsWith(tail) && /^\d+(\.\d+)?$/.test(stepIn(path)),
    )
    .map((path) => ({ step: stepIn(path), paths: places.map((place) => place.replace("{step}", stepIn(path))) }))
    .filter(({ paths }) => paths.every((path) => existsSync(path)))
    .sort((a, b) => Number(a.step) - Number(b.step));
  const [first] = sets;
  if (fresh.length === 0 || first === undefined) return { description, waiting: [] };
  const times = timesIn(descriptor);
  const steps = frameSteps(descriptor, pattern);
  const { frames: listed } = Object.values(descriptor.fields).find((field) => patternsOf(field).length > 0) ?? {};
  const frames = listed === undefined ? null : [...listed];
  const waiting: Refusal[] = [];
  const held = heldToWrite();
  const base = clockOf(first, sets.at(-1) as string[], times.at(-1) as number);
  for (const { step, paths } of fresh) {
    const isHeld = beingWritten(paths, held) !== undefined;
    const own =
      typeof base === "string" ? base : isHeld ? "a program is writing to it" : joins(paths, descriptor, base);
    const last = times.at(-1) ?? Number.NEGATIVE_INFINITY;
    const isLate = typeof own !== "string" && (own[0] as number) > last;
    if (typeof own === "string" || !isLate || (own.length > 1 && frames === null)) {
      const late = isLate ? "it holds several times" : `its time ${own[0]} is not after ${last}, the last`;
      const why = typeof own === "string" ? own : late;
      const message = (path: string) =>
        why.startsWith(DIFFERS)
          ? `${needsLook(path, why, description.location)} --same`
          : `waits as a file of its series: ${why}`;
      waiting.push(...paths.map((path) => ({ location: path, message: message(path), waits: true as const })));
    } else {
      times.push(...own);
      steps.push(...own.map(() => step));
      frames?.push(...own.keys());
    }
  }
  if (times.length === frameCount(descriptor)) return { description, waiting };
  return { description: { ...description, descriptor: withFrames(descriptor, steps, frames, times) }, waiting };
}

/** Whether a file waits as its structure differs, and not its time. */
export const isOfStructure = ({ message }: Refusal): boolean => message.includes(`(${DIFFERS}`);

function patternsOf(field: Descriptor["fields"][string] | undefined): string[] {
  return partsIn(field)
    .map(({ file }) => file)
    .filter((file) => STEP_PLACE.test(file));
}

function frameSteps(descriptor: Descriptor, pattern: string): string[] {
  const field = Object.values(descriptor.fields).find((one) => patternsOf(one).includes(pattern));
  const [place] = STEP_PLACE.exec(pattern) ?? [""];
  return Array.from({ length: frameCount(descriptor) }, (_, frame) => placeOf(place, field ?? {}, frame));
}

/** The first files of a series if the last state its last time; otherwise why no further ones join. */
function clockOf(first: readonly string[], last: readonly string[], time: number): Recognised | string {
  const clock = () => {
    const base = recogniseSet(first, {}, false);
    const stated = timesFrom(base, recogniseSet(last, {}, false))?.at(-1) ?? time;
    const isStated = Math.abs(stated - time) <= 1e-9 * Math.abs(time);
    return isStated ? base : "times were answered for the others; inspect the whole series again to add it";
  };
  return readOr(clock, ({ message }) => `the series cannot be read: ${message}`);
}

function joins(paths: readonly string[], descriptor: Descriptor, base: Recognised): readonly number[] | string {
  const { structure = {}, varies = [], timeTable = null } = descriptor.confirmed ?? {};
  if (paths.some(isFresh)) return "it was written to within the last 30 s";
  const times = () => {
    const found = withFiles(paths, (file) => structureOf(file, descriptor, timeTable));
    const [other, ...others] = differences(structure, varies, found);
    const used = other && usedAmong([other, ...others], paths);
    if (used !== undefined) return `${used.text}, which its description uses`;
    if (other !== undefined) return `${DIFFERS}${other.text}`;
    return timesFrom(base, recogniseSet(paths, {}, false)) ?? "it does not state its time as the others do";
  };
  return readOr(times, ({ message }) => message);
}

/** The descriptor with these frames, numbered by the texts in the names of their files. */
function withFrames(
  descriptor: Descriptor,
  steps: readonly string[],
  frames: readonly number[] | null,
  times: readonly number[],
): Descriptor {
  const text = JSON.stringify(descriptor.fields, (key, value) => {
    if (key === "file" && typeof value === "string") return value.replace(STEP_PLACE, "{step}");
    return value;
  });
  const fields = JSON.parse(text) as Descriptor["fields"];
  for (const field of Object.values(fields)) {
    if (field === undefined || patternsOf(field).length === 0) continue;
    field.steps = [...steps];
    if (frames !== null) field.frames = [...frames];
  }
  return { ...descriptor, fields, time: { values: [...times], guardBefore: 0, guardAfter: 0 } };
}
