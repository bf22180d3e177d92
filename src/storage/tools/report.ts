/** Describes a dataset in lines of text for `fieldprobe inspect`: fields, storage, axes, times. */

import { isRefused, openQuestions, questionText } from "../catalog/descriptor.js";
import type { Recognised } from "../catalog/layouts/recognise.js";
import { verify } from "../catalog/verify.js";
import { type Axis, claimText, type Dataset, type FieldPart, type FieldSource } from "../file/dataset.js";
import { placeOf } from "../file/files.js";
import { openFile } from "../open-file.js";
import { describeStorage } from "./survey.js";
import { howToServe, unserved } from "./unserved.js";

const ASKED = "Open questions (the dataset is refused until those marked * are answered):";
const UNANSWERED = "is not served before its questions marked * are answered";
const WIDTH = 10;
const line = (label: string, text: string) => `  ${label.padEnd(WIDTH)} ${text}`;
const short = (value: number) => String(Number(value.toPrecision(9)));

/** Describes a recognised file: its contents, how they are read, why, and what keeps it from being served, or null. */
export function explain(
  found: Recognised,
  folder: string,
  file: string,
  chunkBytes: number,
): { lines: string[]; refusal: string | null } {
  const { descriptor, producer, reasons, warnings } = found;
  const open = openQuestions(descriptor);
  const { assumed, questions } = descriptor;
  const outcome = verify({ descriptor, folder, location: file, digest: "", warnings }, chunkBytes);
  const bullets = (title: string, texts: readonly string[]) =>
    texts.length === 0 ? [] : [title, ...texts.map((text) => `  - ${text}`)];
  const left = "dataset" in outcome ? unserved(outcome.dataset) : [];
  return {
    refusal: "problems" in outcome ? "cannot be served" : open.length === 0 ? null : UNANSWERED,
    lines: [
      `${file}: ${producer}, dataset name ${descriptor.name}`,
      ...("dataset" in outcome ? describeDataset(outcome.dataset) : bullets("It cannot be served:", outcome.problems)),
      ...bullets("Not served:", left.length === 0 ? [] : [...left, howToServe(producer === "generic")]),
      ...bullets("Why:", reasons),
      ...bullets("Mind:", warnings),
      ...bullets("Assumed:", assumed.map(claimText)),
      ...(questions.length === 0 ? [] : [open.length === 0 ? "Open questions:" : ASKED]),
      ...questions.map((entry) => `  ${isRefused(entry) ? "*" : "-"} ${questionText(entry)}`),
    ],
  };
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
