/** Levels, percentages and seams of the volume that the surface worker keeps. */
import { expect, it } from "vitest";
import { type LevelMessage, type SurfaceMessage, serve, type VolumeMessage } from "../../figures/surface-worker.js";

/** The answers to levels asked of a volume of `counts` samples, whose values `f` gives by their number. */
function asked(
  counts: readonly [number, number, number],
  f: (i: number) => number,
  levels: readonly Partial<LevelMessage>[],
  periodic: VolumeMessage["periodic"] = [false, false, false],
): SurfaceMessage[] {
  const answers: SurfaceMessage[] = [];
  const send = serve((message) => answers.push(message));
  const values = Float32Array.from({ length: counts[0] * counts[1] * counts[2] }, (_, i) => f(i));
  send({ kind: "volume", counts, origin: [0, 0, 0], spacing: [1, 1, 1], periodic, values, tint: null });
  for (const level of levels) send({ kind: "level", id: 1, level: null, enclosed: 5, smallest: false, ...level });
  return answers;
}

it("finds levels by the percentage that they enclose, in volumes of which it sorts a part too", () => {
  for (const side of [8, 80]) {
    const total = side ** 3;
    const [largest, smallest] = asked([side, side, side], (i) => i, [
      { enclosed: 10 },
      { enclosed: 10, smallest: true },
    ]);
    expect((largest?.level as number) / total).toBeCloseTo(0.9, 2);
    expect((smallest?.level as number) / total).toBeCloseTo(0.1, 2);
    expect([largest?.enclosed, smallest?.enclosed]).toEqual([10, 10]);
    expect((largest as SurfaceMessage).tails.map((tail) => tail / total)).toEqual([
      expect.closeTo(0.005, 2),
      expect.closeTo(0.995, 2),
    ]);
  }
});

it("says which percentage a level encloses, and the root mean square, without samples that have no value", () => {
  const [above, below] = asked([10, 10, 10], (i) => (i < 500 ? Number.NaN : i - 500), [
    { level: 399.5 },
    { level: 99.5, smallest: true },
  ]);
  expect([above?.enclosed, below?.enclosed]).toEqual([expect.closeTo(20, 9), expect.closeTo(20, 9)]);
  expect(above?.rms).toBeCloseTo(Math.sqrt((499 * 500 * 999) / 6 / 500), 6);
});

it("closes surfaces over the seam of periodic axes", () => {
  const slab = (i: number) => (i % 8 === 7 ? 1 : 0);
  const reach = (periodic: boolean) => {
    const [{ positions }] = asked([8, 2, 2], slab, [{ level: 0.5 }], [periodic, true, true]) as [SurfaceMessage];
    return [...new Set(Array.from(positions).filter((_, i) => i % 3 === 0))].sort();
  };
  expect(reach(false)).toEqual([6.5]);
  expect(reach(true)).toEqual([6.5, 7.5]);
});
