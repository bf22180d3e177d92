/** Describes files of mpi4py-fft, spectralDNS and shenfun: `/<name>/3D/<step>`, with axes in `domain` or `mesh`. */
import { DataError } from "../../shared/errors.js";
import { AXIS_NAMES, type AxisName } from "../dataset/dataset.js";
import { type Contents, type Findings, requireEvenLabels, TIMES_ANSWER } from "./layout.js";
import type { FieldRow, ProducerRow } from "./producer.js";

const VECTORS = ["velocity", "u", "vel"];
const TRIPLES = ["u v w", "ux uy uz", "vx vy vz", "u0 u1 u2"];
const SCALARS = ["p", "pressure"];

export const MPI4PY_FFT: ProducerRow = {
  producer: "mpi4py-fft, spectralDNS or shenfun",
  marks: (contents) => groupsIn(contents).length > 0,
  reasons: () => [],
  order: "c x y z",
  fields: (contents, findings) => {
    const groups = groupsIn(contents);
    const firstStep = (wanted: string, rank: number): string[] => {
      const group = groups.find((name) => name.toLowerCase() === wanted);
      const path = `/${group}/3D/${stepsIn(contents, group ?? "")[0]}`;
      return contents.dataset(path)?.shape.length === rank ? [path] : [];
    };
    const componentPaths = TRIPLES.map((names) => names.split(" ").flatMap((name) => firstStep(name, 3)));
    const velocity =
      VECTORS.flatMap((name) => firstStep(name, 4))[0] ?? componentPaths.find(({ length }) => length === 3)?.join(" ");
    const [pressure] = SCALARS.flatMap((name) => firstStep(name, 3));
    if (velocity === undefined && pressure === undefined)
      throw new DataError(`none of the groups ${groups.join(", ")} is a velocity or pressure (u, u v w, p)`);
    const velocityGroups = (velocity ?? "none").split(" ").map((path) => path.replace(/\/3D\/\d+$/, ""));
    const pressureGroup = pressure === undefined ? "none" : groupOf(pressure);
    findings.addReason(`velocity: ${velocityGroups.join(", ")}; pressure: ${pressureGroup}.`);
    findings.addReason("dimensions: (c) x y z, the order of these codes.");
    const rows = Object.entries({ velocity, pressure });
    checkSameAxes(contents, [velocity, pressure].flatMap((paths) => paths?.split(" ") ?? []).map(groupOf), findings);
    return rows.flatMap(([field, paths]): FieldRow[] => (paths === undefined ? [] : [[field, paths]]));
  },
  series: (contents, path) => {
    const labels = stepsIn(contents, groupOf(path));
    const steps = requireEvenLabels(labels, `/${groupOf(path)}/3D`);
    return { frames: labels.length, steps, place: (first) => first.replace(/\d+$/, "{step:01d}") };
  },
  // `domain/x0` holds origin and length; these codes write it for periodic axes, and `mesh/x0` for others.
  coordinates: (axis, path) => meshOf(axis, path),
  axis: (contents, axis, { path }) => {
    const mesh = meshOf(axis, path);
    const where = meshOf(axis, path, "domain");
    if (contents.dataset(where) !== null) {
      const [origin, length] = contents.numbers(where);
      return { origin: { value: origin, where }, length: { value: length, where }, periodic: { value: true, where } };
    }
    if (contents.dataset(mesh) === null) return {};
    return { coordinates: { value: { file: contents.name, path: mesh }, where: mesh } };
  },
  // The files know steps, not times.
  times: (contents, { path, frames }, findings) => {
    if (contents.answers.times !== undefined || frames === 1) return null;
    const labels = stepsIn(contents, groupOf(path));
    const steps = labels.slice(0, 3).join(", ");
    const question = `The file states steps (${steps}, ...), not times; one unit of time a step is a guess.`;
    findings.ask("times", question, TIMES_ANSWER);
    return { value: labels, where: "the names of the steps" };
  },
};

/** Adds a contradiction for each field whose axes differ from those of the first. */
function checkSameAxes(contents: Contents, [first, ...others]: readonly string[], findings: Findings): void {
  for (const [at, axis] of AXIS_NAMES.entries())
    for (const [group, kind] of others.flatMap((one) => [[one, "domain"] as const, [one, "mesh"] as const])) {
      const [expected, path] = [first, group].map((name) => `/${name}/${kind}/x${at}`);
      const [expectedText, text] = [expected, path].map((table) =>
        contents.dataset(table) === null ? null : contents.numbers(table).join(", "),
      );
      const claim = `${path} and ${expected} differ; that /${group} is on the nodes of /${first} is a guess.`;
      if (text !== null && text !== expectedText)
        findings.contradict("spacing", claim, "fields on the same nodes, or --despite spacing", axis);
    }
}

function groupsIn(contents: Contents): string[] {
  return (contents.group("/") ?? []).filter((name) => contents.datasets(`/${name}/3D`).length > 0);
}

function meshOf(axis: AxisName, path: string, kind = "mesh"): string {
  return `/${groupOf(path)}/${kind}/x${AXIS_NAMES.indexOf(axis)}`;
}

const groupOf = (path: string): string => path.split("/")[1];

function stepsIn(contents: Contents, group: string): number[] {
  const names = contents.datasets(`/${group}/3D`).filter((name) => /^\d+$/.test(name));
  return names.map(Number).sort((a, b) => a - b);
}
