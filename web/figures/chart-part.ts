/** This file writes the curves of a chart as a part of a figure. */
import type { FigurePart } from "./figure-file.js";
import { escapeXml, type Marks, writeMarks } from "./marks.js";
import { curveColour, isLogAcross, isLogUp, type PlottedCurves } from "./plot.js";
import { type AxisTick, linearTicks, logTicks } from "./ticks.js";

const WIDTH = 760;
const HEIGHT = 420;
const PLACE = { left: 76, top: 14, width: 664, height: 330 };
/** Half the length of the line of a value without neighbours. */
const ALONE = 2;
/** Values on a logarithmic axis below this part of the largest one are rounding. */
const LOG_DEPTH = 1e-12;

/** An axis from the least to the largest value, with its ticks and the place of a value on it, from 0 to 1. */
function axisOf(values: readonly number[], log: boolean): { place: (value: number) => number; ticks: AxisTick[] } {
  const most = Math.max(...values);
  const known = values.filter((value) => Number.isFinite(value) && (!log || value > LOG_DEPTH * most));
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const scale = (value: number) => (log ? Math.log(value) : value);
  const span = scale(high) - scale(low) || 1;
  return {
    place: (value) => (scale(value) - scale(low)) / span,
    ticks: log ? logTicks(low, high) : linearTicks(low, high, 7),
  };
}

/** The chart with axes, ticks, names and a legend. */
export function chartPart(chart: PlottedCurves): FigurePart {
  const { x, curves, xLabel, yLabel, limits = [], log = false } = chart;
  const { left, top, width, height } = PLACE;
  const across = axisOf([...x], isLogAcross(log));
  const up = axisOf(
    curves.flatMap(({ y }) => y.filter(Number.isFinite)),
    isLogUp(log),
  );
  const px = (value: number) => left + width * across.place(value);
  const py = (value: number) => top + height * (1 - up.place(value));
  const marks: Marks = {
    lines: [
      { x1: left, y1: top + height, x2: left + width, y2: top + height },
      { x1: left, y1: top, x2: left, y2: top + height },
      ...across.ticks.map(({ value }) => ({ x1: px(value), y1: top + height, x2: px(value), y2: top + height + 5 })),
      ...up.ticks.map(({ value }) => ({ x1: left - 5, y1: py(value), x2: left, y2: py(value) })),
      ...limits.map(({ x: at }) => ({ x1: px(at), y1: top, x2: px(at), y2: top + height })),
    ],
    labels: [
      ...across.ticks.map(({ value, text }) => ({
        x: px(value),
        y: top + height + 18,
        text,
        anchor: "middle" as const,
      })),
      ...up.ticks.map(({ value, text }) => ({ x: left - 8, y: py(value) + 4, text, anchor: "end" as const })),
      ...limits.map(({ x: at, name }, i) => {
        // Beside the line, on the side that has room.
        const fits = px(at) - left > 4 + 7 * name.length;
        const anchor = fits ? ("end" as const) : ("start" as const);
        return { x: px(at) + (fits ? -4 : 4), y: top + 12 + 14 * i, text: name, anchor };
      }),
      { x: left + width / 2, y: top + height + 36, text: xLabel, anchor: "middle" },
      { x: 16, y: top + height / 2, text: yLabel, anchor: "middle", turned: true },
    ],
  };
  const lines = curves.map(({ name, y, dashed }, i) => {
    const colour = curveColour(chart, i, "#0b62a4");
    const dash = dashed === true ? ' stroke-dasharray="6 4"' : "";
    let path = "";
    const drawn = y.map((value) => Number.isFinite(py(value)) && py(value) <= top + height + 1);
    for (const [k, value] of y.entries()) {
      if (drawn[k] !== true) continue;
      const [a, b] = [px(x[k] as number), py(value).toFixed(2)];
      // A value without neighbours is a short line.
      if (drawn[k - 1] !== true && drawn[k + 1] !== true)
        path += `M${(a - ALONE).toFixed(2)} ${b}L${(a + ALONE).toFixed(2)} ${b}`;
      else path += `${drawn[k - 1] === true ? "L" : "M"}${a.toFixed(2)} ${b}`;
    }
    const [lx, ly] = [left + 12 + 150 * (i % 4), top + height + 54 + 16 * Math.floor(i / 4)];
    return [
      `<path d="${path}" fill="none" stroke="${colour}" stroke-width="1.8"${dash}/>`,
      curves.length > 1
        ? `<path d="M${lx} ${ly - 4}L${lx + 18} ${ly - 4}" stroke="${colour}" stroke-width="1.8"${dash}/><text x="${lx + 24}" y="${ly}">${escapeXml(name)}</text>`
        : "",
    ].join("");
  });
  const rows = curves.length > 1 ? Math.ceil(curves.length / 4) : 0;
  return { width: WIDTH, height: HEIGHT - 30 + 16 * rows, svg: [writeMarks(marks), ...lines].join("\n") };
}
