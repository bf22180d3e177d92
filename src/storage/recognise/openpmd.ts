/** openPMD meshes: one group per iteration, with labels, spacing, offset and units in attributes. */
import { DataError } from "../../shared/errors.js";
import { AXIS_NAMES, type AxisName } from "../dataset/dataset.js";
import { join } from "./evidence.js";
import { type Contents, type Findings, numbered } from "./layout.js";
import type { FieldRow, ProducerRow } from "./producer.js";
import { PRESSURES, VECTORS } from "./usual-names.js";

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
 * Source: openPMD standard 1.1.0, sections "Mesh Based Records", "Iterations and Time Series", "Unit Systems and
 * Dimensionality" (timeOffset) and "Constant Record Components"; extension ED-PIC.
 */
export const OPEN_PMD: ProducerRow = {
  producer: "openPMD",
  marks: ["@openPMD"],
  attributes: ATTRIBUTES,
  check: (contents) => {
    const { velocity, names } = meshesIn(contents);
    if (velocity === undefined) throw new DataError(`none of its meshes (${names.join(", ")}) is a velocity`);
    if (componentsOf(velocity).every((path) => contents.dataset(path) === null))
      throw new DataError(`no component of ${velocity} is stored as a dataset`);
    const isCartesian = contents.texts(velocity, "geometry")?.[0] === "cartesian";
    if (!isCartesian || labelsOf(contents, velocity).sort().join() !== "x,y,z")
      throw new DataError(`${velocity} is not a cartesian mesh of x, y and z`);
    const other = changedGrid(contents, velocity);
    if (other !== null)
      throw new DataError(`${other} has another grid than ${velocity}; all iterations must have the same nodes`);
  },
  reasons: (contents) => {
    const { velocity = "" } = meshesIn(contents);
    const isStaggered = componentsOf(velocity).some((path) => Object.keys(staggerOf(contents, path)).length > 0);
    return [
      `dimensions: ${orderOf(contents)}, from the attribute axisLabels of ${velocity}.`,
      ...(isStaggered ? [`nodes: each component of ${velocity} at its own, by its attribute position.`] : []),
    ];
  },
  order: orderOf,
  fields: (contents, findings) => {
    const { velocity = "", pressure } = meshesIn(contents);
    const vector: FieldRow = ["velocity", AXIS_NAMES.map((axis) => join(velocity, axis)).join(" ")];
    askUnits(contents, "velocity", velocity, findings);
    if (pressure === undefined) return [vector];
    const [name, other] = [velocity, pressure].map((path) => path.split("/").pop());
    const constant = constantAt(contents, pressure);
    const isSameGrid = gridText(contents, velocity) === gridText(contents, pressure);
    const offsets = (mesh: string) => inAllIterations(contents, mesh).map((path) => offsetAt(contents, path));
    const isSameTime = offsets(velocity).join() === offsets(pressure).join();
    const hasSameGrid = isSameGrid && changedGrid(contents, pressure) === null;
    if (constant === null && hasSameGrid && isSameTime) {
      askUnits(contents, "pressure", pressure, findings);
      return [vector, ["pressure", pressure]];
    }
    const reason = `its ${hasSameGrid ? "timeOffset" : "grid"} is not that of ${name}`;
    findings.addWarning(`${other} is left out: ${constant === null ? reason : `it is constant (${constant})`}.`);
    return [vector];
  },
  staggering: staggerOf,
  descriptorMembers: (contents) => {
    const { velocity = "", pressure } = meshesIn(contents);
    const stated = pressure === undefined ? "" : dimensionOf(contents, pressure);
    const isSI = dimensionOf(contents, velocity) === UNIT_DIMENSIONS.velocity[0];
    const more = stated === "" ? {} : { pressure: stated === UNIT_DIMENSIONS.pressure[0] ? "Pa" : "m2 s-2" };
    return isSI ? { units: { length: "m", time: "s", velocity: "m s-1", ...more } } : {};
  },
  constant: (contents, path) => {
    const { velocity = "" } = meshesIn(contents);
    if (!componentsOf(velocity).includes(path) || contents.dataset(path) !== null) return null;
    const storedComponent = componentsOf(velocity).find((other) => contents.dataset(other) !== null) ?? path;
    const stated = contents.numberList(path, "shape", AXIS_NAMES.length)?.join(" x ");
    const shape = contents.dataset(storedComponent)?.shape.join(" x ");
    const statedShape = stated === undefined ? "states no shape" : `has the shape ${stated}`;
    if (stated !== shape) throw new DataError(`${path} ${statedShape}, and ${storedComponent} has the shape ${shape}`);
    const [value = null, ...others] = inAllIterations(contents, path).map((one) => constantAt(contents, one));
    if (others.some((other) => other !== value))
      throw new DataError(`${path} is constant, but not the same in all iterations, which is not served`);
    return value;
  },
  series: (contents) => {
    const steps = iterationsIn(contents);
    const [first = ""] = steps;
    const digits = /^0\d/.test(first) ? first.length : 1;
    const isPlain = steps.every((step) => `${Number(step)}`.padStart(digits, "0") === step);
    const place = isPlain ? `{step:0${digits}d}` : "{step}";
    return {
      frames: steps.length,
      steps: isPlain ? numbered(steps.map(Number)) : { steps },
      place: (path) => `${BASE}/${place}${path.slice(`${BASE}/${first}`.length)}`,
    };
  },
  axis: (contents, axis, { nodes }) => {
    const { velocity = "" } = meshesIn(contents);
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
  },
  // Both numbers count in timeUnitSI.
  times: (contents) => {
    const { velocity = "" } = meshesIn(contents);
    const offsets = inAllIterations(contents, velocity).map((path) => offsetAt(contents, path));
    const times = iterationsIn(contents).map((step, at) => {
      const number = (name: string) => contents.number(join(BASE, step), name) ?? Number.NaN;
      return (number("time") + (offsets[at] as number)) * number("timeUnitSI");
    });
    const isMoved = offsets.some((offset) => offset !== 0);
    const where = `the attribute time of each iteration${isMoved ? ` and timeOffset of ${velocity}` : ""}`;
    return times.some(Number.isNaN) ? null : { value: times, where };
  },
};

/** Powers of length, mass, time, current, temperature, amount and light; pressures may be divided by the density. */
const UNIT_DIMENSIONS = { velocity: ["1 0 -1 0 0 0 0"], pressure: ["-1 1 -2 0 0 0 0", "2 0 -2 0 0 0 0"] };

const dimensionOf = (contents: Contents, mesh: string): string =>
  contents.numberList(mesh, "unitDimension", 7)?.join(" ") ?? "";

/** Asks about a mesh that in any iteration states the unit of another quantity, or lacks what the standard requires. */
function askUnits(contents: Contents, quantity: keyof typeof UNIT_DIMENSIONS, mesh: string, findings: Findings): void {
  const meshes = inAllIterations(contents, mesh);
  const other = meshes.find((path) => !["", ...UNIT_DIMENSIONS[quantity]].includes(dimensionOf(contents, path)));
  if (other !== undefined)
    findings.contradict(
      "fields",
      `The attribute unitDimension of ${other} is ${dimensionOf(contents, other)}, and that of a ${quantity} is ${UNIT_DIMENSIONS[quantity][0]}; that it is the ${quantity} is a guess.`,
      "a file that states it, or a descriptor without this question",
    );
  const parts = quantity === "velocity" ? meshes.flatMap(componentsOf) : meshes;
  for (const [name, about, usual, of] of [
    ["unitSI", "units", 1, parts],
    ["position", "spacing", 0, parts],
    ["dataOrder", "order", "C", meshes],
  ] as const) {
    const part = of.find((path) => !contents.attributes(path).has(name));
    if (part === undefined) continue;
    const claim = `${part} lacks the attribute ${name}, which openPMD requires; that it is ${usual} is a guess.`;
    findings.contradict(about, claim, `--despite ${about} if it is`);
  }
}

const componentsOf = (mesh: string): string[] => AXIS_NAMES.map((axis) => join(mesh, axis));

function constantAt(contents: Contents, path: string): number | null {
  if (contents.dataset(path) !== null || !contents.attributes(path).has("shape")) return null;
  const value = contents.number(path, "value");
  return value === null ? null : value * (contents.number(path, "unitSI") ?? 1);
}

function entryOf(contents: Contents, mesh: string, path: string, name: string, axis: AxisName): number | undefined {
  return contents.numberList(path, name, AXIS_NAMES.length)?.[labelsOf(contents, mesh).indexOf(axis)];
}

/** In-cell position of most components: the median of the three. */
function referencePosition(contents: Contents, velocity: string, axis: AxisName): number {
  const places = componentsOf(velocity).map((path) => entryOf(contents, velocity, path, "position", axis) ?? 0);
  return places.sort((a, b) => a - b)[1] as number;
}

/** Offsets of a component from the reference nodes, in spacings, along the axes where it is staggered. */
function staggerOf(contents: Contents, path: string): Partial<Record<AxisName, number>> {
  const { velocity = "" } = meshesIn(contents);
  const offsets = AXIS_NAMES.map((axis) => {
    const place = entryOf(contents, velocity, path, "position", axis) ?? 0;
    return [axis, place - referencePosition(contents, velocity, axis)] as const;
  });
  return Object.fromEntries(offsets.filter(([, offset]) => offset !== 0));
}

function gridText(contents: Contents, mesh: string): string {
  return GRID_ATTRIBUTES.map((name) => `${contents.attribute(mesh, name)}`).join("; ");
}

/** The mesh in the first iteration whose grid differs from the grid of the first iteration; null if there is none. */
function changedGrid(contents: Contents, mesh: string): string | null {
  const text = (path: string) =>
    [
      gridText(contents, path),
      ...[path, ...componentsOf(path)].map((one) => `${contents.attribute(one, "position")}`),
    ].join("; ");
  const first = text(mesh);
  return inAllIterations(contents, mesh).find((path) => text(path) !== first) ?? null;
}

const inAllIterations = (contents: Contents, mesh: string): string[] =>
  iterationsIn(contents).map((step) => mesh.replace(/^\/data\/\d+/, join(BASE, step)));

const offsetAt = (contents: Contents, mesh: string): number => contents.number(mesh, "timeOffset") ?? 0;

function iterationsIn(contents: Contents): string[] {
  const names = (contents.group(BASE) ?? []).filter((name) => /^\d+$/.test(name));
  return names.sort((a, b) => Number(a) - Number(b));
}

function meshesIn(contents: Contents): { names: string[]; velocity: string | undefined; pressure: string | undefined } {
  const folder = (contents.texts("/", "meshesPath")?.[0] ?? "meshes/").replace(/\/+$/, "");
  const group = `${BASE}/${iterationsIn(contents)[0]}/${folder}`;
  const names = contents.group(group) ?? [];
  const named = (wanted: readonly string[]) => {
    const found = names.find((name) => wanted.includes(name.toLowerCase()));
    return found === undefined ? undefined : join(group, found);
  };
  return { names, velocity: named(VELOCITIES), pressure: named(PRESSURES) };
}

function labelsOf(contents: Contents, mesh: string): string[] {
  return contents.texts(mesh, "axisLabels")?.map((label) => label.toLowerCase()) ?? [];
}

function orderOf(contents: Contents): string {
  const { velocity = "" } = meshesIn(contents);
  const labels = labelsOf(contents, velocity);
  const [order = "C"] = contents.texts(velocity, "dataOrder") ?? [];
  if (order !== "C" && order !== "F")
    throw new DataError(`the attribute dataOrder of ${velocity} is "${order}", not C or F`);
  return (order === "F" ? labels.reverse() : labels).join(" ");
}
