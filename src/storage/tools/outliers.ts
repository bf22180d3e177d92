/** Finds frames whose statistics stand out from the neighbouring frames, and repeated frames. */
import type { FrameStatistics } from "./frame-statistics.js";

const AROUND = 3;
const DIVERGENCE_FACTOR = 4;
/** Divergence below which it is not reported: a resolved flow in float32 has some. */
const MIN_DIVERGENCE = 0.05;
/** Tolerances around the range of the neighbouring frames. */
const BETWEEN = { rms: 3, mean: 2 };
const AT_END = { rms: 10, mean: 10 };

/**
 * Reports what is odd about a frame. Its rms and mean must leave the range of the neighbours by a factor, a larger one
 * at the ends: flows start from rest and decay. The divergence of a resolved flow does neither.
 */
export function outliersIn(frames: readonly FrameStatistics[], at: number): string[] {
  const own = frames[at] as FrameStatistics;
  const sides = [frames.slice(Math.max(0, at - AROUND), at), frames.slice(at + 1, at + 1 + AROUND)];
  const around = sides.flat();
  if (around.length < 2) return [];
  const found: string[] = [];
  const divergence = median(around.map((frame) => frame.divergence?.own ?? 0));
  const ofOwn = own.divergence?.own ?? 0;
  if (ofOwn > Math.max(MIN_DIVERGENCE, DIVERGENCE_FACTOR * divergence))
    found.push(`divergence / gradient ${ofOwn.toPrecision(3)}, ${divergence.toPrecision(3)} in the frames around`);
  const isEnd = sides.some((side) => side.length === 0);
  const factor = isEnd ? AT_END : BETWEEN;
  const rms = rangeOf(around.map((frame) => frame.rms));
  const growth = rms.most / rms.least;
  // A flow may start from rest and come to rest.
  const isLow = !isEnd && own.rms * factor.rms * growth < rms.least;
  if (own.rms > factor.rms * growth * rms.most || isLow)
    found.push(`rms ${own.rms.toPrecision(3)}, ${rangeText(rms)} in the frames around`);
  const mean = rangeOf(around.map((frame) => frame.mean));
  const spread = median(around.map((frame) => Math.sqrt(Math.max(0, frame.rms ** 2 - frame.mean ** 2))));
  const slack = factor.mean * growth * (spread + mean.most - mean.least);
  if (spread > 0 && (own.mean > mean.most + slack || own.mean < mean.least - slack))
    found.push(`mean ${own.mean.toPrecision(3)}, ${rangeText(mean)} in the frames around`);
  return found;
}

/** Fraction of all frames above which repetition belongs to the flow: it is steady. */
const STEADY = 0.25;

/** Reports frames that repeat an earlier one, or are constant although earlier ones vary. */
export function repeatedFrames(frames: ReadonlyMap<number, FrameStatistics>): Map<FrameStatistics, string[]> {
  const first = new Map<number, number>();
  const repeated = new Map<FrameStatistics, string[]>();
  const constant = new Map<FrameStatistics, string[]>();
  for (const [at, frame] of frames) {
    const { hash } = frame.places;
    const as = hash === null ? undefined : first.get(hash);
    if (as !== undefined) repeated.set(frame, [`all values repeat those of frame ${as}`]);
    else if (hash !== null) first.set(hash, at);
    else if (first.size > 0 && frame.nonFinite === 0) constant.set(frame, [`all values are ${frame.min}`]);
  }
  const isSteady = repeated.size > Math.min(frames.size - 2, Math.max(1, STEADY * frames.size));
  return isSteady ? constant : new Map([...repeated, ...constant]);
}

type RangeOfFrames = Readonly<Record<"least" | "most", number>>;

/** The range of values; of four and more, without the outermost, one of which may be odd as well. */
function rangeOf(values: readonly number[]): RangeOfFrames {
  const sorted = [...values].sort((a, b) => a - b);
  const [least, most] = sorted.length < 4 ? [0, -1] : [1, -2];
  return { least: sorted.at(least) as number, most: sorted.at(most) as number };
}

function rangeText({ least, most }: RangeOfFrames): string {
  const [from, to] = [least.toPrecision(3), most.toPrecision(3)];
  return from === to ? from : `${from} to ${to}`;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] as number)) / 2;
}
