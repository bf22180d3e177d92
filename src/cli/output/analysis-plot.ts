/** Curves of a table as an SVG document. */
import type { AnalysisTable } from "../../analysis/table.js";

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT] = [640, 400, 80, 50, 30, 150];
/** Colours that also differ in lightness, for black-and-white print. */
const COLOURS = ["#1b4965", "#c1121f", "#2a9d8f", "#8d6a9f", "#e09f3e", "#555555"];

type Curve = Readonly<{ name: string; points: readonly (readonly [number, number])[] }>;

function curvesOf({ columns, rows: all, plot, shown = () => true }: AnalysisTable): readonly Curve[] {
  if (plot === null)
    throw new Error("no curve to plot: take a profile, a histogram, structure functions or a spectrum");
  const rows = all.filter(shown);
  const { x, along = [x], y, by, log } = plot;
  const at = (column: string) => columns.indexOf(column);
  const number = (row: readonly unknown[], column: string) => Number(String(row[at(column)] ?? "") || Number.NaN);
  const middle = (row: readonly unknown[]) => along.reduce((sum, one) => sum + number(row, one) / along.length, 0);
  const names = by === undefined ? [""] : [...new Set(rows.map((row) => String(row[at(by)])))];
  return names.flatMap((name) =>
    y.map((column) => {
      const points = rows
        .filter((row) => by === undefined || String(row[at(by)]) === name)
        .map((row) => [middle(row), number(row, column)] as const)
        .filter(([a, b]) => Number.isFinite(a) && Number.isFinite(b) && (!log || (a > 0 && b !== 0)))
        .sort(([a], [b]) => a - b);
      if (!log || points.every(([, b]) => b > 0)) return { name: `${column} ${name}`.trim(), points };
      return { name: `|${column}| ${name}`.trim(), points: points.map(([a, b]) => [a, Math.abs(b)] as const) };
    }),
  );
}

/** A scale from values to pixels, with the values to label: steps of a power of ten, or a quarter of it if few. */
function scaleOf(values: readonly number[], log: boolean, from: number, to: number) {
  const transform = log ? Math.log10 : (value: number) => value;
  const [low, high] = [Math.min(...values.map(transform)), Math.max(...values.map(transform))];
  const width = high - low || 1;
  const step = 10 ** Math.floor(Math.log10(width)) / (width / 10 ** Math.floor(Math.log10(width)) < 3 ? 4 : 1);
  const ticks = Array.from({ length: 60 }, (_, i) => (Math.ceil(low / step) + i) * step);
  const powers = Array.from({ length: 40 }, (_, i) => [1, 2, 5].map((m) => m * 10 ** (i - 20))).flat();
  const labels = (log ? powers : ticks).filter((one) => transform(one) >= low && transform(one) <= low + width);
  return { place: (value: number) => from + ((transform(value) - low) / width) * (to - from), labels };
}

export const escaped = (text: string): string => text.replace(/[&<>"]/g, (mark) => `&#${mark.charCodeAt(0)};`);

/** @throws Error with a one-line message if the table has no curve */
export function analysisPlot(table: AnalysisTable, title: string): string {
  const curves = curvesOf(table);
  const { x: column, title: axisTitle = column, log } = table.plot as NonNullable<AnalysisTable["plot"]>;
  const points = curves.flatMap((curve) => curve.points);
  if (points.length === 0) throw new Error("there is nothing to plot: no value is a positive number");
  const [across, up] = [points.map(([a]) => a), points.map(([, b]) => b)];
  const x = scaleOf(across, log, LEFT, WIDTH - RIGHT);
  const y = scaleOf(up, log, HEIGHT - BOTTOM, TOP);
  const text = (a: number, b: number, content: string, anchor = "middle") =>
    `<text x="${a.toFixed(1)}" y="${b.toFixed(1)}" text-anchor="${anchor}">${escaped(content)}</text>`;
  const lines = curves.map(({ points: values }, i) => {
    const path = values.map(([a, b]) => `${x.place(a).toFixed(1)},${y.place(b).toFixed(1)}`).join(" ");
    return `<polyline points="${path}" fill="none" stroke="${COLOURS[i % COLOURS.length]}" stroke-width="2"/>`;
  });
  const legend = curves.map((curve, i) => {
    const at = TOP + 18 * i + 6;
    const line = `<path d="M${WIDTH - RIGHT + 10},${at}h20" stroke="${COLOURS[i % COLOURS.length]}" stroke-width="2"/>`;
    return line + text(WIDTH - RIGHT + 35, at + 4, curve.name, "start");
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    `<path d="M${LEFT},${TOP}V${HEIGHT - BOTTOM}H${WIDTH - RIGHT}" fill="none" stroke="#000"/>`,
    text(WIDTH / 2, 18, title),
    text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, axisTitle),
    ...x.labels.map((value) => text(x.place(value), HEIGHT - BOTTOM + 18, String(Number(value.toPrecision(4))))),
    ...y.labels.map((value) => text(LEFT - 6, y.place(value) + 4, String(Number(value.toPrecision(4))), "end")),
    ...lines,
    ...legend,
    "</svg>\n",
  ].join("\n");
}
