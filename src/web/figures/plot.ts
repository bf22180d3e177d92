/** One curve in a frame: uPlot with the page's colours; the numbers stand beside it in a table. */
import uPlot from "uplot";
import { schemeColours } from "./scheme-colours.js";
import "uplot/dist/uPlot.min.css";

export interface Curve {
  readonly x: readonly number[];
  readonly y: readonly number[];
  readonly xLabel: string;
  readonly yLabel: string;
  /** Where the probe or the time of the view is. */
  readonly mark: number;
}

const HEIGHT = 220;

/** Draws curves into one element, again only when the curve, the width or the colours are new. */
export class Plot {
  #plot: uPlot | null = null;
  #key = "";
  #curve: Curve | null = null;

  draw(element: HTMLElement, curve: Curve): void {
    const { ink, line, accent } = schemeColours(element);
    const width = Math.floor(element.clientWidth);
    const key = [width, ink, curve.mark, curve.xLabel, curve.yLabel].join(" ");
    if (width < 40 || (this.#plot?.root.parentElement === element && key === this.#key && same(curve, this.#curve)))
      return;
    this.#key = key;
    this.#curve = curve;
    this.#plot?.destroy();
    const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
    const mark = {
      hooks: {
        draw: (plot: uPlot) => {
          const x = plot.valToPos(curve.mark, "x", true);
          const { ctx, bbox } = plot;
          ctx.save();
          ctx.strokeStyle = accent;
          ctx.setLineDash([4, 4]);
          ctx.beginPath();
          ctx.moveTo(x, bbox.top);
          ctx.lineTo(x, bbox.top + bbox.height);
          ctx.stroke();
          ctx.restore();
        },
      },
    };
    this.#plot = new uPlot(
      {
        width,
        height: HEIGHT,
        legend: { show: false },
        cursor: { drag: { x: false, y: false } },
        scales: { x: { time: false } },
        axes: [
          { ...axis, label: curve.xLabel },
          { ...axis, label: curve.yLabel, size: 64 },
        ],
        series: [{}, { stroke: accent, width: 2, points: { show: false } }],
        plugins: [mark],
      },
      [curve.x as number[], curve.y as number[]],
      element,
    );
  }

  destroy(): void {
    this.#plot?.destroy();
    this.#plot = null;
    this.#key = "";
  }
}

function same(a: Curve, b: Curve | null): boolean {
  return b !== null && a.x === b.x && a.y === b.y;
}
