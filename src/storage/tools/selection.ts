/** Selection of a cutout, and its check against the dataset, without the HDF5 library. */
import type { NodeBox } from "../bricks/stored-box.js";
import { AXIS_NAMES, axesOfField, type Dataset, type FieldName, fieldOf } from "../dataset/dataset.js";

/** The selection to cut out: fields, stored frames from 0, nodes from 0. */
export interface Selection {
  readonly fields: readonly FieldName[];
  readonly frames: { readonly first: number; readonly count: number };
  readonly box: NodeBox;
  /** Nodes by which numbers and coordinates are shifted from the box: whole periods. */
  readonly ahead?: readonly [number, number, number];
}

/** Checks a selection against its dataset. Returns the problem, or null. */
export function selectionProblem(dataset: Dataset, { fields, frames, box }: Selection): string | null {
  for (const field of fields) if (fieldOf(dataset, field) === undefined) return `${dataset.name} has no ${field}`;
  const apart = fields.find((field) => fieldOf(dataset, field)?.own !== undefined);
  if (apart !== undefined)
    return `fields: ${apart} has its own nodes, which this file cannot state; the NetCDF of GET cutout of /api states them`;
  const [axes, ...others] = fields.map((field) => axesOfField(dataset, field));
  const other = others.findIndex((one) => JSON.stringify(one) !== JSON.stringify(axes));
  if (other >= 0)
    return `fields: ${fields[0]} and ${fields[other + 1]} have nodes at different places, and this file has one list of coordinates`;
  const repeated = fields.find((field, i) => fields.indexOf(field) < i);
  if (repeated !== undefined) return `fields name ${repeated} twice`;
  if (frames.first + frames.count > dataset.time.count)
    return `frames ${frames.first + 1} to ${frames.first + frames.count}: there are ${dataset.time.count}`;
  for (const [index, axis] of AXIS_NAMES.entries()) {
    const end = box.first[index] + box.count[index];
    const { nodes, periodic } = (axes ?? dataset.axes)[index];
    // On a periodic axis a box may continue over the seam.
    if (periodic ? box.first[index] >= nodes || box.count[index] > nodes : end > nodes)
      return `${axis} ${box.first[index] + 1} to ${end}: there are ${nodes} nodes`;
  }
  return null;
}
