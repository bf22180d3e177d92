/** Divides the nodes of searches and cutouts into boxes by owner, and the parts of reductions by owner. */
import { partsOf } from "../analysis/parts.js";
import type { ReductionPlan } from "../analysis/plan.js";
import type { NodeRegion } from "../engine/contract/node-region.js";
import type { RegionBox } from "../engine/contract/query.js";
import type { Regions } from "./regions.js";

export type OwnedBox = RegionBox & { readonly owner: number };

export function boxesOf(
  regions: Regions,
  owners: Uint8Array,
  nodes: NodeRegion,
  { from, count }: RegionBox,
): OwnedBox[] {
  /** Regions along an axis with their nodes in the box. Beyond the seam of a periodic axis the regions repeat. */
  const along = (a: 0 | 1 | 2) => {
    const [stride, edge] = [nodes.stride[a], regions.edge[a]];
    const first = nodes.first[a] + from[a] * stride;
    const place = (node: number): number => Math.min(count[a], Math.max(0, Math.ceil((node - first) / stride)));
    const { nodes: period } = regions.axes[a];
    return Array.from({ length: 2 * regions.count[a] }, (_, i) => {
      const region = i % regions.count[a];
      const before = i < regions.count[a] ? 0 : period;
      const start = place(before + region * edge);
      const end = place(before + Math.min(period, (region + 1) * edge));
      return { region, from: from[a] + start, count: end - start };
    }).filter((span) => span.count > 0);
  };
  const boxes: (OwnedBox & { readonly count: [number, number, number] })[] = [];
  const [xs, ys, zs] = [along(0), along(1), along(2)];
  for (const z of zs) {
    for (const y of ys) {
      const row = boxes.length;
      for (const x of xs) {
        const owner = owners[(z.region * regions.count[1] + y.region) * regions.count[0] + x.region];
        const last = boxes.length > row ? boxes[boxes.length - 1] : null;
        if (last?.owner === owner) last.count[0] += x.count;
        else boxes.push({ owner, from: [x.from, y.from, z.from], count: [x.count, y.count, z.count] });
      }
    }
  }
  return boxes;
}

/**
 * Gives each part of a reduction to the owner of its middle; lines across several regions go to their owners in turn.
 * @param runs first part and number of parts, in the order of `partsOf` @returns the runs of each owner
 */
export function runsOf(
  { axes, count, edge }: Regions,
  owners: Uint8Array,
  { first, stride }: NodeRegion,
  plan: ReductionPlan,
  runs: readonly number[],
): ReadonlyMap<number, readonly number[]> {
  const { at: part } = partsOf(plan);
  const found = new Map<number, number[]>();
  for (let i = 0; i < runs.length; i += 2)
    for (let place = runs[i]; place < runs[i] + runs[i + 1]; place++) {
      const box = part(place);
      const [x, y, z] = ([0, 1, 2] as const).map((a) => {
        const across = Math.max(1, Math.floor((box.count[a] * stride[a]) / edge[a]));
        const taken = box.from[a] + Math.floor((((place % across) + 0.5) * box.count[a]) / across);
        return Math.floor(((first[a] + taken * stride[a]) % axes[a].nodes) / edge[a]);
      });
      const owner = owners[(z * count[1] + y) * count[0] + x];
      const own = found.get(owner) ?? [];
      found.set(owner, own);
      if (own.length > 0 && own[own.length - 2] + own[own.length - 1] === place) own[own.length - 1]++;
      else own.push(place, 1);
    }
  return found;
}
