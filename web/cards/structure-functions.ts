/** Structure functions of the velocity of second and third order: means over the axes. */
import type { Curve } from "../chart.js";
import { hasVelocity } from "../state/dataset.js";
import { plainNumber } from "../state/format.js";
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
    for (const [time, answer] of answers) {
      const all = answer.separations as readonly Separation[];
      const lengths = [...new Set(all.map(({ length }) => length))].sort((a, b) => a - b);
      const mean = (r: number, read: (one: Separation) => number) => {
        const some = all
          .filter(({ length }) => length === r)
          .map(read)
          .filter(Number.isFinite);
        return some.reduce((sum, one) => sum + one, 0) / some.length;
      };
      const suffix = answers.length > 1 ? `, t ${plainNumber(time)}` : "";
      curves.push(
        {
          label: `S₂ longitudinal${suffix}`,
          points: lengths.map((r): [number, number] => [r, mean(r, ({ longitudinal }) => longitudinal["2"])]),
        },
        {
          label: `S₂ transverse${suffix}`,
          points: lengths.map((r): [number, number] => [r, mean(r, ({ transverse }) => transverse["2"])]),
        },
        {
          label: `−S₃${suffix}`,
          points: lengths.map((r): [number, number] => [r, -mean(r, ({ longitudinal }) => longitudinal["3"])]),
        },
      );
    }
    return {
      title: `Structure functions, mean of axes, t = ${plainNumber(answers[0][0])}`,
      chart: { x: { label: "separation r", isLog: true }, y: { label: "moments of increments", isLog: true }, curves },
      rows: [],
    };
  },
};
