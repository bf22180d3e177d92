/**
 * Interpolates and differentiates by the splines M{m}Q{q}: exact derivatives of one piecewise polynomial, tensor
 * products in space.
 */
import { type AxisVectors, FIRST, SECOND, VALUE } from "./axis-vectors.js";
import { MIXED, PURE } from "./derivative.js";
import type { Taps } from "./interpolate.js";
import { across, along, createProducts, type Term } from "./products.js";
import {
  evaluatePolynomial,
  hermitePolynomials,
  type PolynomialTable,
  reachOf,
  type Spline,
  splinePolynomials,
} from "./spline-weights.js";
import { type Place, place, wrap } from "./stencil.js";
import { type PointQuantity, RESULTS } from "./table.js";
import type { Axes, Axis, Scheme } from "./types.js";

const KINDS = [VALUE, FIRST, SECOND] as const;

/** Quantities that splines give: continuous ones, and derivatives up to the second. */
export type SplineQuantity = Exclude<PointQuantity, "laplacian" | "laplacianOfGradient">;

/** The products that make up each quantity. */
export const SPLINE_TERMS: Readonly<Record<SplineQuantity, readonly Term[]>> = {
  value: [{ output: 0, kinds: [VALUE, VALUE, VALUE], scale: 1 }],
  gradient: [0, 1, 2].map((a) => ({ output: a, kinds: along(a, FIRST), scale: 1 })),
  hessian: [
    ...PURE.map((output, a) => ({ output, kinds: along(a, SECOND), scale: 1 })),
    ...MIXED.map(({ output, axes: [a, b] }) => ({ output, kinds: across(a, FIRST, b, FIRST), scale: 1 })),
  ],
};

/**
 * The scheme of a spline for fields of `sizes[f]` components.
 *
 * Continuous with its derivatives up to m. Exact for polynomials of degree d = min(2m + 1, q - 2) on every axis; the
 * error of the l-th derivative is O(h^(d + 1 - l)).
 *
 * @throws RangeError when an axis that is not periodic has fewer than q - 1 nodes
 */
export function createSpline(axes: Axes, quantity: SplineQuantity, spline: Spline, sizes: readonly (1 | 3)[]): Scheme {
  const terms = SPLINE_TERMS[quantity];
  const table = splinePolynomials(spline);
  const vectors = axes.map((axis, a) => {
    const kinds = KINDS.filter((kind) => terms.some((term) => term.kinds[a] === kind));
    return axis.periodic ? new PeriodicVectors(axis, spline, table, kinds) : new BoundedVectors(axis, spline, kinds);
  });
  return createProducts(axes, vectors, terms, RESULTS[quantity], sizes);
}

function createTaps(span: number, used: boolean): Taps {
  const node = Int32Array.from({ length: span }, (_, t) => t);
  return { count: used ? span : 0, node, weight: new Float64Array(span) };
}

/** On a periodic axis the weights of all cells are the same polynomials. */
class PeriodicVectors implements AxisVectors {
  readonly span: number;
  start = 0;
  readonly length: number;
  readonly support: Int32Array;
  readonly taps: readonly Taps[];
  readonly #axis: Axis;
  readonly #kinds: readonly number[];
  readonly #reach: number;
  readonly #table: PolynomialTable;
  /** Factors of the derivatives. */
  readonly #scales: readonly number[];
  readonly #cell: Place = { start: 0, offset: 0 };

  constructor(axis: Axis, spline: Spline, table: PolynomialTable, kinds: readonly number[]) {
    this.span = spline.nodes;
    this.length = spline.nodes;
    this.support = Int32Array.from(KINDS, (kind) => (kinds.includes(kind) ? (1 << spline.nodes) - 1 : 0));
    this.taps = KINDS.map((kind) => createTaps(spline.nodes, kinds.includes(kind)));
    this.#axis = axis;
    this.#kinds = kinds;
    this.#reach = reachOf(spline);
    this.#table = table;
    this.#scales = [1, 1 / axis.spacing, 1 / axis.spacing / axis.spacing];
  }

  locate(x: number): void {
    place(this.#axis, 2, x, this.#cell);
    this.start = wrap(this.#cell.start - this.#reach, this.#axis.nodes);
  }

  weigh(): void {
    for (const kind of this.#kinds) {
      const { weight } = this.taps[kind];
      for (let k = 0; k < weight.length; k++)
        weight[k] = this.#scales[kind] * evaluatePolynomial(this.#table, kind, k, this.#cell.offset);
    }
  }
}

/**
 * On a bounded axis, uniform or tabulated, difference stencils slide inward and stay complete: every node has its own
 * weights for the derivatives 0 .. m, and a cell near an end uses q - 1 nodes.
 */
class BoundedVectors implements AxisVectors {
  readonly span: number;
  start = 0;
  length = 0;
  readonly support: Int32Array;
  readonly taps: readonly Taps[];
  readonly #axis: Axis;
  readonly #kinds: readonly number[];
  readonly #m: number;
  readonly #reach: number;
  /** Weight of node t of the stencil of a node in its l-th derivative: entry `(node * (m + 1) + l) * (q - 1) + t`. */
  readonly #differences: Float64Array;
  readonly #hermite: PolynomialTable;
  readonly #cell: Place = { start: 0, offset: 0 };

  constructor(axis: Axis, spline: Spline, kinds: readonly number[]) {
    const width = spline.nodes - 1;
    if (axis.nodes < width) throw new RangeError(`an axis of ${axis.nodes} nodes has no room for ${width}`);
    this.span = spline.nodes;
    this.support = new Int32Array(KINDS.length);
    this.taps = KINDS.map((kind) => createTaps(spline.nodes, kinds.includes(kind)));
    this.#axis = axis;
    this.#kinds = kinds;
    this.#m = spline.smoothness;
    this.#reach = reachOf(spline);
    this.#hermite = hermitePolynomials(spline.smoothness);
    this.#differences = new Float64Array(axis.nodes * (this.#m + 1) * width);
    // Coordinates of a uniform axis are in units of the spacing.
    const coordinates = axis.coordinates ?? Float64Array.from({ length: axis.nodes }, (_, i) => i);
    for (let node = 0; node < axis.nodes; node++) {
      const first = this.#stencil(node);
      const y = coordinates.subarray(first, first + width);
      const to = node * (this.#m + 1) * width;
      differenceWeights(y, coordinates[node], this.#m, this.#differences.subarray(to, to + (this.#m + 1) * width));
    }
  }

  /** First node of the difference stencil at a node. */
  #stencil(node: number): number {
    return Math.min(Math.max(node - this.#reach, 0), this.#axis.nodes - 1 - 2 * this.#reach);
  }

  locate(x: number): void {
    place(this.#axis, 2, x, this.#cell);
    const cell = this.#cell.start;
    this.start = this.#stencil(cell);
    this.length = this.#stencil(cell + 1) + 2 * this.#reach + 1 - this.start;
    for (const kind of this.#kinds) {
      this.support[kind] = (1 << this.length) - 1;
      this.taps[kind].count = this.length;
    }
  }

  weigh(): void {
    const { coordinates, spacing } = this.#axis;
    const cell = this.#cell.start;
    const width = 2 * this.#reach + 1;
    // Length of the cell in units of the difference weights, and in units of the axis.
    const unit = coordinates === null ? 1 : coordinates[cell + 1] - coordinates[cell];
    const length = coordinates === null ? spacing : unit;
    const x = coordinates === null ? this.#cell.offset : (this.#cell.offset - coordinates[cell]) / unit;
    const shift = this.#stencil(cell + 1) - this.start;
    for (const kind of this.#kinds) {
      const { weight } = this.taps[kind];
      const scale = length ** -kind;
      weight.fill(0);
      for (let l = 0, h = scale; l <= this.#m; l++, h *= unit) {
        const left = h * evaluatePolynomial(this.#hermite, kind, l, x);
        const right = h * evaluatePolynomial(this.#hermite, kind, this.#m + 1 + l, x);
        const from = (cell * (this.#m + 1) + l) * width;
        const next = from + (this.#m + 1) * width;
        for (let t = 0; t < width; t++) {
          weight[t] += left * this.#differences[from + t];
          weight[t + shift] += right * this.#differences[next + t];
        }
      }
    }
  }
}

/**
 * Weights of the derivatives 0 .. m at `x` of the polynomial through the nodes `y`, one row of y.length each, into
 * `out`. Source: Fornberg, Math. Comp. 51 (1988) 699.
 */
function differenceWeights(y: Float64Array, x: number, m: number, out: Float64Array): void {
  const n = y.length;
  out.fill(0);
  out[0] = 1;
  let product = 1;
  for (let i = 1; i < n; i++) {
    let next = 1;
    const most = Math.min(i, m);
    for (let j = 0; j < i; j++) {
      const distance = y[i] - y[j];
      next *= distance;
      if (j === i - 1) {
        for (let l = most; l >= 0; l--) {
          const lower = l > 0 ? l * out[(l - 1) * n + j] : 0;
          out[l * n + i] = (product * (lower - (y[j] - x) * out[l * n + j])) / next;
        }
      }
      for (let l = most; l >= 0; l--) {
        const lower = l > 0 ? l * out[(l - 1) * n + j] : 0;
        out[l * n + j] = ((y[i] - x) * out[l * n + j] - lower) / distance;
      }
    }
    product = next;
  }
}
