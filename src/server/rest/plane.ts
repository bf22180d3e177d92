/** `layPlane` lays a plane of equally spaced points through a dataset: the geometry of a slice. */
import { RequestError } from "../../errors.js";
import type { Dataset } from "../../storage/dataset.js";
import { inSlices } from "../http/event-loop.js";
import { spanOf } from "./describe.js";
import type { TripleWriter } from "./triple-writer.js";

export const AXIS_NAMES = ["x", "y", "z"] as const;
export type AxisName = (typeof AXIS_NAMES)[number];

/** Equally spaced positions along an axis; the first is `origin`. */
export interface Ruler {
  readonly axis: AxisName;
  readonly count: number;
  readonly origin: number;
  readonly spacing: number;
}

/** A plane at right angles to `axis`: rows and columns run along the other two, the later one along the rows. */
export interface Plane {
  readonly axis: AxisName;
  readonly at: number;
  readonly rows: Ruler;
  readonly columns: Ruler;
}

/** `count` positions over an axis: a whole period without its end, or from the first to the last node. */
function rulerOf(dataset: Dataset, index: number, nodes: number | undefined): Ruler {
  const axis = dataset.axes[index as 0 | 1 | 2];
  const { first, length } = spanOf(axis);
  const count = nodes ?? axis.nodes;
  const intervals = axis.periodic ? count : Math.max(1, count - 1);
  return { axis: AXIS_NAMES[index] as AxisName, count, origin: first, spacing: length / intervals };
}

/**
 * Lays a plane of points.
 *
 * @param nodes points along columns and rows; without it, as many as the grid has nodes there
 */
export function layPlane(dataset: Dataset, axis: AxisName, at: number, nodes: readonly number[]): Plane {
  const normal = AXIS_NAMES.indexOf(axis);
  const [columns, rows] = [0, 1, 2].filter((index) => index !== normal) as [number, number];
  return {
    axis,
    at,
    columns: rulerOf(dataset, columns, nodes[0]),
    rows: rulerOf(dataset, rows, nodes[1] ?? nodes[0]),
  };
}

/** Reads `nodes`: one whole number for both directions, or columns and rows with a comma between. */
export function readNodes(text: string | undefined): readonly number[] {
  if (text === undefined) return [];
  const counts = text.split(",").map((part) => (/^\d+$/.test(part) ? Number(part) : 0));
  if (counts.length > 2 || counts.some((count) => count < 1 || count > 65_536)) {
    throw new RequestError("InvalidRequest", "nodes must be one or two whole numbers from 1 to 65536.", {
      member: "nodes",
    });
  }
  return counts;
}

/** Points of a plane in all. */
export function pointsOf(plane: Plane): number {
  return plane.rows.count * plane.columns.count;
}

/** Writes the points of a plane, row by row from the smallest coordinates up. */
export async function writePlane(plane: Plane, writer: TripleWriter): Promise<void> {
  const { rows, columns } = plane;
  const place = { x: 0, y: 0, z: 0 };
  place[plane.axis] = plane.at;
  await inSlices(pointsOf(plane), (from, to) => {
    for (let i = from; i < to; i++) {
      const row = Math.floor(i / columns.count);
      place[rows.axis] = rows.origin + row * rows.spacing;
      place[columns.axis] = columns.origin + (i - row * columns.count) * columns.spacing;
      writer.add(place.x, place.y, place.z);
    }
  });
  writer.flush();
}
