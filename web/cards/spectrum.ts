/** Energy spectrum of periodic boxes, with the scales that follow from it; between walls, of a plane at the crosshair. */
import { signal } from "@preact/signals-core";
import type { Curve } from "../chart.js";
import { toggle } from "../controls.js";
import { AXIS_NAMES, type AxisName, hasVelocity, nearest, placeText } from "../state/dataset.js";
import { shortNumber } from "../state/format.js";
import { cross, rested } from "../state/view.js";
import type { CardKind, Json } from "./card.js";

/** The members of an answer that say which wavenumbers it has: of shells, or of planes normal to an axis. */
interface Spectrum {
  readonly kind: "shell" | "plane";
  readonly axis: AxisName;
  readonly coordinates: Readonly<Record<string, readonly number[]>>;
  readonly k: readonly number[];
  readonly E: readonly number[] | readonly (readonly number[])[];
  readonly scales?: Readonly<Record<string, number>>;
}

const isCompensated = signal(false);

export const spectrum: CardKind = {
  name: "Spectrum",
  isAvailable: (set) => {
    const around = set.axes.filter(({ periodic }) => periodic);
    return hasVelocity(set) && around.length > 1 && around.some(({ nodes }) => nodes > 1);
  },
  isOfFixedQuantity: true,
  question: ({ name }, _, time) => ({ dataset: name, time, call: "spectrum" }),
  content(set, _, answers) {
    const [[, first]] = answers;
    const { kind, axis, coordinates, scales = {} } = first as Json & Spectrum;
    const places = kind === "plane" ? coordinates[axis] : [];
    const a = AXIS_NAMES.indexOf(axis);
    const place = nearest(places, (rested.value.cross ?? cross.value)[a]);
    const where = kind === "shell" ? "" : `, ${axis} = ${placeText(set.axes[a], places[place])}`;
    const curves = answers.map(([, answer, label]): Curve => {
      const { k, E, scales: { dissipation = 1 } = {} } = answer as Json & Spectrum;
      const e = (kind === "plane" ? E[place] : E) as readonly number[];
      const top = Math.max(...e.filter((_, i) => k[i] > 0));
      const factor = (one: number) => (isCompensated.value ? one ** (5 / 3) / (dissipation || 1) ** (2 / 3) : 1);
      return {
        label: label ?? (isCompensated.value ? "compensated by 5/3" : "E(k)"),
        points: k
          // Energies of shells or rings by the step of wavenumbers: what papers plot as E(k).
          .map((one, i): [number, number] => [one, (e[i] / (k[1] - k[0])) * factor(one)])
          // Less is the rounding of velocities in float32.
          .filter(([one], i) => one > 0 && e[i] > 3e-15 * top),
      };
    });
    const third = curves[0].points.slice(0, 3).at(-1);
    if (third !== undefined && !isCompensated.value)
      curves.push({
        label: "slope −5/3",
        isDashed: true,
        points: [1, 2, 4, 8].map((n): [number, number] => [n * third[0], 2.2 * third[1] * n ** (-5 / 3)]),
      });
    const row = (name: string, key: string): readonly [string, string][] =>
      scales[key] === undefined ? [] : [[name, shortNumber(scales[key])]];
    return {
      title: `Energy spectrum${where}`,
      chart: {
        x: { label: "wavenumber k", isLog: true },
        y: { label: isCompensated.value ? (scales.dissipation ? "E k^5/3 / ε^2/3" : "E k^5/3") : "E(k)", isLog: true },
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
