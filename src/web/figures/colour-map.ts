/** Colour maps as look-up tables of 256 steps: perceptually uniform ones, and diverging ones for signed quantities. */
import {
  interpolateCividis,
  interpolateInferno,
  interpolateMagma,
  interpolatePuOr,
  interpolateRdBu,
  interpolateViridis,
} from "d3-scale-chromatic";

const MAPS: readonly { readonly name: string; readonly diverging: boolean; readonly colour: (t: number) => string }[] =
  [
    { name: "viridis", diverging: false, colour: interpolateViridis },
    { name: "magma", diverging: false, colour: interpolateMagma },
    { name: "inferno", diverging: false, colour: interpolateInferno },
    { name: "cividis", diverging: false, colour: interpolateCividis },
    { name: "RdBu", diverging: true, colour: (t) => interpolateRdBu(1 - t) },
    { name: "PuOr", diverging: true, colour: (t) => interpolatePuOr(1 - t) },
  ];

export const COLOUR_MAPS: readonly string[] = MAPS.map((map) => map.name);
const STEPS = 256;

export interface ColourMap {
  readonly name: string;
  /** Whether its middle stands for zero. */
  readonly diverging: boolean;
  /** Pixels, red in the lowest byte, opaque. */
  readonly pixels: Uint32Array;
}

const built = new Map<string, ColourMap>();

function channels(text: string): [number, number, number] {
  const parts = text.startsWith("#")
    ? [1, 3, 5].map((at) => Number.parseInt(text.slice(at, at + 2), 16))
    : (text.match(/\d+/g) ?? []).map(Number);
  return parts as [number, number, number];
}

/** The map of a name; `auto` takes a diverging one where zero is the middle of the quantity. */
export function colourMap(name: string, signed: boolean): ColourMap {
  const wanted = name === "auto" ? (signed ? "RdBu" : "viridis") : name;
  const known = built.get(wanted);
  if (known !== undefined) return known;
  const row = MAPS.find((map) => map.name === wanted) ?? (MAPS[0] as (typeof MAPS)[number]);
  const pixels = new Uint32Array(STEPS);
  for (let step = 0; step < STEPS; step++) {
    const [red, green, blue] = channels(row.colour(step / (STEPS - 1)));
    pixels[step] = ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  }
  const map = { name: row.name, diverging: row.diverging, pixels };
  built.set(wanted, map);
  return map;
}

/** The range a picture uses: the fixed one, or that of the values, about zero for a diverging map. */
export function rangeFor(
  map: ColourMap,
  fixed: readonly [number, number] | null,
  low: number,
  high: number,
): readonly [number, number] {
  if (fixed !== null) return fixed;
  if (!map.diverging) return [low, high];
  const reach = Math.max(Math.abs(low), Math.abs(high));
  return [-reach, reach];
}

/** The pixel of a value; beyond the range the colour stays, what is no number is transparent. */
export function pixelOf(map: ColourMap, [low, high]: readonly [number, number], value: number): number {
  if (!Number.isFinite(value)) return 0;
  const t = high > low ? (value - low) / (high - low) : 0.5;
  return map.pixels[Math.max(0, Math.min(STEPS - 1, Math.round(t * (STEPS - 1))))] as number;
}
