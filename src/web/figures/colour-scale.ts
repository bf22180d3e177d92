/** Colour scales: a colour map and the range of values it spans. */
import { COLOUR_STEPS, type ColourMapName, colourTable, isDiverging } from "../../colour-map.js";

/** Lowest and highest value of a scale. */
export type ValueRange = readonly [number, number];

export interface ColourScale {
  readonly name: ColourMapName;
  readonly range: ValueRange;
  /** Pixels of the map, red in the lowest byte, opaque. */
  readonly pixels: Uint32Array;
}

/** The pixels of a map for an `ImageData` seen as 32-bit words. */
export function mapPixels(name: ColourMapName): Uint32Array {
  const table = colourTable(name);
  return Uint32Array.from({ length: COLOUR_STEPS }, (_, step) => {
    const [red = 0, green = 0, blue = 0] = table.subarray(3 * step, 3 * step + 3);
    return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  });
}

/** The map of a view; `auto` takes a diverging one where zero is the middle of the quantity. */
export function mapName(wanted: "auto" | ColourMapName, signed: boolean): ColourMapName {
  if (wanted !== "auto") return wanted;
  return signed ? "RdBu" : "viridis";
}

/** The range a picture uses: the fixed one, or that of the values, about zero for a diverging map. */
export function rangeFor(name: ColourMapName, fixed: ValueRange | null, low: number, high: number): ValueRange {
  if (fixed !== null) return fixed;
  if (!isDiverging(name)) return [low, high];
  const reach = Math.max(Math.abs(low), Math.abs(high));
  return [-reach, reach];
}

/** The pixel of a value; beyond the range the end colour stays, and a value that is not finite is transparent. */
export function pixelOf({ pixels, range: [low, high] }: ColourScale, value: number): number {
  if (!Number.isFinite(value)) return 0;
  const t = high > low ? (value - low) / (high - low) : 0.5;
  return pixels[Math.max(0, Math.min(COLOUR_STEPS - 1, Math.round(t * (COLOUR_STEPS - 1))))];
}
