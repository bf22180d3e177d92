/**
 * Reads the splines M{m}Q{q} from their tables: the polynomials by which the nodes of a stencil are weighted in one
 * cell.
 *
 * The tables hold exact fractions, made when the project is built (scripts/build-splines.mjs); each coefficient is
 * rounded once, by its division.
 * Source: Lalescu, Teaca and Carati, Journal of Computational Physics 229 (2010).
 */
import { type Fractions, HERMITE_POLYNOMIALS, SPLINE_WEIGHTS } from "./spline-tables.js";

/** A spline with continuous derivatives up to `smoothness` (m) on `nodes` (q, even) nodes per axis. */
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

/** Nodes of a difference stencil on either side of its node. */
export function reachOf({ nodes }: Spline): number {
  return nodes / 2 - 1;
}

/** The weights of the q nodes around a cell. Throws RangeError when there is no such spline. */
export function splinePolynomials({ smoothness, nodes }: Spline): PolynomialTable {
  return tableOf(SPLINE_WEIGHTS.get(`M${smoothness}Q${nodes}`));
}

/**
 * The polynomials of degree 2m + 1 whose l-th derivative is 1 at the left end of a cell, l = 0 .. m, then at the right
 * end, all others 0.
 *
 * @throws RangeError when no spline has m continuous derivatives
 */
export function hermitePolynomials(m: number): PolynomialTable {
  return tableOf(HERMITE_POLYNOMIALS.get(m));
}

/** Derivative r of polynomial k of a table at `x`, by Horner's rule. */
export function evaluatePolynomial(table: PolynomialTable, r: number, k: number, x: number): number {
  const { count, length, coefficients } = table;
  const first = (r * count + k) * length;
  let sum = 0;
  for (let p = first + length - 1; p >= first; p--) sum = sum * x + coefficients[p];
  return sum;
}

/** Polynomials and their derivatives as float64; all products of whole numbers are exact. */
function tableOf(rows: readonly Fractions[] | undefined): PolynomialTable {
  if (rows === undefined) throw new RangeError("there is no such spline");
  const count = rows.length;
  const length = rows[0].length - 1;
  const coefficients = new Float64Array(3 * count * length);
  rows.forEach(([denominator, ...numerators], k) => {
    numerators.forEach((numerator, power) => {
      for (let r = 0, factor = 1; r <= Math.min(2, power); factor *= power - r, r++)
        coefficients[(r * count + k) * length + power - r] = (numerator * factor) / denominator;
    });
  });
  return { count, length, coefficients };
}
