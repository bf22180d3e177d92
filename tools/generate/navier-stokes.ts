/**
 * Solves the Navier-Stokes equations by pseudo-spectral direct numerical simulation of forced incompressible turbulence
 * in a cube of period 2 pi.
 */
import { type CubeTransform, cubeTransforms } from "./fourier.js";
import { type Modes, pack, retainedModes, type Spectral, spectral, unpack } from "./modes.js";
import { randomAt, randomStream } from "./random.js";
import { forcedModes, forcingRates, rescaleShells } from "./shell-forcing.js";

/** Fields u, v, w and the vorticity's three components, as they are taken to physical space together. */
const U = 0;
const OMEGA = 3;

/**
 * One simulation: du/dt = u x omega - grad P + nu laplacian u + f, div u = 0, on the modes kept by the 2/3 rule, for
 * which the quadratic products are free of aliasing. Fourth-order Runge-Kutta in time, viscosity by an integrating
 * factor.
 *
 * Source: Canuto et al., Spectral Methods in Fluid Dynamics (1988), sections 3.2.2 and 7.2; Eswaran and Pope,
 * Computers & Fluids 16 (1988), for forced isotropic turbulence of this kind.
 */
export class NavierStokes {
  readonly modes: Modes;
  readonly velocity: Spectral;
  readonly nu: number;
  readonly #forward: CubeTransform;
  readonly #inverse: CubeTransform;
  readonly #cubes: readonly [Float64Array, Float64Array, Float64Array];
  /** Velocity and vorticity. */
  readonly #both: Spectral;
  /** Slopes and stage of the Runge-Kutta step. */
  readonly #slope: Spectral;
  readonly #sum: Spectral;
  readonly #stage: Spectral;

  /**
   * Starts from seeded random solenoidal velocity in the forced shells, rescaled to their energies, and rest elsewhere.
   */
  constructor(nodes: number, nu: number, seed: number) {
    this.modes = retainedModes(nodes);
    this.nu = nu;
    ({ forward: this.#forward, inverse: this.#inverse } = cubeTransforms(nodes));
    const cube = () => new Float64Array(2 * nodes ** 3);
    this.#cubes = [cube(), cube(), cube()];
    this.velocity = spectral(this.modes, 3);
    this.#both = spectral(this.modes, 6);
    this.#slope = spectral(this.modes, 3);
    this.#sum = spectral(this.modes, 3);
    this.#stage = spectral(this.modes, 3);
    const stream = randomStream(seed, 0);
    forcedModes(this.modes).forEach((m, i) => {
      for (let e = 0; e < 6; e++) this.velocity.values[6 * m + e] = 2 * randomAt(stream, 6 * i + e) - 1;
    });
    this.#project(this.velocity);
    rescaleShells(this.modes, this.velocity);
  }

  /** Advances the velocity by `dt`. */
  step(dt: number): void {
    const u = this.velocity.values;
    const stage = this.#stage.values;
    const slope = this.#slope.values;
    const sum = this.#sum.values;
    const { square, count } = this.modes;
    const half = Float64Array.from({ length: count }, (_, m) => Math.exp((-this.nu * square[m] * dt) / 2));
    const combine = (use: (e: number, decay: number) => void) => {
      for (let m = 0; m < count; m++) for (let e = 6 * m; e < 6 * m + 6; e++) use(e, half[m]);
    };
    this.#evaluate(this.velocity);
    combine((e, decay) => {
      const k1 = slope[e];
      sum[e] = decay * decay * (u[e] + (dt / 6) * k1);
      stage[e] = decay * (u[e] + (dt / 2) * k1);
    });
    this.#evaluate(this.#stage);
    combine((e, decay) => {
      const k2 = slope[e];
      sum[e] = sum[e] + (dt / 3) * decay * k2;
      stage[e] = decay * u[e] + (dt / 2) * k2;
    });
    this.#evaluate(this.#stage);
    combine((e, decay) => {
      const k3 = slope[e];
      sum[e] = sum[e] + (dt / 3) * decay * k3;
      stage[e] = decay * (decay * u[e] + dt * k3);
    });
    this.#evaluate(this.#stage);
    combine((e) => {
      u[e] = sum[e] + (dt / 6) * slope[e];
    });
  }

  /** Rates of the force in the forced shells at this moment. */
  forcing(): number[] {
    this.#nonlinear(this.velocity);
    return forcingRates(this.modes, this.velocity, this.#slope, this.nu);
  }

  /** Pressure of zero mean that keeps the velocity solenoidal: p = -k_i k_j (u_i u_j) / k^2 on the retained modes. */
  pressure(): Spectral {
    const [first, second, third] = this.#cubes;
    const { k, square, count } = this.modes;
    this.#toPhysical(this.velocity, 0, 1, first);
    this.#toPhysical(this.velocity, 2, null, second);
    for (let i = 0; i < first.length; i += 2) {
      const [u, v, w] = [first[i], first[i + 1], second[i]];
      [first[i], first[i + 1]] = [u * u, v * v];
      [second[i], second[i + 1]] = [w * w, u * v];
      [third[i], third[i + 1]] = [u * w, v * w];
    }
    const products = this.#both;
    this.#toSpectral(first, products, 0, 1);
    this.#toSpectral(second, products, 2, 3);
    this.#toSpectral(third, products, 4, 5);
    const pressure = spectral(this.modes, 1);
    for (let m = 0; m < count; m++) {
      const [x, y, z] = [k[3 * m], k[3 * m + 1], k[3 * m + 2]];
      const factors = [x * x, y * y, z * z, 2 * x * y, 2 * x * z, 2 * y * z];
      for (const part of [0, 1]) {
        let sum = 0;
        for (let p = 0; p < 6; p++) sum += factors[p] * products.values[12 * m + 2 * p + part];
        pressure.values[2 * m + part] = -sum / square[m];
      }
    }
    return pressure;
  }

  /** Values of a field at the nodes, [z][y][x]. */
  physical(from: Spectral, field: number): Float64Array {
    const cube = this.#cubes[0];
    this.#toPhysical(from, field, null, cube);
    return Float64Array.from({ length: cube.length / 2 }, (_, node) => cube[2 * node]);
  }

  /** Overwrites the slope with everything but viscosity: nonlinear term and force. */
  #evaluate(velocity: Spectral): void {
    this.#nonlinear(velocity);
    const rates = forcingRates(this.modes, velocity, this.#slope, this.nu);
    for (let m = 0; m < this.modes.count; m++) {
      const rate = rates[this.modes.shell[m] - 1];
      if (rate === undefined) continue;
      for (let e = 6 * m; e < 6 * m + 6; e++) {
        this.#slope.values[e] = this.#slope.values[e] + rate * velocity.values[e];
      }
    }
  }

  /** Overwrites the slope with the solenoidal part of u x omega. */
  #nonlinear(velocity: Spectral): void {
    const [first, second, third] = this.#cubes;
    this.#withVorticity(velocity);
    this.#toPhysical(this.#both, U, U + 1, first);
    this.#toPhysical(this.#both, U + 2, OMEGA, second);
    this.#toPhysical(this.#both, OMEGA + 1, OMEGA + 2, third);
    for (let i = 0; i < first.length; i += 2) {
      const u = first[i];
      const v = first[i + 1];
      const w = second[i];
      const p = second[i + 1];
      const q = third[i];
      const r = third[i + 1];
      first[i] = v * r - w * q;
      first[i + 1] = w * p - u * r;
      second[i] = u * q - v * p;
      second[i + 1] = 0;
    }
    this.#toSpectral(first, this.#slope, 0, 1);
    this.#toSpectral(second, this.#slope, 2, null);
    this.#project(this.#slope);
  }

  /** Overwrites `both` with the velocity and its curl, i k x u. */
  #withVorticity(velocity: Spectral): void {
    const { k, count } = this.modes;
    const u = velocity.values;
    const both = this.#both.values;
    for (let m = 0; m < count; m++) {
      for (let e = 0; e < 6; e++) both[12 * m + e] = u[6 * m + e];
      for (let c = 0; c < 3; c++) {
        const [a, b] = [(c + 1) % 3, (c + 2) % 3];
        const [ka, kb] = [k[3 * m + a], k[3 * m + b]];
        const re = ka * u[6 * m + 2 * b] - kb * u[6 * m + 2 * a];
        const im = ka * u[6 * m + 2 * b + 1] - kb * u[6 * m + 2 * a + 1];
        both[12 * m + 2 * (OMEGA + c)] = -im;
        both[12 * m + 2 * (OMEGA + c) + 1] = re;
      }
    }
  }

  /** Takes the part along k out of a vector field. */
  #project(field: Spectral): void {
    const { k, square, count } = this.modes;
    const values = field.values;
    for (let m = 0; m < count; m++) {
      for (const part of [0, 1]) {
        let along = 0;
        for (let c = 0; c < 3; c++) along += k[3 * m + c] * values[6 * m + 2 * c + part];
        along /= square[m];
        for (let c = 0; c < 3; c++) {
          const e = 6 * m + 2 * c + part;
          values[e] = values[e] - along * k[3 * m + c];
        }
      }
    }
  }

  #toPhysical(from: Spectral, a: number, b: number | null, cube: Float64Array): void {
    pack(this.modes, from, a, b, cube);
    this.#inverse(cube);
  }

  #toSpectral(cube: Float64Array, into: Spectral, a: number, b: number | null): void {
    this.#forward(cube);
    unpack(this.modes, cube, into, a, b);
  }
}
