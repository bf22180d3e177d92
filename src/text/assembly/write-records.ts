/** Writes float32 numbers as the shortest decimals that read back, with literals around the numbers of a record. */
import { OUTCOME, POWERS, SEPARATORS } from "../text-layout";

/** Writes a number that `writeNumber` leaves to the host (`float32/format.ts`); the address after it. */
@external("env", "writeExactly")
declare function writeExactly(value: f32, out: usize): usize;

/** In place of the address after a number: it is left to the host. */
const HOST: usize = 0;

/** Writes records of `numbers` at `out`, none from `room` on. @returns the address after the text; see OUTCOME */
export function writeRecords(values: usize, end: usize, numbers: i32, out: usize, room: usize): usize {
  let from = values;
  let to = out;
  while (from < end && to < room) {
    let row: usize = SEPARATORS;
    for (let i = 0; i < numbers; i++, row += 8, from += 4) {
      const at = copyLiteral(row, to);
      const value = load<f32>(from);
      to = writeNumber(value, at);
      if (to == HOST) to = writeExactly(value, at);
    }
    to = copyLiteral(row, to);
  }
  store<u32>(OUTCOME, <u32>from);
  return to;
}

/** Copies the literal of a row of the table; may write 15 bytes beyond it. */
@inline
function copyLiteral(row: usize, out: usize): usize {
  const literal: usize = load<u32>(row);
  const length: usize = load<u32>(row, 4);
  for (let i: usize = 0; i < length; i += 16) v128.store(out + i, v128.load(literal + i));
  return out + length;
}

/**
 * Writes a number, and at most 8 bytes beyond it: eight digits, if they read back fewer, else nine. A candidate counts
 * only clear of midpoints or exact; powers of two and magnitudes beyond exact powers of ten are left to the host.
 */
function writeNumber(value: f32, out: usize): usize {
  const bits = reinterpret<u32>(value);
  let next = out;
  if (bits >> 31 == 1) store<u8>(next++, 0x2d);
  const single = abs(value);
  const a = <f64>single;
  if (a == 0) {
    store<u8>(next++, 0x30);
    return next;
  }
  const isPowerOfTwo = (bits & 0x7f_ffff) == 0;
  if (!(a >= 1e-14 && a <= 1e20) || (isPowerOfTwo && (a < 1 || a > 4194304))) return HOST;
  let e = ((<i32>((bits >> 23) & 0xff) - 127) * 1233) >> 12;
  if (e >= 0) {
    if (a >= power(e + 1)) e++;
  } else if (a * power(-1 - e) >= 1) e++;
  const scaled = e <= 7 ? a * power(7 - e) : a / power(e - 7);
  let q = e - 7;
  let digits = floor(scaled + 0.5);
  if (reads(digits, q, single)) {
    for (let divisor: f64 = 10; ; divisor *= 10) {
      const fewer = floor(scaled / divisor + 0.5);
      if (!reads(fewer, q + 1, single)) break;
      digits = fewer;
      q++;
    }
  } else {
    q--;
    digits = floor((q >= 0 ? a / power(q) : a * power(-q)) + 0.5);
    if (!reads(digits, q, single)) return HOST;
  }
  return digits < 1e9 ? layOut(<u32>digits, q, next) : HOST;
}

@inline
function power(exponent: i32): f64 {
  return load<f64>(POWERS + 8 * exponent);
}

/** Whether `digits * 10^q` is nearest to `single` beyond doubt. */
@inline
function reads(digits: f64, q: i32, single: f32): bool {
  const double = q >= 0 ? digits * power(q) : digits / power(-q);
  if (<f32>double != single) return false;
  const isMidpoint = (reinterpret<u64>(double) & 0x1fff_ffff) == 0x1000_0000;
  return !isMidpoint || (q >= 0 && double <= 9007199254740991);
}

/** Writes `digits * 10^q` as JavaScript writes numbers. */
function layOut(digits: u32, q: i32, out: usize): usize {
  const count = countOf(digits);
  const point = count + q;
  if (point < -5) {
    let next = place(digits, count, 1, out);
    store<u16>(next, 0x2d65);
    next += 2;
    const exponent = 1 - point;
    if (exponent >= 10) store<u8>(next++, 0x30 + exponent / 10);
    store<u8>(next, 0x30 + exponent % 10);
    return next + 1;
  }
  if (point <= 0) {
    store<u64>(out, 0x3030_3030_3030_2e30);
    return place(digits, count, count, out + 2 - point);
  }
  let next = place(digits, count, min(point, count), out);
  for (let i = count; i < point; i++) store<u8>(next++, 0x30);
  return next;
}

/** Writes an integer of at most nine digits, with the point after the first `whole` of them. */
@inline
function place(digits: u32, count: i32, whole: i32, out: usize): usize {
  let next = out;
  let text = textOfEight(digits % 100_000_000);
  let left = count;
  let before = whole;
  if (count == 9) {
    store<u8>(next++, 0x30 + digits / 100_000_000);
    left = 8;
    before--;
  } else text >>= 64 - 8 * count;
  store<u64>(next, text);
  if (before == left) return next + left;
  store<u8>(next + before, 0x2e);
  store<u64>(next + before + 1, text >> (8 * before));
  return next + left + 1;
}

@inline
function textOfEight(number: u32): u64 {
  const fours = <u64>(number / 10_000) | ((<u64>(number % 10_000)) << 32);
  const hundreds = ((fours * 10486) >> 20) & 0x0000_007f_0000_007f;
  const pairs = hundreds | ((fours - hundreds * 100) << 16);
  const tens = ((pairs * 103) >> 10) & 0x000f_000f_000f_000f;
  return (tens | ((pairs - tens * 10) << 8)) + 0x3030_3030_3030_3030;
}

@inline
function countOf(digits: u32): i32 {
  if (digits >= 10_000_000) return digits >= 100_000_000 ? 9 : 8;
  if (digits >= 100_000) return digits >= 1_000_000 ? 7 : 6;
  if (digits >= 1_000) return digits >= 10_000 ? 5 : 4;
  return digits >= 100 ? 3 : digits >= 10 ? 2 : 1;
}
