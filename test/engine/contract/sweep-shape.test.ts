/** Shapes of sweeps against a cache that forgets the brick used longest ago. */
import { describe, expect, it } from "vitest";
import { chooseShape, type SweepShape } from "../../../src/engine/contract/sweep-shape.js";
import type { Axes, Bricking, Triple } from "../../../src/kernels/types.js";
import { fc } from "../../support/property.js";

const EDGE = 16;

function axesOf(count: Triple, periodic: boolean): Axes {
  const axis = (bricks: number) => ({ nodes: EDGE * bricks, origin: 0, spacing: 1, periodic, coordinates: null });
  return [axis(count[0]), axis(count[1]), axis(count[2])];
}

/**
 * Bricks that a cache of `room` bricks reads when every brick with its next neighbours is used in the order of the
 * sweep.
 */
function simulate(count: Triple, { axes, width }: SweepShape, periodic: boolean, room: number): number {
  const [row, next, along] = axes as readonly [0, 1, 2];
  const bricks: { brick: Triple; rank: number[] }[] = [];
  for (let k = 0; k < count[2]; k++)
    for (let j = 0; j < count[1]; j++)
      for (let i = 0; i < count[0]; i++) {
        const brick: Triple = [i, j, k];
        const column = (a: 0 | 1 | 2): number => Math.floor(brick[a] / width[a]);
        bricks.push({ brick, rank: [column(next), column(row), brick[along], brick[next], brick[row]] });
      }
  bricks.sort((a, b) => {
    const part = a.rank.findIndex((value, p) => value !== b.rank[p]);
    return part < 0 ? 0 : (a.rank[part] as number) - (b.rank[part] as number);
  });
  const after = (at: number, a: 0 | 1 | 2): number[] => {
    if (at + 1 < count[a]) return [at, at + 1];
    return periodic ? [at, 0] : [at];
  };
  const cache = new Set<number>();
  let reads = 0;
  for (const { brick } of bricks) {
    for (const k of after(brick[2], 2))
      for (const j of after(brick[1], 1))
        for (const i of after(brick[0], 0)) {
          const index = (k * count[1] + j) * count[0] + i;
          if (!cache.delete(index)) reads++;
          cache.add(index);
        }
    while (cache.size > room) cache.delete(cache.values().next().value as number);
  }
  return reads;
}

describe("chooseShape", () => {
  it("foretells what a cache of that room reads at most", () => {
    const size = fc.integer({ min: 1, max: 9 });
    fc.assert(
      fc.property(
        fc.tuple(size, size, size),
        fc.boolean(),
        fc.integer({ min: 16, max: 250 }),
        (count, periodic, room) => {
          const bricking: Bricking = { edge: [EDGE, EDGE, EDGE], count };
          const { shape, reads } = chooseShape(axesOf(count, periodic), bricking, room, 0);
          const bricks = count[0] * count[1] * count[2];
          expect(simulate(count, shape, periodic, room)).toBeLessThanOrEqual(Math.round(reads * bricks));
        },
      ),
      { numRuns: 200 },
    );
  });

  it.each([
    // A cube of 256^3 in bricks of 32^3 and 64 MiB; one of 1024^3 in bricks of 64^3 and 512 MiB; layers much smaller
    // than z.
    { count: [8, 8, 8], room: 170, reads: 9 / 8 },
    { count: [16, 16, 16], room: 170, reads: ((18 / 16) * 19 * 17) / 16 ** 2 },
    { count: [4, 40, 4], room: 60, reads: 41 / 40 },
  ] as const)("$count bricks, room for $room: sweeps so that $reads are read of each", ({ count, room, reads }) => {
    const chosen = chooseShape(axesOf(count, true), { edge: [EDGE, EDGE, EDGE], count }, room, 2);
    expect(chosen.reads).toBeCloseTo(reads, 12);
  });

  it("needs room for the workers that go along together, and takes single columns when there is room for nothing", () => {
    const bricking: Bricking = { edge: [EDGE, EDGE, EDGE], count: [8, 8, 8] };
    const axes = axesOf([8, 8, 8], true);
    expect(chooseShape(axes, bricking, 170, 16).reads).toBeGreaterThan(chooseShape(axes, bricking, 170, 2).reads);
    expect(chooseShape(axes, bricking, 1, 2).shape.width).toEqual([1, 1, 8]);
  });
});
