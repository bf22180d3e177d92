/** Times, places and values far from zero or close to it: links keep them, and labels tell them apart. */
import { expect, it } from "vitest";
import { axisTicks, barTicks, partOf } from "../draw/bar.js";
import { type Axis, placeText, roundedOn, timeText } from "../state/dataset.js";
import { exactNumber, plainNumber, tidy } from "../state/format.js";
import { EMPTY, readLink, writeLink } from "../state/link.js";

/** Coordinates of a map, in metres. */
const north: Axis = {
  ...{ name: "y", nodes: 20, first: 5_400_000, last: 5_400_004.75, length: 4.75, spacing: 0.25, periodic: false },
};

it("links keep every stored time and place", () => {
  for (const time of [1_700_000_002.5, 1234.3, 0.6000000000000001, 1e-7]) {
    const view = {
      ...EMPTY,
      dataset: "a",
      time,
      cross: [1, roundedOn(north, 5_400_002.3456), 3] as const,
      b: { time },
    };
    const read = readLink("a", writeLink(view));
    expect(read.cross).toEqual([1, 5_400_002.3456, 3]);
    for (const one of [read.time, read.b.time]) expect(Math.abs((one as number) - time)).toBeLessThan(1e-14 * time);
  }
  expect(exactNumber(0.1 + 0.2)).toBe("0.3");
});

it.each([
  { of: "seconds since 1970", times: Array.from({ length: 8 }, (_, k) => 1_700_000_000 + 0.5 * k) },
  { of: "a long run", times: [1234.1, 1234.3, 1234.5, 1234.7, 1234.9, 1235.1] },
  { of: "a thousand snapshots", times: Array.from({ length: 1000 }, (_, k) => 0.01 * k) },
])("labels tell the times apart: $of", ({ times }) => {
  const texts = times.map((time) => timeText({ times }, time));
  expect(new Set(texts).size).toBe(times.length);
  for (const [i, text] of texts.entries()) expect(Number(text)).toBeCloseTo(times[i] as number, 6);
});

it("labels have four digits where these tell the numbers apart", () => {
  expect(timeText({ times: [0, 0.2, 0.4] }, 0.4)).toBe("0.4");
  expect(placeText({ ...north, first: 0, last: 6.1, length: 6.2 }, 2.345678)).toBe("2.346");
});

it("labels tell nodes and ticks apart", () => {
  const nodes = Array.from({ length: 20 }, (_, k) => placeText(north, 5_400_000 + 0.25 * k));
  expect(new Set(nodes).size).toBe(20);
  const ticks = axisTicks(north, 5_399_999, 5_400_006, 7);
  expect(ticks.map(({ text }) => text)).toEqual(["5400000", "5400001", "5400002", "5400003", "5400004"]);
});

it("ranges and levels keep the digits that matter", () => {
  expect([101_312.7, 101_338.2].map((end) => tidy(end, 25.5, 2))).toEqual([101_313, 101_338]);
  expect(tidy(15.93, 15.93, 2)).toBe(16);
  expect(plainNumber(tidy(2.3124, 90 / 100, 3), 9)).toBe("2.31");
});

it.each([2e-6, 3e-12, 7e9])("ticks of a box of %d are told apart, and are no multiples of π", (length) => {
  for (const periodic of [true, false]) {
    const axis = { ...north, first: 0, last: length, length, spacing: length / 20, periodic };
    const ticks = axisTicks(axis, 0.01 * length, 0.99 * length, 5);
    expect(new Set(ticks.map(({ text }) => text)).size).toBe(ticks.length);
    expect(ticks.length).toBeGreaterThan(1);
    for (const { text } of ticks) expect(text).not.toMatch(/π|^0$/);
  }
});

it("ticks of a period that is shorter than their step go on beyond it", () => {
  const axis = { ...north, first: 0, last: 0.45, length: 0.5, spacing: 0.05, periodic: true };
  expect(axisTicks(axis, 0, 3.4, 4).map(({ text }) => text)).toEqual(["0", "1", "2", "3"]);
  expect(axisTicks(axis, 0.3, 1.2, 9).map(({ text }) => text)).toContain("0.1");
});

it.each([
  ["an open axis in a wide pane", false, [1.6, 2.4], [0, 4, 3], ["1.6", "2.4"]],
  ["a periodic axis in a narrow one", true, [0.02, 2.9], [-0.48, 2.52, 1], ["0", "2"]],
  ["an axis beside the pane", false, [1.6, 2.4], [3, 4, 3], []],
] as const)("%s has two ticks, if any", (_, periodic, [first, last], [from, to, count], texts) => {
  const axis = { ...north, first, last, length: periodic ? 3 : last - first, periodic };
  expect(axisTicks(axis, from, to, count).map(({ text }) => text)).toEqual(texts);
});

it.each([
  [1e17, 20],
  [1, 1e-300],
  [1e300, 1e300],
  [0, 1e-323],
])("ticks about %d over %d end", (centre, length) => {
  const axis = { ...north, first: 0, last: 3, length: 4, spacing: 1, periodic: true };
  expect(axisTicks(axis, centre - length, centre + length, 5).length).toBeLessThan(20);
});

it("bars have two labels or more, whatever their range", () => {
  for (let end = 1; end < 10; end += 0.07)
    for (const range of [
      { low: -end, high: end },
      { low: 0, high: end },
      { low: 1e5 * end, high: 1e5 * end + 1 },
    ])
      expect(barTicks({ ...range, scale: "linear" }).length, `${range.low} to ${range.high}`).toBeGreaterThan(1);
});

it.each(["log", "symlog:1e-300", "symlog:0"] as const)("bars of 300 powers of ten have few labels: %s", (scale) => {
  const ticks = barTicks({ low: scale === "log" ? 1e-300 : -1, high: 1, scale });
  expect(ticks.length).toBeGreaterThan(1);
  expect(ticks.length).toBeLessThan(50);
});

it.each([
  [-100, 1, [-100, -10, -1, 0, 1]],
  [-100, -1, [-100, -10, -1]],
  [-8, 1000, [-8, -1, 0, 1, 10, 100, 1000]],
])("bars with a symmetric logarithm have ticks of both signs: %d to %d", (low, high, ticks) => {
  expect(barTicks({ low, high, scale: "symlog:0.5" }).map(({ tick }) => tick)).toEqual(ticks);
});

it("bars have their lowest colour for what has no logarithm, and none for what is missing", () => {
  const parts = [-1, 0, 0.1, 18, Number.NaN].map((value) => partOf({ low: 0.1, high: 18, scale: "log" }, value));
  expect(parts).toEqual([Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 1, Number.NaN]);
});
