/** Sums of real powers: one logarithm of a number for all its powers, by tables of 1/128 of an octave. */
const PARTS = 128;
/** Coefficients of log2(1 + r) and of 2^r - 1, from r on. */
const LOG = [1, 2, 3, 4, 5, 6].map((n) => (n % 2 === 0 ? -1 : 1) / (n * Math.LN2));
const EXP = [1, 2, 6, 24, 120].map((factorial, i) => Math.LN2 ** (i + 1) / factorial);
/** By exponent of a number: the octave, and 2 to its power. Numbers below the first have no power. */
const OCTAVES = Float64Array.from({ length: 2047 }, (_, i) => (i === 0 ? -Infinity : i - 1023));
const TWOS = Float64Array.from({ length: 2047 }, (_, i) => 2 ** (i - 1023));
/** By part of an octave: 2 to its power, and the inverse of its middle, as float32, so that products are nearly exact. */
const ROOTS = Float64Array.from({ length: PARTS }, (_, i) => 2 ** (i / PARTS));
const INVERSES = Float64Array.from({ length: PARTS }, (_, i) => Math.fround(1 / (1 + (i + 0.5) / PARTS)));
const MIDDLES = INVERSES.map((one) => -Math.log2(one));

/** Overwrites `out` with the binary logarithms of numbers, of which those below 2^-1022 count as 0. */
export function binaryLogs(numbers: Float64Array, count: number, out: Float64Array): void {
  const [a1, a2, a3, a4, a5, a6] = LOG;
  const words = new Int32Array(numbers.buffer);
  for (let i = 0; i < count; i++) {
    const exponent = words[2 * i + 1] >> 20;
    const part = (words[2 * i + 1] >> 13) & (PARTS - 1);
    const r = numbers[i] * TWOS[2046 - exponent] * INVERSES[part] - 1;
    out[i] = OCTAVES[exponent] + (MIDDLES[part] + r * (a1 + r * (a2 + r * (a3 + r * (a4 + r * (a5 + r * a6))))));
  }
}

/**
 * The sum of powers of numbers, given by their binary logarithms. Relative errors of d^p are below 1e-13 for p |ln d| up
 * to 500. Source: Tang, ACM Transactions on Mathematical Software 15 (1989) 144 and 16 (1990) 378.
 */
export function sumOfPowers(logs: Float64Array, count: number, order: number): number {
  const [b1, b2, b3, b4, b5] = EXP;
  let sum = 0;
  for (let i = 0; i < count; i++) {
    const y = order * logs[i];
    const n = (PARTS * (y + 1023) + 0.5) | 0;
    const r = y - (n / PARTS - 1023);
    if (y * y < 1e6)
      sum += ROOTS[n & (PARTS - 1)] * TWOS[n >> 7] * (1 + r * (b1 + r * (b2 + r * (b3 + r * (b4 + r * b5)))));
    else sum += 2 ** y;
  }
  return sum;
}
