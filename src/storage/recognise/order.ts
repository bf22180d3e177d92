/** Orders of stored dimensions, by labels, lengths and what the user says; what these leave open becomes a question. */
import { DataError } from "../../shared/errors.js";
import { AXIS_NAMES, type AxisName, type FieldName } from "../dataset/dataset.js";
import { agrees, assignments, type Dimension } from "./assign.js";
import type { CoordinateTable, DimensionLabels } from "./evidence.js";
import { labelsOf, parentOf } from "./evidence.js";
import { askOrderOfComponents, type Contents, type Findings } from "./layout.js";
import type { StatedNumbers } from "./stated-numbers.js";
import type { Role } from "./usual-names.js";

/** A dataset with the role of each of its dimensions. */
export interface OrientedDataset {
  readonly path: string;
  readonly shape: readonly number[];
  readonly dimensions: readonly Dimension[];
  readonly labels: DimensionLabels;
}

/** What the datasets of a file are described by. */
export interface SharedEvidence {
  readonly contents: Contents;
  readonly tables: readonly CoordinateTable[];
  readonly facts: StatedNumbers;
  readonly findings: Findings;
  readonly format: Format;
  /** A second in the unit of length over velocity; null if it is not known. */
  readonly second: number | null;
  /** Whether the unit of the velocity, or of a length, is known. */
  readonly isInUnits: boolean;
}

/** What the format of a file defines in addition to what its names, labels, coordinates and attributes state. */
export interface Format {
  /** Attributes of numbers that fields, coordinates and times may have. */
  readonly attributes: readonly string[];
  readonly componentsFollowAxes?: true;
}

const MAX_ORDERS_LISTED = 4;

/** The dimensions of a dataset in stored order. @throws DataError if it cannot be a field on x, y and z */
export function orderOf(
  { contents, tables, facts, findings, format }: SharedEvidence,
  field: FieldName,
  path: string,
  isVector: boolean,
): OrientedDataset {
  const { shape } = contents.dataset(path) as { shape: readonly number[] };
  const labels = labelsOf(contents, path);
  const { answers } = contents;
  const fromUser = answers.fieldDims?.get(field) ?? answers.dims ?? null;
  const [noRoles, vectorOnly] = [shape.map(() => null), new Map<Role, number[]>([["c", [3]]])];
  const roles = fromUser === null ? labels.roles : noRoles;
  const orders = fromUser === null ? ordersOf(tables, labels) : [fromUser];
  // By all evidence; without lengths; without labels and stated orders. The first that fits anything is taken.
  const optionLists = [
    assignments(shape, isVector, { labels: roles, lengths: lengthsOf(tables, facts, shape), orders }),
    assignments(shape, isVector, { labels: roles, lengths: vectorOnly, orders }),
    assignments(shape, isVector, { labels: noRoles, lengths: vectorOnly, orders: fromUser === null ? [] : [fromUser] }),
  ];
  const used = optionLists.findIndex((list) => list.length > 0);
  const fitting = optionLists[used] ?? [];
  const named = fitting.filter((order) => fromUser?.every((role) => order.includes(role as Dimension)));
  const options = named.length > 0 ? named : fitting;
  const [chosen] = options;
  if (chosen === undefined) throw new DataError(noFieldText(contents, path, isVector, fromUser !== null));
  const evidence = evidenceOfLengths(tables, facts);
  const contradicted = used === 1 ? (evidence ?? "the times") : used === 2 ? "the names of the dimensions" : null;
  // Numbers of nodes that no order fits leave the order as it is stated.
  const isMiscounted =
    (fromUser !== null || !fitsCounts(facts, shape)) && checkCounts(path, shape, chosen, facts, findings);
  const isOrdered = isMiscounted && used === 1 && options.length === 1;
  const conflict =
    fromUser === null ? contradictionText(path, shape, chosen, isOrdered ? null : contradicted, labels) : null;
  const doubt =
    conflict ?? (contradicted === null || fromUser !== null ? ambiguityText(path, shape, options, evidence) : null);
  const answer = "--dims with the dimensions in stored order, or fields.*.dimensions in a descriptor";
  if (doubt !== null) findings.add({ about: "order", question: doubt, answer, ...(conflict ? { red: true } : {}) });
  else {
    const stated = labels.where === "" ? evidence : labels.where;
    if (fromUser !== null) overrideOrder(path, chosen, labels, findings);
    findings.addReason(`${path}: dimensions ${chosen.join(" ")}, from ${fromUser === null ? stated : "your answer"}.`);
  }
  const axes = chosen.filter((role) => (AXIS_NAMES as readonly string[]).includes(role));
  if (isVector && format.componentsFollowAxes) askOrderOfComponents(contents, path, axes, findings);
  return { path, shape, dimensions: chosen, labels };
}

function fitsCounts(facts: StatedNumbers, shape: readonly number[]): boolean {
  const left = [...shape];
  const stated = AXIS_NAMES.flatMap((axis) => facts.nodes(axis)?.value ?? []);
  return stated.every((nodes) => left.includes(nodes) && left.splice(left.indexOf(nodes), 1).length === 1);
}

/** Contradicts stated numbers of nodes that are not those of the shape, as with ghost layers. */
function checkCounts(
  path: string,
  shape: readonly number[],
  chosen: readonly Dimension[],
  facts: StatedNumbers,
  findings: Findings,
): boolean {
  const axes = AXIS_NAMES.filter((axis) => chosen.includes(axis)).reverse();
  const layers = axes.map((axis) => {
    const nodes = shape[chosen.indexOf(axis)] as number;
    return (nodes - (facts.nodes(axis)?.value ?? nodes)) / 2;
  });
  if (layers.every((count) => count === 0)) return false;
  const counts = axes.flatMap((axis) => facts.nodes(axis) ?? []).map(({ value, where }) => `${value} by ${where}`);
  const areGhosts = layers.every((count) => Number.isInteger(count) && count >= 0);
  const claim = `${path} is ${shape.join(" x ")}, which contradicts the stated numbers of nodes along ${axes.join(", ")}`;
  const answer = areGhosts
    ? `; else ghost: [${layers.join(", ")}] on the fields in a descriptor`
    : ", or fields.*.offset in a descriptor";
  const question = `${claim}: ${counts.join(", ")}; that all are nodes is a guess.`;
  findings.contradict("spacing", question, `--despite spacing if all are nodes${answer}`);
  return true;
}

/** Names next to a field which show that its values are in elements or blocks. */
const ELEMENTS = /^(nel[vtg]?|lx1|elements?|n(um)?_?elements?|connectivity|n(um)?_?blocks?|blocks?|patches)$/i;

function noFieldText(contents: Contents, path: string, isVector: boolean, isSaid: boolean): string {
  const { shape } = contents.dataset(path) as { shape: readonly number[] };
  const claim = isSaid ? "--dims does not make" : "is not";
  const text = `${path} is ${shape.join(" x ")}, which ${claim} ${isVector ? "a vector" : "a scalar"} field on x, y and z`;
  const rank = isVector ? 4 : 3;
  const others = [...contents.datasets(parentOf(path)), ...contents.attributes("/").keys()];
  const element = others.find((name) => ELEMENTS.test(name));
  if (shape.length > rank && element !== undefined)
    return `${text}; ${element} says that its values lie in elements or blocks; resample them onto one grid`;
  if (shape.length > rank + 1) return `${text}; fields of more dimensions need a descriptor`;
  if (shape.length < rank)
    return `${text}; data of fewer dimensions need an axis of one node (docs/datasets.md shows how)`;
  return text;
}

function contradictionText(
  path: string,
  shape: readonly number[],
  chosen: readonly Dimension[],
  contradicted: string | null,
  { where, contradiction }: DimensionLabels,
): string | null {
  const order = chosen.join(" ");
  if (contradicted !== null)
    return `${path} is ${shape.join(" x ")}, which contradicts ${contradicted} in the file; ${order} is a guess.`;
  return contradiction === null ? null : `${path} is read as ${order}, from ${where}, and ${contradiction}.`;
}

function ambiguityText(
  path: string,
  shape: readonly number[],
  options: readonly (readonly Dimension[])[],
  evidence: string | null,
): string | null {
  const others = reversedFirst(options.slice(1)).slice(0, MAX_ORDERS_LISTED - 1);
  if (others.length === 0) return null;
  const lack = evidence === null ? "nothing in the file names" : `${evidence} do not tell apart`;
  const more = options.length > MAX_ORDERS_LISTED ? " or another order" : "";
  return (
    `${path} is ${shape.join(" x ")}, and ${lack} its dimensions: ${options[0]?.join(" ")} is a guess, ` +
    `${others.join(" or ")}${more} would do as well.`
  );
}

/** Orders as text, x, y, z first: after z, y, x it is the most usual order. */
function reversedFirst(options: readonly (readonly Dimension[])[]): string[] {
  const texts = options.map((option) => option.join(" "));
  const isReversed = (text: string): boolean => /x.*y.*z/.test(text);
  return [...texts.filter(isReversed), ...texts.filter((text) => !isReversed(text))];
}

function overrideOrder(path: string, chosen: readonly Dimension[], labels: DimensionLabels, findings: Findings): void {
  const { roles, order, where } = labels;
  const isOther =
    order === null ? roles.some((role, at) => role !== null && role !== chosen[at]) : !agrees(chosen, order);
  const stated = order ?? roles.map((role) => role ?? "?");
  if (isOther) findings.override("order", `${path} as ${chosen.join(" ")}`, `${where} (${stated.join(" ")})`);
}

/** Orders that the file states: by meshes that each vary along one dimension, and in an attribute. */
function ordersOf(tables: readonly CoordinateTable[], labels: DimensionLabels): string[][] {
  const meshes = tables.filter(({ along }) => along !== null).sort((a, b) => (a.along as number) - (b.along as number));
  const roles = new Set(meshes.map(({ role }) => role));
  const places = new Set(meshes.map(({ along }) => along));
  const isClear = meshes.length === 3 && roles.size === 3 && places.size === 3;
  return [...(isClear ? [meshes.map(({ role }) => role)] : []), ...(labels.order === null ? [] : [[...labels.order]])];
}

/** The order of a component with the same shape and labels as the first: one question serves both. */
export function orientLike(
  { contents }: SharedEvidence,
  first: OrientedDataset | undefined,
  path: string,
): OrientedDataset | null {
  if (first === undefined) return null;
  const { shape } = contents.dataset(path) as { shape: readonly number[] };
  const labels = labelsOf(contents, path);
  const isSame = shape.join() === first.shape.join() && labels.roles.join() === first.labels.roles.join();
  return isSame && `${labels.order}` === `${first.labels.order}` ? { ...first, path, labels } : null;
}

function evidenceOfLengths(tables: readonly CoordinateTable[], facts: StatedNumbers): string | null {
  const isStated = AXIS_NAMES.some((axis) => facts.nodes(axis) !== null);
  const hasCoordinates = tables.some(({ role }) => role !== "t" && facts.nodes(role) === null);
  const found = [hasCoordinates && "the coordinates", isStated && "the stated numbers of nodes"];
  return found.filter(Boolean).join(" and ") || null;
}

function lengthsOf(
  tables: readonly CoordinateTable[],
  facts: StatedNumbers,
  shape: readonly number[],
): Map<Role, number[]> {
  const lengths = new Map<Role, number[]>([["c", [3]]]);
  for (const role of [...AXIS_NAMES, "t"] as const) {
    const ofRole = tables.filter((table) => table.role === role);
    const nodes = ofRole.flatMap(({ length, isEdges }) => (isEdges ? [length - 1] : [length]));
    // A table of one number more than there are nodes can only be one of edges.
    const near = ofRole.flatMap(({ length, isEdges }) => (isEdges || shape.includes(length) ? [] : [length - 1]));
    const stated = role === "t" ? null : facts.nodes(role);
    const all = stated === null ? [...nodes, ...near] : [stated.value];
    if (role === "t" ? all.some((length) => shape.includes(length)) : all.length > 0) lengths.set(role, all);
  }
  return lengths;
}

export function nodesAlong({ shape, dimensions }: OrientedDataset, axis: AxisName): number {
  return shape[dimensions.indexOf(axis)];
}

export function framesIn({ shape, dimensions }: OrientedDataset): number {
  return shape[dimensions.indexOf("t")] ?? 1;
}
