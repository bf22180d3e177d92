/** Computes invariants of velocity gradients: the squared strain and rotation, and the second invariant Q. */

/**
 * S_ij S_ij, O_ij O_ij and half their difference O - S: symmetric and antisymmetric part of du_i/dx_j, rows by
 * component.
 */
export function invariantsOf(gradients: ArrayLike<number>, at: number, out: Float64Array, to: number): void {
  let squares = 0;
  let crossed = 0;
  for (let i = 0; i < 3; i++) {
    for (let j = 0; j < 3; j++) {
      const entry = gradients[at + 3 * i + j];
      squares += entry * entry;
      crossed += entry * gradients[at + 3 * j + i];
    }
  }
  const strain = (squares + crossed) / 2;
  const rotation = (squares - crossed) / 2;
  out[to] = strain;
  out[to + 1] = rotation;
  out[to + 2] = (rotation - strain) / 2;
}

/** Magnitude of the curl of the velocity. */
export function vorticityOf(gradients: ArrayLike<number>, at: number): number {
  const x = gradients[at + 7] - gradients[at + 5];
  const y = gradients[at + 2] - gradients[at + 6];
  const z = gradients[at + 3] - gradients[at + 1];
  return Math.sqrt(x * x + y * y + z * z);
}

/** Second invariant -(du_i/dx_j du_j/dx_i) / 2 of a flow without divergence, in its expanded form. */
export function secondInvariantOf(g: ArrayLike<number>, at: number): number {
  const diagonal = g[at] * g[at + 4] + g[at] * g[at + 8] + g[at + 4] * g[at + 8];
  return diagonal - g[at + 1] * g[at + 3] - g[at + 2] * g[at + 6] - g[at + 5] * g[at + 7];
}
