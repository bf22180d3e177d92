/** What charts draw: gaps where there is no number, and dots in the colour of their curve. */
import { expect, it, vi } from "vitest";
import { type Chart, colourOf, drawChart } from "../chart.js";

/** Marks that a chart asks Observable Plot for. */
const drawn = vi.hoisted(
  () => [] as { readonly kind: string; readonly data: unknown; readonly options: Readonly<Record<string, unknown>> }[],
);
vi.mock("@observablehq/plot", () => {
  const mark = (kind: string) => (data: unknown, options: Readonly<Record<string, unknown>>) => {
    drawn.push({ kind, data, options });
  };
  const names = ["dot", "line", "raster", "rectY", "ruleX", "ruleY", "text"];
  const plot = (options: Readonly<Record<string, unknown>>) => drawn.push({ kind: "plot", data: null, options });
  return { ...Object.fromEntries(names.map((name) => [name, mark(name)])), plot };
});

const chartOf = (...curves: Chart["curves"]): Chart => ({ x: { label: "x" }, y: { label: "y" }, curves });
const marksOf = (chart: Chart, kind: string) => {
  drawn.length = 0;
  drawChart(chart, 300, 200);
  return drawn.filter((one) => one.kind === kind);
};

it("draws no line through values that are missing", () => {
  const points = [0, 1, 2, 3, 4, 5].map((x): [number, number] => [x, x === 2 || x === 3 ? Number.NaN : x]);
  const [line] = marksOf(chartOf({ label: "p", points }), "line");
  const lengths: number[] = [];
  for (const [x, y] of (line?.data ?? []) as readonly [number, number][])
    if (Number.isNaN(x) || Number.isNaN(y)) lengths.push(0);
    else lengths.push((lengths.pop() ?? 0) + 1);
  expect(lengths.filter((one) => one > 0)).toEqual([2, 2]);
});

it.each([1_700_000_000, 0.1, 3e-7, 1e12])("tells the ticks of an axis apart that begins at %d", (first) => {
  const [plot] = marksOf(
    chartOf({
      label: "p",
      points: [
        [first, first],
        [2 * first, 2 * first],
      ],
    }),
    "plot",
  );
  const { x, y } = (plot as (typeof drawn)[0]).options as Record<"x" | "y", { tickFormat(value: number): string }>;
  for (const axis of [x, y]) {
    const texts = [0, 1, 2, 3].map((i) => axis.tickFormat(first + (i * first) / 1e9));
    expect(new Set(texts).size).toBe(4);
  }
  expect(x.tickFormat(0.1 + 0.2)).toBe("0.3");
});

it.each([
  [2.2, 4.4],
  [0.3, 2],
  [1, 1000],
])("writes numbers beside a logarithmic axis from %d to %d", (low, high) => {
  const chart = chartOf({
    label: "p",
    points: [
      [1, low],
      [2, high],
    ],
  });
  const [plot] = marksOf({ ...chart, y: { label: "y", isLog: true } }, "plot");
  const { ticks, tickFormat } = (plot as (typeof drawn)[0]).options.y as {
    readonly ticks: readonly number[];
    tickFormat(value: number): string;
  };
  const texts = ticks.map(tickFormat);
  expect(new Set(texts).size).toBeGreaterThan(1);
  expect(texts).not.toContain("");
});

it("draws the dots of short curves in the colour of their curve", () => {
  const curve = (n: number) => ({
    label: `${n}`,
    points: Array.from({ length: n }, (_, i): [number, number] => [i, n]),
  });
  const chart = chartOf(curve(12), curve(7), curve(11), curve(3));
  const lines = marksOf(chart, "line").map(({ options }) => options.stroke);
  expect(lines).toEqual([0, 1, 2, 3].map(colourOf));
  expect(marksOf(chart, "dot").map(({ data, options }) => [(data as unknown[]).length, options.fill])).toEqual([
    [7, colourOf(1)],
    [3, colourOf(3)],
  ]);
});

it.each([
  [3.989e-9, 3.989e-9, "3.989·10⁻⁹"],
  [-0.0975451234, -0.0975451234, "−0.09755"],
  [1000, 1100, "1020"],
  [0, 1, "0.3"],
])("writes ticks from %d to %d as the page writes numbers", (low, high, text) => {
  const points = Array.from({ length: 12 }, (_, i): [number, number] => [i, i % 2 === 0 ? low : high]);
  const [plot] = marksOf(chartOf({ label: "p", points }), "plot");
  const { tickFormat } = (plot as (typeof drawn)[number]).options.y as { tickFormat(value: number): string };
  expect(tickFormat(low === high ? low : low + (text === "0.3" ? 0.1 + 0.2 : 20))).toBe(text);
});
