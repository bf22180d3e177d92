/**
 * VTKHDF image data: arrays at the points or cells of a uniform grid.
 *
 * Source: VTKHDF format specification 2.0, sections "Image data" and "Temporal data".
 */
import { DataError } from "../../shared/errors.js";
import { FIELDS, fieldNameProblem, type KnownField } from "../../shared/operations.js";
import { AXIS_NAMES } from "../dataset/dataset.js";
import { join } from "./evidence.js";
import { type AxisClues, NO_CLUES, singleNodeAxis } from "./grid.js";
import type { Contents, Findings } from "./layout.js";
import type { FieldRow, ProducerRow } from "./producer.js";
import { OTHERS, PRESSURES, TRIPLES, VECTORS } from "./usual-names.js";

const ROOT = "/VTKHDF";
const STEPS = `${ROOT}/Steps`;
/** Groups of arrays: a grid has one cell less than points along an axis, half a spacing behind the first point. */
const GROUPS = [
  { name: "PointData", less: 0, shift: 0 },
  { name: "CellData", less: 1, shift: 0.5 },
] as const;

const IDENTITY = [1, 0, 0, 0, 1, 0, 0, 0, 1];

export const VTKHDF: ProducerRow = {
  producer: "VTKHDF",
  marks: [ROOT],
  attributes: ["Version", "NSteps"],
  xyzComponents: true,
  check: (contents) => {
    const type = contents.texts(ROOT, "Type")?.[0];
    if (type !== "ImageData") throw new DataError(`its Type is ${type}; of VTKHDF files, only ImageData are one grid`);
    if (listOf(contents, "Direction", IDENTITY).some((value, at) => value !== IDENTITY[at]))
      throw new DataError("its Direction turns the axes; only grids along x, y and z are served");
    if (velocityIn(contents) === null) throw new DataError("neither PointData nor CellData has a velocity or pressure");
    requireOffsets(contents);
    requireNoGhosts(contents);
  },
  reasons: (contents) => {
    const { name } = groupOf(contents);
    const place = name === "CellData" ? "the centres of the cells" : "the points";
    return [`dimensions: ${orderOf(contents)}, the order of the format.`, `nodes: ${place}, because of ${name}.`];
  },
  order: orderOf,
  fields: fieldsIn,
  axis: (contents, axis, { nodes }, findings) => {
    const { less, shift } = groupOf(contents);
    const at = AXIS_NAMES.indexOf(axis);
    const [first, last] = listOf(contents, "WholeExtent").slice(2 * at, 2 * at + 2) as [number, number];
    const count = Math.max(1, last - first + 1 - less);
    if (count !== nodes)
      throw new DataError(`the arrays have ${nodes} nodes along ${axis}, and WholeExtent means ${count}`);
    const step = listOf(contents, "Spacing")[at] as number;
    // A plane has no cells along its normal.
    const half = first === last ? 0 : shift;
    const start = (listOf(contents, "Origin")[at] as number) + (first + half) * step;
    const clues = {
      spacing: { value: step, where: "Spacing" },
      origin: { value: start, where: `Origin${half === 0 ? "" : " and half a Spacing"}` },
      edges: half === 0 ? null : { value: [start - half * step, start + (count - half) * step], where: "WholeExtent" },
    } satisfies Partial<AxisClues>;
    const fileClues = { ...NO_CLUES, ...clues };
    return nodes === 1 ? { axis: singleNodeAxis({ axis, fileClues, contents, findings }) } : clues;
  },
  // A file without steps may state its time as data of the field.
  times: (contents) => {
    const where = [`${STEPS}/Values`, `${ROOT}/FieldData/TimeValue`].find((path) => contents.dataset(path) !== null);
    return where === undefined ? null : { value: [...contents.numbers(where)], where };
  },
};

const isTemporal = (contents: Contents): boolean => contents.dataset(`${STEPS}/Values`) !== null;

function orderOf(contents: Contents): string {
  return `${isTemporal(contents) ? "t " : ""}z y x c`;
}

function listOf(contents: Contents, name: string, unstated?: readonly number[]): readonly number[] {
  const value = contents.attribute(ROOT, name);
  if (value === null && unstated !== undefined && !contents.attributes(ROOT).has(name)) return unstated;
  if (!(value instanceof Float64Array))
    throw new DataError(`the attribute ${name} of ${ROOT} is not a list of numbers`);
  return [...value];
}

function velocityIn(contents: Contents): (typeof GROUPS)[number] | null {
  const named = (wanted: readonly string[][]) =>
    GROUPS.find(({ name }) => wanted.some((names) => pathsOf(contents, join(ROOT, name), names) !== null));
  const velocities = [...VECTORS.map((name) => [name]), ...TRIPLES.map((names) => [...names])];
  return named(velocities) ?? named(PRESSURES.map((name) => [name])) ?? null;
}

const groupOf = (contents: Contents): (typeof GROUPS)[number] => velocityIn(contents) ?? GROUPS[0];

function pathsOf(contents: Contents, group: string, names: readonly string[]): string | null {
  const stored = contents.datasets(group);
  const matching = names.map((name) => stored.find((other) => other.toLowerCase() === name));
  return matching.includes(undefined) ? null : matching.map((name) => join(group, name as string)).join(" ");
}

function fieldsIn(contents: Contents, findings: Findings): FieldRow[] {
  const group = join(ROOT, groupOf(contents).name);
  const rank = isTemporal(contents) ? 4 : 3;
  const rows = (field: KnownField, lists: readonly (readonly string[])[]): FieldRow[] =>
    lists.flatMap((names): FieldRow[] => {
      const paths = pathsOf(contents, group, names);
      const isWhole = FIELDS[field] === 3 && names.length === 1;
      const expected = rank + (isWhole ? 1 : 0);
      const isField = paths?.split(" ").every((path) => contents.dataset(path)?.shape.length === expected);
      return paths === null || isField !== true ? [] : [[field, paths]];
    });
  const eachAlone = (names: readonly string[]) => names.map((name) => [name]);
  const knownFields = [
    ...rows("velocity", [...eachAlone(VECTORS), ...TRIPLES]),
    ...rows("pressure", eachAlone(PRESSURES)),
    ...OTHERS.flatMap(({ field, whole, triples }) => rows(field, [...eachAlone(whole), ...triples])),
  ];
  const used = new Set(knownFields.flatMap(([, paths]) => paths.split(" ")));
  const others = contents.datasets(group).flatMap((name): FieldRow[] => {
    const [field, path] = [name.toLowerCase().replaceAll(/\W+/g, "_"), join(group, name)];
    const isScalar = contents.dataset(path)?.shape.length === rank && contents.dataset(path)?.element === "float";
    const isFree = !used.has(path) && fieldNameProblem(field) === null && !Object.hasOwn(FIELDS, field);
    return isScalar && isFree ? [[field, path]] : [];
  });
  for (const { name } of GROUPS)
    if (join(ROOT, name) !== group && contents.datasets(join(ROOT, name)).length > 0)
      findings.addWarning(`The arrays of ${join(ROOT, name)} are left out: their nodes are not those of ${group}.`);
  return [...knownFields, ...others];
}

function requireNoGhosts(contents: Contents): void {
  const path = `${ROOT}/${groupOf(contents).name}/vtkGhostType`;
  if (contents.dataset(path) !== null && contents.numbers(path).some((mark) => mark !== 0))
    throw new DataError(`${path} marks ghosts, which are not served; write the file without them`);
}

/** @throws DataError if a step reads values of another, or steps and times differ in number */
function requireOffsets(contents: Contents): void {
  const steps = isTemporal(contents) ? contents.number(STEPS, "NSteps") : null;
  const [times] = steps === null ? [steps] : (contents.dataset(`${STEPS}/Values`)?.shape ?? []);
  if (steps !== times)
    throw new DataError(`the attribute NSteps of ${STEPS} is ${steps}, and ${STEPS}/Values has ${times}`);
  for (const { name } of GROUPS)
    for (const array of contents.datasets(`${STEPS}/${name}Offsets`)) {
      const path = `${STEPS}/${name}Offsets/${array}`;
      if (contents.numbers(path).some((offset, step) => offset !== step))
        throw new DataError(`${path} is not 0, 1, 2, ...: steps that share values are not served`);
    }
}
