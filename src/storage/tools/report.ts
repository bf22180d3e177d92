/** Describes a dataset in lines of text for `fieldprobe inspect`: fields, storage, axes, times. */

import { verify } from "../catalog/verify.js";
import {
  type Axis,
  claimText,
  type Dataset,
  type FieldPart,
  type FieldSource,
  type Question,
} from "../dataset/dataset.js";
import { placeOf } from "../dataset/files.js";
import { openFile } from "../open-file.js";
import { flagOf, openLines } from "../recognise/draft.js";
import type { Recognised } from "../recognise/recognise.js";
import { lookAt } from "./look.js";
import { describeStorage } from "./survey.js";

/** Lines of what a description does not use, unless all are wanted. */
const SEEN = 40;
const WIDTH = 10;
const line = (label: string, text: string) => `  ${label.padEnd(WIDTH)} ${text}`;
const short = (value: number) => String(Number(value.toPrecision(9)));

/**
 * Describes a draft on one screen: what it is taken for, why, what can be looked at, what it does not use, and the
 * lines that are open (?) or red (!); and what keeps it from being served, or null.
 *
 * @param isAll whether everything that is not used is listed
 */
export function explain(
  found: Recognised,
  folder: string,
  file: string,
  chunkBytes: number,
  isAll = false,
): { lines: string[]; refusal: string | null } {
  const { descriptor, producer, reasons, warnings, seen } = found;
  const { assumed, questions } = descriptor;
  const open = openLines(questions);
  const outcome = verify({ descriptor, folder, location: file, digest: "", warnings }, chunkBytes);
  const bullets = (title: string, texts: readonly string[]) =>
    texts.length === 0 ? [] : [title, ...texts.map((text) => `  - ${text}`)];
  return {
    refusal: "problems" in outcome ? "cannot be served" : refusalOf(found),
    lines: [
      `${file}: ${producer}, dataset name ${descriptor.name}`,
      ...("dataset" in outcome ? describeDataset(outcome.dataset) : bullets("It cannot be served:", outcome.problems)),
      ...bullets("Why:", reasons),
      ...bullets("Mind:", warnings),
      ...bullets("Assumed:", assumed.map(claimText)),
      ...("dataset" in outcome ? ["Look:", ...lookAt(outcome.dataset).map((text) => `  ${text}`)] : []),
      ...bullets(
        "Differs among the files, and is not used:",
        found.varies.filter((key) => seen.some((text) => text.startsWith(`${key} =`) || text.startsWith(`${key} (`))),
      ),
      ...seenLines(seen, isAll),
      ...(questions.length === 0 ? [] : [open.length === 0 ? "Note:" : "Open (?) and red (!) lines:"]),
      ...questions.map(
        (entry) => `  ${open.includes(entry) ? (entry.red ? "!" : "?") : "-"} ${escaped(lineText(entry))}`,
      ),
    ].map(escaped),
  };
}

/** What keeps a draft from being served; null if nothing does. */
function refusalOf(found: Recognised): string | null {
  const open = openLines(found.descriptor.questions);
  if (open.length > 0) return `waits for an answer: ${[...new Set(open.map(flagOf))].join(", ")}`;
  return found.isKnown ? null : "waits until it is confirmed: --yes";
}

function lineText(entry: Question): string {
  const despite =
    entry.red === true && !`${entry.answer}`.includes("--despite") ? `; --despite ${entry.about} overrides it` : "";
  return `${claimText(entry)}${entry.answer === undefined ? "" : ` Answer: ${entry.answer}${despite}.`}`;
}

function seenLines(seen: readonly string[], isAll: boolean): string[] {
  if (seen.length === 0) return [];
  const shown = isAll ? seen : seen.slice(0, SEEN);
  const more = seen.length - shown.length;
  return [
    `Seen and not used (${seen.length}):`,
    ...shown.map((text) => `  ${text}`),
    ...(more > 0 ? [`  and ${more} more: --all lists them`] : []),
  ];
}

/** A text of a file without the characters that a terminal obeys. */
function escaped(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/** Lines about a verified dataset; opens one file of each field for its header. */
function describeDataset(dataset: Dataset): string[] {
  const lines = Object.entries(dataset.fields).flatMap(([name, source]) => fieldLines(name, source));
  for (const [index, axis] of dataset.axes.entries()) lines.push(line("xyz"[index], axisText(axis)));
  lines.push(line("time", timeText(dataset)));
  if (dataset.forcing.kind !== "none") lines.push(line("forcing", dataset.forcing.kind));
  return lines;
}

function fieldLines(name: string, source: FieldSource): string[] {
  const { edge, count } = source.bricking;
  const parts = source.parts.map((part, index) =>
    line(index === 0 ? name : "", `${part.path} as ${part.dimensions.join(" ")}: ${storageOf(part)}`),
  );
  const bricks = count[0] * count[1] * count[2];
  return [
    ...parts,
    line("", `read in ${bricks === 1 ? "one brick" : `${bricks} bricks`} of ${edge.join(" x ")} nodes`),
  ];
}

function storageOf(part: FieldPart): string {
  const file = openFile(placeOf(part.file, part, 0));
  try {
    const path = placeOf(part.path, part, 0);
    return describeStorage(file.describe(file.resolve(path) ?? path));
  } finally {
    file.close();
  }
}

function axisText({ nodes, origin, spacing, periodic, coordinates }: Axis): string {
  if (nodes === 1) return `1 node at ${short(origin)}, ${periodic ? "constant along it" : "not periodic"}`;
  if (coordinates !== null)
    return `${nodes} nodes from ${short(origin)} to ${short(coordinates[nodes - 1])}, tabulated, not periodic`;
  const end = periodic ? `periodic with ${short(nodes * spacing)}` : "not periodic";
  return `${nodes} nodes from ${short(origin)} every ${short(spacing)}, ${end}`;
}

function timeText({ time }: Dataset): string {
  const { count, origin, step, values, guardBefore, guardAfter } = time;
  if (count === 1) return `a snapshot at ${short(origin)}`;
  const guards = guardBefore + guardAfter === 0 ? "" : `, ${guardBefore} guards before and ${guardAfter} after`;
  if (values !== null) return `${count} frames from ${short(origin)} to ${short(values[count - 1])}, listed${guards}`;
  return `${count} frames from ${short(origin)} every ${short(step)}${guards}`;
}
