/** Gradients of flow maps by the variational equation, and their stretching, against closed forms. */
import { describe, expect, it } from "vitest";
import { FLOW_MAP_STATE, flowMapRates, startFlowMap, stretchesOf } from "../../src/kernels/flow-map.js";
import { advectTracers, advectTracersRk4 } from "../../src/kernels/particles.js";
import type { VelocitySampler } from "../../src/kernels/types.js";
import { expectNear, flow, path } from "./particles-support.js";

function gradient(A: (x: number, y: number, z: number, t: number) => readonly number[]): VelocitySampler {
  return (positions, count, time, out) => {
    for (let i = 0; i < count; i++) {
      const [x = 0, y = 0, z = 0] = positions.subarray(3 * i, 3 * i + 3);
      out.set(A(x, y, z, time), 9 * i);
    }
  };
}

function mapOf(
  velocity: VelocitySampler,
  gradients: VelocitySampler,
  points: readonly number[],
  step: number,
  steps: number,
  advect = advectTracersRk4,
): number[] {
  const count = points.length / 3;
  const state = new Float64Array(FLOW_MAP_STATE * count);
  state.set(points);
  startFlowMap(state, count);
  advect(path(flowMapRates(velocity, gradients, count), step, steps), state, count);
  return [...state];
}

describe("the variational equation", () => {
  it("gives the exponential of a constant gradient: strain and rotation", () => {
    const strain = gradient(() => [1, 0, 0, 0, -1, 0, 0, 0, 0]);
    const strained = mapOf(
      flow((x, y) => [x, -y, 0]),
      strain,
      [0.1, 0.2, 0.3, 1, 1, 1],
      0.01,
      100,
    );
    const e = Math.E;
    for (const at of [6, 15]) expectNear(strained.slice(at, at + 9), [e, 0, 0, 0, 1 / e, 0, 0, 0, 1], 1e-9);
    const turned = mapOf(
      flow((x, y) => [-y, x, 0]),
      gradient(() => [0, -1, 0, 1, 0, 0, 0, 0, 0]),
      [1, 0, 0],
      -0.01,
      100,
    );
    const [c, s] = [Math.cos(1), Math.sin(1)];
    expectNear(turned, [c, -s, 0, c, s, 0, -s, c, 0, 0, 0, 1], 1e-9);
  });

  it("gives the difference of neighbouring paths, to the order of the steps", () => {
    const u = (x: number, y: number, z: number, t: number) =>
      [Math.sin(y + t), Math.cos(z) * x, Math.sin(x) - t] as const;
    const A = gradient((x, y, z, t) => [0, Math.cos(y + t), 0, Math.cos(z), 0, -Math.sin(z) * x, Math.cos(x), 0, 0]);
    for (const advect of [advectTracers, advectTracersRk4]) {
      const F = mapOf(flow(u), A, [0.3, 0.4, 0.5], 0.02, 50, advect).slice(3);
      const h = 1e-5;
      for (let b = 0; b < 3; b++) {
        const end = (sign: number) => {
          const point = [0.3, 0.4, 0.5].map((value, c) => value + (c === b ? sign * h : 0));
          return mapOf(flow(u), A, point, 0.02, 50, advect);
        };
        const [ahead, behind] = [end(1), end(-1)];
        for (let a = 0; a < 3; a++)
          expect(F[3 * a + b]).toBeCloseTo(((ahead[a] as number) - (behind[a] as number)) / (2 * h), 8);
      }
    }
  });
});

describe("stretchesOf", () => {
  it("are the squares of the stretches of a rotated diagonal", () => {
    const [c, s] = [Math.cos(0.7), Math.sin(0.7)];
    const [C, S] = [Math.cos(-1.1), Math.sin(-1.1)];
    const product = (P: number[], Q: number[]) =>
      P.map((_, i) =>
        [0, 1, 2].reduce(
          (sum, m) => sum + (P[3 * Math.floor(i / 3) + m] as number) * (Q[3 * m + (i % 3)] as number),
          0,
        ),
      );
    const Z = [c, -s, 0, s, c, 0, 0, 0, 1];
    const X = [1, 0, 0, 0, C, -S, 0, S, C];
    for (const stretches of [
      [3, 0.5, 2],
      [1e4, 1e-2, 1],
      [1, 1, 1],
    ]) {
      const D = [stretches[0], 0, 0, 0, stretches[1], 0, 0, 0, stretches[2]] as number[];
      const F = Float64Array.from([9, ...product(product(Z, X), product(D, product(X, Z)))]);
      const expected = stretches.map((stretch) => stretch ** 2).sort((a, b) => a - b);
      for (const [i, value] of stretchesOf(F, 1).entries())
        expect(Math.abs(value - (expected[i] as number))).toBeLessThan(1e-14 * (expected[2] as number));
    }
  });
});
