/** Steps of Dormand and Prince: tolerance, recorded times, walls, open faces, parts, each particle by itself. */
import { describe, expect, it } from "vitest";
import { type AdaptivePath, advectDopri5, DOPRI5_STATE, dopri5State } from "../../src/kernels/dopri5.js";
import type { Axes, TimedSampler } from "../../src/kernels/types.js";
import { endedAxis, periodicAxis, T16 } from "./fields.js";
import { distance, expectNear, traceRk4, turbulence } from "./particles-support.js";

type Velocity = (x: number, y: number, z: number, t: number) => readonly [number, number, number];

/** A sample from a velocity given in closed form, with a time for each position. */
function flowOf(u: Velocity): TimedSampler {
  return (positions, count, times, out) => {
    for (let i = 0; i < count; i++) {
      const [x = 0, y = 0, z = 0] = positions.subarray(3 * i, 3 * i + 3);
      out.set(u(x, y, z, times[i] as number), 3 * i);
    }
  };
}

function path(sample: TimedSampler, step: number, steps: number, more: Partial<AdaptivePath> = {}): AdaptivePath {
  return { axes: T16.axes, frameVelocity: [0, 0, 0], sample, start: 0, step, steps, tolerance: 1e-8, ...more };
}

function trace(
  sample: TimedSampler,
  step: number,
  steps: number,
  points: readonly number[],
  more: Partial<AdaptivePath> = {},
) {
  const positions = Float64Array.from(points);
  const count = points.length / 3;
  const state = new Float64Array(DOPRI5_STATE * count);
  advectDopri5(path(sample, step, steps, more), positions, count, state);
  return { positions: [...positions], taken: [...dopri5State(state, count).taken] };
}

/** x = sin(t) + t^2, y = dx/dt and z = sin(t) solve it. */
const known = flowOf((x, y, _z, t) => [y, -x + t * t + 2, Math.cos(t)]);
const solution = (t: number) => [Math.sin(t) + t * t, Math.cos(t) + 2 * t, Math.sin(t)];

describe("advectDopri5", () => {
  it.each([1e-4, 1e-6, 1e-8, 1e-10])("keeps a tolerance of %s at the end, forward and back", (tolerance) => {
    expect(distance(trace(known, 2, 1, [0, 1, 0], { tolerance }).positions, solution(2))).toBeLessThan(tolerance);
    const back = trace(known, -2, 1, solution(2), { tolerance, start: 2 }).positions;
    expect(distance(back, [0, 1, 0])).toBeLessThan(tolerance);
  });

  it("takes steps in number about the fifth root of the tolerance, at fourth order or more in their length", () => {
    const run = (tolerance: number) => {
      const { positions, taken } = trace(known, 0.05, 80, [0, 1, 0], { tolerance });
      return { error: distance(positions, solution(4)), steps: taken[0] as number };
    };
    const [few, many] = [run(1e-4), run(1e-8)];
    expect(Math.log(few.error / many.error) / Math.log(many.steps / few.steps)).toBeGreaterThan(4);
    expect(many.steps).toBeLessThan(500);
  });

  it("records places within the tolerance at any times, whatever the steps", () => {
    const tolerance = 1e-7;
    const seen: number[] = [];
    const record = (step: number, places: Float64Array): void => {
      seen.push(step);
      expect(distance([...places], solution(0.01 * step))).toBeLessThan(5 * tolerance);
    };
    const { positions, taken } = trace(known, 0.01, 300, [0, 1, 0], { tolerance, record });
    expect(seen).toEqual(Array.from({ length: 300 }, (_, i) => i + 1));
    expect(taken[0]).toBeLessThan(150);
    expect(trace(known, 0.01, 300, [0, 1, 0], { tolerance }).positions).toEqual(positions);
  });

  it("comes to the path of many Runge-Kutta steps in a field between nodes", () => {
    const sample: TimedSampler = (positions, count, _times, out) => turbulence(positions, count, 0, out);
    const exact = traceRk4(turbulence, 0.4 / 512, 512, T16.point);
    expect(distance(trace(sample, 0.4, 1, T16.point, { tolerance: 1e-7 }).positions, exact)).toBeLessThan(1e-7);
  });

  it("tells every step that particles try, kept or repeated: six evaluations each after the first", () => {
    let evaluations = 0;
    const counted: TimedSampler = (positions, count, times, out) => {
      evaluations += count;
      known(positions, count, times, out);
    };
    let tried = 0;
    const pause = (more: number): boolean => {
      tried += more;
      return false;
    };
    const { taken } = trace(counted, 2, 1, [0, 1, 0, 1, 0, 0, 2, 2, 2], { tolerance: 1e-9, pause });
    expect(evaluations).toBe(3 + 6 * tried);
    expect(tried).toBeGreaterThan(taken.reduce((sum, steps) => sum + steps));
  });

  it("gives each particle the bits that it has alone, and after pauses", () => {
    const points = [0, 1, 0, 0.3, -0.2, 0.5, 2, 2, 2];
    const together = trace(known, 1, 3, points).positions;
    const alone = [0, 3, 6].flatMap((at) => trace(known, 1, 3, points.slice(at, at + 3)).positions);
    expect(together).toEqual(alone);
    const positions = Float64Array.from(points);
    const state = new Float64Array(DOPRI5_STATE * 3);
    const records: number[] = [];
    const paused = { pause: () => true, record: (step: number) => records.push(step) };
    let done = advectDopri5(path(known, 1, 3, paused), positions, 3, state);
    let parts = 1;
    for (; done < 3; parts++) {
      const part = { from: done, to: 3 };
      done = advectDopri5(path(known, 1, 3, { ...paused, part }), positions, 3, state, true);
    }
    expect([...positions]).toEqual(together);
    expect(records).toEqual([1, 2, 3]);
    expect(parts).toBeGreaterThan(10);
  });

  it("ends exactly at the end of a shorter last step, and follows a moving grid", () => {
    const wind = flowOf(() => [1, 0, 0]);
    const moving = trace(wind, 0.5, 4, [1, 2, 3], { frameVelocity: [0.25, 0, -1], start: 2, last: 0.25 });
    expectNear(moving.positions, [2.75, 2, 3], 1e-14);
    expect(trace(wind, 0.5, 0, [1, 2, 3], { start: 2 }).positions).toEqual([1, 2, 3]);
  });

  it("passes jumps of the velocity", () => {
    const layered = flowOf((x) => [x < 1 ? 1 : 2, 0, 0]);
    expect(trace(layered, 2, 1, [0, 0, 0], { tolerance: 1e-6 }).positions[0]).toBeCloseTo(3, 4);
  });
});

describe("faces with steps of Dormand and Prince", () => {
  const axes: Axes = [periodicAxis(16), endedAxis(11, 2, -1), periodicAxis(16)];
  const open = [false, false] as const;

  it("limit the places of all stages and the result at walls", () => {
    const seen: number[] = [];
    const rising = flowOf((_x, y) => {
      seen.push(y);
      return [1, 1, 0];
    });
    const { positions } = trace(rising, 2, 1, [0, 0.5, 0], { axes });
    expect(positions[1]).toBe(1);
    expect(Math.max(...seen)).toBe(1);
  });

  it("end paths at open faces at the place and time of the exit, within the tolerance, forward and backward", () => {
    // y = tan(t) from 0, and x = t^2 / 2.
    for (const sign of [1, -1]) {
      const up = flowOf((_x, y, _z, t) => [t, sign * (1 + y * y), 0]);
      const exits = new Float64Array(2).fill(Number.NaN);
      const outlet = { walls: [open, open, open] as const, exits, leave: () => undefined };
      const before: (readonly number[])[] = [];
      const record = (_step: number, places: Float64Array): void => {
        before.push([places[1] as number, exits[0] as number]);
      };
      const more = { axes, outlet, record, tolerance: 1e-9 };
      const { positions } = trace(up, 0.25 * sign, 5, [0, 0, 0, 0, -1, 0], more);
      expect(exits[0]).toBeCloseTo((sign * Math.PI) / 4, 8);
      expectNear(positions.slice(0, 3), [Math.PI ** 2 / 32, 1, 0], 2e-9);
      expect(before.map(([y]) => y)).toEqual(
        [0.25, 0.5, 0.75, 1, 1.25].map((t) => expect.closeTo(Math.min(1, Math.tan(t)), 7)),
      );
      expect(before.map(([, exit]) => Number.isNaN(exit))).toEqual([true, true, true, false, false]);
    }
  });
});
