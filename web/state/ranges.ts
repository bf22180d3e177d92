/** Ranges of colours, levels of surfaces and texts of values, by the distribution of a quantity in its volume. */
import { type Dataset, framesAround } from "./dataset.js";
import { inSpan, tidy } from "./format.js";
import type { Range, View } from "./link.js";
import { memoized } from "./memoized.js";
import { quantityOf } from "./quantities.js";
import { isLoadedOrFailed, previewOf, volumeOf } from "./shown.js";
import { type Selection, view } from "./view.js";
import { quantilesOf, type Volume } from "./volumes.js";

/** The range of a quantity: as the link states, else the default one. */
export function rangeOf(now: View, what: string, volume: Volume | null, set: Dataset): Range {
  const stated = now.ranges.get(what);
  return stated ?? (volume === null ? { low: 0, high: 1, scale: "linear" } : defaultRange(volume, what, set));
}

/** The range of a selection; null until it is known. */
export function rangeShown(selection: Selection): Range | null {
  const volume = previewOf(selection);
  const isKnown = volume !== null || view.value.ranges.has(selection.what);
  return isKnown ? rangeOf(view.value, selection.what, volume, selection.dataset) : null;
}

/**
 * The default range at a time: of 99.9 % of the volume, and between stored times of both volumes around it. Null until
 * they have arrived, and where neither has a value.
 */
export function rangeAt(time: number | null, what: string, set: Dataset): Range | null {
  const frames = framesAround(time, set);
  const arrived = frames.flatMap((frame) => volumeOf(set, what, frame) ?? []);
  const volumes = arrived.filter(({ data }) => data.some(Number.isFinite));
  const isAwaited = frames.some((frame) => !isLoadedOrFailed(set, what, frame));
  return isAwaited || volumes.length === 0
    ? null
    : volumes.map((volume) => defaultRange(volume, what, set)).reduce(unitedRange);
}

/** A range with the values of both; about zero if they have both signs. */
function unitedRange(a: Range, b: Range): Range {
  const [low, high] = [Math.min(a.low, b.low), Math.max(a.high, b.high)];
  const top = Math.max(-low, high);
  const scale = a.scale === b.scale ? a.scale : "linear";
  return low < 0 && high > 0 ? { low: -top, high: top, scale } : { low, high, scale };
}

/** The range of 99.9 % of a volume: from zero if that is near, about zero if values have both signs. */
export const defaultRange = memoized((volume: Volume, what: string, set: Dataset): Range => {
  const [least, low, middle, high] = quantilesOf(volume, set, [0.0005, 0.001, 0.5, 0.9995]);
  const { heavyTailed = false } = quantityOf(what);
  const rounded = (value: number) => tidy(value, high - least, 2);
  const top = rounded(Math.max(Math.abs(least), Math.abs(high)));
  let range: Range;
  if (volume.low < 0 && volume.high > 0) {
    // Tails beyond eight times half the interquartile range are shown on a symmetric logarithm.
    const [p, q] = quantilesOf(volume, set, [0.25, 0.75]);
    const size = rounded(Math.max((q - p) / 2, top / 200));
    range = { low: -top, high: top, scale: heavyTailed && top > 8 * size ? `symlog:${size}` : "linear" };
  } else {
    const floor = volume.low >= 0 && low < 0.3 * high ? 0 : rounded(low);
    range = { low: floor, high: rounded(high), scale: "linear" };
  }
  const gap = Math.max(1, Math.abs(middle) / 1000);
  return range.high > range.low ? range : { low: middle - gap, high: middle + gap, scale: "linear" };
});

export function valueText(selection: Selection, value: number, least = 4): string {
  const { low, high } = rangeShown(selection) ?? { low: 0, high: 0 };
  return inSpan(value, high - low, least);
}

/** Part of the volume that the first surface of a quantity encloses. */
export const ENCLOSED_FRACTION = 0.05;

/** Whether a surface encloses the values below its level, as vortices by λ₂ are. */
export const enclosesLowValues = (what: string): boolean => what === "lambda2";

/** The level of a surface that encloses a part of a volume. */
export function levelEnclosing(volume: Volume, part: number, set: Dataset): number {
  const [value] = quantilesOf(volume, set, [enclosesLowValues(volume.what) ? part : 1 - part]);
  return tidy(value, (volume.high - volume.low) / 100, 3);
}
