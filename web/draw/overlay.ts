/** Drawing over the panes: ticks, names of axes, colour bars, and the positions of seams and walls. */
import type { Dataset, Vec3 } from "../state/dataset.js";
import type { Range } from "../state/link.js";
import { memoized } from "../state/memoized.js";
import { PLANE_AXES, pixel } from "../state/picture-plan.js";
import type { Volume } from "../state/volumes.js";
import { axisTicks, type Bar, barTicks, partOf } from "./bar.js";
import { type Camera, matrixOf } from "./camera.js";
import { type PlanePane, pixelsAt, type Rect } from "./layout.js";
import { colourTable, surfaceTable } from "./maps.js";

const FONT = "Inter, system-ui, sans-serif";

export type Ink = Readonly<Record<"text" | "halo", string>>;

/** Writes a text with a halo that keeps it readable on any colour. */
export function write(
  c: CanvasRenderingContext2D,
  ink: Ink,
  text: string,
  x: number,
  y: number,
  { align = "left" as CanvasTextAlign, size = 11, weight = 400, baseline = "alphabetic" as CanvasTextBaseline } = {},
): void {
  c.font = `${weight} ${size}px ${FONT}`;
  c.textAlign = align;
  c.textBaseline = baseline;
  c.lineJoin = "round";
  c.lineWidth = 3;
  c.strokeStyle = ink.halo;
  c.strokeText(text, x, y);
  c.fillStyle = ink.text;
  c.fillText(text, x, y);
}

/** Limits what is drawn to a part of the stage, until `restore`. */
export function clipTo(c: CanvasRenderingContext2D, { x, y, width, height }: Rect): void {
  c.save();
  c.beginPath();
  c.rect(x, y, width, height);
  c.clip();
}

/** A line through a whole pane: a seam of a periodic axis, or a wall. */
export interface Rule {
  readonly side: 0 | 1;
  /** Pixels from the left or upper edge of the stage. */
  readonly at: number;
  readonly isSeam: boolean;
}

/** Pixels between seams below which none is drawn: they would hide the picture. */
const MIN_PERIOD = 8;

export function rulesOf(pane: PlanePane, { axes }: Dataset, centre: Vec3, pixel: number): Rule[] {
  const { across, up } = pixelsAt(pane, centre, pixel);
  return ([0, 1] as const).flatMap((side) => {
    const { first, last, length, periodic } = axes[PLANE_AXES[pane.plane][side]];
    const middle = centre[PLANE_AXES[pane.plane][side]];
    const half = ((side === 0 ? pane.rect.width : pane.rect.height) / 2) * pixel;
    const from = Math.ceil((middle - half - first) / length);
    const isDense = length < MIN_PERIOD * pixel;
    const seams = isDense ? 0 : Math.max(0, Math.floor((middle + half - first) / length) - from + 1);
    const places = periodic ? Array.from({ length: seams }, (_, k) => first + (from + k) * length) : [first, last];
    return places.map((place) => ({ side, at: Math.round((side === 0 ? across : up)(place)), isSeam: periodic }));
  });
}

/** Draws the ticks and names of the axes of a plane. Returns the boxes that it fills. */
export function drawPlane(c: CanvasRenderingContext2D, ink: Ink, pane: PlanePane, set: Dataset, centre: Vec3): Rect[] {
  const { rect, plane } = pane;
  const { across, up } = pixelsAt(pane, centre, pixel.value);
  const axes = PLANE_AXES[plane];
  const [right, bottom] = [rect.x + rect.width, rect.y + rect.height];
  clipTo(c, rect);
  for (const [side, a] of axes.entries()) {
    const axis = set.axes[a];
    const at = side === 0 ? across : up;
    const half = ((side === 0 ? rect.width : rect.height) / 2) * pixel.value;
    const [from, to] = [centre[a] - half, centre[a] + half];
    const count = (side === 0 ? rect.width : rect.height) / 90;
    for (const { tick, text } of axisTicks(axis, from, to, count)) {
      const p = Math.round(at(tick)) + 0.5;
      c.fillStyle = ink.text;
      if (side === 0) {
        if (p < rect.x + 28 || p > right - 28) continue;
        c.fillRect(p - 0.5, bottom - 5, 1, 5);
        write(c, ink, text, p, bottom - 8, { align: "center" });
      } else {
        if (p < rect.y + 60 || p > bottom - 20) continue;
        c.fillRect(rect.x, p - 0.5, 5, 1);
        write(c, ink, text, rect.x + 9, p, { baseline: "middle" });
      }
    }
  }
  write(c, ink, axes[0] === 2 ? "z" : "x", right - 10, bottom - 8, { align: "right" });
  write(c, ink, axes[1] === 2 ? "z" : "y", rect.x + 9, rect.y + 50);
  c.restore();
  const [top, foot] = [rect.y + 36, bottom - 24];
  return [
    { x: rect.x, y: foot, width: rect.width, height: 24 },
    { x: rect.x, y: top, width: 84, height: Math.max(1, foot - top) },
  ];
}

const BAR_BINS = 48;

const histogramOf = memoized((volume: Volume, range: Range): Float64Array => {
  const counts = new Float64Array(BAR_BINS);
  // Every so many samples, not the same ones of each row, plane or box.
  const step = [5, 7, 11].find((n) => volume.dims.every((length) => length % n !== 0)) ?? 1;
  for (let i = 0; i < volume.data.length; i += step) {
    const at = Math.floor(partOf(range, volume.data[i]) * BAR_BINS);
    if (at >= 0 && at < BAR_BINS) counts[at]++;
  }
  return counts;
});

/** Draws a colour bar with the histogram of the values that it colours. Returns the boxes that it fills. */
export function drawBar(
  c: CanvasRenderingContext2D,
  ink: Ink,
  rect: Rect,
  { range, map, label, isLit }: Bar,
  volume: Volume | null,
): Rect[] {
  const height = Math.min(150, rect.height - 96);
  if (height < 60 || rect.width < 160) return [];
  // Room next to the bar is measured by its longest number.
  c.font = `400 11px ${FONT}`;
  const ticks = barTicks(range);
  const room = Math.max(32, ...ticks.map(({ text }) => Math.ceil(c.measureText(text).width)));
  const [x, y, width] = [rect.x + rect.width - room - 20, rect.y + 44, 10];
  const table = isLit ? surfaceTable(map) : colourTable(map);
  if (volume !== null) {
    const counts = histogramOf(volume, range);
    const most = Math.log1p(Math.max(...counts));
    c.fillStyle = ink.text;
    c.globalAlpha = 0.34;
    for (const [i, count] of counts.entries()) {
      const size = Math.round((28 * Math.log1p(count)) / most);
      const [from, to] = [i + 1, i].map((bin) => y + height - Math.round((bin * height) / BAR_BINS));
      c.fillRect(x - 2 - size, from, size, to - from);
    }
    c.globalAlpha = 1;
  }
  // Whole pixels, since rasterisers differ in how they smooth edges.
  for (let i = 0; i < height; i++) {
    const at = 4 * Math.round((1 - i / (height - 1)) * 255);
    c.fillStyle = `rgb(${table[at]} ${table[at + 1]} ${table[at + 2]})`;
    c.fillRect(x, y + i, width, 1);
  }
  let last = Number.POSITIVE_INFINITY;
  for (const { tick, text } of ticks) {
    const p = y + height * (1 - partOf(range, tick));
    if (last - p < 13) continue;
    last = p;
    write(c, ink, text, x + width + 5, p, { baseline: "middle" });
  }
  write(c, ink, label, x + width, y - 10, { align: "right" });
  const wide = Math.min(rect.width, c.measureText(label).width + 8);
  return [
    { x: x + width - wide + 4, y: y - 24, width: wide, height: 18 },
    { x: x - 32, y: y - 6, width: rect.x + rect.width - x + 32, height: height + 12 },
  ];
}

type ViewedBox = Readonly<Record<"low" | "high", Vec3>> & { readonly camera: Camera };
/** Draws the names of the axes at the edges of the box in space. Returns the boxes that they fill. */
export function drawAxisNames(c: CanvasRenderingContext2D, ink: Ink, rect: Rect, box: ViewedBox): Rect[] {
  const { camera, low, high } = box;
  const back = [0, 1, 2].map((a) => camera.forward[a] > 0);
  const matrix = matrixOf(camera, rect.width / rect.height);
  const project = (p: Vec3): [number, number] => {
    const row = (r: number) => matrix[r] * p[0] + matrix[4 + r] * p[1] + matrix[8 + r] * p[2] + matrix[12 + r];
    const [x, y, w] = [row(0), row(1), row(3)];
    return [rect.x + ((x / w + 1) / 2) * rect.width, rect.y + ((1 - y / w) / 2) * rect.height];
  };
  const middle = low.map((one, a) => (one + high[a]) / 2) as unknown as Vec3;
  // Each axis is named at the lower edge of the box nearest to the eye.
  const near = (a: number) => (back[a] ? low[a] : high[a]);
  const at: readonly Vec3[] = [
    [middle[0], low[1], near(2)],
    [back[0] ? high[0] : low[0], middle[1], near(2)],
    [near(0), low[1], middle[2]],
  ];
  return at.map((place, a) => {
    const [x, y] = project(place);
    const [mx, my] = project(middle);
    const away = Math.hypot(x - mx, y - my) || 1;
    const [left, top] = [x + (14 * (x - mx)) / away, y + (14 * (y - my)) / away];
    write(c, ink, "xyz"[a], left, top, { align: "center", baseline: "middle" });
    return { x: left - 9, y: top - 9, width: 18, height: 18 };
  });
}
