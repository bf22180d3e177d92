/** The forcing is the limit of rescaling the velocity after each step, and it forces the modes it should. */
import { describe, expect, it } from "vitest";
import { retainedModes, spectral } from "../../../tools/generate/modes.js";
import { NavierStokes } from "../../../tools/generate/navier-stokes.js";
import { randomAt, randomStream } from "../../../tools/generate/random.js";
import { forcedModes, rescaleShells, SHELL_ENERGY } from "../../../tools/generate/shell-forcing.js";
import { derivative, transformOf, wavenumberAt } from "../../support/dft.js";

describe("forcing", () => {
  it("reaches the 18 and 62 modes of the shells up to 1.5 and 2.5, conjugates included", () => {
    const modes = retainedModes(16);
    const lengths = forcedModes(modes).map((m) => Math.sqrt(modes.square[m] as number));
    expect(2 * lengths.filter((length) => length <= 1.5).length).toBe(18);
    expect(2 * lengths.filter((length) => length > 1.5 && length <= 2.5).length).toBe(62);
    expect(lengths.length).toBe(40);
  });

  it("has the rate at which rescaling after a short unforced step would act", () => {
    const [nodes, nu, dt] = [16, 0.1, 1e-6];
    const simulation = new NavierStokes(nodes, nu, 7);
    for (let i = 0; i < 20; i++) simulation.step(0.05);
    const u = [0, 1, 2].map((c) => simulation.physical(simulation.velocity, c));
    const transforms = u.map((component) => transformOf(nodes, component));
    // The acceleration -u_j d_j u_i, then on each wavenumber freed of its part along k and lessened by nu k^2 u.
    const acceleration = transforms.map((transform) => {
      const sum = new Float64Array(nodes ** 3);
      for (const axis of [0, 1, 2] as const) {
        const slope = derivative(nodes, transform, axis);
        for (let n = 0; n < sum.length; n++)
          sum[n] = (sum[n] as number) - (u[axis]?.[n] as number) * (slope[n] as number);
      }
      return transformOf(nodes, sum);
    });
    const energy = SHELL_ENERGY.map(() => 0);
    for (let n = 0; n < nodes ** 3; n++) {
      const k = wavenumberAt(nodes, n);
      const square = k[0] ** 2 + k[1] ** 2 + k[2] ** 2;
      const s = Math.round(Math.sqrt(square)) - 1;
      if (energy[s] === undefined) continue;
      for (const part of ["re", "im"] as const) {
        const a = acceleration.map((component) => component[part][n] as number);
        const along = (k[0] * (a[0] as number) + k[1] * (a[1] as number) + k[2] * (a[2] as number)) / square;
        for (const c of [0, 1, 2] as const) {
          const before = transforms[c]?.[part][n] as number;
          const after = before + dt * ((a[c] as number) - along * k[c] - nu * square * before);
          energy[s] += after ** 2 / 2;
        }
      }
    }
    simulation.forcing().forEach((rate, s) => {
      const held = transforms.reduce((sum, { re, im }) => {
        const inShell = (n: number) => Math.round(Math.hypot(...wavenumberAt(nodes, n))) === s + 1;
        return re.reduce((all, value, n) => (inShell(n) ? all + (value ** 2 + (im[n] as number) ** 2) / 2 : all), sum);
      }, 0);
      const rescaling = (Math.sqrt(held / (energy[s] as number)) - 1) / dt;
      expect(Math.abs(rescaling - rate)).toBeLessThan(1e-5 * Math.abs(rate));
      expect(rate).toBeGreaterThan(0.01);
    });
  });

  it("starts from the shells' energies whatever the velocity was", () => {
    const modes = retainedModes(16);
    const velocity = spectral(modes, 3);
    velocity.values.forEach((_, e) => {
      velocity.values[e] = randomAt(randomStream(1, 1), e);
    });
    const before = velocity.values.slice();
    rescaleShells(modes, velocity);
    const forced = new Set(forcedModes(modes));
    const energy = SHELL_ENERGY.map(() => 0);
    for (let m = 0; m < modes.count; m++) {
      const s = (modes.shell[m] as number) - 1;
      for (let e = 6 * m; e < 6 * m + 6; e++) {
        if (forced.has(m)) energy[s] = (energy[s] as number) + (velocity.values[e] as number) ** 2;
        else expect(velocity.values[e]).toBe(before[e]);
      }
    }
    SHELL_ENERGY.forEach((target, s) => {
      expect(energy[s]).toBeCloseTo(target, 14);
    });
  });
});
