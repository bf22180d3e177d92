/** Divides the region of a search or a cutout into boxes of nodes by owner, and joins their answers. */

import type { NodeRegion } from "../engine/node-region.js";
import type { Query } from "../engine/query.js";
import type { Hits } from "../kernels/threshold.js";
import type { Triple } from "../storage/dataset.js";
import { type RegionSpan, type Regions, spansOf } from "./regions.js";

/** A box of the nodes that a region takes: the first along x, y, z, counted in taken nodes, and how many. */
export interface OwnedBox {
  readonly from: Triple;
  readonly count: Triple;
  readonly owner: number;
}

/** Divides a region of nodes by owner; neighbours along x with one owner stay together. */
export function boxesOf(regions: Regions, owners: Uint8Array, { first, stride, count }: NodeRegion): OwnedBox[] {
  const along = (a: 0 | 1 | 2): RegionSpan[] => spansOf(regions, a, first[a], stride[a], count[a]);
  const boxes: OwnedBox[] = [];
  const [xs, ys, zs] = [along(0), along(1), along(2)];
  for (const z of zs) {
    for (const y of ys) {
      let row: OwnedBox | null = null;
      for (const x of xs) {
        const owner = owners[(z.region * regions.count[1] + y.region) * regions.count[0] + x.region];
        const joined: OwnedBox | null = row?.owner === owner ? row : null;
        if (joined !== null) boxes.pop();
        const from: Triple = [joined?.from[0] ?? x.from, y.from, z.from];
        row = { from, count: [x.from + x.count - from[0], y.count, z.count], owner };
        boxes.push(row);
      }
    }
  }
  return boxes;
}

/** A box of a region as a region of its own. */
export function partOf(region: NodeRegion, { from, count }: OwnedBox): NodeRegion {
  const first = region.first.map((node, a) => node + from[a] * region.stride[a]) as unknown as Triple;
  return { ...region, first, count };
}

/** The query for a box of a region. */
export function boxQuery(query: Query, { first, stride }: NodeRegion, { from, count }: OwnedBox): Query {
  const low = (a: 0 | 1 | 2): number => first[a] + from[a] * stride[a];
  if (query.x_start === undefined) {
    const [Xwidth, Ywidth, Zwidth] = count;
    return { ...query, X: low(0), Y: low(1), Z: low(2), Xwidth, Ywidth, Zwidth };
  }
  const high = (a: 0 | 1 | 2): number => low(a) + (count[a] - 1) * stride[a] + 1;
  return {
    ...query,
    ...{ x_start: low(0) + 1, y_start: low(1) + 1, z_start: low(2) + 1 },
    ...{ x_end: high(0), y_end: high(1), z_end: high(2) },
  };
}

/** The records of a search as hits: nodes that count from 0, and values. */
export function hitsIn(records: Float32Array): Hits {
  const count = records.length / 4;
  const nodes = new Int32Array(3 * count);
  const values = new Float32Array(count);
  for (let i = 0; i < count; i++) {
    for (let a = 0; a < 3; a++) nodes[3 * i + a] = records[4 * i + a] - 1;
    values[i] = records[4 * i + 3];
  }
  return { nodes, values, count, unknown: 0, limit: count };
}

/** Copies the nodes of a box to their places in a region: rows along x. */
export function placeBox(
  parts: readonly Float32Array[],
  { from, count }: OwnedBox,
  region: NodeRegion,
  components: number,
  out: Float32Array,
): void {
  const run = components * count[0];
  let row = 0;
  for (const values of parts) {
    for (let at = 0; at < values.length; at += run, row++) {
      const y = from[1] + (row % count[1]);
      const z = from[2] + Math.floor(row / count[1]);
      out.set(values.subarray(at, at + run), components * ((z * region.count[1] + y) * region.count[0] + from[0]));
    }
  }
}
