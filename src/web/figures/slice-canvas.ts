/** This file draws a plane of values on a canvas, low coordinates at the lower left, with cursor and probe. */
import type { SampleAxis, Slice } from "../state/api.js";
import { type ColourScale, pixelOf } from "./colour-scale.js";
import type { PlaneWindow } from "./plane-window.js";

/** Row and column of a sample. */
export interface Cell {
  readonly row: number;
  readonly column: number;
}

export interface SliceDrawing {
  readonly slice: Slice;
  readonly window: PlaneWindow;
  readonly cursor: Cell;
  /** The probe in columns and rows. */
  readonly probe: { readonly column: number; readonly row: number };
}

/** Coordinate of a sample, rounded as the service rounds it. */
export function coordinateOf(axis: SampleAxis, index: number): number {
  return Math.fround(axis.origin + index * axis.spacing);
}

/** Paints a plane as a picture of one pixel a value, its first row lowest. */
export function paintPlane(slice: Slice, scale: ColourScale): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = slice.columns.count;
  canvas.height = slice.rows.count;
  const image = new ImageData(canvas.width, canvas.height);
  const pixels = new Uint32Array(image.data.buffer);
  const { width } = canvas;
  for (let row = 0; row < slice.rows.count; row++) {
    const to = (slice.rows.count - 1 - row) * width;
    for (let column = 0; column < width; column++) {
      pixels[to + column] = pixelOf(scale, slice.values[row * width + column]);
    }
  }
  canvas.getContext("2d")?.putImageData(image, 0, 0);
  return canvas;
}

/** The cell under a place of the canvas, given in fractions from its upper left corner. */
export function cellAt(slice: Slice, [left, right, bottom, top]: PlaneWindow, across: number, down: number): Cell {
  const column = Math.floor((left + across * (right - left)) * slice.columns.count);
  const row = Math.floor((top - down * (top - bottom)) * slice.rows.count);
  return {
    column: Math.max(0, Math.min(slice.columns.count - 1, column)),
    row: Math.max(0, Math.min(slice.rows.count - 1, row)),
  };
}

function ring(context: CanvasRenderingContext2D, x: number, y: number, radius: number): void {
  for (const [style, width] of [
    ["#000", 4],
    ["#fff", 2],
  ] as const) {
    context.strokeStyle = style;
    context.lineWidth = width;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.stroke();
  }
}

function crosshair(context: CanvasRenderingContext2D, x: number, y: number): void {
  const { width, height } = context.canvas;
  for (const [style, dash] of [
    ["rgba(0, 0, 0, 0.75)", 0],
    ["rgba(255, 255, 255, 0.9)", 4],
  ] as const) {
    context.strokeStyle = style;
    context.lineWidth = 1;
    context.setLineDash([4, 4]);
    context.lineDashOffset = dash;
    context.beginPath();
    context.moveTo(x, 0);
    context.lineTo(x, height);
    context.moveTo(0, y);
    context.lineTo(width, y);
    context.stroke();
  }
  context.setLineDash([]);
}

/** Draws everything into the canvas at its present size. */
export function drawSlice(canvas: HTMLCanvasElement, picture: HTMLCanvasElement, drawing: SliceDrawing): void {
  const context = canvas.getContext("2d");
  if (context === null) return;
  const { slice, window, cursor, probe } = drawing;
  const [left, right, bottom, top] = window;
  const columns = slice.columns.count;
  const rows = slice.rows.count;
  context.imageSmoothingEnabled = false;
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.drawImage(
    picture,
    left * columns,
    (1 - top) * rows,
    (right - left) * columns,
    (top - bottom) * rows,
    0,
    0,
    canvas.width,
    canvas.height,
  );
  const x = (column: number) => (((column + 0.5) / columns - left) / (right - left)) * canvas.width;
  const y = (row: number) => ((top - (row + 0.5) / rows) / (top - bottom)) * canvas.height;
  crosshair(context, x(cursor.column), y(cursor.row));
  ring(context, x(probe.column), y(probe.row), 7);
}
