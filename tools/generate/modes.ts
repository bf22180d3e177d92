/** Lists the Fourier modes a simulation keeps, and packs two real fields into one complex cube. */

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
  /** Element at which k and -k start in a complex cube. */
  readonly at: Int32Array;
  readonly mirror: Int32Array;
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
  const at = new Int32Array(count);
  const mirror = new Int32Array(count);
  const square = new Int32Array(count);
  const wrap = (component: number) => (component + nodes) % nodes;
  const place = (x: number, y: number, z: number) => 2 * ((wrap(z) * nodes + wrap(y)) * nodes + wrap(x));
  for (let m = 0; m < count; m++) {
    const [x, y, z] = k.slice(3 * m, 3 * m + 3) as [number, number, number];
    at[m] = place(x, y, z);
    mirror[m] = place(-x, -y, -z);
    square[m] = x * x + y * y + z * z;
  }
  return {
    nodes,
    kmax,
    count,
    k: Int32Array.from(k),
    square,
    shell: square.map((s) => Math.round(Math.sqrt(s))),
    at,
    mirror,
  };
}

/**
 * Coefficients of real fields on the retained modes: field c of mode m at `values[2 * (fields * m + c)]`, re then im.
 * A field is the sum over all modes, both of each pair, of its coefficient times exp(i k.x).
 */
export interface Spectral {
  readonly fields: number;
  readonly values: Float64Array;
}

/** A spectral array of zeros. */
export function spectral(modes: Modes, fields: number): Spectral {
  return { fields, values: new Float64Array(2 * fields * modes.count) };
}

/** Overwrites `cube` with the transform of field `a` + i times field `b`; without `b` the imaginary part is zero. */
export function pack(modes: Modes, from: Spectral, a: number, b: number | null, cube: Float64Array): void {
  const { at, mirror, count } = modes;
  const { values, fields } = from;
  cube.fill(0);
  for (let m = 0; m < count; m++) {
    const base = 2 * fields * m;
    const ar = values[base + 2 * a];
    const ai = values[base + 2 * a + 1];
    const br = b === null ? 0 : values[base + 2 * b];
    const bi = b === null ? 0 : values[base + 2 * b + 1];
    const p = at[m];
    const q = mirror[m];
    cube[p] = ar - bi;
    cube[p + 1] = ai + br;
    cube[q] = ar + bi;
    cube[q + 1] = br - ai;
  }
}

/**
 * Reads from the forward transform of (field `a` + i times field `b`) the coefficients of both; `b` may be left out.
 */
export function unpack(modes: Modes, cube: Float64Array, into: Spectral, a: number, b: number | null): void {
  const { at, mirror, count, nodes } = modes;
  const { values, fields } = into;
  const half = 0.5 / nodes ** 3;
  for (let m = 0; m < count; m++) {
    const base = 2 * fields * m;
    const pr = cube[at[m]];
    const pi = cube[at[m] + 1];
    const qr = cube[mirror[m]];
    const qi = cube[mirror[m] + 1];
    values[base + 2 * a] = half * (pr + qr);
    values[base + 2 * a + 1] = half * (pi - qi);
    if (b !== null) {
      values[base + 2 * b] = half * (pi + qi);
      values[base + 2 * b + 1] = half * (qr - pr);
    }
  }
}
