/** Selection of a cutout, and its check against the dataset, without the HDF5 library. */
import type { NodeBox } from "../bricks/stored-box.js";
import { axesOfField, type Dataset, type FieldName, fieldOf } from "../dataset/dataset.js";

/** The selection to cut out: fields, stored times that can be queried, from 0, and nodes from 0. */
export interface Selection {
  readonly fields: readonly FieldName[];
  readonly frames: { readonly first: number; readonly count: number };
  readonly box: NodeBox;
  /** Nodes by which numbers and coordinates are shifted from the box: whole periods. */
  readonly ahead?: readonly [number, number, number];
}

/** Whether a cutout holds a selection: fields on the same nodes, over a periodic seam at most one period. */
export function fitsCutout(dataset: Dataset, { fields, box }: Selection): boolean {
  if (new Set(fields).size < fields.length || fields.some((field) => fieldOf(dataset, field)?.own !== undefined))
    return false;
  const [axes, ...others] = fields.map((field) => JSON.stringify(axesOfField(dataset, field)));
  return (
    others.every((one) => one === axes) &&
    axesOfField(dataset, fields[0] as FieldName).every(({ nodes }, a) => (box.count[a] as number) <= nodes)
  );
}
