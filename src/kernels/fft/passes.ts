/** Divides transforms of 2^a 3^b 5^c numbers into passes, and writes them as plans for the module. */
import { PASS_BYTES } from "./fft-layout.js";

/** A pass: its radix, and the twiddle factors of its numbers 1 to radix - 1 for each p (`assembly/passes.ts`). */
export interface Pass {
  readonly radix: 2 | 3 | 4 | 5;
  /** Length of the transforms that it leaves. */
  readonly m: number;
  /** Transforms that are interleaved. */
  readonly s: number;
  /** Pairs of cosine and minus sine: (radix - 1) for p = 0, 1, ..., m - 1. */
  readonly twiddles: Float64Array;
}

/** The passes of a length of the form 2^a 3^b 5^c; none for 1. */
export function passesOf(n: number): readonly Pass[] {
  const passes: Pass[] = [];
  let [length, s] = [n, 1];
  for (const radix of [4, 2, 3, 5] as const)
    while (length % radix === 0) {
      const m = length / radix;
      const twiddles = new Float64Array(2 * (radix - 1) * m);
      for (let p = 0, at = 0; p < m; p++)
        for (let k = 1; k < radix; k++) {
          const [c, minusSine] = turn(p * k, length);
          twiddles[at++] = c;
          twiddles[at++] = minusSine;
        }
      passes.push({ radix, m, s, twiddles });
      [length, s] = [m, s * radix];
    }
  return passes;
}

/** Bytes of the plan of a length, with its twiddle factors. */
export function planBytes(n: number): number {
  return passesOf(n).reduce((sum, { twiddles }) => sum + PASS_BYTES + twiddles.byteLength, PASS_BYTES);
}

/** Writes the plan of a length into the memory of the module. `at`: byte offset, a multiple of 8. */
export function writePlan(buffer: ArrayBufferLike, at: number, n: number): void {
  const passes = passesOf(n);
  const words = new Int32Array(buffer, at, (PASS_BYTES / 4) * (passes.length + 1)).fill(0);
  let next = at + words.byteLength;
  passes.forEach(({ radix, m, s, twiddles }, i) => {
    words.set([radix, m, s, next], (PASS_BYTES / 4) * i);
    new Float64Array(buffer, next, twiddles.length).set(twiddles);
    next += twiddles.byteLength;
  });
}

/** exp(-2 pi i t / n), from the first eighth of the circle so that it is exact on the axes and symmetric. */
function turn(t: number, n: number): readonly [re: number, im: number] {
  const at = t % n;
  const quarter = Math.floor((4 * at) / n);
  const rest = 4 * at - quarter * n;
  const angle = (Math.PI / 2) * (Math.min(rest, n - rest) / n);
  const [near, far] = [Math.cos(angle), Math.sin(angle)];
  const [c, s] = 2 * rest <= n ? [near, far] : [far, near];
  return [
    [c, -s],
    [-s, -c],
    [-c, s],
    [s, c],
  ][quarter] as [number, number];
}
