/**
 * Real lines, two of which make a complex one: line j is the real part of lane j, and line j + LINES the imaginary.
 * A block is 2 LINES rows of a plane; transposed, it has a row of LINES complex lanes for each number of a line.
 */
import { LINES, LINES_BYTES } from "../fft-layout";

/** Stores the 2 by 2 numbers of two rows, transposed. */
// @ts-ignore: decorator
@inline
function storeTransposed(a: v128, b: v128, toA: usize, toB: usize): void {
  v128.store(toA, i64x2.shuffle(a, b, 0, 2));
  v128.store(toB, i64x2.shuffle(a, b, 1, 3));
}

/** Transposes `n` real numbers (rounded up to even) of 2 LINES rows at `at` into lanes at `to`. */
export function takeRows(at: usize, rowBytes: usize, n: i32, to: usize): void {
  for (let part: usize = 0; part < 2; part++) {
    for (let j: usize = 0; j < <usize>LINES; j += 2) {
      const a = at + (part * <usize>LINES + j) * rowBytes;
      const lane = to + part * LINES_BYTES + (j << 3);
      for (let i: usize = 0; i < <usize>n; i += 2) {
        const row = lane + i * (2 * LINES_BYTES);
        storeTransposed(v128.load(a + (i << 3)), v128.load(a + rowBytes + (i << 3)), row, row + 2 * LINES_BYTES);
      }
    }
  }
}

/** Transposes lanes at `from` into `n` real numbers (rounded up to even) of 2 LINES rows at `at`. */
export function placeRows(from: usize, n: i32, at: usize, rowBytes: usize): void {
  for (let part: usize = 0; part < 2; part++) {
    for (let j: usize = 0; j < <usize>LINES; j += 2) {
      const a = at + (part * <usize>LINES + j) * rowBytes;
      const lane = from + part * LINES_BYTES + (j << 3);
      for (let i: usize = 0; i < <usize>n; i += 2) {
        const row = lane + i * (2 * LINES_BYTES);
        storeTransposed(v128.load(row), v128.load(row + 2 * LINES_BYTES), a + (i << 3), a + rowBytes + (i << 3));
      }
    }
  }
}

/**
 * Takes the transforms Z of lanes apart into those of their two lines, U = (Z(k) + Z*(n - k)) / 2 and
 * V = (Z(k) - Z*(n - k)) / 2i, for the first `kept` k, at most n / 2 + 1, rounded up to an even count.
 *
 * @param im bytes from the real parts of a row of the plane to its imaginary parts
 */
export function unpackRows(from: usize, n: i32, kept: i32, at: usize, im: usize, rowBytes: usize): void {
  const half = f64x2.splat(0.5);
  const row = 2 * LINES_BYTES;
  for (let j: usize = 0; j < <usize>LINES; j += 2) {
    const lane = from + (j << 3);
    const u = at + j * rowBytes;
    const v = u + <usize>LINES * rowBytes;
    for (let k = 0; k < kept; k += 2) {
      const z = lane + <usize>k * row;
      const c = lane + <usize>(k == 0 ? 0 : n - k) * row;
      const d = lane + <usize>(k + 1 > n ? 0 : n - k - 1) * row;
      const zr0 = v128.load(z);
      const zi0 = v128.load(z + LINES_BYTES);
      const zr1 = v128.load(z + row);
      const zi1 = v128.load(z + row + LINES_BYTES);
      const cr0 = v128.load(c);
      const ci0 = v128.load(c + LINES_BYTES);
      const cr1 = v128.load(d);
      const ci1 = v128.load(d + LINES_BYTES);
      const to = <usize>k << 3;
      storeTransposed(
        f64x2.mul(half, f64x2.add(zr0, cr0)), f64x2.mul(half, f64x2.add(zr1, cr1)), u + to, u + rowBytes + to
      );
      storeTransposed(
        f64x2.mul(half, f64x2.sub(zi0, ci0)), f64x2.mul(half, f64x2.sub(zi1, ci1)), u + im + to, u + rowBytes + im + to
      );
      storeTransposed(
        f64x2.mul(half, f64x2.add(zi0, ci0)), f64x2.mul(half, f64x2.add(zi1, ci1)), v + to, v + rowBytes + to
      );
      storeTransposed(
        f64x2.mul(half, f64x2.sub(cr0, zr0)), f64x2.mul(half, f64x2.sub(cr1, zr1)), v + im + to, v + rowBytes + im + to
      );
    }
  }
}

/**
 * Joins the transforms of two lines to lanes Z = U + i V for k = 0 .. n - 1: the opposite of `unpackRows`.
 *
 * @param kept modes of a line from k = 0 on; others are taken as 0 and not read
 */
export function packRows(at: usize, im: usize, rowBytes: usize, n: i32, kept: i32, to: usize): void {
  const row = 2 * LINES_BYTES;
  if (kept <= n >> 1) memory.fill(to + <usize>kept * row, 0, <usize>(n + 1 - 2 * kept) * row);
  for (let j: usize = 0; j < <usize>LINES; j++) {
    const u = at + j * rowBytes;
    const v = u + <usize>LINES * rowBytes;
    const lane = to + (j << 3);
    for (let k: usize = 0; k < <usize>kept; k++) {
      const ur = load<f64>(u + (k << 3));
      const ui = load<f64>(u + im + (k << 3));
      const vr = load<f64>(v + (k << 3));
      const vi = load<f64>(v + im + (k << 3));
      const c = lane + (k == 0 ? 0 : <usize>n - k) * row;
      store<f64>(c, ur + vi);
      store<f64>(c + LINES_BYTES, vr - ui);
      const z = lane + k * row;
      store<f64>(z, ur - vi);
      store<f64>(z + LINES_BYTES, ui + vr);
    }
  }
}
