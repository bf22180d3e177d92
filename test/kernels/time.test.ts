/** Time: snapping, range, the frames that stand for a time, guards and ends, snapshots, unequal intervals. */
import { describe, expect, it } from "vitest";
import { framesFinder, frameTime, frameWeights, snapTime, timeInRange, timeOfFloat32 } from "../../src/kernels/time.js";
import type { TimeAxis } from "../../src/kernels/types.js";
import { fc } from "../support/property.js";
import { runningSum } from "./fields.js";

function uniform(count: number, step: number, origin = 0, guardBefore = 0, guardAfter = 0): TimeAxis {
  return { count, origin, step, values: null, guardBefore, guardAfter };
}

function listed(values: readonly number[], guardBefore = 0, guardAfter = 0): TimeAxis {
  const [first = 0, second = first] = values;
  return {
    count: values.length,
    origin: first,
    step: second - first,
    values: Float64Array.from(values),
    guardBefore,
    guardAfter,
  };
}

/** The value at a time of a function sampled at the stored times. */
function valueAt(time: TimeAxis, t: number, f: (t: number) => number, method: "None" | "PCHIP" = "PCHIP"): number {
  const { frames, weights } = frameWeights(time, t, method);
  return frames.reduce((sum, frame, i) => sum + (weights[i] as number) * f(frameTime(time, frame)), 0);
}

describe("PCHIP weights", () => {
  it.each([
    [0.25, [-0.0703125, 0.8671875, 0.2265625, -0.0234375]],
    [0.5, [-0.0625, 0.5625, 0.5625, -0.0625]],
  ])("at fraction %d as published", (theta, published) => {
    const { frames, weights } = frameWeights(uniform(8, 1, 0, 1, 2), 3 + theta, "PCHIP");
    expect(frames).toEqual([2, 3, 4, 5]);
    expect(weights).toEqual(published);
  });

  it.each([
    [0.225, 0.6244999673],
    [0.25, 0.6815103222],
    [0.28, 0.7448752523],
  ])("of sin 3t at %d as published", (t, value) => {
    expect(Math.abs(valueAt(uniform(4, 0.1, 0.1, 1, 1), t, (s) => Math.sin(3 * s)) - value)).toBeLessThanOrEqual(1e-10);
  });

  it("give 2.5 between the values 1, 2, 4, 3", () => {
    const values = [1, 2, 4, 3];
    const time = uniform(4, 0.002, 0, 1, 1);
    expect(valueAt(time, 0.0025, (t) => values[Math.round(t / 0.002)] as number)).toBeCloseTo(2.5, 12);
  });

  it("are exact for quadratics of time, equal steps or not, with the frames in range and ascending", () => {
    const gaps = fc.array(fc.double({ min: 0.3, max: 3, noNaN: true }), { minLength: 3, maxLength: 12 });
    fc.assert(
      fc.property(gaps, fc.double({ min: 0, max: 1, noNaN: true }), (steps, where) => {
        const time = listed(runningSum(-1, steps), 1, 1);
        const [low, high] = [frameTime(time, 1), frameTime(time, time.count - 2)];
        const t = low + where * (high - low);
        const f = (s: number) => 3 - 2 * s + 0.7 * s * s;
        const { frames, weights } = frameWeights(time, t, "PCHIP");
        expect(weights.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 12);
        expect(weights.every((weight) => weight !== 0)).toBe(true);
        expect(frames.every((frame, i) => frame < time.count && (i === 0 || frame > (frames[i - 1] as number)))).toBe(
          true,
        );
        expect(valueAt(time, t, f)).toBeCloseTo(f(snapTime(time, t)), 9);
      }),
    );
  });

  it("agree between a list of equal times and a uniform axis", () => {
    const list = listed([0, 0.25, 0.5, 0.75, 1, 1.25], 1, 1);
    for (const t of [0.3, 0.55, 0.9]) {
      expect(frameWeights(list, t, "PCHIP")).toEqual(frameWeights(uniform(6, 0.25, 0, 1, 1), t, "PCHIP"));
    }
  });

  it("have continuous slopes across stored times", () => {
    const time = listed([0, 1, 1.5, 3.5, 4, 6], 1, 1);
    const f = (t: number) => Math.sin(t);
    for (const t of [1.5, 3.5]) {
      const slope = (s: number) => (valueAt(time, s + 2e-3, f) - valueAt(time, s + 1e-3, f)) / 1e-3;
      expect(slope(t)).toBeCloseTo(slope(t - 3e-3), 1);
    }
  });
});

describe("ends", () => {
  it("without guards have the slope of the parabola through three frames, on equal steps or not", () => {
    const f = (t: number) => 3 - 2 * t + 0.7 * t * t;
    for (const time of [uniform(5, 1), listed([0, 0.4, 1.5, 1.9, 4]), listed([0, 0.4, 1.5])]) {
      const last = time.count - 2;
      for (const theta of [0.1, 0.5, 0.8])
        for (const k of [0, last]) {
          const t = frameTime(time, k) + theta * (frameTime(time, k + 1) - frameTime(time, k));
          expect(valueAt(time, t, f)).toBeCloseTo(f(t), 13);
        }
    }
    expect(frameWeights(uniform(5, 1), 0.3, "PCHIP").frames).toEqual([0, 1, 2]);
    expect(frameWeights(uniform(5, 1), 3.3, "PCHIP").frames).toEqual([2, 3, 4]);
  });

  it("without guards are of third order in the end intervals, with less than ten times the error of the interior", () => {
    const error = (step: number, from: number) => {
      const time = uniform(Math.round(2 / step) + 1, step);
      const off = (theta: number) =>
        Math.abs(valueAt(time, from + theta * step, Math.exp) - Math.exp(from + theta * step));
      return Math.max(...[0.1, 0.3, 0.5, 0.7, 0.9].map(off));
    };
    for (const at of [(_step: number) => 0, (step: number) => 2 - step])
      for (const step of [0.1, 0.05])
        expect(Math.log2(error(step, at(step)) / error(step / 2, at(step / 2)))).toBeGreaterThan(2.9);
    const interior = (step: number) => error(step, 1);
    expect(error(0.1, 0)).toBeLessThan(10 * interior(0.1));
  });

  it("are linear with two frames", () => {
    expect(frameWeights(uniform(2, 1), 0.25, "PCHIP")).toEqual({ frames: [0, 1], weights: [0.75, 0.25] });
  });

  it("use guards where there are some, also when a single frame is queryable", () => {
    expect(frameWeights(uniform(6, 1, -1, 1, 2), 0.5, "PCHIP").frames).toEqual([0, 1, 2, 3]);
    expect(frameWeights(uniform(6, 1, -1, 1, 2), 1.5, "PCHIP").frames).toEqual([1, 2, 3, 4]);
    expect(frameWeights(uniform(4, 1, -1, 1, 2), 0, "PCHIP")).toEqual({ frames: [1], weights: [1] });
  });

  it("refuse times out of range, guards excluded", () => {
    const time = uniform(6, 1, -1, 1, 2);
    const inRange = [-0.5, -1e-3, 0, 1, 2, 2.001, 3, Number.NaN].filter((t) => timeInRange(time, t));
    expect(inRange).toEqual([0, 1, 2]);
    expect(() => frameWeights(time, 2.5, "None")).toThrow(RangeError);
    expect(() => frameWeights(time, Number.NaN, "PCHIP")).toThrow(RangeError);
  });
});

describe("stored times", () => {
  it("give their frame alone, by either method", () => {
    for (const method of ["None", "PCHIP"] as const) {
      for (let k = 0; k < 5; k++) {
        expect(frameWeights(uniform(5, 0.002), Math.fround(0.002 * k), method)).toEqual({ frames: [k], weights: [1] });
      }
    }
  });

  it("attract times within 1e-4 steps, or the precision of a float32 and a hundredth of a step", () => {
    const time = uniform(5, 0.5, 10);
    expect(snapTime(time, 10.5 + 4.9e-5)).toBe(10.5);
    expect(snapTime(time, 10.5 - 4.9e-5)).toBe(10.5);
    expect(snapTime(time, 10.5 + 5.1e-5)).toBe(10.5 + 5.1e-5);
    const fine = uniform(5, 1e-4, 1000);
    expect(snapTime(fine, 1000.0001 + 9e-7)).toBe(frameTime(fine, 1));
    expect(snapTime(fine, 1000.0001 + 1.1e-6)).toBe(1000.0001 + 1.1e-6);
    expect(snapTime(uniform(5, 1, 1000), Math.fround(1000.1) + 0.9)).toBe(1001);
    expect(timeInRange(uniform(4, 0.002), Math.fround(0.006))).toBe(true);
    expect(timeInRange(uniform(4, 0.002), 0.006 + 1.9e-7)).toBe(true);
    expect(timeInRange(uniform(4, 0.002), 0.006 + 2.1e-7)).toBe(false);
    expect(timeInRange(uniform(4, 0.002), -1.9e-7)).toBe(true);
  });

  it("use the local step on a list", () => {
    const time = listed([0, 1, 1.01]);
    expect(snapTime(time, 0.99995)).toBe(1);
    expect(snapTime(time, 1.000005)).toBe(1.000005);
    expect(snapTime(time, 1.0000005)).toBe(1);
  });
});

describe("a float32 time", () => {
  it("means the stored time that it is the rounding of", () => {
    const time = uniform(5, 1e-3, 1000);
    for (let k = 0; k < 5; k++) expect(timeOfFloat32(time, Math.fround(frameTime(time, k)))).toBe(frameTime(time, k));
    expect(timeOfFloat32(time, Math.fround(1000.0004))).toBe(Math.fround(1000.0004));
    expect(timeOfFloat32(uniform(1, 1, 1e5), 1e5)).toBe(1e5);
    // The spacing of float32 numbers at 8192 is 2^-10: frames must be more than two of them apart.
    expect(timeOfFloat32(uniform(8, 2 ** -9, 8192), 8192 + 2 ** -9)).toBeNull();
    expect(timeOfFloat32(uniform(8, 2 ** -8, 8192), 8192 + 2 ** -8)).toBe(8192 + 2 ** -8);
  });

  it("means nothing if float32 does not tell frames apart", () => {
    expect(timeOfFloat32(uniform(5, 1e-3, 1e5), 1e5)).toBeNull();
    expect(timeOfFloat32(uniform(5, 2e-4, 2000), 2000)).toBeNull();
    expect(timeOfFloat32(listed([0, 1, 1e6, 1e6 + 1e-3]), 0.5)).toBe(0.5);
  });

  it("need not be one: every time between close frames is interpolated at", () => {
    for (const time of [uniform(8, 1e-3, 1e5), uniform(8, 2e-4, 2000)])
      for (let k = 1; k < 5; k++)
        for (const part of [0.25, 0.5, 0.75])
          expect(frameWeights(time, frameTime(time, k) + part * time.step, "PCHIP").frames).toEqual([
            k - 1,
            k,
            k + 1,
            k + 2,
          ]);
  });
});

describe("frames of many times", () => {
  it("are those of each time, in groups with the same frames, the earliest first", () => {
    const random = fc.sample(fc.double({ min: 0, max: 1, noNaN: true }), 300);
    for (const time of [uniform(9, 0.25, 1, 1, 2), uniform(4, 1), listed([0, 1, 3, 3.5, 4]), uniform(1, 1, 2)]) {
      const [low, high] = [frameTime(time, time.guardBefore), frameTime(time, time.count - 1 - time.guardAfter)];
      const times = random.map((where) => Math.min(high, low + where * (high - low)));
      times.push(low, high, frameTime(time, Math.min(2, time.count - 1)), low);
      for (const method of ["None", "PCHIP"] as const) {
        const find = framesFinder(time, times.length + 5, method);
        expect(find(times, 0)).toEqual([]);
        const groups = find(times, times.length);
        expect(groups.flatMap(({ points }) => [...points]).sort((a, b) => a - b)).toEqual(times.map((_, i) => i));
        const names = groups.map(({ frames }) => frames.join());
        expect(new Set(names).size).toBe(names.length);
        const earliest = groups.map(({ points }) => Math.min(...Array.from(points, (i) => times[i] as number)));
        expect(earliest).toEqual(earliest.toSorted((a, b) => a - b));
        for (const { frames, weights, points } of groups) {
          expect([...points].every((point, i) => i === 0 || point > (points[i - 1] as number))).toBe(true);
          points.forEach((point, i) => {
            const own = [...weights.subarray(i * frames.length, (i + 1) * frames.length)];
            expect({ frames, weights: own }).toEqual(frameWeights(time, times[point] as number, method));
          });
        }
      }
    }
  });
});

describe("None", () => {
  it.each([0.1, 0.2, 0.002, 0.3, 1 / 3, 1, 7, 0.0025])(
    "takes the later frame at every half-way time of steps of %d",
    (step) => {
      const count = 800;
      const axis = uniform(count, step, -step, 1, 2);
      // Stored times as float32 files have them.
      const singles = listed(
        Array.from({ length: count }, (_, k) => Math.fround((k - 1) * step)),
        1,
        2,
      );
      const wrong: string[] = [];
      for (let k = 1; k + 3 < count; k++) {
        const middle = (k - 0.5) * step;
        for (const t of [middle, Math.fround(middle), ((k - 1) * step + k * step) / 2])
          for (const time of [axis, singles])
            if (frameWeights(time, t, "None").frames[0] !== k + 1)
              wrong.push(`${t} of ${time === axis ? "doubles" : "singles"}`);
        for (const [t, frame] of [
          [middle - 0.02 * step, k],
          [middle + 0.02 * step, k + 1],
        ] as const)
          expect(frameWeights(axis, t, "None").frames[0]).toBe(frame);
      }
      expect(wrong).toEqual([]);
    },
  );

  it("takes the closer frame, the later of a tie", () => {
    const time = uniform(6, 0.25);
    expect([0.1, 0.125, 0.13, 0.374, 0.375].map((t) => frameWeights(time, t, "None").frames[0])).toEqual([
      0, 1, 1, 1, 2,
    ]);
    const list = listed([0, 1, 3]);
    expect([0.49, 0.5, 1.9, 2, 2.1].map((t) => frameWeights(list, t, "None").frames[0])).toEqual([0, 1, 1, 2, 2]);
  });
});

describe("snapshots", () => {
  it("have one time, taken to 1e-6 or the precision of a float32, and one frame", () => {
    const time = uniform(1, 1, 2.5);
    const near = [2.5, 2.5 + 9e-7, 2.5 - 9e-7];
    expect([...near, 2.500002, 2.4].filter((t) => timeInRange(time, t))).toEqual(near);
    expect(timeInRange(uniform(1, 1, 1000.1), Math.fround(1000.1))).toBe(true);
    expect(frameWeights(time, 2.5, "PCHIP")).toEqual({ frames: [0], weights: [1] });
  });
});
