/** Selection of a cutout, and its check against the dataset, without the HDF5 library. */
import type { NodeBox } from "../bricks/stored-box.js";
import { axesOfField, type Dataset, type FieldName, fieldOf, type KnownField } from "../dataset/dataset.js";

/** The selection to cut out: fields, stored times that can be queried, from 0, and nodes from 0. */
export interface Selection {
  readonly fields: readonly FieldName[];
  /** Names that the fields were given; null for their own. */
  readonly given?: readonly (string | null)[];
  readonly frames: readonly number[];
  readonly box: NodeBox;
  /** Nodes by which numbers and coordinates are shifted from the box: whole periods. */
  readonly ahead?: readonly [number, number, number];
}

const NAMES: Readonly<Record<KnownField, string>> = {
  ...{ velocity: "Velocity", pressure: "Pressure", force: "Force", density: "Density", temperature: "Temperature" },
  ...{ magnetic: "MagneticField", potential: "VectorPotential" },
};

export const namesIn = ({ fields, given }: Selection): readonly string[] =>
  fields.map((field, i) => given?.[i] ?? NAMES[field as KnownField] ?? field);

/** Whether a cutout holds a selection: fields on the same nodes, over a periodic seam at most one period. */
export function fitsCutout(dataset: Dataset, selection: Selection): boolean {
  const { fields, frames, box } = selection;
  const isTwice = [fields, namesIn(selection), frames].some((list) => new Set<unknown>(list).size < list.length);
  if (isTwice || fields.some((field) => fieldOf(dataset, field)?.own !== undefined)) return false;
  const [axes, ...others] = fields.map((field) => JSON.stringify(axesOfField(dataset, field)));
  return (
    others.every((one) => one === axes) &&
    axesOfField(dataset, fields[0] as FieldName).every(({ nodes }, a) => (box.count[a] as number) <= nodes)
  );
}
