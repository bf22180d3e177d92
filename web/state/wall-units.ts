/** This file puts a mean velocity profile between two walls into wall units. */

/** A profile in wall units, by the distance from each wall up to the middle between them. */
export interface WallProfile {
  /** Friction velocity: the root of viscosity times the mean shear at the walls. */
  readonly friction: number;
  /** Reynolds number of friction velocity and half the distance of the walls. */
  readonly reynolds: number;
  /** Distances from the wall, over the viscous length. */
  readonly distance: readonly number[];
  /** Mean velocity relative to the wall over the friction velocity, from the first and from the last wall. */
  readonly fromFirst: readonly number[];
  readonly fromLast: readonly number[];
}

/** The law u+ = ln(y+)/KARMAN + OFFSET (Pope, Turbulent Flows, section 7.1.4). */
export const KARMAN = 0.41;
export const OFFSET = 5.2;
/** About where it meets u+ = y+. */
const MEETING = 11;

/** The value at a place between the nodes of ascending places, by straight lines. */
function between(places: readonly number[], values: readonly number[], at: number): number {
  const i = Math.max(
    1,
    places.findIndex((place) => place >= at),
  );
  const [x0, x1, v0, v1] = [places[i - 1], places[i], values[i - 1], values[i]] as [number, number, number, number];
  return v0 + ((v1 - v0) * (at - x0)) / (x1 - x0);
}

/** The derivative at the first of three places, of the parabola through them. */
function endSlope([x0, x1, x2]: readonly number[], [v0, v1, v2]: readonly number[]): number {
  const [a, b] = [(x1 as number) - (x0 as number), (x2 as number) - (x0 as number)];
  const [da, db] = [(v1 as number) - (v0 as number), (v2 as number) - (v0 as number)];
  return (da * b * b - db * a * a) / (a * b * (b - a));
}

/**
 * The profile in wall units; null if nothing shears at the walls, or of too few nodes or no viscosity.
 *
 * @param places    coordinates of the nodes from wall to wall, ascending, at least 5
 * @param mean      mean of a velocity along the walls at these nodes
 * @param viscosity kinematic, in the units of the dataset
 */
export function wallProfile(places: readonly number[], mean: readonly number[], viscosity: number): WallProfile | null {
  const last = places.length - 1;
  if (last < 4 || !(viscosity > 0)) return null;
  const [low, high] = [places[0] as number, places[last] as number];
  const slopes = [endSlope(places, mean), endSlope(places.toReversed(), mean.toReversed())];
  const friction = Math.sqrt((viscosity * slopes.reduce((sum, slope) => sum + Math.abs(slope), 0)) / 2);
  if (!(friction > 0)) return null;
  const half = (high - low) / 2;
  const away = places.map((place) => place - low).filter((d) => d > 0 && d <= half * (1 + 1e-9));
  const relative = (wall: number, sense: 1 | -1) =>
    away.map((d) => (between(places, mean, wall + sense * d) - (mean[sense > 0 ? 0 : last] as number)) / friction);
  return {
    friction,
    reynolds: (friction * half) / viscosity,
    distance: away.map((d) => (d * friction) / viscosity),
    fromFirst: relative(low, 1),
    fromLast: relative(high, -1),
  };
}

/** A covariance of velocities in wall units, at the distances of a profile. */
export interface WallStress {
  readonly name: string;
  /** Its name in a table. */
  readonly column: string;
  /** Mean of both halves, over the square of the friction velocity. */
  readonly values: readonly number[];
}

/** A profile in wall units with the stresses of the fluctuations. */
export type WallUnits = WallProfile & { readonly stresses: readonly WallStress[] };

/**
 * A covariance in wall units.
 *
 * @param places     coordinates of the nodes from wall to wall, as for the profile
 * @param covariance at these nodes
 * @param sense      its sign from the last wall: -1 if it is one with the velocity across the walls
 */
export function wallStress(
  places: readonly number[],
  covariance: readonly number[],
  { friction, distance, reynolds }: WallProfile,
  sense: 1 | -1,
): number[] {
  const [low, high] = [places[0] as number, places.at(-1) as number];
  return distance.map((at) => {
    const away = (at / reynolds) * ((high - low) / 2);
    const [first, last] = [between(places, covariance, low + away), between(places, covariance, high - away)];
    return (first + sense * last) / (2 * friction ** 2);
  });
}

/** What is usual near a smooth wall: u+ = y+ next to it and the logarithmic law further out; NaN elsewhere. */
export function lawOfTheWall(distance: readonly number[]): { readonly viscous: number[]; readonly log: number[] } {
  return {
    viscous: distance.map((y) => (y <= MEETING ? y : Number.NaN)),
    log: distance.map((y) => (y >= MEETING ? Math.log(y) / KARMAN + OFFSET : Number.NaN)),
  };
}
