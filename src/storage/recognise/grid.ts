/** Describes axes from the file and the answers of the user, and asks about what neither states. */
import { DataError } from "../../shared/errors.js";
import { AXIS_NAMES, type AxisName } from "../dataset/dataset.js";
import type { AxisInput, Contents, Findings } from "./layout.js";

/** A value, mostly a number, and the place that states it. */
export interface Stated<T = number> {
  readonly value: T;
  readonly where: string;
  /** Empty or absent if none is stated. */
  readonly units?: string;
}

/** Statements of a file about one axis; null if there is none. */
export interface AxisClues {
  readonly coordinates: Stated<{ file: string; path: string } | number[]> | null;
  readonly spacing: Stated | null;
  readonly length: Stated | null;
  readonly origin: Stated | null;
  /** What says that values are at the centres of cells. */
  readonly centres: Stated<string> | null;
  readonly periodic: Stated<boolean> | null;
  readonly walls: Stated<Ends> | null;
  /** Faces of the cells around stated nodes, as a descriptor says them. */
  readonly edges: Stated<NonNullable<AxisInput["edges"]>> | null;
  /** Ends of the box, which may be the end nodes or the outer faces of the end cells. */
  readonly limits: { readonly lower: Stated | null; readonly upper: Stated | null };
  /** Lists of three lengths or six ends whose order is unknown; they are compared with the nodes, never used. */
  readonly boxes: readonly Stated<readonly number[]>[];
  readonly contradictions: readonly string[];
  /** Lists with one number per axis in unknown order, so that none can be assigned to this axis. */
  readonly unordered: Readonly<Record<"spacing" | "length" | "origin", Stated<readonly number[]> | null>>;
}

/** Whether there are walls at both ends of an axis, or at the first and at the last. */
export type Ends = boolean | readonly [boolean, boolean];

export const NO_CLUES: AxisClues = {
  coordinates: null,
  spacing: null,
  length: null,
  origin: null,
  centres: null,
  periodic: null,
  walls: null,
  edges: null,
  limits: { lower: null, upper: null },
  boxes: [],
  contradictions: [],
  unordered: { spacing: null, length: null, origin: null },
};

export const USER = "your answer";

/** An axis that is being described, what its file states of it, and the findings that it adds to. */
interface AxisContext {
  readonly axis: AxisName;
  readonly nodes: number;
  readonly fileClues: AxisClues;
  readonly contents: Contents;
  readonly findings: Findings;
}

/** The clues of the file, replaced where the user answers. An answer about the nodes replaces the stored coordinates. */
function applyAnswers({ axis, fileClues: clues, contents, findings }: AxisContext): AxisClues {
  const { answers } = contents;
  const answered = (values: readonly number[] | undefined): Stated | null => {
    const value = values?.[AXIS_NAMES.indexOf(axis)];
    return value === undefined ? null : { value, where: USER };
  };
  const [spacing, length, origin] = [answered(answers.spacing), answered(answers.length), answered(answers.origin)];
  const periodic =
    answers.periodic === undefined ? clues.periodic : { value: answers.periodic.includes(axis), where: USER };
  if (clues.periodic !== null && periodic?.value !== clues.periodic.value)
    findings.override("periodicity", periodic?.value ? "Periodic" : "Not periodic", clues.periodic.where, axis);
  const hasNewNodes = spacing !== null || length !== null || (origin !== null && clues.coordinates !== null);
  if (!hasNewNodes) return { ...clues, origin: origin ?? clues.origin, periodic };
  return {
    ...clues,
    coordinates: null,
    edges: null,
    spacing: spacing ?? (length === null ? clues.spacing : null),
    length: length ?? clues.length,
    origin: origin ?? clues.origin,
    periodic,
  };
}

/** Relative tolerance of stated lengths, which may be rounded. */
const STATED_TOLERANCE = 1e-3;
/** How far, in spacings, the lower and the upper end of a box may lie from the end nodes. */
const BOX_END_STEPS = [0.51, 1.01] as const;
/** Places of the lower and upper ends of an axis in a list of six: pair by pair, or all lower ends first. */
const BOX_PAIRS = [0, 1, 2].flatMap((pair) => [[2 * pair, 2 * pair + 1] as const, [pair, pair + 3] as const]);
/** Spacings by which a length may differ from a whole number of them. */
const COUNT_TOLERANCE = 0.25;

/** The clues with origin and spacing completed from the ends of the box, or with the origin moved to the first centre. */
function locateNodes(context: AxisContext, clues: AxisClues): AxisClues {
  const { coordinates, origin, limits } = clues;
  const { lower, upper } = limits;
  if (coordinates !== null) return clues;
  if (origin !== null) return locateFirstCentre(context, clues, origin);
  // Descending nodes do not begin at the lower end.
  if (lower === null || (clues.spacing?.value ?? 0) < 0) return clues;
  if (upper === null) return locateFromEnd(context, clues, lower);
  const isCells = context.contents.answers.cells?.includes(context.axis) === true;
  return (isCells ? locateInCells : locateBetweenEnds)(context, clues, lower, upper);
}

/** Nodes from a lower end whose upper end is not stated. */
function locateFromEnd(context: AxisContext, clues: AxisClues, lower: Stated): AxisClues {
  const { cells } = context.contents.answers;
  const isCells = cells?.includes(context.axis) === true;
  const step = clues.spacing?.value ?? 0;
  if (cells === undefined || (isCells && step === 0))
    askNodesOnEnds(context, `${lower.where} is ${lower.value}`, "this end", lower.value);
  return { ...clues, origin: { ...lower, value: lower.value + (isCells ? step / 2 : 0) } };
}

/** Nodes in the middle of cells between two ends, as the user says. */
function locateInCells(context: AxisContext, clues: AxisClues, lower: Stated, upper: Stated): AxisClues {
  const { axis, nodes, findings } = context;
  const { spacing } = clues;
  const where = `${lower.where} and ${upper.where}`;
  const step = (upper.value - lower.value) / nodes;
  if (spacing !== null && Math.abs(step - spacing.value) > STATED_TOLERANCE * step)
    findings.override("spacing", `${step}`, `${spacing.where} (${spacing.value})`, axis);
  findings.addReason(
    `${axis}: nodes are the centres of cells between ${lower.value} and ${upper.value}, from ${USER}.`,
  );
  const origin = { value: lower.value + step / 2, where: lower.where };
  const edges = { value: [lower.value, upper.value], where };
  return { ...clues, origin, spacing: { value: step, where }, edges };
}

/** Nodes on two ends. Asks, unless the user has said that they are, or the stated spacing puts nodes on both ends. */
function locateBetweenEnds(context: AxisContext, clues: AxisClues, lower: Stated, upper: Stated): AxisClues {
  const { nodes, contents } = context;
  const { spacing, length } = clues;
  const step = (upper.value - lower.value) / (nodes - 1);
  const onEnds = { ...clues, origin: lower };
  if (contents.answers.cells !== undefined)
    return { ...onEnds, spacing: spacing ?? { value: step, where: `${lower.where} and ${upper.where}` } };
  if (spacing !== null && Math.abs(step / spacing.value - 1) < STATED_TOLERANCE / nodes) return onEnds;
  const statement = `${lower.where} is ${lower.value} and ${upper.where} is ${upper.value}`;
  askNodesOnEnds(context, statement, "these ends", lower.value);
  const spacingFromLength = length === null ? null : { ...length, value: length.value / nodes };
  return { ...onEnds, spacing: spacing ?? spacingFromLength ?? { value: step, where: lower.where } };
}

/** The origin as the first centre, or as the corner of its cell if the user says so; asks if values are at centres. */
function locateFirstCentre(context: AxisContext, clues: AxisClues, origin: Stated): AxisClues {
  const { axis, nodes, contents, findings } = context;
  const { cells } = contents.answers;
  const { spacing, length, limits, centres } = clues;
  const step = spacing?.value ?? (length?.value ?? 0) / nodes;
  const gap = Math.abs(origin.value - (limits.lower?.value ?? Number.NaN)) / Math.abs(step);
  if (centres === null || origin.where === USER || Math.abs(gap - 0.5) < STATED_TOLERANCE) return clues;
  const question = `${origin.where} is ${origin.value} and ${centres.where} is "${centres.value}"; that this is the centre of the first cell, not its corner, is a guess.`;
  const answer = "--cells AXES if it is the corner (none for none), or --origin x,y,z";
  if (cells === undefined || (cells.includes(axis) && step === 0)) findings.ask("origin", question, answer, axis);
  if (cells?.includes(axis) !== true) return clues;
  findings.addReason(`${axis}: ${origin.where} is the corner of the first cell, from ${USER}.`);
  const ends = [origin.value, origin.value + nodes * step];
  const edges = clues.edges ?? { value: ends, where: `${origin.where} and the spacing` };
  return { ...clues, origin: { ...origin, value: origin.value + step / 2 }, edges };
}

function askNodesOnEnds(context: AxisContext, statement: string, ends: "this end" | "these ends", first: number): void {
  const { axis, nodes, findings } = context;
  const ambiguity = `nothing states whether the ${nodes} nodes are on ${ends} or in the middle of cells`;
  const answer = "--cells AXES (none for none), or --origin x,y,z and --spacing x,y,z";
  findings.ask("origin", `${statement}, and ${ambiguity}; the first node at ${first} is a guess.`, answer, axis);
}

/** The number of the nodes of an axis, its least and greatest coordinate, and its largest step. */
type NodeRange = { readonly axis: AxisName } & Readonly<Record<"nodes" | "first" | "last" | "step", number>>;

/**
 * Contradicts a box that fits no axis within half a cell (lower end) or one cell (upper end). A name with `extent` may
 * state a number of nodes.
 */
function checkBoxes(range: NodeRange, { boxes }: AxisClues, findings: Findings, isAnswered: boolean): void {
  const { axis, nodes, first, last, step } = range;
  const isCount = (value: number, where: string) =>
    /extent/i.test(where) && [nodes - 1, nodes].some((count) => Math.abs(value - count) < 1e-9);
  const isBox = (lower: number, upper: number, where: string) =>
    isCount(upper - lower, where) ||
    (Math.abs(lower - first) <= BOX_END_STEPS[0] * step && Math.abs(upper - last) <= BOX_END_STEPS[1] * step);
  const isLength = (length: number, where: string) =>
    isCount(length, where) ||
    (length >= (last - first) * (1 - STATED_TOLERANCE) && length <= last - first + BOX_END_STEPS[1] * step);
  const fits = ({ value, where }: Stated<readonly number[]>) =>
    value.length === 3
      ? value.some((length) => isLength(length, where))
      : BOX_PAIRS.some(([lower, upper]) => isBox(value[lower] as number, value[upper] as number, where));
  const misfit = boxes.find((box) => !fits(box));
  if (misfit !== undefined) findings.contradict("spacing", misplaced(range, misfit), axisFlags(axis), axis, isAnswered);
}

const axisFlags = (axis: AxisName): string => `--spacing and --origin, or axes.${axis} in a descriptor`;

const valueText = ({ value }: Stated<unknown>): string => [value].flat().join(", ");

function misplaced({ axis, first, last }: NodeRange, stated: Stated<unknown>): string {
  const statement = `${stated.where} is ${valueText(stated)}`;
  return `The nodes are from ${first} to ${last} along ${axis}, and ${statement}; that the nodes are there is a guess.`;
}

/** Contradicts a stated end of the axis that is farther from its end node than a cell may reach. */
function checkLimits(range: NodeRange, { limits, unordered }: AxisClues, findings: Findings): void {
  const { axis, first, last, step } = range;
  // Any number of a list in unknown order may belong to the axis.
  const isFar = (end: Stated | Stated<readonly number[]> | null, node: number, steps: number) =>
    end !== null && [end.value].flat().every((value) => Math.abs((value as number) - node) > steps * step);
  const low = [limits.lower, unordered.origin].find((end) => isFar(end, first, BOX_END_STEPS[0]));
  const misfit = low ?? (isFar(limits.upper, last, BOX_END_STEPS[1]) ? limits.upper : null);
  if (misfit !== null) findings.contradict("origin", misplaced(range, misfit), axisFlags(axis), axis);
}

function reportContradictions({ axis, contents, findings }: AxisContext, { contradictions }: AxisClues): void {
  const { spacing, length } = contents.answers;
  const isAnswered = (spacing ?? length) !== undefined;
  const answer = `--spacing, --origin and --periodic, or axes.${axis} in a descriptor`;
  for (const text of contradictions)
    findings.contradict("spacing", `${text}; that the first holds is a guess.`, answer, axis, isAnswered);
}

/**
 * Compares nodes with what is stated of their steps, origin, length and ends. A stated box may end half a cell outside
 * the nodes; a period exceeds their span by one spacing. A list whose order is unknown is contradictory only if none of
 * its entries fits.
 * @param source what gives the nodes, for messages
 * @param isAnswered whether an answer gives them, whatever is stated
 */
export function checkStatedNumbers(
  axis: AxisName,
  nodes: Float64Array,
  source: string,
  clues: AxisClues,
  findings: Findings,
  isAnswered = false,
): void {
  const { spacing, origin, length, limits, unordered } = clues;
  const steps = Array.from(nodes.subarray(1), (node, index) => Math.abs(node - nodes[index]));
  const [least, most] = [Math.min(...steps), Math.max(...steps)];
  const ends = [nodes[0], nodes[nodes.length - 1]];
  const [first, last] = [Math.min(...ends), Math.max(...ends)];
  const mean = (last - first) / (nodes.length - 1);
  const isNear = (value: number, positions: readonly number[], slack: number) =>
    positions.some((place) => Math.abs(value - place) <= slack);
  const [from, to] = [least, most].map((step) => Number(step.toPrecision(6)));
  const range = from === to ? `${from}` : `${from} to ${to}`;
  const check = (
    about: "spacing" | "origin",
    measured: string,
    stated: Stated | Stated<readonly number[]> | null,
    fits: (value: number) => boolean,
  ) => {
    if (stated === null || [stated.value].flat().some((value) => fits(value as number))) return;
    const statement = `${source} ${measured} along ${axis}, and ${stated.where} is ${valueText(stated)}`;
    const question = `${statement}; that the coordinates hold is a guess.`;
    findings.contradict(about, question, axisFlags(axis), axis, isAnswered);
  };
  const slack = isAnswered ? 1e-6 : STATED_TOLERANCE;
  const isStep = (value: number) => Math.abs(value) >= least * (1 - slack) && Math.abs(value) <= most * (1 + slack);
  const isLength = (value: number) =>
    value >= (last - first) * (1 - slack) && value <= (last - first + most) * (1 + slack);
  // Without a list of spacings, `unordered.spacing` is the list of lengths, which is compared as such below.
  const list = spacing === null && unordered.spacing !== unordered.length ? unordered.spacing : null;
  check("spacing", `has steps of ${range}`, spacing ?? list, isStep);
  check("spacing", `is ${Number((last - first).toPrecision(6))} long`, length ?? unordered.length, isLength);
  check("origin", `ends at ${last}`, limits.upper, (value) => isNear(value, ends, BOX_END_STEPS[1] * most));
  checkBoxes({ axis, nodes: nodes.length, first, last, step: most }, clues, findings, isAnswered);
  const starts = [first, nodes[0]];
  check("origin", `begins at ${nodes[0]}`, origin ?? unordered.origin, (value) => isNear(value, starts, slack * mean));
  if (origin === null)
    check("origin", `begins at ${nodes[0]}`, limits.lower, (value) => isNear(value, starts, BOX_END_STEPS[0] * mean));
}

/** Tells where coordinates or numbers of the file contradict the nodes of an answer. */
function checkStoredCoordinates(
  { axis, contents, findings }: AxisContext,
  nodes: Float64Array,
  clues: AxisClues,
): void {
  const { value = [], where = "" } = clues.coordinates ?? {};
  const slack = STATED_TOLERANCE * Math.abs(nodes[1] - nodes[0]);
  const isOther = (place: number, k: number) => !(Math.abs(place - nodes[k]) <= slack);
  const answered = `${nodes.length} nodes from ${nodes[0]} to ${nodes[nodes.length - 1]}`;
  if (("path" in value ? contents.numbers(value.path) : value).some(isOther))
    findings.override("spacing", answered, `the coordinates in ${where}`, axis);
  checkStatedNumbers(axis, nodes, "The answer", clues, findings, true);
}

/** An axis of a descriptor, from what a file states and the user answers; questions and reasons go to `findings`. */
export function axisOf(context: AxisContext): AxisInput {
  const { axis, contents, findings } = context;
  const clues = locateNodes(context, applyAnswers(context));
  const { coordinates, periodic } = clues;
  if (periodic?.value === true && contents.answers.walls?.includes(axis) === true)
    throw new DataError(`--walls ${axis} has no effect: ${axis} is periodic, from ${periodic.where}`);
  reportContradictions(context, clues);
  const faces = periodic?.value === false ? facesOf(context, clues.walls) : {};
  if (coordinates === null) return axisOfNumbers(context, clues, faces);
  findings.addReason(`${axis}: coordinates from ${coordinates.where}${periodicText(periodic)}.`);
  if (periodic === null) askPeriodicity(context);
  const isPeriodic = periodic?.value ?? false;
  const cells = edgesOf(context, clues.edges, isPeriodic);
  return { coordinates: coordinates.value, periodic: isPeriodic, ...faces, ...cells };
}

/** An axis of evenly spaced nodes. */
function axisOfNumbers(context: AxisContext, clues: AxisClues, faces: Pick<AxisInput, "faces">): AxisInput {
  const { axis, nodes, findings } = context;
  const { spacing, isPeriodic } = spacingOf(context, clues);
  const { origin } = clues;
  const first = origin?.value ?? 0;
  checkLength(context, clues);
  if (origin === null) askOrigin(context, clues);
  else {
    findings.addReason(`${axis}: origin ${first} from ${origin.where}.`);
    checkEvenNodes(context, clues, origin, spacing);
  }
  const last = first + (nodes - 1) * spacing;
  const edges = clues.edges ?? (origin === null ? null : edgesWithin([first, last], nodes, clues.limits));
  const cells = edgesOf(context, edges, isPeriodic);
  return { nodes, origin: first, spacing, periodic: isPeriodic, ...faces, ...cells };
}

/** Compares evenly spaced nodes with what the file states besides. */
function checkEvenNodes(context: AxisContext, clues: AxisClues, origin: Stated, spacing: number): void {
  const { axis, nodes, fileClues, findings } = context;
  const isSpacingAnswered = [clues.spacing, clues.length].some((clue) => clue?.where === USER);
  const isOriginAnswered = origin.where === USER;
  if (isSpacingAnswered || isOriginAnswered) {
    // An origin from the user moves the nodes but keeps the stated spacing and length.
    const withoutLengths = { ...fileClues, spacing: null, length: null, unordered: NO_CLUES.unordered, boxes: [] };
    const answered = Float64Array.from({ length: nodes }, (_, k) => origin.value + k * spacing);
    checkStoredCoordinates(context, answered, isSpacingAnswered ? fileClues : withoutLengths);
  }
  if (isSpacingAnswered) return;
  const ends = [origin.value, origin.value + (nodes - 1) * spacing];
  const range = { axis, nodes, first: Math.min(...ends), last: Math.max(...ends), step: Math.abs(spacing) };
  checkBoxes(range, clues, findings, false);
  if (!isOriginAnswered && clues.contradictions.length === 0) checkLimits(range, clues, findings);
}

/** The faces of the cells of an axis that is not periodic: cells of a periodic one are a spacing wide. */
function edgesOf(context: AxisContext, edges: AxisClues["edges"], isPeriodic: boolean): Pick<AxisInput, "edges"> {
  if (edges === null || isPeriodic) return {};
  context.findings.addReason(`${context.axis}: the faces of the cells from ${edges.where}.`);
  return { edges: edges.value };
}

/** The ends of a box as the outer faces of the end cells, if both are behind the end nodes by less than a cell. */
export function edgesWithin(
  [first, last]: readonly [number, number],
  nodes: number,
  { lower, upper }: AxisClues["limits"],
): AxisClues["edges"] {
  if (lower === null || upper === null || nodes < 2) return null;
  const step = Math.abs(last - first) / (nodes - 1);
  const isCell = (gap: number) => gap > STATED_TOLERANCE * step && gap < step;
  if (!isCell(Math.min(first, last) - lower.value) || !isCell(upper.value - Math.max(first, last))) return null;
  const value = first < last ? [lower.value, upper.value] : [upper.value, lower.value];
  return { value, where: `${lower.where} and ${upper.where}` };
}

/** An axis of one node. Periodic: the field is constant along it; else only the node has values. */
export function singleNodeAxis({ axis, fileClues, contents, findings }: Omit<AxisContext, "nodes">): AxisInput {
  const context = { axis, nodes: 1, fileClues: { ...fileClues, coordinates: null }, contents, findings };
  const answered = applyAnswers(context);
  const isPlaced = answered.origin === null || answered.periodic?.value === true;
  const clues = isPlaced ? answered : locateFirstCentre(context, answered, answered.origin);
  const { origin, periodic } = clues;
  const stated = fileClues.origin;
  if (origin?.where === USER && stated !== null && stated.value !== origin.value)
    findings.override("origin", `${origin.value}`, `${stated.where} (${stated.value})`, axis);
  const question =
    "It has one node, and nothing states that the field is constant along it; values are served at that node only, by None.";
  const answer = "--periodic AXES if it is constant, or axes.*.periodic in a descriptor";
  if (periodic === null) findings.ask("periodicity", question, answer, axis);
  else findings.addReason(`${axis}: one node${periodicText(periodic)}.`);
  if (origin !== null) findings.addReason(`${axis}: origin ${origin.value} from ${origin.where}.`);
  else if (periodic?.value !== true) askOrigin(context, clues);
  return { nodes: 1, origin: origin?.value ?? 0, spacing: 1, periodic: periodic?.value ?? false };
}

/** Whether an axis ends in walls, as an answer or the file says. */
function facesOf({ axis, contents, findings }: AxisContext, stated: AxisClues["walls"]): Pick<AxisInput, "faces"> {
  const { walls: answered } = contents.answers;
  const walls: AxisClues["walls"] = answered === undefined ? stated : { value: answered.includes(axis), where: USER };
  if (walls === null) {
    const question =
      "Nothing states whether there are walls at the ends, which hold particles; through open ends they leave.";
    findings.ask("faces", question, "--walls AXES (none for none), or axes.*.faces in a descriptor", axis);
    return {};
  }
  const { value, where } = walls;
  if (answered !== undefined && stated !== null && [stated.value].flat().some((wall) => wall !== value))
    findings.override("faces", value ? "Walls" : "Open", stated.where, axis);
  const [first, last] = (typeof value === "boolean" ? [value, value] : value).map((wall) => (wall ? "wall" : "open"));
  const both = first === last ? `${first} at both ends` : `${first} at the first end, ${last} at the last`;
  findings.addReason(`${axis}: ${both}, from ${where}.`);
  return { faces: [first, last] as NonNullable<AxisInput["faces"]> };
}

function askOrigin({ axis, findings }: AxisContext, { unordered }: AxisClues): void {
  const statement = unorderedText(unordered.origin) ?? "The coordinate of the first node is not stated";
  findings.ask("origin", `${statement}; 0 is a guess.`, "--origin x,y,z, or axes.*.origin in a descriptor", axis);
}

/** Contradicts a length that is not one spacing per node, or on an axis that is not periodic one spacing less. */
function checkLength({ axis, nodes, contents: { answers }, findings }: AxisContext, clues: AxisClues): void {
  const { spacing, length, periodic } = clues;
  if (spacing === null || length === null || answers.spacing !== undefined || answers.length !== undefined) return;
  const steps = Math.abs(length.value / spacing.value);
  const fits = (count: number) => Math.abs(steps - count) < COUNT_TOLERANCE;
  if (fits(nodes) || (periodic?.value !== true && fits(nodes - 1))) return;
  const statement = `${spacing.where} is ${spacing.value} and ${length.where} is ${length.value}`;
  const misfit = `${statement}, which is ${Number(steps.toPrecision(6))} of it for ${nodes} nodes`;
  const answer = `--spacing or --length, or axes.${axis} in a descriptor`;
  findings.contradict("spacing", `${misfit}; that the spacing holds is a guess.`, answer, axis);
}

function unorderedText(list: Stated<readonly number[]> | null): string | null {
  return list === null
    ? null
    : `${list.where} is ${valueText(list)}, and nothing states whether that is in the order x, y, z or in the stored one`;
}

/** The spacing as stated, else from the length, else 1 with a question; and whether the axis is periodic. */
function spacingOf(context: AxisContext, clues: AxisClues): { spacing: number; isPeriodic: boolean } {
  const { axis, findings } = context;
  const { spacing, length, periodic, unordered } = clues;
  if (spacing === null && length !== null) return spacingOfLength(context, clues, length);
  if (spacing === null) {
    const list = unordered.spacing ?? clues.boxes[0] ?? null;
    const statement = unorderedText(list) ?? "The distance of the nodes is not stated";
    const answer = "--length x,y,z or --spacing x,y,z, or axes.*.spacing in a descriptor";
    findings.ask("spacing", `${statement}; 1 is a guess.`, answer, axis);
  } else findings.addReason(`${axis}: spacing ${spacing.value} from ${spacing.where}${periodicText(periodic)}.`);
  if (periodic === null) askPeriodicity(context);
  return { spacing: spacing?.value ?? 1, isPeriodic: periodic?.value ?? false };
}

/** The spacing of a length, which is of all cells or from the first node to the last; asks if that is open. */
function spacingOfLength({ axis, nodes, contents, findings }: AxisContext, clues: AxisClues, length: Stated) {
  const { cells } = contents.answers;
  const { periodic } = clues;
  const isPeriodic = periodic?.value ?? true;
  const isCells = cells?.includes(axis) === true;
  const [cellSpacing, nodeSpacing] = [length.value / nodes, length.value / (nodes - 1)];
  const spacing = isPeriodic || isCells ? cellSpacing : nodeSpacing;
  findings.addReason(
    `${axis}: spacing ${spacing}, length ${length.value} from ${length.where}${periodicText(periodic)}.`,
  );
  // If values are at cell centres, `cells` tells whether the origin is a centre or a corner; only in the second case do
  // the cells fill the length.
  const isAboutOrigin = clues.centres !== null && clues.origin !== null && clues.origin.where !== USER;
  const isSaid = length.where === USER || isCells || (cells !== undefined && !isAboutOrigin);
  const meanings = `a spacing of ${cellSpacing} between ${nodes} cells, as on a periodic axis, or of ${nodeSpacing} from the first node to the last`;
  const question = `The length ${length.value} means ${meanings}; ${spacing} is a guess.`;
  const byCells = `${cells === undefined ? "--cells AXES (none for none), or " : ""}--spacing x,y,z`;
  const answer = periodic === null ? "--periodic AXES (none for none), or axes.* in a descriptor" : byCells;
  if (periodic === null || (!isPeriodic && !isSaid)) findings.ask("spacing", question, answer, axis);
  return { spacing, isPeriodic };
}

const periodicText = (periodic: Stated<boolean> | null): string =>
  periodic === null ? "" : `; ${periodic.value ? "periodic" : "not periodic"}, from ${periodic.where}`;

function askPeriodicity({ axis, findings }: AxisContext): void {
  const answer = "--periodic AXES (none for none), or axes.*.periodic in a descriptor";
  findings.ask("periodicity", "Nothing states whether the field is periodic.", answer, axis);
}
