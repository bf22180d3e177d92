/** Energy spectrum, with the scales of turbulence that follow from it. */
import { signal } from "@preact/signals-core";
import type { Curve } from "../chart.js";
import { hasVelocity } from "../state/dataset.js";
import { plainNumber, shortNumber } from "../state/format.js";
import { type CardKind, toggle } from "./card.js";

const isCompensated = signal(false);

export const spectrum: CardKind = {
  name: "Spectrum",
  has: hasVelocity,
  hasQuantity: false,
  hasTimes: true,
  question: ({ name }, _, time) => ({ dataset: name, time, call: "spectrum" }),
  facts(set, _, answers) {
    const [[time, first]] = answers;
    const scales = (first.scales ?? {}) as Readonly<Record<string, number>>;
    const curves = answers.map(([at, answer], n): Curve => {
      const k = answer.k as readonly number[];
      const e = answer.E as readonly number[];
      const dissipation = ((answer.scales ?? {}) as Readonly<Record<string, number>>).dissipation;
      const factor = (one: number) => (isCompensated.value ? one ** (5 / 3) / (dissipation ** (2 / 3) || 1) : 1);
      return {
        label: answers.length > 1 ? `t ${plainNumber(at)}` : isCompensated.value ? "compensated by 5/3" : "E(k)",
        points: k
          .map((one, i): [number, number] => [one, e[i] * factor(one)])
          .filter(([one, y]) => one > 0 && y > 1e-9 && n >= 0),
      };
    });
    const [start] = curves[0].points;
    if (start !== undefined && !isCompensated.value) {
      const at = curves[0].points[Math.min(2, curves[0].points.length - 1)];
      curves.push({
        label: "slope −5/3",
        isDashed: true,
        points: [2, 4, 8, 16].map((k): [number, number] => [k, 2.2 * at[1] * (k / at[0]) ** (-5 / 3)]),
      });
    }
    const row = (name: string, key: string): readonly [string, string][] =>
      scales[key] === undefined ? [] : [[name, shortNumber(scales[key])]];
    return {
      title: `Energy spectrum, t = ${plainNumber(time)}`,
      chart: {
        x: { label: "wavenumber k", isLog: true },
        y: { label: isCompensated.value ? "compensated" : "E(k)", isLog: true },
        curves,
      },
      rows: [
        ...row("Kinetic energy", "energy"),
        ...row("rms velocity", "rms"),
        ...row("Dissipation ε", "dissipation"),
        ...row("Kolmogorov length η", "kolmogorov"),
        ...row("Taylor length λ", "taylor"),
        ...row("Integral length", "integral"),
        ...row("Re_λ", "Re_lambda"),
        ...row("k_max η", "resolution"),
        ...(set.viscosity === null ? [["Viscosity", "not stated"] as const] : []),
      ],
    };
  },
  options: () => toggle("Compensated", isCompensated),
};
