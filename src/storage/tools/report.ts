/** The draft of a dataset as a record, and on one screen. */
import { basename } from "node:path";
import { type Description, unwrittenIn, verify } from "../catalog/verify.js";
import type { Axis, AxisName, Dataset, FieldPart, FieldSource, Question } from "../dataset/dataset.js";
import { AXIS_NAMES, claimText } from "../dataset/dataset.js";
import { placeOf } from "../dataset/files.js";
import { packingOf } from "../dataset/packing.js";
import { type Stored, typeText } from "../dataset/stored.js";
import { flagOf, flagsOf, openLines } from "../recognise/draft.js";
import type { Recognised } from "../recognise/recognise.js";
import type { Structure } from "../recognise/structure.js";
import { withFiles } from "../united-file.js";
import { inShades, lookAt, type Slice } from "./look.js";

const SEEN = 40;
const WIDTH = 10;
const short = (value: number) => String(Number(value.toPrecision(9)));

/** A fact about a dataset, and its subject; empty for a further line on the same subject. */
export type Fact = Readonly<Record<"label" | "text", string>>;

export interface DraftLine {
  readonly about: string;
  readonly question: string;
  readonly answer: string | null;
  readonly flag: string;
  /** Whether a statement of the file contradicts the choice. */
  readonly red: boolean;
}

/** The description of a file, in texts without control characters. */
export interface DraftView {
  readonly file: string;
  readonly name: string;
  readonly producer: string;
  readonly what: readonly Fact[];
  /** Reasons why it cannot be served, whatever is answered. */
  readonly problems: readonly string[];
  readonly why: readonly string[];
  readonly mind: readonly string[];
  readonly assumed: readonly string[];
  readonly look: readonly string[];
  readonly slice: Slice | null;
  readonly varies: readonly string[];
  readonly unused: readonly string[];
  readonly open: readonly DraftLine[];
  readonly notes: readonly DraftLine[];
  readonly refusal: string | null;
  /** What its confirmation would hold for, if it is read to be confirmed. */
  readonly structure?: Structure;
}

/** The members of a view that describe values and questions, without any. */
export const EMPTY_VIEW = { what: [], mind: [], assumed: [], look: [], varies: [], open: [], notes: [] } as const;

type Shown = Pick<Recognised, "descriptor" | "producer" | "reasons" | "warnings" | "seen" | "varies" | "isKnown">;

export function describeDraft(found: Shown, folder: string, file: string, chunkBytes: number): DraftView {
  return viewOf(found, { ...found, folder, location: file, digest: "" }, chunkBytes);
}

/** Describes what a confirmation says, or the descriptor of a folder. */
export function describeKnown(description: Description, file: string, chunkBytes: number): DraftView {
  const producer = `as ${basename(description.location)} says`;
  const shown = { ...description, producer, reasons: [], seen: [], varies: [], isKnown: true };
  return viewOf(shown, { ...description, location: file }, chunkBytes);
}

function viewOf(found: Shown, description: Description, chunkBytes: number): DraftView {
  const { descriptor, producer, reasons, warnings, seen } = found;
  const { location: file } = description;
  const open = openLines(descriptor.questions);
  const outcome = verify(description, chunkBytes);
  const isServable = "dataset" in outcome;
  const { lines, slice } = isServable ? lookAt(outcome.dataset) : { lines: [], slice: null };
  const texts: Omit<DraftView, "slice"> = {
    ...{ file, name: descriptor.name, producer, why: reasons },
    mind: isServable ? outcome.dataset.warnings.filter((text) => !/^(assumed|open) /.test(text)) : warnings,
    what: isServable ? factsOf(outcome.dataset, open) : [],
    problems: isServable ? [] : outcome.problems,
    assumed: descriptor.assumed.map(claimText),
    look: lines,
    varies: found.varies.filter((key) =>
      seen.some((text) => text.startsWith(`${key} =`) || text.startsWith(`${key} (`)),
    ),
    unused: seen,
    open: open.map(lineOf),
    notes: descriptor.questions.filter((entry) => !open.includes(entry)).map(lineOf),
    refusal: isServable ? refusalOf(found) : "cannot be served",
  };
  return {
    ...JSON.parse(JSON.stringify(texts), (_, value) => (typeof value === "string" ? escaped(value) : value)),
    slice,
  };
}

/** A draft on one screen, with open (?) and red (!) lines. `isAll`: lists all unused content. */
export function screenOf(view: DraftView, isAll = false): string[] {
  const bullets = (title: string, texts: readonly string[]) =>
    texts.length === 0 ? [] : [title, ...texts.map((text) => `  - ${text}`)];
  const { open, notes, slice } = view;
  const look = [...view.look, ...(slice === null ? [] : inShades(slice))];
  return [
    `${view.file}: ${view.producer}, dataset name ${view.name}`,
    ...view.what.map(({ label, text }) => `  ${label.padEnd(WIDTH)} ${text}`),
    ...bullets("It cannot be served:", view.problems),
    ...bullets("Why:", view.why),
    ...bullets("Mind:", view.mind),
    ...bullets("Assumed:", view.assumed),
    ...(look.length === 0 ? [] : ["Look:", ...look.map((text) => `  ${text}`)]),
    ...bullets("Differs among the files, and is not used:", view.varies),
    ...seenLines(view.unused, isAll),
    ...(open.length + notes.length === 0 ? [] : [open.length === 0 ? "Note:" : "Open (?) and red (!) lines:"]),
    ...open.map((entry) => `  ${entry.red ? "!" : "?"} ${lineText(entry)}`),
    ...notes.map((entry) => `  - ${lineText(entry)}`),
  ];
}

function refusalOf(found: Shown): string | null {
  const open = openLines(found.descriptor.questions);
  if (open.length > 0) return `waits for an answer: ${flagsOf(open)}`;
  return found.isKnown ? null : "waits until it is confirmed: --yes";
}

function lineOf(entry: Question): DraftLine {
  const { about, answer = null, red = false } = entry;
  const despite = red && !`${answer}`.includes("--despite") ? `; --despite ${about} overrides it` : "";
  return {
    ...{ about, red, question: claimText(entry), answer: answer === null ? null : `${answer}${despite}` },
    flag: flagOf(entry).replace(/^--/, ""),
  };
}

function lineText({ question, answer }: DraftLine): string {
  return `${question}${answer === null ? "" : ` Answer: ${answer}.`}`;
}

export function seenLines(seen: readonly string[], isAll: boolean): string[] {
  if (seen.length === 0) return [];
  const shown = isAll ? seen : seen.slice(0, SEEN);
  const more = seen.length - shown.length;
  return [
    `Seen and not used (${seen.length}):`,
    ...shown.map((text) => `  ${escaped(text)}`),
    ...(more > 0 ? [`  and ${more} more: --all lists them`] : []),
  ];
}

function escaped(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

function factsOf(dataset: Dataset, open: readonly Question[]): Fact[] {
  const { forcing } = dataset;
  const isOpen = (name: AxisName) =>
    open.some(({ about, axes = AXIS_NAMES }) => about === "periodicity" && axes.includes(name));
  return [
    ...Object.entries(dataset.fields).flatMap(([name, source]) => fieldFacts(name, source)),
    ...AXIS_NAMES.map((name, at) => ({ label: name, text: axisText(dataset.axes[at] as Axis, isOpen(name)) })),
    { label: "time", text: timeText(dataset) },
    ...(forcing.kind === "none" ? [] : [{ label: "forcing", text: forcing.kind }]),
  ];
}

function fieldFacts(name: string, source: FieldSource): Fact[] {
  const { edge, count } = source.bricking;
  const parts = source.parts.map((part, index) => ({
    label: index === 0 ? name : "",
    text:
      part.constant === undefined
        ? `${part.path} as ${part.dimensions.join(" ")}: ${storageOf(part)}`
        : `${part.constant} everywhere`,
  }));
  const bricks = count[0] * count[1] * count[2];
  const read = `read in ${bricks === 1 ? "one brick" : `${bricks} bricks`} of ${edge.join(" x ")} nodes`;
  return [...parts, { label: "", text: read }];
}

function storageOf(part: FieldPart): string {
  return withFiles([placeOf(part.file, part, 0)], (file) => {
    const path = placeOf(part.path, part, 0);
    const resolved = file.resolve(path) ?? path;
    const [stored, attributes] = [file.describe(resolved), file.attributes(resolved)];
    const { factor, offset, missing } = packingOf(attributes, stored);
    const units = attributes.get("units");
    const said = [
      ...(typeof units === "string" && units.trim() !== "" ? [`unit ${units.trim()}`] : []),
      ...(factor === 1 && offset === 0
        ? []
        : [`values are ${short(factor)} times the stored number plus ${short(offset)}`]),
      ...(missing.length === 0 ? [] : [`missing: ${missing.join(", ")}`]),
      ...unwrittenIn(file, resolved, stored),
    ];
    return [describeStorage(stored), ...said].join("; ");
  });
}

function describeStorage(stored: Stored): string {
  const { element, size, littleEndian, shape, chunks, filters, virtual } = stored;
  const named = typeText(stored);
  const type = size === 1 || element === "string" || littleEndian ? named : `${named} big-endian`;
  const filtered = filters.length === 0 ? "no filter" : filters.join(" + ");
  const layout = virtual ? "virtual" : chunks === null ? "contiguous" : `chunks ${chunks.join(" x ")}, ${filtered}`;
  return `${type}, ${shape.length === 0 ? "scalar" : shape.join(" x ")}, ${layout}`;
}

function axisText({ nodes, origin, spacing, periodic, coordinates }: Axis, isOpen: boolean): string {
  const bounded = isOpen ? "periodic or not" : "not periodic";
  if (nodes === 1) return `1 node at ${short(origin)}, ${periodic ? "constant along it" : bounded}`;
  if (coordinates !== null)
    return `${nodes} nodes from ${short(origin)} to ${short(coordinates[nodes - 1])}, tabulated, ${bounded}`;
  const period = nodes * spacing;
  const off = Math.abs(period / (2 * Math.PI) - 1);
  const near = off > 1e-15 && off < 2 ** -23 ? ", used as it is: 2 pi within float32" : "";
  const end = periodic && !isOpen ? `periodic with ${short(period)}${near}` : bounded;
  return `${nodes} nodes from ${short(origin)} every ${short(spacing)}, ${end}`;
}

function timeText({ time }: Dataset): string {
  const { count, origin, step, values, guardBefore, guardAfter } = time;
  if (count === 1) return `a snapshot at ${short(origin)}`;
  const guards = guardBefore + guardAfter === 0 ? "" : `, ${guardBefore} guards before and ${guardAfter} after`;
  if (values !== null) return `${count} frames from ${short(origin)} to ${short(values[count - 1])}, listed${guards}`;
  return `${count} frames from ${short(origin)} every ${short(step)}${guards}`;
}
