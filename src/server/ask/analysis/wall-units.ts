/** Wall units: the friction velocity of a mean between two walls, and the distance from the nearer one. */
import type { GroupAnswer } from "../../../analysis/reductions.js";
import { wrong } from "../faults.js";
import { coordinateOf } from "../question/where.js";
import type { AnalysedNodes, AxisNumber } from "./analysed-nodes.js";
import { AXES, DIRECTIONS, LETTERS, regrouped, replacedAlong } from "./analysed-nodes.js";
import { type Analysis, momentsOf } from "./analysis.js";
import { withMeans } from "./means.js";

export interface WallUnits {
  readonly u_tau: number;
  readonly nu: number;
  readonly about: GroupAnswer;
}

/**
 * u_tau = sqrt(nu (|dU/dy| at one wall + at the other) / 2), U the mean of u.x over the other directions at the times of
 * the question, the walls the ends of the only open axis, or its one wall; or the number that is given.
 */
export async function wallUnitsOf(analysis: Analysis): Promise<WallUnits> {
  const { question, dataset, nodes } = analysis;
  const [axis, ...more] = AXES.filter((a) => !dataset.axes[a].periodic);
  const nu = dataset.viscosity;
  if (axis === undefined || more.length > 0) throw wrong("units", "wall units need one axis that is not periodic");
  if (nu === undefined) throw wrong("units", "wall units need nu, and the dataset states no viscosity");
  const letter = LETTERS[axis];
  const along = dataset.axes[axis];
  const ends = [coordinateOf(along, 0), coordinateOf(along, along.nodes - 1)];
  const [low = Number.NaN, high = Number.NaN] = along.edges === undefined ? ends : [along.edges[0], along.edges.at(-1)];
  const walls = dataset.walls[axis];
  const isWall = (_: unknown, end: number): boolean => walls[0] === walls[1] || walls[end] === true;
  if (question.u_tau === undefined && String([low, high].filter(isWall)) !== String(ends.filter(isWall)))
    throw wrong("units", `no node lies at the walls, ${letter} = ${low} and ${high}, for their slopes: give u_tau`);
  const slope = `d(mean(u.x), ${letter})`;
  const slopes = question.u_tau === undefined ? (await slopesAtWalls(slope, axis, analysis)).filter(isWall) : [];
  const u_tau = question.u_tau ?? Math.sqrt((nu * slopes.reduce((sum, one) => sum + one, 0)) / slopes.length);
  if (!(u_tau > 0)) throw wrong("u_tau", "the mean has no slope at the walls");
  const far = (at: number): number => Math.min(...[at - low, high - at].filter(isWall));
  const all = [...nodes.base.coordinates[axis]].map((at) => (far(at) * u_tau) / nu);
  const plus = question.fold?.startsWith(letter) ? all.slice(0, Math.ceil(all.length / 2)) : all;
  const source = ["given", `${slope} at the wall of ${letter}`, `${slope} at both ends of ${letter}`][slopes.length];
  return { u_tau, nu, about: { wall_units: { u_tau, source, nu, [`${letter}_plus`]: plus } } };
}

async function slopesAtWalls(slope: string, axis: AxisNumber, analysis: Analysis): Promise<readonly number[]> {
  const over = DIRECTIONS.filter((one) => one !== LETTERS[axis]);
  const known = (await withMeans(analysis, [slope], over, "units")).analysis;
  const kept = [0, 1, 2, 3].map((a) => a === axis) as unknown as AnalysedNodes["base"]["kept"];
  const step = known.dataset.axes[axis].nodes - 1;
  const ends = replacedAlong(known.nodes, kept, () => ({ first: 0, count: 2, step }));
  const [slopes = []] = await momentsOf(known, regrouped(ends, kept), [slope]);
  return slopes.map(({ mean }) => Math.abs(mean));
}
