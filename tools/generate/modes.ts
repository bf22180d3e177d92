/** Lists the Fourier modes that a simulation keeps. */

/**
 * Retained wavenumbers of a cube of period 2 pi: |k_i| <= (nodes - 1) / 3 on each axis, without k = 0, and of every
 * pair k, -k the one whose first non-zero component is positive; the other's coefficient is the conjugate.
 */
export interface Modes {
  readonly nodes: number;
  /** Largest retained wavenumber of an axis. */
  readonly kmax: number;
  readonly count: number;
  /** Components kx, ky, kz, (count, 3). */
  readonly k: Int32Array;
  /** |k|^2. */
  readonly square: Int32Array;
  /** Shell of the wavenumber: |k| rounded to the nearest whole number. */
  readonly shell: Int32Array;
}

/** Lists the modes in ascending order of (kx, ky, kz). */
export function retainedModes(nodes: number): Modes {
  const kmax = Math.floor((nodes - 1) / 3);
  const k: number[] = [];
  for (let kx = 0; kx <= kmax; kx++) {
    for (let ky = kx === 0 ? 0 : -kmax; ky <= kmax; ky++) {
      for (let kz = kx === 0 && ky === 0 ? 1 : -kmax; kz <= kmax; kz++) k.push(kx, ky, kz);
    }
  }
  const count = k.length / 3;
  const square = Int32Array.from({ length: count }, (_, m) => k[3 * m] ** 2 + k[3 * m + 1] ** 2 + k[3 * m + 2] ** 2);
  const shell = square.map((s) => Math.round(Math.sqrt(s)));
  return { nodes, kmax, count, k: Int32Array.from(k), square, shell };
}

/** The number of the mode k, from 1 on, or of -k, negative, if that is the one that is listed; 0 for k = 0. */
export function numberOf({ kmax }: Modes, kx: number, ky: number, kz: number): number {
  // Modes of the whole cube are listed beyond its middle.
  const side = 2 * kmax + 1;
  return (kx * side + ky) * side + kz;
}

/**
 * Coefficients of real fields on the retained modes: field c of mode m at `values[2 * (fields * m + c)]`, re then im.
 * A field is the sum over all modes, both of each pair, of its coefficient times exp(i k.x).
 */
export interface Spectral {
  readonly fields: number;
  readonly values: Float64Array;
}

/** A spectral array of zeros, which threads can share. */
export function spectral(modes: Modes, fields: number): Spectral {
  return { fields, values: sharedNumbers(2 * fields * modes.count) };
}

/** Numbers in memory that threads can share. */
export function sharedNumbers(length: number): Float64Array {
  return new Float64Array(new SharedArrayBuffer(8 * length));
}
