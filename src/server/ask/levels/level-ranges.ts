/** Ranges and volume fractions of a frame from its extrema and histograms, without reading it. */
import type { Dataset } from "../../../engine/contract/dataset.js";
import type { Engine, Histogram, LevelSet } from "../../../engine/contract/query.js";
import { wrong } from "../faults.js";

/** Fraction of the volume whose values lie within a colour range. */
const CENTRAL_FRACTION = 0.999;
/** Fractions of the volume for which thresholds are reported. */
const FRACTIONS = [0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5] as const;

/** The value below which a fraction of the weight lies, linear within its bin. */
function valueAt({ edges: [low, width], weights }: Histogram, fraction: number): number | null {
  let remaining = fraction * weights.reduce((sum, weight) => sum + weight, 0);
  for (const [i, weight] of weights.entries()) {
    if (weight > 0 && remaining <= weight) return low + (i + remaining / weight) * width;
    remaining -= weight;
  }
  const last = weights.findLastIndex((weight) => weight > 0);
  return last < 0 ? null : low + (last + 1) * width;
}

/** Ranges and thresholds of the components of a quantity in a frame, counted from 0. Throws RequestError. */
export async function levelRanges(engine: Engine, dataset: Dataset, set: LevelSet | null, text: string, frame: number) {
  const name = { u: "velocity", p: "pressure" }[text] ?? text.replaceAll(/\s/g, "");
  const quantity = set?.quantities.find((one) => one.text === name);
  const known = set?.quantities.map((one) => one.text).join(", ") || "none";
  if (set === null || quantity === undefined) throw wrong("what", `${text} has no levels; there are ${known}`);
  const { guardBefore, guardAfter, count } = dataset.time;
  if (!(Number.isInteger(frame) && frame >= 0 && frame < count - guardBefore - guardAfter))
    throw wrong("frame", `expected 0 to ${count - guardBefore - guardAfter - 1}`);
  const histograms = await engine.levelHistograms(set, quantity, guardBefore + frame);
  return histograms.map((one, c) => ({
    name: quantity.components === 1 ? text : `${text}.${"xyz"[c]}`,
    central: [valueAt(one, (1 - CENTRAL_FRACTION) / 2), valueAt(one, (1 + CENTRAL_FRACTION) / 2)],
    above: FRACTIONS.map((fraction) => ({ fraction, value: valueAt(one, 1 - fraction) })),
    bin: one.edges[1],
  }));
}
