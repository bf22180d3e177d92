/** Marks are the lines and texts of axes and colour bars: drawn on the page and written into exported figures alike. */
import { svg, type TemplateResult } from "lit-html";
import { type AxisName, type PlaneWindow, type Rectangle, sidesOf } from "../state/plane-geometry.js";
import type { ColourScale } from "./colour-scale.js";
import { positionOn } from "./colour-scale.js";
import { linearTicks, logTicks, signedLogTicks, signedText } from "./ticks.js";

interface Line {
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
}

interface Label {
  readonly x: number;
  readonly y: number;
  readonly text: string;
  readonly anchor: "start" | "middle" | "end";
  /** Whether it reads upwards. */
  readonly turned?: boolean;
}

export interface Marks {
  readonly lines: readonly Line[];
  readonly labels: readonly Label[];
}

/** An SVG document with its size. */
export interface FigureDocument {
  readonly svg: string;
  readonly width: number;
  readonly height: number;
}

const TICK = 5;
/** Distance of ticks that are comfortable to read, in pixels. */
const ACROSS_GAP = 70;
const UP_GAP = 45;

/** Axes with ticks, names and units at the lower and left edges of a picture. */
export function axisMarks(
  [left, right, bottom, top]: PlaneWindow,
  place: Rectangle,
  names: readonly [string, string],
): Marks {
  const { left: x0, top: y0, width, height } = place;
  const y1 = y0 + height;
  const across = linearTicks(left, right, Math.max(2, width / ACROSS_GAP)).map(({ value, text }) => {
    return { at: x0 + ((value - left) / (right - left)) * width, text };
  });
  const up = linearTicks(bottom, top, Math.max(height < UP_GAP ? 1 : 2, height / UP_GAP)).map(({ value, text }) => {
    return { at: y0 + ((top - value) / (top - bottom)) * height, text };
  });
  const widest = Math.max(0, ...up.map(({ text }) => text.length));
  return {
    lines: [
      { x1: x0, y1: y0, x2: x0, y2: y1 },
      { x1: x0, y1, x2: x0 + width, y2: y1 },
      ...across.map(({ at }) => ({ x1: at, y1, x2: at, y2: y1 + TICK })),
      ...up.map(({ at }) => ({ x1: x0 - TICK, y1: at, x2: x0, y2: at })),
    ],
    labels: [
      ...across.map(({ at, text }) => ({ x: at, y: y1 + 18, text, anchor: "middle" as const })),
      ...up.map(({ at, text }) => ({ x: x0 - TICK - 3, y: at + 4, text, anchor: "end" as const })),
      { x: x0 + width / 2, y: y1 + 34, text: names[0], anchor: "middle" },
      { x: Math.max(12, x0 - 14 - 6.7 * widest), y: y0 + height / 2, text: names[1], anchor: "middle", turned: true },
    ],
  };
}

/** Length of the arms of an axis cross. */
const ARM = 14;

/**
 * A small cross below the left end of a picture that tells its axes: to the right, up, and the third one towards the
 * reader (⊙) or away (⊗).
 */
export function axisCross(axis: AxisName, { left, top, height }: Rectangle): Marks {
  const [across, up] = sidesOf(axis);
  const [x, y] = [left - 20, top + height + 36];
  const arrow = (dx: number, dy: number) => [
    { x1: x, y1: y, x2: x + ARM * dx, y2: y + ARM * dy },
    { x1: x + ARM * dx - 3 * dx + 3 * dy, y1: y + ARM * dy - 3 * dy + 3 * dx, x2: x + ARM * dx, y2: y + ARM * dy },
    { x1: x + ARM * dx - 3 * dx - 3 * dy, y1: y + ARM * dy - 3 * dy - 3 * dx, x2: x + ARM * dx, y2: y + ARM * dy },
  ];
  return {
    lines: [...arrow(1, 0), ...arrow(0, -1)],
    labels: [
      { x: x + ARM + 6, y: y + 4, text: across, anchor: "middle" },
      { x: x + 5, y: y - ARM + 6, text: up, anchor: "start" },
      { x: x - 5, y: y + 4, text: `${axis === "y" ? "⊗" : "⊙"}${axis}`, anchor: "end" },
    ],
  };
}

/** The values at the ends of a colour bar and about `count` round ones between them, each as a part of its length. */
export function barTicks(
  scale: ColourScale,
  count: number,
): readonly { readonly part: number; readonly text: string }[] {
  const [low, high] = scale.range;
  const ticks = scale.log
    ? low > 0
      ? logTicks(low, high)
      : signedLogTicks(scale.linear, high, count)
    : linearTicks(low, high, count);
  const round = ticks.map(({ value, text }) => ({ part: positionOn(scale, value), text }));
  if (!(high > low)) return round;
  const ends = [low, high].map((value) => ({ part: positionOn(scale, value), text: signedText(value) }));
  const isEnd = (part: number) => part < NEAR_END || part > 1 - NEAR_END;
  return [ends[0], ...round.filter(({ part }) => !isEnd(part)), ends[1]];
}

/** Ticks of a colour bar, about, on the page and in figures; as many as find room on a phone. */
export const BAR_TICKS = 6;

/** The part of a bar at its ends that their own values need. */
const NEAR_END = 0.09;

/** Ticks below a horizontal colour bar, and arrows at its ends for values beyond them. */
export function barMarks(scale: ColourScale, { left, top, width, height }: Rectangle): Marks {
  const [below, above] = scale.beyond;
  const ticks = barTicks(scale, Math.min(BAR_TICKS, width / ACROSS_GAP)).map(({ part, text }) => ({
    at: left + part * width,
    text,
  }));
  const y = top + height;
  const linear = [-scale.linear, scale.linear].map((value) => left + width * positionOn(scale, value));
  const framed = scale.linear > 0 ? linear.map((at) => ({ x1: at, y1: top, x2: at, y2: y })) : [];
  return {
    lines: [...ticks.map(({ at }) => ({ x1: at, y1: y, x2: at, y2: y + TICK })), ...framed],
    labels: [
      ...ticks.map(({ at, text }) => ({ x: at, y: y + 18, text, anchor: "middle" as const })),
      ...(below ? [{ x: left - 4, y: y - 3, text: "◀", anchor: "end" as const }] : []),
      ...(above ? [{ x: left + width + 4, y: y - 3, text: "▶", anchor: "start" as const }] : []),
    ],
  };
}

/** Marks as parts of an SVG on the page. */
export function drawMarks({ lines, labels }: Marks): TemplateResult {
  return svg`
    ${lines.map(({ x1, y1, x2, y2 }) => svg`<line x1=${x1} y1=${y1} x2=${x2} y2=${y2}></line>`)}
    ${labels.map(({ x, y, text, anchor, turned }) => {
      const turn = turned === true ? `rotate(-90 ${x} ${y})` : "";
      return svg`<text x=${x} y=${y} text-anchor=${anchor} transform=${turn}>${text}</text>`;
    })}
  `;
}

/** Text safe in an SVG document. */
export function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/** Marks as text of an SVG document. */
export function writeMarks({ lines, labels }: Marks): string {
  const numbers = (value: number) => String(Number(value.toFixed(2)));
  return [
    ...lines.map(({ x1, y1, x2, y2 }) => {
      const [a, b, c, d] = [x1, y1, x2, y2].map(numbers);
      return `<line x1="${a}" y1="${b}" x2="${c}" y2="${d}" stroke="currentColor"/>`;
    }),
    ...labels.map(({ x, y, text, anchor, turned }) => {
      const turn = turned === true ? ` transform="rotate(-90 ${numbers(x)} ${numbers(y)})"` : "";
      return `<text x="${numbers(x)}" y="${numbers(y)}" text-anchor="${anchor}"${turn}>${escapeXml(text)}</text>`;
    }),
  ].join("\n");
}
