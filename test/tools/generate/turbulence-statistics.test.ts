/** Statistics of a simulated state against sums over its node values, and of a flow whose figures are known. */
import { describe, expect, it } from "vitest";
import { NavierStokes } from "../../../tools/generate/navier-stokes.js";
import { flowStatistics } from "../../../tools/generate/turbulence-statistics.js";
import { derivative, transformOf, wavenumberAt } from "../../support/dft.js";

const NODES = 16;
const CELLS = NODES ** 3;
const NU = 0.1;

const mean = (values: Float64Array, power = 1) => values.reduce((sum, value) => sum + value ** power, 0) / CELLS;

const slope = (values: Float64Array, axis: 0 | 1 | 2) => derivative(NODES, transformOf(NODES, values), axis);

describe("flowStatistics", () => {
  const simulation = new NavierStokes(NODES, NU, 4);
  for (let i = 0; i < 20; i++) simulation.step(0.05);
  const statistics = flowStatistics(simulation);
  const velocity = [0, 1, 2].map((c) => simulation.physical(simulation.velocity, c));
  const total = (of: (component: Float64Array) => number) =>
    velocity.reduce((sum, component) => sum + of(component), 0);
  const axes: readonly (0 | 1 | 2)[] = [0, 1, 2];

  it("has energy, dissipation and skewness as means over the nodes", () => {
    expect(statistics.energy).toBeCloseTo(total((u) => mean(u, 2)) / 2, 12);
    // For a solenoidal velocity the mean of 2 S_ij S_ij is the mean of the squared gradient.
    expect(statistics.dissipation).toBeCloseTo(
      NU * total((u) => axes.reduce<number>((sum, d) => sum + mean(slope(u, d), 2), 0)),
      12,
    );
    const skewness = axes.map((c) => {
      const longitudinal = slope(velocity[c] as Float64Array, c);
      return mean(longitudinal, 3) / mean(longitudinal, 2) ** 1.5;
    });
    expect(statistics.skewness).toBeCloseTo(
      (skewness[0] as number) / 3 + (skewness[1] as number) / 3 + (skewness[2] as number) / 3,
      12,
    );
    expect(Math.abs(statistics.skewness)).toBeGreaterThan(0.05);
  });

  it("has the spectrum of the transform, shell by shell", () => {
    const shells = statistics.spectrum.map(() => 0);
    for (const component of velocity) {
      const { re, im } = transformOf(NODES, component);
      for (let n = 0; n < CELLS; n++) {
        const shell = Math.round(Math.hypot(...wavenumberAt(NODES, n)));
        shells[shell] = (shells[shell] ?? 0) + ((re[n] as number) ** 2 + (im[n] as number) ** 2) / 2;
      }
    }
    statistics.spectrum.forEach((energy, shell) => {
      expect(energy).toBeCloseTo(shells[shell] as number, 13);
    });
  });

  it("derives scales and numbers from them", () => {
    const { energy, dissipation, spectrum, reynolds, resolution, turnover } = statistics;
    const rms = Math.sqrt((2 / 3) * energy);
    // Re_lambda = u'^2 sqrt(15 / (nu epsilon)), eta = (nu^3 / epsilon)^(1/4), L = pi / (2 u'^2) sum E(k) / k.
    expect(reynolds).toBeCloseTo(rms ** 2 * Math.sqrt(15 / (NU * dissipation)), 12);
    expect(resolution).toBeCloseTo(5 * (NU ** 3 / dissipation) ** 0.25, 12);
    const length = (Math.PI / (2 * rms ** 2)) * spectrum.slice(1).reduce((sum, e, i) => sum + e / (i + 1), 0);
    expect(turnover).toBeCloseTo(length / rms, 12);
  });
});
