/** Budgets of the turbulent energy and of Reynolds stresses across a channel, in wall units. */
import { signal } from "@preact/signals-core";
import type { Curve } from "../chart.js";
import { into, oneOf } from "../controls.js";
import { hasTwoWalls, wallAxis } from "../state/dataset.js";
import { plainNumber, shortNumber } from "../state/format.js";
import { type CardKind, resultsOf } from "./card.js";
import { nodesAtFirst, type WallUnits } from "./profile.js";

const BUDGETS = { k: "k", uu: "uu", vv: "vv", ww: "ww", uv: "uv" } as const;
const chosen = signal<keyof typeof BUDGETS>("k");
/** Terms of the budget, as Moser, Kim and Mansour name them, with their names in words. */
const TERMS: readonly (readonly [string, string])[] = [
  ["produc", "Production"],
  ["dissip", "Dissipation"],
  ["t-diff", "Turbulent diffusion"],
  ["v-diff", "Viscous diffusion"],
  ["p-diff", "Pressure diffusion"],
  ["p-strain", "Pressure strain"],
];

export const budget: CardKind = {
  name: "Budget",
  isAvailable: (set) =>
    wallAxis(set)?.name === "y" && hasTwoWalls(set.axes[1]) && set.fields.some(({ name }) => name === "pressure"),
  isOfFixedQuantity: true,
  isOfOneTime: true,
  question: (set) => ({
    ...{ dataset: set.name, call: "statistics", reduce: [{ budget: chosen.value }] },
    ...{ over: ["x", "z", "t"], time: "all", units: "plus" },
  }),
  content(_set, _what, [[, answer]]) {
    const [result] = resultsOf<Readonly<Record<string, readonly (number | null)[]>>>(answer);
    const { u_tau, y_plus } = answer.wall_units as WallUnits;
    const numbers = (all: readonly (number | null)[] = []) =>
      all.slice(0, nodesAtFirst(y_plus)).map((value) => value ?? Number.NaN);
    const curves = TERMS.flatMap(([key, label]): Curve[] =>
      // The pressure strain of k is zero, since the flow is incompressible.
      result[key] === undefined || (chosen.value === "k" && key === "p-strain")
        ? []
        : [{ label, points: numbers(result[key]).map((value, i): [number, number] => [y_plus[i], value]) }],
    );
    const peak = Math.max(...numbers(result.produc).filter(Number.isFinite).map(Math.abs));
    const outside = numbers(result.sum)
      .filter((one, i) => y_plus[i] > 1 && Number.isFinite(one))
      .map(Math.abs);
    const residual = plainNumber((100 * Math.max(...outside)) / peak, 2);
    return {
      title: `Budget of the ${chosen.value === "k" ? "turbulent energy" : `⟨${chosen.value}⟩`}, all times, first half`,
      chart: { x: { label: "y⁺", isLog: true }, y: { label: "in u_τ⁴/ν" }, curves, zero: true },
      rows: [
        ["u_τ", shortNumber(u_tau)],
        ["Peak production", shortNumber(peak)],
        ...(peak > 1e-9 ? [["Residual, y⁺ > 1", `${residual} % of the peak`] as const] : []),
      ],
    };
  },
  options: () => oneOf("Budget", BUDGETS, chosen.value, into(chosen)),
};
