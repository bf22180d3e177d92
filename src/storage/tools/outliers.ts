/** Finds frames whose statistics differ from those of the frames around them. */
import type { FrameStatistics } from "./frame-statistics.js";

/** Frames on either side that a frame is compared with. */
const AROUND = 3;
/** Factors by which divergence and rms may differ from the median around. */
const DIVERGENCE_FACTOR = 4;
const RMS_FACTOR = 10;
/** Divergence below which it says nothing: a resolved flow in float32 has some. */
const LEAST_DIVERGENCE = 0.1;

/**
 * What is odd about a frame, a line each. Rms and mean must leave the frames before and those after, for flows start
 * and decay; the divergence of a resolved flow does neither.
 */
export function outliersIn(frames: readonly FrameStatistics[], at: number): string[] {
  const own = frames[at] as FrameStatistics;
  const sides = [frames.slice(Math.max(0, at - AROUND), at), frames.slice(at + 1, at + 1 + AROUND)];
  const around = sides.flat();
  if (around.length < 2) return [];
  const found: string[] = [];
  const divergence = median(around.map((frame) => frame.divergence ?? 0));
  if (own.divergence !== null && own.divergence > Math.max(LEAST_DIVERGENCE, DIVERGENCE_FACTOR * divergence))
    found.push(`divergence ${own.divergence.toPrecision(3)}, ${divergence.toPrecision(3)} in the frames around`);
  if (sides.some((side) => side.length === 0)) return found;
  const typical = (of: (frame: FrameStatistics) => number) => sides.map((side) => median(side.map(of)));
  const rms = typical((frame) => frame.rms);
  if (rms.every((one) => own.rms > RMS_FACTOR * one) || rms.every((one) => own.rms * RMS_FACTOR < one))
    found.push(`rms ${own.rms.toPrecision(3)}, ${rms[0]?.toPrecision(3)} in the frames around`);
  const spread = median(around.map((frame) => Math.sqrt(Math.max(0, frame.rms ** 2 - frame.mean ** 2))));
  const apart = typical((frame) => frame.mean).map((mean) => own.mean - mean);
  const isApart = apart.every((difference) => difference > 2 * spread) || apart.every((one) => one < -2 * spread);
  if (spread > 0 && isApart)
    found.push(`mean ${own.mean.toPrecision(3)}, ${(own.mean - (apart[0] ?? 0)).toPrecision(3)} in the frames around`);
  return found;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] as number)) / 2;
}
