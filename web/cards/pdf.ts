/** Probability density of a quantity, with a range of values that is brushed. */
import { signal } from "@preact/signals-core";
import { html, nothing } from "lit-html";
import type { Curve } from "../chart.js";
import { toggle } from "../controls.js";
import type { Dataset } from "../state/dataset.js";
import { inSpan, shortNumber } from "../state/format.js";
import { type Brush, brushIn, operand } from "../state/link.js";
import { quantityOf } from "../state/quantities.js";
import { change, view } from "../state/view.js";
import { type Answered, type CardContent, type CardKind, type Json, leftOut, type Moments, resultsOf } from "./card.js";

const BINS = 160;
const isLog = signal(true);
const isByRms = signal(false);

interface Histogram {
  readonly edges: readonly number[];
  readonly weights: readonly number[];
  readonly weight: number;
}

/** Values of a distribution as the card draws them: shifted by the mean and in units of the rms, if so chosen. */
const scaleOf = ({ mean, variance }: Moments): readonly [shift: number, unit: number] =>
  isByRms.value ? [mean, Math.sqrt(variance)] : [0, 1];

function densityOf(answer: Json, label: string): Curve {
  const { edges, weights, weight } = resultsOf(answer)[0] as Histogram;
  const [shift, unit] = scaleOf(resultsOf(answer)[1] as Moments);
  const points = weights.map((inBin, i): [number, number] => [
    ((edges[i] + edges[i + 1]) / 2 - shift) / unit,
    (inBin * unit) / (weight * (edges[i + 1] - edges[i])),
  ]);
  return { label, points };
}

/** The normal distribution of the same mean and variance, where the given points are. */
function gaussian({ mean, variance }: Moments, points: Curve["points"], lowest: number): Curve {
  const [centre, width] = isByRms.value ? [0, 1] : [mean, Math.sqrt(variance)];
  const xs = points.map(([x]) => x);
  const all = Array.from({ length: 121 }, (_, i): [number, number] => {
    const x = centre + ((i - 60) / 60) * 5 * width;
    return [x, Math.exp(-(((x - centre) / width) ** 2) / 2) / (width * Math.sqrt(2 * Math.PI))];
  });
  const inside = all.filter(([x, y]) => y >= lowest && x >= Math.min(...xs) && x <= Math.max(...xs));
  return { label: "Gaussian", points: inside, isDashed: true };
}

function pdfOf(_set: Dataset, what: string, answers: Answered): CardContent {
  const { symbol } = quantityOf(what);
  const [[, first]] = answers;
  const [histogram, moments, brushed] = resultsOf(first) as [Histogram, Moments, Moments?];
  const curves = answers.map(([, answer, label]) => densityOf(answer, label ?? symbol));
  const size = Math.sqrt(moments.variance);
  const positive = curves.flatMap(({ points }) => points.filter(([, y]) => y > 0));
  const ys = positive.map(([, y]) => y);
  const [low, high] = [Math.min(...ys), Math.max(...ys)];
  curves.push(gaussian(moments, positive, low));
  const [brush, end] = [brushOn(what), histogram.edges.at(-1) ?? 0];
  return {
    title: "Probability density, all nodes",
    chart: {
      x: { label: isByRms.value ? `(${symbol} − mean) / σ` : symbol },
      y: { label: "density", isLog: isLog.value, domain: isLog.value ? [low * 0.7, high * 1.6] : [0, high * 1.08] },
      curves,
      ...(brush === null || isByRms.value ? {} : { brush: [brush.low, Math.min(brush.high, end)] }),
    },
    rows: [
      ["Mean", inSpan(Math.abs(moments.mean) < 1e-9 * size ? 0 : moments.mean, 6 * size)],
      ["Standard deviation", shortNumber(size)],
      ["Skewness", shortNumber(moments.skewness)],
      ["Flatness", shortNumber(moments.flatness)],
      ...leftOut(moments),
      ...(brushed === undefined ? [] : [["Brushed", `${shortNumber(100 * brushed.mean)} % of the volume`] as const]),
    ],
  };
}

function brushOn(what: string): Brush | null {
  const brush = brushIn(view.value.brush);
  return brush?.what === operand(what) ? brush : null;
}

export const pdf: CardKind = {
  name: "PDF",
  canBrush: () => !isByRms.value,
  question: ({ name }, what, time) => ({
    ...{ dataset: name, time, call: "statistics" },
    reduce: [
      { histogram: what, bins: BINS, range: "auto" },
      { moments: what, order: 4 },
      ...(brushOn(what) === null ? [] : [{ moments: `(${view.value.brush}) ? 1 : 0`, order: 1 }]),
    ],
  }),
  content: pdfOf,
  options: () => html`${toggle("Log", isLog)}${toggle("By rms", isByRms)}
    ${view.value.brush === null ? nothing : html`<button @click=${() => change({ brush: null })}>No brush</button>`}`,
};
