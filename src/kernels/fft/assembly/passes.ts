/**
 * Complex transforms by Stockham's passes of radix 2, 3, 4 and 5, which need no reordering.
 *
 * A pass over n = r m numbers, s transforms interleaved, computes from x, for p < m and q < s,
 *   y[q + s (r p + k)] = w^(p k) sum_j x[q + s (p + m j)] exp(-2 pi i j k / r),  w = exp(-2 pi i / n),
 * and leaves r s transforms of m numbers. Here a number is a row of LINES lines.
 *
 * Source: Van Loan, Computational Frameworks for the Fast Fourier Transform (1992), section 1.7.
 */
import { LINES, LINES_BYTES, PASS_BYTES } from "../fft-layout";

// @ts-ignore: decorator
@inline
const SIN_60: f64 = 0.86602540378443864676;
// @ts-ignore: decorator
@inline
const COS_72: f64 = 0.30901699437494742410;
// @ts-ignore: decorator
@inline
const COS_144: f64 = -0.80901699437494742410;
// @ts-ignore: decorator
@inline
const SIN_72: f64 = 0.95105651629515357212;
// @ts-ignore: decorator
@inline
const SIN_144: f64 = 0.58778525229247312917;

/** Stores the number (re, im) times the twiddle factor at `w`; FIRST: that is 1. */
// @ts-ignore: decorator
@inline
function storeTurned(FIRST: bool, w: usize, toRe: usize, toIm: usize, re: v128, im: v128): void {
  if (FIRST) {
    v128.store(toRe, re);
    v128.store(toIm, im);
    return;
  }
  const c = v128.load64_splat(w);
  const s = v128.load64_splat(w, 8);
  v128.store(toRe, f64x2.sub(f64x2.mul(re, c), f64x2.mul(im, s)));
  v128.store(toIm, f64x2.add(f64x2.mul(re, s), f64x2.mul(im, c)));
}

/**
 * One butterfly of two lines: reads R numbers `from` bytes apart, and stores R numbers `to` bytes apart.
 *
 * @param w twiddle factors of the numbers 1 to R - 1; FIRST: all are 1
 */
// @ts-ignore: decorator
@inline
function butterfly(
  R: i32, FIRST: bool, re: usize, im: usize, from: usize, w: usize, toRe: usize, toIm: usize, to: usize
): void {
  const r0 = v128.load(re);
  const i0 = v128.load(im);
  const r1 = v128.load(re + from);
  const i1 = v128.load(im + from);
  if (R == 2) {
    storeTurned(true, w, toRe, toIm, f64x2.add(r0, r1), f64x2.add(i0, i1));
    storeTurned(FIRST, w, toRe + to, toIm + to, f64x2.sub(r0, r1), f64x2.sub(i0, i1));
    return;
  }
  const r2 = v128.load(re + 2 * from);
  const i2 = v128.load(im + 2 * from);
  if (R == 3) {
    const sumR = f64x2.add(r1, r2);
    const sumI = f64x2.add(i1, i2);
    const midR = f64x2.sub(r0, f64x2.mul(f64x2.splat(0.5), sumR));
    const midI = f64x2.sub(i0, f64x2.mul(f64x2.splat(0.5), sumI));
    const offR = f64x2.mul(f64x2.splat(SIN_60), f64x2.sub(i1, i2));
    const offI = f64x2.mul(f64x2.splat(SIN_60), f64x2.sub(r1, r2));
    storeTurned(true, w, toRe, toIm, f64x2.add(r0, sumR), f64x2.add(i0, sumI));
    storeTurned(FIRST, w, toRe + to, toIm + to, f64x2.add(midR, offR), f64x2.sub(midI, offI));
    storeTurned(FIRST, w + 16, toRe + 2 * to, toIm + 2 * to, f64x2.sub(midR, offR), f64x2.add(midI, offI));
    return;
  }
  const r3 = v128.load(re + 3 * from);
  const i3 = v128.load(im + 3 * from);
  if (R == 4) {
    const aR = f64x2.add(r0, r2);
    const aI = f64x2.add(i0, i2);
    const bR = f64x2.sub(r0, r2);
    const bI = f64x2.sub(i0, i2);
    const cR = f64x2.add(r1, r3);
    const cI = f64x2.add(i1, i3);
    const dR = f64x2.sub(i1, i3);
    const dI = f64x2.sub(r3, r1);
    storeTurned(true, w, toRe, toIm, f64x2.add(aR, cR), f64x2.add(aI, cI));
    storeTurned(FIRST, w, toRe + to, toIm + to, f64x2.add(bR, dR), f64x2.add(bI, dI));
    storeTurned(FIRST, w + 16, toRe + 2 * to, toIm + 2 * to, f64x2.sub(aR, cR), f64x2.sub(aI, cI));
    storeTurned(FIRST, w + 32, toRe + 3 * to, toIm + 3 * to, f64x2.sub(bR, dR), f64x2.sub(bI, dI));
    return;
  }
  const r4 = v128.load(re + 4 * from);
  const i4 = v128.load(im + 4 * from);
  const aR = f64x2.add(r1, r4);
  const aI = f64x2.add(i1, i4);
  const bR = f64x2.sub(r1, r4);
  const bI = f64x2.sub(i1, i4);
  const cR = f64x2.add(r2, r3);
  const cI = f64x2.add(i2, i3);
  const dR = f64x2.sub(r2, r3);
  const dI = f64x2.sub(i2, i3);
  const mR = f64x2.add(r0, f64x2.add(f64x2.mul(f64x2.splat(COS_72), aR), f64x2.mul(f64x2.splat(COS_144), cR)));
  const mI = f64x2.add(i0, f64x2.add(f64x2.mul(f64x2.splat(COS_72), aI), f64x2.mul(f64x2.splat(COS_144), cI)));
  const nR = f64x2.add(r0, f64x2.add(f64x2.mul(f64x2.splat(COS_144), aR), f64x2.mul(f64x2.splat(COS_72), cR)));
  const nI = f64x2.add(i0, f64x2.add(f64x2.mul(f64x2.splat(COS_144), aI), f64x2.mul(f64x2.splat(COS_72), cI)));
  const oR = f64x2.add(f64x2.mul(f64x2.splat(SIN_72), bR), f64x2.mul(f64x2.splat(SIN_144), dR));
  const oI = f64x2.add(f64x2.mul(f64x2.splat(SIN_72), bI), f64x2.mul(f64x2.splat(SIN_144), dI));
  const qR = f64x2.sub(f64x2.mul(f64x2.splat(SIN_144), bR), f64x2.mul(f64x2.splat(SIN_72), dR));
  const qI = f64x2.sub(f64x2.mul(f64x2.splat(SIN_144), bI), f64x2.mul(f64x2.splat(SIN_72), dI));
  storeTurned(true, w, toRe, toIm, f64x2.add(r0, f64x2.add(aR, cR)), f64x2.add(i0, f64x2.add(aI, cI)));
  storeTurned(FIRST, w, toRe + to, toIm + to, f64x2.add(mR, oI), f64x2.sub(mI, oR));
  storeTurned(FIRST, w + 16, toRe + 2 * to, toIm + 2 * to, f64x2.add(nR, qI), f64x2.sub(nI, qR));
  storeTurned(FIRST, w + 32, toRe + 3 * to, toIm + 3 * to, f64x2.sub(nR, qI), f64x2.add(nI, qR));
  storeTurned(FIRST, w + 48, toRe + 4 * to, toIm + 4 * to, f64x2.sub(mR, oI), f64x2.add(mI, oR));
}

/** A pass over `LINES` lines whose rows are `fromRow` bytes apart, to rows that are `toRow` bytes apart. */
// @ts-ignore: decorator
@inline
function passOf(
  R: i32, m: i32, s: i32, w: usize, re: usize, im: usize, fromRow: usize, toRe: usize, toIm: usize, toRow: usize
): void {
  const from = <usize>(s * m) * fromRow;
  const to = <usize>s * toRow;
  for (let p = 0; p < m; p++) {
    for (let q = 0; q < s; q++) {
      const a = re + <usize>(q + s * p) * fromRow;
      const b = im + <usize>(q + s * p) * fromRow;
      const c = toRe + <usize>(q + s * R * p) * toRow;
      const d = toIm + <usize>(q + s * R * p) * toRow;
      for (let l: usize = 0; l < <usize>LINES_BYTES; l += 16) {
        if (p == 0) butterfly(R, true, a + l, b + l, from, w, c + l, d + l, to);
        else butterfly(R, false, a + l, b + l, from, w, c + l, d + l, to);
      }
    }
    w += 16 * (R - 1);
  }
}

function pass2(
  m: i32, s: i32, w: usize, re: usize, im: usize, fromRow: usize, toRe: usize, toIm: usize, toRow: usize
): void {
  passOf(2, m, s, w, re, im, fromRow, toRe, toIm, toRow);
}
function pass3(
  m: i32, s: i32, w: usize, re: usize, im: usize, fromRow: usize, toRe: usize, toIm: usize, toRow: usize
): void {
  passOf(3, m, s, w, re, im, fromRow, toRe, toIm, toRow);
}
function pass4(
  m: i32, s: i32, w: usize, re: usize, im: usize, fromRow: usize, toRe: usize, toIm: usize, toRow: usize
): void {
  passOf(4, m, s, w, re, im, fromRow, toRe, toIm, toRow);
}
function pass5(
  m: i32, s: i32, w: usize, re: usize, im: usize, fromRow: usize, toRe: usize, toIm: usize, toRow: usize
): void {
  passOf(5, m, s, w, re, im, fromRow, toRe, toIm, toRow);
}

/**
 * Transforms lines in place, each number of which is a row below the one before: sums with exp(-i k x), unnormalised.
 * With `re` and `im` exchanged it sums with exp(+i k x).
 *
 * @param plan   passes: radix, m, s, and the address of the twiddle factors; a radix of 0 ends them; two at least
 * @param rowBytes from one row to the next
 * @param lines  a multiple of LINES
 * @param work   two areas of LINES complex lines, each of `half` bytes
 */
export function transformRows(
  plan: usize, re: usize, im: usize, rowBytes: usize, lines: i32, work: usize, half: usize
): void {
  const row = 2 * LINES_BYTES;
  for (let line = 0; line < lines; line += LINES) {
    let fromRe = re + (<usize>line << 3);
    let fromIm = im + (<usize>line << 3);
    let fromRow = rowBytes;
    let to = work;
    for (let pass = plan; ; pass += PASS_BYTES) {
      const radix = load<i32>(pass);
      const m = load<i32>(pass, 4);
      const s = load<i32>(pass, 8);
      const w = <usize>load<u32>(pass, 12);
      const last = load<i32>(pass, PASS_BYTES) == 0;
      const toRe = last ? re + (<usize>line << 3) : to;
      const toIm = last ? im + (<usize>line << 3) : to + LINES_BYTES;
      const toRow = last ? rowBytes : row;
      if (radix == 4) pass4(m, s, w, fromRe, fromIm, fromRow, toRe, toIm, toRow);
      else if (radix == 2) pass2(m, s, w, fromRe, fromIm, fromRow, toRe, toIm, toRow);
      else if (radix == 3) pass3(m, s, w, fromRe, fromIm, fromRow, toRe, toIm, toRow);
      else pass5(m, s, w, fromRe, fromIm, fromRow, toRe, toIm, toRow);
      if (last) break;
      fromRe = to;
      fromIm = to + LINES_BYTES;
      fromRow = row;
      to = to == work ? work + half : work;
    }
  }
}
