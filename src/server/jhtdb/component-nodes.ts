/** Nodes of the components of a field, with the coordinates that clients of the public service compute. */
import {
  type Axes,
  type Axis,
  axesOfField,
  type Dataset,
  type FieldName,
  partsOfField,
} from "../../engine/contract/dataset.js";
import type { StridedRange } from "./cutout-query.js";

/** Components that share nodes: their letters, `uv`, and the axes of their nodes. */
export interface ComponentNodes {
  readonly letters: string;
  readonly axes: Axes;
}

export function componentNodes(
  dataset: Dataset,
  field: FieldName,
  by: (axes: Axes) => unknown,
): readonly ComponentNodes[] {
  const letters = field === "velocity" ? "uvw" : "xyz";
  const groups = new Map<string, ComponentNodes>();
  for (const [c, part] of partsOfField(dataset, field).entries()) {
    const axes = axesOfField(dataset, part);
    const key = JSON.stringify(by(axes));
    groups.set(key, { letters: `${groups.get(key)?.letters ?? ""}${letters[c]}`, axes: groups.get(key)?.axes ?? axes });
  }
  return [...groups.values()];
}

/** Digits after the point to which clients round coordinates. */
export const DECIMALS = 7;

/**
 * Coordinates of a range; they continue beyond the seam of a periodic axis. On even axes they have the bits of
 * `np.around(np.arange(..., dtype=float32) * spacing, 7) + origin` in float32, by which the Python client selects them.
 */
export function coordinatesOf(axis: Axis, { from, count, stride }: StridedRange): number[] {
  const unit = 10 ** DECIMALS;
  const spacing = Math.fround(axis.spacing);
  return Array.from({ length: count }, (_, i) => {
    const node = from + i * stride;
    const stretched = axis.coordinates?.[node];
    if (stretched !== undefined) return stretched;
    const scaled = Math.fround(Math.fround(Math.fround(node) * spacing) * unit);
    return Math.fround(Math.fround(roundToEven(scaled) / unit) + axis.origin);
  });
}

function roundToEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}
