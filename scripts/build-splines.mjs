/**
 * Writes src/kernels/spline-tables.ts: the polynomials of the splines M{m}Q{q}, as exact fractions.
 *
 * At both ends of a cell, the polynomial through the q - 1 nodes centred there gives the derivatives 0 .. m; the spline
 * is the polynomial of degree 2m + 1 that has them at both ends. The weight of a node is its share in that polynomial.
 * Source: Lalescu, Teaca and Carati, Journal of Computational Physics 229 (2010).
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const TARGET = fileURLToPath(new URL("../src/kernels/spline-tables.ts", import.meta.url));
const NODES = [4, 6, 8, 10, 12, 14];
const SMOOTHNESSES = [1, 2, 3, 4];
/** Largest factor that a second derivative puts before a coefficient: 9 times 8, of the highest power. */
const LARGEST_FACTOR = 72n;

/** A fraction in lowest terms, its denominator positive. */
function fraction(numerator, denominator) {
  let [a, b] = [numerator < 0n ? -numerator : numerator, denominator < 0n ? -denominator : denominator];
  while (b > 0n) [a, b] = [b, a % b];
  const divisor = denominator < 0n ? -a : a;
  return { numerator: numerator / divisor, denominator: denominator / divisor };
}

const ZERO = fraction(0n, 1n);

function plus(f, g) {
  return fraction(f.numerator * g.denominator + g.numerator * f.denominator, f.denominator * g.denominator);
}

function times(f, g) {
  return fraction(f.numerator * g.numerator, f.denominator * g.denominator);
}

/** Polynomials are lists of fractions, by rising powers. */
function polynomial(...coefficients) {
  return coefficients.map((c) => fraction(BigInt(c), 1n));
}

function sum(f, g) {
  return Array.from({ length: Math.max(f.length, g.length) }, (_, p) => plus(f[p] ?? ZERO, g[p] ?? ZERO));
}

function scaled(f, factor) {
  return f.map((c) => times(c, factor));
}

function product(f, g) {
  const out = new Array(f.length + g.length - 1).fill(ZERO);
  for (let i = 0; i < f.length; i++)
    for (let j = 0; j < g.length; j++) out[i + j] = plus(out[i + j], times(f[i], g[j]));
  return out;
}

function power(f, exponent) {
  return exponent === 0 ? polynomial(1) : product(f, power(f, exponent - 1));
}

/** f(1 - x). */
function mirrored(f) {
  return f.reduce((out, c, p) => sum(out, scaled(power(polynomial(1, -1), p), c)), polynomial(0));
}

function factorial(n) {
  return n <= 1 ? 1n : BigInt(n) * factorial(n - 1);
}

/**
 * The polynomial of degree 2m + 1 whose l-th derivative is 1 at 0, and whose others up to the m-th are 0 at 0 and 1.
 */
function hermite(m, l) {
  const series = Array.from({ length: m - l + 1 }, (_, k) => fraction(factorial(m + k), factorial(m) * factorial(k)));
  const whole = product(product(power(polynomial(0, 1), l), power(polynomial(1, -1), m + 1)), series);
  return scaled(whole, fraction(1n, factorial(l)));
}

/** As `hermite`, with the ends exchanged. */
function hermiteAtEnd(m, l) {
  return scaled(mirrored(hermite(m, l)), fraction(l % 2 === 0 ? 1n : -1n, 1n));
}

/** The polynomial that is 1 at node `node`, and 0 at the other nodes from -reach to reach; 0 for a node beyond them. */
function lagrange(reach, node) {
  if (Math.abs(node) > reach) return polynomial(0);
  let out = polynomial(1);
  for (let other = -reach; other <= reach; other++) {
    if (other !== node) out = scaled(product(out, polynomial(-other, 1)), fraction(1n, BigInt(node - other)));
  }
  return out;
}

/** The weight of node k of q. */
function weight(m, q, k) {
  const reach = q / 2 - 1;
  const [start, end] = [lagrange(reach, k - reach), lagrange(reach, k - reach - 1)];
  let out = polynomial(0);
  for (let l = 0; l <= m; l++) {
    const derivative = (f) => times(f[l] ?? ZERO, fraction(factorial(l), 1n));
    out = sum(out, scaled(hermite(m, l), derivative(start)));
    out = sum(out, scaled(hermiteAtEnd(m, l), derivative(end)));
  }
  return out;
}

/** The common denominator of a polynomial, and its numerators by rising powers. */
function row(f, length) {
  const common = f.reduce((out, { denominator }) => out * fraction(denominator, out).numerator, 1n);
  const numerators = Array.from({ length }, (_, p) => times(f[p] ?? ZERO, fraction(common, 1n)).numerator);
  const numbers = [common, ...numerators];
  if (numbers.some((n) => LARGEST_FACTOR * (n < 0n ? -n : n) > BigInt(Number.MAX_SAFE_INTEGER)))
    throw new RangeError("a coefficient of a spline is too large for a float64");
  return `[${numbers.join(", ")}]`;
}

function entry(name, m, polynomials) {
  const rows = polynomials.map((f) => `      ${row(f, 2 * m + 2)},\n`);
  return `  [\n    ${name},\n    [\n${rows.join("")}    ],\n  ],\n`;
}

/** The text of the module. */
function splineTables() {
  const splines = NODES.flatMap((q) =>
    SMOOTHNESSES.filter((m) => m <= q - 2).map((m) =>
      entry(
        `"M${m}Q${q}"`,
        m,
        Array.from({ length: q }, (_, k) => weight(m, q, k)),
      ),
    ),
  );
  const hermites = SMOOTHNESSES.map((m) => {
    const orders = Array.from({ length: m + 1 }, (_, l) => l);
    return entry(m, m, [...orders.map((l) => hermite(m, l)), ...orders.map((l) => hermiteAtEnd(m, l))]);
  });
  return `/** Holds the polynomials of the splines as exact fractions. Written by scripts/build-splines.mjs, which says how. */

/** The common denominator of a polynomial of the fraction of a cell, then its numerators by rising powers. */
export type Fractions = readonly number[];

/** By spline: the weights of its q nodes. */
export const SPLINE_WEIGHTS: ReadonlyMap<string, readonly Fractions[]> = new Map([
${splines.join("")}]);

/**
 * By number m of continuous derivatives: the polynomials of degree 2m + 1 whose l-th derivative is 1 at the start of a
 * cell, l = 0 .. m, then at its end, all others up to the m-th being 0 at both.
 */
export const HERMITE_POLYNOMIALS: ReadonlyMap<number, readonly Fractions[]> = new Map([
${hermites.join("")}]);
`;
}

function current() {
  try {
    return readFileSync(TARGET, "utf8");
  } catch {
    return "";
  }
}

const text = splineTables();
if (text !== current()) writeFileSync(TARGET, text);
