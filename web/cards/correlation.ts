/** Two-point correlation of a quantity along a periodic axis; across walls, at the position of the crosshair. */
import { signal } from "@preact/signals-core";
import type { Curve } from "../chart.js";
import { type AxisName, type Dataset, nearest, placeText } from "../state/dataset.js";
import { shortNumber } from "../state/format.js";
import { quantityOf } from "../state/quantities.js";
import { cross, rested } from "../state/view.js";
import { axisButtons, type CardKind, resultsOf } from "./card.js";

interface Result {
  readonly coordinates: Readonly<Record<string, readonly number[]>>;
  /** By positions across, and by separations; axes of one node nest it more deeply. */
  readonly rho: readonly unknown[];
}

const chosen = signal<AxisName>("x");
const periodicOf = ({ axes }: Dataset) => axes.filter(({ periodic, nodes }) => periodic && nodes > 1);
const axisOf = (set: Dataset) =>
  periodicOf(set).find(({ name }) => name === chosen.value) ?? (periodicOf(set)[0] as Dataset["axes"][0]);
/** The axis across walls, whose positions have correlations of their own. */
const openOf = ({ axes }: Dataset) => axes.filter(({ periodic, nodes }) => !periodic && nodes > 1);

export const correlation: CardKind = {
  name: "Correlation",
  // An answer has correlations for positions along at most one open axis.
  isAvailable: (set) => periodicOf(set).length > 0 && openOf(set).length < 2,
  question(set, what, time) {
    const across = openOf(set).at(0);
    const over = set.axes.filter((axis) => axis !== across && axis.periodic).map(({ name }) => name);
    const places = across === undefined ? {} : { over };
    return { dataset: set.name, call: "correlation", what: [what], axis: [axisOf(set).name], ...places, time };
  },
  content(set, what, answers) {
    const axis = axisOf(set);
    const across = openOf(set).at(0);
    const { symbol } = quantityOf(what);
    const place = across === undefined ? 0 : (rested.value.cross ?? cross.value)[set.axes.indexOf(across)];
    let at = 0;
    const curves = answers.map(([, answer, label]): Curve => {
      const [{ coordinates, rho }] = resultsOf<Result>(answer);
      const lengths = coordinates[`r_${axis.name}`] ?? [];
      if (across !== undefined) at = nearest(coordinates[across.name] ?? [], place);
      const row = rho.flat(2).slice(at * lengths.length) as readonly (number | null)[];
      return {
        label: label ?? `ρ of ${symbol}`,
        // The correlation of a quantity with itself is symmetric, and repeats beyond half of the period.
        points: lengths
          .map((r, i): [number, number] => [r, row[i] ?? Number.NaN])
          .filter(([r]) => r >= 0 && r <= axis.length * (0.5 + 1e-9)),
      };
    });
    const first = answers[0][1];
    const pick = (value: unknown) => [value].flat(3)[at] as number | boolean | null | undefined;
    const length = pick(first.integral_length);
    const crossed = pick(first.crossed) === false ? ", to half the period" : "";
    const deviation = pick(first.s_a);
    const [{ coordinates }] = resultsOf<Result>(first);
    const where = across && `, ${across.name} = ${placeText(across, coordinates[across.name]?.[at] ?? 0)}`;
    return {
      title: `Correlation of ${symbol} along ${axis.name}${where ?? ""}`,
      chart: { x: { label: `separation along ${axis.name}` }, y: { label: "ρ" }, curves, zero: true },
      rows: [
        ...(typeof length === "number" ? [[`Integral length${crossed}`, shortNumber(length)] as const] : []),
        ...(typeof deviation === "number" ? [["Standard deviation", shortNumber(deviation)] as const] : []),
      ],
    };
  },
  options: (set) => axisButtons(periodicOf(set), axisOf(set).name, chosen),
};
