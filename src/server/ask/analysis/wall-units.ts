/** Wall units: the friction velocity of a mean between two walls, and the distance from the nearer one. */
import type { Moments } from "../../../analysis/moments.js";
import type { GroupAnswer } from "../../../analysis/reductions.js";
import type { Dataset } from "../../../engine/contract/dataset.js";
import { wrong } from "../faults.js";
import type { MemberValues } from "../question/read-member.js";
import { coordinateOf } from "../question/region.js";
import { type AnalysedNodes, reductionOf } from "./analysed-nodes.js";
import { meansFor } from "./means.js";
import type { Means } from "./statistics.js";

/** The friction velocity, its source, and the places in wall units. */
export interface WallUnits {
  readonly u_tau: number;
  readonly nu: number;
  readonly about: GroupAnswer;
}

/**
 * u_tau = sqrt(nu (|dU/dy| at one wall + at the other) / 2), U the mean of u.x over the other directions at the times of
 * the question, the walls the ends of the only open axis; or the number that is given.
 */
export async function wallUnitsOf(
  asked: MemberValues,
  places: AnalysedNodes,
  dataset: Dataset,
  means: Means,
): Promise<WallUnits> {
  const open = ([0, 1, 2] as const).filter((a) => !dataset.axes[a].periodic);
  const [axis] = open;
  const nu = dataset.viscosity;
  if (axis === undefined || open.length > 1) throw wrong("units", "wall units need one axis that is not periodic");
  if (nu === undefined) throw wrong("units", "wall units need nu, and the dataset states no viscosity");
  const letter = "xyz"[axis] as "x" | "y" | "z";
  const u_tau = asked.u_tau ?? (await frictionVelocity(asked, letter, axis, nu, places, dataset, means));
  if (!(u_tau > 0)) throw wrong("u_tau", "the mean has no slope at the walls");
  const along = dataset.axes[axis];
  const [low, high] = [coordinateOf(along, 0), coordinateOf(along, along.nodes - 1)];
  const all = [...places.base.coordinates[axis]].map((at) => (Math.min(at - low, high - at) * u_tau) / nu);
  const plus = asked.fold?.startsWith(letter) ? all.slice(0, Math.ceil(all.length / 2)) : all;
  const source = asked.u_tau === undefined ? `d(mean(u.x), ${letter}) at both ends of ${letter}` : "given";
  return { u_tau, nu, about: { wall_units: { u_tau, source, nu, [`${letter}_plus`]: plus } } };
}

async function frictionVelocity(
  asked: MemberValues,
  letter: "x" | "y" | "z",
  axis: 0 | 1 | 2,
  nu: number,
  places: AnalysedNodes,
  dataset: Dataset,
  means: Means,
): Promise<number> {
  const over = (["x", "y", "z", "t"] as const).filter((one) => one !== letter);
  const text = `d(mean(u.x), ${letter})`;
  const { places: known } = await meansFor([text], places, asked, dataset, means, over, "units");
  const { nodes } = dataset.axes[axis];
  const [nx, ny, nz, frames] = known.base.extent;
  const extent = [nx, ny, nz, frames].map((n, a) => (a === axis ? 2 : n)) as unknown as typeof known.base.extent;
  const with2 = <T>(own: readonly T[], two: T) => own.map((one, a) => (a === axis ? two : one)) as unknown as [T, T, T];
  const along = dataset.axes[axis];
  const base = {
    ...known.base,
    extent,
    kept: [0, 1, 2, 3].map((a) => a === axis) as unknown as typeof known.base.kept,
    coordinates: with2(known.base.coordinates, Float64Array.of(coordinateOf(along, 0), coordinateOf(along, nodes - 1))),
    weights: with2(known.base.weights, null),
  };
  const ends = { ...known, base, first: with2(known.first, 0), stride: with2(known.stride, nodes - 1) };
  const reductions = [{ kind: "moments", of: 0, order: 1 } as const];
  const merged = await means.reduce(reductionOf(ends, { columns: [text], reductions }), ends);
  const slopes = merged.states(0).map((state) => Math.abs((state as Moments).mean));
  return Math.sqrt((nu * slopes.reduce((sum, one) => sum + one, 0)) / slopes.length);
}
