/** Structure functions of the velocity of second and third order: means over axes of one spacing, else of each. */
import type { Curve } from "../chart.js";
import { hasVelocity } from "../state/dataset.js";
import type { CardKind } from "./card.js";

interface Separation {
  readonly axis: string;
  readonly length: number;
  /** Moments by their order; null without a pair of known values. */
  readonly longitudinal: Readonly<Record<2 | 3, number | null>>;
  readonly transverse: Readonly<Record<2 | 3, number | null>>;
}

/** Moments below this part of what their terms are were zero but for rounding, as odd ones at half a period. */
const ROUNDING = 1e-12;

export const structureFunctions: CardKind = {
  name: "Structure functions",
  isAvailable: hasVelocity,
  isOfFixedQuantity: true,
  question({ name, axes }, _, time) {
    const axis = axes.flatMap((one) => (one.nodes > 1 ? [one.name] : []));
    return { dataset: name, time, call: "structure_functions", axis, orders: [2, 3] };
  },
  content(_set, _, answers) {
    const curves: Curve[] = [];
    const all = answers.map(([, { separations }]) => separations as readonly Separation[]);
    const axes = [...new Set(all[0].map(({ axis }) => axis))];
    const lengthsOf = (some: readonly Separation[]) =>
      [...new Set(some.map(({ length }) => length))].sort((a, b) => a - b);
    const isMean = axes.length * lengthsOf(all[0]).length === all[0].length;
    const seconds = all.flat().flatMap(({ longitudinal, transverse }) => [longitudinal[2] ?? 0, transverse[2] ?? 0]);
    const top = Math.max(...seconds);
    let [leftOut, negative] = [0, 0];
    for (const [i, [, , label]] of answers.entries())
      for (const axis of isMean ? [null] : axes) {
        const some = all[i].filter((one) => axis === null || one.axis === axis);
        const suffix = `${axis === null ? "" : ` along ${axis}`}${label === null ? "" : `, ${label}`}`;
        const meanOf = (way: "longitudinal" | "transverse", order: 2 | 3) => (r: number) => {
          const known = some.flatMap((one) => (one.length === r ? (one[way][order] ?? []) : []));
          return known.reduce((sum, one) => sum + one, 0) / known.length;
        };
        const add = (label: string, mean: (r: number) => number, scale: (r: number) => number) => {
          const points = lengthsOf(some).map((r): [number, number] => [r, mean(r)]);
          const real = points.filter(([r, value]) => !(Math.abs(value) < ROUNDING * scale(r)));
          leftOut += points.length - real.length;
          negative += real.filter(([, value]) => value < 0).length;
          curves.push({ label: label + suffix, points: real });
        };
        const [second, third] = [meanOf("longitudinal", 2), meanOf("longitudinal", 3)];
        add("S₂ longitudinal", second, () => top);
        add("S₂ transverse", meanOf("transverse", 2), () => top);
        add(
          "−S₃",
          (r) => -third(r),
          (r) => (second(r) < ROUNDING * top ? top : second(r)) ** 1.5,
        );
      }
    const of = isMean ? "mean of axes" : axes.join(", ");
    return {
      title: `Structure functions, ${of}`,
      chart: { x: { label: "separation r", isLog: true }, y: { label: "moments of increments", isLog: true }, curves },
      rows: [
        ...(leftOut === 0 ? [] : [["Left out as rounding, below 10⁻¹² of their terms", String(leftOut)] as const]),
        ...(negative === 0 ? [] : [["Left out below 0, on a logarithmic axis", String(negative)] as const]),
      ],
    };
  },
};
