/**
 * Advances incompressible flow between two walls by the Navier-Stokes equations: Fourier modes along x and z, Chebyshev
 * polynomials along y, -1 <= y <= 1, driven by a constant force along x.
 *
 * The unknowns are the Laplacian of v and the vorticity along y of each mode, from which u and w follow with a
 * divergence of zero (Kim, Moin and Moser, J. Fluid Mech. 177, 1987). Steps in time are those of Spalart, Moser and
 * Rogers (J. Comput. Phys. 96, 1991): third order for the nonlinear term, second for viscosity. Influence matrices
 * (Kleiser and Schumann, 1980) hold v and its derivative at zero on the walls.
 */
import {
  chebyshevDerivative,
  chebyshevIntegral,
  chebyshevNodes,
  inverse,
  type Matrix,
  multiply,
  product,
} from "./chebyshev.js";
import { type WallGrid, type WallModes, WallPlanes, wallModes } from "./wall-planes.js";

/** Shares of the viscous term before and after a substep, and of the nonlinear terms of this substep and the last. */
const SUBSTEPS = [
  { before: 29 / 96, after: 37 / 160, now: 8 / 15, last: 0 },
  { before: -3 / 40, after: 5 / 24, now: 5 / 12, last: -17 / 60 },
  { before: 1 / 6, after: 1 / 6, now: 3 / 4, last: -5 / 12 },
] as const;

export interface ChannelOptions extends WallGrid {
  /** Chebyshev nodes between the walls, both ends included. */
  readonly heights: number;
  readonly viscosity: number;
  /** Force along x on each unit of mass, the negative gradient of the mean pressure. */
  readonly force: number;
  readonly timeStep: number;
}

/** The matrices of one wavenumber. */
interface Solvers {
  /** Makes v from its Laplacian. */
  readonly v: Matrix;
  /** Per substep: make the Laplacian of v, and the vorticity, from their equations. */
  readonly laplacian: readonly Matrix[];
  readonly vorticity: readonly Matrix[];
}

/** Averages over planes parallel to the walls, at each node of y. */
export interface Profiles {
  readonly u: Float64Array;
  readonly uu: Float64Array;
  readonly vv: Float64Array;
  readonly ww: Float64Array;
  readonly uv: Float64Array;
  readonly pp: Float64Array;
}

/** A flow; its state is the only memory of a step, so a run can go on from it. */
export class ChannelFlow {
  readonly options: ChannelOptions;
  readonly modes: WallModes;
  readonly y: Float64Array;
  /**
   * The Laplacian of v and the vorticity along y: per mode the real parts at all heights, then the imaginary ones. The
   * first mode, the mean, has the means of u and w instead.
   */
  readonly state: Float64Array;
  readonly #derivative: Matrix;
  readonly #second: Matrix;
  readonly #integral: Float64Array;
  readonly #planes: WallPlanes;
  readonly #solvers: readonly Solvers[];
  /** u, v, w, and the vorticity along x, y, z, of all modes. */
  readonly #fields: readonly Float64Array[];
  /** Nonlinear term u x omega of all modes. */
  readonly #force: readonly Float64Array[];
  /** Right sides of both unknowns, at this substep and the last. */
  readonly #rates: [Float64Array, Float64Array];
  readonly #right: Float64Array;
  readonly #cubes: readonly [Float64Array, Float64Array, Float64Array];

  constructor(options: ChannelOptions) {
    const { heights, nodes } = options;
    this.options = options;
    this.modes = wallModes(options);
    this.y = chebyshevNodes(heights);
    this.#derivative = chebyshevDerivative(heights);
    this.#second = product(this.#derivative, this.#derivative, heights);
    this.#integral = chebyshevIntegral(heights);
    this.#planes = new WallPlanes(options, heights);
    const length = 2 * heights * this.modes.count;
    const field = () => new Float64Array(length);
    this.state = new Float64Array(2 * length);
    this.#fields = [field(), field(), field(), field(), field(), field()];
    this.#force = [field(), field(), field()];
    this.#rates = [new Float64Array(2 * length), new Float64Array(2 * length)];
    this.#right = new Float64Array(2 * heights);
    const plane = () => new Float64Array(2 * nodes[0] * nodes[1]);
    this.#cubes = [plane(), plane(), plane()];
    const known = new Map<number, Solvers>();
    this.#solvers = Array.from({ length: this.modes.count }, (_, m) => {
      const square = this.#square(m);
      const solvers = known.get(square) ?? this.#makeSolvers(square);
      known.set(square, solvers);
      return solvers;
    });
  }

  /** Advances the state by a time step. */
  step(): void {
    const { heights, timeStep, viscosity } = this.options;
    const length = this.state.length / 2;
    const right = this.#right;
    for (const [s, { before, now, last }] of SUBSTEPS.entries()) {
      const [rates, lastRates] = this.#rates;
      this.#nonlinear(rates);
      for (let m = 0; m < this.modes.count; m++) {
        const square = this.#square(m);
        for (const unknown of [0, 1]) {
          const { laplacian, vorticity } = this.#solvers[m];
          const solve = (unknown === 0 ? laplacian : vorticity)[s];
          const at = unknown * length + 2 * m * heights;
          multiply(this.#second, heights, this.state, at, right, 0);
          for (let j = 0; j < 2 * heights; j++) {
            const value = this.state[at + j];
            const viscous = before * viscosity * (right[j] - square * value);
            right[j] = value + timeStep * (viscous + now * rates[at + j] + last * lastRates[at + j]);
          }
          multiply(solve, heights, right, 0, this.state, at);
        }
      }
      this.#rates.reverse();
    }
  }

  /** Values of a component of the velocity (0 to 2) and of the pressure (3) at the nodes, [z][y][x]. */
  values(component: number): Float64Array {
    const [nx, nz] = this.options.nodes;
    const { heights } = this.options;
    this.#velocity();
    const field = component === 3 ? this.#pressure() : this.#fields[component];
    const values = new Float64Array(nx * heights * nz);
    const plane = this.#cubes[0];
    for (let j = 0; j < heights; j++) {
      this.#planes.toNodes(field, field, j, plane);
      for (let z = 0; z < nz; z++)
        for (let x = 0; x < nx; x++) values[(z * heights + j) * nx + x] = plane[2 * (z * nx + x)];
    }
    return values;
  }

  /** Means over planes, from the modes. */
  profiles(): Profiles {
    const { heights } = this.options;
    this.#velocity();
    const pressure = this.#pressure();
    const [u, v, w] = this.#fields;
    const correlation = (a: Float64Array, b: Float64Array) => {
      const sums = new Float64Array(heights);
      // The mean is the first mode; each other one is one of a pair of conjugates.
      for (let block = 2; block < 2 * this.modes.count; block++)
        for (let j = 0; j < heights; j++) sums[j] = sums[j] + 2 * a[block * heights + j] * b[block * heights + j];
      return sums;
    };
    return {
      u: u.slice(0, heights),
      uu: correlation(u, u),
      vv: correlation(v, v),
      ww: correlation(w, w),
      uv: correlation(u, v),
      pp: correlation(pressure, pressure),
    };
  }

  /** Averages over the volume: kinetic energy, dissipation, and the velocity along x. */
  budget(): { readonly energy: number; readonly dissipation: number; readonly bulk: number } {
    const { heights, viscosity } = this.options;
    this.#velocity();
    const slope = new Float64Array(2 * heights);
    let energy = 0;
    let dissipation = 0;
    for (let m = 0; m < this.modes.count; m++) {
      const pairs = m === 0 ? 1 : 2;
      const square = this.#square(m);
      const at = 2 * m * heights;
      for (const field of this.#fields.slice(0, 3)) {
        multiply(this.#derivative, heights, field, at, slope, 0);
        for (let j = 0; j < 2 * heights; j++) {
          const weight = pairs * this.#integral[j % heights];
          const value = field[at + j] ** 2;
          energy += (weight * value) / 4;
          dissipation += (weight * viscosity * (square * value + slope[j] ** 2)) / 2;
        }
      }
    }
    const bulk = this.#integral.reduce((sum, weight, j) => sum + (weight * this.#fields[0][j]) / 2, 0);
    return { energy, dissipation, bulk };
  }

  /** Sets v and the vorticity along y of a mode: complex amplitudes, and shapes at the nodes that vanish at the walls. */
  addMode(
    m: number,
    v: readonly [number, number],
    vorticity: readonly [number, number],
    shapes: readonly [Float64Array, Float64Array],
  ): void {
    const { heights } = this.options;
    const laplacian = new Float64Array(2 * heights);
    multiply(this.#second, heights, Float64Array.of(...shapes[0], ...shapes[0]), 0, laplacian, 0);
    const square = this.#square(m);
    for (const part of [0, 1]) {
      const at = (2 * m + part) * heights;
      const other = this.state.length / 2 + at;
      for (let j = 0; j < heights; j++) {
        this.state[at + j] = this.state[at + j] + v[part] * (laplacian[j] - square * shapes[0][j]);
        this.state[other + j] = this.state[other + j] + vorticity[part] * shapes[1][j];
      }
    }
  }

  #square(m: number): number {
    return this.modes.kx[m] ** 2 + this.modes.kz[m] ** 2;
  }

  /** The operator `shift` + `scale` (d2/dy2 - square), with rows of the identity at the walls, inverted. */
  #inverted(square: number, shift: number, scale: number): Matrix {
    const { heights } = this.options;
    const matrix = Float64Array.from(this.#second, (value) => scale * value);
    for (let i = 0; i < heights; i++) {
      const diagonal = i * heights + i;
      matrix[diagonal] = matrix[diagonal] + shift - scale * square;
      if (i > 0 && i < heights - 1) continue;
      matrix.fill(0, i * heights, (i + 1) * heights);
      matrix[diagonal] = 1;
    }
    return inverse(matrix, heights);
  }

  #makeSolvers(square: number): Solvers {
    const { heights, viscosity, timeStep } = this.options;
    const top = heights - 1;
    const column = (matrix: Matrix, j: number) =>
      Float64Array.from({ length: heights }, (_, i) => matrix[i * heights + j]);
    const withoutWalls = (matrix: Matrix) =>
      matrix.map((value, at) => (at % heights === 0 || at % heights === top ? 0 : value));
    const v = withoutWalls(this.#inverted(square, 0, 1));
    const slopeOfV = product(this.#derivative, v, heights);
    const laplacian: Matrix[] = [];
    const vorticity: Matrix[] = [];
    for (const { after } of SUBSTEPS) {
      const whole = this.#inverted(square, 1, -after * timeStep * viscosity);
      const solve = withoutWalls(whole);
      vorticity.push(solve);
      // The mean has u in the place of the Laplacian of v: it needs no more than to vanish at the walls.
      if (square === 0) laplacian.push(solve);
      else {
        const slopes = product(slopeOfV, solve, heights);
        const [low, high] = [column(whole, 0), column(whole, top)];
        const slopeAt = (wall: number, values: Float64Array) =>
          values.reduce((sum, value, j) => sum + slopeOfV[wall * heights + j] * value, 0);
        const [a, b, c, d] = [slopeAt(0, low), slopeAt(0, high), slopeAt(top, low), slopeAt(top, high)];
        const determinant = a * d - b * c;
        laplacian.push(
          solve.map((value, at) => {
            const [i, j] = [Math.floor(at / heights), at % heights];
            const [atLow, atHigh] = [slopes[j], slopes[top * heights + j]];
            const lower = (b * atHigh - d * atLow) / determinant;
            const upper = (c * atLow - a * atHigh) / determinant;
            return value + lower * low[i] + upper * high[i];
          }),
        );
      }
    }
    return { v, laplacian, vorticity };
  }

  /** Overwrites the velocity and the vorticity from the state. */
  #velocity(): void {
    const { heights } = this.options;
    const { kx, kz, count } = this.modes;
    const length = this.state.length / 2;
    const [u, v, w, ox, oy, oz] = this.#fields;
    const slope = new Float64Array(2 * heights);
    const derive = (field: Float64Array, at: number) => multiply(this.#derivative, heights, field, at, slope, 0);
    u.set(this.state.subarray(0, heights));
    w.set(this.state.subarray(length, length + heights));
    derive(w, 0);
    ox.set(slope);
    derive(u, 0);
    oz.set(slope.map((value) => -value));
    for (let m = 1; m < count; m++) {
      const square = this.#square(m);
      const re = 2 * m * heights;
      const im = re + heights;
      multiply(this.#solvers[m].v, heights, this.state, re, v, re);
      oy.set(this.state.subarray(length + re, length + re + 2 * heights), re);
      const [x, z] = [kx[m] / square, kz[m] / square];
      derive(v, re);
      for (let j = 0; j < heights; j++) {
        // u = i (kx v' - kz omega) / k^2, w = i (kz v' + kx omega) / k^2
        u[re + j] = z * oy[im + j] - x * slope[heights + j];
        u[im + j] = x * slope[j] - z * oy[re + j];
        w[re + j] = -z * slope[heights + j] - x * oy[im + j];
        w[im + j] = z * slope[j] + x * oy[re + j];
      }
      derive(w, re);
      for (let j = 0; j < heights; j++) {
        ox[re + j] = slope[j] + kz[m] * v[im + j];
        ox[im + j] = slope[heights + j] - kz[m] * v[re + j];
      }
      derive(u, re);
      for (let j = 0; j < heights; j++) {
        oz[re + j] = -kx[m] * v[im + j] - slope[j];
        oz[im + j] = kx[m] * v[re + j] - slope[heights + j];
      }
    }
  }

  /** Overwrites the nonlinear term with u x omega; the fields must be computed from the state. */
  #cross(): void {
    const [u, v, w, ox, oy, oz] = this.#fields;
    const [first, second, third] = this.#cubes;
    for (let j = 0; j < this.options.heights; j++) {
      this.#planes.toNodes(u, v, j, first);
      this.#planes.toNodes(w, ox, j, second);
      this.#planes.toNodes(oy, oz, j, third);
      for (let i = 0; i < first.length; i += 2) {
        const [a, b, c] = [first[i], first[i + 1], second[i]];
        const [p, q, r] = [second[i + 1], third[i], third[i + 1]];
        first[i] = b * r - c * q;
        first[i + 1] = c * p - a * r;
        second[i] = a * q - b * p;
        second[i + 1] = 0;
      }
      this.#planes.toModes(first, j, this.#force[0], this.#force[1]);
      this.#planes.toModes(second, j, this.#force[2], null);
    }
  }

  /** Overwrites the rates of both unknowns with all but viscosity. */
  #nonlinear(rates: Float64Array): void {
    const { heights, force } = this.options;
    const { kx, kz, count } = this.modes;
    const length = this.state.length / 2;
    this.#velocity();
    this.#cross();
    const [fx, fy, fz] = this.#force;
    const along = new Float64Array(2 * heights);
    const slope = new Float64Array(2 * heights);
    for (let j = 0; j < heights; j++) {
      rates[j] = fx[j] + force;
      rates[length + j] = fz[j];
    }
    for (let m = 1; m < count; m++) {
      const square = this.#square(m);
      const [x, z] = [kx[m], kz[m]];
      const re = 2 * m * heights;
      const im = re + heights;
      for (let j = 0; j < heights; j++) {
        along[j] = -(x * fx[im + j] + z * fz[im + j]);
        along[heights + j] = x * fx[re + j] + z * fz[re + j];
        rates[length + re + j] = x * fz[im + j] - z * fx[im + j];
        rates[length + im + j] = z * fx[re + j] - x * fz[re + j];
      }
      multiply(this.#derivative, heights, along, 0, slope, 0);
      for (let j = 0; j < 2 * heights; j++) rates[re + j] = -slope[j] - square * fy[re + j];
    }
  }

  /**
   * The pressure of all modes: the one that keeps the divergence at zero, without u^2 / 2, which u x omega leaves out;
   * its mean over the volume is zero. The fields must be computed from the state.
   */
  #pressure(): Float64Array {
    const { heights, viscosity } = this.options;
    const { kx, kz, count } = this.modes;
    const top = heights - 1;
    this.#cross();
    const [fx, fy, fz] = this.#force;
    const v = this.#fields[1];
    const head = this.#head();
    const pressure = new Float64Array(head.length);
    const right = new Float64Array(2 * heights);
    const curvature = new Float64Array(2 * heights);
    const known = new Map<number, Matrix>();
    for (let m = 0; m < count; m++) {
      const square = this.#square(m);
      const solve = known.get(square) ?? this.#pressureSolver(square);
      known.set(square, solve);
      const re = 2 * m * heights;
      const im = re + heights;
      multiply(this.#derivative, heights, fy, re, right, 0);
      multiply(this.#second, heights, v, re, curvature, 0);
      for (let j = 0; j < heights; j++) {
        right[j] = right[j] - (kx[m] * fx[im + j] + kz[m] * fz[im + j]);
        right[heights + j] = right[heights + j] + kx[m] * fx[re + j] + kz[m] * fz[re + j];
      }
      for (const wall of [0, top, heights, heights + top]) right[wall] = fy[re + wall] + viscosity * curvature[wall];
      // The gradient at the upper wall follows for the mean, whose level is free.
      if (m === 0) right[top] = 0;
      multiply(solve, heights, right, 0, pressure, re);
    }
    for (let e = 0; e < head.length; e++) pressure[e] = pressure[e] - head[e];
    const mean = this.#integral.reduce((sum, weight, j) => sum + (weight * pressure[j]) / 2, 0);
    for (let j = 0; j < heights; j++) pressure[j] = pressure[j] - mean;
    return pressure;
  }

  /** d2/dy2 - square with derivatives at the walls, or, for the mean, one of them and the value at the other. */
  #pressureSolver(square: number): Matrix {
    const { heights } = this.options;
    const top = heights - 1;
    const matrix = this.#second.slice();
    for (let i = 0; i < heights; i++) matrix[i * heights + i] = matrix[i * heights + i] - square;
    for (const wall of [0, top])
      matrix.set(this.#derivative.subarray(wall * heights, (wall + 1) * heights), wall * heights);
    if (square === 0) {
      matrix.fill(0, top * heights);
      matrix[top * heights + top] = 1;
    }
    return inverse(matrix, heights);
  }

  /** u^2 / 2 of all modes. */
  #head(): Float64Array {
    const [u, v, w] = this.#fields;
    const head = new Float64Array(u.length);
    const [first, second] = this.#cubes;
    for (let j = 0; j < this.options.heights; j++) {
      this.#planes.toNodes(u, v, j, first);
      this.#planes.toNodes(w, w, j, second);
      for (let i = 0; i < first.length; i += 2) {
        first[i] = (first[i] ** 2 + first[i + 1] ** 2 + second[i] ** 2) / 2;
        first[i + 1] = 0;
      }
      this.#planes.toModes(first, j, head, null);
    }
    return head;
  }
}
