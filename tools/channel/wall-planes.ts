/** Transforms planes parallel to the walls between nodes and the Fourier modes that the 2/3 rule keeps. */
import FFT from "fft.js";

/** The modes exp(i (kx x + kz z)) of real fields that are kept: one of each pair of conjugates, the mean first. */
export interface WallModes {
  readonly count: number;
  readonly kx: Float64Array;
  readonly kz: Float64Array;
}

/** Numbers of nodes (powers of two) along x and z, and the periods. */
export interface WallGrid {
  readonly nodes: readonly [number, number];
  readonly lengths: readonly [number, number];
}

/** Largest kept number of waves along an axis: products of two kept modes fold back onto none. */
const highest = (nodes: number) => Math.floor((nodes - 1) / 3);

/** The order of modes: (0, 0 to nz), then (1 to nx, -nz to nz). */
export function wallModes({ nodes, lengths }: WallGrid): WallModes {
  const [nx, nz] = [highest(nodes[0]), highest(nodes[1])];
  const waves: [number, number][] = [];
  for (let k = 0; k <= nz; k++) waves.push([0, k]);
  for (let i = 1; i <= nx; i++) for (let k = -nz; k <= nz; k++) waves.push([i, k]);
  return {
    count: waves.length,
    kx: Float64Array.from(waves, ([i]) => (2 * Math.PI * i) / lengths[0]),
    kz: Float64Array.from(waves, ([, k]) => (2 * Math.PI * k) / lengths[1]),
  };
}

/**
 * Transforms two real fields at once, one as the real and one as the imaginary part. In the fields of modes, the real
 * parts of a mode's values along y precede the imaginary ones; a plane has re and im interleaved, [z][x].
 */
export class WallPlanes {
  readonly #heights: number;
  readonly #nx: number;
  readonly #nz: number;
  readonly #alongX: FFT;
  readonly #alongZ: FFT;
  readonly #line: Float64Array;
  readonly #image: Float64Array;
  /** Two fields after the transform along z: [field][kx][z], complex. */
  readonly #columns: readonly [Float64Array, Float64Array];

  constructor({ nodes }: WallGrid, heights: number) {
    [this.#nx, this.#nz] = nodes;
    this.#heights = heights;
    this.#alongX = new FFT(this.#nx);
    this.#alongZ = new FFT(this.#nz);
    this.#line = new Float64Array(2 * Math.max(...nodes));
    this.#image = new Float64Array(2 * Math.max(...nodes));
    const length = 2 * (highest(this.#nx) + 1) * this.#nz;
    this.#columns = [new Float64Array(length), new Float64Array(length)];
  }

  /** Overwrites a plane with the values at height `j` of two fields of modes. */
  toNodes(first: Float64Array, second: Float64Array, j: number, plane: Float64Array): void {
    const [nx, nz] = [this.#nx, this.#nz];
    const kept = highest(nx);
    const line = this.#line.subarray(0, 2 * nz);
    const row = this.#line.subarray(0, 2 * nx);
    const image = this.#image.subarray(0, 2 * nx);
    for (const [f, field] of [first, second].entries()) {
      for (let i = 0; i <= kept; i++) {
        this.#gather(field, i, j, line);
        // The inverse is the conjugate of the forward transform of the conjugate.
        const column = this.#columns[f].subarray(2 * nz * i, 2 * nz * (i + 1));
        this.#alongZ.transform(column, line);
      }
    }
    const [a, b] = this.#columns;
    for (let z = 0; z < nz; z++) {
      row.fill(0);
      row[0] = a[2 * z];
      row[1] = -b[2 * z];
      for (let i = 1; i <= kept; i++) {
        // The columns are conjugates: a and b stand for conj(A) and conj(B), and the row for conj(A + i B).
        const at = 2 * (nz * i + z);
        row[2 * i] = a[at] + b[at + 1];
        row[2 * i + 1] = a[at + 1] - b[at];
        row[2 * (nx - i)] = a[at] - b[at + 1];
        row[2 * (nx - i) + 1] = -a[at + 1] - b[at];
      }
      this.#alongX.transform(image, row);
      for (let x = 0; x < nx; x++) {
        plane[2 * (z * nx + x)] = image[2 * x];
        plane[2 * (z * nx + x) + 1] = -image[2 * x + 1];
      }
    }
  }

  /** Overwrites the modes at height `j` of two fields with those of a plane; `second` null drops the imaginary part. */
  toModes(plane: Float64Array, j: number, first: Float64Array, second: Float64Array | null): void {
    const [nx, nz] = [this.#nx, this.#nz];
    const kept = highest(nx);
    const row = this.#image.subarray(0, 2 * nx);
    const [a, b] = this.#columns;
    for (let z = 0; z < nz; z++) {
      this.#alongX.transform(row, plane.subarray(2 * nx * z, 2 * nx * (z + 1)));
      for (let i = 0; i <= kept; i++) {
        const at = 2 * (nz * i + z);
        const [re, im] = [row[2 * i], row[2 * i + 1]];
        const mirror = i === 0 ? 0 : nx - i;
        const [mre, mim] = [row[2 * mirror], row[2 * mirror + 1]];
        a[at] = (re + mre) / 2;
        a[at + 1] = (im - mim) / 2;
        b[at] = (im + mim) / 2;
        b[at + 1] = (mre - re) / 2;
      }
    }
    const image = this.#image.subarray(0, 2 * nz);
    for (const [f, field] of [first, second].entries()) {
      if (field === null) continue;
      for (let i = 0; i <= kept; i++) {
        this.#alongZ.transform(image, this.#columns[f].subarray(2 * nz * i, 2 * nz * (i + 1)));
        this.#scatter(image, field, i, j);
      }
    }
  }

  /** Overwrites `line` with the conjugates of the modes (i, every kz). */
  #gather(field: Float64Array, i: number, j: number, line: Float64Array): void {
    const nz = this.#nz;
    const kept = highest(nz);
    const heights = this.#heights;
    line.fill(0);
    for (let k = i === 0 ? 0 : -kept; k <= kept; k++) {
      const at = 2 * heights * this.#mode(i, k) + j;
      const slot = 2 * (k < 0 ? nz + k : k);
      line[slot] = field[at];
      line[slot + 1] = -field[at + heights];
      if (i > 0 || k === 0) continue;
      line[2 * (nz - k)] = field[at];
      line[2 * (nz - k) + 1] = field[at + heights];
    }
  }

  #scatter(image: Float64Array, field: Float64Array, i: number, j: number): void {
    const nz = this.#nz;
    const kept = highest(nz);
    const scale = 1 / (this.#nx * nz);
    for (let k = i === 0 ? 0 : -kept; k <= kept; k++) {
      const at = 2 * this.#heights * this.#mode(i, k) + j;
      const slot = 2 * (k < 0 ? nz + k : k);
      field[at] = image[slot] * scale;
      field[at + this.#heights] = i === 0 && k === 0 ? 0 : image[slot + 1] * scale;
    }
  }

  #mode(i: number, k: number): number {
    const kept = highest(this.#nz);
    return i === 0 ? k : kept + 1 + (i - 1) * (2 * kept + 1) + kept + k;
  }
}
