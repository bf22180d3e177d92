/**
 * Moves tracers by the method of Dormand and Prince of order 5(4). Each particle has its own steps, which keep a
 * tolerance, and is recorded on the way by the method's continuous extension of order 4.
 */
import { leaves, type Outlet, settle } from "./exits.js";
import { continues, type PathParameters, shift, subtractFrame, timeAfter } from "./particles.js";
import { clampToDomain } from "./stencil.js";
import type { TimedSampler } from "./types.js";

/** Times of the stages 2 to 7 in the step, and factors of k1, k2, ... in their places. */
const C = [1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1] as const;
const A = [
  [1 / 5],
  [3 / 40, 9 / 40],
  [44 / 45, -56 / 15, 32 / 9],
  [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
  [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
  [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
] as const;
/** Factors of k1 .. k7 in the difference of the solutions of order 5 and 4. */
const E = [71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40] as const;
/** Factors of k1 .. k7 in the last coefficient of the continuous extension. */
const D = [
  -12715105075 / 11282082432,
  0,
  87487479700 / 32700410799,
  -10690763975 / 1880347072,
  701980252875 / 199316789632,
  -1453857185 / 822651844,
  69997945 / 29380423,
] as const;

/**
 * The part of the tolerance that estimates may use: interpolated velocities are less smooth than the estimate assumes,
 * and neighbouring paths part. With it 95 % of the paths of turbulence keep the tolerance (docs/accuracy.md).
 */
const SAFETY = 0.05;
/** The part of the tolerance that the shortest steps may use; longer ones use their part of the whole time. */
const MIN_PART = 1e-2;
/** Steps shorter than this part of the whole time are taken whatever their error, as at jumps of the velocity. */
const SHORTEST = 1e-9;
const STAGES = 7;
const TERMS = 5;

/** Parameters of an integration whose particles have their own steps. `step` is the longest first step. */
export interface AdaptivePath extends Omit<PathParameters, "sample"> {
  readonly sample: TimedSampler;
  /** Error of a path at its end that the steps aim at, as a distance. */
  readonly tolerance: number;
}

/** What each particle has between rounds: views of one array, so that another thread can continue. */
interface AdaptiveState {
  /** Time that a particle has reached, the length of its next step, and the steps that it has taken. */
  readonly time: Float64Array;
  readonly length: Float64Array;
  readonly taken: Float64Array;
  /** Time at which it leaves the domain; NaN if it does not. */
  readonly exit: Float64Array;
  /** Velocity at its place. */
  readonly velocity: Float64Array;
  /** Start and length of its last step, and the continuous extension there. */
  readonly begin: Float64Array;
  readonly span: Float64Array;
  readonly terms: Float64Array;
}

/** Numbers that `advectDopri5` keeps for each particle. */
export const DOPRI5_STATE = 6 + 3 + 3 * TERMS;

/** The views of a state of `DOPRI5_STATE * count` numbers. */
export function dopri5State(state: Float64Array, count: number): AdaptiveState {
  let at = 0;
  const take = (size: number): Float64Array => {
    at += size * count;
    return state.subarray(at - size * count, at);
  };
  return {
    ...{ time: take(1), length: take(1), taken: take(1), exit: take(1), velocity: take(3) },
    ...{ begin: take(1), span: take(1), terms: take(3 * TERMS) },
  };
}

/** Scratch for a round: particles that take a step, and their stages, without gaps. */
interface Stages {
  readonly active: Int32Array;
  readonly h: Float64Array;
  readonly times: Float64Array;
  readonly place: Float64Array;
  /** The solution of order 5 before it is limited to the domain. */
  readonly end: Float64Array;
  readonly k: readonly Float64Array[];
  /** 1 for particles with a stage beyond an open face. */
  readonly beyond: Uint8Array;
}

/**
 * Moves `count` tracers in place. A step is repeated with a shorter length if its error, estimated by the solution of
 * order 4, exceeds its part of the tolerance. Places of stages are limited to the domain; a step that passes a wall
 * is halved until it ends there within the tolerance, one that passes an open face until it is straight within it. The
 * steps of a particle depend on no other particle.
 *
 * Source: Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I (1993), sections II.4 to II.6.
 *
 * @param positions x, y, z of each particle in the resting frame; overwritten
 * @param state     `DOPRI5_STATE * count` numbers, which an integration in parts hands from one to the next
 * @param resumed   whether `positions` and `state` continue an integration that has paused
 * @returns the last of the path's steps that all particles have passed
 */
export function advectDopri5(
  path: AdaptivePath,
  positions: Float64Array,
  count: number,
  state: Float64Array = new Float64Array(DOPRI5_STATE * count),
  resumed = continues(path),
): number {
  const { steps, start, pause, record } = path;
  const now = dopri5State(state, count);
  const stages = stagesOf(count);
  const end = timeAfter(path, steps);
  if (!resumed) {
    shift(path, positions, count, -start);
    begin(path, now, positions, count, end);
  }
  for (let done = path.part?.from ?? 0; done < steps; done++) {
    const target = timeAfter(path, done + 1);
    for (let tried = advance(path, now, positions, stages, target, end); tried > 0; ) {
      if (pause?.(tried)) return done;
      tried = advance(path, now, positions, stages, target, end);
    }
    if (path.outlet) noteExits(path.outlet, now, target, end - start);
    record?.(done + 1, placesAt(path, now, positions, count, target, stages.place));
  }
  shift(path, positions, count, end);
  return steps;
}

function stagesOf(count: number): Stages {
  const [times, h] = [new Float64Array(count), new Float64Array(count)];
  const [place, end] = [new Float64Array(3 * count), new Float64Array(3 * count)];
  const k = Array.from({ length: STAGES }, () => new Float64Array(3 * count));
  return { active: new Int32Array(count), h, times, place, end, k, beyond: new Uint8Array(count) };
}

function begin(path: AdaptivePath, now: AdaptiveState, positions: Float64Array, count: number, end: number): void {
  now.time.fill(path.start);
  now.begin.fill(path.start);
  now.length.fill(Math.min(Math.abs(path.step), Math.abs(end - path.start)));
  now.exit.fill(Number.NaN);
  if (path.steps === 0) return;
  path.sample(positions, count, now.time, now.velocity);
  subtractFrame(path, now.velocity, count);
}

/** Tries a step of each particle that has not reached `target`. Returns the number of such particles. */
function advance(
  path: AdaptivePath,
  now: AdaptiveState,
  positions: Float64Array,
  stages: Stages,
  target: number,
  end: number,
): number {
  const { active, h, times, place, k, beyond } = stages;
  const sign = Math.sign(end - path.start);
  let size = 0;
  for (let i = 0; i < now.time.length; i++) {
    if (sign * (target - now.time[i]) <= 0) continue;
    const rest = end - now.time[i];
    h[size] = Math.abs(rest) <= now.length[i] * (1 + 1e-9) ? rest : sign * now.length[i];
    for (let c = 0; c < 3; c++) k[0][3 * size + c] = now.velocity[3 * i + c];
    active[size++] = i;
  }
  if (size === 0) return 0;
  beyond.fill(0);
  for (let s = 1; s < STAGES; s++) {
    for (let j = 0; j < size; j++) {
      const i = active[j];
      times[j] = h[j] === end - now.time[i] && C[s - 1] === 1 ? end : now.time[i] + C[s - 1] * h[j];
      for (let c = 0; c < 3; c++) place[3 * j + c] = positions[3 * i + c] + h[j] * combined(A[s - 1], k, 3 * j + c);
      if (path.outlet && leaves(path.axes, path.outlet.walls, place, j)) beyond[j] = 1;
    }
    if (s === STAGES - 1) stages.end.set(place);
    clampToDomain(path.axes, place, size);
    path.sample(place, size, times, k[s]);
    subtractFrame(path, k[s], size);
  }
  for (let j = 0; j < size; j++) judge(path, now, positions, stages, j, end);
  return size;
}

/** The sum of `factors[s] * k[s][at]`. */
function combined(factors: readonly number[], k: readonly Float64Array[], at: number): number {
  let sum = 0;
  for (let s = 0; s < factors.length; s++) sum += factors[s] * k[s][at];
  return sum;
}

function norm(x: number, y: number, z: number): number {
  return Math.sqrt(x * x + y * y + z * z);
}

/** Accepts the step of entry `j`, ends its path at an open face, or has it repeated with a shorter length. */
function judge(
  path: AdaptivePath,
  now: AdaptiveState,
  positions: Float64Array,
  stages: Stages,
  j: number,
  end: number,
): void {
  const { active, h, k, beyond } = stages;
  const i = active[j];
  const length = Math.abs(h[j]);
  if (beyond[j] === 1) {
    if (bendOf(positions, stages, j) > path.tolerance && length > SHORTEST * Math.abs(end - path.start)) {
      now.length[i] = length / 2;
      return;
    }
    if (path.outlet && hasLeft(path, path.outlet, now, positions, stages, j, end)) return;
  }
  const whole = Math.abs(end - path.start);
  if (length > SHORTEST * whole && overshootOf(positions, stages, j) > path.tolerance) {
    now.length[i] = length / 2;
    return;
  }
  const allowed = SAFETY * path.tolerance * Math.max(length / whole, MIN_PART);
  const error = length * norm(combined(E, k, 3 * j), combined(E, k, 3 * j + 1), combined(E, k, 3 * j + 2));
  if (Number.isNaN(error)) {
    // Up to a hole in the data steps become as short as the tolerance; from there on there are no places.
    const reach = length * norm(k[0][3 * j], k[0][3 * j + 1], k[0][3 * j + 2]);
    if (reach > path.tolerance && length > SHORTEST * whole) now.length[i] = length / 2;
    else lose(now, positions, i, end);
    return;
  }
  const next = length * Math.min(5, Math.max(0.2, 0.9 * (allowed / error) ** 0.2));
  if (error > allowed && length > SHORTEST * whole) now.length[i] = next;
  else accept(now, positions, stages, j, next, end);
}

/** Distance between the ends of a step and of a straight step. */
function bendOf(positions: Float64Array, { active, h, k, end }: Stages, j: number): number {
  const off = (c: number): number => end[3 * j + c] - positions[3 * active[j] + c] - h[j] * k[0][3 * j + c];
  return norm(off(0), off(1), off(2));
}

/** How far a step goes beyond walls that the particle was not at. */
function overshootOf(positions: Float64Array, { active, place, end }: Stages, j: number): number {
  let most = 0;
  for (let c = 0; c < 3; c++) {
    const held = place[3 * j + c];
    if (positions[3 * active[j] + c] !== held) most = Math.max(most, Math.abs(end[3 * j + c] - held));
  }
  return most;
}

/** Ends the path of a particle whose velocity is not known: it has no place any more. */
function lose(now: AdaptiveState, positions: Float64Array, i: number, end: number): void {
  now.begin[i] = now.time[i];
  now.span[i] = end - now.time[i];
  for (let c = 0; c < 3; c++) {
    positions[3 * i + c] = Number.NaN;
    setTerms(now, 3 * i + c, Number.NaN, 0, 0, 0, 0);
  }
  now.time[i] = end;
}

function accept(
  now: AdaptiveState,
  positions: Float64Array,
  { active, h, place, k }: Stages,
  j: number,
  next: number,
  end: number,
): void {
  const i = active[j];
  for (let c = 0; c < 3; c++) {
    const at = 3 * j + c;
    const to = 3 * i + c;
    const whole = place[at] - positions[to];
    const bent = h[j] * k[0][at] - whole;
    const last = whole - h[j] * k[6][at] - bent;
    setTerms(now, to, positions[to], whole, bent, last, h[j] * combined(D, k, at));
    positions[to] = place[at];
    now.velocity[to] = k[6][at];
  }
  now.begin[i] = now.time[i];
  now.span[i] = h[j];
  now.time[i] = h[j] === end - now.time[i] ? end : now.time[i] + h[j];
  now.length[i] = next;
  now.taken[i]++;
}

/** Sets the coefficients of the continuous extension of a coordinate. */
function setTerms(
  { terms }: AdaptiveState,
  coordinate: number,
  x: number,
  whole: number,
  bent: number,
  last: number,
  more: number,
): void {
  const at = TERMS * coordinate;
  terms[at] = x;
  terms[at + 1] = whole;
  terms[at + 2] = bent;
  terms[at + 3] = last;
  terms[at + 4] = more;
}

/** Ends the path of a particle whose straight step passes an open face; false if the step ends inside. */
function hasLeft(
  { axes }: AdaptivePath,
  outlet: Outlet,
  now: AdaptiveState,
  positions: Float64Array,
  stages: Stages,
  j: number,
  end: number,
): boolean {
  const i = stages.active[j];
  const from = positions.slice(3 * i, 3 * i + 3);
  const to = stages.end.slice(3 * j, 3 * j + 3);
  const exits = Float64Array.of(Number.NaN);
  const leave: Outlet["leave"] = (_, axis, step) => outlet.leave(i, axis, step);
  const step = { number: now.taken[i] + 1, time: now.time[i], length: stages.h[j] };
  settle(axes, { ...outlet, exits, leave }, from, to, 1, step);
  if (Number.isNaN(exits[0])) return false;
  for (let c = 0; c < 3; c++) setTerms(now, 3 * i + c, positions[3 * i + c], to[c] - positions[3 * i + c], 0, 0, 0);
  positions.set(to, 3 * i);
  now.begin[i] = now.time[i];
  now.span[i] = exits[0] - now.time[i];
  now.exit[i] = exits[0];
  now.time[i] = end;
  now.taken[i]++;
  return true;
}

/** Tells the exits up to a time. */
function noteExits({ exits }: Outlet, { exit }: AdaptiveState, time: number, direction: number): void {
  for (let i = 0; i < exit.length; i++) if (direction * (time - exit[i]) >= 0) exits[i] = exit[i];
}

/** The places at a time that every particle has passed, in the resting frame. */
function placesAt(
  path: AdaptivePath,
  { begin, span, terms }: AdaptiveState,
  positions: Float64Array,
  count: number,
  time: number,
  out: Float64Array,
): Float64Array {
  for (let c = 0; c < 3 * count; c++) {
    const i = Math.floor(c / 3);
    const theta = (time - begin[i]) / span[i];
    const rest = 1 - theta;
    const at = TERMS * c;
    const bend = terms[at + 2] + theta * (terms[at + 3] + rest * terms[at + 4]);
    out[c] = theta < 1 ? terms[at] + theta * (terms[at + 1] + rest * bend) : positions[c];
  }
  clampToDomain(path.axes, out, count);
  shift(path, out, count, time);
  return out;
}
