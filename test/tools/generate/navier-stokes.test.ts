/** The solver: order in time, held shell energies, solenoidal velocity, a flow whose evolution is known. */
import { describe, expect, it } from "vitest";
import { numberOf } from "../../../tools/generate/modes.js";
import { NavierStokes } from "../../../tools/generate/navier-stokes.js";
import { SHELL_ENERGY } from "../../../tools/generate/shell-forcing.js";
import { flowStatistics } from "../../../tools/generate/turbulence-statistics.js";

/** A small simulation some way from its start, taken there in steps of 0.05 and on to time 2 in steps of `dt`. */
function run(dt: number): NavierStokes {
  const simulation = new NavierStokes(16, 0.1, 3);
  for (let i = 0; i < 20; i++) simulation.step(0.05);
  for (let i = 0; i < Math.round(1 / dt); i++) simulation.step(dt);
  return simulation;
}

const distance = (a: NavierStokes, b: NavierStokes) =>
  Math.hypot(...a.velocity.values.map((value, e) => value - (b.velocity.values[e] as number)));

/**
 * Modes and figures after the first ten steps of the shipped flow, by the solver that made it (version 0.1.0: u x omega
 * by complex transforms of `fft.js`). This one's arithmetic is another, so it agrees to rounding, not in its bits.
 */
const FIRST_STEPS = {
  energy: 0.4323023254445061,
  dissipation: 0.08348305848693617,
  input: 0.10523838276188806,
  skewness: -0.13842220274153133,
  modes: [
    [0, 0, 1, -0.06262813847651516, 0.16777658704508816, 0.06309812328725807, 0.07665495592114141, 0, 0],
    [0, 1, -2, 0.010764939568107808, -0.0001506506909933371, -0.00033098428840880355, -0.05399098179371988],
    [1, 2, 0, -0.013180835331240075, 0.008304864508890659, 0.006590417665620037, -0.004152432254445329],
    [3, -1, 2, 0.0014529678881544147, -0.00036708057413491435, -0.0010912475640341747, 0.0005308215694483867],
    [4, 4, -3, 2.5727422342181432e-6, -1.1324949113730685e-5, -8.404570778342487e-6, 1.3295652041730753e-5],
  ],
} as const;

describe("NavierStokes", () => {
  it("takes the first steps of the shipped flow as the solver did that made it", () => {
    const simulation = new NavierStokes(32, 0.036, 5);
    for (let i = 0; i < 10; i++) simulation.step(0.02);
    const statistics = flowStatistics(simulation);
    for (const name of ["energy", "dissipation", "input", "skewness"] as const)
      expect(Math.abs(statistics[name] / FIRST_STEPS[name] - 1)).toBeLessThan(1e-12);
    for (const [kx, ky, kz, ...values] of FIRST_STEPS.modes) {
      const m = numberOf(simulation.modes, kx, ky, kz) - 1;
      values.forEach((value, e) => {
        expect(Math.abs((simulation.velocity.values[6 * m + e] as number) - value)).toBeLessThan(1e-15);
      });
    }
  });

  it("has the same bits with any number of threads", async () => {
    const [alone, together] = [1, 3].map((threads) => new NavierStokes(20, 0.05, 3, threads)) as [
      NavierStokes,
      NavierStokes,
    ];
    for (const simulation of [alone, together]) for (let i = 0; i < 5; i++) simulation.step(0.05);
    await together.close();
    expect(together.velocity.values).toEqual(alone.velocity.values);
  });

  it("converges with the fourth power of the step", () => {
    const [coarse, middle, fine] = [run(0.2), run(0.1), run(0.05)] as const;
    const order = Math.log2(distance(coarse, middle) / distance(middle, fine));
    expect(order).toBeGreaterThan(3.5);
    expect(order).toBeLessThan(4.7);
  });

  it("holds the energy of the forced shells and keeps the velocity solenoidal", () => {
    const simulation = run(0.05);
    const { spectrum } = flowStatistics(simulation);
    SHELL_ENERGY.forEach((energy, s) => {
      expect(Math.abs((spectrum[s + 1] as number) / energy - 1)).toBeLessThan(1e-4);
    });
    const { modes, velocity } = simulation;
    for (let m = 0; m < modes.count; m++) {
      for (const part of [0, 1]) {
        const along = [0, 1, 2].reduce(
          (sum, c) => sum + (modes.k[3 * m + c] as number) * (velocity.values[6 * m + 2 * c + part] as number),
          0,
        );
        expect(Math.abs(along)).toBeLessThan(1e-14);
      }
    }
  });

  it("gains energy at the rate of input less dissipation", () => {
    const simulation = run(0.05);
    const dt = 0.01;
    const before = flowStatistics(simulation);
    simulation.step(dt);
    const middle = flowStatistics(simulation);
    simulation.step(dt);
    const after = flowStatistics(simulation);
    const rate = (after.energy - before.energy) / (2 * dt);
    expect(Math.abs(rate - (middle.input - middle.dissipation))).toBeLessThan(1e-4 * middle.dissipation);
  });

  it("leaves a Beltrami flow as it is: u x curl u vanishes and the force only makes up for viscosity", () => {
    const nu = 0.1;
    const simulation = new NavierStokes(16, nu, 1);
    const { modes, velocity } = simulation;
    velocity.values.fill(0);
    const mode = (x: number, y: number, z: number) =>
      6 *
      Array.from({ length: modes.count }, (_, m) => m).findIndex(
        (m) => modes.k[3 * m] === x && modes.k[3 * m + 1] === y && modes.k[3 * m + 2] === z,
      );
    // u = (sin z, cos z, 0) + (cos y, 0, sin y): cos has the coefficient 1/2, sin the coefficient -i/2.
    velocity.values[mode(0, 0, 1) + 1] = -0.5;
    velocity.values[mode(0, 0, 1) + 2] = 0.5;
    velocity.values[mode(0, 1, 0)] = 0.5;
    velocity.values[mode(0, 1, 0) + 5] = -0.5;
    // The second shell needs some energy for its rate to be defined, too little to matter.
    const speck = mode(2, 0, 0) + 2;
    velocity.values[speck] = 1e-9;
    expect(simulation.forcing()[0]).toBeCloseTo(nu, 12);
    const before = velocity.values.slice();
    simulation.step(0.1);
    expect(velocity.values.every((value, e) => Math.abs(value - (before[e] as number)) < 1e-8)).toBe(true);
    // p = -|u|^2 / 2 up to its mean: sin z cos y taken out of |u|^2 / 2 = 1 + sin z cos y.
    const pressure = simulation.physical(simulation.pressure(), 0);
    for (let node = 0; node < pressure.length; node++) {
      const [y, z] = [Math.floor(node / 16) % 16, Math.floor(node / 256)].map((i) => (2 * Math.PI * i) / 16);
      expect(pressure[node]).toBeCloseTo(-Math.sin(z as number) * Math.cos(y as number), 7);
    }
  });
});
