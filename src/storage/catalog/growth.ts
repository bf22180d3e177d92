/** Joins new files of a confirmed series: those of its pattern and structure whose times come after the last. */
import { readdirSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { isAddress } from "../../shared/addresses.js";
import { DataError } from "../../shared/errors.js";
import type { Descriptor } from "../dataset/descriptor.js";
import { STEP_PLACE } from "../dataset/files.js";
import { openFile } from "../open-file.js";
import { type Recognised, recognise } from "../recognise/recognise.js";
import { differences, structureOf } from "../recognise/structure.js";
import { everyFile } from "./places.js";
import { timeFrom } from "./series.js";
import type { Description } from "./verify.js";

/** Files that a warning names. */
const NAMED = 3;

/** The description with new files joined, and a warning about those that wait. */
export function grown(description: Description): Description {
  const { descriptor, folder } = description;
  const { confirmed } = descriptor;
  const patterns = new Set(Object.values(descriptor.fields).flatMap((field) => patternsOf(field)));
  const [pattern = ""] = patterns;
  const isNumbered = /"path":"[^"]*\{step/.test(JSON.stringify(descriptor.fields));
  if (confirmed === undefined || isNumbered || patterns.size !== 1 || isAddress(pattern) || isAddress(folder))
    return description;
  const place = resolve(folder, pattern);
  const [head = "", tail = ""] = place.replace(STEP_PLACE, "{step}").split("{step}");
  const known = new Set(everyFile(descriptor).map((file) => resolve(folder, file)));
  const found = readdirSync(dirname(place)).map((name) => join(dirname(place), name));
  const stepIn = (path: string): string => path.slice(head.length, path.length - tail.length);
  const isNew = (path: string): boolean =>
    !known.has(path) && path.startsWith(head) && path.endsWith(tail) && /^\d+(\.\d+)?$/.test(stepIn(path));
  const fresh = found.filter(isNew).sort((a, b) => Number(stepIn(a)) - Number(stepIn(b)));
  const [first] = known;
  if (fresh.length === 0 || first === undefined) return description;
  const times = timesOf(descriptor);
  const steps = [...known].map(stepIn);
  const waiting: string[] = [];
  const base = recognise(first);
  for (const path of fresh) {
    const time = joins(path, descriptor, base);
    if (typeof time === "string") waiting.push(`${basename(path)}: ${time}`);
    else if (time <= (times.at(-1) ?? Number.NEGATIVE_INFINITY))
      waiting.push(`${basename(path)}: its time ${time} is not after the last`);
    else {
      times.push(time);
      steps.push(stepIn(path));
    }
  }
  const more = waiting.length > NAMED ? `; and ${waiting.length - NAMED} more` : "";
  const warnings =
    waiting.length === 0 ? [] : [`Files of the series wait: ${waiting.slice(0, NAMED).join("; ")}${more}.`];
  if (steps.length === known.size) return { ...description, warnings: [...description.warnings, ...warnings] };
  const extended = withFrames(descriptor, steps, times);
  return { ...description, descriptor: extended, warnings: [...description.warnings, ...warnings] };
}

function patternsOf(field: Descriptor["fields"][string] | undefined): string[] {
  if (field === undefined) return [];
  return ("components" in field ? field.components : [field])
    .map(({ file }) => file)
    .filter((file) => STEP_PLACE.test(file));
}

function timesOf({ time }: Descriptor): number[] {
  if ("values" in time) return [...time.values];
  const step = "step" in time ? time.step : 0;
  return Array.from({ length: time.count }, (_, frame) => time.origin + frame * step);
}

/** The time of a new file, or why it waits. */
function joins(path: string, descriptor: Descriptor, base: Recognised | null): number | string {
  const { structure = {}, varies = [], timeTable = null } = descriptor.confirmed ?? {};
  try {
    const file = openFile(path, { named: true });
    try {
      const [other] = differences(structure, varies, structureOf(file, descriptor, timeTable));
      if (other !== undefined) return other;
    } finally {
      file.close();
    }
    const found = recognise(path);
    const time = found === null || base === null ? null : timeFrom(base, found);
    return time ?? "it does not state its time";
  } catch (error) {
    if (error instanceof DataError) return error.message;
    throw error;
  }
}

/** The descriptor with these frames, numbered by the texts in the names of their files. */
function withFrames(descriptor: Descriptor, steps: readonly string[], times: readonly number[]): Descriptor {
  const text = JSON.stringify(descriptor.fields, (key, value) => {
    if (key === "file" && typeof value === "string") return value.replace(STEP_PLACE, "{step}");
    return value;
  });
  const fields = JSON.parse(text) as Descriptor["fields"];
  for (const field of Object.values(fields))
    if (field !== undefined && patternsOf(field).length > 0) field.steps = [...steps];
  return { ...descriptor, fields, time: { values: [...times], guardBefore: 0, guardAfter: 0 } };
}
