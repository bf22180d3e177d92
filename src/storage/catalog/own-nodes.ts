/** Staggered nodes of a field or a component, and the domain that all nodes span. */
import { DataError } from "../../shared/errors.js";
import { AXIS_NAMES, type Axes, type Axis, type FieldName, type FieldSource, nodeAt } from "../dataset/dataset.js";
import type { Descriptor, FieldDescription } from "../dataset/descriptor.js";
import { type ReadAxis, readAxis } from "./axis.js";
import type { Verification } from "./verification.js";

/** Largest distance of the ends of the nodes of different fields, in spacings: staggered ones are half a cell apart. */
const MAX_APART = 1.5;

export function triple<T, U>([x, y, z]: readonly T[], of: (entry: T, at: 0 | 1 | 2) => U): readonly [U, U, U] {
  return [of(x as T, 0), of(y as T, 1), of(z as T, 2)];
}

/**
 * The axes of a field or a component.
 * @throws DataError for an offset along unequal spacings, or another number of nodes in a period
 */
export function axesAt(
  { axes: described }: Descriptor,
  axes: readonly ReadAxis[],
  at: NonNullable<FieldDescription["at"]>,
  verification: Verification,
): readonly ReadAxis[] {
  if (AXIS_NAMES.every((name) => (at[name] ?? 0) === 0)) return axes;
  return triple(axes, (read, a) => {
    const name = AXIS_NAMES[a];
    const own = at[name] ?? 0;
    if (own === 0) return read;
    const { periodic } = described[name];
    if (typeof own !== "number" && !("offset" in own))
      return readAxis({ coordinates: own, periodic }, verification, name);
    const { axis, descending } = read;
    const { offset, nodes } = typeof own === "number" ? { offset: own, nodes: axis.nodes } : own;
    if (axis.coordinates !== null)
      throw new DataError(`at.${name} is an offset in spacings, which axes.${name} has several of: give coordinates`);
    if (periodic && nodes !== axis.nodes)
      throw new DataError(`at.${name}.nodes must be the ${axis.nodes} of the periodic axis`);
    const spacing = descending ? -axis.spacing : axis.spacing;
    const first = descending ? endsOf(axis)[1] : axis.origin;
    return readAxis({ nodes, origin: first + offset * spacing, spacing, periodic }, verification, name);
  });
}

const endsOf = (axis: Axis): readonly [number, number] => [nodeAt(axis, 0), nodeAt(axis, axis.nodes - 1)];

function endSpacing({ coordinates, spacing, nodes }: Axis): number {
  if (coordinates === null || nodes < 2) return spacing;
  return Math.max(coordinates[1] - coordinates[0], coordinates[nodes - 1] - coordinates[nodes - 2]);
}

/** Gives all axes the domain that the nodes of all fields span. Throws DataError if some end long before others. */
export function inOneDomain(
  axes: Axes,
  fields: Readonly<Record<FieldName, FieldSource>>,
): { readonly axes: Axes; readonly fields: Readonly<Record<FieldName, FieldSource>> } {
  const parts = Object.values(fields).flatMap((field) => field.own ?? [field]);
  if (parts.every((part) => part.axes === undefined)) return { axes, fields };
  const all = [axes, ...parts.map((part) => part.axes ?? axes)];
  const ends = triple(AXIS_NAMES, (_, a) => {
    const some = all.map((one) => endsOf(one[a]));
    return [Math.min(...some.map(([first]) => first)), Math.max(...some.map(([, last]) => last))] as const;
  });
  const widened = (some: Axes, name: string): Axes =>
    triple<Axis, Axis>(some, (axis, a) => {
      const [first, last] = endsOf(axis);
      const beyond = [first - ends[a][0], ends[a][1] - last] as const;
      if (axis.periodic || (beyond[0] === 0 && beyond[1] === 0)) return axis;
      if (Math.max(...beyond) > MAX_APART * endSpacing(axis) || Math.min(...beyond) < 0)
        throw new DataError(
          `the nodes of ${name} end more than a cell before those of other fields along ${AXIS_NAMES[a]}`,
        );
      return { ...axis, beyond };
    });
  const source = (name: string, one: FieldSource): FieldSource => ({
    ...one,
    ...(one.axes === undefined || one.own !== undefined ? {} : { axes: widened(one.axes, name) }),
    ...(one.own === undefined ? {} : { own: triple(one.own, (part) => source(name, part)) }),
  });
  return {
    axes: widened(axes, "the dataset"),
    fields: Object.fromEntries(Object.entries(fields).map(([name, one]) => [name, source(name, one)])),
  };
}
