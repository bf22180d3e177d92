/**
 * Solves the Navier-Stokes equations by pseudo-spectral direct numerical simulation of forced incompressible turbulence
 * in a cube of period 2 pi.
 */
import { BUILD, createCubeMemory, rowsOf, wavenumberOf } from "./cube-transforms.js";
import { type Modes, numberOf, retainedModes, type Spectral, sharedNumbers, spectral } from "./modes.js";
import { advance, SimulationStages, type SimulationState, STAGES, unitsOf } from "./navier-stokes-stages.js";
import { randomAt, randomStream } from "./random.js";
import { forcedModes, forcingRates, rescaleShells } from "./shell-forcing.js";
import { createWords, Team } from "./team.js";

/**
 * One simulation: du/dt = -div(u u) - grad p + nu laplacian u + f, div u = 0, on the modes kept by the 2/3 rule, for
 * which the quadratic products are free of aliasing. Fourth-order Runge-Kutta in time, viscosity by an integrating
 * factor. Threads share the work of a step, whose numbers do not depend on how many they are.
 *
 * Source: Canuto et al., Spectral Methods in Fluid Dynamics (1988), sections 3.2.2 and 7.2; Eswaran and Pope,
 * Computers & Fluids 16 (1988), for forced isotropic turbulence of this kind.
 */
export class NavierStokes {
  readonly modes: Modes;
  readonly velocity: Spectral;
  readonly nu: number;
  readonly #state: SimulationState;
  readonly #stages: SimulationStages;
  readonly #team: Team;

  /**
   * Starts from seeded random solenoidal velocity in the forced shells, rescaled to their energies, and rest elsewhere.
   *
   * @param threads that share the work; `close` ends all but the calling one
   */
  constructor(nodes: number, nu: number, seed: number, threads = 1) {
    this.modes = retainedModes(nodes);
    this.nu = nu;
    this.velocity = spectral(this.modes, 3);
    const numbers = () => spectral(this.modes, 3).values;
    this.#state = {
      modes: this.modes,
      words: createWords(),
      memory: createCubeMemory(this.modes, threads),
      velocity: this.velocity.values,
      ...{ slope: numbers(), sum: numbers(), stage: numbers() },
      decay: sharedNumbers(this.modes.count),
      step: sharedNumbers(1),
    };
    this.#stages = new SimulationStages(this.#state, 0);
    const act = (stage: number, unit: number) => this.#stages.do(stage, unit);
    const entry = new URL("tools/generate/simulation-thread.js", BUILD);
    this.#team = new Team(this.#state.words, act, threads, entry, this.#state);
    const stream = randomStream(seed, 0);
    forcedModes(this.modes).forEach((m, i) => {
      for (let e = 0; e < 6; e++) this.velocity.values[6 * m + e] = 2 * randomAt(stream, 6 * i + e) - 1;
      project(this.modes, this.velocity.values, m);
    });
    rescaleShells(this.modes, this.velocity);
  }

  /** Ends the threads. */
  close(): Promise<void> {
    return this.#team.close();
  }

  /** Advances the velocity by `dt`. */
  step(dt: number): void {
    const { step, decay, velocity, stage, slope } = this.#state;
    if (step[0] !== dt) {
      step[0] = dt;
      for (let m = 0; m < decay.length; m++) decay[m] = Math.exp((-this.nu * this.modes.square[m] * dt) / 2);
    }
    for (let part = 0; part < 4; part++) {
      const of = part === 0 ? velocity : stage;
      this.#evaluate(of, STAGES.parts + part);
      const rates = this.#rates(of);
      for (const m of forcedModes(this.modes)) {
        const rate = rates[this.modes.shell[m] - 1];
        for (let e = 6 * m; e < 6 * m + 6; e++) slope[e] = slope[e] + rate * of[e];
        advance(this.#state, part, m, 1, slope, 6 * m);
      }
    }
  }

  /** Rates of the force in the forced shells at this moment. */
  forcing(): number[] {
    this.#evaluate(this.#state.velocity, STAGES.slopes);
    return this.#rates(this.#state.velocity);
  }

  /** Pressure of zero mean that keeps the velocity solenoidal: p = -k_i k_j (u_i u_j) / k^2 on the retained modes. */
  pressure(): Spectral {
    this.#run(STAGES.velocityToPlanes);
    this.#run(STAGES.allProducts);
    this.#run(STAGES.pressure);
    const pressure = spectral(this.modes, 1);
    pressure.values.set(this.#state.sum.subarray(0, pressure.values.length));
    return pressure;
  }

  /** Values of a field at the nodes, [z][y][x]. */
  physical({ values, fields }: Spectral, field: number): Float64Array {
    const { transforms } = this.#stages;
    const { nodes, kmax } = this.modes;
    const { numbers, half } = transforms;
    for (let row = 0; row < rowsOf(this.modes); row++) {
      const y = wavenumberOf(row, this.modes);
      for (let z = -kmax; z <= kmax; z++)
        for (let x = 0; x <= kmax; x++) {
          const n = numberOf(this.modes, x, y, z);
          const e = 2 * (fields * (Math.abs(n) - 1) + field);
          const at = transforms.placeOf(0, z < 0 ? z + nodes : z, row) + x;
          numbers[at] = n === 0 ? 0 : values[e];
          numbers[at + half] = n === 0 ? 0 : Math.sign(n) * values[e + 1];
        }
      transforms.spread(row, 1);
    }
    const out = new Float64Array(nodes ** 3);
    for (let z = 0; z < nodes; z++) transforms.nodesOf(z, out.subarray(z * nodes ** 2, (z + 1) * nodes ** 2));
    return out;
  }

  #rates(velocity: Float64Array): number[] {
    return forcingRates(this.modes, velocity, this.#state.slope, this.nu);
  }

  /** Computes the slopes without force of a velocity. `last`: the stage that takes them. */
  #evaluate(velocity: Float64Array, last: number): void {
    this.#run(velocity === this.#state.velocity ? STAGES.velocityToPlanes : STAGES.stageToPlanes);
    this.#run(STAGES.products);
    this.#run(last);
  }

  #run(stage: number): void {
    this.#team.run(stage, unitsOf(stage, this.modes));
  }
}

/** Takes the part along k out of a mode of a vector field. */
function project({ k, square }: Modes, values: Float64Array, m: number): void {
  const x = k[3 * m];
  const y = k[3 * m + 1];
  const z = k[3 * m + 2];
  for (let e = 6 * m; e < 6 * m + 2; e++) {
    const along = (x * values[e] + y * values[e + 2] + z * values[e + 4]) / square[m];
    values[e] = values[e] - along * x;
    values[e + 2] = values[e + 2] - along * y;
    values[e + 4] = values[e + 4] - along * z;
  }
}
