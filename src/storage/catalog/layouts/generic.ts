/** Recognises any file with velocity under a usual name in its root: order from dimension scales, else coordinates, else z y x. */

import { AXIS_NAMES, type AxisName } from "../../dataset.js";
import type { DescriptorInput } from "../descriptor.js";
import { type Contents, describeTimes, type Layout, tableAxis } from "./layout.js";

const TRIPLES = [
  ["u", "v", "w"],
  ["ux", "uy", "uz"],
  ["vx", "vy", "vz"],
  ["U0", "U1", "U2"],
];
const VECTORS = ["velocity", "u", "vel"];
const SCALARS = ["p", "pressure"];
const TIMES = ["time", "t"];
type Dimension = "t" | "z" | "y" | "x" | "c";
const SCALES = new Map<string, Dimension>([
  ["x", "x"],
  ["y", "y"],
  ["z", "z"],
  ["xcoor", "x"],
  ["ycoor", "y"],
  ["zcoor", "z"],
  ["time", "t"],
  ["t", "t"],
]);

export const generic: Layout = {
  producer: "generic",
  recognise(contents) {
    const names = contents.datasets("/");
    const rank = (name: string) => contents.dataset(`/${name}`)?.shape.length ?? 0;
    const triples = TRIPLES.filter((all) => all.every((name) => names.includes(name) && rank(name) >= 3));
    const vectors = VECTORS.filter((name) => names.includes(name) && hasThree(contents, name));
    const [triple] = triples;
    const [vector] = vectors;
    const scalar = SCALARS.find((name) => names.includes(name) && rank(name) >= 3);
    const velocity = triple ?? (vector === undefined ? undefined : [vector]);
    const first = velocity?.[0] ?? scalar;
    if (first === undefined) return null;
    const notes: Notes = {
      reasons: [`velocity: ${velocity?.join(", ") ?? "none"}; pressure: ${scalar ?? "none"}.`],
      warnings: [],
    };
    const [taken, ...others] = [...triples, ...vectors.map((name) => [name])].map((all) => all.join(", "));
    if (others.length > 0) notes.warnings.push(`${taken} is taken for the velocity, not ${others.join(" or ")}.`);
    const tables = tablesOf(contents, names);
    const order = orderOf(contents, first, triple === undefined && first !== scalar, tables, notes);
    const shape = contents.dataset(`/${first}`)?.shape as number[];
    const frames = order.includes("t") ? shape[order.indexOf("t")] : 1;
    const spatial = order.filter((dimension) => dimension !== "c");
    const place = (name: string) => ({ file: contents.name, path: `/${name}` });
    return {
      plan: {
        title: contents.name,
        axes: axesOf(contents, shape, order, tables, notes),
        time: timesOf(contents, names, frames, notes),
        fields: {
          ...(velocity === undefined
            ? {}
            : {
                velocity:
                  triple === undefined
                    ? { ...place(first), dimensions: order }
                    : { components: velocity.map(place) as never, dimensions: spatial },
              }),
          ...(scalar === undefined ? {} : { pressure: { ...place(scalar), dimensions: spatial } }),
        },
      },
      ...notes,
    };
  },
};

interface Notes {
  readonly reasons: string[];
  readonly warnings: string[];
}

/** Coordinate tables of the root by axis: name and length. */
type Tables = ReadonlyMap<AxisName, { readonly name: string; readonly length: number }>;

function tablesOf(contents: Contents, names: readonly string[]): Tables {
  const tables = new Map<AxisName, { name: string; length: number }>();
  for (const axis of AXIS_NAMES) {
    const name = [axis, `${axis}coor`].find((wanted) => names.includes(wanted));
    const shape = name === undefined ? [] : (contents.dataset(`/${name}`)?.shape ?? []);
    if (name !== undefined && shape.length === 1) tables.set(axis, { name, length: shape[0] });
  }
  return tables;
}

/** Whether a dataset has 4 or 5 dimensions and the components first (perhaps after the times) or last. */
function hasThree(contents: Contents, name: string): boolean {
  const shape = contents.dataset(`/${name}`)?.shape ?? [];
  return (
    (shape.length === 4 || shape.length === 5) &&
    [shape[0], shape[shape.length - 1], shape[shape.length - 4]].includes(3)
  );
}

function orderOf(contents: Contents, name: string, isVector: boolean, tables: Tables, notes: Notes): Dimension[] {
  const shape = contents.dataset(`/${name}`)?.shape as number[];
  const scales = contents.scaleNames(`/${name}`).map((scale) => SCALES.get((scale ?? "").toLowerCase()) ?? null);
  const named = scales.filter((scale) => scale !== null);
  if (AXIS_NAMES.every((axis) => named.includes(axis)) && shape.length - named.length <= (isVector ? 1 : 0)) {
    const order = scales.map((scale) => scale ?? "c");
    notes.reasons.push(`dimensions: ${order.join(" ")}, named by dimension scales.`);
    return order;
  }
  const component = isVector ? componentAt(shape, notes) : -1;
  const rest = shape.map((_, index) => index).filter((index) => index !== component);
  const order: Dimension[] = shape.map(() => "c");
  if (rest.length === 4) order[rest.shift() as number] = "t";
  const lengths = rest.map((index) => shape[index]);
  const spatial = byLength(lengths, tables);
  if (spatial === null) sayDefault(lengths, tables, notes);
  for (const [at, index] of rest.entries()) order[index] = (spatial ?? (["z", "y", "x"] as const))[at] as Dimension;
  if (spatial !== null) notes.reasons.push(`dimensions: ${order.join(" ")}, by the lengths of the coordinates.`);
  return order;
}

/** The dimension of the components: trailing 3, else leading 3 (perhaps after the times). */
function componentAt(shape: readonly number[], notes: Notes): number {
  const last = shape.length - 1;
  const leading = shape.length === 5 ? 1 : 0;
  const candidates = [last, leading, 0].filter((index, at, all) => shape[index] === 3 && all.indexOf(index) === at);
  const [chosen] = candidates as [number];
  if (candidates.length > 1)
    notes.warnings.push(
      `Dimensions ${candidates.join(" and ")} both have 3 elements; ${chosen} is taken for the components.`,
    );
  notes.reasons.push(`components: dimension ${chosen} of ${shape.join(" x ")}, which has 3 elements.`);
  return chosen;
}

/** The only assignment of axes to lengths that the coordinates allow, or null. */
function byLength(lengths: readonly number[], tables: Tables): AxisName[] | null {
  const order = lengths.map((length) => AXIS_NAMES.filter((axis) => tables.get(axis)?.length === length));
  if (order.some((axes) => axes.length !== 1)) return null;
  const axes = order.map(([axis]) => axis as AxisName);
  return new Set(axes).size === 3 ? axes : null;
}

function sayDefault(lengths: readonly number[], tables: Tables, notes: Notes): void {
  const why =
    tables.size < 3
      ? "nothing in the file names the axes"
      : `the coordinates do not tell ${lengths.join(" x ")} nodes apart`;
  notes.reasons.push(`dimensions: z y x by default, ${why}.`);
  notes.warnings.push(`The order of the axes is a guess: ${why}. Write a descriptor if z y x is wrong.`);
}

function axesOf(
  contents: Contents,
  shape: readonly number[],
  order: readonly Dimension[],
  tables: Tables,
  notes: Notes,
): DescriptorInput["axes"] {
  const axes = AXIS_NAMES.map((axis) => {
    const nodes = shape[order.indexOf(axis)];
    const table = tables.get(axis);
    if (table?.length === nodes) {
      notes.reasons.push(`${axis}: coordinates from /${table.name}; not periodic, nothing says that it is.`);
      return [axis, tableAxis(contents, `/${table.name}`)];
    }
    notes.warnings.push(`${axis}: the file has no coordinates for its ${nodes} nodes; spacing 1, not periodic.`);
    return [axis, { nodes, origin: 0, spacing: 1 }];
  });
  return Object.fromEntries(axes) as DescriptorInput["axes"];
}

function timesOf(contents: Contents, names: readonly string[], frames: number, notes: Notes): DescriptorInput["time"] {
  const name = TIMES.find((wanted) => names.includes(wanted));
  const values = name === undefined ? [] : [...contents.numbers(`/${name}`)];
  if (values.length === frames) {
    notes.reasons.push(`time: from /${name}.`);
    return describeTimes(values);
  }
  if (frames > 1 || name !== undefined)
    notes.warnings.push(`The file gives no times for its ${frames} frames; the index is taken as the time.`);
  return describeTimes(Array.from({ length: frames }, (_, index) => index));
}
