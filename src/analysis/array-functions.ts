/** Computes the operators and functions of expressions on arrays of numbers, one array for each component. */

/** The components of a quantity: 1 array for a scalar, 3 for a vector, 9 for a tensor by rows. */
export type Components = readonly Float64Array[];
export type Shape = "scalar" | "vector" | "tensor";

/** Components of each shape. */
export const SIZES: Readonly<Record<Shape, number>> = { scalar: 1, vector: 3, tensor: 9 };

const THREE = [0, 1, 2] as const;

function map(a: Float64Array, f: (a: number) => number): Float64Array {
  const out = new Float64Array(a.length);
  for (let i = 0; i < a.length; i++) out[i] = f(a[i]);
  return out;
}

function zip(a: Float64Array, b: Float64Array, f: (a: number, b: number) => number): Float64Array {
  const out = new Float64Array(a.length);
  for (let i = 0; i < a.length; i++) out[i] = f(a[i], b[i]);
  return out;
}

// The arithmetic operators have loops of their own, because a function called from many places is not inlined.
function add(a: Float64Array, b: Float64Array): Float64Array {
  const out = new Float64Array(a.length);
  for (let i = 0; i < a.length; i++) out[i] = a[i] + b[i];
  return out;
}
function subtract(a: Float64Array, b: Float64Array): Float64Array {
  const out = new Float64Array(a.length);
  for (let i = 0; i < a.length; i++) out[i] = a[i] - b[i];
  return out;
}
function multiply(a: Float64Array, b: Float64Array): Float64Array {
  const out = new Float64Array(a.length);
  for (let i = 0; i < a.length; i++) out[i] = a[i] * b[i];
  return out;
}
function addProduct(a: Float64Array, b: Float64Array, to: Float64Array): void {
  for (let i = 0; i < a.length; i++) to[i] += a[i] * b[i];
}

/** Operators and functions of two scalars; the first two also take two vectors or two tensors. */
export const BINARY: Readonly<Record<string, (a: Float64Array, b: Float64Array) => Float64Array>> = {
  "+": add,
  "-": subtract,
  "*": multiply,
  "/": (a, b) => zip(a, b, (x, y) => x / y),
  "<": (a, b) => zip(a, b, (x, y) => Number(x < y)),
  "<=": (a, b) => zip(a, b, (x, y) => Number(x <= y)),
  ">": (a, b) => zip(a, b, (x, y) => Number(x > y)),
  ">=": (a, b) => zip(a, b, (x, y) => Number(x >= y)),
  "==": (a, b) => zip(a, b, (x, y) => Number(x === y)),
  "!=": (a, b) => zip(a, b, (x, y) => Number(x !== y)),
  "&&": (a, b) => zip(a, b, (x, y) => Number(x !== 0 && y !== 0)),
  "||": (a, b) => zip(a, b, (x, y) => Number(x !== 0 || y !== 0)),
  min: (a, b) => zip(a, b, Math.min),
  max: (a, b) => zip(a, b, Math.max),
  atan2: (a, b) => zip(a, b, Math.atan2),
};

/** Operators and functions of a scalar. */
export const UNARY: Readonly<Record<string, (a: Float64Array) => Float64Array>> = {
  "-": (a) => map(a, (x) => -x),
  "!": (a) => map(a, (x) => Number(x === 0)),
  sqrt: (a) => map(a, Math.sqrt),
  abs: (a) => map(a, Math.abs),
  exp: (a) => map(a, Math.exp),
  log: (a) => map(a, Math.log),
  sin: (a) => map(a, Math.sin),
  cos: (a) => map(a, Math.cos),
  sign: (a) => map(a, Math.sign),
};

/** Whole powers, by products, so that they have the same bits everywhere. */
export function power(a: Float64Array, exponent: number): Float64Array {
  const out = new Float64Array(a.length).fill(1);
  for (let i = 0; i < Math.abs(exponent); i++) for (let n = 0; n < out.length; n++) out[n] *= a[n];
  if (exponent < 0) for (let n = 0; n < out.length; n++) out[n] = 1 / out[n];
  return out;
}

/** Sum of the products of components in pairs. */
export function contraction(a: Components, b: Components): Float64Array {
  const out = new Float64Array(a[0].length);
  a.forEach((component, i) => {
    addProduct(component, b[i], out);
  });
  return out;
}

export function transposed(a: Components): Components {
  return THREE.flatMap((i) => THREE.map((j) => a[3 * j + i]));
}

/** Product of a tensor with a vector or a tensor, by rows. */
export function product(a: Components, b: Components): Components {
  const columns = b.length === 3 ? [[b[0], b[1], b[2]]] : THREE.map((j) => [b[j], b[3 + j], b[6 + j]]);
  return THREE.flatMap((i) => columns.map((column) => contraction(a.slice(3 * i, 3 * i + 3), column)));
}

export function cross(a: Components, b: Components): Components {
  const minor = (i: number, j: number): Float64Array => subtract(multiply(a[i], b[j]), multiply(a[j], b[i]));
  return [minor(1, 2), minor(2, 0), minor(0, 1)];
}

/** Sum of the diagonal. */
export function trace(a: Components): Float64Array {
  return add(add(a[0], a[4]), a[8]);
}

export function determinant(a: Components): Float64Array {
  return contraction(a.slice(0, 3), cross(a.slice(3, 6), a.slice(6, 9)));
}

/**
 * Eigenvalues of the symmetric part of a tensor, largest first, by Jacobi rotations.
 *
 * Source: Golub and Van Loan, Matrix Computations, section 8.5; error a few units in the last place of the largest.
 */
export function eigenvalues(a: Components): Components {
  const out = THREE.map(() => new Float64Array(a[0].length));
  const m = new Float64Array(9);
  for (let n = 0; n < a[0].length; n++) {
    for (const i of THREE) for (const j of THREE) m[3 * i + j] = (a[3 * i + j][n] + a[3 * j + i][n]) / 2;
    for (let sweep = 0; sweep < 8 && m[1] ** 2 + m[2] ** 2 + m[5] ** 2 > 0; sweep++) {
      rotate(m, 0, 1, 2);
      rotate(m, 0, 2, 1);
      rotate(m, 1, 2, 0);
    }
    const [high, middle, low] = Float64Array.of(m[0], m[4], m[8]).sort().reverse();
    [out[0][n], out[1][n], out[2][n]] = [high, middle, low];
  }
  return out;
}

/** Makes entry (p, q) of a symmetric matrix zero by a rotation; r is the third index. */
function rotate(m: Float64Array, p: number, q: number, r: number): void {
  const off = m[3 * p + q];
  if (off === 0) return;
  const theta = (m[4 * q] - m[4 * p]) / (2 * off);
  const t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const c = 1 / Math.sqrt(t * t + 1);
  const s = t * c;
  m[4 * p] -= t * off;
  m[4 * q] += t * off;
  const [pr, qr] = [m[3 * p + r], m[3 * q + r]];
  m[3 * p + q] = m[3 * q + p] = 0;
  m[3 * p + r] = m[3 * r + p] = c * pr - s * qr;
  m[3 * q + r] = m[3 * r + q] = s * pr + c * qr;
}

/** Where the condition is not 0, the first, elsewhere the second. */
export function choose(condition: Float64Array, yes: Components, no: Components): Components {
  return yes.map((a, c) => Float64Array.from(condition, (one, i) => (one !== 0 ? a[i] : no[c][i])));
}
