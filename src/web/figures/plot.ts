/** A plot draws curves over a common axis with uPlot in the colours of the page; missing values are gaps. */
import uPlot from "uplot";
import { schemeColours } from "./scheme-colours.js";
import "uplot/dist/uPlot.min.css";

export interface PlottedCurves {
  readonly x: readonly number[];
  readonly curves: readonly { readonly name: string; readonly y: readonly number[]; readonly dashed?: boolean }[];
  readonly xLabel: string;
  readonly yLabel: string;
  /** Where the probe or the time of the view is; null for no mark. */
  readonly mark: number | null;
  /** Called with the place of a click. */
  readonly pick?: (x: number) => void;
  /** Whether both axes are logarithmic. */
  readonly log?: boolean;
}

const HEIGHT = 220;
/** Colours of curves that are told apart by colour-blind readers too; the first is the accent of the page. */
const COLOURS = ["#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999"];

/** The places of missing values as uPlot wants them: null, which breaks the curve. */
function withGaps(values: readonly number[]): (number | null)[] {
  return values.map((value) => (Number.isFinite(value) ? value : null));
}

/** Draws curves into one element, again only when curves, width, mark or colours are new. */
export class Plot {
  #plot: uPlot | null = null;
  #key = "";
  #shown: PlottedCurves | null = null;

  draw(element: HTMLElement, shown: PlottedCurves): void {
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
    this.#plot = this.#make(element, width, shown);
  }

  destroy(): void {
    this.#plot?.destroy();
    this.#plot = null;
    this.#key = "";
    this.#shown = null;
  }

  #make(element: HTMLElement, width: number, { x, curves, xLabel, yLabel, log }: PlottedCurves): uPlot {
    const { ink, line, accent } = schemeColours(element);
    const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
    const several = curves.length > 1;
    const distribution = log === true ? ({ distr: 3 } as const) : {};
    const plot = new uPlot(
      {
        width,
        height: HEIGHT,
        legend: { show: true, live: true },
        cursor: { drag: { x: false, y: false } },
        scales: { x: { time: false, ...distribution }, y: distribution },
        axes: [
          { ...axis, label: xLabel },
          { ...axis, label: yLabel, size: 64 },
        ],
        series: [
          { label: xLabel },
          ...curves.map(({ name, dashed }, i) => ({
            label: several ? name : yLabel,
            stroke: i === 0 ? accent : COLOURS[(i - 1) % COLOURS.length],
            width: 2,
            points: { show: false },
            ...(dashed === true ? { dash: [6, 4] } : {}),
          })),
        ],
        hooks: { draw: [(drawn) => this.#mark(drawn, accent)] },
      },
      [x as number[], ...curves.map(({ y }) => withGaps(y))],
      element,
    );
    plot.over.addEventListener("click", () => {
      const left = plot.cursor.left ?? -1;
      if (left >= 0) this.#shown?.pick?.(plot.posToVal(left, "x"));
    });
    return plot;
  }

  #mark(plot: uPlot, accent: string): void {
    const mark = this.#shown?.mark ?? null;
    if (mark === null) return;
    const x = plot.valToPos(mark, "x", true);
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.strokeStyle = accent;
    ctx.setLineDash([4, 4]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.restore();
  }
}
