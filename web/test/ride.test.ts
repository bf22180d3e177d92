/** Where a particle is between the records of its path. */
import { expect, it } from "vitest";
import "./page.js";

const { placeAt } = await import("../ride.js");

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
