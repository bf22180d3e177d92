/**
 * A plot draws curves over a common axis in the colours of the page, with uPlot, which it loads for the first chart;
 * missing values are gaps.
 */
import type uPlot from "uplot";
import { shortText } from "../../src/float32/format.js";
import type { ValueRange } from "../state/shown-quantity.js";
import { schemeColours } from "./scheme-colours.js";
import { linearTicks, logTicks, tickTexts } from "./ticks.js";
import "uplot/dist/uPlot.min.css";

export interface PlottedCurves {
  readonly x: readonly number[];
  readonly curves: readonly { readonly name: string; readonly y: readonly number[]; readonly dashed?: boolean }[];
  readonly xLabel: string;
  readonly yLabel: string;
  /** The mark of the probe or of the time of the view; null for none. */
  readonly mark: number | null;
  /** Places with names: limits of what is resolved. */
  readonly limits?: readonly { readonly x: number; readonly name: string }[];
  /** Whether the curves follow one another, as in time. */
  readonly ordered?: boolean;
  /** Called with the place of a click. */
  readonly pick?: (x: number) => void;
  /** The lowest and the highest value counted, which may lie beyond the first and the last place, those of bins. */
  readonly ends?: ValueRange;
  /** Called with the ends of a part that is marked by dragging. */
  readonly brush?: (low: number, high: number) => void;
  /** Whether both axes are logarithmic, or one of them only. */
  readonly log?: boolean | "across" | "up";
}

const HEIGHT = 220;
/** Colours of curves that are told apart by colour-blind readers too; the first is the accent of the page. */
const CURVE_COLOURS = ["#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999"];
/** Colours of curves in an order, as in time: from blue to red, each seen on light and on dark. */
const ORDERED_COLOURS = ["#1f77d0", "#6b6bd6", "#9a5cc9", "#bf4fae", "#d5497f", "#d9534f", "#c96a1a"];

/** The colour of a curve of a chart. @param accent that of the first one, if they have no order */
export function curveColour({ curves, ordered = false }: PlottedCurves, index: number, accent: string): string {
  if (ordered && curves.length > 1) {
    const place = (index * (ORDERED_COLOURS.length - 1)) / (curves.length - 1);
    return ORDERED_COLOURS[Math.round(place)] ?? accent;
  }
  return index === 0 ? accent : (CURVE_COLOURS[(index - 1) % CURVE_COLOURS.length] ?? accent);
}

/** Values on a logarithmic axis below this part of the largest one are rounding, and zero has no place there at all. */
const LOG_DEPTH = 1e-12;
/** Powers of ten beyond this one are written as such. */
const LONG = 4;
/** Most ticks on a logarithmic axis. */
const LOG_TICKS = 6;

/** The values as uPlot wants them: null for one that is missing, which breaks the curve. */
function withGaps(values: readonly number[]): (number | null)[] {
  return values.map((value) => (Number.isFinite(value) ? value : null));
}

/** Decimal logarithms of the values. uPlot's own logarithmic axes never end at zeros and at values far below one. */
function logarithms(values: readonly number[], most: number): (number | null)[] {
  return values.map((value) =>
    value > LOG_DEPTH * most && value < Number.POSITIVE_INFINITY ? Math.log10(value) : null,
  );
}

/** The decimal logarithms of a few round values between two of them. */
function logSplits(_: uPlot, _axis: number, low: number, high: number): number[] {
  return logTicks(10 ** low, 10 ** high, LOG_TICKS).map(({ value }) => Math.log10(value));
}

/** Decimal logarithms of round values as the texts of these values: powers of ten if some of them are long. */
function powerTexts(_: uPlot, splits: number[]): string[] {
  const long = splits.every(Number.isInteger) && splits.some((exponent) => Math.abs(exponent) > LONG);
  return splits.map((exponent) => (long ? `10${raised(exponent)}` : powerText(exponent)));
}

/** A whole number as an exponent. */
function raised(exponent: number): string {
  return String(exponent).replaceAll(/[-\d]/g, (digit) =>
    digit === "-" ? "⁻" : ("⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)] as string),
  );
}

/** A decimal logarithm as the number that it belongs to. */
function powerText(exponent: number): string {
  return String(Number((10 ** exponent).toPrecision(3)));
}

/** Round values on a linear axis, about as many as uPlot has room for. */
function roundSplits(_: uPlot, _axis: number, low: number, high: number, step: number): number[] {
  return linearTicks(low, high, Math.max(2, (high - low) / step)).map(({ value }) => value);
}

/** The values of the ticks of a linear axis as texts. */
function roundTexts(_: uPlot, splits: number[]): string[] {
  return tickTexts(splits);
}

/** Characters of the longest text of an axis; its ticks are not known before the first drawing. */
function widestOf(texts: readonly string[] | null): number {
  return (texts ?? []).reduce((most, text) => Math.max(most, text?.length ?? 0), 3);
}

/** Whether the axis across is logarithmic. */
export function isLogAcross(log: PlottedCurves["log"]): boolean {
  return log === true || log === "across";
}

/** Whether the axis up is logarithmic. */
export function isLogUp(log: PlottedCurves["log"]): boolean {
  return log === true || log === "up";
}

/** The places and the values of curves, on logarithmic axes their logarithms. */
function columnsOf({ x, curves, log }: PlottedCurves): [number[], ...(number | null)[][]] {
  const places = isLogAcross(log) ? x.map(Math.log10) : [...x];
  if (!isLogUp(log)) return [places, ...curves.map(({ y }) => withGaps(y))];
  const most = Math.max(0, ...curves.flatMap(({ y }) => y.filter(Number.isFinite)));
  return [places, ...curves.map(({ y }) => logarithms(y, most))];
}

/** The places of values that have no neighbour, so that no line leads to them. */
function loners(values: readonly (number | null)[]): number[] {
  return values.flatMap((value, i) => {
    return value !== null && (values[i - 1] ?? null) === null && (values[i + 1] ?? null) === null ? [i] : [];
  });
}

/** Draws curves into one element, again only when curves, width, mark or colours are new. */
export class Plot {
  #library: typeof uPlot | null = null;
  #loading = false;
  /** What the plot is to show once its library has come. */
  #wanted: { readonly element: HTMLElement; readonly shown: PlottedCurves } | null = null;
  #plot: uPlot | null = null;
  #key = "";
  #shown: PlottedCurves | null = null;

  draw(element: HTMLElement, shown: PlottedCurves): void {
    if (this.#library === null) {
      void this.#load(element, shown);
      return;
    }
    const { ink } = schemeColours(element);
    const width = Math.floor(element.clientWidth);
    const key = [width, ink, shown.xLabel, shown.yLabel].join(" ");
    const before = this.#shown;
    this.#shown = shown;
    if (width < 40) return;
    const kept = this.#plot?.root.parentElement === element && key === this.#key;
    if (kept && before !== null && before.x === shown.x && before.curves === shown.curves) {
      if (before.mark !== shown.mark) this.#plot?.redraw(false);
      return;
    }
    this.#key = key;
    this.#plot?.destroy();
    this.#plot = this.#make(this.#library, element, width, shown);
  }

  /** Loads the library, then draws what was asked for last. */
  async #load(element: HTMLElement, shown: PlottedCurves): Promise<void> {
    this.#wanted = { element, shown };
    if (this.#loading) return;
    this.#loading = true;
    try {
      const { default: library } = await import("uplot");
      this.#library = library;
      element.replaceChildren();
      if (this.#wanted !== null) this.draw(this.#wanted.element, this.#wanted.shown);
    } catch (error) {
      element.textContent = `The chart cannot be drawn: ${error instanceof Error ? error.message : String(error)}`;
    }
    this.#loading = false;
  }

  #make(library: typeof uPlot, element: HTMLElement, width: number, shown: PlottedCurves): uPlot {
    const { curves, xLabel, yLabel, log } = shown;
    const { ink, line, accent } = schemeColours(element);
    const logarithmic = { splits: logSplits, values: powerTexts };
    const linear = { splits: roundSplits, values: roundTexts };
    const [across, up] = [isLogAcross(log), isLogUp(log)];
    const axis = {
      stroke: ink,
      grid: { stroke: line, width: 1 },
      ticks: { stroke: line, width: 1 },
      gap: 4,
      labelSize: 22,
      labelFont: "12px system-ui, sans-serif",
      font: "12px system-ui, sans-serif",
    };
    const value = (log: boolean) => (_: uPlot, of: number | null) =>
      of === null ? "" : log ? powerText(of) : shortText(of);
    const several = curves.length > 1;
    const columns = columnsOf(shown);
    const plot = new library(
      {
        // Above the chart, where a long name has room.
        title: yLabel,
        width,
        height: HEIGHT,
        // A piece of each line, dashed if that is.
        legend: {
          live: true,
          markers: { width: 1, dash: (_, i) => (curves[i - 1]?.dashed === true ? "dashed" : "solid") },
        },
        cursor: { drag: { x: shown.brush !== undefined, y: false, setScale: false } },
        scales: { x: { time: false } },
        axes: [
          { ...axis, ...(across ? logarithmic : linear), label: xLabel, size: 30 },
          { ...axis, ...(up ? logarithmic : linear), size: (_, texts) => 18 + 7 * widestOf(texts) },
        ],
        series: [
          { label: xLabel.split(",")[0], value: value(across) },
          ...curves.map(({ name, dashed }, i) => {
            const alone = loners(columns[i + 1]);
            return {
              label: several ? name : yLabel,
              stroke: curveColour(shown, i, accent),
              width: 2,
              value: value(up),
              points: { show: alone.length > 0, size: 5, filter: () => alone },
              ...(dashed === true ? { dash: [6, 4] } : {}),
            };
          }),
        ],
        hooks: {
          draw: [(drawn) => this.#mark(drawn, schemeColours(element))],
          setSelect: [(drawn) => this.#brush(drawn)],
        },
      },
      columns,
      element,
    );
    plot.over.addEventListener("click", () => {
      const left = plot.cursor.left ?? -1;
      if (left >= 0) this.#shown?.pick?.(plot.posToVal(left, "x"));
    });
    return plot;
  }

  /** Tells the part of the x axis that was marked. */
  #brush(plot: uPlot): void {
    const { left, width } = plot.select;
    if (width < 2) return;
    const [low, high] = [plot.posToVal(left, "x"), plot.posToVal(left + width, "x")];
    // The outermost bins are in the middle of their values: a part that ends with them has all of these.
    const [first = low, last = high] = this.#shown?.ends ?? [];
    this.#shown?.brush?.(left < 1 ? first : low, left + width > plot.over.clientWidth - 1 ? last : high);
  }

  /** Draws the mark and the named limits as dashed lines across the plot. */
  #mark(plot: uPlot, { accent, ink, paper }: ReturnType<typeof schemeColours>): void {
    const { mark = null, limits = [], log } = this.#shown ?? {};
    const { ctx, bbox } = plot;
    const xOf = (place: number): number => plot.valToPos(isLogAcross(log) ? Math.log10(place) : place, "x", true);
    const line = (place: number): void => {
      const x = xOf(place);
      if (x < bbox.left || x > bbox.left + bbox.width) return;
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    };
    /** The name of a line beside it, on the side that has room, on paper so that nothing strikes it through. */
    const label = (place: number, name: string, row: number): void => {
      const x = xOf(place);
      if (x < bbox.left || x > bbox.left + bbox.width) return;
      const gap = 4 * devicePixelRatio;
      const fits = x - gap - ctx.measureText(name).width > bbox.left;
      const [at, y] = [fits ? x - gap : x + gap, bbox.top + (4 + 14 * row) * devicePixelRatio];
      ctx.textAlign = fits ? "right" : "left";
      ctx.strokeText(name, at, y);
      ctx.fillText(name, at, y);
    };
    ctx.save();
    ctx.strokeStyle = mark === null ? ink : accent;
    ctx.fillStyle = ink;
    ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.textBaseline = "top";
    ctx.setLineDash([4, 4]);
    if (mark !== null) line(mark);
    for (const { x } of limits) line(x);
    ctx.setLineDash([]);
    ctx.strokeStyle = paper;
    ctx.lineWidth = 4 * devicePixelRatio;
    for (const [i, { x, name }] of limits.entries()) label(x, name, i);
    ctx.restore();
  }
}
