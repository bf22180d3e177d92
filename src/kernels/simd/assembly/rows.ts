/**
 * Adds the rows of a stencil box, weighted along y and z, node by node: the inner loop of every separable scheme.
 *
 * All lanes are float64. A row of n float32 values takes ceil(n / 2) accumulators, at most twelve: with the weight and
 * one temporary they fit the sixteen registers. The sum over x comes last (`sumAlongX`), so that a box which several
 * bricks share can be added part by part along x and still gives the same bits as a box inside one brick.
 */

/** Adds `w` times the two low float32 values to a sum. */
// @ts-ignore: decorator
@inline
function add(sum: v128, w: v128, values: v128): v128 {
  return f64x2.add(sum, f64x2.mul(w, f64x2.promote_low_f32x4(values)));
}

/** Adds `w` times two float64 values to a sum. */
// @ts-ignore: decorator
@inline
function addWhole(sum: v128, w: v128, values: v128): v128 {
  return f64x2.add(sum, f64x2.mul(w, values));
}

/**
 * Adds `wz[k] * wy[j] * row(j, k)` over ny * nz rows of N values and stores the N sums (rounded up to an even number)
 * at `sums`. Of a row of odd length the last value is loaded alone: nothing beyond it is read.
 *
 * LISTED: row addresses come from a list at `at`, j fastest; otherwise from `at` and two strides. WIDE: values are
 * float64 rather than float32, and N is even.
 */
// @ts-ignore: decorator
@inline
function addRows(
  N: i32, LISTED: bool, WIDE: bool, at: usize, rowStride: usize, planeStride: usize, wy: usize, ny: i32, wz: usize,
  nz: i32, sums: usize
): void {
  let a0 = f64x2.splat(0);
  let a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0, a6 = a0, a7 = a0, a8 = a0, a9 = a0, a10 = a0, a11 = a0;
  const endY = wy + (<usize>ny << 3);
  const endZ = wz + (<usize>nz << 3);
  let plane = at;
  let list = at;
  for (let z = wz; z < endZ; z += 8) {
    const weightZ = v128.load64_splat(z);
    let p = plane;
    for (let y = wy; y < endY; y += 8) {
      const w = f64x2.mul(weightZ, v128.load64_splat(y));
      if (LISTED) {
        p = load<u32>(list);
        list += 4;
      }
      if (N > 1) a0 = WIDE ? addWhole(a0, w, v128.load(p)) : add(a0, w, v128.load64_zero(p));
      else if (N > 0) a0 = add(a0, w, v128.load32_zero(p));
      if (N > 3) a1 = WIDE ? addWhole(a1, w, v128.load(p, 16)) : add(a1, w, v128.load64_zero(p, 8));
      else if (N > 2) a1 = add(a1, w, v128.load32_zero(p, 8));
      if (N > 5) a2 = WIDE ? addWhole(a2, w, v128.load(p, 32)) : add(a2, w, v128.load64_zero(p, 16));
      else if (N > 4) a2 = add(a2, w, v128.load32_zero(p, 16));
      if (N > 7) a3 = WIDE ? addWhole(a3, w, v128.load(p, 48)) : add(a3, w, v128.load64_zero(p, 24));
      else if (N > 6) a3 = add(a3, w, v128.load32_zero(p, 24));
      if (N > 9) a4 = WIDE ? addWhole(a4, w, v128.load(p, 64)) : add(a4, w, v128.load64_zero(p, 32));
      else if (N > 8) a4 = add(a4, w, v128.load32_zero(p, 32));
      if (N > 11) a5 = WIDE ? addWhole(a5, w, v128.load(p, 80)) : add(a5, w, v128.load64_zero(p, 40));
      else if (N > 10) a5 = add(a5, w, v128.load32_zero(p, 40));
      if (N > 13) a6 = WIDE ? addWhole(a6, w, v128.load(p, 96)) : add(a6, w, v128.load64_zero(p, 48));
      else if (N > 12) a6 = add(a6, w, v128.load32_zero(p, 48));
      if (N > 15) a7 = WIDE ? addWhole(a7, w, v128.load(p, 112)) : add(a7, w, v128.load64_zero(p, 56));
      else if (N > 14) a7 = add(a7, w, v128.load32_zero(p, 56));
      if (N > 17) a8 = WIDE ? addWhole(a8, w, v128.load(p, 128)) : add(a8, w, v128.load64_zero(p, 64));
      else if (N > 16) a8 = add(a8, w, v128.load32_zero(p, 64));
      if (N > 19) a9 = WIDE ? addWhole(a9, w, v128.load(p, 144)) : add(a9, w, v128.load64_zero(p, 72));
      else if (N > 18) a9 = add(a9, w, v128.load32_zero(p, 72));
      if (N > 21) a10 = WIDE ? addWhole(a10, w, v128.load(p, 160)) : add(a10, w, v128.load64_zero(p, 80));
      else if (N > 20) a10 = add(a10, w, v128.load32_zero(p, 80));
      if (N > 23) a11 = WIDE ? addWhole(a11, w, v128.load(p, 176)) : add(a11, w, v128.load64_zero(p, 88));
      else if (N > 22) a11 = add(a11, w, v128.load32_zero(p, 88));
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
  if (N > 12) v128.store(sums, a6, 96);
  if (N > 14) v128.store(sums, a7, 112);
  if (N > 16) v128.store(sums, a8, 128);
  if (N > 18) v128.store(sums, a9, 144);
  if (N > 20) v128.store(sums, a10, 160);
  if (N > 22) v128.store(sums, a11, 176);
}

/** Largest number of nodes of a row that are added at once; longer rows are added in parts, with the same sums. */
export const LONGEST_PART = 8;

/**
 * The length of the next part of a row of which `left` nodes are left: 4, 6 or 8 if `left` is even and above 2, as
 * `addBox` needs it.
 */
// @ts-ignore: decorator
@inline
export function partOf(left: i32): i32 {
  if (left <= LONGEST_PART) return left;
  return left == 10 ? 6 : LONGEST_PART;
}

/** Adds a box inside one brick: rows, or parts of them, of 4, 6 or 8 nodes with one or three components. */
export function addBox(
  n: i32, at: usize, rowStride: usize, planeStride: usize, wy: usize, ny: i32, wz: usize, nz: i32, sums: usize
): void {
  switch (n) {
    case 4: return addRows(4, false, false, at, rowStride, planeStride, wy, ny, wz, nz, sums);
    case 6: return addRows(6, false, false, at, rowStride, planeStride, wy, ny, wz, nz, sums);
    case 8: return addRows(8, false, false, at, rowStride, planeStride, wy, ny, wz, nz, sums);
    case 12: return addRows(12, false, false, at, rowStride, planeStride, wy, ny, wz, nz, sums);
    case 18: return addRows(18, false, false, at, rowStride, planeStride, wy, ny, wz, nz, sums);
    case 24: return addRows(24, false, false, at, rowStride, planeStride, wy, ny, wz, nz, sums);
  }
}

/**
 * The length of the next part of a row of which `left` nodes are left, an even number, if each value needs more
 * registers than one of a single frame does: a part has at most twelve values.
 */
// @ts-ignore: decorator
@inline
export function shortPartOf(left: i32, components: i32): i32 {
  if (components == 3) return min(left, 4);
  return left == 10 ? 6 : min(left, 8);
}

/**
 * Adds a box of combined nodes in parts along x of at most twelve values.
 *
 * A float32 value is loaded by the instruction that converts it; a float64 value has its own load, and compilers
 * put the loads first. With 24 values the sums would no longer fit the registers.
 */
export function addWide(
  nodes: i32, components: i32, at: usize, rowStride: usize, planeStride: usize, wy: usize, ny: i32, wz: usize, nz: i32,
  sums: usize
): void {
  for (let left = nodes; left > 0; ) {
    const part = shortPartOf(left, components);
    const values = part * components;
    switch (values) {
      case 4: addRows(4, false, true, at, rowStride, planeStride, wy, ny, wz, nz, sums); break;
      case 6: addRows(6, false, true, at, rowStride, planeStride, wy, ny, wz, nz, sums); break;
      case 8: addRows(8, false, true, at, rowStride, planeStride, wy, ny, wz, nz, sums); break;
      case 12: addRows(12, false, true, at, rowStride, planeStride, wy, ny, wz, nz, sums); break;
    }
    at += <usize>values << 3;
    sums += <usize>values << 3;
    left -= part;
  }
}

/** Adds a box, or its part along x, whose rows lie in several bricks. */
export function addListed(n: i32, list: usize, wy: usize, ny: i32, wz: usize, nz: i32, sums: usize): void {
  switch (n) {
    case 1: return addRows(1, true, false, list, 0, 0, wy, ny, wz, nz, sums);
    case 2: return addRows(2, true, false, list, 0, 0, wy, ny, wz, nz, sums);
    case 3: return addRows(3, true, false, list, 0, 0, wy, ny, wz, nz, sums);
    case 4: return addRows(4, true, false, list, 0, 0, wy, ny, wz, nz, sums);
    case 5: return addRows(5, true, false, list, 0, 0, wy, ny, wz, nz, sums);
    case 6: return addRows(6, true, false, list, 0, 0, wy, ny, wz, nz, sums);
    case 7: return addRows(7, true, false, list, 0, 0, wy, ny, wz, nz, sums);
    case 8: return addRows(8, true, false, list, 0, 0, wy, ny, wz, nz, sums);
    case 9: return addRows(9, true, false, list, 0, 0, wy, ny, wz, nz, sums);
    case 12: return addRows(12, true, false, list, 0, 0, wy, ny, wz, nz, sums);
    case 15: return addRows(15, true, false, list, 0, 0, wy, ny, wz, nz, sums);
    case 18: return addRows(18, true, false, list, 0, 0, wy, ny, wz, nz, sums);
    case 21: return addRows(21, true, false, list, 0, 0, wy, ny, wz, nz, sums);
    case 24: return addRows(24, true, false, list, 0, 0, wy, ny, wz, nz, sums);
  }
}
