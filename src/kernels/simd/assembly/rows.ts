/**
 * The inner loop of every separable scheme: the rows of a stencil box, weighted along y and z, added node by node.
 *
 * All lanes are float64. A row of n float32 values takes ceil(n / 2) accumulators, at most twelve: with the weight and
 * one temporary they fit the sixteen registers. The sum over x comes last (`sumAlongX`), so that a box which several bricks
 * share can be added part by part along x and still gives the same bits as a box inside one brick.
 */

/** Two float32 values as float64. */
// @ts-ignore: decorator
@inline
function pair(p: usize, at: usize): v128 {
  return f64x2.promote_low_f32x4(v128.load64_zero(p + at));
}

/** The last, single value of a row of odd length: nothing beyond it is read. */
// @ts-ignore: decorator
@inline
function single(p: usize, at: usize): v128 {
  return f64x2.promote_low_f32x4(v128.load32_zero(p + at));
}

/** Pair number I of a row of N values, or its single last value. */
// @ts-ignore: decorator
@inline
function part(N: i32, I: i32, p: usize): v128 {
  return 2 * I + 1 < N ? pair(p, 8 * I) : single(p, 8 * I);
}

/**
 * Adds `wz[k] * wy[j] * row(j, k)` over ny * nz rows of N values and stores the N sums (rounded up to an even number) at `sums`.
 * LISTED: row addresses come from a list at `at`, j fastest; otherwise from `at` and two strides.
 */
// @ts-ignore: decorator
@inline
function addRows(N: i32, LISTED: bool, at: usize, rowStride: usize, planeStride: usize, wy: usize, ny: i32, wz: usize, nz: i32, sums: usize): void {
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
      a0 = f64x2.add(a0, f64x2.mul(w, part(N, 0, p)));
      if (N > 2) a1 = f64x2.add(a1, f64x2.mul(w, part(N, 1, p)));
      if (N > 4) a2 = f64x2.add(a2, f64x2.mul(w, part(N, 2, p)));
      if (N > 6) a3 = f64x2.add(a3, f64x2.mul(w, part(N, 3, p)));
      if (N > 8) a4 = f64x2.add(a4, f64x2.mul(w, part(N, 4, p)));
      if (N > 10) a5 = f64x2.add(a5, f64x2.mul(w, part(N, 5, p)));
      if (N > 12) a6 = f64x2.add(a6, f64x2.mul(w, part(N, 6, p)));
      if (N > 14) a7 = f64x2.add(a7, f64x2.mul(w, part(N, 7, p)));
      if (N > 16) a8 = f64x2.add(a8, f64x2.mul(w, part(N, 8, p)));
      if (N > 18) a9 = f64x2.add(a9, f64x2.mul(w, part(N, 9, p)));
      if (N > 20) a10 = f64x2.add(a10, f64x2.mul(w, part(N, 10, p)));
      if (N > 22) a11 = f64x2.add(a11, f64x2.mul(w, part(N, 11, p)));
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

/** A box inside one brick: whole stencil rows of 4, 6 or 8 nodes with one or three components. */
export function addBox(n: i32, at: usize, rowStride: usize, planeStride: usize, wy: usize, ny: i32, wz: usize, nz: i32, sums: usize): void {
  switch (n) {
    case 4: return addRows(4, false, at, rowStride, planeStride, wy, ny, wz, nz, sums);
    case 6: return addRows(6, false, at, rowStride, planeStride, wy, ny, wz, nz, sums);
    case 8: return addRows(8, false, at, rowStride, planeStride, wy, ny, wz, nz, sums);
    case 12: return addRows(12, false, at, rowStride, planeStride, wy, ny, wz, nz, sums);
    case 18: return addRows(18, false, at, rowStride, planeStride, wy, ny, wz, nz, sums);
    case 24: return addRows(24, false, at, rowStride, planeStride, wy, ny, wz, nz, sums);
  }
}

/** A box, or its part along x, whose rows lie in several bricks. */
export function addListed(n: i32, list: usize, wy: usize, ny: i32, wz: usize, nz: i32, sums: usize): void {
  switch (n) {
    case 1: return addRows(1, true, list, 0, 0, wy, ny, wz, nz, sums);
    case 2: return addRows(2, true, list, 0, 0, wy, ny, wz, nz, sums);
    case 3: return addRows(3, true, list, 0, 0, wy, ny, wz, nz, sums);
    case 4: return addRows(4, true, list, 0, 0, wy, ny, wz, nz, sums);
    case 5: return addRows(5, true, list, 0, 0, wy, ny, wz, nz, sums);
    case 6: return addRows(6, true, list, 0, 0, wy, ny, wz, nz, sums);
    case 7: return addRows(7, true, list, 0, 0, wy, ny, wz, nz, sums);
    case 8: return addRows(8, true, list, 0, 0, wy, ny, wz, nz, sums);
    case 9: return addRows(9, true, list, 0, 0, wy, ny, wz, nz, sums);
    case 12: return addRows(12, true, list, 0, 0, wy, ny, wz, nz, sums);
    case 15: return addRows(15, true, list, 0, 0, wy, ny, wz, nz, sums);
    case 18: return addRows(18, true, list, 0, 0, wy, ny, wz, nz, sums);
    case 21: return addRows(21, true, list, 0, 0, wy, ny, wz, nz, sums);
    case 24: return addRows(24, true, list, 0, 0, wy, ny, wz, nz, sums);
  }
}
