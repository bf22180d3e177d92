/** A colour scale is a colour map together with the range of values that it spans, linear or logarithmic. */
import { scaleLinear } from "d3-scale";
import { shortestFloat32 } from "../../src/float32/format.js";
import { COLOUR_STEPS, type ColourMapName, colourStep, colourTable, isDiverging } from "../../src/shared/colour-map.js";
import type { ValueRange } from "../state/shown-quantity.js";
import type { ViewState } from "../state/view-state.js";

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
  /** Logarithmic; for values of both signs symmetric about zero, and linear for values smaller than `linear`. */
  readonly log: boolean;
  readonly linear: number;
  /** Whether the middle of the map is at zero, wherever zero is in the range. */
  readonly centred: boolean;
  /** Whether some values are below the range, and above it. */
  readonly beyond: readonly [boolean, boolean];
}

/** A colour scale with the name of what it shows. */
export interface NamedScale {
  readonly scale: ColourScale;
  readonly name: string;
}

/** Values of a picture with their finite extremes. */
export interface ScaledValues {
  readonly values: Float32Array;
  readonly low: number;
  readonly high: number;
}

/** Extremes of values, and the smallest size that a logarithmic scale shows of them; 0 if it is not asked for. */
export interface HeldRange {
  readonly low: number;
  readonly high: number;
  readonly least: number;
}

/** The range from the lowest to the highest end of several, with the smallest size of all; 0 to 0 of none. */
export function joinRanges(ranges: readonly HeldRange[]): HeldRange {
  if (ranges.length === 0) return { low: 0, high: 0, least: 0 };
  const sizes = ranges.map(({ least }) => least).filter((least) => least > 0);
  return {
    low: Math.min(...ranges.map(({ low }) => low)),
    high: Math.max(...ranges.map(({ high }) => high)),
    least: sizes.length === 0 ? 0 : Math.min(...sizes),
  };
}

/** The extremes of a picture, with its smallest size if a logarithmic scale asks for it. */
export function rangeOf({ values, low, high }: ScaledValues, log: boolean): HeldRange {
  return { low, high, least: log ? smallestSize(values, Math.max(Math.abs(low), Math.abs(high))) : 0 };
}

/** Decades that a logarithmic scale spans at most: the resolution of float32. */
const DECADES = 7;

/** Steps of an automatic range, about, to whose round values its ends move outwards. */
const ROUND_STEPS = 20;

/** Part of the values beyond each end of a percentile range. */
const TAIL = 0.01;

/**
 * Draws the colours of a map, which takes some milliseconds: callers keep them while the map stays.
 *
 * @param from part of the map at the low end of the picture
 * @param to   part of the map at its high end
 */
function drawColours(name: ColourMapName, from = 0, to = 1): MapColours {
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
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const shown = new ImageData(COLOUR_STEPS, 1);
  const row = new Uint32Array(shown.data.buffer);
  for (let step = 0; step < COLOUR_STEPS; step++) {
    row[step] = pixels[colourStep(from + ((to - from) * step) / (COLOUR_STEPS - 1))];
  }
  context?.putImageData(shown, 0, 0);
  return { name, pixels, picture: canvas.toDataURL() };
}

/** The map of a view; `auto` takes a diverging one if the values have both signs, as dark in the middle as the page. */
export function mapName(wanted: "auto" | ColourMapName, [low, high]: ValueRange, dark: boolean): ColourMapName {
  if (wanted !== "auto") return wanted;
  if (!(low < 0 && high > 0)) return "viridis";
  return dark ? "RdBu-dark" : "RdBu";
}

/** The value below which a part of sorted values lies. */
function quantile(sorted: Float32Array, part: number): number {
  return sorted[Math.round(part * (sorted.length - 1))] ?? 0;
}

/** The values that leave a part of `TAIL` of all finite ones below and above. */
function percentiles(values: Float32Array): ValueRange {
  const finite = values.filter(Number.isFinite).sort();
  return [quantile(finite, TAIL), quantile(finite, 1 - TAIL)];
}

/** The smallest size of values that a logarithmic scale shows: as many decades as the values have. */
function smallestSize(values: Float32Array, reach: number): number {
  const sizes = values.map(Math.abs).filter((value) => value > 0 && Number.isFinite(value));
  return Math.max(quantile(sizes.sort(), TAIL), reach / 10 ** DECADES);
}

/**
 * The range of a scale: the fixed one, or one that follows the values.
 *
 * @param held    the extremes of all times, for ranges that stay while time plays: the ends become round, so that
 *                values between the nodes, which pass the extremes of nodes by a little, are inside
 * @param samples the values of the picture
 */
export function rangeFor(
  name: ColourMapName,
  { range: fixed, scaling, shape }: Pick<ViewState, "range" | "scaling" | "shape">,
  held: HeldRange,
  samples: ScaledValues,
): ValueRange {
  if (fixed !== null) return fixed;
  const ends = scaling === "auto" ? held : rangeOf(samples, shape === "log");
  const own = scaling === "percentile" ? percentiles(samples.values) : ([ends.low, ends.high] as const);
  const [low, high] = own;
  const reach = Math.max(Math.abs(low), Math.abs(high));
  if (shape === "log" && low >= 0 && high > 0) return [Math.max(ends.least, low), high];
  // Another map than an automatic one has its middle where the range has it.
  const symmetric = shape === "symmetric" || (shape === "log" && low < 0);
  const range = symmetric || (isDiverging(name) && !(low < 0 && high > 0)) ? ([-reach, reach] as const) : own;
  if (scaling !== "auto" || shape === "log" || !(range[1] > range[0])) return range;
  const decimals = range.map((end) => Number(shortestFloat32(end)));
  const [from, to] = scaleLinear(decimals, [0, 1]).nice(ROUND_STEPS).domain();
  return [Math.fround(from), Math.fround(to)];
}

/**
 * The scale of values over a range; colours are kept from the one before if they are the same.
 *
 * @param least the smallest size that a logarithmic scale shows; 0 for a linear scale
 */
export function makeScale(
  name: ColourMapName,
  range: ValueRange,
  least: number,
  samples: readonly ScaledValues[],
  before: ColourScale | null = null,
): ColourScale {
  const [low, high] = range;
  const reach = Math.max(Math.abs(low), Math.abs(high));
  const log = least > 0 && high > low && (low > 0 || low === -high);
  const linear = log && low < 0 ? Math.min(least, reach / 10) : 0;
  const centred = !log && isDiverging(name) && low < 0 && high > 0;
  const same = before?.name === name && !before.centred && !centred;
  const ends = centred ? range.map((value) => 0.5 + value / (2 * reach)) : [0, 1];
  return {
    ...(same ? { name, pixels: before.pixels, picture: before.picture } : drawColours(name, ends[0], ends[1])),
    ...{ range, log, linear, centred },
    beyond: [samples.some((part) => part.low < low), samples.some((part) => part.high > high)],
  };
}

/** The place of a value on the bar of a scale: 0 at its low end, 1 at its high end; NaN if the value is none. */
export function positionOn({ range: [low, high], log, linear }: ColourScale, value: number): number {
  if (Number.isNaN(value)) return value;
  if (!(high > low)) return 0.5;
  if (!log) return (value - low) / (high - low);
  if (low > 0) return value <= low ? 0 : Math.log(value / low) / Math.log(high / low);
  return 0.5 + (0.5 * Math.sign(value) * Math.log1p(Math.abs(value) / linear)) / Math.log1p(high / linear);
}

/** The place of a value on the map of a scale, beyond 0 and 1 outside its range; a centred scale shows part of it. */
export function placeOnMap(scale: ColourScale, value: number): number {
  const [low, high] = scale.range;
  return scale.centred ? 0.5 + value / (2 * Math.max(-low, high)) : positionOn(scale, value);
}

/** The pixel of a value; beyond the range the end colour stays, and a value that is not finite is transparent. */
export function pixelOf(scale: ColourScale, value: number): number {
  if (!Number.isFinite(value)) return 0;
  return scale.pixels[colourStep(placeOnMap(scale, value))];
}
