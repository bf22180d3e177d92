/**
 * The parts of a reduction in the order of a sweep over bricks, if the cache does not hold their fields. The order in
 * which their states are merged does not depend on it.
 */
import type { PartOrder } from "../../../analysis/parts.js";
import type { ReductionPlan } from "../../../analysis/plan.js";
import { brickBytes } from "../../../storage/bricks/directory.js";
import type { Bricking, Dataset } from "../../../storage/dataset/dataset.js";
import type { NodeRegion } from "../../contract/node-region.js";
import { fieldsOf } from "../../contract/require-nodes.js";
import { leastReads, STENCIL_REACH, type SweepShape } from "../../contract/sweep-shape.js";

/** Rows of bricks that a sweep holds in one more layer: the row being reduced and the next one. */
const FRONT_ROWS = 2;

/** @returns the indices of the parts, in the order of their reduction */
export function placesInSweep(
  places: readonly number[],
  { at: part }: PartOrder,
  plan: ReductionPlan,
  region: NodeRegion,
  dataset: Dataset,
  cacheBytes: number,
): readonly number[] {
  const shape = shapeOf(part(0).count, plan, region, dataset, cacheBytes);
  if (shape === null) return places;
  const { axes, nodes } = shape;
  const [row, next, along] = axes;
  const keyed = places.map((place) => {
    const { from } = part(place);
    const column = (a: number): number => Math.floor((region.first[a] + from[a]) / nodes[a]);
    return { place, key: [column(next), column(row), from[along], from[next], from[row]] };
  });
  keyed.sort((a, b) => {
    const differs = a.key.findIndex((one, i) => one !== b.key[i]);
    return differs < 0 ? 0 : a.key[differs] - b.key[differs];
  });
  return keyed.map(({ place }) => place);
}

/** The axes of the sweep, and nodes of a column along x, y, z; null if the cache holds the fields of the region. */
function shapeOf(
  edge: readonly number[],
  plan: ReductionPlan,
  region: NodeRegion,
  dataset: Dataset,
  cacheBytes: number,
): (Pick<SweepShape, "axes"> & { readonly nodes: readonly number[] }) | null {
  const fields = fieldsOf(plan.columns, plan.names).flatMap((name) => dataset.fields[name] ?? []);
  const [main] = fields;
  if (main === undefined) return null;
  const placeBytes = fields.reduce((sum, { components, bricking }) => {
    const [x, y, z] = bricking.edge;
    return sum + brickBytes(components * x * y * z);
  }, 0);
  const room = Math.floor(cacheBytes / placeBytes);
  const bricking = bricksIn(region, main.bricking);
  if (bricking.count[0] * bricking.count[1] * bricking.count[2] <= room) return null;
  // The most layers of bricks that a part and its stencils touch.
  const touched = bricking.edge.map((nodes, a) => Math.floor((edge[a] + 2 * STENCIL_REACH - 2) / nodes) + 2);
  const fits = ([row, next, along]: readonly [0, 1, 2], wide: number, deep: number): boolean => {
    const [across, rows] = [bricking.count[row], bricking.count[next]];
    const layer = Math.min(across, wide + 2) * Math.min(rows, deep + 2);
    return touched[along] * layer + FRONT_ROWS * Math.min(across, wide + 2) <= room;
  };
  const { axes, width } = leastReads(dataset.axes, bricking, 0, fits, 2).shape;
  return { axes, nodes: width.map((bricks, a) => bricks * bricking.edge[a]) };
}

/** The bricks that hold nodes of a region. */
function bricksIn({ first, count, stride }: NodeRegion, { edge }: Bricking): Bricking {
  const bricks = edge.map((nodes, a) => {
    const last = first[a] + (count[a] - 1) * stride[a];
    return Math.floor(last / nodes) - Math.floor(first[a] / nodes) + 1;
  });
  return { edge, count: bricks as unknown as Bricking["count"] };
}
