/** Where a particle is between the records of its path, and that the crosshair comes to rest there. */
import { expect, it, vi } from "vitest";
import { answering, axisOf, model, setOf, show } from "./page.js";
import { buttonsOf } from "./template.js";

const { placeAt, ridePart } = await import("../ride.js");

it("follows a circle between records by their velocities, and has no place beyond them", () => {
  const path = [0, 0.3, 0.6, 0.9].map((t) => [t, Math.cos(t), Math.sin(t), 0.5, 0, -Math.sin(t), Math.cos(t), 0]);
  for (const time of [0, 0.1, 0.45, 0.6, 0.7, 0.9]) {
    const [x, y, z] = placeAt(path, time) as readonly number[];
    // The chord is up to 0.011 away.
    expect(Math.hypot((x as number) - Math.cos(time), (y as number) - Math.sin(time))).toBeLessThan(3e-5);
    expect(z).toBe(0.5);
  }
  expect([-0.1, 1].map((time) => placeAt(path, time))).toEqual([null, null]);
});

it.each([
  [0, 1],
  [10, 1.3],
  [-3, 9.99],
  [70_000, 6],
  [0, 0],
])("puts the crosshair at a place that stays the same, in a box from %d of length %d", (first, length) => {
  for (const periodic of [true, false]) {
    const ends = { first, last: first + length, length, spacing: length / 4, periodic: periodic && length > 0 };
    const set = {
      ...setOf("box", [0, 1]),
      axes: (["x", "y", "z"] as const).map((one) => ({ ...axisOf(one), ...ends })),
    };
    show(set as never, {});
    for (let i = 0; i < 50; i++) {
      const parts = [1, 3, 7].map((n) => (length * ((i * 0.618034) % 1)) / n);
      const place = model.placeIn(set as never, parts.map((one) => first + one) as never);
      model.change({ cross: place }, "part");
      expect(model.cross.peek()).toEqual(place);
      const slack = 1e-8 * length + 1e-7 * Math.abs(first) + 1e-12;
      for (const [a, one] of parts.entries()) expect(Math.abs(place[a as 0] - first - one)).toBeLessThan(slack);
    }
  }
});

it("stays at the end of a path that is lost, whichever time was shown before", async () => {
  // It is lost after t = 1.2; its last velocity lacks a component.
  const rows = [0, 0.4, 0.8, 1.2].map((t) => [0, t, 1 + t, 1, 1, null, 7, 1, 0, 0]);
  const lost = [1.6, 2].map((t) => [0, t, null, null, null, null, null, null, null, null]);
  answering((call) =>
    call === "paths"
      ? { rows: [...rows, [0, 1.4, 2.4, 1, 1, null, 7, null, 0, 0], ...lost] }
      : call === "values"
        ? { rows: [[1, 1, 1, 0]] }
        : new Float32Array(64),
  );
  const set = setOf("lost", [0, 1, 2, 3]);
  show(set, {});
  buttonsOf(ridePart(set)).get("Ride the particle at the crosshair")?.();
  const at = async (time: number, x: number) => {
    model.change({ time });
    await vi.waitFor(() => expect(model.cross.peek()[0]).toBeCloseTo(x, 7));
  };
  await at(1, 2);
  await at(3, 2.2);
  await at(0.4, 1.4);
  await at(3, 2.2);
  buttonsOf(ridePart(set)).get("Get off")?.();
});
