/**
 * Interpolates and differentiates by splines: weights from tables of polynomials, sums of separable products over
 * stencil boxes.
 */
import { storeFirstNodes } from "./nodes";
import { Axis } from "./records";
import { addFields, FREE } from "./tensor";

/** Bytes of one weight vector: 14 nodes. */
const VECTOR = 112;
/** Vectors per axis: values, first and second derivative. */
const VECTORS = 3;
/** Points whose first nodes and weights are computed before any node is read; even. */
const POINTS = 16;

/** Places in the work area. */
const NODES = FREE;
const WEIGHTS = NODES + 12 * POINTS;

/**
 * Stores `nodes` polynomials of `degree` at two fractions, times `scale`, at `low` and `high`; their coefficients have
 * rising powers.
 */
// @ts-ignore: decorator
@inline
function storePolynomials(nodes: i32, table: usize, degree: i32, x: v128, scale: v128, low: usize, high: usize): void {
  const bytes = <usize>degree << 3;
  for (const end = low + (<usize>nodes << 3); low < end; low += 8) {
    let sum = v128.load64_splat(table + bytes);
    for (let at = table + bytes - 8; at >= table; at -= 8) sum = f64x2.add(f64x2.mul(sum, x), v128.load64_splat(at));
    sum = f64x2.mul(scale, sum);
    v128.store64_lane(low, sum, 0);
    v128.store64_lane(high, sum, 1);
    table += bytes + 8;
    high += 8;
  }
}

/**
 * First nodes and weights of `count` points along one axis, two points at a time; a lone last point is taken twice.
 *
 * @param derivatives bits of the derivatives (0, 1, 2) whose weights are wanted
 * @param table       polynomials of all nodes for the values, then for the derivatives
 * @param first       receives the first nodes, 12 bytes apart
 * @param weights     receives the vectors: derivatives `vector` bytes apart, points `stride` bytes apart
 */
export function weighSpline(
  nodes: i32, derivatives: i32, table: usize, degree: i32, axis: Axis, positions: usize, count: i32, first: usize,
  weights: usize, vector: i32, stride: i32
): void {
  const origin = f64x2.splat(axis.origin);
  const spacing = f64x2.splat(axis.spacing);
  const tableBytes = <usize>(nodes * (degree + 1)) << 3;
  for (let i = 0; i < count; i += 2) {
    const other = positions + (i + 1 < count ? 24 : 0);
    const s = f64x2.div(f64x2.sub(v128.load64_lane(other, v128.load64_zero(positions), 1), origin), spacing);
    const cell = f64x2.floor(s);
    const x = f64x2.sub(s, cell);
    storeFirstNodes(cell, (nodes >> 1) - 1, axis.nodes, first);
    let scale = f64x2.splat(1);
    for (let r = 0; r < VECTORS; r++) {
      const to = weights + r * vector;
      if ((derivatives >> r) & 1) storePolynomials(
        nodes, table + <usize>r * tableBytes, degree, x, scale, to, to + stride
      );
      scale = f64x2.div(scale, spacing);
    }
    positions += 48;
    first += 24;
    weights += 2 * stride;
  }
}

/**
 * Sums of separable products of the weights of a spline at points, float64.
 *
 * @param nodes       4 to 14 nodes per axis, even
 * @param derivatives as for `weighSpline`; vector r of a term is the r-th derivative
 * @param outputs       outputs per component of a field
 * @param frames      how frames are combined; 0: there is one
 * @param packet the points are together in this packet; 0: each is combined alone
 * @param out         `components` values per point, overwritten; fields one after the other, component-major
 * @param work        20 KiB of this thread
 */
export function spline(
  nodes: i32, derivatives: i32, table: usize, degree: i32, frames: usize, packet: usize, axes: usize, terms: usize,
  termCount: i32, outputs: i32, fields: usize, fieldCount: i32, positions: usize, count: i32, out: usize,
  components: i32, work: usize
): void {
  memory.fill(out, 0, <usize>(count * components) << 3);
  for (let first = 0; first < count; first += POINTS) {
    const length = min(POINTS, count - first);
    for (let a = 0; a < 3; a++) {
      const axis = changetype<Axis>(axes + a * offsetof<Axis>());
      const position = positions + <usize>first * 24 + (<usize>a << 3);
      const w = work + WEIGHTS + a * VECTORS * VECTOR;
      weighSpline(
        nodes, derivatives, table, degree, axis, position, length, work + NODES + (<usize>a << 2), w, VECTOR,
        3 * VECTORS * VECTOR
      );
    }
    addFields(
      VECTOR, VECTORS, frames, packet, axes, terms, termCount, outputs, fields, fieldCount, length, work + NODES,
      work + WEIGHTS, out + (<usize>(first * components) << 3), components, work
    );
  }
}
