/** Card with the mean of a quantity around events, the nodes where a condition holds, as a picture of a plane. */
import type { TemplateResult } from "lit-html";
import { choice, into, textField } from "../controls.js";
import { type Dataset, hasVelocity } from "../state/dataset.js";
import { extremesText, inSpan, requireOne } from "../state/format.js";
import { operand } from "../state/link.js";
import { hasDerivatives, quantityOf } from "../state/quantities.js";
import { view } from "../state/view.js";
import { type CardKind, resultsOf } from "./card.js";

interface Result {
  readonly coordinates: Readonly<Record<string, readonly number[]>>;
  readonly mean: readonly (readonly (readonly (number | null)[])[])[];
}

const SIDE = 6;
const typedCondition = choice<string | null>(null);

/** The condition for events: as typed, else the brush, else a high threshold for Q or the quantity. */
export function conditionOf(set: Dataset, what: string): string {
  if (typedCondition.value !== null) return typedCondition.value;
  if (view.value.brush !== null) return view.value.brush;
  if (hasVelocity(set) && hasDerivatives(set)) return "Q > 4*rms(Q)";
  return `${operand(what)} > mean(${what}) + 2*rms(fluc(${what}))`;
}

export const conditionInput = (set: Dataset, label: string): TemplateResult =>
  textField(label, conditionOf(set, view.value.what ?? ""), into(typedCondition));

/** Uniform axes with more than one node; the picture takes the first two. */
const planeAxes = ({ axes }: Dataset) => axes.filter((axis) => axis.coordinates === undefined && axis.nodes > 1);

export const around: CardKind = {
  name: "Around",
  isAvailable: (set) => planeAxes(set).length >= 2 && set.axes.every(({ coordinates }) => coordinates === undefined),
  isOfOneTime: true,
  question(set, what, time) {
    const [a, b] = planeAxes(set);
    const lag = set.axes.map((axis) => (axis === a || axis === b ? Math.min(SIDE, Math.floor(axis.nodes / 2) - 1) : 0));
    return { dataset: set.name, call: "around", what: [what], where: conditionOf(set, what), lag, time };
  },
  content(set, what, [[, answer]]) {
    const [a, b] = planeAxes(set);
    const [{ coordinates, mean }, ...others] = resultsOf<Result>(answer);
    requireOne(1 + others.length);
    const steps = (name: string, spacing: number) => {
      const at = coordinates[`r_${name}`] ?? [];
      return [...at.map((one) => one - spacing / 2), (at.at(-1) ?? 0) + spacing / 2];
    };
    const [x, y] = [steps(a.name, a.spacing), steps(b.name, b.spacing)];
    const values = ((mean as unknown[]).flat(3) as (number | null)[]).map((one) => one ?? Number.NaN);
    const finite = values.filter(Number.isFinite);
    const { symbol } = quantityOf(what);
    const events = Number(answer.events);
    return {
      title: `Mean of ${symbol} around ${String(answer.where)}`,
      chart: {
        x: { label: `r along ${a.name}`, domain: [x[0], x.at(-1) as number] },
        y: { label: `r along ${b.name}`, domain: [y[0], y.at(-1) as number] },
        curves: [],
        joint: { nx: x.length - 1, ny: y.length - 1, x, y, values },
      },
      rows: [
        ["Events", String(events)],
        ["At the event", inSpan(values[Math.floor(values.length / 2)], Math.max(...finite) - Math.min(...finite))],
        ["Least, greatest", extremesText(finite)],
      ],
    };
  },
  options: (set) => conditionInput(set, "Condition of events"),
};
