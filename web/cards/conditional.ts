/** Mean of a quantity for given values of another quantity, with its standard deviation in each bin. */
import type { Curve } from "../chart.js";
import { choice, into, textField } from "../controls.js";
import { type Dataset, hasVelocity } from "../state/dataset.js";
import { extremesText, plainNumber } from "../state/format.js";
import { firstQuantity, hasDerivatives, quantityOf } from "../state/quantities.js";
import { type Answered, type CardKind, type LeftOut, leftOut, resultsOf } from "./card.js";

interface Result extends LeftOut {
  readonly edges: readonly (readonly number[])[] | readonly number[];
  readonly mean: readonly (number | null)[];
  readonly variance: readonly (number | null)[];
  readonly counts: readonly number[];
}

const BINS = 40;
const LEAST = 30;
const typed = choice<string | null>(null);

function givenOf(set: Dataset): string {
  if (typed.value !== null) return typed.value;
  if (!hasVelocity(set)) return firstQuantity(set);
  return hasDerivatives(set) ? "Q" : "norm(u)";
}

/** Points of a curve: the middles of bins with enough samples, and a value of each bin. */
function pointsOf({ edges, counts }: Result, value: (bin: number) => number): [number, number][] {
  const ends = edges.flat() as number[];
  return counts.flatMap((count, i): [number, number][] =>
    count < LEAST ? [] : [[(ends[i] + ends[i + 1]) / 2, value(i)]],
  );
}

const resultOf = (answers: Answered, i: number): Result => resultsOf<Result>(answers[i][1])[0];

export const conditional: CardKind = {
  name: "Mean given",
  question: (set, what, time) => ({
    ...{ dataset: set.name, call: "statistics", time },
    reduce: [{ conditional: what, on: givenOf(set), bins: BINS, range: "auto" }],
  }),
  content(set, what, answers) {
    const [{ symbol }, given] = [quantityOf(what), quantityOf(givenOf(set))];
    const first = resultOf(answers, 0);
    const curves = answers.map(([, , label], i): Curve => {
      const result = resultOf(answers, i);
      return { label: label ?? `mean of ${symbol}`, points: pointsOf(result, (bin) => result.mean[bin] ?? Number.NaN) };
    });
    const away = (sign: number) => (bin: number) =>
      (first.mean[bin] ?? Number.NaN) + sign * Math.sqrt(first.variance[bin] ?? 0);
    for (const sign of answers.length === 1 ? [-1, 1] : [])
      curves.push({ label: sign > 0 ? "+ σ" : "− σ", isDashed: true, points: pointsOf(first, away(sign)) });
    const whole = first.counts.reduce((sum, count) => sum + count, 0);
    const kept = first.counts.reduce((sum, count) => sum + (count < LEAST ? 0 : count), 0);
    const means = curves[0].points.map(([, mean]) => mean);
    return {
      title: `Mean of ${symbol} given ${given.symbol}`,
      chart: { x: { label: given.symbol }, y: { label: symbol }, curves, zero: true },
      rows: [
        ["Samples", `${whole}, ${plainNumber((100 * kept) / whole, 4)} % in bins of ${LEAST} or more`],
        ["Least, greatest mean", extremesText(means)],
        ...leftOut(first),
      ],
    };
  },
  options: (set) => textField("Given quantity", givenOf(set), into(typed), "quantities"),
};
