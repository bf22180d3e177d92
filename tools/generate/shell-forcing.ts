/** Computes the forcing that holds the energy of the two lowest wavenumber shells. */
import type { Modes, Spectral } from "./modes.js";

/** Energy kept in the shells 0.5 <= |k| <= 1.5 and 1.5 < |k| <= 2.5. */
export const SHELL_ENERGY: readonly number[] = [0.3, 0.13];

/**
 * Rates alpha_s of the force f = alpha_s u of each forced shell.
 *
 * Rescaling the velocity of a shell to its target energy after every time step is, as the step goes to zero, a force
 * along the velocity with the power that viscosity and the transfer to other shells take away: alpha_s = (D_s - T_s) /
 * (2 e_s), e_s = sum |u|^2 / 2, D_s = nu sum k^2 |u|^2, T_s = sum Re(u* . N). As a function of the state alone it is
 * smooth in time, so that stored coefficients a few steps apart still resolve the energy budget.
 *
 * @param nonlinear solenoidal part of -d(u_i u_j)/dx_j, the same modes as `velocity`
 */
export function forcingRates(modes: Modes, velocity: Float64Array, nonlinear: Float64Array, nu: number): number[] {
  const energy = SHELL_ENERGY.map(() => 0);
  const loss = SHELL_ENERGY.map(() => 0);
  for (const m of forcedModes(modes)) {
    const s = modes.shell[m] - 1;
    let square = 0;
    let transfer = 0;
    for (let e = 6 * m; e < 6 * m + 6; e++) {
      const u = velocity[e];
      square += u * u;
      transfer += u * nonlinear[e];
    }
    // Each retained mode stands for itself and its conjugate.
    energy[s] = energy[s] + square;
    loss[s] = loss[s] + 2 * (nu * modes.square[m] * square - transfer);
  }
  return energy.map((e, s) => loss[s] / (2 * e));
}

/** The modes that are forced, by index, in the order of `modes`: 40, one of each pair. */
export function forcedModes(modes: Modes): readonly number[] {
  const known = FORCED.get(modes) ?? [...modes.shell.keys()].filter((m) => modes.shell[m] <= SHELL_ENERGY.length);
  FORCED.set(modes, known);
  return known;
}
const FORCED = new WeakMap<Modes, readonly number[]>();

/** Rescales the forced shells to their energies exactly; other modes are left. */
export function rescaleShells(modes: Modes, velocity: Spectral): void {
  const forced = forcedModes(modes);
  SHELL_ENERGY.forEach((target, s) => {
    const members = forced.filter((m) => modes.shell[m] === s + 1);
    let energy = 0;
    for (const m of members) for (let e = 6 * m; e < 6 * m + 6; e++) energy += velocity.values[e] ** 2;
    const scale = Math.sqrt(target / energy);
    for (const m of members) for (let e = 6 * m; e < 6 * m + 6; e++) velocity.values[e] = scale * velocity.values[e];
  });
}
