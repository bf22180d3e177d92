/** Sums, extrema and histograms of a box of nodes, [z][y][x][component] in float32, with n components. */

/** Two values: as they are, with 0 for missing ones, 1 for known ones, or 1 for known and -1 for missing ones. */
// @ts-ignore: decorator
@inline
function pair(row: usize, i: i32, mode: i32): v128 {
  const values = f64x2.promote_low_f32x4(v128.load64_zero(row + 4 * i));
  if (mode == 0) return values;
  const known = f64x2.eq(values, values);
  if (mode == 1) return v128.and(values, known);
  return v128.bitselect(f64x2.splat(1), f64x2.splat(mode == 2 ? 0 : -1), known);
}

// @ts-ignore: decorator
@inline
function add(sum: usize, value: f64): void {
  store<f64>(sum, load<f64>(sum) + value);
}

/** Overwrites `out` with the weighted sums of cubes of 2^3 nodes. @param work room for a row and one number more */
export function sums(
  mode: i32, values: usize, nx: i32, ny: i32, nz: i32, n: i32, wx: usize, wy: usize, wz: usize, work: usize, out: usize
): void {
  const length = n * nx;
  for (let z = 0; z < nz; z += 2)
    for (let y = 0; y < ny; y += 2) {
      // A row beyond the grid is one of weight 0.
      const y1 = min(y + 1, ny - 1);
      const z1 = min(z + 1, nz - 1);
      const v = load<f64>(wy + 8 * y);
      const w = load<f64>(wz + 8 * z);
      const v1 = y1 > y ? load<f64>(wy + 8 * y1) : 0;
      const w1 = z1 > z ? load<f64>(wz + 8 * z1) : 0;
      const row = values + 4 * length * (z * ny + y);
      const up = 4 * length * (y1 - y);
      const deep = 4 * length * ny * (z1 - z);
      for (let i = 0; i < length; i += 2) {
        const near = f64x2.mul(f64x2.splat(w * v), pair(row, i, mode));
        const above = f64x2.mul(f64x2.splat(w * v1), pair(row + up, i, mode));
        const behind = f64x2.mul(f64x2.splat(w1 * v), pair(row + deep, i, mode));
        const last = f64x2.mul(f64x2.splat(w1 * v1), pair(row + up + deep, i, mode));
        v128.store(work + 8 * i, f64x2.add(f64x2.add(near, above), f64x2.add(behind, last)));
      }
      for (let x = 0, i = 0; x < nx; x += 2, i += n)
        for (const end = i + n; i < end; i++, out += 8) {
          store<f64>(out, load<f64>(wx + 8 * x) * load<f64>(work + 8 * i));
          if (x + 1 < nx) add(out, load<f64>(wx + 8 * x, 8) * load<f64>(work + 8 * (i + n)));
        }
    }
}

// @ts-ignore: decorator
@inline
function corners(at: usize, up: usize, deep: usize): f64 {
  const near = up ? load<f64>(at) + load<f64>(at + up) : load<f64>(at);
  if (!deep) return near;
  return near + (up ? load<f64>(at + deep) + load<f64>(at + deep + up) : load<f64>(at + deep));
}

/** Overwrites sums of cubes, [z][y][x][component], with those of the next level. */
export function halve(sums: usize, nx: i32, ny: i32, nz: i32, n: i32): void {
  const length = 8 * n * nx;
  // A sum is written after the sums in its place have been added.
  for (let z = 0, out = sums; z < nz; z += 2)
    for (let y = 0; y < ny; y += 2) {
      const up = y + 1 < ny ? length : 0;
      const deep = z + 1 < nz ? length * ny : 0;
      const row = sums + length * (z * ny + y);
      for (let x = 0; x < nx; x += 2)
        for (let c = 0; c < n; c++, out += 8) {
          const at = row + 8 * (n * x + c);
          const own = corners(at, up, deep);
          store<f64>(out, x + 1 < nx ? own + corners(at + 8 * n, up, deep) : own);
        }
    }
}

/**
 * Writes the means of some cubes of `width` x `height` x ... into those of a chunk of `across` x `high` x ...
 * @param apart bytes to the weights of known nodes, and from them to their number less that of missing ones, below 0
 * where the mean is NaN; 0 if nothing is missing
 * @param wx weights of each value along x
 */
export function means(
  sums: usize, apart: i32, nx: i32, ny: i32, nz: i32, n: i32, width: i32, height: i32, wx: usize, wy: usize, wz: usize,
  out: usize, across: i32, high: i32
): void {
  for (let z = 0; z < nz; z++)
    for (let y = 0; y < ny; y++) {
      const row = sums + 8 * n * width * (height * z + y);
      const to = out + 4 * n * across * (high * z + y);
      const weight = f64x2.splat(load<f64>(wy + 8 * y) * load<f64>(wz + 8 * z));
      for (let i = 0; i < n * nx; i += 2) {
        const at = row + 8 * i;
        const weights = apart ? v128.load(at + apart) : f64x2.mul(weight, v128.load(wx + 8 * i));
        let mean = f64x2.div(v128.load(at), weights);
        if (apart) mean = v128.or(mean, f64x2.lt(v128.load(at + 2 * apart), f64x2.splat(0)));
        const rounded = f32x4.demote_f64x2_zero(mean);
        if (i + 1 < n * nx) v128.store64_lane(to + 4 * i, rounded, 0);
        else v128.store32_lane(to + 4 * i, rounded, 0);
      }
    }
}

/**
 * Overwrites `out`, [z][y][x][component][set][minimum, maximum], with the extrema of the nodes of cubes of 8^3. Of a set
 * with bit 0, 1 or 2 they are those of the first layer along y, z or x; infinity, then minus infinity without a value.
 * @param work room for eight rows
 */
export function extrema(values: usize, nx: i32, ny: i32, nz: i32, n: i32, work: usize, out: usize): void {
  const length = 4 * n * nx;
  const apart = length + 15 & ~15;
  const high = work + 4 * apart;
  for (let z0 = 0; z0 < nz; z0 += 8)
    for (let y0 = 0; y0 < ny; y0 += 8) {
      for (let i = 0; i < 4 * apart; i += 16) {
        v128.store(work + i, f32x4.splat(Infinity));
        v128.store(high + i, f32x4.splat(-Infinity));
      }
      for (let z = z0; z < min(nz, z0 + 8); z++)
        for (let y = y0; y < min(ny, y0 + 8); y++) {
          const row = values + length * (z * ny + y);
          // A row counts for all sets of fewer first layers. A comparison with NaN is false.
          const own = <i32>(y == y0) + 2 * <i32>(z == z0);
          for (let set = 0; set < 4; set++) {
            const low = work + apart * set;
            for (let i = 0; (set & own) == set && i < length; i += 16) {
              const v = v128.load(row + i);
              v128.store(low + i, f32x4.pmin(v128.load(low + i), v));
              v128.store(low + 4 * apart + i, f32x4.pmax(v128.load(low + 4 * apart + i), v));
            }
          }
        }
      for (let x0 = 0; x0 < nx; x0 += 8)
        for (let c = 0; c < n; c++)
          for (let set = 0; set < 8; set++, out += 8) {
            const from = apart * (set & 3) + 4 * (n * x0 + c);
            let least = load<f32>(work + from);
            let most = load<f32>(high + from);
            for (let x = 1; set < 4 && x < min(8, nx - x0); x++) {
              least = min(least, load<f32>(work + from + 4 * n * x));
              most = max(most, load<f32>(high + from + 4 * n * x));
            }
            store<f32>(out, least);
            store<f32>(out, most, 4);
          }
    }
}

/**
 * Adds the weights of finite values to `bins` bins in all: floor(value * scale) - base, behind those of components before.
 * Neighbours are in the same bin, so that each of four has bins of its own until the end.
 * @param row of each value of a row the scale and base in float32, and the bins before, then weights along x; 256 each
 */
export function histogram(
  values: usize, length: i32, ny: i32, nz: i32, row: usize, wy: usize, wz: usize, weights: usize, bins: i32
): void {
  const apart = 8 * bins;
  for (let z = 0; z < nz; z++)
    for (let y = 0; y < ny; y++, values += 4 * length) {
      const w = load<f64>(wz + 8 * z) * load<f64>(wy + 8 * y);
      for (let i = 0; i < length; i += 4) {
        const v = v128.load(values + 4 * i);
        const scaled = f32x4.floor(f32x4.mul(v, v128.load(row + 4 * i)));
        const bin = i32x4.trunc_sat_f32x4_s(f32x4.sub(scaled, v128.load(row + 4 * i, 1024)));
        const zero = f32x4.sub(v, v);
        const known = i32x4.bitmask(f32x4.eq(zero, zero));
        const at = i32x4.shl(v128.and(i32x4.add(bin, v128.load(row + 4 * i, 2048)), f32x4.eq(zero, zero)), 3);
        const along = row + 8 * i;
        add(weights + i32x4.extract_lane(at, 0), known & 1 ? w * load<f64>(along, 3072) : 0);
        add(weights + apart + i32x4.extract_lane(at, 1), known & 2 ? w * load<f64>(along, 3080) : 0);
        add(weights + 2 * apart + i32x4.extract_lane(at, 2), known & 4 ? w * load<f64>(along, 3088) : 0);
        add(weights + 3 * apart + i32x4.extract_lane(at, 3), known & 8 ? w * load<f64>(along, 3096) : 0);
      }
    }
  for (let i = apart; i < 4 * apart; i += 8) {
    add(weights + i % apart, load<f64>(weights + i));
    store<f64>(weights + i, 0);
  }
}
