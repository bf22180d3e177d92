/** Divides the nodes of a search or a cutout into boxes by owner. */

import type { NodeRegion } from "../engine/node-region.js";
import type { RegionBox } from "../engine/query.js";
import type { Triple } from "../storage/dataset.js";
import { type RegionSpan, type Regions, spansOf } from "./regions.js";

/** A box of nodes and its owner. */
export interface OwnedBox extends RegionBox {
  readonly owner: number;
}

/** Divides a box of a region of nodes by owner; neighbours along x with one owner stay together. */
export function boxesOf(
  regions: Regions,
  owners: Uint8Array,
  region: NodeRegion,
  { from, count }: RegionBox,
): OwnedBox[] {
  const along = (a: 0 | 1 | 2): RegionSpan[] =>
    spansOf(regions, a, region.first[a] + from[a] * region.stride[a], region.stride[a], count[a]);
  const boxes: OwnedBox[] = [];
  const [xs, ys, zs] = [along(0), along(1), along(2)];
  for (const z of zs) {
    for (const y of ys) {
      let row: OwnedBox | null = null;
      for (const x of xs) {
        const owner = owners[(z.region * regions.count[1] + y.region) * regions.count[0] + x.region];
        const joined: OwnedBox | null = row?.owner === owner ? row : null;
        if (joined !== null) boxes.pop();
        const start: Triple = [joined?.from[0] ?? from[0] + x.from, from[1] + y.from, from[2] + z.from];
        row = { from: start, count: [from[0] + x.from + x.count - start[0], y.count, z.count], owner };
        boxes.push(row);
      }
    }
  }
  return boxes;
}
