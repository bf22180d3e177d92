/** Structure functions of the velocity of second and third order: means over axes of one spacing, else of each. */
import type { Curve } from "../chart.js";
import { hasVelocity } from "../state/dataset.js";
import type { CardKind } from "./card.js";

interface Separation {
  readonly axis: string;
  readonly length: number;
  readonly longitudinal: Readonly<Record<string, number>>;
  readonly transverse: Readonly<Record<string, number>>;
}

export const structureFunctions: CardKind = {
  name: "Structure functions",
  has: hasVelocity,
  hasQuantity: false,
  hasTimes: true,
  question: ({ name }, _, time) => ({ dataset: name, time, call: "structure_functions", orders: [2, 3] }),
  facts(_set, _, answers) {
    const curves: Curve[] = [];
    const first = answers[0][1].separations as readonly Separation[];
    const axes = [...new Set(first.map(({ axis }) => axis))];
    const lengthsOf = (some: readonly Separation[]) =>
      [...new Set(some.map(({ length }) => length))].sort((a, b) => a - b);
    const isMean = axes.length * lengthsOf(first).length === first.length;
    for (const [, answer, label] of answers)
      for (const axis of isMean ? [null] : axes) {
        const some = (answer.separations as readonly Separation[]).filter((one) => axis === null || one.axis === axis);
        const suffix = `${axis === null ? "" : ` along ${axis}`}${label === null ? "" : `, ${label}`}`;
        const add = (label: string, read: (one: Separation) => number) => {
          const mean = (r: number) => {
            const known = some.flatMap((one) => (one.length === r ? [read(one)] : [])).filter(Number.isFinite);
            return known.reduce((sum, one) => sum + one, 0) / known.length;
          };
          curves.push({ label: label + suffix, points: lengthsOf(some).map((r): [number, number] => [r, mean(r)]) });
        };
        add("S₂ longitudinal", ({ longitudinal }) => longitudinal["2"]);
        add("S₂ transverse", ({ transverse }) => transverse["2"]);
        add("−S₃", ({ longitudinal }) => -longitudinal["3"]);
      }
    const of = isMean ? "mean of axes" : axes.join(", ");
    return {
      title: `Structure functions, ${of}`,
      chart: { x: { label: "separation r", isLog: true }, y: { label: "moments of increments", isLog: true }, curves },
      rows: [],
    };
  },
};
