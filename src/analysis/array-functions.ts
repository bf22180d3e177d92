/** Operators and functions of expressions on arrays of numbers, one array for each component. */

/** The components of a quantity: 1 array for a scalar, 3 for a vector, 9 for a tensor by rows. */
export type Components = readonly Float64Array[];
export type Shape = "scalar" | "vector" | "tensor";
export type ScratchArray = () => Float64Array;

export const SIZES: Readonly<Record<Shape, number>> = { scalar: 1, vector: 3, tensor: 9 };

const THREE = [0, 1, 2] as const;

type Binary = (a: Float64Array, b: Float64Array, out: Float64Array) => Float64Array;
type Unary = (a: Float64Array, out: Float64Array) => Float64Array;

const unary =
  (f: (a: number) => number): Unary =>
  (a, out) => {
    for (let i = 0; i < a.length; i++) out[i] = f(a[i]);
    return out;
  };

const binary =
  (f: (a: number, b: number) => number): Binary =>
  (a, b, out) => {
    for (let i = 0; i < a.length; i++) out[i] = f(a[i], b[i]);
    return out;
  };

// The arithmetic operators have loops of their own, because a function called from many places is not inlined.
const add: Binary = (a, b, out) => {
  for (let i = 0; i < a.length; i++) out[i] = a[i] + b[i];
  return out;
};
const subtract: Binary = (a, b, out) => {
  for (let i = 0; i < a.length; i++) out[i] = a[i] - b[i];
  return out;
};
const multiply: Binary = (a, b, out) => {
  for (let i = 0; i < a.length; i++) out[i] = a[i] * b[i];
  return out;
};
const divide: Binary = (a, b, out) => {
  for (let i = 0; i < a.length; i++) out[i] = a[i] / b[i];
  return out;
};
const root: Unary = (a, out) => {
  for (let i = 0; i < a.length; i++) out[i] = Math.sqrt(a[i]);
  return out;
};
function addProduct(times: number, a: Float64Array, b: Float64Array, to: Float64Array): void {
  if (times === 1) for (let i = 0; i < a.length; i++) to[i] += a[i] * b[i];
  else for (let i = 0; i < a.length; i++) to[i] += times * a[i] * b[i];
}

/** A comparison or a logical operator: 0 or 1, and NaN if an operand is NaN. */
const logical = (f: (a: number, b: number) => boolean): Binary =>
  binary((x, y) => (Number.isNaN(x) || Number.isNaN(y) ? Number.NaN : Number(f(x, y))));

/** Operators and functions of two scalars; the first two also take two vectors or two tensors. */
export const BINARY: Readonly<Record<string, Binary>> = {
  "+": add,
  "-": subtract,
  "*": multiply,
  "/": divide,
  "<": logical((x, y) => x < y),
  "<=": logical((x, y) => x <= y),
  ">": logical((x, y) => x > y),
  ">=": logical((x, y) => x >= y),
  "==": logical((x, y) => x === y),
  "!=": logical((x, y) => x !== y),
  "&&": logical((x, y) => x !== 0 && y !== 0),
  "||": logical((x, y) => x !== 0 || y !== 0),
  min: binary(Math.min),
  max: binary(Math.max),
  atan2: binary(Math.atan2),
};

export const UNARY: Readonly<Record<string, Unary>> = {
  "-": unary((x) => -x),
  "!": unary((x) => (Number.isNaN(x) ? x : Number(x === 0))),
  sqrt: root,
  abs: unary(Math.abs),
  exp: unary(Math.exp),
  log: unary(Math.log),
  sin: unary(Math.sin),
  cos: unary(Math.cos),
  sign: unary(Math.sign),
};

/** Whole powers, by products, so that they have the same bits everywhere; NaN^0 is NaN. */
export function power(a: Float64Array, exponent: number, out: Float64Array): Float64Array {
  for (let n = 0; n < out.length; n++) out[n] = Number.isNaN(a[n]) ? Number.NaN : 1;
  for (let i = 0; i < Math.abs(exponent); i++) multiply(out, a, out);
  if (exponent < 0) for (let n = 0; n < out.length; n++) out[n] = 1 / out[n];
  return out;
}

/** Applies `f` to each component, once to arrays that several components share: symmetric tensors have six. */
export function eachOnce(a: Components, f: (one: Float64Array) => Float64Array): Components {
  const out: Float64Array[] = [];
  for (const one of a) {
    const same = a.indexOf(one);
    out.push(same < out.length ? out[same] : f(one));
  }
  return out;
}

export function sums(a: Components, b: Components, scratch: ScratchArray): Components {
  const out: Float64Array[] = [];
  for (let c = 0; c < a.length; c++) {
    const same = pairBefore(a, b, c);
    out.push(same >= 0 ? out[same] : add(a[c], b[c], scratch()));
  }
  return out;
}

/** The index of an earlier pair of the same arrays, in either order; -1 for none. */
function pairBefore(a: Components, b: Components, c: number): number {
  return a.findIndex((one, i) => i < c && ((one === a[c] && b[i] === b[c]) || (one === b[c] && b[i] === a[c])));
}

/** Sum of the products of components in pairs; equal pairs are multiplied once. */
export function contraction(a: Components, b: Components, out: Float64Array): Float64Array {
  const first = a.map((_, c) => pairBefore(a, b, c));
  out.fill(0);
  for (let c = 0; c < a.length; c++) {
    const times = 1 + first.filter((i) => i === c).length;
    if (first[c] < 0) addProduct(times, a[c], b[c], out);
  }
  return out;
}

export function transposed(a: Components): Components {
  return THREE.flatMap((i) => THREE.map((j) => a[3 * j + i]));
}

export function product(a: Components, b: Components, scratch: ScratchArray): Components {
  const columns = b.length === 3 ? [[b[0], b[1], b[2]]] : THREE.map((j) => [b[j], b[3 + j], b[6 + j]]);
  return THREE.flatMap((i) => columns.map((column) => contraction(a.slice(3 * i, 3 * i + 3), column, scratch())));
}

export function cross(a: Components, b: Components, scratch: ScratchArray): Components {
  const minor = (i: number, j: number): Float64Array => {
    const out = multiply(a[i], b[j], scratch());
    for (let n = 0; n < out.length; n++) out[n] -= a[j][n] * b[i][n];
    return out;
  };
  return [minor(1, 2), minor(2, 0), minor(0, 1)];
}

export function trace(a: Components, out: Float64Array): Float64Array {
  return add(add(a[0], a[4], out), a[8], out);
}

export function determinant(a: Components, scratch: ScratchArray): Float64Array {
  return contraction(a.slice(0, 3), cross(a.slice(3, 6), a.slice(6, 9), scratch), scratch());
}

/**
 * Eigenvalues of the symmetric part of a tensor, largest first, by Jacobi rotations.
 * Source: Golub and Van Loan, Matrix Computations, section 8.5; error a few units in the last place of the largest.
 */
export function eigenvalues(a: Components, scratch: ScratchArray): Components {
  const out = [scratch(), scratch(), scratch()];
  const m = new Float64Array(9);
  for (let n = 0; n < a[0].length; n++) {
    diagonalise(a, n, m, null);
    out[0][n] = Math.max(m[0], m[4], m[8]);
    out[1][n] = Math.max(Math.min(m[0], m[4]), Math.min(Math.max(m[0], m[4]), m[8]));
    out[2][n] = Math.min(m[0], m[4], m[8]);
  }
  return out;
}

/** Diagonalises the symmetric part of the tensor at node n; columns of `turned`, if given, become its eigenvectors. */
function diagonalise(a: Components, n: number, m: Float64Array, turned: Float64Array | null): void {
  for (let i = 0; i < 3; i++) for (let j = 0; j < 3; j++) m[3 * i + j] = (a[3 * i + j][n] + a[3 * j + i][n]) / 2;
  // The rotations leave out entries that are not numbers.
  if (!Number.isFinite(m[1] + m[2] + m[5])) m.fill(Number.NaN);
  turned?.set([1, 0, 0, 0, 1, 0, 0, 0, 1]);
  for (let sweep = 0; sweep < 8 && m[1] * m[1] + m[2] * m[2] + m[5] * m[5] > 0; sweep++) {
    rotate(m, 0, 1, 2, turned);
    rotate(m, 0, 2, 1, turned);
    rotate(m, 1, 2, 0, turned);
  }
}

/** Difference of eigenvalues, relative to the largest, below which their eigenvectors are undetermined. */
const DISTINCT = 1e-6;

/**
 * Unit eigenvectors of the symmetric part of a tensor, of the eigenvalue number `index` from the largest: their
 * component of largest magnitude, the first of equal ones, is positive. NaN where two eigenvalues are the same.
 */
export function eigenvectors(a: Components, index: number, scratch: ScratchArray): Components {
  const out = [scratch(), scratch(), scratch()];
  const [m, v] = [new Float64Array(9), new Float64Array(9)];
  for (let n = 0; n < a[0].length; n++) {
    diagonalise(a, n, m, v);
    const order = THREE.toSorted((i, j) => m[4 * j] - m[4 * i]);
    const [high, middle, low] = order.map((i) => m[4 * i]);
    const least = DISTINCT * Math.max(Math.abs(high), Math.abs(low));
    const isKnown = high - middle > least && middle - low > least;
    const vector = THREE.map((i) => v[3 * i + order[index]]);
    const largest = Math.max(...vector.map(Math.abs));
    const lead = vector.find((one) => Math.abs(one) >= largest * (1 - 1e-12)) ?? 1;
    for (let c = 0; c < 3; c++) out[c][n] = isKnown ? Math.sign(lead) * vector[c] : Number.NaN;
  }
  return out;
}

/** Zeroes entry (p, q) of a symmetric matrix by a rotation; r is the third index. */
function rotate(m: Float64Array, p: number, q: number, r: number, turned: Float64Array | null): void {
  const off = m[3 * p + q];
  if (off === 0) return;
  const theta = (m[4 * q] - m[4 * p]) / (2 * off);
  const t = (1 / theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const c = 1 / Math.sqrt(t * t + 1);
  const s = t * c;
  m[4 * p] -= t * off;
  m[4 * q] += t * off;
  const pr = m[3 * p + r];
  const qr = m[3 * q + r];
  m[3 * p + q] = m[3 * q + p] = 0;
  m[3 * p + r] = m[3 * r + p] = c * pr - s * qr;
  m[3 * q + r] = m[3 * r + q] = s * pr + c * qr;
  for (let i = 0; turned !== null && i < 9; i += 3) {
    const [vp, vq] = [turned[i + p], turned[i + q]];
    turned[i + p] = c * vp - s * vq;
    turned[i + q] = s * vp + c * vq;
  }
}

/** The first array where the condition is not 0, the second where it is 0, NaN where it is NaN. */
export function choose(condition: Float64Array, yes: Components, no: Components, scratch: ScratchArray): Components {
  return yes.map((a, c) => {
    const out = scratch();
    for (let i = 0; i < out.length; i++) {
      const chosen = condition[i] === 0 ? no[c][i] : a[i];
      out[i] = Number.isNaN(condition[i]) ? Number.NaN : chosen;
    }
    return out;
  });
}

/** Real powers that are not whole; NaN of negative numbers. */
export function realPower(a: Float64Array, exponent: number, out: Float64Array): Float64Array {
  for (let i = 0; i < a.length; i++) out[i] = a[i] < 0 ? Number.NaN : a[i] ** exponent;
  return out;
}
