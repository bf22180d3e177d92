/** The solver: order in time, held shell energies, solenoidal velocity, a flow whose evolution is known. */
import { describe, expect, it } from "vitest";
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

describe("NavierStokes", () => {
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
