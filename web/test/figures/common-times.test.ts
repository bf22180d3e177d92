/** Paths of particles that start one after another, at times that all share. */
import { expect, it } from "vitest";
import { atCommonTimes } from "../../figures/particles-figure.js";

it("begin later by the time of their release, linear between records, and end where they end", () => {
  // Two particles with three records each, 0.5 apart: x is 10 (and 20) plus the age, y and z are 0.
  const positions = Float32Array.from([10, 10.5, 11, 20, 20.5, 21].flatMap((x) => [x, 0, 0]));
  const exits = Float32Array.of(Number.NaN, 0.75);
  const {
    times,
    positions: drawn,
    exits: left,
  } = atCommonTimes({ times: [0, 0.5, 1], particles: 2, positions, exits, values: null }, Float32Array.of(2, 2.25));
  expect(times).toEqual([2, 2.5, 3, 3.5]);
  const x = (particle: number) => Array.from({ length: 4 }, (_, k) => drawn[3 * (4 * particle + k)]);
  expect(x(0)).toEqual([10, 10.5, 11, 11]);
  expect(x(1)).toEqual([Number.NaN, 20.25, 20.75, 21]);
  expect([...left]).toEqual([Number.NaN, 3]);
});
