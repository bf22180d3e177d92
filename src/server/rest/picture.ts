/** `drawPicture` draws a plane of values as a PNG. */
import { type ColourMapName, colourStep, colourTable } from "../../colour-map.js";
import type { TimeSlices } from "../http/event-loop.js";

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

  /** Both; 0 and 0 where there is none. */
  get ends(): readonly [number, number] {
    return this.#low > this.#high ? [0, 0] : [this.#low, this.#high];
  }
}

/**
 * Draws a picture, one pixel a value; the first row of values is at its lower edge and what is not finite is
 * transparent.
 *
 * @param values rows * columns, row by row
 * @param range  values of the first and the last colour; beyond them the colour stays
 */
export async function drawPicture(
  values: Float32Array,
  rows: number,
  columns: number,
  map: ColourMapName,
  range: readonly [number, number],
  slices: TimeSlices,
): Promise<Buffer> {
  const { PNG } = await import("pngjs");
  const table = colourTable(map);
  const png = new PNG({ width: columns, height: rows, filterType: 0 });
  png.data.fill(0);
  const [low, high] = range;
  await slices.each(values.length, (from, to) => {
    for (let i = from; i < to; i++) {
      const value = values[i];
      if (!Number.isFinite(value)) continue;
      const row = rows - 1 - Math.floor(i / columns);
      const pixel = 4 * (row * columns + (i % columns));
      const step = 3 * colourStep(high > low ? (value - low) / (high - low) : 0);
      png.data[pixel] = table[step];
      png.data[pixel + 1] = table[step + 1];
      png.data[pixel + 2] = table[step + 2];
      png.data[pixel + 3] = 255;
    }
  });
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    png.on("data", (piece: Buffer) => pieces.push(piece));
    png.once("end", () => resolve(Buffer.concat(pieces)));
    png.once("error", reject);
    png.pack();
  });
}
