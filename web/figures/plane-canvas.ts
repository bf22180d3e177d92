/** This file paints a plane of values as a picture and draws it on a canvas with probe and overlay. */
import type { Slice } from "../state/api.js";
import type { PlaneWindow } from "../state/plane-geometry.js";
import { type ColourScale, pixelOf } from "./colour-scale.js";
import type { ContourLines } from "./contour-lines.js";
import { coveredBy, type MarkedNodes, samplesOfPixels } from "./plane-samples.js";
import type { LayerPen } from "./svg-pen.js";

/** Drawings over the picture of a plane. */
export interface PlaneDrawing {
  readonly picture: HTMLCanvasElement;
  /** The part of the plane that the pixels of the picture cover. */
  readonly covered: PlaneWindow;
  /** The part of the plane that the canvas shows. */
  readonly window: PlaneWindow;
  /** Whether samples without a value are there, to be hatched. */
  readonly gaps: boolean;
  /** Places across and up at which a period begins anew. */
  readonly seams: readonly (readonly number[])[];
  /** Nodes that are marked, or null. */
  readonly marked: MarkedNodes | null;
  /** Periods of the plane across and up, after which the picture comes again; 0 for none. */
  readonly periods: readonly [number, number];
  /** A picture of the whole canvas laid over the values, or null. */
  readonly overlay: HTMLCanvasElement | null;
  /** Whether the pixels of the overlay are smoothed. */
  readonly smooth: boolean;
  /** A coarser picture of more of the plane, seen where the picture has not come yet; null for none. */
  readonly behind: Pick<PlaneDrawing, "picture" | "covered"> | null;
  /** Contours of values, with the text of each. */
  readonly contours: readonly (ContourLines & { readonly text: string })[];
  /** Streamlines and paths of particles, each as across and up in pairs; breaks are NaN. */
  readonly curves: readonly DrawnCurve[];
  /** The probe and the kept ones. */
  readonly probes: readonly ProbeMark[];
  /** A rectangle that the caller is drawing, in coordinates of the plane, or null. */
  readonly box: PlaneWindow | null;
}

/** A curve over a plane. */
export interface DrawnCurve {
  readonly points: Float32Array;
  /** Points from which on the curve is pale. */
  readonly until: number;
  /** Whether its end has a head: a particle there. */
  readonly head: boolean;
  /** The pixels of its points in the colours of their values; white without them. */
  readonly tints?: readonly number[];
}

/** A probe on a plane. */
export interface ProbeMark {
  /** Its name; empty for the one that moves. */
  readonly name: string;
  readonly across: number;
  readonly up: number;
  /** The distance of the probe from the plane, in words; null if it lies on it. */
  readonly distance: string | null;
  /** Whether lines cross at the probe, to link several planes. */
  readonly crossed: boolean;
}

/**
 * Paints a plane as a picture of one pixel a value, or of more if nodes are stretched, its first row lowest; values
 * that are not a number are transparent.
 */
export function paintPlane(slice: Slice, scale: ColourScale): HTMLCanvasElement {
  const { rows, columns, values } = slice;
  const [left, right, bottom, top] = coveredBy(slice);
  const across = samplesOfPixels(columns, [left, right]);
  const up = samplesOfPixels(rows, [bottom, top]);
  const canvas = document.createElement("canvas");
  canvas.width = across.length;
  canvas.height = up.length;
  const image = new ImageData(canvas.width, canvas.height);
  const pixels = new Uint32Array(image.data.buffer);
  for (const [k, row] of up.entries()) {
    const to = (up.length - 1 - k) * across.length;
    const from = row * columns.count;
    for (let i = 0; i < across.length; i++) pixels[to + i] = pixelOf(scale, values[from + across[i]]);
  }
  penOf(canvas)?.putImageData(image, 0, 0);
  return canvas;
}

/** A pattern of grey stripes for missing values. */
function hatch(context: CanvasRenderingContext2D): CanvasPattern | string {
  const tile = document.createElement("canvas");
  tile.width = 8;
  tile.height = 8;
  const pen = tile.getContext("2d");
  if (pen === null) return "#808080";
  pen.fillStyle = "#b8b8b8";
  pen.fillRect(0, 0, 8, 8);
  pen.strokeStyle = "#6c6c6c";
  pen.lineWidth = 2;
  for (const shift of [-8, 0, 8]) {
    pen.beginPath();
    pen.moveTo(shift, 8);
    pen.lineTo(shift + 8, 0);
    pen.stroke();
  }
  return context.createPattern(tile, "repeat") ?? "#808080";
}

/** Strokes a path twice, light on dark, so that it is seen on every colour. */
function stroke(context: LayerPen, draw: () => void, dash: readonly number[], thin = false): void {
  const unit = (thin ? 0.5 : 1) * Math.min(2, window.devicePixelRatio);
  for (const [style, width, offset] of [
    ["rgba(0, 0, 0, 0.8)", dash.length > 0 ? 1 : 3.5, 0],
    ["rgba(255, 255, 255, 0.95)", dash.length > 0 ? 1 : 1.5, dash[0] ?? 0],
  ] as const) {
    context.strokeStyle = style;
    context.lineWidth = width * unit;
    context.setLineDash(dash.map((length) => length * unit));
    context.lineDashOffset = offset * unit;
    context.beginPath();
    draw();
    context.stroke();
  }
  context.setLineDash([]);
}

function drawProbe(context: LayerPen, x: number, y: number, mark: ProbeMark, labels: LabelBox[]): void {
  const { name, distance, crossed } = mark;
  const unit = Math.min(2, window.devicePixelRatio);
  const { width, height } = context.canvas;
  if (crossed) {
    stroke(context, () => {
      context.moveTo(x, 0);
      context.lineTo(x, height);
      context.moveTo(0, y);
      context.lineTo(width, y);
    }, [2, 2]);
  }
  stroke(context, () => context.arc(x, y, 7 * unit, 0, 2 * Math.PI), distance === null ? [] : [3, 3]);
  if (distance === null) {
    context.fillStyle = "#fff";
    context.beginPath();
    context.arc(x, y, 2 * unit, 0, 2 * Math.PI);
    context.fill();
  }
  const text = [name, distance ?? ""].filter(Boolean).join(" ");
  if (text === "") return;
  const places = [-9, 17].flatMap((down) =>
    (
      [
        ["left", 11],
        ["right", -11],
      ] as const
    ).map(([align, across]) => [x + across * unit, y + down * unit, align] as const),
  );
  const boxes = places.map((place) => ({ place, box: labelBox(context, text, ...place) }));
  const fitting = boxes.filter(({ box }) => box[0] > 0 && box[1] < width);
  const { place, box } = fitting.find((one) => isFree(one.box, labels)) ?? fitting[0] ?? boxes[0];
  labels.push(box);
  label(context, text, ...place);
}

/** The shifts by whole periods, itself last, that bring a part of an axis into the part that is shown. */
export function copies(
  [low, high]: readonly [number, number],
  [from, to]: readonly [number, number],
  period: number,
): number[] {
  if (period === 0) return [0];
  const shifts = [-2, -1, 1, 2, 0].map((turns) => turns * period);
  return shifts.filter((shift) => shift === 0 || (low + shift < to && high + shift > from));
}

type Scale = (value: number) => number;

/** A text with a dark rim, seen on every colour. */
function label(context: LayerPen, text: string, x: number, y: number, align: CanvasTextAlign): void {
  const unit = Math.min(2, window.devicePixelRatio);
  context.font = `${11 * unit}px system-ui, sans-serif`;
  context.textAlign = align;
  context.lineWidth = 3 * unit;
  context.strokeStyle = "rgba(0, 0, 0, 0.75)";
  context.fillStyle = "#fff";
  context.strokeText(text, x, y);
  context.fillText(text, x, y);
}

/** Left, right, top and bottom of a label, in pixels of the canvas. */
type LabelBox = readonly [number, number, number, number];

/** The place that a label covers. */
function labelBox(context: LayerPen, text: string, x: number, y: number, align: CanvasTextAlign): LabelBox {
  const unit = Math.min(2, window.devicePixelRatio);
  context.font = `${11 * unit}px system-ui, sans-serif`;
  const { width } = context.measureText(text);
  const left = align === "left" ? x : align === "right" ? x - width : x - width / 2;
  return [left - 2 * unit, left + width + 2 * unit, y - 11 * unit, y + 4 * unit];
}

/** Whether a label covers none of the others. */
function isFree([left, right, top, bottom]: LabelBox, labels: readonly LabelBox[]): boolean {
  return labels.every(([l, r, t, b]) => right < l || left > r || bottom < t || top > b);
}

/** Draws the lines of a level, with its value once inside the picture, where no other label is. */
function drawContour(
  context: LayerPen,
  { segments, text }: PlaneDrawing["contours"][number],
  x: Scale,
  y: Scale,
  labels: LabelBox[],
): void {
  stroke(context, () => {
    for (let i = 0; i < segments.length; i += 4) {
      context.moveTo(x(segments[i]), y(segments[i + 1]));
      context.lineTo(x(segments[i + 2]), y(segments[i + 3]));
    }
  }, []);
  const { width, height } = context.canvas;
  const middle = 4 * Math.floor(segments.length / 8);
  for (let k = 0; k < segments.length; k += 4) {
    const i = (middle + k) % segments.length;
    const [px, py] = [x(segments[i]), y(segments[i + 1])];
    if (px < 0.06 * width || px > 0.94 * width || py < 0.06 * height || py > 0.94 * height) continue;
    const box = labelBox(context, text, px, py, "center");
    if (!isFree(box, labels)) continue;
    labels.push(box);
    label(context, text, px, py, "center");
    return;
  }
}

/** Points of a curve nearer to the last one than this are left out, in pixels. */
const NEAR_PIXELS = 3;
/** Number of curves from which on they are thin, so that the picture is seen between them. */
const MANY_CURVES = 100;

/** Colours of the rims of a head, and their widths in its radius. */
const HEAD_RIMS = [
  ["rgba(0, 0, 0, 0.8)", 0.75],
  ["#fff", 0.3],
] as const;

/** Draws curves, pale from some point on, and the heads where they end for now. */
function drawCurves(context: LayerPen, curves: readonly DrawnCurve[], x: Scale, y: Scale): void {
  const part = (from: (curve: DrawnCurve) => number, to: (curve: DrawnCurve) => number) => () => {
    for (const curve of curves) {
      let open = false;
      let before: readonly [number, number] = [0, 0];
      for (let i = from(curve); i < to(curve); i++) {
        const [across, up] = [x(curve.points[2 * i]), y(curve.points[2 * i + 1])];
        const known = Number.isFinite(across + up);
        const last = i === to(curve) - 1;
        if (known && open && !last && Math.hypot(across - before[0], up - before[1]) < NEAR_PIXELS) continue;
        if (known && open) context.lineTo(across, up);
        else if (known) context.moveTo(across, up);
        before = [across, up];
        open = known;
      }
    }
  };
  const many = curves.length > MANY_CURVES;
  context.globalAlpha = many ? 0.2 : 0.35;
  stroke(
    context,
    part(
      ({ until }) => Math.max(0, until - 1),
      ({ points }) => points.length / 2,
    ),
    [],
    many,
  );
  context.globalAlpha = many ? 0.6 : 1;
  stroke(
    context,
    part(
      () => 0,
      ({ until }) => until,
    ),
    [],
    many,
  );
  context.globalAlpha = 1;
  const unit = Math.min(2, window.devicePixelRatio);
  drawTints(context, curves, x, y, (many ? 1 : 2) * unit);
  const radius = (many ? 2.5 : 4) * unit;
  for (const { points, until, head, tints } of curves) {
    const [across, up] = [x(points[2 * until - 2]), y(points[2 * until - 1])];
    if (!head || !Number.isFinite(across + up)) continue;
    context.fillStyle = colourText(tints?.[until - 1] ?? 0xffffffff);
    context.beginPath();
    context.arc(across, up, radius, 0, 2 * Math.PI);
    context.fill();
    // Light on dark: one of the two rims is seen on every colour.
    for (const [style, width] of HEAD_RIMS) {
      context.strokeStyle = style;
      context.lineWidth = width * radius;
      context.stroke();
    }
  }
}

/** The colour of a pixel, red in its lowest byte. */
function colourText(pixel: number): string {
  const parts = [0, 8, 16].map((shift) => ((pixel >> shift) & 255).toString(16).padStart(2, "0"));
  return `#${parts.join("")}`;
}

/** Draws the parts of curves that lie in the past in the colours of their values: each colour in one stroke. */
function drawTints(context: LayerPen, curves: readonly DrawnCurve[], x: Scale, y: Scale, width: number): void {
  const segments = new Map<number, number[]>();
  for (const { points, until, tints = [] } of curves) {
    for (let i = 1; i < Math.min(until, tints.length); i++) {
      const tint = tints[i];
      const [x0, y0, x1, y1] = [points[2 * i - 2], points[2 * i - 1], points[2 * i], points[2 * i + 1]];
      if (tint === undefined || !Number.isFinite(x0 + y0 + x1 + y1)) continue;
      const list = segments.get(tint);
      if (list === undefined) segments.set(tint, [x0, y0, x1, y1]);
      else list.push(x0, y0, x1, y1);
    }
  }
  context.lineWidth = width;
  for (const [pixel, list] of segments) {
    context.strokeStyle = colourText(pixel);
    context.beginPath();
    for (let i = 0; i < list.length; i += 4) {
      context.moveTo(x(list[i]), y(list[i + 1]));
      context.lineTo(x(list[i + 2]), y(list[i + 3]));
    }
    context.stroke();
  }
}

/** Draws dashed lines where periods begin anew, with their name. */
function drawSeams(context: LayerPen, [across = [], up = []]: PlaneDrawing["seams"], x: Scale, y: Scale): void {
  const { width, height } = context.canvas;
  const unit = Math.min(2, window.devicePixelRatio);
  // On whole pixels, thin lines are sharp.
  const sharp = (at: number) => Math.floor(at) + (unit % 2) / 2;
  const [columns, rows] = [across.map((at) => sharp(x(at))), up.map((at) => sharp(y(at)))];
  stroke(context, () => {
    for (const at of columns) {
      context.moveTo(at, 0);
      context.lineTo(at, height);
    }
    for (const at of rows) {
      context.moveTo(0, at);
      context.lineTo(width, at);
    }
  }, [6, 6]);
  for (const at of columns) label(context, "period", at + 4 * unit, 14 * unit, "left");
  for (const at of rows) label(context, "period", width - 6 * unit, at - 5 * unit, "right");
}

/** Draws a small ring at each marked node. */
function drawNodes(
  context: LayerPen,
  places: Float32Array,
  x: (across: number) => number,
  y: (up: number) => number,
): void {
  const radius = 3 * Math.min(2, window.devicePixelRatio);
  stroke(context, () => {
    for (let i = 0; i < places.length; i += 2) {
      const [across, up] = [x(places[i]), y(places[i + 1])];
      context.moveTo(across + radius, up);
      context.arc(across, up, radius, 0, 2 * Math.PI);
    }
  }, []);
}

/** The pen of a plane's canvas, which stays off the graphics card: long paths are much faster to draw there. */
export function penOf(canvas: HTMLCanvasElement): CanvasRenderingContext2D | null {
  return canvas.getContext("2d", { willReadFrequently: true });
}

/** Draws what lies over the picture: contours, curves, nodes and probes. */
export function drawLayer(
  context: LayerPen,
  {
    window: shown,
    seams,
    contours,
    curves,
    marked,
    probes,
  }: Pick<PlaneDrawing, "window" | "seams" | "contours" | "curves" | "marked" | "probes">,
): void {
  const { width, height } = context.canvas;
  const [left, right, bottom, top] = shown;
  const x = (across: number) => ((across - left) / (right - left)) * width;
  const y = (up: number) => ((top - up) / (top - bottom)) * height;
  drawSeams(context, seams, x, y);
  const labels: LabelBox[] = [];
  for (const contour of contours) drawContour(context, contour, x, y, labels);
  drawCurves(context, curves, x, y);
  if (marked !== null) drawNodes(context, marked.places, x, y);
  for (const probe of probes.toReversed()) drawProbe(context, x(probe.across), y(probe.up), probe, labels);
}

/** Draws a plane into the canvas at its present size. */
export function drawPlane(canvas: HTMLCanvasElement, drawing: PlaneDrawing): void {
  const context = penOf(canvas);
  if (context === null) return;
  const { picture, covered, window: shown, overlay, box } = drawing;
  const [left, right, bottom, top] = shown;
  const x = (across: number) => ((across - left) / (right - left)) * canvas.width;
  const y = (up: number) => ((top - up) / (top - bottom)) * canvas.height;
  context.clearRect(0, 0, canvas.width, canvas.height);
  const placesOf = (part: PlaneWindow) => {
    const [width, height] = [x(part[1]) - x(part[0]), y(part[2]) - y(part[3])];
    return copies([part[0], part[1]], [left, right], drawing.periods[0]).flatMap((across) =>
      copies([part[2], part[3]], [bottom, top], drawing.periods[1]).map(
        (up) => [x(part[0] + across), y(part[3] + up), width, height] as const,
      ),
    );
  };
  context.imageSmoothingEnabled = false;
  const { behind } = drawing;
  if (behind !== null) for (const place of placesOf(behind.covered)) context.drawImage(behind.picture, ...place);
  for (const place of placesOf(covered)) {
    if (drawing.gaps) {
      context.fillStyle = hatch(context);
      context.fillRect(...place);
    }
    context.imageSmoothingEnabled = false;
    context.drawImage(picture, ...place);
    if (overlay === null) continue;
    context.imageSmoothingEnabled = drawing.smooth;
    context.drawImage(overlay, ...place);
  }
  drawLayer(context, drawing);
  if (box !== null) {
    stroke(context, () => context.rect(x(box[0]), y(box[3]), x(box[1]) - x(box[0]), y(box[2]) - y(box[3])), []);
  }
}
