/**
 * Moves particles: Heun's method or the classical Runge-Kutta method for tracers, an exponential predictor-corrector
 * for drag; written against `sample` alone.
 */
import { type Outlet, type Step, settle } from "./exits.js";
import { clampToDomain } from "./stencil.js";
import type { Axes, Triple, VelocitySampler } from "./types.js";

/** A remaining time too short for its own step. */
const ARRIVED = 1e-5;

/** Parameters that all particles of an integration share. */
export interface PathParameters {
  readonly axes: Axes;
  /** Velocity of the grid: node i of an axis is at its coordinate plus this times t. */
  readonly frameVelocity: Triple;
  /** Fluid velocity, in the resting frame, at positions given in the frame of the grid. */
  readonly sample: VelocitySampler;
  /** Time of the first position. */
  readonly start: number;
  /** Step, negative for tracking backward, and number of steps. */
  readonly step: number;
  readonly steps: number;
  /** Length of the last step if it is another. */
  readonly last?: number;
  /**
   * The part of the steps to take, all of them if absent: the integration continues after step `from` and is left after
   * step `to`. Between parts positions and velocities stay in the frame of the grid, so that parts one after the other
   * give, bit for bit, what the whole does.
   */
  readonly part?: { readonly from: number; readonly to: number };
  /** Called with the places that a step has reached, relative to the grid, before they are limited; it may move them. */
  readonly scatter?: (step: Step, places: Float64Array) => void;
  /**
   * Absent: every face of an axis that is not periodic is a wall. An integration in parts hands it from one to the
   * next.
   */
  readonly outlet?: Outlet;
  /**
   * Asked after every step, with the number of particles that tried one; true ends it before the last step, so that
   * another can continue from there.
   */
  readonly pause?: (tried: number) => boolean;
  /** Called after every step, counted from 1, with the positions in the resting frame; valid during the call. */
  readonly record?: (step: number, positions: Float64Array) => void;
}

/**
 * Steps taken by one integration when the step must not exceed `longest`: equal ones that end exactly at `end`; none
 * for an empty span.
 */
export function controlledSteps(start: number, end: number, longest: number): { steps: number; step: number } {
  if (start === end) return { steps: 0, step: 0 };
  // The margin keeps a span of n steps, known to float32 only, from becoming n + 1 steps.
  const steps = Math.max(1, Math.ceil(Math.abs(end - start) / longest - 1e-4));
  return { steps, step: (end - start) / steps };
}

/**
 * Steps of length `longest` from `start` to `end`, whichever lies first; the last one is shortened, or lengthened by
 * less than 1e-5, so that it ends there. A span shorter than that has no step.
 *
 * @param longest not 0; its sign does not matter
 */
export function intervalSteps(
  start: number,
  end: number,
  longest: number,
): { steps: number; step: number; last: number } {
  const span = Math.abs(end - start);
  const length = Math.abs(longest);
  const sign = end < start ? -1 : 1;
  const whole = Math.floor(span / length);
  const rest = span - whole * length;
  const steps = rest < ARRIVED ? whole : whole + 1;
  return { steps, step: sign * length, last: steps === 0 ? 0 : sign * (span - (steps - 1) * length) };
}

/**
 * Moves `count` tracers in place: x* = x + h u(x, t), x <- x + h/2 (u(x, t) + u(x*, t + h)). What follows their places
 * in `positions` moves by the rates that `sample` gives for it.
 *
 * Predicted and final positions are limited to axes that are not periodic, or leave by their open faces; on periodic
 * axes they are not wrapped. Error O(h^2). Source: Yu et al., Journal of Turbulence 13 (2012) N12.
 *
 * @param positions x, y, z of each particle in the resting frame; overwritten
 * @returns the last step taken
 */
export function advectTracers(path: PathParameters, positions: Float64Array, count: number): number {
  const size = positions.length;
  const before = new Float64Array(size);
  const after = new Float64Array(size);
  const predicted = new Float64Array(size);
  const advance = (step: Step, next: number) => {
    const { time, length: h } = step;
    sampleInGrid(path, positions, count, time, before);
    for (let i = 0; i < size; i++) predicted[i] = positions[i] + h * before[i];
    keepInside(path, positions, predicted, count, step);
    sampleInGrid(path, predicted, count, next, after);
    for (let i = 0; i < size; i++) predicted[i] = positions[i] + 0.5 * h * (before[i] + after[i]);
    path.scatter?.(step, predicted);
    keepInside(path, positions, predicted, count, step);
    positions.set(predicted);
  };
  if (!continues(path)) shift(path, positions, count, -path.start);
  return integrate(path, positions, count, predicted, advance);
}

/**
 * As `advectTracers`, by the classical Runge-Kutta method:
 *
 *     k1 = u(x, t), k2 = u(x + h/2 k1, t + h/2), k3 = u(x + h/2 k2, t + h/2), k4 = u(x + h k3, t + h),
 *     x <- x + h/6 (k1 + 2 k2 + 2 k3 + k4).
 *
 * Positions of all stages are limited as in `advectTracers`. Error O(h^4) if the velocity is smooth enough.
 * Source: Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I (1993), section II.1.
 *
 * @param positions x, y, z of each particle in the resting frame; overwritten
 * @returns the last step taken
 */
export function advectTracersRk4(path: PathParameters, positions: Float64Array, count: number): number {
  const size = positions.length;
  const [k1, k2, k3, k4, place] = Array.from({ length: 5 }, () => new Float64Array(size));
  /** Samples the velocity at positions + length k, in the frame of the grid. */
  const stage = (step: Step, length: number, k: Float64Array, time: number, out: Float64Array) => {
    for (let i = 0; i < size; i++) place[i] = positions[i] + length * k[i];
    keepInside(path, positions, place, count, { ...step, length });
    sampleInGrid(path, place, count, time, out);
  };
  const advance = (step: Step, next: number) => {
    const { time, length: h } = step;
    const middle = 0.5 * (time + next);
    sampleInGrid(path, positions, count, time, k1);
    stage(step, 0.5 * h, k1, middle, k2);
    stage(step, 0.5 * h, k2, middle, k3);
    stage(step, h, k3, next, k4);
    for (let i = 0; i < size; i++) place[i] = positions[i] + (h / 6) * (k1[i] + 2 * (k2[i] + k3[i]) + k4[i]);
    path.scatter?.(step, place);
    keepInside(path, positions, place, count, step);
    positions.set(place);
  };
  if (!continues(path)) shift(path, positions, count, -path.start);
  return integrate(path, positions, count, place, advance);
}

/**
 * Moves `count` particles with Stokes drag, dx/dt = v, dv/dt = (u - v) / responseTime, in place.
 *
 * Exponential time differencing with a predictor: exact for a fluid velocity linear in time along the path, second
 * order, stable for every step; response time 0 is the Heun tracer. Positions are limited as for tracers, velocities
 * never. Source: Cox and Matthews, Journal of Computational Physics 176 (2002), ETD2RK.
 *
 * @param responseTime >= 0; the step must not be negative
 * @param positions    x, y, z of each particle in the resting frame; overwritten
 * @param velocities   initial velocities, overwritten; null: the fluid's
 * @param room         where velocities are kept that start as the fluid's, for an integration in parts
 * @returns the last step taken
 * @throws RangeError for a negative step or a response time that is negative or NaN
 */
export function advectInertial(
  path: PathParameters,
  responseTime: number,
  positions: Float64Array,
  velocities: Float64Array | null,
  count: number,
  room?: Float64Array,
): number {
  const { start, step } = path;
  if (!(step >= 0 && responseTime >= 0))
    throw new RangeError(`step ${step} and response time ${responseTime} must not be negative`);
  const usual = dragCoefficients(Math.abs(step / responseTime));
  const size = 3 * count;
  const v = velocities ?? room ?? new Float64Array(size);
  const before = new Float64Array(size);
  const after = new Float64Array(size);
  const predicted = new Float64Array(size);
  const advance = (now: Step, next: number) => {
    const { time, length: h } = now;
    const { decay, a, b, c, phi } = h === step ? usual : dragCoefficients(Math.abs(h / responseTime));
    sampleInGrid(path, positions, count, time, before);
    for (let i = 0; i < size; i++) predicted[i] = positions[i] + h * (phi * v[i] + b * before[i]);
    keepInside(path, positions, predicted, count, now);
    sampleInGrid(path, predicted, count, next, after);
    for (let i = 0; i < size; i++) {
      const change = after[i] - before[i];
      predicted[i] += h * c * change;
      v[i] = decay * v[i] + a * before[i] + b * change;
    }
    keepInside(path, positions, predicted, count, now);
    positions.set(predicted);
  };
  if (!continues(path)) {
    shift(path, positions, count, -start);
    if (velocities === null) sampleInGrid(path, positions, count, start, v);
    else subtractFrame(path, v, count);
  }
  return integrate(path, positions, count, predicted, advance);
}

/**
 * exp(-z) and the weights of the fluid velocity and its change in one step of length z response times
 * (0 <= z <= infinity).
 */
export function dragCoefficients(z: number): { decay: number; a: number; b: number; c: number; phi: number } {
  // 0 / 0: no step at all, with a response time of zero; any finite set does.
  if (z === Number.POSITIVE_INFINITY || Number.isNaN(z)) return { decay: 0, a: 1, b: 1, c: 0.5, phi: 0 };
  const decay = Math.exp(-z);
  const a = -Math.expm1(-z);
  if (z < 1e-3) {
    const b = z * (1 / 2 - z * (1 / 6 - z * (1 / 24 - z / 120)));
    const c = z * (1 / 6 - z * (1 / 24 - z * (1 / 120 - z / 720)));
    return { decay, a, b, c, phi: 1 - b };
  }
  const phi = a / z;
  return { decay, a, b: 1 - phi, c: 0.5 - (1 - phi) / z, phi };
}

/**
 * Takes the steps of a path and records them; the positions are in the resting frame after the last.
 * @returns the last step taken
 */
function integrate(
  path: PathParameters,
  positions: Float64Array,
  count: number,
  scratch: Float64Array,
  advance: (step: Step, next: number) => void,
): number {
  const { start, step, steps, last = step, pause, record } = path;
  const { from, to } = path.part ?? { from: 0, to: steps };
  let done = from;
  while (done < to) {
    const length = done + 1 === steps ? last : step;
    advance({ number: done + 1, time: start + done * step, length }, timeAfter(path, done + 1));
    done++;
    if (record) {
      scratch.set(positions.subarray(0, 3 * count));
      shift(path, scratch, count, timeAfter(path, done));
      record(done, scratch);
    }
    if (done < to && pause?.(count)) break;
  }
  if (done === steps) shift(path, positions, count, timeAfter(path, done));
  return done;
}

/** Time after a number of steps of a path. */
export function timeAfter(
  { start, step, steps, last = step }: Pick<PathParameters, "start" | "step" | "steps" | "last">,
  done: number,
): number {
  return done === steps && last !== step ? start + (done - 1) * step + last : start + done * step;
}

/** Whether the integration continues after an earlier part. */
export function continues({ part }: Pick<PathParameters, "part">): boolean {
  return part !== undefined && part.from > 0;
}

/** Fluid velocity relative to the grid. */
function sampleInGrid(
  path: PathParameters,
  positions: Float64Array,
  count: number,
  t: number,
  out: Float64Array,
): void {
  path.sample(positions, count, t, out);
  subtractFrame(path, out, count);
}

/** Makes velocities in the resting frame those relative to the grid; one that lacks a component is missing whole. */
export function subtractFrame(
  { frameVelocity }: Pick<PathParameters, "frameVelocity">,
  velocities: Float64Array,
  count: number,
): void {
  for (let i = 0; i < 3 * count; i += 3) {
    const isKnown = Number.isFinite(velocities[i] + velocities[i + 1] + velocities[i + 2]);
    for (let a = 0; a < 3; a++) velocities[i + a] = isKnown ? velocities[i + a] - frameVelocity[a] : Number.NaN;
  }
}

/** Adds the displacement of the grid at time `t`, or when a particle has left. */
export function shift(
  { frameVelocity, outlet }: Pick<PathParameters, "frameVelocity" | "outlet">,
  positions: Float64Array,
  count: number,
  t: number,
): void {
  for (let a = 0; a < 3; a++) {
    const displacement = frameVelocity[a] * t;
    if (displacement === 0 && (outlet === undefined || frameVelocity[a] === 0)) continue;
    for (let i = 0; i < count; i++) {
      const exit = outlet === undefined ? Number.NaN : outlet.exits[i];
      positions[3 * i + a] += Number.isNaN(exit) ? displacement : frameVelocity[a] * exit;
    }
  }
}

/** Holds particles at walls, or at every face if nothing is open, and ends the paths of particles that leave. */
function keepInside(
  { axes, outlet }: PathParameters,
  from: Float64Array,
  to: Float64Array,
  count: number,
  step: Step,
): void {
  if (outlet === undefined) clampToDomain(axes, to, count);
  else settle(axes, outlet, from, to, count, step);
}
