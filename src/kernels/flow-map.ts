/**
 * Integrates the gradient F of a flow map along each path by the variational equation dF/dt = A F, A_ij = du_i/dx_j,
 * and measures its stretching. Source: Haller, Annual Review of Fluid Mechanics 47 (2015), section 2.
 */
import type { VelocitySampler } from "./types.js";

/** Numbers a particle of a state: its place and the gradient, row by row. */
export const FLOW_MAP_STATE = 3 + 9;

/**
 * Sets the gradients of maps to the identity, which they are at the start.
 *
 * @param state places of `count` particles, then the gradients of their maps, all 0
 */
export function startFlowMap(state: Float64Array, count: number): void {
  for (let i = 3 * count; i < FLOW_MAP_STATE * count; i += 9) for (let a = 0; a < 3; a++) state[i + 4 * a] = 1;
}

/**
 * The rates of such a state: velocities, then A F.
 *
 * @param velocity the velocity at places
 * @param gradient its gradient there, nine numbers a particle, row by row
 */
export function flowMapRates(velocity: VelocitySampler, gradient: VelocitySampler, count: number): VelocitySampler {
  const gradients = new Float64Array(9 * count);
  return (state, particles, time, out) => {
    velocity(state, particles, time, out);
    gradient(state, particles, time, gradients);
    for (let i = 0; i < particles; i++) {
      const at = 3 * particles + 9 * i;
      for (let a = 0; a < 3; a++)
        for (let b = 0; b < 3; b++) {
          const row = 9 * i + 3 * a;
          out[at + 3 * a + b] =
            gradients[row] * state[at + b] +
            gradients[row + 1] * state[at + 3 + b] +
            gradients[row + 2] * state[at + 6 + b];
        }
    }
  };
}

/** Rounds of rotations, which converge quadratically. */
const ROUNDS = 12;

/**
 * The eigenvalues of the Cauchy-Green tensor F^T F of the gradient at `F[at]`, ascending, by Jacobi's rotations.
 * Source: Golub and Van Loan, Matrix Computations (2013), section 8.5.
 */
export function stretchesOf(F: Float64Array, at: number): readonly [number, number, number] {
  const C = [0, 1, 2].map((a) =>
    [0, 1, 2].map((b) => F[at + a] * F[at + b] + F[at + 3 + a] * F[at + 3 + b] + F[at + 6 + a] * F[at + 6 + b]),
  );
  for (let round = 0; round < ROUNDS; round++)
    for (const [p, q, r] of [
      [0, 1, 2],
      [0, 2, 1],
      [1, 2, 0],
    ]) {
      if (C[p][q] === 0) continue;
      const theta = (C[q][q] - C[p][p]) / (2 * C[p][q]);
      const t = Math.sign(theta || 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
      const c = 1 / Math.sqrt(t * t + 1);
      const s = t * c;
      const off = C[p][q];
      C[p][p] -= t * off;
      C[q][q] += t * off;
      C[p][q] = C[q][p] = 0;
      const [x, y] = [C[r][p], C[r][q]];
      C[r][p] = C[p][r] = c * x - s * y;
      C[r][q] = C[q][r] = s * x + c * y;
    }
  const [low, middle, high] = [C[0][0], C[1][1], C[2][2]].sort((a, b) => a - b);
  return [low, middle, high];
}
