/** openPMD meshes: one group per iteration, with labels, spacing, offset and units in attributes. */
import { DataError } from "../../shared/errors.js";
import { AXIS_NAMES, type AxisName } from "../dataset/dataset.js";
import type { DescriptorInput } from "../dataset/descriptor.js";
import { join } from "./evidence.js";
import type { Stated } from "./grid.js";
import { type Contents, type Findings, frameLabels } from "./layout.js";
import type { FieldRow, FrameSeries, ProducerAxis, ProducerRow } from "./producer.js";
import { PRESSURES, VECTORS } from "./usual-names.js";

/** The group of the iterations. */
const BASE = "/data";
const VELOCITIES = [...VECTORS, "v"];
const GRID_ATTRIBUTES = ["axisLabels", "dataOrder", "geometry", "gridSpacing", "gridGlobalOffset", "gridUnitSI"];
/** All attributes of mesh records and their components, those of the extension ED-PIC included. */
const ATTRIBUTES = [
  ...GRID_ATTRIBUTES,
  ...["geometryParameters", "timeOffset", "unitDimension", "unitSI", "position", "value", "shape", "comment"],
  ...["fieldSmoothing", "fieldSmoothingParameters", "time", "dt", "timeUnitSI", "closed"],
];

/**
 * A velocity and a pressure by their names. The first iteration stands for all.
 *
 * Source: openPMD standard 1.1.0, sections "Mesh Based Records", "Iterations and Time Series", "Unit Systems and
 * Dimensionality" (timeOffset) and "Constant Record Components"; extension ED-PIC.
 */
export const OPEN_PMD: ProducerRow = {
  producer: "openPMD",
  marks: ["@openPMD"],
  attributes: ATTRIBUTES,
  check: requireVelocity,
  reasons: (contents) => {
    const velocity = velocityIn(contents);
    const isStaggered = componentsOf(velocity).some((path) => Object.keys(staggeringOf(contents, path)).length > 0);
    return [
      `dimensions: ${orderOf(contents)}, from the attribute axisLabels of ${velocity}.`,
      ...(isStaggered ? [`nodes: each component of ${velocity} at its own, by its attribute position.`] : []),
    ];
  },
  order: orderOf,
  fields: fieldRows,
  staggering: staggeringOf,
  descriptorMembers: unitsOf,
  constant: constantComponent,
  series: seriesOf,
  axis: axisCluesOf,
  times: timesIn,
};

/** @throws DataError without a velocity in Cartesian coordinates that is stored on the same nodes in all iterations */
function requireVelocity(contents: Contents): void {
  const { velocity, names } = meshesIn(contents);
  if (velocity === undefined) throw new DataError(`none of its meshes (${names.join(", ")}) is a velocity`);
  if (componentsOf(velocity).every((path) => contents.dataset(path) === null))
    throw new DataError(`no component of ${velocity} is stored as a dataset`);
  const isCartesian = contents.texts(velocity, "geometry")?.[0] === "cartesian";
  if (!isCartesian || labelsOf(contents, velocity).sort().join() !== "x,y,z")
    throw new DataError(`${velocity} is not a cartesian mesh of x, y and z`);
  const changed = meshOnOtherGrid(contents, velocity);
  if (changed !== null)
    throw new DataError(`${changed} has another grid than ${velocity}; all iterations must have the same nodes`);
}

/** The velocity, and the pressure if it is stored on the nodes and at the times of the velocity. */
function fieldRows(contents: Contents, findings: Findings): FieldRow[] {
  const { pressure } = meshesIn(contents);
  const velocity = velocityIn(contents);
  const velocityRow: FieldRow = ["velocity", componentsOf(velocity).join(" ")];
  checkRequired(contents, "velocity", velocity, findings);
  if (pressure === undefined) return [velocityRow];
  const difference = differenceBetween(contents, velocity, pressure);
  if (difference === null) {
    checkRequired(contents, "pressure", pressure, findings);
    return [velocityRow, ["pressure", pressure]];
  }
  findings.addWarning(`${pressure.split("/").pop()} is left out: ${difference}.`);
  return [velocityRow];
}

/** Why the pressure cannot be served beside the velocity, as a clause; null if it can. */
function differenceBetween(contents: Contents, velocity: string, pressure: string): string | null {
  const constant = constantAt(contents, pressure);
  if (constant !== null) return `it is constant (${constant})`;
  const name = velocity.split("/").pop();
  const hasSameGrid = gridText(contents, velocity) === gridText(contents, pressure);
  if (!hasSameGrid || meshOnOtherGrid(contents, pressure) !== null) return `its grid is not that of ${name}`;
  const isAtSameTimes = timeOffsets(contents, velocity).join() === timeOffsets(contents, pressure).join();
  return isAtSameTimes ? null : `its timeOffset is not that of ${name}`;
}

/** SI units, if the velocity states that it has the dimension of one. */
function unitsOf(contents: Contents): Partial<DescriptorInput> {
  const { pressure } = meshesIn(contents);
  if (dimensionOf(contents, velocityIn(contents)) !== UNIT_DIMENSIONS.velocity[0]) return {};
  const units = { length: "m", time: "s", velocity: "m s-1" };
  const dimension = pressure === undefined ? "" : dimensionOf(contents, pressure);
  if (dimension === "") return { units };
  return { units: { ...units, pressure: dimension === UNIT_DIMENSIONS.pressure[0] ? "Pa" : "m2 s-2" } };
}

/** The value of a component of the velocity that is not stored; null if it is stored. */
function constantComponent(contents: Contents, path: string): number | null {
  const components = componentsOf(velocityIn(contents));
  if (!components.includes(path) || contents.dataset(path) !== null) return null;
  const stored = components.find((other) => contents.dataset(other) !== null) ?? path;
  const storedShape = contents.dataset(stored)?.shape.join(" x ");
  const statedShape = contents.numberList(path, "shape", AXIS_NAMES.length)?.join(" x ");
  const statement = statedShape === undefined ? "states no shape" : `has the shape ${statedShape}`;
  if (statedShape !== storedShape)
    throw new DataError(`${path} ${statement}, and ${stored} has the shape ${storedShape}`);
  const [first = null, ...others] = inAllIterations(contents, path).map((component) => constantAt(contents, component));
  if (others.some((value) => value !== first))
    throw new DataError(`${path} is constant, but not the same in all iterations, which is not served`);
  return first;
}

/** Iterations as frames; their numbers may have leading zeros. */
function seriesOf(contents: Contents): FrameSeries {
  const steps = iterationsIn(contents);
  const [first = ""] = steps;
  const digits = /^0\d/.test(first) ? first.length : 1;
  const areNumbered = steps.every((step) => `${Number(step)}`.padStart(digits, "0") === step);
  const pattern = areNumbered ? `{step:0${digits}d}` : "{step}";
  return {
    frames: steps.length,
    steps: areNumbered ? frameLabels(steps.map(Number)) : { steps },
    place: (path) => `${BASE}/${pattern}${path.slice(`${BASE}/${first}`.length)}`,
  };
}

function axisCluesOf(contents: Contents, axis: AxisName, { nodes }: { readonly nodes: number }): ProducerAxis {
  const velocity = velocityIn(contents);
  const unit = contents.number(velocity, "gridUnitSI");
  const [step, offset] = ["gridSpacing", "gridGlobalOffset"].map((name) =>
    entryOf(contents, velocity, velocity, name, axis),
  );
  if (step === undefined || unit === null) return {};
  const spacing = { value: step * unit, where: "gridSpacing" };
  if (offset === undefined) return { spacing };
  const position = referencePosition(contents, velocity, axis);
  const origin = { value: (offset + position * step) * unit, where: "gridGlobalOffset" };
  if (position === 0) return { spacing, origin };
  const ends = [offset * unit, (offset + nodes * step) * unit];
  return { spacing, origin, edges: { value: ends, where: "gridGlobalOffset and position" } };
}

/** Times of the iterations in seconds: `time` and `timeOffset` are both in units of timeUnitSI. */
function timesIn(contents: Contents): Stated<readonly number[]> | null {
  const velocity = velocityIn(contents);
  const offsets = timeOffsets(contents, velocity);
  const times = iterationsIn(contents).map((step, frame) => {
    const number = (name: string) => contents.number(join(BASE, step), name) ?? Number.NaN;
    return (number("time") + (offsets[frame] as number)) * number("timeUnitSI");
  });
  const isMoved = offsets.some((offset) => offset !== 0);
  const where = `the attribute time of each iteration${isMoved ? ` and timeOffset of ${velocity}` : ""}`;
  return times.some(Number.isNaN) ? null : { value: times, where };
}

/** Powers of length, mass, time, current, temperature, amount and light; pressures may be divided by the density. */
const UNIT_DIMENSIONS = { velocity: ["1 0 -1 0 0 0 0"], pressure: ["-1 1 -2 0 0 0 0", "2 0 -2 0 0 0 0"] };
type Quantity = keyof typeof UNIT_DIMENSIONS;

const dimensionOf = (contents: Contents, mesh: string): string =>
  contents.numberList(mesh, "unitDimension", 7)?.join(" ") ?? "";

/** Attributes that openPMD requires, the subjects of questions about them, and the values that are taken without them. */
const REQUIRED = [
  { name: "unitSI", subject: "units", assumed: 1 },
  { name: "position", subject: "spacing", assumed: 0 },
  { name: "dataOrder", subject: "order", assumed: "C" },
] as const;

/** Contradicts a mesh that in any iteration has the unit of another quantity, or lacks a required attribute. */
function checkRequired(contents: Contents, quantity: Quantity, mesh: string, findings: Findings): void {
  const meshes = inAllIterations(contents, mesh);
  const dimensions = UNIT_DIMENSIONS[quantity];
  const other = meshes.find((path) => !["", ...dimensions].includes(dimensionOf(contents, path)));
  if (other !== undefined)
    findings.contradict(
      "fields",
      `The attribute unitDimension of ${other} is ${dimensionOf(contents, other)}, and that of a ${quantity} is ${dimensions[0]}; that it is the ${quantity} is a guess.`,
      "a file that states it, or a descriptor without this question",
    );
  const components = quantity === "velocity" ? meshes.flatMap(componentsOf) : meshes;
  for (const { name, subject, assumed } of REQUIRED) {
    const holders = name === "dataOrder" ? meshes : components;
    const lacking = holders.find((path) => !contents.attributes(path).has(name));
    if (lacking === undefined) continue;
    const claim = `${lacking} lacks the attribute ${name}, which openPMD requires; that it is ${assumed} is a guess.`;
    findings.contradict(subject, claim, `--despite ${subject} if it is`);
  }
}

const componentsOf = (mesh: string): string[] => AXIS_NAMES.map((axis) => join(mesh, axis));

/** The value of a constant record component in SI units; null if the component is stored, or is none. */
function constantAt(contents: Contents, path: string): number | null {
  if (contents.dataset(path) !== null || !contents.attributes(path).has("shape")) return null;
  const value = contents.number(path, "value");
  return value === null ? null : value * (contents.number(path, "unitSI") ?? 1);
}

/** The number for an axis in an attribute with one per label of the mesh. */
function entryOf(contents: Contents, mesh: string, path: string, name: string, axis: AxisName): number | undefined {
  return contents.numberList(path, name, AXIS_NAMES.length)?.[labelsOf(contents, mesh).indexOf(axis)];
}

/** In-cell position of most components: the median of the three. */
function referencePosition(contents: Contents, velocity: string, axis: AxisName): number {
  const positions = componentsOf(velocity).map((path) => entryOf(contents, velocity, path, "position", axis) ?? 0);
  return positions.sort((a, b) => a - b)[1] as number;
}

/** Offsets of a component from the reference nodes, in spacings, along the axes where it is staggered. */
function staggeringOf(contents: Contents, path: string): Partial<Record<AxisName, number>> {
  const velocity = velocityIn(contents);
  const offsets = AXIS_NAMES.map((axis) => {
    const position = entryOf(contents, velocity, path, "position", axis) ?? 0;
    return [axis, position - referencePosition(contents, velocity, axis)] as const;
  });
  return Object.fromEntries(offsets.filter(([, offset]) => offset !== 0));
}

const gridText = (contents: Contents, mesh: string): string =>
  GRID_ATTRIBUTES.map((name) => `${contents.attribute(mesh, name)}`).join("; ");

/** Path of the mesh in the earliest iteration with another grid or other in-cell positions; null if there is none. */
function meshOnOtherGrid(contents: Contents, mesh: string): string | null {
  const text = (path: string) =>
    [
      gridText(contents, path),
      ...[path, ...componentsOf(path)].map((holder) => `${contents.attribute(holder, "position")}`),
    ].join("; ");
  const expected = text(mesh);
  return inAllIterations(contents, mesh).find((path) => text(path) !== expected) ?? null;
}

/** Paths in all iterations of an object of the first. */
function inAllIterations(contents: Contents, path: string): string[] {
  const steps = iterationsIn(contents);
  return steps.map((step) => `${join(BASE, step)}${path.slice(`${BASE}/${steps[0]}`.length)}`);
}

const timeOffsets = (contents: Contents, mesh: string): number[] =>
  inAllIterations(contents, mesh).map((path) => contents.number(path, "timeOffset") ?? 0);

function iterationsIn(contents: Contents): string[] {
  const names = (contents.group(BASE) ?? []).filter((name) => /^\d+$/.test(name));
  return names.sort((a, b) => Number(a) - Number(b));
}

/** Paths of the meshes of the first iteration that are taken for velocity and pressure, and the names of all meshes. */
function meshesIn(contents: Contents): { names: string[]; velocity: string | undefined; pressure: string | undefined } {
  const folder = (contents.texts("/", "meshesPath")?.[0] ?? "meshes/").replace(/\/+$/, "");
  const group = `${BASE}/${iterationsIn(contents)[0]}/${folder}`;
  const names = contents.group(group) ?? [];
  const meshNamed = (wanted: readonly string[]) => {
    const name = names.find((name) => wanted.includes(name.toLowerCase()));
    return name === undefined ? undefined : join(group, name);
  };
  return { names, velocity: meshNamed(VELOCITIES), pressure: meshNamed(PRESSURES) };
}

/** Path of the velocity, which `check` has required. */
const velocityIn = (contents: Contents): string => meshesIn(contents).velocity ?? "";

function labelsOf(contents: Contents, mesh: string): string[] {
  return contents.texts(mesh, "axisLabels")?.map((label) => label.toLowerCase()) ?? [];
}

function orderOf(contents: Contents): string {
  const velocity = velocityIn(contents);
  const labels = labelsOf(contents, velocity);
  const [order = "C"] = contents.texts(velocity, "dataOrder") ?? [];
  if (order !== "C" && order !== "F")
    throw new DataError(`the attribute dataOrder of ${velocity} is "${order}", not C or F`);
  return (order === "F" ? labels.reverse() : labels).join(" ");
}
