/** Differentiates and integrates on the Chebyshev nodes of -1 <= y <= 1, by dense matrices. */

/** A square matrix, row by row. */
export type Matrix = Float64Array;

/** The nodes -cos(pi j / (count - 1)), ascending, the ends included. */
export function chebyshevNodes(count: number): Float64Array {
  return Float64Array.from({ length: count }, (_, j) => -Math.cos((Math.PI * j) / (count - 1)));
}

/**
 * The matrix that differentiates the polynomial through values at the nodes.
 *
 * Source: Trefethen, Spectral Methods in MATLAB (2000), chapter 6; differences of nodes by sines and diagonals by sums
 * against rounding: Baltensperger and Trummer, SIAM J. Sci. Comput. 24 (2003).
 */
export function chebyshevDerivative(count: number): Matrix {
  const angle = (j: number) => (Math.PI * j) / (2 * (count - 1));
  const weight = (j: number) => (j === 0 || j === count - 1 ? 2 : 1) * (j % 2 === 0 ? 1 : -1);
  const derivative = new Float64Array(count * count);
  for (let i = 0; i < count; i++) {
    let sum = 0;
    for (let j = 0; j < count; j++) {
      if (i === j) continue;
      const difference = 2 * Math.sin(angle(i + j)) * Math.sin(angle(i - j));
      const entry = weight(i) / weight(j) / difference;
      derivative[i * count + j] = entry;
      sum += entry;
    }
    derivative[i * count + i] = -sum;
  }
  return derivative;
}

/** Weights of the integral over -1 <= y <= 1 (Clenshaw and Curtis): exact for polynomials of degree < count. */
export function chebyshevIntegral(count: number): Float64Array {
  const last = count - 1;
  return Float64Array.from({ length: count }, (_, j) => {
    let sum = 1;
    for (let k = 1; 2 * k <= last; k++) {
      const term = (2 * Math.cos((2 * Math.PI * k * j) / last)) / (4 * k * k - 1);
      sum -= 2 * k === last ? term / 2 : term;
    }
    return (j === 0 || j === last ? 1 : 2) * (sum / last);
  });
}

/** The product of two matrices of `count` rows. */
export function product(left: Matrix, right: Matrix, count: number): Matrix {
  const all = new Float64Array(count * count);
  for (let i = 0; i < count; i++)
    for (let k = 0; k < count; k++) {
      const factor = left[i * count + k];
      if (factor === 0) continue;
      for (let j = 0; j < count; j++) all[i * count + j] = all[i * count + j] + factor * right[k * count + j];
    }
  return all;
}

/** The inverse of a matrix of `count` rows, by elimination with row pivots. Throws RangeError if it is singular. */
export function inverse(matrix: Matrix, count: number): Matrix {
  const left = matrix.slice();
  const right = new Float64Array(count * count);
  for (let i = 0; i < count; i++) right[i * count + i] = 1;
  for (let column = 0; column < count; column++) {
    let pivot = column;
    for (let row = column + 1; row < count; row++)
      if (Math.abs(left[row * count + column]) > Math.abs(left[pivot * count + column])) pivot = row;
    const value = left[pivot * count + column];
    if (value === 0) throw new RangeError("a singular matrix has no inverse");
    for (const side of [left, right]) {
      const other = side.slice(pivot * count, (pivot + 1) * count);
      side.copyWithin(pivot * count, column * count, (column + 1) * count);
      for (let j = 0; j < count; j++) side[column * count + j] = other[j] / value;
    }
    for (let row = 0; row < count; row++) {
      const factor = left[row * count + column];
      if (row === column || factor === 0) continue;
      for (const side of [left, right])
        for (let j = 0; j < count; j++)
          side[row * count + j] = side[row * count + j] - factor * side[column * count + j];
    }
  }
  return right;
}

/**
 * Overwrites `2 count` numbers of `out` from `to` on with the matrix times the `count` real and then `count` imaginary
 * parts of `values` from `from` on.
 */
export function multiply(
  matrix: Matrix,
  count: number,
  values: Float64Array,
  from: number,
  out: Float64Array,
  to: number,
): void {
  const shift = from + count;
  for (let i = 0, at = 0; i < count; i++) {
    let re = 0;
    let im = 0;
    let re1 = 0;
    let im1 = 0;
    let j = 0;
    for (; j + 1 < count; j += 2, at += 2) {
      const first = matrix[at];
      const second = matrix[at + 1];
      re += first * values[from + j];
      im += first * values[shift + j];
      re1 += second * values[from + j + 1];
      im1 += second * values[shift + j + 1];
    }
    if (j < count) {
      re += matrix[at] * values[from + j];
      im += matrix[at++] * values[shift + j];
    }
    out[to + i] = re + re1;
    out[to + count + i] = im + im1;
  }
}
