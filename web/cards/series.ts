/** Values of the quantity shown: at the crosshair over all stored times, and along a line through the crosshair. */
import { signal } from "@preact/signals-core";
import type { Curve } from "../chart.js";
import type { Rows } from "../state/ask.js";
import { AXIS_NAMES, type AxisName, placeText, timeText } from "../state/dataset.js";
import { columnOf } from "../state/flow-map.js";
import { extremesText, requireOne } from "../state/format.js";
import { quantityOf } from "../state/quantities.js";
import { valueText } from "../state/ranges.js";
import { cross, rested, view } from "../state/view.js";
import { axisButtons, type CardKind } from "./card.js";

type Line = Readonly<Record<"coords" | "data", Readonly<Record<string, readonly number[]>>>>;

const restedPlace = () => rested.value.cross ?? cross.value;
const known = (value: number | null): number => value ?? Number.NaN;

export const series: CardKind = {
  name: "Series",
  isAvailable: ({ times }) => times.length > 1,
  isOfOneTime: true,
  question: ({ name }, what) => ({
    ...{ dataset: name, call: "values", what: [columnOf(what)], points: [restedPlace()], time: "all" },
    method: rested.value.method,
  }),
  content(set, what, [[time, answer]]) {
    const { columns, rows } = answer as unknown as Rows;
    requireOne(columns.length - 4);
    const t = columns.findIndex(({ name }) => name === "t");
    const points = rows.map((row): [number, number] => [known(row[t]), known(row.at(-1) as number | null)]);
    const values = points.map(([, y]) => y).filter(Number.isFinite);
    const [{ symbol }, mark] = [quantityOf(what), view.value.time ?? time];
    const mean = values.reduce((sum, one) => sum + one, 0) / values.length;
    const now = points.find(([at]) => at === time);
    const place = restedPlace().map((one, a) => placeText(set.axes[a], one));
    const write = (value: number) => valueText({ dataset: set, what, time, method: "" }, value);
    return {
      title: `${symbol} at ${place.join(", ")}`,
      chart: { x: { label: "t" }, y: { label: symbol }, curves: [{ label: symbol, points }], mark },
      rows: [
        ...(now === undefined ? [] : [[`At t = ${timeText(set, time)}`, write(now[1])] as const]),
        ["Mean of stored times", write(mean)],
        ["Least, greatest", extremesText(values)],
      ],
    };
  },
};

const lineAxis = signal<AxisName>("x");
const MAX_ON_LINE = 512;

export const line: CardKind = {
  name: "Line",
  question({ name, axes }, what, time) {
    const at = restedPlace();
    const along = AXIS_NAMES.indexOf(lineAxis.value);
    const fixed = AXIS_NAMES.flatMap((axis, a) => (a === along ? [] : [[axis, at[a]] as const]));
    const samples = Math.min(MAX_ON_LINE, 4 * axes[along].nodes);
    const members = { ...Object.fromEntries(fixed), time, method: rested.value.method, samples };
    return { dataset: name, call: "grid", what: [columnOf(what)], ...members };
  },
  content(set, what, answers) {
    const axis = lineAxis.value;
    const { symbol } = quantityOf(what);
    const curves = answers.map(([, answer, label]): Curve => {
      const { coords, data } = answer as unknown as Line;
      const values = Object.values(data)[0] ?? [];
      requireOne([values[0]].flat().length);
      return { label: label ?? symbol, points: (coords[axis] ?? []).map((one, i) => [one, known(values[i])]) };
    });
    const at = restedPlace();
    const places = AXIS_NAMES.map((name, a) => `${name} = ${placeText(set.axes[a], at[a])}`);
    const others = places.toSpliced(AXIS_NAMES.indexOf(axis), 1);
    return {
      title: `${symbol} along ${axis} at ${others.join(", ")}`,
      chart: { x: { label: axis }, y: { label: symbol }, curves, mark: at[AXIS_NAMES.indexOf(axis)] },
      rows: [],
    };
  },
  options: ({ axes }) => axisButtons(axes, lineAxis.value, lineAxis),
};
