/** Colour maps of pictures, as tables of 256 colours. */
import {
  interpolateCividis,
  interpolateInferno,
  interpolateMagma,
  interpolatePlasma,
  interpolatePuOr,
  interpolateRdBu,
  interpolateViridis,
} from "d3-scale-chromatic";

/** A colour of the same hue with inverted lightness: white becomes black. */
function inverted(text: string): string {
  const parts = channels(text);
  const shift = 255 - Math.max(...parts) - Math.min(...parts);
  return `rgb(${parts.map((part) => part + shift).join(", ")})`;
}

/**
 * Colour maps by name: five perceptually uniform ones, and three diverging ones whose middle represents zero: white or,
 * for dark surroundings, black.
 */
const MAPS = [
  { name: "viridis", colour: interpolateViridis },
  { name: "inferno", colour: interpolateInferno },
  { name: "magma", colour: interpolateMagma },
  { name: "plasma", colour: interpolatePlasma },
  { name: "cividis", colour: interpolateCividis },
  { name: "RdBu", colour: (t: number) => interpolateRdBu(1 - t) },
  { name: "RdBu-dark", colour: (t: number) => inverted(interpolateRdBu(1 - t)) },
  { name: "PuOr", colour: (t: number) => interpolatePuOr(1 - t) },
] as const;

export type ColourMapName = (typeof MAPS)[number]["name"];
export const COLOUR_MAPS: readonly ColourMapName[] = MAPS.map((map) => map.name);

/** Colours of a map. */
export const COLOUR_STEPS = 256;

/** The step of a table for a position within its range, 0 at the low end and 1 at the high end; clamped beyond them. */
export function colourStep(place: number): number {
  return Math.max(0, Math.min(COLOUR_STEPS - 1, Math.round(place * (COLOUR_STEPS - 1))));
}

/** Red, green and blue of a colour given as `#rrggbb` or `rgb(r, g, b)`. */
function channels(text: string): readonly number[] {
  if (!text.startsWith("#")) return (text.match(/\d+/g) ?? []).map(Number);
  return [1, 3, 5].map((at) => Number.parseInt(text.slice(at, at + 2), 16));
}

function rowOf(name: ColourMapName): (typeof MAPS)[number] {
  return MAPS.find((map) => map.name === name) ?? MAPS[0];
}

/** Red, green and blue of each step of a map, from its low end up. */
export function colourTable(name: ColourMapName): Uint8Array {
  const { colour } = rowOf(name);
  const table = new Uint8Array(3 * COLOUR_STEPS);
  for (let step = 0; step < COLOUR_STEPS; step++) table.set(channels(colour(step / (COLOUR_STEPS - 1))), 3 * step);
  return table;
}
