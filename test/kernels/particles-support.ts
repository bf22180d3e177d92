/** Runs of particles for the tests of advect.ts. */
import { expect } from "vitest";
import { createScheme } from "../../src/kernels/index.js";
import { advectInertial, advectTracers, advectTracersRk4, type PathParameters } from "../../src/kernels/particles.js";
import type { VelocitySampler } from "../../src/kernels/types.js";
import { fieldOf, T16 } from "./fields.js";

const REST = [0, 0, 0] as const;

export function flow(
  u: (x: number, y: number, z: number, t: number) => readonly [number, number, number],
): VelocitySampler {
  return (positions, count, time, out) => {
    for (let i = 0; i < 3 * count; i += 3) {
      out.set(u(positions[i] as number, positions[i + 1] as number, positions[i + 2] as number, time), i);
    }
  };
}

export const rotation = flow((x, y) => [-y, x, 0]);
export const wind = flow(() => [1, 0, 0]);

export function path(
  sample: VelocitySampler,
  step: number,
  steps: number,
  more: Partial<PathParameters> = {},
): PathParameters {
  return { axes: T16.axes, frameVelocity: REST, sample, start: 0, step, steps, ...more };
}

export function trace(
  sample: VelocitySampler,
  step: number,
  steps: number,
  point: readonly number[],
  more: Partial<PathParameters> = {},
  advect: typeof advectTracers = advectTracers,
): number[] {
  const positions = Float64Array.from(point);
  advect(path(sample, step, steps, more), positions, 1);
  return [...positions];
}

/** `trace` by the classical Runge-Kutta method. */
export function traceRk4(...[sample, step, steps, point, more = {}]: Parameters<typeof trace>): number[] {
  return trace(sample, step, steps, point, more, advectTracersRk4);
}

export function drag(
  sample: VelocitySampler,
  step: number,
  steps: number,
  responseTime: number,
  point: readonly number[],
  velocity: readonly number[] | null,
  more: Partial<PathParameters> = {},
): { x: number[]; v: number[] } {
  const positions = Float64Array.from(point);
  const velocities = velocity === null ? null : Float64Array.from(velocity);
  advectInertial(path(sample, step, steps, more), responseTime, positions, velocities, 1);
  return { x: [...positions], v: [...(velocities ?? [])] };
}

export function expectNear(actual: readonly number[], expected: readonly number[], unit: number): void {
  expected.forEach((value, i) => {
    expect(Math.abs((actual[i] as number) - value), `component ${i}`).toBeLessThanOrEqual(unit);
  });
}

const scheme = createScheme("velocity", "Lag8", T16.axes, { fd8Legacy: false });
const field = fieldOf(T16.axes, 3, T16.velocity);
export const turbulence: VelocitySampler = (positions, count, _time, out) =>
  scheme.evaluate([field], positions, 0, count, out);
export const CONVERGED = [1.4218371264, 2.0075045286, 2.6882253497];

export const distance = (a: readonly number[], b: readonly number[]) =>
  Math.hypot(...a.map((x, i) => x - (b[i] as number)));
