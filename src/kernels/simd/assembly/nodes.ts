/** Finds nodes on periodic axes, and the bricks that hold them. */

/** 2^52: whole numbers below it divide and multiply back without loss. */
const EXACT: f64 = 4503599627370496;

/** Reduces a whole number to 0 .. nodes - 1. */
// @ts-ignore: decorator
@inline
export function wrap(n: f64, nodes: i32): i32 {
  const period = <f64>nodes;
  if (n >= 0 && n < period) return <i32>n;
  if (Math.abs(n) >= EXACT) n = n % period;
  n -= Math.floor(n / period) * period;
  if (n < 0) n += period;
  if (n >= period) n -= period;
  return <i32>n;
}

/**
 * The node `offset` places after a whole number, reduced to 0 .. nodes - 1; the number is reduced before it is rounded
 * by the sum.
 */
// @ts-ignore: decorator
@inline
export function wrapAfter(n: f64, offset: i32, nodes: i32): i32 {
  const node = n + <f64>offset;
  if (node >= 0 && node < <f64>nodes) return <i32>node;
  return shift(wrap(n, nodes), offset, nodes);
}

/** 2^52: added to a whole number from 0 to 2^31, it leaves that in the low half of the float64. */
const WHOLE: f64 = 4503599627370496;

/** Stores the nodes `below` places before two cells, reduced to 0 .. nodes - 1, twelve bytes apart. */
// @ts-ignore: decorator
@inline
export function storeFirstNodes(cells: v128, below: i32, nodes: i32, out: usize): void {
  const first = f64x2.sub(cells, f64x2.splat(below));
  if (i64x2.all_true(v128.and(f64x2.ge(first, f64x2.splat(0)), f64x2.lt(first, f64x2.splat(<f64>nodes))))) {
    const whole = f64x2.add(first, f64x2.splat(WHOLE));
    v128.store32_lane(out, whole, 0);
    v128.store32_lane(out, whole, 2, 12);
  } else {
    store<i32>(out, wrapAfter(f64x2.extract_lane(cells, 0), -below, nodes));
    store<i32>(out, wrapAfter(f64x2.extract_lane(cells, 1), -below, nodes), 12);
  }
}

/** The node `offset` places after a node, on a periodic axis. */
// @ts-ignore: decorator
@inline
export function shift(node: i32, offset: i32, nodes: i32): i32 {
  let shifted = node + offset;
  while (shifted < 0) shifted += nodes;
  while (shifted >= nodes) shifted -= nodes;
  return shifted;
}

/**
 * Brick of a node along an axis; `reciprocal` is floor(2^31 / edge) + 1, exact while nodes times edge is under 2^31.
 */
// @ts-ignore: decorator
@inline
export function brickOf(node: i32, reciprocal: u32): i32 {
  return <i32>((<u64>node * <u64>reciprocal) >> 31);
}

/**
 * For `length` successive nodes from `node` on: what each adds to the brick index and to the byte address, eight bytes
 * an entry.
 */
// @ts-ignore: decorator
@inline
export function placeNodes(
  entries: usize, node: i32, length: i32, nodes: i32, edge: i32, reciprocal: u32, brickStride: i32, nodeStride: i32
): void {
  for (let i = 0; i < length; i++) {
    const brick = brickOf(node, reciprocal);
    store<i32>(entries, brick * brickStride);
    store<i32>(entries, (node - brick * edge) * nodeStride, 4);
    entries += 8;
    node = select(0, node + 1, node + 1 == nodes);
  }
}
