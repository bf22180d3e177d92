/** Times of the frames, by a table, an attribute, or the names of groups; in the unit of length over velocity. */
import { DataError } from "../../shared/errors.js";
import type { DescriptorInput } from "../dataset/descriptor.js";
import { type AxisTables, agree } from "./axes.js";
import { unitAt } from "./component-units.js";
import { datedUnitOf } from "./dated-unit.js";
import { type CoordinateTable, parentOf, StatedNumbers } from "./evidence.js";
import type { FoundFields } from "./fields.js";
import { type StatedNumber, timesOf } from "./grid.js";
import { BY_TIMES, type Contents } from "./layout.js";
import { framesIn, type OrientedDataset, type SharedEvidence } from "./order.js";
import { factorBetween } from "./units.js";

/** Attributes of a file that name the unit of its times. */
const TIME_UNITS = ["time_units", "time_unit", "units_time", "unit_time"];
/** Units of time that velocities are not stated in, so that times in them need a question. */
const FOREIGN_TIMES = /^\s*([mun]s\b|msec|(milli|micro|nano)sec|min|hour|hr|day|week|month|year|yr|h\b|d\b)/i;

export function framesOf(field: OrientedDataset, { steps }: FoundFields): number {
  const frames = framesIn(field);
  if (steps !== null && frames > 1)
    throw new DataError(`${field.path} holds ${frames} times in a group that means one time`);
  return steps === null ? frames : steps.length;
}

const TIME_NAMES = [
  ...["time", "t", "times", "time_value", "sim_time", "simtime", "simulation_time", "simulationtime"],
  ...["physical_time", "current_time", "solution_time", "flow_time"],
];

/** Times of the frames: from a table, else an attribute, else the frame number. */
export function timeOf(
  shared: SharedEvidence,
  field: OrientedDataset,
  fields: FoundFields,
  frames: number,
): DescriptorInput["time"] {
  const { contents, tables, facts, findings } = shared;
  const { answers } = contents;
  const step = facts.peek(["dt", "time_step", "timestep", "delta_t"]);
  if (fields.steps !== null && answers.times === undefined) {
    const stated = timesOfSteps(contents, fields, field.path) ?? tableOfTimes(shared, frames);
    if (stated !== null) return timesOf(frames, stated, step, answers, findings);
    findings.ask(
      "times",
      `The times of the ${frames} steps are not stated; the numbers in their names (${fields.steps.slice(0, 3).join(", ")}, ...) are a guess.`,
      BY_TIMES,
    );
    return timesOf(
      frames,
      { value: fields.steps.map(Number), where: "the names of the steps" },
      null,
      answers,
      findings,
    );
  }
  const attached = field.labels.tables[field.dimensions.indexOf("t")];
  const table =
    attached?.role === "t" ? attached : tables.find(({ role, length }) => role === "t" && length === frames);
  const number = table === undefined ? facts.numbers(TIME_NAMES) : null;
  const used = table ?? (number === null ? tables.find(({ role }) => role === "t") : undefined);
  const stated = used === undefined ? number : timesIn(shared, used);
  const unread = stated === null && frames === 1 && answers.times === undefined ? facts.unread(TIME_NAMES) : null;
  if (unread !== null) {
    findings.ask("times", `${unread}, which is not read as a time; a snapshot at time 0 is a guess.`, BY_TIMES);
    return { count: 1, origin: 0 };
  }
  askTimes(shared, stated, frames);
  return timesOf(frames, stated, step, answers, findings);
}

function askTimes(
  { contents, tables, facts, findings }: SharedEvidence,
  stated: StatedNumber<readonly number[]> | null,
  frames: number,
): void {
  if (stated === null || stated.value.length !== frames || contents.answers.times !== undefined) return;
  const other = tables.find(
    ({ role, path, length }) =>
      role === "t" &&
      path !== stated.where &&
      (length !== frames || !agree(contents.numbers(path), Float64Array.from(stated.value))),
  );
  const places = frames === 1 ? facts.contradiction(TIME_NAMES) : null;
  if (other === undefined && places === null) return;
  const text =
    places ??
    (other?.length === frames
      ? `${stated.where} and ${other.path} have other times for the ${frames} frames`
      : `${stated.where} has ${frames} and ${other?.path} has ${other?.length} times`);
  findings.contradict("times", `${text}; that ${stated.where} holds is a guess.`, BY_TIMES);
}

function tableOfTimes(shared: SharedEvidence, frames: number): StatedNumber<readonly number[]> | null {
  const table = shared.tables.find(({ role, length }) => role === "t" && length === frames);
  return table === undefined ? null : timesIn(shared, table);
}

/** Times in the unit of length over velocity, if all three units are known; a question if they are not in seconds. */
function timesIn(
  { contents, facts, findings, second }: SharedEvidence,
  { path }: CoordinateTable,
): StatedNumber<readonly number[]> {
  const units = contents.words(path, "units") || (facts.text(TIME_UNITS)?.value ?? "");
  const since = datedUnitOf(units, contents.words(path, "calendar"));
  const unit = since?.unit ?? units;
  const value = [...contents.numbers(path)];
  findings.timeTable = path;
  contents.use(path);
  findings.dated = since;
  if (contents.answers.times !== undefined) return { value, where: path };
  const inSeconds = factorBetween(unit, "s");
  const factor = second === null ? null : inSeconds;
  if (factor !== null && second !== null && Math.abs(factor * second - 1) > 1e-9) {
    findings.convert(
      `${path} counts in "${unit}" and is multiplied by ${Number((factor * second).toPrecision(9))}, into the unit of length over velocity.`,
    );
    if (since !== null) findings.dated = { ...since, seconds: 1 / second };
    return { value: value.map((time) => time * factor * second), where: path };
  }
  // If the unit of the velocity is known, any other text is not a unit of its times.
  const isUnknown = second !== null && inSeconds === null && unit.trim() !== "";
  if (isUnknown || (factor === null && FOREIGN_TIMES.test(unit)))
    findings.contradict(
      "times",
      `${path} counts in "${unit}", which is served as it is: particles need times in the unit of the velocity.`,
      BY_TIMES,
    );
  return { value, where: path };
}

/** One second in the time unit implied by coordinates and velocity (length over velocity); null if one is unknown. */
export function secondInFieldTime(contents: Contents, { path }: OrientedDataset, tables: AxisTables): number | null {
  const { answers } = contents;
  const isAnswered = answers.spacing !== undefined || answers.length !== undefined;
  const lengths = [...tables.values()].map((table) => contents.words(table.path, "units").trim());
  const [length = ""] = lengths;
  const factor = factorBetween(unitAt(contents, path), `${length} s-1`);
  return isAnswered || length === "" || lengths.some((other) => other !== length) ? null : factor;
}

/** The time that every group of a series states, in an attribute or a dataset of one number. */
function timesOfSteps(
  contents: Contents,
  { steps, place }: FoundFields,
  path: string,
): StatedNumber<readonly number[]> | null {
  const values = (steps ?? []).map((step) => timeAt(contents, place(path).replace("{step}", step)));
  const known = values.filter((value) => value !== null);
  if (known.length < values.length || known.some((value, index) => index > 0 && value <= known[index - 1])) return null;
  return { value: known, where: "each step" };
}

function timeAt(contents: Contents, path: string): number | null {
  return new StatedNumbers(contents, [path, parentOf(path)]).number(TIME_NAMES)?.value ?? null;
}

export function byTime(contents: Contents, fields: FoundFields): FoundFields {
  const { steps, place } = fields;
  const lead = fields.velocity[0] ?? fields.pressure ?? fields.others[0]?.paths[0];
  if (steps === null || lead === undefined) return fields;
  const timed = steps.map((step) => ({ step, time: timeAt(contents, place(lead).replace("{step}", step)) }));
  if (timed.some(({ time }) => time === null)) return fields;
  return { ...fields, steps: timed.sort((a, b) => (a.time as number) - (b.time as number)).map(({ step }) => step) };
}
