/** The stages of a time step of the simulation, divided into units that threads compute independently. */
import type { SharedFftMemory } from "#src/kernels/fft/fft-module.js";
import { CubeTransforms, rowsOf, wavenumberOf } from "./cube-transforms.js";
import { type Modes, numberOf } from "./modes.js";
import { SHELL_ENERGY } from "./shell-forcing.js";

/** What the threads of a simulation share. Arrays of velocities have six numbers for each mode. */
export interface SimulationState {
  readonly modes: Modes;
  readonly words: Int32Array;
  /** The memory of the transforms. */
  readonly memory: SharedFftMemory;
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

/** Neighbours along x whose modes are read and written together: a line of the processor's cache. */
const NEIGHBOURS = 8;

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
  /** Slopes of neighbours along x for all z: (NEIGHBOURS, 2 kmax + 1, 6). */
  readonly #slopes: Float64Array;

  /** @param thread its number, from 0 on */
  constructor(state: SimulationState, thread: number) {
    this.#state = state;
    this.transforms = new CubeTransforms(state.modes, state.memory, thread);
    this.#slopes = new Float64Array(6 * NEIGHBOURS * rowsOf(state.modes));
  }

  do(stage: number, unit: number): void {
    const { velocity, stage: middle } = this.#state;
    if (stage === STAGES.velocityToPlanes) this.#toPlanes(velocity, unit);
    else if (stage === STAGES.stageToPlanes) this.#toPlanes(middle, unit);
    else if (stage === STAGES.products) this.transforms.multiply(unit, false);
    else if (stage === STAGES.allProducts) this.transforms.multiply(unit, true);
    else if (stage === STAGES.pressure) this.#pressure(unit);
    else this.#advance(stage - STAGES.parts, unit);
  }

  /** Takes a row of a velocity to the planes. */
  #toPlanes(u: Float64Array, row: number): void {
    const { modes } = this.#state;
    const { kmax, nodes } = modes;
    const { numbers, half, stride } = this.transforms;
    const field = nodes * stride;
    const y = wavenumberOf(row, modes);
    const next = numberOf(modes, 1, 0, 0);
    for (let from = 0; from <= kmax; from += NEIGHBOURS)
      for (let z = -kmax; z <= kmax; z++) {
        const to = this.transforms.placeOf(0, z < 0 ? z + nodes : z, row);
        const last = Math.min(kmax, from + NEIGHBOURS - 1);
        for (let x = from, n = numberOf(modes, from, y, z); x <= last; x++, n += next) {
          const sign = n < 0 ? -1 : 1;
          const e = 6 * (sign * n - 1);
          const a = to + x;
          const b = a + field;
          const c = b + field;
          numbers[a] = u[e];
          numbers[b] = u[e + 2];
          numbers[c] = u[e + 4];
          numbers[a + half] = sign * u[e + 1];
          numbers[b + half] = sign * u[e + 3];
          numbers[c + half] = sign * u[e + 5];
        }
      }
    if (row === 0) this.#clearMean();
    this.transforms.spread(row, 3);
  }

  /** The mean, which is no mode, is 0. */
  #clearMean(): void {
    const { numbers, half } = this.transforms;
    for (let c = 0; c < 3; c++) {
      const at = this.transforms.placeOf(c, 0, 0);
      numbers[at] = 0;
      numbers[at + half] = 0;
    }
  }

  /**
   * Computes the slopes of a row of modes without force. Those of the forced modes are stored; others are advanced by
   * them at once.
   *
   * @param part of the step; negative: none
   */
  #advance(part: number, row: number): void {
    const { modes, slope } = this.#state;
    const { kmax } = modes;
    const own = this.#slopes;
    const y = wavenumberOf(row, modes);
    this.transforms.collect(row, 5);
    for (let x = 0; x <= kmax; x++) {
      if (x % NEIGHBOURS === 0) this.#computeSlopes(row, x, Math.min(kmax, x + NEIGHBOURS - 1));
      const first = x > 0 ? -kmax : firstListed(y, kmax);
      const place = (z: number) => 6 * ((x % NEIGHBOURS) * rowsOf(modes) + z + kmax);
      const run = (from: number, to: number) => {
        if (part >= 0 && from <= to)
          advance(this.#state, part, numberOf(modes, x, y, from) - 1, to - from + 1, own, place(from));
      };
      const rest = FORCED_SQUARE - x * x - y * y;
      if (rest < 0) run(first, kmax);
      else {
        const forced = Math.floor(Math.sqrt(rest));
        run(first, -forced - 1);
        for (let z = Math.max(first, -forced); z <= forced; z++)
          slope.set(own.subarray(place(z), place(z) + 6), 6 * (numberOf(modes, x, y, z) - 1));
        run(Math.max(first, forced + 1), kmax);
      }
    }
  }

  /** Computes the slopes of modes from x to `last` of a row, the solenoidal part of -d(u_i u_j)/dx_j. */
  #computeSlopes(row: number, from: number, last: number): void {
    const { modes } = this.#state;
    const { nodes, kmax } = modes;
    const { numbers, half, stride } = this.transforms;
    const own = this.#slopes;
    const field = nodes * stride;
    const scale = 1 / nodes ** 3;
    const y = wavenumberOf(row, modes);
    for (let z = -kmax; z <= kmax; z++) {
      let a = this.transforms.placeOf(0, z < 0 ? z + nodes : z, row) + from;
      for (let x = from, e = 6 * (z + kmax); x <= last; x++, a++, e += 6 * rowsOf(modes)) {
        // The products uu - ww, vv - ww, uv, uw and vw: without ww in the squares, the slope lacks only a gradient.
        const b = a + field;
        const c = b + field;
        const d = c + field;
        const f = d + field;
        const uRe = x * numbers[a + half] + y * numbers[c + half] + z * numbers[d + half];
        const vRe = x * numbers[c + half] + y * numbers[b + half] + z * numbers[f + half];
        const wRe = x * numbers[d + half] + y * numbers[f + half];
        const uIm = x * numbers[a] + y * numbers[c] + z * numbers[d];
        const vIm = x * numbers[c] + y * numbers[b] + z * numbers[f];
        const wIm = x * numbers[d] + y * numbers[f];
        const square = x * x + y * y + z * z;
        const re = (x * uRe + y * vRe + z * wRe) / square;
        const im = (x * uIm + y * vIm + z * wIm) / square;
        own[e] = scale * (uRe - x * re);
        own[e + 1] = scale * (x * im - uIm);
        own[e + 2] = scale * (vRe - y * re);
        own[e + 3] = scale * (y * im - vIm);
        own[e + 4] = scale * (wRe - z * re);
        own[e + 5] = scale * (z * im - wIm);
      }
    }
  }

  /** Overwrites the first numbers of the sum with a row of p = -k_i k_j (u_i u_j) / k^2. */
  #pressure(row: number): void {
    const { modes, sum: out } = this.#state;
    const { nodes, kmax } = modes;
    const { numbers, half, stride } = this.transforms;
    const scale = 1 / nodes ** 3;
    const y = wavenumberOf(row, modes);
    this.transforms.collect(row, 6);
    for (let z = -kmax; z <= kmax; z++)
      for (let x = 0; x <= kmax; x++) {
        const n = numberOf(modes, x, y, z);
        if (n <= 0) continue;
        const at = this.transforms.placeOf(0, z < 0 ? z + nodes : z, row) + x;
        const factors = [x * x, y * y, z * z, 2 * x * y, 2 * x * z, 2 * y * z];
        for (const part of [0, 1]) {
          const total = factors.reduce(
            (sum, factor, p) => sum + factor * numbers[at + p * nodes * stride + part * half],
            0,
          );
          out[2 * (n - 1) + part] = (-scale * total) / (x * x + y * y + z * z);
        }
      }
  }
}

/** The first kz of the modes that are listed with kx = 0. */
function firstListed(y: number, kmax: number): number {
  if (y > 0) return -kmax;
  return y === 0 ? 1 : kmax + 1;
}

/**
 * Advances `count` modes from m on by a part of the step of fourth-order Runge-Kutta, viscosity by an integrating
 * factor.
 *
 * @param slopes of these modes, from place `at` on
 */
export function advance(
  state: SimulationState,
  part: number,
  m: number,
  count: number,
  slopes: Float64Array,
  at: number,
): void {
  const { velocity: u, sum, stage, decay } = state;
  const dt = state.step[0];
  let i = at;
  for (let mode = m; mode < m + count; mode++) {
    const d = decay[mode];
    const end = 6 * mode + 6;
    if (part === 0) {
      for (let e = end - 6; e < end; e++) {
        const k = slopes[i++];
        sum[e] = d * d * (u[e] + (dt / 6) * k);
        stage[e] = d * (u[e] + (dt / 2) * k);
      }
    } else if (part === 1) {
      for (let e = end - 6; e < end; e++) {
        const k = slopes[i++];
        sum[e] = sum[e] + (dt / 3) * d * k;
        stage[e] = d * u[e] + (dt / 2) * k;
      }
    } else if (part === 2) {
      for (let e = end - 6; e < end; e++) {
        const k = slopes[i++];
        sum[e] = sum[e] + (dt / 3) * d * k;
        stage[e] = d * (d * u[e] + dt * k);
      }
    } else {
      for (let e = end - 6; e < end; e++) u[e] = sum[e] + (dt / 6) * slopes[i++];
    }
  }
}

/** Units of a stage. */
export function unitsOf(stage: number, modes: Modes): number {
  return stage === STAGES.products || stage === STAGES.allProducts ? modes.nodes : rowsOf(modes);
}
