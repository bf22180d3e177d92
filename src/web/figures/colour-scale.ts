/** A colour scale is a colour map together with the range of values that it spans, linear or logarithmic. */
import { COLOUR_STEPS, type ColourMapName, colourStep, colourTable, isDiverging } from "../../colour-map.js";
import type { ViewState } from "../state/view-state.js";

/** Lowest and highest value of a scale. */
export type ValueRange = readonly [number, number];

/** The colours of a map. */
export interface MapColours {
  readonly name: ColourMapName;
  /** Pixels of the map, red in the lowest byte, opaque. */
  readonly pixels: Uint32Array;
  /** The map as a picture of one row, by its address. */
  readonly picture: string;
}

export interface ColourScale extends MapColours {
  readonly range: ValueRange;
  readonly log: boolean;
}

/** Decades below its high end that a logarithmic scale spans at most. */
const DECADES = 4;

/** Part of the values beyond each end of a percentile range. */
const TAIL = 0.01;

/** Draws the colours of a map, which takes some milliseconds: callers keep them while the map stays. */
export function drawColours(name: ColourMapName): MapColours {
  const table = colourTable(name);
  const image = new ImageData(COLOUR_STEPS, 1);
  const pixels = new Uint32Array(image.data.buffer);
  for (let step = 0; step < COLOUR_STEPS; step++) {
    const [red, green, blue] = table.subarray(3 * step, 3 * step + 3);
    pixels[step] = ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  }
  const canvas = document.createElement("canvas");
  canvas.width = COLOUR_STEPS;
  canvas.height = 1;
  // A canvas that is read from stays off the graphics card, from which reading takes tens of milliseconds.
  canvas.getContext("2d", { willReadFrequently: true })?.putImageData(image, 0, 0);
  return { name, pixels, picture: canvas.toDataURL() };
}

/** The map of a view; `auto` takes a diverging one where zero is the middle of the quantity. */
export function mapName(wanted: "auto" | ColourMapName, signed: boolean): ColourMapName {
  if (wanted !== "auto") return wanted;
  return signed ? "RdBu" : "viridis";
}

/** The values that leave a part of `TAIL` of all finite ones below and above. */
function percentiles(values: Float32Array): ValueRange {
  const finite = values.filter(Number.isFinite).sort();
  if (finite.length === 0) return [0, 0];
  const at = (part: number) => finite[Math.round(part * (finite.length - 1))];
  return [at(TAIL), at(1 - TAIL)];
}

/**
 * The range of a scale: the fixed one, or one that follows the values.
 *
 * @param samples the values with their extremes; null before they are known
 */
export function rangeFor(
  name: ColourMapName,
  { range: fixed, scaling }: Pick<ViewState, "range" | "scaling">,
  samples: { readonly values: Float32Array; readonly low: number; readonly high: number } | null,
): ValueRange {
  if (fixed !== null) return fixed;
  if (samples === null) return [0, 0];
  const [low, high] = scaling === "percentile" ? percentiles(samples.values) : [samples.low, samples.high];
  if (scaling === "log") return high > 0 ? [Math.max(low, high / 10 ** DECADES), high] : [low, high];
  if (scaling !== "symmetric" && !isDiverging(name)) return [low, high];
  const reach = Math.max(Math.abs(low), Math.abs(high));
  return [-reach, reach];
}

/** The place of a value on a scale: 0 at its low end, 1 at its high end; not a number where the value is none. */
export function positionOn({ range: [low, high], log }: ColourScale, value: number): number {
  if (Number.isNaN(value)) return value;
  if (!(high > low)) return 0.5;
  if (!log || !(low > 0)) return (value - low) / (high - low);
  return value <= low ? 0 : Math.log(value / low) / Math.log(high / low);
}

/** The pixel of a value; beyond the range the end colour stays, and a value that is not finite is transparent. */
export function pixelOf(scale: ColourScale, value: number): number {
  if (!Number.isFinite(value)) return 0;
  return scale.pixels[colourStep(positionOn(scale, value))];
}
