/** Exact values, derivatives and box means of flows: by formula, or of stored periodic data by its Fourier series. */
import { SYMMETRIC } from "./symmetric.js";

/** Orders of differentiation along x, y, z. */
export type Derivative = readonly [number, number, number];

/**
 * ux, uy, uz and p, differentiated, at a point; averaged over the cube of side `width` around it where that is not 0.
 */
export type Flow = (point: readonly number[], derivative: Derivative, width?: number) => readonly number[];

const sinc = (x: number) => (x === 0 ? 1 : Math.sin(x) / x);

/** Derivative of order `d` of cos(k s + phase), averaged over an interval of length `width` around s. */
function wave(k: number, phase: number, s: number, d: number, width: number): number {
  return k ** d * Math.cos(k * s + phase + (d * Math.PI) / 2) * sinc((k * width) / 2);
}

const SIN = -Math.PI / 2;

/**
 * The Arnold-Beltrami-Childress flow with A = 1, B = sqrt(2/3), C = sqrt(1/3):
 * u = (A sin z + C cos y, B sin x + A cos z, C sin y + B cos x), p = -|u|^2/2 without its mean.
 */
export function abc(): Flow {
  const [a, b, c] = [1, Math.sqrt(2 / 3), Math.sqrt(1 / 3)];
  /** Amplitude, then wavenumber and phase along x, y, z. */
  type Term = readonly [number, number, number, number, number, number, number];
  const terms: readonly (readonly Term[])[] = [
    [
      [a, 0, 0, 0, 0, 1, SIN],
      [c, 0, 0, 1, 0, 0, 0],
    ],
    [
      [b, 1, SIN, 0, 0, 0, 0],
      [a, 0, 0, 0, 0, 1, 0],
    ],
    [
      [c, 0, 0, 1, SIN, 0, 0],
      [b, 1, 0, 0, 0, 0, 0],
    ],
    [
      [-a * c, 0, 0, 1, 0, 1, SIN],
      [-a * b, 1, SIN, 0, 0, 1, 0],
      [-b * c, 1, 0, 1, SIN, 0, 0],
    ],
  ];
  return ([x = 0, y = 0, z = 0], [dx, dy, dz], width = 0) =>
    terms.map((list) =>
      list.reduce(
        (sum, [amplitude, kx, px, ky, py, kz, pz]) =>
          sum + amplitude * wave(kx, px, x, dx, width) * wave(ky, py, y, dy, width) * wave(kz, pz, z, dz, width),
        0,
      ),
    );
}

/**
 * Weights of all nodes of a periodic axis (period 2 pi) whose sum with node values is the Fourier series through them.
 */
function axisWeights(nodes: number, s: number, derivative: number, width: number): Float64Array {
  const weights = new Float64Array(nodes);
  for (let i = 0; i < nodes; i++) {
    const t = s - (2 * Math.PI * i) / nodes;
    for (let k = 0; k < nodes / 2; k++) {
      weights[i] = (weights[i] as number) + (k === 0 ? 1 : 2) * wave(k, 0, t, derivative, width);
    }
    weights[i] = (weights[i] as number) / nodes;
  }
  return weights;
}

/**
 * The flow that the stored values of a cube are samples of, if it has no energy at or above the Nyquist wavenumber.
 * @param velocity [z][y][x][3]
 * @param pressure [z][y][x]
 */
export function fourierSeries(nodes: number, velocity: Float32Array, pressure: Float32Array): Flow {
  return ([x = 0, y = 0, z = 0], [dx, dy, dz], width = 0) => {
    const wx = axisWeights(nodes, x, dx, width);
    const wy = axisWeights(nodes, y, dy, width);
    const wz = axisWeights(nodes, z, dz, width);
    const sum = [0, 0, 0, 0];
    for (let k = 0; k < nodes; k++) {
      for (let j = 0; j < nodes; j++) {
        const row = (k * nodes + j) * nodes;
        let [u, v, w, p] = [0, 0, 0, 0];
        for (let i = 0; i < nodes; i++) {
          const weight = wx[i] as number;
          u += weight * (velocity[3 * (row + i)] as number);
          v += weight * (velocity[3 * (row + i) + 1] as number);
          w += weight * (velocity[3 * (row + i) + 2] as number);
          p += weight * (pressure[row + i] as number);
        }
        const weight = (wy[j] as number) * (wz[k] as number);
        [u, v, w, p].forEach((value, c) => {
          sum[c] = (sum[c] as number) + weight * value;
        });
      }
    }
    return sum;
  };
}

export type Motion = (position: readonly number[], time: number) => readonly number[];

/**
 * The four-point cubic in time with central-difference slopes through flows that are `step` apart from time `origin`
 * on.
 */
export function cubicInTime(frames: readonly Flow[], origin: number, step: number): Motion {
  return (position, time) => {
    const k = Math.min(Math.max(Math.floor((time - origin) / step), 1), frames.length - 3);
    const s = (time - origin) / step - k;
    const [a, b, c, d] = [-1, 0, 1, 2].map((offset) => (frames[k + offset] as Flow)(position, [0, 0, 0]));
    return [0, 1, 2].map((i) => {
      const [f0, f1, f2, f3] = [a, b, c, d].map((value) => value?.[i] as number) as [number, number, number, number];
      const [m1, m2] = [(f2 - f0) / 2, (f3 - f1) / 2];
      return f1 + s * (m1 + s * (3 * (f2 - f1) - 2 * m1 - m2 + s * (2 * (f1 - f2) + m1 + m2)));
    });
  };
}

/**
 * Position at `end` of a particle that is at `position` at `start`, by `steps` steps of the classical Runge-Kutta method.
 * @param drag response time; the particle starts with the velocity of the flow. 0 follows the flow
 */
export function path(
  motion: Motion,
  position: readonly number[],
  start: number,
  end: number,
  steps: number,
  drag = 0,
): number[] {
  const h = (end - start) / steps;
  let state = drag > 0 ? [...position, ...motion(position, start)] : [...position];
  const rate = (at: readonly number[], time: number): number[] => {
    const u = motion(at.slice(0, 3), time);
    if (drag === 0) return [...u];
    const v = at.slice(3);
    return [...v, ...u.map((value, i) => (value - (v[i] as number)) / drag)];
  };
  const along = (from: readonly number[], slope: readonly number[], by: number) =>
    from.map((value, i) => value + by * (slope[i] as number));
  for (let n = 0; n < steps; n++) {
    const time = start + n * h;
    const k1 = rate(state, time);
    const k2 = rate(along(state, k1, h / 2), time + h / 2);
    const k3 = rate(along(state, k2, h / 2), time + h / 2);
    const k4 = rate(along(state, k3, h), time + h);
    state = state.map((value, i) => {
      const sum = (k1[i] as number) + 2 * (k2[i] as number) + 2 * (k3[i] as number) + (k4[i] as number);
      return value + (h / 6) * sum;
    });
  }
  return state.slice(0, 3);
}

/** Nodes and weights of the eight-point Gauss-Legendre rule on [-1, 1]; exact for polynomials up to degree 15. */
const GAUSS: readonly (readonly [number, number])[] = [
  [0.1834346424956498, 0.362683783378362],
  [0.525532409916329, 0.3137066458778873],
  [0.7966664774136267, 0.2223810344533745],
  [0.9602898564975363, 0.1012285362903763],
].flatMap(([x, w]) => [
  [x as number, w as number],
  [-(x as number), w as number],
]);

/** Sub-grid-scale stress xx, yy, zz, xy, xz, yz over the cube of side `width` around a point, by quadrature. */
export function stress(flow: Flow, [x = 0, y = 0, z = 0]: readonly number[], width: number): number[] {
  const mean = [0, 0, 0];
  const product = [0, 0, 0, 0, 0, 0];
  for (const [gx, wx] of GAUSS) {
    for (const [gy, wy] of GAUSS) {
      for (const [gz, wz] of GAUSS) {
        const u = flow([x + (gx * width) / 2, y + (gy * width) / 2, z + (gz * width) / 2], [0, 0, 0]);
        const weight = (wx * wy * wz) / 8;
        for (let i = 0; i < 3; i++) mean[i] = (mean[i] as number) + weight * (u[i] as number);
        SYMMETRIC.forEach(([i, j], c) => {
          product[c] = (product[c] as number) + weight * (u[i] as number) * (u[j] as number);
        });
      }
    }
  }
  return SYMMETRIC.map(([i, j], c) => (product[c] as number) - (mean[i] as number) * (mean[j] as number));
}
