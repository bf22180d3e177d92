/** Ends the paths of particles that leave the domain: at walls they are held, through open faces they leave. */
import { axisEnd, axisStart, slackOf } from "./stencil.js";
import type { Axes, Walls } from "./types.js";

/** Open faces of a domain, and the particles that have left through them. */
export interface Outlet {
  /** Of x, y, z; meaningless on periodic axes. */
  readonly walls: readonly [Walls, Walls, Walls];
  /** Time at which each particle has left; NaN while it is inside. */
  readonly exits: Float64Array;
  /** Called when a particle leaves through a face of `axis`; it may throw. */
  readonly leave: (particle: number, axis: number, step: Step) => void;
}

/** A step of all particles: its number from 1, its start, and its length, negative backward. */
export interface Step {
  readonly number: number;
  readonly time: number;
  readonly length: number;
}

/**
 * Holds particles that a step moves beyond walls, and ends the paths of those that it moves beyond open faces by more
 * than `slackOf`. A path is straight within the step: place and time of the exit are of second order, as the
 * step is.
 *
 * @param from positions at the start of the step, relative to the grid; those of leaving particles become the exits
 * @param to   positions after it; changed if they are outside
 */
export function settle(
  axes: Axes,
  outlet: Outlet,
  from: Float64Array,
  to: Float64Array,
  count: number,
  step: Step,
): void {
  const { walls, exits } = outlet;
  const low = axes.map(axisStart);
  const high = axes.map(axisEnd);
  const slack = axes.map(slackOf);
  for (let i = 0; i < count; i++) {
    if (!Number.isNaN(exits[i])) {
      for (let c = 3 * i; c < 3 * i + 3; c++) to[c] = from[c];
      continue;
    }
    let until = 2;
    let face = -1;
    for (let a = 0; a < 3; a++) {
      if (axes[a].periodic) continue;
      const c = 3 * i + a;
      const end = to[c] < low[a] ? low[a] : high[a];
      const beyond = to[c] < low[a] ? low[a] - to[c] : to[c] - high[a];
      if (!(beyond > 0)) continue;
      if (walls[a][end === low[a] ? 0 : 1] || beyond <= slack[a]) {
        to[c] = end;
        continue;
      }
      const here = Math.max(0, (end - from[c]) / (to[c] - from[c]));
      if (here < until) [until, face] = [here, a];
    }
    if (face < 0) continue;
    outlet.leave(i, face, step);
    exits[i] = step.time + until * step.length;
    for (let a = 0; a < 3; a++) {
      const c = 3 * i + a;
      const place = from[c] + until * (to[c] - from[c]);
      to[c] = axes[a].periodic ? place : Math.min(Math.max(place, low[a]), high[a]);
      from[c] = to[c];
    }
  }
}

/** Reflects places beyond walls, as often as needed between two. */
export function reflect(axes: Axes, walls: Outlet["walls"], places: Float64Array, count: number): void {
  for (let a = 0; a < 3; a++) {
    const [low, high] = [axisStart(axes[a]), axisEnd(axes[a])];
    const [atLow, atHigh] = axes[a].periodic ? [false, false] : walls[a];
    for (let c = a; c < 3 * count; c += 3) {
      if (atLow && atHigh && (places[c] < low || places[c] > high)) {
        const off = Math.abs(places[c] - low) % (2 * (high - low));
        places[c] = low + Math.min(off, 2 * (high - low) - off);
      } else if (atLow && places[c] < low) places[c] = 2 * low - places[c];
      else if (atHigh && places[c] > high) places[c] = 2 * high - places[c];
    }
  }
}

/** Whether the place of particle `i` is beyond an open face, by more than `slackOf`. */
export function leaves(axes: Axes, walls: Outlet["walls"], places: Float64Array, i: number): boolean {
  for (let a = 0; a < 3; a++) {
    const axis = axes[a];
    if (axis.periodic) continue;
    const slack = slackOf(axis);
    const x = places[3 * i + a];
    if ((!walls[a][0] && x < axisStart(axis) - slack) || (!walls[a][1] && x > axisEnd(axis) + slack)) return true;
  }
  return false;
}

/** Whether particles can leave a domain: an axis is not periodic and one of its faces has no wall. */
export function isOpen(axes: Axes, walls: Outlet["walls"]): boolean {
  return axes.some(({ periodic }, a) => !periodic && !(walls[a][0] && walls[a][1]));
}
