/** Mean profile of a quantity along the wall-normal axis; for the velocity also in wall units. */
import { signal } from "@preact/signals-core";
import { html, nothing } from "lit-html";
import type { Curve } from "../chart.js";
import { toggle } from "../controls.js";
import { keyOf } from "../state/answers.js";
import type { Question } from "../state/ask.js";
import { type Dataset, hasTwoWalls, wallAxis } from "../state/dataset.js";
import { requireOne, shortNumber } from "../state/format.js";
import { quantityOf } from "../state/quantities.js";
import { store } from "../state/shown.js";
import { type Answered, type CardContent, type CardKind, type LeftOut, leftOut, resultsOf } from "./card.js";

const isInWallUnits = signal(false);

type Axis = Dataset["axes"][0];

/** Wall units of an answer, with the distances of its positions from the nearer wall as `y_plus`. */
export interface WallUnits extends Readonly<Record<`${string}_plus`, readonly number[]>> {
  readonly nu: number;
  readonly u_tau: number;
}

/** The nodes nearer to the first of two walls than to the second: up to there distances from the nearer wall grow. */
export const nodesAtFirst = (from: readonly number[]) => 1 + from.findIndex((y, i) => !(from[i + 1] > (1 + 1e-9) * y));

const profileAxis = ({ axes }: Dataset): Axis => axes.find(({ periodic, nodes }) => !periodic && nodes > 1) ?? axes[1];

const wallRows = ({ nu, u_tau }: WallUnits, axis: Axis): CardContent["rows"] => [
  ["Friction velocity u_τ", shortNumber(u_tau)],
  ...(hasTwoWalls(axis) ? [["Re_τ", shortNumber((u_tau * axis.length) / 2 / nu)] as const] : []),
];

/** Velocities relative to the wall, of two walls those in the half at the first, with the viscous and the logarithmic law. */
function wallContent(answers: Answered, axis: Axis, profiles: readonly Curve[], rows: CardContent["rows"]) {
  const measured = answers.flatMap(([, { wall_units }, label], i): Curve[] => {
    if (wall_units === undefined) return [];
    const { u_tau, [`${axis.name}_plus` as const]: distances } = wall_units as WallUnits;
    const half = profiles[i].points.slice(0, hasTwoWalls(axis) ? nodesAtFirst(distances) : distances.length);
    // A wall without a node or a value is taken to be at rest.
    const atWall = half[distances.indexOf(0)]?.[1] || 0;
    const direction = Math.sign(half.reduce((sum, [, u]) => sum + (u - atWall || 0), 0));
    const scaled = half
      .map(([, u], j): [number, number] => [distances[j], (direction * (u - atWall)) / u_tau])
      .filter(([y]) => y > 0);
    return [{ label: label ?? "u⁺", points: scaled }];
  });
  const last = Math.max(...measured.flatMap(({ points }) => points.map(([y]) => y)));
  const inLog = [8, 15, 30, 60, last].filter((y) => y <= last);
  const logarithmic = inLog.map((y): [number, number] => [y, Math.log(y) / 0.41 + 5.2]);
  return {
    title: "Mean velocity relative to the wall, in wall units",
    chart: {
      x: { label: `${axis.name}⁺`, isLog: true },
      y: { label: "u⁺" },
      curves: [
        ...measured,
        {
          label: `u⁺ = ${axis.name}⁺`,
          points: [0.3, 1, 2, 4, 8, 11].map((y): [number, number] => [y, y]),
          isDashed: true,
        },
        { label: `ln ${axis.name}⁺ / 0.41 + 5.2`, points: logarithmic, isDashed: true },
      ],
    },
    rows,
  };
}

function plainQuestion(set: Dataset, what: string, time: number): Question {
  const over = set.axes.filter((axis) => axis !== profileAxis(set)).map(({ name }) => name);
  return { dataset: set.name, time, call: "statistics", what: [what], over };
}

/** Why a profile has no wall units, null if it has: the service refuses them of a fluid at rest. */
function whyPlain(set: Dataset, what: string, time: number): string | null {
  if (what !== "u.x" || wallAxis(set) === null) return "of u.x only";
  return store.entry(keyOf(set, { ...plainQuestion(set, what, time), units: "plus" })).error?.message ?? null;
}

export const profile: CardKind = {
  name: "Profile",
  question: (set, what, time) => ({
    ...plainQuestion(set, what, time),
    ...(whyPlain(set, what, time) === null ? { units: "plus" } : {}),
  }),
  content(set, what, answers) {
    const axis = profileAxis(set);
    const { symbol } = quantityOf(what);
    const curves = answers.map(([, answer, label]): Curve => {
      const { coordinates, mean } = resultsOf(answer)[0] as {
        readonly coordinates: Readonly<Record<string, readonly number[]>>;
        readonly mean: readonly (number | null)[];
      };
      const positions = coordinates[axis.name] ?? [];
      requireOne([mean[0]].flat().length);
      return { label: label ?? symbol, points: positions.map((y, i): [number, number] => [y, mean[i] ?? Number.NaN]) };
    });
    const wall = answers[0][1].wall_units as WallUnits | undefined;
    const [of] = resultsOf<LeftOut>(answers[0][1]);
    const rows = [...(wall === undefined ? [] : wallRows(wall, axis)), ...leftOut(of)];
    if (wall !== undefined && isInWallUnits.value) return wallContent(answers, axis, curves, rows);
    const why = isInWallUnits.value && wallAxis(set) !== null ? whyPlain(set, what, answers[0][0]) : null;
    return {
      title: `Profile of ${symbol} along ${axis.name}`,
      chart: { x: { label: axis.name }, y: { label: symbol }, curves, zero: true },
      rows: why === null ? rows : [["No wall units", why] as const, ...rows],
    };
  },
  options: (set) => html`${wallAxis(set) !== null ? toggle("Wall units", isInWallUnits) : nothing}`,
};
