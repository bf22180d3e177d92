/**
 * Constructs the splines M{m}Q{q}: the polynomials by which the nodes of a stencil are weighted in one cell.
 *
 * The arithmetic is exact: all numerators and denominators are integers far below 2^53 (m <= 4, q <= 14), and each
 * coefficient is rounded once, by its last division.
 * Source: Lalescu, Teaca and Carati, Journal of Computational Physics 229 (2010).
 */

/** Integer coefficients of rising powers of the fraction of a cell. */
type Polynomial = readonly number[];

/** A spline with continuous derivatives up to `smoothness` (m) on `nodes` (q, even) nodes an axis. */
export interface Spline {
  readonly smoothness: number;
  readonly nodes: number;
}

/**
 * Polynomials and their first two derivatives: power p of derivative r of polynomial k is entry
 * `(r * count + k) * length + p`.
 */
export interface PolynomialTable {
  readonly count: number;
  /** Coefficients of a polynomial: 2m + 2. */
  readonly length: number;
  readonly coefficients: Float64Array;
}

/** Nodes of the difference stencil at a node on either side of it. */
export function reachOf({ nodes }: Spline): number {
  return nodes / 2 - 1;
}

/**
 * The weights of the q nodes around a cell.
 *
 * At both ends of the cell, differences of highest order on the q - 1 nodes centred there estimate the derivatives
 * 0 .. m; the weight of a node is the Hermite interpolant of its shares in them. Node k has the number k in the stencil
 * of the left end and k - 1 in that of the right end, whose Lagrange denominators are +-k! (q - 2 - k)! and -+(k - 1)!
 * (q - 1 - k)!.
 */
export function splinePolynomials(spline: Spline): PolynomialTable {
  const { smoothness: m, nodes: q } = spline;
  const [left, right] = hermites(m);
  const shares = Array.from({ length: q - 1 }, (_, node) => lagrangeNumerator(q - 1, reachOf(spline), node));
  const rows = Array.from({ length: q }, (_, k) => {
    const sign = (q - 2 - k) % 2 === 0 ? 1 : -1;
    let sum: Polynomial = [];
    for (let l = 0; l <= m; l++) {
      if (k < q - 1) sum = addScaled(sum, sign * (q - 1 - k) * shares[k][l], left[l]);
      if (k > 0) sum = addScaled(sum, -sign * k * shares[k - 1][l], right[l]);
    }
    return { numerator: sum, denominator: factorial(k) * factorial(q - 1 - k) };
  });
  return tableOf(rows, 2 * m + 2);
}

/**
 * The polynomials of degree 2m + 1 whose l-th derivative is 1 at the left end of a cell, l = 0 .. m, then at the right
 * end, all others 0.
 */
export function hermitePolynomials(m: number): PolynomialTable {
  const rows = hermites(m).flatMap((side) => side.map((numerator, l) => ({ numerator, denominator: factorial(l) })));
  return tableOf(rows, 2 * m + 2);
}

/** Derivative r of polynomial k of a table at `x`, by Horner's rule. */
export function evaluatePolynomial(table: PolynomialTable, r: number, k: number, x: number): number {
  const { count, length, coefficients } = table;
  const first = (r * count + k) * length;
  let sum = 0;
  for (let p = first + length - 1; p >= first; p--) sum = sum * x + coefficients[p];
  return sum;
}

/**
 * l! times the Hermite polynomials of a cell: x^l (1 - x)^(m + 1) times the sum over k of C(m + k, k) x^k, and their
 * mirror images.
 */
function hermites(m: number): [Polynomial[], Polynomial[]] {
  const orders = Array.from({ length: m + 1 }, (_, l) => l);
  const left = orders.map((l) => {
    const series = Array.from({ length: m - l + 1 }, (_, k) => factorial(m + k) / (factorial(m) * factorial(k)));
    return multiply(multiply(power([0, 1], l), power([1, -1], m + 1)), series);
  });
  const right = left.map((polynomial, l) =>
    polynomial.reduce<Polynomial>((sum, c, i) => addScaled(sum, l % 2 === 0 ? c : -c, power([1, -1], i)), []),
  );
  return [left, right];
}

/**
 * The product of (at - other + x) over the nodes 0 .. count - 1 other than `node`. Its coefficient of power l over the
 * Lagrange denominator of `node`, times l!, is the weight of that node in the difference for the l-th derivative at
 * node `at`.
 */
function lagrangeNumerator(count: number, at: number, node: number): Polynomial {
  let product: Polynomial = [1];
  for (let other = 0; other < count; other++) if (other !== node) product = multiply(product, [at - other, 1]);
  return product;
}

function tableOf(rows: readonly { numerator: Polynomial; denominator: number }[], length: number): PolynomialTable {
  const coefficients = [0, 1, 2].flatMap((r) =>
    rows.flatMap(({ numerator, denominator }) =>
      Array.from({ length }, (_, p) => ((numerator[p + r] ?? 0) * (factorial(p + r) / factorial(p))) / denominator),
    ),
  );
  return { count: rows.length, length, coefficients: Float64Array.from(coefficients) };
}

function addScaled(f: Polynomial, scale: number, g: Polynomial): Polynomial {
  return Array.from({ length: Math.max(f.length, g.length) }, (_, i) => (f[i] ?? 0) + scale * (g[i] ?? 0));
}

function multiply(f: Polynomial, g: Polynomial): Polynomial {
  const out = new Array<number>(f.length + g.length - 1).fill(0);
  for (let i = 0; i < f.length; i++) for (let j = 0; j < g.length; j++) out[i + j] += f[i] * g[j];
  return out;
}

function power(f: Polynomial, exponent: number): Polynomial {
  return exponent === 0 ? [1] : multiply(f, power(f, exponent - 1));
}

function factorial(n: number): number {
  return n <= 1 ? 1 : n * factorial(n - 1);
}
