/** `drawPicture` draws a plane of values as a PNG. */
import { type ColourMapName, colourStep, colourTable } from "../../../shared/colour-map.js";
import type { TimeSlices } from "../../http/policies/time-slices.js";
import { PIXEL_BYTES, rowBytes, writePng } from "./png.js";

/** The smallest and the largest finite value of many. */
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
 * Draws a picture, one pixel per value; the first row of values is at its lower edge, and values that are not finite
 * are transparent.
 *
 * @param values rows * columns, row by row
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
