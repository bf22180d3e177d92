/** Draws charts. The only file that imports Observable Plot; loaded when a card is first shown. */
import { dot, line, plot, raster, rectY, ruleX, ruleY, text } from "@observablehq/plot";
import { plainNumber, superscript, ticksOf } from "./state/format.js";

export interface Curve {
  readonly label: string;
  readonly points: readonly (readonly [number, number])[];
  readonly isDashed?: boolean;
}

export interface ChartAxis {
  readonly label: string;
  readonly isLog?: boolean;
  readonly domain?: readonly [number, number];
}

export interface Chart {
  readonly x: ChartAxis;
  readonly y: ChartAxis;
  readonly curves: readonly Curve[];
  /** Densities of a joint distribution, x fastest. */
  readonly joint?: {
    readonly nx: number;
    readonly ny: number;
    readonly x: readonly number[];
    readonly y: readonly number[];
    readonly values: readonly number[];
  };
  readonly brush?: readonly [number, number];
  readonly mark?: number;
  readonly zero?: boolean;
}

const COLOURS = ["#e8963a", "#4f8ff7", "#3fb68b", "#d65f8c", "#a07be0", "#98a4b3"];
export const colourOf = (i: number): string => COLOURS[i % COLOURS.length];

/** The index of the point of a curve that is furthest from the other curves, where its label is clear of them. */
function clearest(curve: Curve, others: readonly Curve[], { y }: Chart): number {
  const height = (value: number) => (y.isLog ? Math.log(Math.max(value, 1e-300)) : value);
  const all = [curve, ...others].flatMap(({ points }) => points.map((point) => height(point[1])));
  const span = Math.max(...all) - Math.min(...all) || 1;
  const n = curve.points.length;
  let [best, most] = [0, -1];
  // Labels extend to the right of their point: the last fifth has no room for them.
  for (let i = 0; i < 0.8 * n; i++) {
    const own = height(curve.points[i][1]);
    const near = others.map(({ points }) => {
      const at = points[Math.round((i * (points.length - 1)) / Math.max(1, n - 1))];
      return at === undefined ? span : Math.abs(height(at[1]) - own);
    });
    const far = Math.min(span, ...near) / span;
    if (far > most) [best, most] = [i, far];
  }
  return best;
}

/** Labels of curves: of a few curves at fixed positions, of many curves where each is furthest from the others. */
function labelled(curves: readonly Curve[], chart: Chart) {
  const isCrowded = curves.filter(({ isDashed = false }) => !isDashed).length > 3;
  return curves.flatMap((curve, i) => {
    const { points, label, isDashed = false } = curve;
    const usual = Math.floor((points.length - 1) * (isDashed ? 0.3 : 0.62 + 0.08 * (i % 3)));
    const others = curves.filter((other) => other !== curve);
    const at = points[isCrowded ? clearest(curve, others, chart) : usual];
    if (at === undefined || (chart.y.isLog && !(at[1] > 0))) return [];
    return [{ x: at[0], y: at[1], label, colour: isDashed ? "currentColor" : colourOf(i) }];
  });
}

/** Draws a chart. `onBrush` is called with the ends of a range that the user draws over x. */
export function drawChart(
  chart: Chart,
  width: number,
  height: number,
  onBrush: ((range: readonly [number, number] | null) => void) | null = null,
): Element {
  const { x, y, curves, joint, brush, mark, zero = false } = chart;
  const finite = ([px, py]: readonly [number, number]) =>
    Number.isFinite(px) && Number.isFinite(py) && (!x.isLog || px > 0) && (!y.isLog || py > 0);
  const clean = curves.map((curve) => ({ ...curve, points: curve.points.filter(finite) }));
  const heights = clean.flatMap(({ points }) => points.map(([, one]) => one));
  const isFlat = Math.min(...heights) === Math.max(...heights);
  const chosen =
    y.isLog && y.domain === undefined && heights.length > 0
      ? { ...y, domain: [Math.min(...heights) * 0.7, Math.max(...heights) * 1.5] as const }
      : y;
  const marks = [
    ...(joint === undefined
      ? []
      : [
          raster(joint.values as number[], {
            ...{ width: joint.nx, height: joint.ny, imageRendering: "pixelated" },
            ...{ x1: joint.x[0] ?? 0, x2: joint.x.at(-1) ?? 1, y1: joint.y[0] ?? 0, y2: joint.y.at(-1) ?? 1 },
          }),
        ]),
    ...(zero ? [ruleY([0], { stroke: "currentColor", strokeOpacity: 0.25 })] : []),
    ...(mark === undefined ? [] : [ruleX([mark], { stroke: "currentColor", strokeOpacity: 0.45 })]),
    ...(brush === undefined
      ? []
      : [
          rectY([brush], {
            x1: "0",
            x2: "1",
            y1: y.domain?.[0] ?? 0,
            y2: y.domain?.[1] ?? 1,
            fill: "#2563eb",
            fillOpacity: 0.3,
          }),
          ruleX([...brush], { stroke: "#6ea8fe" }),
        ]),
    ...curves.map((curve, i) =>
      line(curve.points.map((one) => (finite(one) ? [...one] : [Number.NaN, Number.NaN])) as [number, number][], {
        stroke: curve.isDashed ? "currentColor" : colourOf(i),
        strokeOpacity: curve.isDashed ? 0.55 : 1,
        strokeWidth: curve.isDashed ? 1.2 : 2,
        ...(curve.isDashed ? { strokeDasharray: "3 4" } : {}),
      }),
    ),
    ...clean.flatMap(({ points, isDashed }, i) =>
      points.length < 10 && !isDashed ? [dot(points as [number, number][], { fill: colourOf(i), r: 3 })] : [],
    ),
    text(labelled(clean, chart), {
      x: "x",
      y: "y",
      text: "label",
      fill: "colour",
      dy: -9,
      textAnchor: "start",
      dx: 5,
      stroke: "var(--ground)",
      strokeWidth: 4,
    }),
  ];
  const element = plot({
    // The content policy lists the style sheet of this class by its digest.
    className: "chart",
    width,
    height,
    marginLeft: 52,
    marginRight: 16,
    marginBottom: 38,
    marginTop: 24,
    style: {
      background: "none",
      fontFamily: "inherit",
      fontSize: width > 500 ? "13px" : "11px",
      color: "inherit",
      overflow: "visible",
    },
    x: {
      label: x.label,
      type: x.isLog ? "log" : "linear",
      labelAnchor: "center",
      labelArrow: "none",
      grid: false,
      ticks: width / 90,
      ...(x.domain ? { domain: [...x.domain] } : {}),
      tickFormat: x.isLog ? decadeFormat(clean) : (one: number) => plainNumber(one, 15),
    },
    y: {
      label: y.label,
      type: y.isLog ? "log" : "linear",
      labelArrow: "none",
      grid: true,
      ticks: chosen.isLog && chosen.domain ? decades(chosen.domain) : height / 55,
      clamp: true,
      ...(chosen.domain ? { domain: [...chosen.domain] } : {}),
      tickFormat: y.isLog ? powerOfTen : (one: number) => plainNumber(one, isFlat ? 4 : 15),
    },
    ...(joint === undefined ? {} : { color: { scheme: "inferno" } }),
    marks,
  } as Parameters<typeof plot>[0]);
  if (onBrush !== null) listenForBrush(element, onBrush);
  return element;
}

function decades([low, high]: readonly [number, number]): number[] {
  const [from, to] = [Math.ceil(Math.log10(low)), Math.floor(Math.log10(high))];
  if (to <= from) return ticksOf(low, high, 4);
  return Array.from({ length: to - from + 1 }, (_, i) => from + i)
    .filter((p) => p % Math.ceil((to - from) / 7) === 0)
    .map((p) => 10 ** p);
}

/** Labels of a logarithmic axis: 1, 2 and 5 of each decade; only 1 if there are many decades. */
function decadeFormat(curves: readonly Curve[]): (value: number) => string {
  const values = curves.flatMap(({ points }) => points.map(([one]) => one));
  const isShort = Math.max(...values) / Math.min(...values) < 1e3;
  return (value) => {
    const power = Math.floor(Math.log10(value) + 1e-9);
    const lead = Math.round(value / 10 ** power);
    if (lead !== 1 && !(isShort && (lead === 2 || lead === 5))) return "";
    return power < -3 || power > 4 ? powerOfTen(value) : String(Number(value.toPrecision(3)));
  };
}

function powerOfTen(value: number): string {
  const power = Math.round(Math.log10(value));
  return Math.abs(Math.log10(value) - power) > 1e-9 ? plainNumber(value) : `10${superscript(power)}`;
}

function listenForBrush(
  element: Element & { scale?: unknown },
  onBrush: (range: readonly [number, number] | null) => void,
): void {
  const svg = element instanceof SVGSVGElement ? element : element.querySelector("svg");
  const scale = (element as unknown as { scale(name: "x"): { invert(px: number): number } }).scale("x");
  if (svg === null) return;
  svg.setAttribute("tabindex", "-1");
  let from: number | null = null;
  const at = (event: PointerEvent) => {
    const { left, width } = svg.getBoundingClientRect();
    return scale.invert(((event.clientX - left) / width) * Number(svg.getAttribute("width")));
  };
  svg.addEventListener("pointerdown", (event) => {
    from = at(event);
    svg.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  svg.addEventListener("pointerup", (event) => {
    if (from === null) return;
    const to = at(event);
    const [low, high] = [Math.min(from, to), Math.max(from, to)];
    from = null;
    onBrush(Math.abs(scale.invert(60) - scale.invert(56)) > high - low ? null : [low, high]);
  });
}
