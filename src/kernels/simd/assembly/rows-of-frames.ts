/**
 * Adds the rows of a stencil box as `rows.ts` does, of four frames that are combined on the way: a node's value is w0
 * u0 + w1 u1 + w2 u2 + w3 u3, in this order, as in `combine.ts`.
 *
 * Four weights, a row of at most twelve values and three temporaries fit the sixteen registers; longer rows are added
 * in parts, which does not change the sums.
 */

/** Nodes of a row that are added at once, of one or three components. */
export const LONGEST_FRAMES_PART = 4;

/** Two float32 values of a row, FLOAT values after its first, as float64; LONE: only the first of them. */
// @ts-ignore: decorator
@inline
function wide(FLOAT: i32, LONE: bool, p: usize): v128 {
  if (LONE) {
    if (FLOAT == 0) return f64x2.promote_low_f32x4(v128.load32_zero(p));
    if (FLOAT == 2) return f64x2.promote_low_f32x4(v128.load32_zero(p, 8));
    if (FLOAT == 4) return f64x2.promote_low_f32x4(v128.load32_zero(p, 16));
    if (FLOAT == 6) return f64x2.promote_low_f32x4(v128.load32_zero(p, 24));
    return f64x2.promote_low_f32x4(v128.load32_zero(p, 32));
  }
  if (FLOAT == 0) return f64x2.promote_low_f32x4(v128.load64_zero(p));
  if (FLOAT == 2) return f64x2.promote_low_f32x4(v128.load64_zero(p, 8));
  if (FLOAT == 4) return f64x2.promote_low_f32x4(v128.load64_zero(p, 16));
  if (FLOAT == 6) return f64x2.promote_low_f32x4(v128.load64_zero(p, 24));
  if (FLOAT == 8) return f64x2.promote_low_f32x4(v128.load64_zero(p, 32));
  return f64x2.promote_low_f32x4(v128.load64_zero(p, 40));
}

/** `sum + w * node`, for the two values at FLOAT of a row of N. */
// @ts-ignore: decorator
@inline
function add(
  N: i32, FLOAT: i32, sum: v128, w: v128, w0: v128, w1: v128, w2: v128, w3: v128, p: usize, q: usize, r: usize,
  s: usize
): v128 {
  const LONE = FLOAT + 1 == N;
  let node = f64x2.mul(w0, wide(FLOAT, LONE, p));
  node = f64x2.add(node, f64x2.mul(w1, wide(FLOAT, LONE, q)));
  node = f64x2.add(node, f64x2.mul(w2, wide(FLOAT, LONE, r)));
  node = f64x2.add(node, f64x2.mul(w3, wide(FLOAT, LONE, s)));
  return f64x2.add(sum, f64x2.mul(w, node));
}

/**
 * Adds `wz[k] * wy[j] * row(j, k)` over ny * nz rows of N values and stores the N sums (rounded up to an even number)
 * at `sums`. LISTED: row addresses come from lists, `frameStride` bytes apart, the first one at `at`, j fastest;
 * otherwise from `at` and two strides, frames `d1`, `d2`, `d3` bytes further.
 */
// @ts-ignore: decorator
@inline
function addRows(
  N: i32, LISTED: bool, weights: usize, at: usize, d1: usize, d2: usize, d3: usize, rowStride: usize,
  planeStride: usize, wy: usize, ny: i32, wz: usize, nz: i32, sums: usize
): void {
  const w0 = v128.load64_splat(weights);
  const w1 = v128.load64_splat(weights, 8);
  const w2 = v128.load64_splat(weights, 16);
  const w3 = v128.load64_splat(weights, 24);
  let a0 = f64x2.splat(0);
  let a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0;
  const endY = wy + (<usize>ny << 3);
  const endZ = wz + (<usize>nz << 3);
  let plane = at;
  let list = at;
  for (let z = wz; z < endZ; z += 8) {
    let p = plane;
    for (let y = wy; y < endY; y += 8) {
      // Loaded for every row: no register is left to keep it in.
      const w = f64x2.mul(v128.load64_splat(z), v128.load64_splat(y));
      if (LISTED) p = load<u32>(list);
      const q = LISTED ? <usize>load<u32>(list + d1) : p + d1;
      const r = LISTED ? <usize>load<u32>(list + d2) : p + d2;
      const s = LISTED ? <usize>load<u32>(list + d3) : p + d3;
      if (LISTED) list += 4;
      a0 = add(N, 0, a0, w, w0, w1, w2, w3, p, q, r, s);
      if (N > 2) a1 = add(N, 2, a1, w, w0, w1, w2, w3, p, q, r, s);
      if (N > 4) a2 = add(N, 4, a2, w, w0, w1, w2, w3, p, q, r, s);
      if (N > 6) a3 = add(N, 6, a3, w, w0, w1, w2, w3, p, q, r, s);
      if (N > 8) a4 = add(N, 8, a4, w, w0, w1, w2, w3, p, q, r, s);
      if (N > 10) a5 = add(N, 10, a5, w, w0, w1, w2, w3, p, q, r, s);
      if (!LISTED) p += rowStride;
    }
    if (!LISTED) plane += planeStride;
  }
  v128.store(sums, a0);
  if (N > 2) v128.store(sums, a1, 16);
  if (N > 4) v128.store(sums, a2, 32);
  if (N > 6) v128.store(sums, a3, 48);
  if (N > 8) v128.store(sums, a4, 64);
  if (N > 10) v128.store(sums, a5, 80);
}

/** A box inside one brick: stencil rows of 2, 4, 6 or 8 values, or of 12. */
export function addFramesBox(
  n: i32, weights: usize, at: usize, d1: usize, d2: usize, d3: usize, rowStride: usize, planeStride: usize, wy: usize,
  ny: i32, wz: usize, nz: i32, sums: usize
): void {
  switch (n) {
    case 2: return addRows(2, false, weights, at, d1, d2, d3, rowStride, planeStride, wy, ny, wz, nz, sums);
    case 4: return addRows(4, false, weights, at, d1, d2, d3, rowStride, planeStride, wy, ny, wz, nz, sums);
    case 6: return addRows(6, false, weights, at, d1, d2, d3, rowStride, planeStride, wy, ny, wz, nz, sums);
    case 8: return addRows(8, false, weights, at, d1, d2, d3, rowStride, planeStride, wy, ny, wz, nz, sums);
    case 12: return addRows(12, false, weights, at, d1, d2, d3, rowStride, planeStride, wy, ny, wz, nz, sums);
  }
}

/** A box, or its part along x, whose rows lie in several bricks; the lists of frames are `stride` bytes apart. */
export function addFramesListed(
  n: i32, weights: usize, list: usize, stride: usize, wy: usize, ny: i32, wz: usize, nz: i32, sums: usize
): void {
  switch (n) {
    case 1: return addRows(1, true, weights, list, stride, 2 * stride, 3 * stride, 0, 0, wy, ny, wz, nz, sums);
    case 2: return addRows(2, true, weights, list, stride, 2 * stride, 3 * stride, 0, 0, wy, ny, wz, nz, sums);
    case 3: return addRows(3, true, weights, list, stride, 2 * stride, 3 * stride, 0, 0, wy, ny, wz, nz, sums);
    case 4: return addRows(4, true, weights, list, stride, 2 * stride, 3 * stride, 0, 0, wy, ny, wz, nz, sums);
    case 6: return addRows(6, true, weights, list, stride, 2 * stride, 3 * stride, 0, 0, wy, ny, wz, nz, sums);
    case 9: return addRows(9, true, weights, list, stride, 2 * stride, 3 * stride, 0, 0, wy, ny, wz, nz, sums);
    case 12: return addRows(12, true, weights, list, stride, 2 * stride, 3 * stride, 0, 0, wy, ny, wz, nz, sums);
  }
}
