/** Describes the numbers of a cutout as arrays with the coordinates of their nodes, for NumPy and NetCDF. */

import {
  AXIS_NAMES,
  type Axis,
  axesOfField,
  type Dataset,
  type FieldName,
  partsOfField,
} from "../../../engine/contract/dataset.js";
import type { Query } from "../../../engine/contract/query.js";
import type { SampledGrid } from "../../../engine/cutouts/cutout-thread.js";
import type { TimeSlices } from "../../http/policies/time-slices.js";
import { originAttributes, originTexts } from "../answer/origin.js";
import { aboutField, aboutUnit, timesOf } from "../describe.js";
import { coordinateOf } from "../region.js";

/** A cutout: its query by corners, the field that it is of or the expression, and how many nodes it has. */
export interface DescribedCutout {
  readonly dataset: Dataset;
  readonly query: Query;
  /** Nodes by which the box lies further along each axis than its corners say: whole periods. */
  readonly ahead: readonly [number, number, number];
  readonly content: { readonly field: FieldName } | { readonly expression: string };
  /** Nodes along z, y and x, and components. */
  readonly shape: readonly number[];
  readonly options: Readonly<Record<string, unknown>>;
}

/** Coordinates of the nodes along an axis. */
interface NodePlaces {
  readonly name: string;
  readonly letter: "x" | "y" | "z";
  readonly coordinates: Float64Array;
}

/** Coordinates of the nodes of a part of a cutout along z, y and x; those of its own have its name. */
function placesOf(
  { dataset, query, ahead, shape }: DescribedCutout,
  axes: readonly Axis[],
  part: string,
): readonly NodePlaces[] {
  return [2, 1, 0].map((a, d) => {
    const letter = AXIS_NAMES[a] as NodePlaces["letter"];
    const first = (query[`${letter}_start`] as number) - 1 + (ahead[a] as number);
    const step = query[`${letter}_step`] as number;
    const along = (axis: Axis) =>
      Float64Array.from({ length: shape[d] as number }, (_, i) => coordinateOf(axis, first + i * step));
    const [own, shared] = [along(axes[a] as Axis), along(dataset.axes[a as 0 | 1 | 2])];
    const isShared = own.every((at, i) => at === shared[i]);
    return { name: isShared ? letter : `${letter}_of_${part.replace(".", "_")}`, letter, coordinates: own };
  });
}

/** The parts of a cutout that have nodes of their own: all of it, or each component. */
function partsOf(
  cutout: DescribedCutout,
): readonly { readonly part: string; readonly places: readonly NodePlaces[] }[] {
  const { dataset, content } = cutout;
  if ("expression" in content) return [{ part: "quantity", places: placesOf(cutout, dataset.axes, "quantity") }];
  const parts = partsOfField(dataset, content.field);
  return parts.map((part) => ({ part, places: placesOf(cutout, axesOfField(dataset, part), part) }));
}

/** The places of all nodes, each once. */
export function placesIn(cutout: DescribedCutout): readonly NodePlaces[] {
  return [...new Map(partsOf(cutout).flatMap(({ places }) => places.map((one) => [one.name, one]))).values()];
}

/** When the nodes were written. */
export function timeOf({ dataset, query: { T = 1 } }: DescribedCutout): number {
  return timesOf(dataset.time)[T - 1] as number;
}

/** Deals numbers in turn to arrays of their own. */
async function dealt(
  parts: AsyncIterable<Float32Array>,
  length: number,
  arrays: number,
  slices: Pick<TimeSlices, "each">,
): Promise<readonly Float32Array[]> {
  const out = Array.from({ length: arrays }, () => new Float32Array(length / arrays));
  let at = 0;
  for await (const part of parts) {
    const start = at;
    await slices.each(part.length / arrays, (from, to) => {
      for (const [a, values] of out.entries())
        for (let i = from; i < to; i++) values[start + i] = part[arrays * i + a] as number;
    });
    at += part.length / arrays;
  }
  return out;
}

/**
 * The cutout as NetCDF describes it: a vector whose components have nodes of their own is three variables.
 *
 * @param numbers of the nodes in their order, in parts that may be read until the next one is asked for
 */
export async function gridOf(
  cutout: DescribedCutout,
  numbers: AsyncIterable<Float32Array>,
  slices: Pick<TimeSlices, "each">,
): Promise<SampledGrid> {
  const { dataset, content, shape } = cutout;
  const components = shape[3] ?? 1;
  const parts = partsOf(cutout);
  const values = await dealt(
    numbers,
    shape.reduce((product, length) => product * length, 1),
    parts.length,
    slices,
  );
  const isVector = components > 1 && parts.length === 1;
  const told = "field" in content ? aboutField(dataset, content.field) : { long_name: content.expression };
  const [length, time] = [aboutUnit(dataset, "length"), aboutUnit(dataset, "time")];
  const variables = parts.map(({ part, places }, c) => ({
    name: part.replace(".", "_"),
    values: values[c] as Float32Array,
    axes: [...places.map(({ name }) => name), ...(isVector ? ["component"] : [])],
    attributes: { ...told, ...(parts.length === 1 ? {} : { component: part.slice(-1) }) },
  }));
  const axes = placesIn(cutout).map(({ name, letter, coordinates }) => ({
    ...{ name, coordinates },
    attributes: { ...length, axis: letter.toUpperCase() },
  }));
  const component = {
    ...{ name: "component", coordinates: Float64Array.from({ length: components }, (_, c) => c) },
    attributes: {
      long_name: `component of the ${components === 3 ? "vector" : "tensor"}`,
      flag_meanings: components === 3 ? "x y z" : "xx xy xz yx yy yz zx zy zz",
    },
  };
  const origin = originAttributes(originTexts(dataset, "cutout", cutout.options));
  return {
    variables,
    axes: [...axes, ...(isVector ? [component] : [])],
    scalars: [{ name: "time", coordinates: Float64Array.of(timeOf(cutout)), attributes: time }],
    about: { title: `Cutout of ${dataset.name}`, ...origin },
  };
}
