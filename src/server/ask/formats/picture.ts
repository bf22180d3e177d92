/** Draws a plane of values as a PNG. */
import { COLOUR_MAPS, type ColourMapName, colourStep, colourTable } from "../../../shared/colour-map.js";
import type { TimeSlices } from "../../http/policies/time-slices.js";
import type { GridAnswer } from "../answer.js";
import { wrong } from "../faults.js";
import type { MemberValues, RequestedScale } from "../question/member-values.js";
import { onlyQuantity } from "./arrays.js";
import { PIXEL_BYTES, rowBytes, writePng } from "./png.js";

export class Range {
  #low = Number.POSITIVE_INFINITY;
  #high = Number.NEGATIVE_INFINITY;

  add(values: Float32Array): void {
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      if (!Number.isFinite(value)) continue;
      if (value < this.#low) this.#low = value;
      if (value > this.#high) this.#high = value;
    }
  }

  /** The smallest and the largest; 0 and 0 if there are no finite values. */
  get ends(): readonly [number, number] {
    return this.#low > this.#high ? [0, 0] : [this.#low, this.#high];
  }
}

/**
 * Draws a picture, one pixel per value, row by row from its lower edge; values that are not finite are transparent.
 * @param range  values of the first and the last colour; values beyond them get these colours
 */
export async function drawPicture(
  values: Float32Array,
  rows: number,
  columns: number,
  map: ColourMapName,
  range: readonly [number, number],
  slices: TimeSlices,
): Promise<Buffer> {
  const table = colourTable(map);
  const width = rowBytes(columns);
  const pixels = Buffer.alloc(rows * width);
  const [low, high] = range;
  await slices.each(values.length, (from, to) => {
    for (let i = from; i < to; i++) {
      const value = values[i];
      if (!Number.isFinite(value)) continue;
      const row = Math.floor(i / columns);
      const pixel = (rows - 1 - row) * width + 1 + PIXEL_BYTES * (i - row * columns);
      const step = 3 * colourStep(high > low ? (value - low) / (high - low) : 0);
      pixels[pixel] = table[step];
      pixels[pixel + 1] = table[step + 1];
      pixels[pixel + 2] = table[step + 2];
      pixels[pixel + 3] = 255;
    }
  });
  return writePng(pixels, columns);
}

function colourValue(value: number, scale: RequestedScale): number {
  if (scale.kind === "linear") return value;
  if (scale.kind === "log") return value > 0 ? Math.log10(value) : Number.NaN;
  const { linear } = scale as { readonly linear: number };
  return Math.sign(value) * Math.log10(1 + Math.abs(value) / linear);
}

/** The picture of a plane in the colours of a question. Throws RequestError unless it is a plane of a scalar. */
export async function pictureOf(
  answer: GridAnswer,
  { map = "viridis", range, scale = { kind: "linear" } }: MemberValues,
  slices: TimeSlices,
): Promise<Buffer> {
  const only = onlyQuantity(answer, "png");
  const [rows, columns, ...more] = answer.dims;
  if (rows === undefined || columns === undefined || more.length > 0)
    throw wrong("format", "png is of a plane at one time: give one of x, y, z as a number");
  if (only.shape.length > 0) throw wrong("format", `png is of a scalar: ask norm(${only.name}), or a component`);
  const colours = COLOUR_MAPS.find((one) => one === map);
  if (colours === undefined) throw wrong("map", `expected one of ${COLOUR_MAPS.join(", ")}`);
  const stored = only.values as Float32Array;
  const values = scale.kind === "linear" ? stored : stored.map((value) => colourValue(value, scale));
  const found = new Range();
  found.add(values);
  const ends = range?.map((end) => colourValue(end, scale)) as [number, number] | undefined;
  if (ends?.some((end) => !Number.isFinite(end))) throw wrong("range", "a logarithmic scale has ends above 0");
  const [height, width] = [rows.coordinates.length, columns.coordinates.length];
  return drawPicture(values, height, width, colours, ends ?? found.ends, slices);
}
