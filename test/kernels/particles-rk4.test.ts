/** Runge-Kutta steps: order, forward and back, walls, open faces, moving grids, parts, against closed forms. */
import { describe, expect, it } from "vitest";
import { advectTracersRk4 } from "../../src/kernels/particles.js";
import type { Axes, VelocitySampler } from "../../src/kernels/types.js";
import { endedAxis, periodicAxis, T16 } from "./fields.js";
import {
  CONVERGED,
  distance,
  expectNear,
  flow,
  path,
  rotation,
  traceRk4,
  turbulence,
  wind,
} from "./particles-support.js";

describe("advectTracersRk4", () => {
  it("multiplies by the Taylor polynomial of fourth order in a rotation", () => {
    const h = 0.3;
    const [c, s] = [1 - h ** 2 / 2 + h ** 4 / 24, h - h ** 3 / 6];
    expectNear(traceRk4(rotation, h, 1, [1, 0, 0]), [c, s, 0], 1e-15);
    expectNear(traceRk4(rotation, h, 2, [1, 0, 0]), [c * c - s * s, 2 * c * s, 0], 1e-15);
  });

  it("is Simpson's rule for a velocity of time alone", () => {
    const sample = flow((_x, _y, _z, t) => [t ** 3, Math.exp(t), 1]);
    const [x, y, z] = traceRk4(sample, 0.5, 1, [0, 0, 0], { start: 1 });
    expect(x).toBeCloseTo((1.5 ** 4 - 1) / 4, 14);
    expect(y).toBeCloseTo((0.5 / 6) * (Math.exp(1) + 4 * Math.exp(1.25) + Math.exp(1.5)), 14);
    expect(z).toBeCloseTo(0.5, 15);
  });

  it("is of fourth order in a flow that changes with place and time", () => {
    // x = sin(t) + t^2, y = dx/dt and z = sin(t) solve it.
    const sample = flow((x, y, _z, t) => [y, -x + t * t + 2, Math.cos(t)]);
    const exact = (t: number) => [Math.sin(t) + t * t, Math.cos(t) + 2 * t, Math.sin(t)];
    const error = (steps: number) => distance(traceRk4(sample, 2 / steps, steps, [0, 1, 0]), exact(2));
    for (const steps of [8, 16, 32]) expect(Math.log2(error(steps) / error(2 * steps))).toBeGreaterThan(3.8);
    expect(error(64)).toBeLessThan(1e-7);
  });

  it("comes to the converged path of Heun's method with far fewer steps", () => {
    expect(distance(traceRk4(turbulence, 0.05, 8, T16.point), CONVERGED)).toBeLessThan(1e-7);
  });

  it("returns when tracked forward and backward, to fifth order in the step", () => {
    const sample = flow((x, y, _z, t) => [Math.cos(t) * y, Math.sin(2 * t) - x, t * t * x]);
    const miss = (steps: number) => {
      const there = traceRk4(sample, 1 / steps, steps, [0.3, 0.4, 0.5]);
      return distance(traceRk4(sample, -1 / steps, steps, there, { start: 1 }), [0.3, 0.4, 0.5]);
    };
    expect(Math.log2(miss(8) / miss(16))).toBeGreaterThan(4.5);
  });

  it("samples at the start, twice in the middle and at the end of each step, a shorter last one too", () => {
    const times: number[] = [];
    const sample: VelocitySampler = (_positions, _count, time, out) => {
      times.push(time);
      out.fill(0);
    };
    traceRk4(sample, 0.5, 2, [0, 0, 0], { start: 1, last: 0.25 });
    expect(times).toEqual([1, 1.25, 1.25, 1.5, 1.5, 1.625, 1.625, 1.75]);
  });

  it("gives the same bits in parts as in one go", () => {
    const whole = traceRk4(turbulence, 0.1, 4, T16.point);
    const positions = Float64Array.from(T16.point);
    for (const part of [
      { from: 0, to: 1 },
      { from: 1, to: 4 },
    ])
      advectTracersRk4(path(turbulence, 0.1, 4, { part }), positions, 1);
    expect([...positions]).toEqual(whole);
  });

  it("does not wrap positions, and follows a moving grid", () => {
    expect(traceRk4(wind, 1, 100, [6, 0, 0])[0]).toBeCloseTo(106, 12);
    const moving = traceRk4(wind, 0.5, 4, [1, 2, 3], { frameVelocity: [0.25, 0, -1], start: 2 });
    expectNear(moving, [3, 2, 3], 1e-14);
  });
});

describe("faces with Runge-Kutta steps", () => {
  const axes: Axes = [periodicAxis(16), endedAxis(11, 2, -1), periodicAxis(16)];

  it("limit the places of all stages and the result at walls", () => {
    const seen: number[] = [];
    const rising = flow((_x, y) => {
      seen.push(y);
      return [1, 1, 0];
    });
    expect(traceRk4(rising, 2, 1, [0, 0.5, 0], { axes })[1]).toBe(1);
    expect(Math.max(...seen)).toBe(1);
  });

  it("end paths at open faces at the place and time of the exit, forward and backward", () => {
    const open = [false, false] as const;
    for (const sign of [1, -1]) {
      const exits = new Float64Array(1).fill(Number.NaN);
      const outlet = { walls: [open, open, open] as const, exits, leave: () => undefined };
      const up = flow(() => [0, sign, 0]);
      const end = traceRk4(up, 0.4 * sign, 5, [0, 0.5, 0], { axes, outlet });
      expectNear(end, [0, 1, 0], 1e-14);
      expect(exits[0]).toBeCloseTo(0.5 * sign, 14);
    }
  });
});
