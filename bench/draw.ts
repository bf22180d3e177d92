/** Draws plots of points per second, as SVG documents in docs/performance. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Row } from "./row.js";

const FOLDER = fileURLToPath(new URL("../docs/performance", import.meta.url));
const WIDTH = 640;
const HEIGHT = 360;
const MARGIN = { left: 64, right: 176, top: 36, bottom: 48 };
/** Colours that differ in lightness too. */
const COLOURS = [
  "#1b4965",
  "#c1121f",
  "#2a9d8f",
  "#8d6a9f",
  "#e09f3e",
  "#555555",
  "#62b6cb",
  "#9c6644",
  "#d67ab1",
  "#6a994e",
  "#000000",
  "#b08968",
];
const TICKS = [1, 2, 5];

export interface Series {
  readonly name: string;
  /** x and points per second, ascending x. */
  readonly points: readonly (readonly [number, number])[];
}

export interface Plot {
  readonly file: string;
  readonly title: string;
  readonly x: string;
  /** Labels of the horizontal axis; the axis is logarithmic. */
  readonly ticks: readonly (readonly [number, string])[];
  readonly series: readonly Series[];
}

/** A scale from values to pixels, logarithmic. */
function logScale(low: number, high: number, from: number, to: number): (value: number) => number {
  const span = Math.log(high) - Math.log(low);
  return (value) => from + ((Math.log(value) - Math.log(low)) / span) * (to - from);
}

/** 1, 2, 5, 10, ... within a range. */
function decades(low: number, high: number): number[] {
  const first = Math.floor(Math.log10(low));
  const last = Math.ceil(Math.log10(high));
  const all = Array.from({ length: last - first + 1 }, (_, d) => TICKS.map((tick) => tick * 10 ** (first + d)));
  return all.flat().filter((tick) => tick >= low && tick <= high);
}

/** 2e6 -> 2M. */
export function short(value: number): string {
  if (value >= 1e6) return `${value / 1e6}M`;
  return value >= 1e3 ? `${value / 1e3}k` : `${value}`;
}

function text(x: number, y: number, anchor: "start" | "middle" | "end", content: string, more = ""): string {
  const escaped = content.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" ${more}>${escaped}</text>`;
}

function line(x1: number, y1: number, x2: number, y2: number): string {
  const [a, b, c, d] = [x1, y1, x2, y2].map((value) => value.toFixed(1));
  return `<line x1="${a}" y1="${b}" x2="${c}" y2="${d}" stroke="#cccccc"/>`;
}

/** A plot as an SVG document that says when it was measured. */
function draw({ title, x: label, ticks, series }: Plot, date: string): string {
  const xs = ticks.map(([value]) => value);
  const ys = series.flatMap(({ points }) => points.map(([, y]) => y));
  const bottom = HEIGHT - MARGIN.bottom;
  const right = WIDTH - MARGIN.right;
  const low = Math.min(...ys) / 1.3;
  const high = Math.max(...ys) * 1.3;
  const x = logScale(Math.min(...xs) / 1.1, Math.max(...xs) * 1.1, MARGIN.left, right);
  const y = logScale(low, high, bottom, MARGIN.top);
  const grid = [
    ...decades(low, high).flatMap((tick) => [
      line(MARGIN.left, y(tick), right, y(tick)),
      text(MARGIN.left - 6, y(tick) + 4, "end", short(tick)),
    ]),
    ...ticks.flatMap(([at, name]) => [
      line(x(at), MARGIN.top, x(at), bottom),
      text(x(at), bottom + 18, "middle", name),
    ]),
  ];
  const curves = series.flatMap(({ name, points }, s) => {
    const colour = COLOURS[s % COLOURS.length] as string;
    const at = points.map(([px, py]) => `${x(px).toFixed(1)},${y(py).toFixed(1)}`);
    const marks = at.map((place) => {
      const [cx, cy] = place.split(",");
      return `<circle cx="${cx}" cy="${cy}" r="3" fill="${colour}"/>`;
    });
    return [
      `<polyline points="${at.join(" ")}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      ...marks,
      text(right + 12, MARGIN.top + 12 + 18 * s, "start", name, `fill="${colour}"`),
    ];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<title>${title}</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="white"/>`,
    text(MARGIN.left, 20, "start", title, 'font-size="14"'),
    ...grid,
    ...curves,
    text((MARGIN.left + right) / 2, HEIGHT - 10, "middle", label),
    text(WIDTH - 8, HEIGHT - 10, "end", `measured ${date}`, 'fill="#555555"'),
    "</svg>\n",
  ].join("\n");
}

/** Points per second of the rows that `take` gives an x for, one series a name. */
export function collect(rows: readonly Row[], take: (row: Row) => { name: string; x: number } | null): Series[] {
  const series = new Map<string, (readonly [number, number])[]>();
  for (const row of rows) {
    const place = row.unit === "ns/point" ? take(row) : null;
    if (place === null) continue;
    const points = series.get(place.name) ?? [];
    series.set(place.name, points);
    points.push([place.x, 1e9 / row.value]);
  }
  return [...series].map(([name, points]) => ({ name, points: points.sort(([a], [b]) => a - b) }));
}

/** The ticks of the axis: all places where a series has a point. */
export function ticksOf(series: readonly Series[], name: (x: number) => string): (readonly [number, string])[] {
  const xs = new Set(series.flatMap(({ points }) => points.map(([x]) => x)));
  return [...xs].sort((a, b) => a - b).map((x) => [x, name(x)] as const);
}

/** Writes the plots that have a series, into docs/performance or another folder. */
export function writePlots(plots: readonly Plot[], date: string, folder = FOLDER): void {
  mkdirSync(folder, { recursive: true });
  for (const plot of plots) {
    if (plot.series.length > 0) writeFileSync(join(folder, plot.file), draw(plot, date));
  }
}
