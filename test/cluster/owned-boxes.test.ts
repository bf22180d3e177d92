/** Boxes of a search or a cutout hold every node once, with the owner of its region. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { boxesOf } from "../../src/cluster/owned-boxes.js";
import { regionsOf } from "../../src/cluster/regions.js";
import type { NodeRegion } from "../../src/engine/contract/node-region.js";
import type { Axis } from "../../src/kernels/types.js";

const axis: Axis = { nodes: 256, origin: 0, spacing: 1, periodic: true, coordinates: null };
/** Four regions along each axis, of 64 nodes. */
const regions = regionsOf([axis, axis, axis], { edge: [32, 32, 32], count: [8, 8, 8] });
const span = fc.record({ first: fc.nat(255), stride: fc.integer({ min: 1, max: 30 }), from: fc.nat(1) });

it("holds every node once, with the owner of its region; neighbours along x with one owner are one box", () => {
  const owners = fc.uint8Array({ minLength: 64, maxLength: 64, max: 1 });
  fc.assert(
    fc.property(fc.tuple(span, span, span), owners, (spans, owner) => {
      const along = (of: (one: (typeof spans)[number]) => number) => spans.map(of) as [number, number, number];
      const first = along((one) => one.first);
      const stride = along((one) => one.stride);
      const from = along((one) => one.from);
      // Boxes may go on over the seam for a period.
      const count = along((one) => Math.min(8, Math.floor((511 - one.first) / one.stride) + 1 - one.from));
      const nodes = { first, stride } as unknown as NodeRegion;
      const boxes = boxesOf(regions, owner, nodes, { from, count });
      const seen = new Map<string, number>();
      for (const box of boxes)
        for (let k = 0; k < box.count[2]; k++)
          for (let j = 0; j < box.count[1]; j++)
            for (let i = 0; i < box.count[0]; i++) {
              const place = [box.from[0] + i, box.from[1] + j, box.from[2] + k];
              expect(seen.has(place.join())).toBe(false);
              seen.set(place.join(), box.owner);
            }
      expect(seen.size).toBe(count[0] * count[1] * count[2]);
      for (const [place, found] of seen) {
        const [x, y, z] = place.split(",").map((at, a) => {
          expect(Number(at)).toBeGreaterThanOrEqual(from[a] as number);
          return Math.floor((((first[a] as number) + Number(at) * (stride[a] as number)) % 256) / 64);
        }) as [number, number, number];
        expect(found).toBe(owner[(z * 4 + y) * 4 + x]);
      }
      for (const [i, box] of boxes.entries()) {
        const next = boxes[i + 1];
        const joins = next?.from[1] === box.from[1] && next.from[2] === box.from[2];
        expect(joins && next.owner === box.owner).toBe(false);
      }
    }),
    { numRuns: 30 },
  );
});
