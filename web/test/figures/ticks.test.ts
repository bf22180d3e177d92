/** Ticks name the values they mark, whatever the step. */
import { expect, it } from "vitest";
import { fc } from "../../../test/support/property.js";
import { barMarks } from "../../figures/marks.js";
import { linearTicks, logTicks, tickTexts } from "../../figures/ticks.js";

const numberOf = (text: string) => Number(text.replaceAll("−", "-"));

it("writes multiples of every round step exactly", () => {
  const steps = fc.tuple(fc.constantFrom(1, 2, 5), fc.integer({ min: -12, max: 12 }));
  fc.assert(
    fc.property(steps, fc.integer({ min: -40, max: 40 }), ([mantissa, power], first) => {
      const step = mantissa * 10 ** power;
      const values = Array.from({ length: 5 }, (_, i) => (first + i) * step);
      for (const [i, text] of tickTexts(values).entries()) {
        expect(Math.abs(numberOf(text) - (values[i] as number))).toBeLessThan(1e-6 * step);
      }
    }),
  );
  expect(tickTexts([0, 0.5, 1])).toEqual(["0.0", "0.5", "1.0"]);
});

it("marks round values inside a range, each by another text", () => {
  const texts = linearTicks(-1, 8 * Math.PI, 6).map(({ text }) => text);
  expect(texts).toEqual(["0", "5", "10", "15", "20", "25"]);
  for (const [low, high] of [
    [-3e-7, 2e-7],
    [99_990, 100_020],
    [1e8, 4e8],
  ] as const) {
    const ticks = linearTicks(low, high, 5);
    expect(new Set(ticks.map(({ text }) => text)).size).toBe(ticks.length);
    expect(ticks.length).toBeGreaterThan(2);
    for (const { value, text } of ticks) expect(numberOf(text)).toBeCloseTo(value, 9);
  }
  expect(linearTicks(1, 1, 5)).toEqual([]);
  // One value of an axis does not tell how long it is.
  const few = linearTicks(0.55e-6, 1.4e-6, 2);
  expect(few.length).toBeGreaterThan(1);
  fc.assert(
    fc.property(fc.integer({ min: -500, max: 500 }), fc.integer({ min: 1, max: 999 }), (first, length) => {
      expect(linearTicks(first, first + length, 2.5).length).toBeGreaterThan(1);
    }),
  );
});

it("marks few values of many decades and several of one", () => {
  expect(logTicks(1e-3, 1e3, 6).map(({ text }) => numberOf(text))).toEqual([1e-3, 1e-2, 0.1, 1, 10, 100, 1000]);
  const one = logTicks(0.3, 4, 6);
  expect(one.length).toBeGreaterThan(2);
  for (const { value, text } of one) expect(numberOf(text)).toBeCloseTo(value, 9);
});

it("gives the bar of a figure even values with its ends, however wide it is", () => {
  const scale = { range: [0, 24], log: false, linear: 0, beyond: [false, false] };
  const bar = { left: 0, top: 0, width: 1000, height: 14 };
  const { labels } = barMarks(scale as unknown as Parameters<typeof barMarks>[0], bar);
  expect(labels.map(({ text }) => text)).toEqual(["0", "5", "10", "15", "20", "24"]);
});
