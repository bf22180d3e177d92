/** Recognises openPMD meshes: one group per iteration, with axis labels, spacing, offset and units in attributes. */
import { DataError } from "../../../errors.js";
import { AXIS_NAMES, type AxisName } from "../../file/dataset.js";
import type { DescriptorInput } from "../descriptor.js";
import { join } from "./evidence.js";
import { axisOf, NO_CLUES, timesOf } from "./grid.js";
import { type Contents, Findings, type Layout } from "./layout.js";
import { PRESSURES, VECTORS } from "./usual-names.js";

/** Names of a velocity mesh besides the usual ones. */
const VELOCITIES = [...VECTORS, "v"];

/** Source: openPMD standard 1.1.0, sections "Mesh Based Records" and "Iterations and Time Series". */
export const openPmd: Layout = {
  producer: "openPMD",
  recognise(contents) {
    if (contents.texts("/", "openPMD") === null) return null;
    const base = "/data";
    const steps = (contents.group(base) ?? [])
      .filter((name) => /^\d+$/.test(name))
      .sort((a, b) => Number(a) - Number(b));
    const meshes = `${base}/{step}/${(contents.texts("/", "meshesPath")?.[0] ?? "meshes/").replace(/\/+$/, "")}`;
    const at = (path: string, index = 0) => path.replace("{step}", steps[index]);
    const names = steps.length === 0 ? [] : (contents.group(at(meshes)) ?? []);
    const named = (wanted: readonly string[]) => names.find((name) => wanted.includes(name.toLowerCase()));
    const [velocity, pressure] = [named(VELOCITIES), named(PRESSURES)];
    if (velocity === undefined) throw new DataError(`none of its meshes (${names.join(", ")}) is a velocity`);
    const mesh = join(at(meshes), velocity);
    const order = contents.texts(mesh, "axisLabels")?.map((label) => label.toLowerCase()) ?? [];
    if (contents.texts(mesh, "geometry")?.[0] !== "cartesian" || [...order].sort().join() !== "x,y,z")
      throw new DataError(`${mesh} is not a cartesian mesh of x, y and z`);
    if (contents.texts(mesh, "dataOrder")?.[0] === "F") order.reverse();
    requireCollocated(contents, mesh);
    const findings = new Findings();
    const isAlike =
      pressure !== undefined && gridText(contents, mesh) === gridText(contents, join(at(meshes), pressure));
    if (pressure !== undefined && !isAlike)
      findings.addWarning(`${pressure} is left out: its grid is not that of ${velocity}.`);
    findings.addReason(`dimensions: ${order.join(" ")}, from the attribute axisLabels of ${mesh}.`);
    const times = steps.map((_, index) => timeAt(contents, at(`${base}/{step}`, index)));
    const stated = times.some(Number.isNaN) ? null : { value: times, where: "the attribute time of each iteration" };
    const dimensions = order as AxisName[];
    return {
      plan: {
        title: contents.name,
        axes: axesOf(contents, mesh, dimensions, findings),
        time: timesOf(steps.length, stated, null, contents.answers, findings),
        fields: {
          velocity: {
            components: AXIS_NAMES.map((axis) => ({
              file: contents.name,
              path: `${meshes}/${velocity}/${axis}`,
            })) as never,
            dimensions,
            steps,
          },
          ...(pressure === undefined || !isAlike
            ? {}
            : { pressure: { file: contents.name, path: `${meshes}/${pressure}`, dimensions, steps } }),
        },
      },
      findings,
    };
  },
};

function timeAt(contents: Contents, iteration: string): number {
  return (contents.number(iteration, "time") ?? Number.NaN) * (contents.number(iteration, "timeUnitSI") ?? 1);
}

/** Everything that a mesh states of its grid. */
function gridText(contents: Contents, mesh: string): string {
  const names = ["axisLabels", "dataOrder", "geometry", "gridSpacing", "gridGlobalOffset", "gridUnitSI"];
  return names.map((name) => `${contents.attribute(mesh, name)}`).join("; ");
}

/** @throws DataError where components stand on different places in a cell */
function requireCollocated(contents: Contents, mesh: string): void {
  const places = AXIS_NAMES.map((axis) => `${contents.attribute(`${mesh}/${axis}`, "position")}`);
  if (new Set(places).size > 1)
    throw new DataError(`${mesh} is staggered: its components must be interpolated to common nodes first`);
}

/** Spacing and offset are lists in the order of the labels; a component stands at its position in the cell. */
function axesOf(contents: Contents, mesh: string, order: readonly AxisName[], findings: Findings) {
  const unit = contents.number(mesh, "gridUnitSI") ?? 1;
  const list = (path: string, name: string) => {
    const value = contents.attribute(path, name);
    return value instanceof Float64Array ? value : null;
  };
  const labels = contents.texts(mesh, "axisLabels") as readonly string[];
  const axes = AXIS_NAMES.map((axis) => {
    const at = labels.findIndex((label) => label.toLowerCase() === axis);
    const step = list(mesh, "gridSpacing")?.[at];
    const offset = list(mesh, "gridGlobalOffset")?.[at];
    const shape = contents.dataset(`${mesh}/x`)?.shape ?? [];
    const position = list(`${mesh}/x`, "position")?.[at] ?? 0;
    const clues = {
      ...NO_CLUES,
      spacing: step === undefined ? null : { value: step * unit, where: "gridSpacing" },
      origin:
        step === undefined || offset === undefined
          ? null
          : { value: (offset + position * step) * unit, where: "gridGlobalOffset" },
    };
    return [axis, axisOf(axis, shape[order.indexOf(axis)], clues, contents.answers, findings)];
  });
  return Object.fromEntries(axes) as DescriptorInput["axes"];
}
