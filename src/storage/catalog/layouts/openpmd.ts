/** Describes openPMD meshes: one group per iteration, with axis labels, spacing, offset and units in attributes. */
import { DataError } from "../../../errors.js";
import { AXIS_NAMES } from "../../file/dataset.js";
import { join } from "./evidence.js";
import type { Contents } from "./layout.js";
import type { FieldRow, ProducerRow } from "./producer.js";
import { PRESSURES, VECTORS } from "./usual-names.js";

const BASE = "/data";
/** Names of a velocity mesh besides the usual ones. */
const VELOCITIES = [...VECTORS, "v"];
const GRID_ATTRIBUTES = ["axisLabels", "dataOrder", "geometry", "gridSpacing", "gridGlobalOffset", "gridUnitSI"];

/** Source: openPMD standard 1.1.0, sections "Mesh Based Records" and "Iterations and Time Series". */
export const OPEN_PMD: ProducerRow = {
  producer: "openPMD",
  marks: ["@openPMD"],
  check: (contents) => {
    const { velocity, names } = meshesIn(contents);
    if (velocity === undefined) throw new DataError(`none of its meshes (${names.join(", ")}) is a velocity`);
    for (const path of AXIS_NAMES.map((axis) => join(velocity, axis)))
      if (contents.dataset(path) === null && contents.attributes(path).has("value"))
        throw new DataError(
          `${path} is a constant component (value ${contents.number(path, "value")}), which is not served; store its values as a dataset`,
        );
    const isCartesian = contents.texts(velocity, "geometry")?.[0] === "cartesian";
    if (!isCartesian || labelsOf(contents, velocity).sort().join() !== "x,y,z")
      throw new DataError(`${velocity} is not a cartesian mesh of x, y and z`);
    const places = AXIS_NAMES.map((axis) => `${contents.attribute(`${velocity}/${axis}`, "position")}`);
    if (new Set(places).size > 1)
      throw new DataError(`${velocity} is staggered: its components must be interpolated to common nodes first`);
  },
  reasons: (contents) => [
    `dimensions: ${orderOf(contents)}, from the attribute axisLabels of ${meshesIn(contents).velocity}.`,
  ],
  order: orderOf,
  fields: (contents, findings) => {
    const { velocity = "", pressure } = meshesIn(contents);
    const vector: FieldRow = ["velocity", AXIS_NAMES.map((axis) => join(velocity, axis)).join(" ")];
    if (pressure === undefined) return [vector];
    const gridText = (mesh: string) => GRID_ATTRIBUTES.map((name) => `${contents.attribute(mesh, name)}`).join("; ");
    if (gridText(velocity) === gridText(pressure)) return [vector, ["pressure", pressure]];
    const [name, other] = [velocity, pressure].map((path) => path.split("/").pop());
    findings.addWarning(`${other} is left out: its grid is not that of ${name}.`);
    return [vector];
  },
  series: (contents) => {
    const steps = iterationsIn(contents);
    const first = `${BASE}/${steps[0]}`;
    return { frames: steps.length, steps: { steps }, place: (path) => `${BASE}/{step}${path.slice(first.length)}` };
  },
  // Spacing and offset are lists in the order of the labels; a component is at its position in the cell.
  axis: (contents, axis) => {
    const { velocity = "" } = meshesIn(contents);
    const at = labelsOf(contents, velocity).indexOf(axis);
    const entry = (path: string, name: string) => contents.numberList(path, name, AXIS_NAMES.length)?.[at];
    const unit = contents.number(velocity, "gridUnitSI") ?? 1;
    const [step, offset] = [entry(velocity, "gridSpacing"), entry(velocity, "gridGlobalOffset")];
    if (step === undefined) return {};
    const spacing = { value: step * unit, where: "gridSpacing" };
    if (offset === undefined) return { spacing };
    const position = entry(join(velocity, "x"), "position") ?? 0;
    return { spacing, origin: { value: (offset + position * step) * unit, where: "gridGlobalOffset" } };
  },
  times: (contents) => {
    const times = iterationsIn(contents).map((step) => {
      const path = join(BASE, step);
      return (contents.number(path, "time") ?? Number.NaN) * (contents.number(path, "timeUnitSI") ?? 1);
    });
    return times.some(Number.isNaN) ? null : { value: times, where: "the attribute time of each iteration" };
  },
};

function iterationsIn(contents: Contents): string[] {
  const names = (contents.group(BASE) ?? []).filter((name) => /^\d+$/.test(name));
  return names.sort((a, b) => Number(a) - Number(b));
}

/** The meshes of the first iteration: all names, and the paths of velocity and pressure. */
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
