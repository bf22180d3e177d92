/** Particle steps: published paths, order, reversibility, clamping, moving grids, records. */
import { describe, expect, it } from "vitest";
import { advectTracers, controlledSteps, intervalSteps } from "../../src/kernels/particles.js";
import type { Axes, VelocitySampler } from "../../src/kernels/types.js";
import { endedAxis, periodicAxis, T16 } from "./fields.js";
import {
  CONVERGED,
  distance,
  drag,
  expectNear,
  flow,
  path,
  rotation,
  trace,
  turbulence,
  wind,
} from "./particles-support.js";

describe("advectTracers", () => {
  it("follows the published paths", () => {
    expectNear(trace(turbulence, 0.1, 4, T16.point), [1.4204979675, 2.0078364943, 2.6881879187], 1e-10);
    expectNear(trace(rotation, 0.1, 10, [1, 0, 0]), [0.5389707, 0.84247292, 0], 1e-8);
    const quarter = trace(rotation, 0.1, 2, [1, 0, 0]);
    expectNear(trace(rotation, 0.05, 1, quarter, { start: 0.2 }), [0.96884997, 0.2477525, 0], 1e-8);
  });

  it("is of second order in the step", () => {
    const error = (steps: number) => distance(trace(turbulence, 0.4 / steps, steps, T16.point), CONVERGED);
    for (const steps of [8, 16, 32]) expect(Math.log2(error(steps) / error(2 * steps))).toBeCloseTo(2, 0);
    expect(Math.abs(Math.log2(error(32) / error(64)) - 2)).toBeLessThan(0.1);
  });

  it("is of second order in a flow that changes with time", () => {
    const sample = flow((x, y, _z, t) => [Math.cos(t) * y, Math.sin(2 * t) - x, t * t]);
    const end = (steps: number) => trace(sample, 1 / steps, steps, [0.3, 0.4, 0.5]);
    const [a, b, c] = [distance(end(40), end(640)), distance(end(80), end(640)), end(640)];
    expect(Math.abs(Math.log2(a / b) - 2)).toBeLessThan(0.1);
    expect(c[2]).toBeCloseTo(0.5 + 1 / 3, 6);
  });

  it("returns when tracked forward and backward, to third order in the step", () => {
    const miss = (step: number) => {
      const steps = Math.round(0.4 / step);
      const there = trace(turbulence, step, steps, T16.point);
      return distance(trace(turbulence, -step, steps, there, { start: 0.4 }), T16.point);
    };
    expect(miss(0.02)).toBeLessThan(2e-6);
    const ratio = miss(0.1) / miss(0.05);
    expect(ratio).toBeGreaterThanOrEqual(7);
    expect(ratio).toBeLessThanOrEqual(9);
  });

  it("samples at multiples of the step, never a running sum, and at most at the end", () => {
    const times: number[] = [];
    const sample: VelocitySampler = (_positions, _count, time, out) => {
      times.push(time);
      out.fill(0);
    };
    trace(sample, 0.1, 10, [0, 0, 0], { start: 0.7 });
    expect(times).toEqual(Array.from({ length: 10 }, (_, j) => [0.7 + j * 0.1, 0.7 + (j + 1) * 0.1]).flat());
  });

  it("does not wrap positions, and leaves them alone when there are no steps", () => {
    expect(trace(wind, 1, 100, [6, 0, 0])[0]).toBe(106);
    expect(trace(wind, 1, 0, [1, 2, 3])).toEqual([1, 2, 3]);
  });

  it("moves particles independently: any batch, any order, duplicates too", () => {
    const points = [T16.point, [0.1, 5, 2], T16.point, [-9, 4, 77]].flat();
    const together = trace4(points);
    for (let i = 0; i < 4; i++)
      expect(together.slice(3 * i, 3 * i + 3)).toEqual(trace(turbulence, 0.1, 3, points.slice(3 * i, 3 * i + 3)));
  });

  function trace4(points: readonly number[]): number[] {
    const positions = Float64Array.from(points);
    advectTracers(path(turbulence, 0.1, 3), positions, 4);
    return [...positions];
  }
});

describe("walls", () => {
  const axes: Axes = [periodicAxis(16), endedAxis(11, 2, -1), periodicAxis(16)];

  it("limit the predictor, then the result, on axes with ends only", () => {
    const seen: number[] = [];
    const rising = flow((_x, y) => {
      seen.push(y);
      return [1, y < 1 ? 1 : -0.5, 0];
    });
    // Predictor 1.3 is limited to 1; the velocity there is -0.5; half of 0.8 (1 - 0.5) on top of 0.5.
    expectNear(trace(rising, 0.8, 1, [0, 0.5, 0], { axes }), [0.8, 0.7, 0], 1e-15);
    expect(seen).toEqual([0.5, 1]);
    const down = flow(() => [0, -9, 0]);
    expect(trace(down, 1, 3, [0, 0, 0], { axes })).toEqual([0, -1, 0]);
  });

  it("limit positions with drag, and leave velocities", () => {
    const rest = flow(() => [0, 0, 0]);
    const { x, v } = drag(rest, 1, 1, 1e9, [0, 0.9, 0], [0, 5, 0], { axes });
    expect(x[1]).toBe(1);
    expect(v[1]).toBeCloseTo(5, 6);
  });
});

describe("moving grids", () => {
  it("give the path of the resting frame: nodes move, positions come back in the frame they came in", () => {
    const c = 0.45;
    // In the frame of the grid the flow is steady; at rest it is carried along.
    const steady = flow((x, y) => [0.3 * Math.sin(x) + c, Math.cos(x) * 0.2, 0.1 * y]);
    const resting = flow((x, y, _z, t) => [0.3 * Math.sin(x - c * t) + c, Math.cos(x - c * t) * 0.2, 0.1 * y]);
    const moving = { frameVelocity: [c, 0, 0] as const, start: 3 };
    expectNear(trace(steady, 0.05, 20, [1, 2, 3], moving), trace(resting, 0.05, 20, [1, 2, 3], { start: 3 }), 1e-12);
    for (const velocity of [null, [1, 0.5, 0]]) {
      const [a, b] = [
        drag(steady, 0.05, 20, 0.3, [1, 2, 3], velocity, moving),
        drag(resting, 0.05, 20, 0.3, [1, 2, 3], velocity, { start: 3 }),
      ];
      expectNear(a.x, b.x, 1e-12);
    }
    const along = flow(() => [c, 0, 0]);
    const still = drag(along, 0.1, 10, 0.5, [1, 0, 0], null, moving);
    expectNear(still.x, [1 + c, 0, 0], 1e-12);
  });

  it("record positions of the resting frame after every step", () => {
    const seen: [number, number[]][] = [];
    const record = (step: number, positions: Float64Array) => seen.push([step, [...positions]]);
    const end = trace(wind, 0.5, 3, [1, 2, 3], { frameVelocity: [0.25, 0, 0], start: 8, record });
    expect(seen.map(([step]) => step)).toEqual([1, 2, 3]);
    seen.forEach(([step, at]) => {
      expectNear(at, [1 + 0.5 * step, 2, 3], 1e-14);
    });
    expectNear(end, [2.5, 2, 3], 1e-14);
  });
});

describe("intervalSteps", () => {
  it.each([
    [0, 1, 0.1, 10, 0.1],
    [0, 0.25, 0.1, 3, 0.05],
    [0.25, 0, 0.1, 3, -0.05],
    [0.25, 0, -0.1, 3, -0.05],
    [0, 1, 1, 1, 1],
    [0.364, 0.376, Math.fround(0.0004), 30, 0.0004],
    [0, 0.300_005, 0.1, 3, 0.100_005],
    [2, 2, 0.1, 0, 0],
    [2, 2 + 5e-6, 0.1, 0, 0],
  ])("from %d to %d by %d takes %d, the last of %d", (start, end, longest, steps, last) => {
    const chosen = intervalSteps(start, end, longest);
    expect(chosen.steps).toBe(steps);
    expect(chosen.last).toBeCloseTo(last, 6);
    if (steps > 0) expect(start + (steps - 1) * chosen.step + chosen.last).toBeCloseTo(end, 14);
  });

  it("ends with the short step of the published path", () => {
    const { steps, step, last } = intervalSteps(0, 0.25, 0.1);
    expectNear(trace(rotation, step, steps, [1, 0, 0], { last }), [0.96884997, 0.2477525, 0], 1e-8);
  });

  it("moves particles with drag by steps of two lengths as by two runs", () => {
    const start = [1, 2, 3];
    const first = drag(turbulence, 0.1, 2, 0.3, start, [0.1, 0.2, 0.3], { start: 1 });
    const second = drag(turbulence, 0.04, 1, 0.3, first.x, first.v, { start: 1.2 });
    const whole = drag(turbulence, 0.1, 3, 0.3, start, [0.1, 0.2, 0.3], { start: 1, last: 0.04 });
    expectNear(whole.x, second.x, 1e-14);
    expectNear(whole.v, second.v, 1e-14);
  });

  it("records the end at its time on a moving grid", () => {
    const seen: number[][] = [];
    const record = (_: number, positions: Float64Array) => seen.push([...positions]);
    const end = trace(wind, 0.5, 2, [1, 2, 3], { frameVelocity: [0.25, 0, 0], last: 0.2, record });
    expectNear(seen[1] as number[], end, 1e-14);
    expectNear(end, [1.7, 2, 3], 1e-14);
  });
});

describe("controlledSteps", () => {
  it.each([
    [0, 1, 0.1, 10],
    [0, 1, 0.3, 4],
    [1, 0, 0.3, 4],
    [0, Math.fround(0.1), 0.01, 10],
    [0, 1e-9, 0.1, 1],
    [2, 2, 0.1, 0],
  ])("from %d to %d by at most %d takes %d", (start, end, longest, steps) => {
    const chosen = controlledSteps(start, end, longest);
    expect(chosen.steps).toBe(steps);
    expect(start + chosen.steps * chosen.step).toBeCloseTo(end, 14);
    expect(Math.abs(chosen.step)).toBeLessThanOrEqual(longest * (1 + 1e-4));
  });
});
