/** Axes and times by what a file states and the user answers; what neither says becomes an open question. */
import { DataError } from "../../shared/errors.js";
import { AXIS_NAMES, type AxisName } from "../dataset/dataset.js";
import type { DescriptorInput } from "../dataset/descriptor.js";
import { factorBetween } from "../dataset/units.js";
import type { Answers } from "./answers.js";
import { type AxisInput, BY_TIMES, type Contents, type Findings } from "./layout.js";

type TimeInput = DescriptorInput["time"];

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
  /** Three lengths, or both ends of three axes, in an order that is not known: compared, never applied. */
  readonly boxes: readonly Stated<readonly number[]>[];
  readonly contradictions: readonly string[];
  /** Lists of one number an axis that give this axis none, since it is not known which number is that of which axis. */
  readonly unordered: {
    readonly spacing: Stated<readonly number[]> | null;
    readonly length: Stated<readonly number[]> | null;
    readonly origin: Stated<readonly number[]> | null;
  };
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

const USER = "your answer";

function applyAnswers(axis: AxisName, clues: AxisClues, answers: Answers, findings: Findings): AxisClues {
  const answered = (values: readonly number[] | undefined): Stated | null => {
    const value = values?.[AXIS_NAMES.indexOf(axis)];
    return value === undefined ? null : { value, where: USER };
  };
  const [spacing, length, origin] = [answered(answers.spacing), answered(answers.length), answered(answers.origin)];
  const periodic =
    answers.periodic === undefined ? clues.periodic : { value: answers.periodic.includes(axis), where: USER };
  if (clues.periodic !== null && periodic?.value !== clues.periodic.value)
    findings.override("periodicity", periodic?.value ? "Periodic" : "Not periodic", clues.periodic.where, axis);
  if (spacing === null && length === null && (origin === null || clues.coordinates === null))
    return { ...clues, origin: origin ?? clues.origin, periodic };
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
/** Steps by which the lower and the upper end of a box may be away from the end nodes. */
const BOX_END_STEPS = [0.51, 1.01] as const;
/** Places of the lower and upper ends of an axis in a list of six: pair by pair, or all lower ends first. */
const BOX_PAIRS = [
  [0, 1],
  [2, 3],
  [4, 5],
  [0, 3],
  [1, 4],
  [2, 5],
] as const;
/** Spacings by which a length may differ from a whole number of them. */
const COUNT_TOLERANCE = 0.25;

/** Origin and spacing from the ends of a box. The user is asked unless the stated spacing puts nodes on both ends. */
function placeBox(axis: AxisName, nodes: number, clues: AxisClues, answers: Answers, findings: Findings): AxisClues {
  const { cells } = answers;
  const { coordinates, origin, limits } = clues;
  const { lower, upper } = limits;
  if (coordinates === null && origin !== null) return placeOrigin(axis, nodes, clues, answers, findings);
  // Descending nodes do not begin at the lower end.
  const stated = clues.spacing?.value ?? 0;
  if (coordinates !== null || lower === null || stated < 0) return clues;
  if (upper === null) {
    const isCells = cells?.includes(axis) === true;
    if (cells === undefined || (isCells && stated === 0))
      askNodesOnEnds(axis, nodes, `${lower.where} is ${lower.value}`, "this end", lower.value, findings);
    return { ...clues, origin: { ...lower, value: lower.value + (isCells ? stated / 2 : 0) } };
  }
  const span = upper.value - lower.value;
  if (cells?.includes(axis) === true) {
    const step = span / nodes;
    if (clues.spacing !== null && Math.abs(step - stated) > STATED_TOLERANCE * step)
      findings.override("spacing", `${step}`, `${clues.spacing.where} (${stated})`, axis);
    findings.addReason(
      `${axis}: nodes are the centres of cells between ${lower.value} and ${upper.value}, from ${USER}.`,
    );
    return {
      ...clues,
      origin: { value: lower.value + step / 2, where: lower.where },
      spacing: { value: step, where: `${lower.where} and ${upper.where}` },
      edges: { value: [lower.value, upper.value], where: `${lower.where} and ${upper.where}` },
    };
  }
  if (cells !== undefined) {
    const spacing = { value: span / (nodes - 1), where: `${lower.where} and ${upper.where}` };
    return { ...clues, origin: lower, spacing: clues.spacing ?? spacing };
  }
  const spacing =
    clues.spacing ?? (clues.length === null ? null : { ...clues.length, value: clues.length.value / nodes });
  const isOnEnds =
    clues.spacing !== null && Math.abs(span / (nodes - 1) / clues.spacing.value - 1) < STATED_TOLERANCE / nodes;
  if (isOnEnds) return { ...clues, origin: lower };
  const statement = `${lower.where} is ${lower.value} and ${upper.where} is ${upper.value}`;
  askNodesOnEnds(axis, nodes, statement, "these ends", lower.value, findings);
  return { ...clues, origin: lower, spacing: spacing ?? { value: span / (nodes - 1), where: lower.where } };
}

/** The origin as the first centre, or as the corner of its cell if the user says so; asks if values are at centres. */
function placeOrigin(
  axis: AxisName,
  nodes: number,
  clues: AxisClues,
  { cells }: Answers,
  findings: Findings,
): AxisClues {
  const { spacing, length, limits, centres } = clues;
  const origin = clues.origin as Stated;
  const step = spacing?.value ?? (length?.value ?? 0) / nodes;
  const gap = Math.abs(origin.value - (limits.lower?.value ?? Number.NaN)) / Math.abs(step);
  if (centres === null || origin.where === USER || Math.abs(gap - 0.5) < STATED_TOLERANCE) return clues;
  const [first, end] = [origin.value + step / 2, origin.value + nodes * step];
  if (cells === undefined || (cells.includes(axis) && step === 0))
    findings.ask(
      "origin",
      `${origin.where} is ${origin.value} and ${centres.where} is "${centres.value}"; that this is the centre of the first cell, not its corner, is a guess.`,
      "--cells AXES if it is the corner (none for none), or --origin x,y,z",
      axis,
    );
  if (cells?.includes(axis) !== true) return clues;
  findings.addReason(`${axis}: ${origin.where} is the corner of the first cell, from ${USER}.`);
  const edges = clues.edges ?? { value: [origin.value, end], where: `${origin.where} and the spacing` };
  return { ...clues, origin: { ...origin, value: first }, edges };
}

function askNodesOnEnds(
  axis: AxisName,
  nodes: number,
  statement: string,
  ends: string,
  first: number,
  findings: Findings,
): void {
  findings.ask(
    "origin",
    `${statement}, and nothing states whether the ${nodes} nodes are on ${ends} or in the middle of cells; ` +
      `the first node at ${first} is a guess.`,
    "--cells AXES (none for none), or --origin x,y,z and --spacing x,y,z",
    axis,
  );
}

type AxisEnds = Readonly<Record<"first" | "last" | "step", number>>;

/** Asks about a box that is that of no axis, give or take half a cell or one step; `extent` may count nodes. */
function checkBoxes(
  axis: AxisName,
  nodes: number,
  ends: AxisEnds,
  { boxes }: AxisClues,
  findings: Findings,
  isAnswered: boolean,
): void {
  const { first, last, step } = ends;
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
  const other = boxes.find((box) => !fits(box));
  if (other !== undefined)
    findings.contradict("spacing", misplaced(axis, ends, other), axisFlags(axis), axis, isAnswered);
}

const axisFlags = (axis: AxisName): string => `--spacing and --origin, or axes.${axis} in a descriptor`;

function misplaced(axis: AxisName, { first, last }: AxisEnds, { where, value }: Stated<unknown>): string {
  const stated = `${where} is ${[value].flat().join(", ")}`;
  return `The nodes are from ${first} to ${last} along ${axis}, and ${stated}; that the nodes are there is a guess.`;
}

/** Adds a red line for a stated end of the axis that is farther from its end node than a cell may reach. */
function checkLimits(axis: AxisName, ends: AxisEnds, { limits, unordered }: AxisClues, findings: Findings): void {
  const { first, last, step } = ends;
  // Of a list whose order is not known, any number may be that of the axis.
  const isFar = (end: Stated | Stated<readonly number[]> | null, node: number, play: number) =>
    end !== null && [end.value].flat().every((value) => Math.abs((value as number) - node) > play * step);
  const low = [limits.lower, unordered.origin].find((end) => isFar(end, first, BOX_END_STEPS[0]));
  const other = low ?? (isFar(limits.upper, last, BOX_END_STEPS[1]) ? limits.upper : null);
  if (other !== null) findings.contradict("origin", misplaced(axis, ends, other), axisFlags(axis), axis);
}

function reportContradictions(
  axis: AxisName,
  { contradictions }: AxisClues,
  answers: Answers,
  findings: Findings,
): void {
  const isAnswered = (answers.spacing ?? answers.length) !== undefined;
  for (const text of contradictions)
    findings.contradict(
      "spacing",
      `${text}; that the first holds is a guess.`,
      `--spacing, --origin and --periodic, or axes.${axis} in a descriptor`,
      axis,
      isAnswered,
    );
}

/**
 * Compares nodes with what is stated of their steps, origin, length and ends. A stated box may end half a cell outside
 * the nodes; a period exceeds their span by one spacing. A list whose order is unknown is contradictory only if none of
 * its entries fits.
 * @param where what gives the nodes, for messages
 * @param isAnswered whether an answer gives them, whatever is stated
 */
export function checkAgainstNodes(
  axis: AxisName,
  nodes: Float64Array,
  where: string,
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
  const isNear = (value: number, places: readonly number[], slack: number) =>
    places.some((place) => Math.abs(value - place) <= slack);
  const [from, to] = [least, most].map((step) => Number(step.toPrecision(6)));
  const range = from === to ? `${from}` : `${from} to ${to}`;
  const ask = (
    about: "spacing" | "origin",
    measured: string,
    stated: Stated | Stated<readonly number[]> | null,
    fits: (value: number) => boolean,
  ) => {
    if (stated === null || [stated.value].flat().some((value) => fits(value as number))) return;
    findings.contradict(
      about,
      `${where} ${measured} along ${axis}, and ${stated.where} is ${[stated.value].flat().join(", ")}; that the coordinates hold is a guess.`,
      axisFlags(axis),
      axis,
      isAnswered,
    );
  };
  // Stated numbers may be rounded.
  const slack = isAnswered ? 1e-6 : STATED_TOLERANCE;
  const isStep = (value: number) => Math.abs(value) >= least * (1 - slack) && Math.abs(value) <= most * (1 + slack);
  const isLength = (value: number) =>
    value >= (last - first) * (1 - slack) && value <= (last - first + most) * (1 + slack);
  const list = spacing === null && unordered.spacing !== unordered.length ? unordered.spacing : null;
  ask("spacing", `has steps of ${range}`, spacing ?? list, isStep);
  ask("spacing", `is ${Number((last - first).toPrecision(6))} long`, length ?? unordered.length, isLength);
  ask("origin", `ends at ${last}`, limits.upper, (value) => isNear(value, ends, BOX_END_STEPS[1] * most));
  checkBoxes(axis, nodes.length, { first, last, step: most }, clues, findings, isAnswered);
  const starts = [first, nodes[0]];
  ask("origin", `begins at ${nodes[0]}`, origin ?? unordered.origin, (value) => isNear(value, starts, slack * mean));
  if (origin === null)
    ask("origin", `begins at ${nodes[0]}`, limits.lower, (value) => isNear(value, starts, BOX_END_STEPS[0] * mean));
}

/** Asks where the coordinates or the numbers of the file contradict the answered nodes. */
function checkAgainstFile(
  axis: AxisName,
  nodes: Float64Array,
  clues: AxisClues,
  contents: Contents,
  findings: Findings,
): void {
  const { value = [], where = "" } = clues.coordinates ?? {};
  const slack = STATED_TOLERANCE * Math.abs(nodes[1] - nodes[0]);
  const isOther = (place: number, k: number) => !(Math.abs(place - nodes[k]) <= slack);
  const answered = `${nodes.length} nodes from ${nodes[0]} to ${nodes[nodes.length - 1]}`;
  if (("path" in value ? contents.numbers(value.path) : value).some(isOther))
    findings.override("spacing", answered, `the coordinates in ${where}`, axis);
  checkAgainstNodes(axis, nodes, "The answer", clues, findings, true);
}

/** An axis of a descriptor, from what a file states and the user answers; questions and reasons go to `findings`. */
export function axisOf(
  axis: AxisName,
  nodes: number,
  file: AxisClues,
  contents: Contents,
  findings: Findings,
): AxisInput {
  const { answers } = contents;
  const clues = placeBox(axis, nodes, applyAnswers(axis, file, answers, findings), answers, findings);
  const { coordinates, periodic } = clues;
  if (periodic?.value === true && answers.walls?.includes(axis) === true)
    throw new DataError(`--walls ${axis} has no effect: ${axis} is periodic, from ${periodic.where}`);
  reportContradictions(axis, clues, answers, findings);
  const faces = periodic?.value === false ? facesOf(axis, clues.walls, answers, findings) : {};
  if (coordinates !== null) {
    findings.addReason(`${axis}: coordinates from ${coordinates.where}${periodicText(periodic)}.`);
    if (periodic === null) askPeriodicity(axis, findings);
    const isPeriodic = periodic?.value ?? false;
    const cells = edgesOf(axis, clues.edges, isPeriodic, findings);
    return { coordinates: coordinates.value, periodic: isPeriodic, ...faces, ...cells };
  }
  const { spacing, isPeriodic } = spacingOf(axis, nodes, clues, answers, findings);
  const { origin } = clues;
  checkLength(axis, nodes, clues, answers, findings);
  if (origin === null) askOrigin(axis, clues, findings);
  else {
    findings.addReason(`${axis}: origin ${origin.value} from ${origin.where}.`);
    const far = origin.value + (nodes - 1) * spacing;
    const ends = { first: Math.min(origin.value, far), last: Math.max(origin.value, far), step: Math.abs(spacing) };
    const isAnswered = [clues.spacing, clues.length].some((clue) => clue?.where === USER);
    if (isAnswered || origin.where === USER) {
      const stated = isAnswered
        ? file
        : { ...file, spacing: null, length: null, unordered: NO_CLUES.unordered, boxes: [] };
      const answered = Float64Array.from({ length: nodes }, (_, k) => origin.value + k * spacing);
      checkAgainstFile(axis, answered, stated, contents, findings);
    }
    if (!isAnswered) checkBoxes(axis, nodes, ends, clues, findings, false);
    if (!isAnswered && origin.where !== USER && clues.contradictions.length === 0)
      checkLimits(axis, ends, clues, findings);
  }
  const first = origin?.value ?? 0;
  const edges =
    clues.edges ?? (origin === null ? null : edgesWithin([first, first + (nodes - 1) * spacing], nodes, clues.limits));
  const cells = edgesOf(axis, edges, isPeriodic, findings);
  return { nodes, origin: first, spacing, periodic: isPeriodic, ...faces, ...cells };
}

/** The faces of the cells of an axis that is not periodic: cells of a periodic one are a spacing wide. */
function edgesOf(
  axis: AxisName,
  edges: AxisClues["edges"],
  isPeriodic: boolean,
  findings: Findings,
): Pick<AxisInput, "edges"> {
  if (edges === null || isPeriodic) return {};
  findings.addReason(`${axis}: the faces of the cells from ${edges.where}.`);
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
export function singleNodeAxis(axis: AxisName, file: AxisClues, { answers }: Contents, findings: Findings): AxisInput {
  const answered = applyAnswers(axis, { ...file, coordinates: null }, answers, findings);
  const isPlaced = answered.origin === null || answered.periodic?.value === true;
  const clues = isPlaced ? answered : placeOrigin(axis, 1, answered, answers, findings);
  const { origin, periodic } = clues;
  if (origin?.where === USER && file.origin !== null && file.origin.value !== origin.value)
    findings.override("origin", `${origin.value}`, `${file.origin.where} (${file.origin.value})`, axis);
  if (periodic === null)
    findings.ask(
      "periodicity",
      "It has one node, and nothing states that the field is constant along it; values are served at that node only, by None.",
      "--periodic AXES if it is constant, or axes.*.periodic in a descriptor",
      axis,
    );
  else findings.addReason(`${axis}: one node${periodicText(periodic)}.`);
  if (origin === null && periodic?.value !== true) askOrigin(axis, clues, findings);
  else if (origin !== null) findings.addReason(`${axis}: origin ${origin.value} from ${origin.where}.`);
  return { nodes: 1, origin: origin?.value ?? 0, spacing: 1, periodic: periodic?.value ?? false };
}

/** Faces of an axis, as an answer or the file says. */
function facesOf(
  axis: AxisName,
  stated: Stated<Ends> | null,
  answers: Answers,
  findings: Findings,
): Pick<AxisInput, "faces"> {
  const { walls: answered } = answers;
  const walls: Stated<Ends> | null = answered === undefined ? stated : { value: answered.includes(axis), where: USER };
  if (walls === null) {
    findings.ask(
      "faces",
      "Nothing states whether there are walls at the ends, which hold particles; through open ends they leave.",
      "--walls AXES (none for none), or axes.*.faces in a descriptor",
      axis,
    );
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

function askOrigin(axis: AxisName, { unordered }: AxisClues, findings: Findings): void {
  findings.ask(
    "origin",
    `${unorderedText(unordered.origin) ?? "The coordinate of the first node is not stated"}; 0 is a guess.`,
    "--origin x,y,z, or axes.*.origin in a descriptor",
    axis,
  );
}

/** Asks if a length and a spacing do not agree: a period has one spacing a node, other boxes perhaps one less. */
function checkLength(axis: AxisName, nodes: number, clues: AxisClues, answers: Answers, findings: Findings): void {
  const { spacing, length, periodic } = clues;
  if (spacing === null || length === null || answers.spacing !== undefined || answers.length !== undefined) return;
  const steps = Math.abs(length.value / spacing.value);
  const fits = (count: number) => Math.abs(steps - count) < COUNT_TOLERANCE;
  if (fits(nodes) || (periodic?.value !== true && fits(nodes - 1))) return;
  findings.contradict(
    "spacing",
    `${spacing.where} is ${spacing.value} and ${length.where} is ${length.value}, which is ${Number(steps.toPrecision(6))} of it for ${nodes} nodes; that the spacing holds is a guess.`,
    `--spacing or --length, or axes.${axis} in a descriptor`,
    axis,
  );
}

function unorderedText(list: Stated<readonly number[]> | null): string | null {
  return list === null
    ? null
    : `${list.where} is ${list.value.join(", ")}, and nothing states whether that is in the order x, y, z or in the stored one`;
}

function spacingOf(axis: AxisName, nodes: number, clues: AxisClues, { cells }: Answers, findings: Findings) {
  const { spacing, length, periodic, unordered } = clues;
  const answer = "--length x,y,z or --spacing x,y,z, or axes.*.spacing in a descriptor";
  if (spacing !== null) {
    findings.addReason(`${axis}: spacing ${spacing.value} from ${spacing.where}${periodicText(periodic)}.`);
    if (periodic === null) askPeriodicity(axis, findings);
    return { spacing: spacing.value, isPeriodic: periodic?.value ?? false };
  }
  if (length !== null) {
    const isPeriodic = periodic?.value ?? true;
    const [whole, inner] = [length.value / nodes, length.value / (nodes - 1)];
    const guess = isPeriodic || cells?.includes(axis) === true ? whole : inner;
    findings.addReason(
      `${axis}: spacing ${guess}, length ${length.value} from ${length.where}${periodicText(periodic)}.`,
    );
    // Beside values at centres, `cells` says which point the origin is, and only cells from a corner fill the length.
    const isOrigin = clues.centres !== null && clues.origin !== null && clues.origin.where !== USER;
    const isStated = cells?.includes(axis) === true || (cells !== undefined && !isOrigin);
    // The user's length is defined; that of a file may be of the cells or of the nodes if the axis is not periodic.
    if (periodic === null || (!isPeriodic && length.where !== USER && !isStated))
      findings.ask(
        "spacing",
        `The length ${length.value} means a spacing of ${whole} between ${nodes} cells, as on a periodic axis, or of ` +
          `${inner} from the first node to the last; ${guess} is a guess.`,
        periodic === null
          ? "--periodic AXES (none for none), or axes.* in a descriptor"
          : `${cells === undefined ? "--cells AXES (none for none), or " : ""}--spacing x,y,z`,
        axis,
      );
    return { spacing: guess, isPeriodic };
  }
  const what = unorderedText(unordered.spacing ?? clues.boxes[0] ?? null) ?? "The distance of the nodes is not stated";
  findings.ask("spacing", `${what}; 1 is a guess.`, answer, axis);
  if (periodic === null) askPeriodicity(axis, findings);
  return { spacing: 1, isPeriodic: periodic?.value ?? false };
}

const periodicText = (periodic: Stated<boolean> | null): string =>
  periodic === null ? "" : `; ${periodic.value ? "periodic" : "not periodic"}, from ${periodic.where}`;

function askPeriodicity(axis: AxisName, findings: Findings): void {
  findings.ask(
    "periodicity",
    "Nothing states whether the field is periodic.",
    "--periodic AXES (none for none), or axes.*.periodic in a descriptor",
    axis,
  );
}

/** Times of the frames: as the user says, else as stated, else the index with a question. */
export function timesOf(
  frames: number,
  stated: Stated<readonly number[]> | null,
  answers: Answers,
  findings: Findings,
): TimeInput {
  const { times } = answers;
  const inUnits = stated?.units ? ` in "${stated.units}"` : "";
  if (times !== undefined) {
    const answered =
      "origin" in times ? Array.from({ length: frames }, (_, k) => times.origin + k * times.step) : times;
    if (answered.length !== frames)
      throw new DataError(`there are ${frames} frames, not the ${answered.length} of --times`);
    findings.addReason(`time: from ${USER}.`);
    if (stated !== null && !isSameTimes(answered, stated))
      findings.override("times", listText(answered), `${stated.where} (${listText(stated.value)}${inUnits})`);
    return describeTimes(answered);
  }
  if (stated?.value.length === frames) {
    const at = stated.value.findIndex((value, index) => index > 0 && value <= (stated.value[index - 1] as number));
    if (at > 0)
      throw new DataError(
        `the times in ${stated.where} do not ascend (${stated.value[at - 1]} is followed by ${stated.value[at]}); frames must be stored from the earliest to the latest`,
      );
    findings.addReason(`time: from ${stated.where}${inUnits}.`);
    return describeTimes(stated.value);
  }
  const wrong = stated === null ? "" : ` (${stated.where} has ${stated.value.length} for ${frames} frames)`;
  if (frames === 1 && stated !== null) {
    findings.contradict(
      "times",
      `${stated.where} has ${stated.value.length} times, but no dimension of the field is that of time; a snapshot at time 0 is a guess.`,
      BY_TIMES,
    );
    return { count: 1, origin: 0 };
  }
  if (frames === 1) {
    findings.ask("snapshot", "The file does not state its time; it is a snapshot at time 0.", BY_TIMES);
    return { count: 1, origin: 0 };
  }
  const text = `The file does not state the times of its ${frames} frames${wrong}, and the index is a guess.`;
  findings.ask("times", text, BY_TIMES);
  return { origin: 0, step: 1, count: frames };
}

function isSameTimes(answered: readonly number[], { value, units = "" }: Stated<readonly number[]>): boolean {
  const [first = 0, last = first] = [answered[0], answered.at(-1)];
  const slack = 1e-6 * Math.abs(last - first || first);
  const isSame = answered.length === value.length && answered.every((time, k) => Math.abs(time - value[k]) <= slack);
  return isSame && (units === "" || factorBetween(units, "s") === 1);
}

const listText = (values: readonly number[]): string =>
  values.slice(0, 3).join(", ") + (values[3] === undefined ? "" : ", ...");

function describeTimes(values: readonly number[]): TimeInput {
  const [origin, second] = values as [number, number | undefined];
  if (second === undefined) return { count: 1, origin };
  const step = (values[values.length - 1] - origin) / (values.length - 1);
  const even = values.every((value, index) => Math.abs(value - origin - index * step) <= 1e-6 * step);
  return even ? { origin, step, count: values.length } : { values: [...values] };
}
