/** Particles with drag: exact for constant wind, published paths, both limits, order, stability. */
import { describe, expect, it } from "vitest";
import { advectInertial, dragCoefficients } from "../../src/kernels/particles.js";
import { fc } from "../support/property.js";
import { T16 } from "./fields.js";
import { distance, drag, expectNear, path, rotation, trace, turbulence, wind } from "./particles-support.js";

describe("advectInertial", () => {
  it("is exact for a constant wind", () => {
    const { x, v } = drag(wind, 0.02, 10, 0.1, [0, 0, 0], [0, 0, 0]);
    expectNear([x[0] as number, v[0] as number], [0.1135335283, 0.8646647168], 1e-10);
    expectNear(drag(wind, 0.02, 10, 0.001, [0, 0, 0], [0, 0, 0]).x, [0.199, 0, 0], 1e-10);
    expectNear(drag(wind, 0.02, 10, 0, [0, 0, 0], [0, 0, 0]).x, [0.2, 0, 0], 1e-14);
  });

  it.each([
    [0.5, [0.78464221, 0.98171518, 0]],
    [0.1, [0.60310462, 0.90851569, 0]],
    [0.01, [0.5449088, 0.85048298, 0]],
    [0, [0.5389707, 0.84247292, 0]],
  ])("follows the published paths in a rotation with response time %d", (responseTime, expected) => {
    expectNear(drag(rotation, 0.1, 10, responseTime, [1, 0, 0], [0, 1, 0]).x, expected, 1e-8);
  });

  it("is the Heun tracer without response time, and ballistic with an endless one", () => {
    expectNear(drag(turbulence, 0.1, 4, 0, T16.point, [9, 9, 9]).x, trace(turbulence, 0.1, 4, T16.point), 1e-14);
    expectNear(drag(rotation, 0.1, 10, Number.POSITIVE_INFINITY, [1, 0, 0], [0, 2, 1]).x, [1, 2, 1], 1e-14);
  });

  it("takes a response time of minus zero for the zero it is", () => {
    const start: [number, number, number] = [9, 9, 9];
    expect(drag(turbulence, 0.1, 4, -0, T16.point, start).x).toEqual(drag(turbulence, 0.1, 4, 0, T16.point, start).x);
  });

  it("starts with the velocity of the fluid when none is given", () => {
    const own = new Float64Array(3);
    turbulence(Float64Array.from(T16.point), 1, 0, own);
    expect(drag(turbulence, 0.1, 4, 0.2, T16.point, null).x).toEqual(
      drag(turbulence, 0.1, 4, 0.2, T16.point, [...own]).x,
    );
  });

  it.each([2, 0.5, 0.1])("is of second order in the step at response time %d", (responseTime) => {
    const end = (steps: number) => drag(rotation, 1 / steps, steps, responseTime, [1, 0, 0], [0, 1, 0]).x;
    const finest = end(5120);
    const [a, b] = [distance(end(160), finest), distance(end(320), finest)];
    expect(Math.abs(Math.log2(a / b) - 2)).toBeLessThan(0.1);
  });

  it("is stable for every ratio of step and response time from 1e-4 to 1e4", () => {
    for (let power = -4; power <= 4; power += 0.25) {
      const { x, v } = drag(rotation, 0.01, 200, 0.01 / 10 ** power, [1, 0, 0], [0, 1, 0]);
      expect(Math.hypot(...x)).toBeLessThan(3);
      expect(Math.hypot(...v)).toBeLessThan(3);
      if (power >= 3) expectNear(x, trace(rotation, 0.01, 200, [1, 0, 0]), 1e-4);
    }
  });

  it("refuses to go backward and response times that are none", () => {
    const positions = new Float64Array(3);
    for (const [step, responseTime] of [
      [-0.1, 1],
      [0.1, -1],
      [0.1, Number.NaN],
      [Number.NaN, 1],
    ] as const) {
      expect(() => advectInertial(path(wind, step, 1), responseTime, positions, null, 1)).toThrow(RangeError);
    }
  });
});

describe("dragCoefficients", () => {
  it("joins its two forms smoothly and keeps the sums that make constant wind exact", () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-12, max: 50, noNaN: true }), (z) => {
        const { decay, a, b, c, phi } = dragCoefficients(z);
        expect(decay + a).toBeCloseTo(1, 14);
        expect(phi + b).toBeCloseTo(1, 14);
        expect(Math.abs(phi * z - a)).toBeLessThan(1e-13 * (1 + a));
        expect(Math.abs((0.5 - c) * z - b)).toBeLessThan(1e-12);
      }),
    );
    const [below, above] = [dragCoefficients(1e-3 * (1 - 1e-9)), dragCoefficients(1e-3)];
    for (const name of ["a", "b", "c", "phi", "decay"] as const)
      expect(Math.abs(below[name] - above[name])).toBeLessThan(2e-9);
    expect(dragCoefficients(0)).toEqual({ decay: 1, a: 0, b: 0, c: 0, phi: 1 });
    expect(dragCoefficients(Number.POSITIVE_INFINITY)).toEqual({ decay: 0, a: 1, b: 1, c: 0.5, phi: 0 });
  });
});
