/** Times of the frames, by a table, an attribute, or the names of groups; in the unit of length over velocity. */
import { DataError } from "../../shared/errors.js";
import { AXIS_NAMES } from "../dataset/dataset.js";
import type { DescriptorInput } from "../dataset/descriptor.js";
import { factorBetween, TIMES, unitOf } from "../dataset/units.js";
import { type AxisTables, areEqual, unitsOfLength } from "./axes.js";
import { unitAt } from "./component-units.js";
import { datedUnitOf } from "./dated-unit.js";
import { type CoordinateTable, parentOf } from "./evidence.js";
import type { FoundFields } from "./fields.js";
import { timesOf } from "./frame-times.js";
import type { Stated } from "./grid.js";
import { type Contents, TIMES_ANSWER } from "./layout.js";
import { framesIn, nodesAlong, type OrientedDataset, type SharedEvidence } from "./order.js";
import { StatedNumbers } from "./stated-numbers.js";

/** Texts that name no known unit, but a time that velocities are not stated in. */
const FOREIGN_TIMES = /^\s*([mun]s\b|week|month|[kmg]?yrs?\b|year|d\b)/i;

export function framesOf(field: OrientedDataset, { steps }: FoundFields): number {
  const frames = framesIn(field);
  if (steps !== null && frames > 1)
    throw new DataError(`${field.path} holds ${frames} times in a group that means one time`);
  return steps === null ? frames : steps.length;
}

/** Names by which files state a time or several. */
export const TIME_NAMES = [
  ...["time", "t", "times", "time_value", "sim_time", "simtime", "simulation_time", "simulationtime"],
  ...["physical_time", "current_time", "solution_time", "flow_time"],
];

export function timeOf(
  shared: SharedEvidence,
  field: OrientedDataset,
  fields: FoundFields,
  frames: number,
): DescriptorInput["time"] {
  const { contents, tables, facts, findings } = shared;
  const { answers } = contents;
  const listed = tables.find(({ role, length }) => role === "t" && length === frames);
  if (fields.steps !== null) {
    const ofTable = () => (listed === undefined ? null : timesOfTable(shared, listed));
    const stated = timesOfSteps(shared, fields, field.path) ?? ofTable();
    if (stated !== null || answers.times !== undefined) return timesOf(frames, stated, answers, findings);
    const names = fields.steps.slice(0, 3).join(", ");
    const question = `The times of the ${frames} steps are not stated; the numbers in their names (${names}, ...) are a guess.`;
    findings.ask("times", question, TIMES_ANSWER);
    const value = fields.steps.map(Number);
    return timesOf(frames, { value, where: "the names of the steps" }, answers, findings);
  }
  const attached = field.labels.tables[field.dimensions.indexOf("t")];
  const table = attached?.role === "t" ? attached : listed;
  const number = table === undefined ? facts.numbers(TIME_NAMES) : null;
  const used = table ?? (number === null ? tables.find(({ role }) => role === "t") : undefined);
  const stated = used === undefined ? number && convertTimes(shared, number) : timesOfTable(shared, used);
  const unread = stated === null && frames === 1 && answers.times === undefined ? facts.unreadText(TIME_NAMES) : null;
  if (unread !== null) {
    findings.ask("times", `${unread}, which is not read as a time; a snapshot at time 0 is a guess.`, TIMES_ANSWER);
    return { count: 1, origin: 0 };
  }
  const times = timesOf(frames, stated, answers, findings);
  checkTimes(shared, stated, frames);
  return times;
}

/** Contradicts another table of times, or another time of a single frame. */
function checkTimes(
  { contents, tables, facts, findings }: SharedEvidence,
  stated: Stated<readonly number[]> | null,
  frames: number,
): void {
  if (stated === null || stated.value.length !== frames) return;
  const isOther = ({ path, length }: CoordinateTable) =>
    length !== frames || !areEqual(contents.numbers(path), Float64Array.from(stated.value));
  const other = tables.find((table) => table.role === "t" && table.path !== stated.where && isOther(table));
  const places = frames === 1 ? facts.contradiction(TIME_NAMES) : null;
  if (other === undefined && places === null) return;
  const text =
    places ??
    (other?.length === frames
      ? `${stated.where} and ${other.path} have other times for the ${frames} frames`
      : `${stated.where} has ${frames} and ${other?.path} has ${other?.length} times`);
  const isAnswered = contents.answers.times !== undefined;
  findings.contradict("times", `${text}; that ${stated.where} holds is a guess.`, TIMES_ANSWER, undefined, isAnswered);
}

function timesOfTable(shared: SharedEvidence, { path }: CoordinateTable): Stated<readonly number[]> {
  const { contents, facts, findings } = shared;
  findings.timeTable = path;
  contents.use(path);
  const calendar = contents.words(path, "calendar");
  const stated = { value: [...contents.numbers(path)], where: path, units: facts.unitsAt(path) };
  return convertTimes(shared, stated, calendar);
}

/** Times in the unit of length over velocity if all units are known; else as stated, contradicted if theirs is another. */
function convertTimes(
  { contents, facts, findings, second, isInUnits }: SharedEvidence,
  { value, where, units: stated }: Stated<readonly number[]>,
  calendar = "",
): Stated<readonly number[]> {
  const units = stated || (facts.units(["time", "times", "t"])?.units ?? "");
  const since = datedUnitOf(units, calendar || (facts.text(["calendar", "time_calendar"])?.value ?? ""));
  const unit = since?.unit ?? units;
  findings.dated = since;
  const isAnswered = contents.answers.times !== undefined;
  const inSeconds = factorBetween(unit, "s");
  if (inSeconds !== null && second !== null) {
    const factor = inSeconds * second;
    findings.timeUnit = TIMES.find((one) => Math.abs(second * (factorBetween(one, "s") as number) - 1) <= 1e-9) ?? "";
    if (Math.abs(factor - 1) <= 1e-9) return { value, where };
    const digits = Number(factor.toPrecision(9));
    const text = `${where} counts in "${unit}" and is multiplied by ${digits}, into the unit of length over velocity.`;
    if (!isAnswered) findings.convert(text);
    if (since !== null) findings.dated = { ...since, seconds: 1 / second };
    return { value: value.map((time) => time * factor), where };
  }
  const isOther = inSeconds === null ? unit !== "" && (isInUnits || FOREIGN_TIMES.test(unit)) : inSeconds !== 1;
  const claim = `${where} counts in "${unit}", which is served as it is: particles need times in the unit of the velocity.`;
  if (isOther && !isAnswered) findings.contradict("times", claim, TIMES_ANSWER);
  if (!isOther && !isAnswered) findings.timeUnit = unit;
  return { value, where, units: unit };
}

/** A second in the unit of length over velocity, null if that is open; whether any unit is known; that of lengths. */
export function unitsOfTime(shared: SharedEvidence, field: OrientedDataset, tables: AxisTables) {
  const { spacing, length } = shared.contents.answers;
  const lengths = unitsOfLength(shared, field, tables);
  const speed = unitAt(shared.contents, field.path);
  const isInUnits = [speed, ...lengths.map(({ units }) => units)].some((unit) => unit !== "" && unitOf(unit) !== null);
  const axes = new Set(lengths.map(({ axis }) => axis));
  const isWhole = AXIS_NAMES.every((axis) => nodesAlong(field, axis) === 1 || axes.has(axis));
  const [unit, other] = new Set(lengths.map(({ units }) => units));
  const isOpen = (spacing ?? length ?? other) !== undefined || !isWhole;
  return { second: isOpen ? null : factorBetween(speed, `${unit} s-1`), isInUnits, length: isOpen ? undefined : unit };
}

/** The time that every group of a series states, in an attribute or a dataset of one number. */
function timesOfSteps(
  shared: SharedEvidence,
  { steps, place }: FoundFields,
  path: string,
): Stated<readonly number[]> | null {
  const paths = (steps ?? []).map((step) => place(path).replace("{step}", step));
  const stated = paths.flatMap((pathInStep) => timeOfStep(shared.contents, pathInStep) ?? []);
  const value = stated.map((time) => time.value);
  const [units = "", other] = new Set(stated.map((time) => time.units ?? ""));
  const isOpen = stated.length < paths.length || other !== undefined;
  if (isOpen || value.some((time, index) => index > 0 && time <= value[index - 1])) return null;
  return convertTimes(shared, { value, where: "each step", units });
}

function timeOfStep(contents: Contents, path: string): Stated | null {
  return new StatedNumbers(contents, [path, parentOf(path)]).number(TIME_NAMES);
}

/** The fields with their steps in the order of the times that each step states, if all state one. */
export function sortStepsByTime(contents: Contents, fields: FoundFields): FoundFields {
  const { steps, place } = fields;
  const lead = fields.velocity[0] ?? fields.pressure ?? fields.others[0]?.paths[0];
  if (steps === null || lead === undefined) return fields;
  const times = new Map(steps.map((step) => [step, timeOfStep(contents, place(lead).replace("{step}", step))?.value]));
  if ([...times.values()].includes(undefined)) return fields;
  return { ...fields, steps: steps.toSorted((a, b) => (times.get(a) as number) - (times.get(b) as number)) };
}
