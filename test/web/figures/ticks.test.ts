/** Ticks say the values at which they stand, whatever the step. */
import { expect, it } from "vitest";
import { linearTicks, tickText } from "../../../src/web/figures/ticks.js";
import { fc } from "../../support/property.js";

const numberOf = (text: string) => Number(text.replaceAll("−", "-"));

it("writes multiples of every round step exactly", () => {
  const steps = fc.tuple(fc.constantFrom(1, 2, 2.5, 5), fc.integer({ min: -12, max: 12 }));
  fc.assert(
    fc.property(steps, fc.integer({ min: -40, max: 40 }), ([mantissa, power], multiple) => {
      const step = mantissa * 10 ** power;
      const value = multiple * step;
      expect(Math.abs(numberOf(tickText(value, step, 40 * step)) - value)).toBeLessThan(1e-6 * step);
    }),
  );
  expect([0, 2.5, 5, 7.5].map((value) => tickText(value, 2.5, 10))).toEqual(["0.0", "2.5", "5.0", "7.5"]);
});

it("names round values inside a range, each by another text", () => {
  const texts = linearTicks(-1, 8 * Math.PI, 6).map(({ text }) => text);
  expect(texts).toEqual(["0", "5", "10", "15", "20", "25"]);
});
