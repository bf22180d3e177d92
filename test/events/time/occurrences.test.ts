/** Starts of a rule around an instant: the nearest ones on both sides, with and without a number of starts. */
import { expect, it } from "vitest";
import { occurrences } from "../../../src/events/time/occurrences.js";
import { openRule } from "../../../src/events/time/rule.js";
import { seconds } from "../support.js";

const FIRST = seconds("2026-01-01T12:00:00Z");
const DAY = 86_400;
const days = (...numbers: number[]): number[] => numbers.map((day) => FIRST + day * DAY);
const ahead = (rule: string, from: number, to: number, middle: number, limit: number): number[] =>
  occurrences(
    openRule(rule, "2026-01-01T12:00:00", "UTC", false),
    { from: FIRST + from * DAY, to: FIRST + to * DAY, middle: FIRST + middle * DAY },
    limit,
  );

it.each(["FREQ=DAILY", "FREQ=DAILY;COUNT=40"])("of %s are the nearest before and after the middle", (rule) => {
  expect(ahead(rule, 0, 30, 10, 3)).toEqual(days(7, 8, 9, 10, 11, 12));
  expect(ahead(rule, 9, 30, 10, 3)).toEqual(days(9, 10, 11, 12));
  expect(ahead(rule, 0, 10, 10, 3)).toEqual(days(7, 8, 9, 10));
  expect(ahead(rule, 2, 5, 20, 3)).toEqual(days(3, 4, 5));
  expect(ahead(rule, 2, 5, -20, 3)).toEqual(days(2, 3, 4));
});
