/** Computes the usual statistics of isotropic turbulence from the spectral state of a simulation. */
import { spectral } from "./modes.js";
import type { NavierStokes } from "./navier-stokes.js";
import { SHELL_ENERGY } from "./shell-forcing.js";

export interface FlowStatistics {
  /** Mean of |u|^2 / 2. */
  readonly energy: number;
  /** Mean of 2 nu S_ij S_ij. */
  readonly dissipation: number;
  /** Mean of u . f. */
  readonly input: number;
  /** Energy of the shells |k| = 0, 1, 2, ..., each half a unit to either side. */
  readonly spectrum: readonly number[];
  /** Mean over the three axes of the skewness of the longitudinal velocity derivative. */
  readonly skewness: number;
  /** Taylor-scale Reynolds number. */
  readonly reynolds: number;
  /** Largest retained wavenumber times the Kolmogorov length. */
  readonly resolution: number;
  /** Integral length over rms velocity component. */
  readonly turnover: number;
}

/** Statistics of the present state of a simulation. */
export function flowStatistics(simulation: NavierStokes): FlowStatistics {
  const { modes, velocity, nu } = simulation;
  const spectrum = new Array<number>(Math.max(...modes.shell) + 1).fill(0);
  let dissipation = 0;
  for (let m = 0; m < modes.count; m++) {
    let square = 0;
    for (let e = 6 * m; e < 6 * m + 6; e++) square += velocity.values[e] ** 2;
    const shell = modes.shell[m];
    spectrum[shell] = spectrum[shell] + square;
    dissipation += 2 * nu * modes.square[m] * square;
  }
  const energy = spectrum.reduce((sum, part) => sum + part, 0);
  const rates = simulation.forcing();
  const input = SHELL_ENERGY.reduce((sum, _, s) => sum + 2 * rates[s] * spectrum[s + 1], 0);
  const component = Math.sqrt((2 * energy) / 3);
  const taylor = Math.sqrt((15 * nu) / dissipation) * component;
  const integral = spectrum.reduce((sum, part, k) => (k === 0 ? sum : sum + part / k), 0);
  return {
    energy,
    dissipation,
    input,
    spectrum,
    skewness: (skewness(simulation, 0) + skewness(simulation, 1) + skewness(simulation, 2)) / 3,
    reynolds: (component * taylor) / nu,
    resolution: modes.kmax * (nu ** 3 / dissipation) ** 0.25,
    turnover: ((Math.PI / 2) * integral) / component ** 3,
  };
}

/** Mean of several spectra, shell by shell. */
export function meanSpectrum(states: readonly FlowStatistics[]): number[] {
  const shells = states[0]?.spectrum.length ?? 0;
  const mean = (k: number) => states.reduce((sum, { spectrum }) => sum + spectrum[k], 0) / states.length;
  return Array.from({ length: shells }, (_, k) => mean(k));
}

/** Skewness of du_c/dx_c over the nodes. */
function skewness(simulation: NavierStokes, c: number): number {
  const { modes, velocity } = simulation;
  const derivative = spectral(modes, 1);
  for (let m = 0; m < modes.count; m++) {
    const k = modes.k[3 * m + c];
    derivative.values[2 * m] = -k * velocity.values[6 * m + 2 * c + 1];
    derivative.values[2 * m + 1] = k * velocity.values[6 * m + 2 * c];
  }
  const values = simulation.physical(derivative, 0);
  const moment = (power: number) => values.reduce((sum, value) => sum + value ** power, 0) / values.length;
  return moment(3) / moment(2) ** 1.5;
}
