/** Axes of a grid from coordinate tables and stated numbers; contradictions become questions. */
import { DataError } from "../../shared/errors.js";
import { AXIS_NAMES, type AxisName } from "../dataset/dataset.js";
import type { DescriptorInput } from "../dataset/descriptor.js";
import { contradictionOf, factorBetween, isNoVelocity, unitOf } from "../dataset/units.js";
import { unitAt } from "./component-units.js";
import { type CoordinateTable, curvedMeshIn, groupsAround, join, parentOf, tableNodes } from "./evidence.js";
import type { FoundFields } from "./fields.js";
import { type AxisClues, axisOf, checkStatedNumbers, edgesWithin, NO_CLUES, singleNodeAxis } from "./grid.js";
import { type Contents, type Findings, LENGTHS_ANSWER } from "./layout.js";
import { framesIn, nodesAlong, type OrientedDataset, type SharedEvidence } from "./order.js";
import { refuseParametric } from "./stated-names.js";
import { StatedNumbers } from "./stated-numbers.js";

/** Units and names of coordinates that are angles or numbers of levels; a unit of length goes before a name. */
const NO_UNITS = /degree|radian|\barc|°|^\s*(deg|g?rad|gon)\s*$|^\s*((sigma|model)[_ -]?)?(level|layer)s?\s*$/i;
const NO_LENGTHS = /^(grid_|r)?(lon|lat)(gitude|itude|s)?s?(_|$)|^(model_)?(lev(el)?|layer)s?(_|$)|^air_pressure$/i;

/** Names of texts that say which coordinates a grid has, and words for those that are not along x, y and z. */
const SYSTEMS = /geom|coord|grid(?!_mapping)|mesh|system|topology/i;
const CURVED = /cylindrical|spherical|\bpolar\b|curvilinear|toroid/i;

/** Contradicts texts, in attributes and small datasets, by which the coordinates are not along x, y and z. */
function checkSystem(contents: Contents, places: readonly string[], findings: Findings): void {
  const stated = places.flatMap((place) => {
    const names = [...contents.attributes(place).keys()].filter((name) => SYSTEMS.test(name));
    const texts = contents.datasets(place).filter((name) => SYSTEMS.test(name));
    return [
      ...names.map((name) => [`${place}@${name}`, contents.words(place, name)]),
      ...texts.map((name) => [join(place, name), contents.textsIn(join(place, name))?.join(" ") ?? ""]),
    ];
  });
  for (const [where, text = ""] of stated) {
    const claim = `${where} is "${text}"; that the coordinates are lengths along x, y and z is a guess.`;
    const answer = "values on nodes along x, y and z, or --despite spacing";
    if (CURVED.test(text)) findings.contradict("spacing", claim, answer);
  }
}

/** @throws DataError if a step has other coordinates than the first */
export function requireSameTables(
  contents: Contents,
  { steps, place }: FoundFields,
  path: string,
  tables: readonly CoordinateTable[],
): void {
  const group = parentOf(path);
  for (const table of tables.filter(({ role }) => role !== "t")) {
    const [, holder = table.path, attribute] =
      contents.dataset(table.path) === null ? (/^(.*)@(.*)$/.exec(table.path) ?? []) : [];
    for (const step of steps ?? []) {
      const inStep = (holder: string) => place(holder).replace("{step}", step);
      const isBelow = holder.startsWith(`${group}/`);
      const holderInStep =
        attribute === undefined && isBelow ? `${parentOf(inStep(path))}${holder.slice(group.length)}` : inStep(holder);
      const isThere =
        attribute === undefined
          ? isBelow && contents.dataset(holderInStep) !== null
          : contents.attributes(holderInStep).has(attribute);
      const tableInStep = attribute === undefined ? holderInStep : `${holderInStep}@${attribute}`;
      if (isThere && contents.numbers(table.path).join() !== contents.numbers(tableInStep).join())
        throw new DataError(`${tableInStep} differs from ${table.path}: all steps must have the same coordinates`);
    }
  }
}

const axesIn = ({ dimensions }: OrientedDataset): AxisName[] =>
  dimensions.filter((role): role is AxisName => (AXIS_NAMES as readonly string[]).includes(role));

/** Contradicts the first group of a later time that states another grid: the grid of the first time is served. */
export function checkSteps(shared: SharedEvidence, fields: FoundFields, lead: string, field: OrientedDataset): void {
  const { contents, facts, findings } = shared;
  const { steps, place } = fields;
  const storedOrder = axesIn(field);
  const cluesText = (numbers: StatedNumbers) =>
    AXIS_NAMES.map((axis) => {
      const clues = numbers.clues(axis, storedOrder);
      // Paths differ from step to step, also in the texts of contradictions.
      const values = { ...clues, contradictions: clues.contradictions.length };
      return JSON.stringify(values, (key, value) => (key === "where" ? undefined : value));
    });
  const first = steps === null ? [] : cluesText(facts);
  for (const step of steps ?? []) {
    const path = place(lead).replace("{step}", step);
    const texts = cluesText(new StatedNumbers(contents, [path, ...groupsAround(contents, parentOf(path))]));
    const axes = AXIS_NAMES.filter((_, component) => texts[component] !== first[component]);
    const claim = `What is stated of the grid at ${path} is not what is stated at ${lead}; that all times have the same grid is a guess.`;
    const answer = "--spacing and --origin, the same statements at all times, or a descriptor without this question";
    for (const axis of axes) findings.contradict("spacing", claim, answer, axis, areNodesAnswered(contents));
    if (axes.length > 0) return;
  }
}

/** Whether an answer gives the distances of the nodes, whatever the file states. */
const areNodesAnswered = ({ answers }: Contents): boolean => (answers.spacing ?? answers.length) !== undefined;

export type AxisTables = ReadonlyMap<AxisName, CoordinateTable>;

/** Tables that may hold the coordinates of an axis, best first: attached to its dimension, else by name and length. */
export function candidateTables(
  { contents: { answers }, tables }: SharedEvidence,
  field: OrientedDataset,
  axis: AxisName,
): CoordinateTable[] {
  const at = field.dimensions.indexOf(axis);
  const answered = answers.coordinates?.get(axis);
  if (answered !== undefined) return tables.filter(({ path }) => path === answered);
  const attached = field.labels.tables[at];
  if (attached !== null && attached !== undefined && attached.role === axis) return [attached];
  const nodes = nodesAlong(field, axis);
  const fitting = tables.filter(({ role, length, along, isEdges }) => {
    if (role !== axis) return false;
    return length === (isEdges ? nodes + 1 : nodes) && (along === null || length === nodes);
  });
  const centres = fitting.filter(({ isEdges }) => !isEdges);
  return centres.length > 0 ? centres : fitting;
}

/** Chooses a table of coordinates for each axis; asks where others differ from it or none fits. */
export function chooseTables(shared: SharedEvidence, field: OrientedDataset, findings: Findings): AxisTables {
  const { contents, tables } = shared;
  const chosen = new Map<AxisName, CoordinateTable>();
  for (const axis of AXIS_NAMES) {
    const [best, ...others] = candidateTables(shared, field, axis);
    if (best === undefined) {
      const edges = edgeTable(shared, field, axis, findings);
      if (edges !== null) chosen.set(axis, edges);
      continue;
    }
    chosen.set(axis, best);
    const nodes = nodesAlong(field, axis);
    // A periodic axis has as many faces as nodes, so that a list of faces may be one of nodes.
    const faces = tables.filter((table) => table.role === axis && table.along === null && table.isEdges);
    const possible = isTableGiven(shared, field, axis) ? [] : faces.filter(({ length }) => length === nodes);
    const rivals = [...others, ...possible.map((table) => ({ ...table, isEdges: false }))];
    const different = rivals.find((other) => !areEqual(tableNodes(contents, best), tableNodes(contents, other)));
    if (different === undefined) continue;
    const claim = `${best.path} and ${different.path} both have a coordinate for each node along ${axis} and differ; ${best.path} is a guess.`;
    findings.contradict("spacing", claim, `--coordinates ${axis}=${best.path}, or axes.${axis} in a descriptor`);
  }
  return chosen;
}

/** Whether the file attaches a table to the dimension of an axis, or the user names one. */
const isTableGiven = ({ contents }: SharedEvidence, { labels, dimensions }: OrientedDataset, axis: AxisName): boolean =>
  (labels.tables[dimensions.indexOf(axis)] ?? contents.answers.coordinates?.get(axis)) !== undefined;

/** The table with one number more than nodes as edges of cells, with a question; contradicts tables that do not fit. */
function edgeTable({ contents, tables }: SharedEvidence, field: OrientedDataset, axis: AxisName, findings: Findings) {
  const nodes = nodesAlong(field, axis);
  const longer = tables.find(({ role, length, along }) => role === axis && along === null && length === nodes + 1);
  if (longer === undefined) {
    const unfit = tables.filter(({ role }) => role === axis).map(({ path, length }) => `${path} (${length} numbers)`);
    const claim = `${unfit.join(", ")} does not fit the ${nodes} nodes along ${axis} and is not used.`;
    const answer = `--length or --spacing and --origin, or axes.${axis} in a descriptor`;
    if (unfit.length > 0) findings.contradict("spacing", claim, answer);
    return null;
  }
  const claim = `${longer.path} has ${nodes + 1} numbers for ${nodes} nodes along ${axis}; that they are edges of cells and the nodes their centres is a guess.`;
  const isAnswered = areNodesAnswered(contents) || contents.answers.cells?.includes(axis) === true;
  if (!isAnswered) findings.ask("spacing", claim, "--cells AXES, or --spacing and --origin");
  return { ...longer, isEdges: true };
}

/** Whether two lists of coordinates or times are equal but for rounding. */
export function areEqual(a: Float64Array, b: Float64Array): boolean {
  const span = Math.abs(a[a.length - 1] - a[0]);
  return a.length === b.length && a.every((value, index) => Math.abs(value - b[index]) <= 1e-6 * span);
}

/** Whether two datasets lie on the same nodes at the same number of times. */
export function isSameGrid(shared: SharedEvidence, a: OrientedDataset, b: OrientedDataset): boolean {
  const { contents } = shared;
  if (framesIn(a) !== framesIn(b)) return false;
  return AXIS_NAMES.every((axis) => {
    if (nodesAlong(a, axis) !== nodesAlong(b, axis)) return false;
    if (contents.answers.spacing !== undefined) return true;
    const [first] = candidateTables(shared, a, axis);
    const [second] = candidateTables(shared, b, axis);
    const [name, other] = [a, b].map(({ labels, dimensions }) => labels.names[dimensions.indexOf(axis)]?.toLowerCase());
    const isOther = name !== undefined && other !== undefined && name !== other;
    if (first === undefined || second === undefined || (first.path === second.path && isOther)) return !isOther;
    return first.path === second.path || areEqual(tableNodes(contents, first), tableNodes(contents, second));
  });
}

/** The axes of a descriptor for a field, by its tables or by stated numbers. */
export function axesOf(shared: SharedEvidence, field: OrientedDataset, tables: AxisTables): DescriptorInput["axes"] {
  const { contents, facts, findings } = shared;
  const storedOrder = axesIn(field);
  checkSystem(contents, [field.path, ...groupsAround(contents, parentOf(field.path))], findings);
  const axes = AXIS_NAMES.map((axis) => {
    const nodes = nodesAlong(field, axis);
    const clues = facts.clues(axis, storedOrder);
    const table = tables.get(axis);
    if (table !== undefined) checkIsLength(shared, table, axis);
    if (nodes === 1) {
      const [place] = table === undefined || table.isEdges ? [] : tableNodes(contents, table);
      const origin = place === undefined ? clues.origin : { value: place, where: table?.path as string };
      const centres = place === undefined ? clues.centres : null;
      return [axis, singleNodeAxis({ axis, fileClues: { ...clues, origin, centres }, contents, findings })];
    }
    if (table === undefined) {
      askCurved(contents, field, axis, findings);
      return [axis, axisOf({ axis, nodes, fileClues: clues, contents, findings })];
    }
    const where = table.isEdges ? `${table.path}, the middles of its cells` : table.path;
    const isPlain = table.along === null && !table.isEdges && contents.dataset(table.path) !== null;
    const value = isPlain ? { file: contents.name, path: table.path } : [...tableNodes(contents, table)];
    const isAnswered = areNodesAnswered(contents) || contents.answers.origin !== undefined;
    if (!isAnswered) checkStatedNumbers(axis, tableNodes(contents, table), where, clues, findings);
    if (!isAnswered && contents.answers.coordinates?.has(axis))
      findings.addReason(`${axis}: ${where}, from your answer.`);
    const atTable = new StatedNumbers(contents, [table.path]).clues(axis, storedOrder).periodic;
    const periodic = clues.periodic ?? atTable;
    const contradictions = [...clues.contradictions];
    if (atTable !== null && atTable.value !== periodic?.value)
      contradictions.push(`${atTable.where} and ${periodic?.where} differ on whether ${axis} is periodic`);
    const edges = cellFacesOf(shared, table, clues, axis);
    const { walls } = clues;
    const tableClues = { ...NO_CLUES, coordinates: { value, where }, periodic, walls, edges, contradictions };
    return [axis, axisOf({ axis, nodes, fileClues: tableClues, contents, findings })];
  });
  checkUnits(shared, field, tables);
  return Object.fromEntries(axes) as DescriptorInput["axes"];
}

/** The faces of the cells around coordinates: a table of edges, CF's `bounds`, or the ends of the box. */
function cellFacesOf(
  shared: SharedEvidence,
  table: CoordinateTable,
  clues: AxisClues,
  axis: AxisName,
): AxisClues["edges"] {
  const { contents, tables, findings } = shared;
  const { path, along, isEdges } = table;
  const place = { file: contents.name, path };
  if (isEdges) return { value: contents.dataset(path) === null ? [...contents.numbers(path)] : place, where: path };
  const nodes = tableNodes(contents, table);
  const name = contents.attribute(path, "bounds");
  const bounds = typeof name === "string" ? join(parentOf(path), name) : path;
  const [length, ends] = contents.dataset(bounds)?.shape ?? [];
  if (bounds === path || along !== null || length !== nodes.length || ends !== 2) {
    const beside = tables.filter((one) => one.role === axis && one.isEdges && one.length === nodes.length + 1);
    const isIn = (edges: Float64Array) => nodes.every((at, i) => (at - edges[i]) * (edges[i + 1] - at) >= 0);
    const around = beside.find((one) => isIn(contents.numbers(one.path)));
    if (around !== undefined) return cellFacesOf(shared, around, clues, axis);
    const isGiven = contents.answers.coordinates?.has(axis);
    for (const { path: other } of beside) {
      const claim = `the nodes in ${path} are not between the edges of cells in ${other}; that ${path} holds is a guess.`;
      findings.contradict("spacing", claim, `--coordinates ${axis}=${path} or ${other}`, axis, isGiven);
    }
    return edgesWithin([nodes[0], nodes[nodes.length - 1]], nodes.length, clues.limits);
  }
  const faces = facesOfBounds(contents.numbers(bounds));
  if (faces === null) findings.addWarning(`${bounds} is not used: its cells along ${axis} do not follow each other.`);
  return faces === null ? null : { value: faces, where: `${bounds}, the bounds of ${path}` };
}

/** The faces of n cells from 2 n bounds, cell after cell; null if the cells leave gaps or overlap. Source: CF 7.1. */
function facesOfBounds(bounds: Float64Array): number[] | null {
  const cells = bounds.length / 2;
  const slack = Math.abs(bounds[bounds.length - 1] - bounds[0]) * 1e-6;
  // The two ends of a descending cell are in either order.
  for (const first of [0, 1]) {
    const gaps = Array.from({ length: cells - 1 }, (_, i) => bounds[2 * i + 1 - first] - bounds[2 * i + 2 + first]);
    if (gaps.every((gap) => Math.abs(gap) <= slack))
      return [...Array.from({ length: cells }, (_, i) => bounds[2 * i + first]), bounds[2 * cells - 1 - first]];
  }
  return null;
}

function askCurved(contents: Contents, { path, shape }: OrientedDataset, axis: AxisName, findings: Findings): void {
  const mesh = curvedMeshIn(contents, groupsAround(contents, parentOf(path)), axis, shape);
  if (mesh === null) return;
  const curved = `${mesh} varies along more than one dimension, so the mesh is curved`;
  const answer = "values on such nodes, or --spacing and --origin if these coordinates do not hold";
  if (areNodesAnswered(contents)) findings.contradict("spacing", `${curved}; the answer holds.`, answer, axis, true);
  else findings.ask("spacing", `${curved}; only nodes on lines along x, y and z are served.`, answer, axis);
}

/** Refuses axes of no length unless an answer gives the nodes, which is named. @throws DataError */
function refuseAxis(claim: string, axis: AxisName, { contents, findings }: SharedEvidence): void {
  if (!areNodesAnswered(contents))
    throw new DataError(`${claim}: interpolate to nodes in lengths, or state them (--spacing and --origin)`);
  findings.contradict("spacing", `${claim}; that it is one along ${axis} is a guess.`, LENGTHS_ANSWER, axis, true);
}

/** Refuses coordinates that are no lengths by a standard name or a unit of 1; contradicts those that are none by name. */
function checkIsLength(shared: SharedEvidence, { path }: CoordinateTable, axis: AxisName): void {
  const { contents, facts, findings } = shared;
  refuseParametric(contents, path);
  const [name = "", units] = [path.split(/[/@]/).at(-1), facts.unitsAt(path)];
  const nonLength = [contents.words(path, "standard_name"), units && name].find((text) => NO_LENGTHS.test(text));
  if (units !== "" && units !== "1") return;
  const claim = `${path} has no units, and ${name} is no length by its name; that it is one along ${axis} is a guess.`;
  if (nonLength !== undefined) refuseAxis(`${path} is the ${nonLength}, which is no length`, axis, shared);
  else if (NO_LENGTHS.test(name))
    findings.contradict("spacing", claim, LENGTHS_ANSWER, undefined, areNodesAnswered(contents));
}

const LENGTHS = "length space spatial distance coordinate coordinates coord coords grid mesh".split(" ");

/** Units that the file states of the places of its nodes: of coordinates, of other numbers, or of all lengths. */
export function unitsOfLength({ facts }: SharedEvidence, field: OrientedDataset, tables: AxisTables) {
  const everywhere = facts.units(LENGTHS);
  return AXIS_NAMES.flatMap((axis) => {
    const { spacing, length, origin, limits, unordered, boxes } = facts.clues(axis, axesIn(field));
    const where = tables.get(axis)?.path;
    const table = where === undefined ? null : { units: facts.unitsAt(where), where };
    const numbers = [spacing, length, origin, limits.lower, limits.upper, ...Object.values(unordered), ...boxes];
    return [table, ...numbers, facts.units([axis]), everywhere].flatMap((stated) =>
      stated?.units ? [{ axis, units: stated.units, where: stated.where }] : [],
    );
  });
}

/**
 * Contradicts lengths in several units, in an unknown unit, or in another unit than the length of the velocity:
 * derivatives could not be combined, and particles would move too far.
 */
function checkUnits(shared: SharedEvidence, field: OrientedDataset, tables: AxisTables): void {
  const { contents, findings } = shared;
  const isAnswered = areNodesAnswered(contents);
  const speed = unitAt(contents, field.path);
  const isKnown = (units: string) => unitOf(units) !== null;
  const stated = unitsOfLength(shared, field, tables);
  const isAnyKnown = (units: string) => isKnown(units) || (speed !== "" && isKnown(speed));
  const isOther = (units: string) => isAnyKnown(units) && factorBetween(units, "m") === null;
  const others = stated.filter(({ units }) => NO_UNITS.test(units) || isOther(units));
  for (const { axis, units, where } of others) {
    const claim = `${where} is in ${units}, which is no length`;
    const isRefused = NO_UNITS.test(units) || unitOf(units)?.powers === unitOf("Pa")?.powers;
    const question = `${claim}; derivatives along ${axis} would be in another unit.`;
    if (isRefused) refuseAxis(claim, axis, shared);
    else findings.contradict("spacing", question, LENGTHS_ANSWER, axis, isAnswered);
  }
  const [first] = stated;
  if (first === undefined || others.length > 0) return;
  const isMixed = stated.some(({ units }) => contradictionOf(first.units, units));
  const isFar = speed !== "" && isKnown(first.units) && isNoVelocity(speed, first.units);
  if (!isMixed && !isFar && !isAnswered) findings.addReason(`lengths: in "${first.units}", by ${first.where}.`);
  if (!isMixed && !isFar) return;
  const places = [...new Set(stated.map(({ axis, units }) => `${units} along ${axis}`))].join(", ");
  const effect = isMixed
    ? "; they are served as they are, so that derivatives are in several units"
    : ` and ${field.path} in ${speed}; they are served as they are, which only times in ${first.units}/(${speed}) fit`;
  findings.contradict("spacing", `The coordinates are in ${places}${effect}.`, LENGTHS_ANSWER, undefined, isAnswered);
}
