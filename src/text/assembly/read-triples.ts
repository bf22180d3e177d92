/** Reads items of three decimals: compares tags sixteen bytes at a time, reads digits eight at a time. */
import { FULL, LONGEST_NUMBER, ODD, OUTCOME, POWERS, SHORT, TAGS, WHOLE_POWERS } from "../text-layout";

/** Rounds a text to float32 at `out` (`float32/parse.ts`). @returns 0: no number, 1: finite, 2: not finite */
@external("env", "readExactly")
declare function readExactly(from: usize, to: usize, out: usize): i32;

/** In place of the address after a tag or a number: the text ends in it, or it has another form. */
const CUT: usize = 0;
const OTHER: usize = 1;

/** Largest mantissa that takes another digit, and another eight. */
const MANTISSA: u64 = 1_000_000_000_000_000_000;
const SHORT_MANTISSA: u64 = 10_000_000_000;
/** Units in the last place around a midpoint, and magnitudes, from which on rounding is in doubt. */
const MARGIN: u64 = 16;
const MIDPOINT: u64 = 0x1000_0000;
const SMALLEST: f64 = 2.350988701644575e-38;
const LARGEST: f64 = 1.7014118346046923e38;
/** Reads items into at most `room` triples at `out`; the byte at `end` must be no digit. @returns items read; see OUTCOME */
export function readTriples(from: usize, end: usize, out: usize, room: i32, spaced: bool, finite: bool): i32 {
  let position = from;
  let to = out;
  let count = 0;
  let why = FULL;
  const tags: usize = TAGS;
  for (; count < room; count++, to += 12) {
    let p = passTag(position, end, tags, spaced);
    for (let component: usize = 0; component < 3 && p > OTHER; component++) {
      p = passTag(p, end, tags + 8 + 16 * component, spaced);
      if (p > OTHER) p = readNumber(p, end, to + 4 * component, spaced, finite);
      if (p > OTHER) p = passTag(p, end, tags + 16 + 16 * component, spaced);
    }
    if (p > OTHER) p = passTag(p, end, tags + 56, spaced);
    if (p <= OTHER) {
      why = p == CUT ? SHORT : ODD;
      break;
    }
    position = p;
  }
  store<u32>(OUTCOME, <u32>position);
  store<u32>(OUTCOME, why, 4);
  return count;
}

@inline
function passSpace(from: usize, end: usize, spaced: bool): usize {
  let p = from;
  while (spaced && p < end) {
    if (!isSpace(load<u8>(p))) break;
    p++;
  }
  return p;
}

@inline
function isSpace(byte: u8): bool {
  return byte <= 0x20 && (byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09);
}

@inline
function passTag(from: usize, end: usize, row: usize, spaced: bool): usize {
  const p = passSpace(from, end, spaced);
  const tag: usize = load<u32>(row);
  const length: usize = load<u32>(row, 4);
  if (p + length > end) {
    for (let i: usize = 0; p + i < end; i++) if (load<u8>(p + i) != load<u8>(tag + i)) return OTHER;
    return CUT;
  }
  let i: usize = 0;
  for (; i + 16 <= length; i += 16) {
    if (v128.any_true(v128.xor(v128.load(p + i), v128.load(tag + i)))) return OTHER;
  }
  const equal = i8x16.bitmask(i8x16.eq(v128.load(p + i), v128.load(tag + i)));
  return (equal | (-1 << <i32>(length - i))) == -1 ? p + length : OTHER;
}

@inline
function readNumber(from: usize, end: usize, out: usize, spaced: bool, finite: bool): usize {
  const start = passSpace(from, end, spaced);
  let p = readDecimal(start, end, out);
  if (p == OTHER) p = readWord(start, end, out, finite);
  if (p <= OTHER) return p;
  p = passSpace(p, end, spaced);
  return p - from > <usize>LONGEST_NUMBER ? OTHER : p;
}

/** Reads a number whose rounding is in doubt, or a word such as INF. */
function readWord(from: usize, end: usize, out: usize, finite: bool): usize {
  let p = from;
  while (p < end && p - from <= <usize>LONGEST_NUMBER && load<u8>(p) != 0x3c && !isSpace(load<u8>(p))) p++;
  if (p >= end) return CUT;
  const kind = readExactly(from, p, out);
  return kind == 1 || (kind == 2 && !finite) ? p : OTHER;
}

function readDecimal(from: usize, end: usize, out: usize): usize {
  let p = from;
  const sign = load<u8>(p);
  const negative = sign == 0x2d;
  if (negative || sign == 0x2b) p++;
  let mantissa: u64 = 0;
  let exponent: i32 = 0;
  let start = p;
  let digit: u32 = <u32>load<u8>(p) - 0x30;
  while (digit <= 9) {
    if (mantissa < MANTISSA) mantissa = mantissa * 10 + digit;
    else exponent++;
    digit = <u32>load<u8>(++p) - 0x30;
  }
  let digits = p - start;
  if (load<u8>(p) == 0x2e) {
    start = ++p;
    while (mantissa < SHORT_MANTISSA) {
      const word = load<u64>(p) ^ 0x3030_3030_3030_3030;
      // The lowest of these bits marks the first byte that is not a digit.
      const other = ((word + 0x7676_7676_7676_7676) | word) & 0x8080_8080_8080_8080;
      if (other == 0) {
        mantissa = mantissa * 100_000_000 + ofEight(word);
        exponent -= 8;
        p += 8;
        continue;
      }
      const count = ctz(other) >> 3;
      if (count > 0) {
        mantissa = mantissa * load<u64>(WHOLE_POWERS + 8 * <i32>count) + ofEight(word << (64 - 8 * count));
        exponent -= <i32>count;
        p += <usize>count;
      }
      break;
    }
    digit = <u32>load<u8>(p) - 0x30;
    while (digit <= 9) {
      if (mantissa < MANTISSA) {
        mantissa = mantissa * 10 + digit;
        exponent--;
      }
      digit = <u32>load<u8>(++p) - 0x30;
    }
    digits += p - start;
  }
  if (digits > 0 && (load<u8>(p) | 0x20) == 0x65) {
    const minus = load<u8>(++p) == 0x2d;
    if (minus || load<u8>(p) == 0x2b) p++;
    let power = 0;
    start = p;
    digit = <u32>load<u8>(p) - 0x30;
    while (digit <= 9) {
      if (power < 1000) power = power * 10 + digit;
      digit = <u32>load<u8>(++p) - 0x30;
    }
    if (p == start) digits = 0;
    exponent += minus ? -power : power;
  }
  if (p >= end) return CUT;
  if (digits == 0) return OTHER;
  if (mantissa == 0) {
    store<f32>(out, negative ? -0.0 : 0.0);
  } else {
    if (exponent > 22 || exponent < -22) return OTHER;
    const value =
      exponent < 0
        ? <f64>mantissa / load<f64>(POWERS - 8 * exponent)
        : <f64>mantissa * load<f64>(POWERS + 8 * exponent);
    if (value < SMALLEST || value > LARGEST) return OTHER;
    const low = reinterpret<u64>(value) & 0x1fff_ffff;
    if (low > MIDPOINT - MARGIN && low < MIDPOINT + MARGIN) return OTHER;
    store<f32>(out, <f32>(negative ? -value : value));
  }
  return p;
}

@inline
function ofEight(digits: u64): u64 {
  const pairs = digits * 10 + (digits >> 8);
  const even = (pairs & 0x0000_00ff_0000_00ff) * 0x000f_4240_0000_0064;
  const odd = ((pairs >> 16) & 0x0000_00ff_0000_00ff) * 0x0000_2710_0000_0001;
  return (even + odd) >> 32;
}
