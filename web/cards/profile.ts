/** Mean profile of a quantity along the wall-normal axis; for the velocity also in wall units. */

import { signal } from "@preact/signals-core";
import { html, nothing } from "lit-html";
import type { Curve } from "../chart.js";
import { toggle } from "../controls.js";
import type { Dataset } from "../state/dataset.js";
import { shortNumber } from "../state/format.js";
import { quantityOf } from "../state/quantities.js";
import { type CardKind, type Facts, resultsOf } from "./card.js";

const isInWallUnits = signal(false);

type Points = readonly (readonly [number, number])[];
type Axis = Dataset["axes"][0];

interface Wall {
  readonly axis: Axis;
  readonly viscosity: number;
  readonly frictionVelocity: number;
}

/** The axis along which profiles go: across walls, else y. */
const profileAxis = ({ axes }: Dataset): Axis => axes.find(({ periodic }) => !periodic) ?? axes[1];
const beginsAtWall = ({ faces }: Axis) => faces?.[0] === "wall";

/** The wall of a profile, with its shear from the first two points; null without a wall or a viscosity. */
function wallOf({ viscosity }: Dataset, axis: Axis, points: Points): Wall | null {
  if (!beginsAtWall(axis) || viscosity === null || points.length < 3) return null;
  const [[y0, u0], [y1, u1]] = points;
  return { axis, viscosity, frictionVelocity: Math.sqrt(viscosity * Math.abs((u1 - u0) / (y1 - y0))) };
}

const wallRows = ({ axis, viscosity, frictionVelocity }: Wall): Facts["rows"] => [
  ["Friction velocity u_τ", shortNumber(frictionVelocity)],
  ["Re_τ", shortNumber((frictionVelocity * axis.length) / 2 / viscosity)],
];

/** The half of a profile at the wall in wall units, with the viscous and the logarithmic law. */
function wallFacts(wall: Wall, points: Points): Facts {
  const { axis, viscosity, frictionVelocity } = wall;
  const half = points.slice(1, Math.ceil(points.length / 2));
  const measured = half.map(([y, u]): [number, number] => [
    ((y - axis.first) * frictionVelocity) / viscosity,
    u / frictionVelocity,
  ]);
  const last = measured.at(-1)?.[0] ?? 100;
  const viscous = [0.3, 1, 2, 4, 8, 11].map((y): [number, number] => [y, y]);
  const logarithmic = [8, 15, 30, 60, last]
    .filter((y) => y <= last)
    .map((y): [number, number] => [y, Math.log(y) / 0.41 + 5.2]);
  return {
    title: `Mean velocity in wall units`,
    chart: {
      x: { label: "y⁺", isLog: true },
      y: { label: "u⁺" },
      curves: [
        { label: "u⁺", points: measured },
        { label: "u⁺ = y⁺", points: viscous, isDashed: true },
        { label: "ln y⁺ / 0.41 + 5.2", points: logarithmic, isDashed: true },
      ],
    },
    rows: wallRows(wall),
  };
}

export const profile: CardKind = {
  name: "Profile",
  has: () => true,
  hasQuantity: true,
  hasTimes: true,
  question(set, what, time) {
    const others = set.axes.filter((axis) => axis !== profileAxis(set)).map(({ name }) => name);
    return { dataset: set.name, time, call: "statistics", what: [what], over: others };
  },
  facts(set, what, answers) {
    const axis = profileAxis(set);
    const { symbol } = quantityOf(what);
    const curves = answers.map(([, answer, label]): Curve => {
      const result = resultsOf(answer)[0] as {
        readonly coordinates: Readonly<Record<string, readonly number[]>>;
        readonly mean: readonly number[];
      };
      const positions = result.coordinates[axis.name] ?? [];
      return {
        label: label ?? symbol,
        points: positions.map((y, i): [number, number] => [y, result.mean[i]]),
      };
    });
    const { points } = curves[0];
    const wall = what === "u.x" ? wallOf(set, axis, points) : null;
    if (wall !== null && isInWallUnits.value) return wallFacts(wall, points);
    return {
      title: `Profile of ${symbol} along ${axis.name}`,
      chart: { x: { label: axis.name }, y: { label: symbol }, curves, zero: true },
      rows: wall === null ? [] : wallRows(wall),
    };
  },
  options: (set) => html`${beginsAtWall(profileAxis(set)) ? toggle("Wall units", isInWallUnits) : nothing}`,
};
