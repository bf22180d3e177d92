/** The stages of a step of the simulation, each of whose units one thread does by itself. */
import { CubeTransforms, groupsOf, rowsOf, wavenumberOf } from "./cube-transforms.js";
import { type Modes, numberOf } from "./modes.js";
import { SHELL_ENERGY } from "./shell-forcing.js";

/** What the threads of a simulation share. Arrays of velocities have six numbers for each mode. */
export interface SimulationState {
  readonly modes: Modes;
  readonly words: Int32Array;
  readonly scratch: Float64Array;
  readonly velocity: Float64Array;
  /** Slopes of the forced modes, and the sum and stage of the Runge-Kutta step. */
  readonly slope: Float64Array;
  readonly sum: Float64Array;
  readonly stage: Float64Array;
  /** exp(-nu k^2 dt/2) of each mode. */
  readonly decay: Float64Array;
  /** One number: dt. */
  readonly step: Float64Array;
}

/** The square of the wavenumber beyond the forced shells. */
const FORCED_SQUARE = (SHELL_ENERGY.length + 0.5) ** 2;

/** Stages. Those from `parts` on are the four parts of a Runge-Kutta step. */
export const STAGES = {
  velocityToPlanes: 0,
  stageToPlanes: 1,
  products: 2,
  allProducts: 3,
  pressure: 4,
  slopes: 5,
  parts: 6,
};

/** Does units of stages in one thread. */
export class SimulationStages {
  readonly transforms: CubeTransforms;
  readonly #state: SimulationState;
  /** The slope of one mode. */
  readonly #slope = new Float64Array(6);

  constructor(state: SimulationState) {
    this.#state = state;
    this.transforms = new CubeTransforms(state.modes, state.scratch);
  }

  do(stage: number, unit: number): void {
    const { velocity, stage: middle } = this.#state;
    if (stage === STAGES.velocityToPlanes) this.#toPlanes(velocity, unit);
    else if (stage === STAGES.stageToPlanes) this.#toPlanes(middle, unit);
    else if (stage === STAGES.products) this.#products(unit);
    else if (stage === STAGES.allProducts) this.#allProducts(unit);
    else if (stage === STAGES.pressure) this.#pressure(unit);
    else this.#slopes(stage - STAGES.parts, unit);
  }

  /** Takes a row of the velocity to the planes. */
  #toPlanes(u: Float64Array, row: number): void {
    const { modes } = this.#state;
    const { half } = this.transforms;
    this.transforms.spread(row, 3, ([a, b, c]) => {
      const y = wavenumberOf(row, modes);
      this.#overModes((x, z, at) => {
        const n = numberOf(modes, x, y, z);
        const im = at + half;
        // The mean is 0.
        const real = n === 0 ? 0 : 1;
        const sign = n < 0 ? -1 : real;
        const e = n === 0 ? 0 : 6 * (sign * n - 1);
        a[at] = real * u[e];
        b[at] = real * u[e + 2];
        c[at] = real * u[e + 4];
        a[im] = sign * u[e + 1];
        b[im] = sign * u[e + 3];
        c[im] = sign * u[e + 5];
      });
    });
  }

  /**
   * Replaces the velocity at the nodes of planes by its products: xx - zz, yy - zz, xy, xz, yz. The slope of u lacks
   * only a gradient if zz is taken out of all three squares.
   */
  #products(group: number): void {
    const { nodes } = this.#state.modes;
    const { stride } = this.transforms;
    for (const plane of this.transforms.planesOf(group)) {
      const [a, b, c, d, e] = this.transforms.nodesOf(plane, 3);
      for (let row = 0; row < nodes * stride; row += stride)
        for (let i = row; i < row + nodes; i++) {
          const u = a[i];
          const v = b[i];
          const w = c[i];
          const square = w * w;
          a[i] = u * u - square;
          b[i] = v * v - square;
          c[i] = u * v;
          d[i] = u * w;
          e[i] = v * w;
        }
      this.transforms.placeNodes(plane, 5);
    }
  }

  /** Replaces the velocity at the nodes of planes by all its products: xx, yy, zz, xy, xz, yz. */
  #allProducts(group: number): void {
    for (const plane of this.transforms.planesOf(group)) {
      const [a, b, c, d, e, f] = this.transforms.nodesOf(plane, 3);
      for (let i = 0; i < a.length; i++) {
        const [u, v, w] = [a[i], b[i], c[i]];
        [a[i], b[i], c[i], d[i], e[i], f[i]] = [u * u, v * v, w * w, u * v, u * w, v * w];
      }
      this.transforms.placeNodes(plane, 6);
    }
  }

  /**
   * Computes the slope of a row of modes without force, the solenoidal part of -d(u_i u_j)/dx_j. That of the forced
   * modes is stored; others are advanced by it at once.
   *
   * @param part of the step; negative: none
   */
  #slopes(part: number, row: number): void {
    const { modes } = this.#state;
    const own = this.#slope;
    const { half } = this.transforms;
    const scale = 1 / modes.nodes ** 3;
    const [a, b, c, d, f] = this.transforms.collect(row, 5);
    const y = wavenumberOf(row, modes);
    this.#overModes((x, z, at) => {
      const n = numberOf(modes, x, y, z);
      if (n <= 0) return;
      const im = at + half;
      const uRe = x * a[im] + y * c[im] + z * d[im];
      const vRe = x * c[im] + y * b[im] + z * f[im];
      const wRe = x * d[im] + y * f[im];
      const uIm = x * a[at] + y * c[at] + z * d[at];
      const vIm = x * c[at] + y * b[at] + z * f[at];
      const wIm = x * d[at] + y * f[at];
      const square = x * x + y * y + z * z;
      const re = (x * uRe + y * vRe + z * wRe) / square;
      const imaginary = (x * uIm + y * vIm + z * wIm) / square;
      const isForced = square < FORCED_SQUARE;
      const slope = isForced ? this.#state.slope : own;
      const e = isForced ? 6 * (n - 1) : 0;
      slope[e] = scale * (uRe - x * re);
      slope[e + 1] = scale * (x * imaginary - uIm);
      slope[e + 2] = scale * (vRe - y * re);
      slope[e + 3] = scale * (y * imaginary - vIm);
      slope[e + 4] = scale * (wRe - z * re);
      slope[e + 5] = scale * (z * imaginary - wIm);
      if (part >= 0 && !isForced) advance(this.#state, part, n - 1, own, 0);
    });
  }

  /** Overwrites the first numbers of the sum with a row of p = -k_i k_j (u_i u_j) / k^2. */
  #pressure(row: number): void {
    const { modes, sum: out } = this.#state;
    const { half } = this.transforms;
    const scale = 1 / modes.nodes ** 3;
    const rooms = this.transforms.collect(row, 6);
    const y = wavenumberOf(row, modes);
    this.#overModes((x, z, at) => {
      const n = numberOf(modes, x, y, z);
      if (n <= 0) return;
      const factors = [x * x, y * y, z * z, 2 * x * y, 2 * x * z, 2 * y * z];
      for (const part of [0, 1]) {
        const total = factors.reduce((sum, factor, p) => sum + factor * rooms[p][at + part * half], 0);
        out[2 * (n - 1) + part] = (-scale * total) / (x * x + y * y + z * z);
      }
    });
  }

  /** Names the modes of a row, a line of the processor's cache after another, and the place of their real parts. */
  #overModes(use: (x: number, z: number, at: number) => void): void {
    const { nodes, kmax } = this.#state.modes;
    const width = 2 * this.transforms.half;
    for (let from = 0; from <= kmax; from += 8)
      for (let z = -kmax; z <= kmax; z++) {
        const at = width * (z < 0 ? z + nodes : z);
        for (let x = from; x <= Math.min(kmax, from + 7); x++) use(x, z, at + x);
      }
  }
}

/**
 * Advances a mode by a part of the step of fourth-order Runge-Kutta, viscosity by an integrating factor.
 *
 * @param slope of the mode, from place `at` on
 */
export function advance(state: SimulationState, part: number, m: number, slope: Float64Array, at: number): void {
  const { velocity: u, sum, stage } = state;
  const d = state.decay[m];
  const dt = state.step[0];
  for (let e = 6 * m, i = at; i < at + 6; e++, i++) {
    const k = slope[i];
    if (part === 0) {
      sum[e] = d * d * (u[e] + (dt / 6) * k);
      stage[e] = d * (u[e] + (dt / 2) * k);
    } else if (part === 1) {
      sum[e] = sum[e] + (dt / 3) * d * k;
      stage[e] = d * u[e] + (dt / 2) * k;
    } else if (part === 2) {
      sum[e] = sum[e] + (dt / 3) * d * k;
      stage[e] = d * (d * u[e] + dt * k);
    } else u[e] = sum[e] + (dt / 6) * k;
  }
}

/** Units of a stage. */
export function unitsOf(stage: number, modes: Modes): number {
  if (stage === STAGES.products || stage === STAGES.allProducts) return groupsOf(modes);
  return rowsOf(modes);
}
