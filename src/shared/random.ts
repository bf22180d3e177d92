/**
 * Random numbers by counters: Philox4x32-10. Each number is a function of a seed and of what it is drawn for, so the
 * order of draws, the number of workers and the division of a call change none.
 *
 * Source: Salmon, Moraes, Dror and Shaw, Parallel random numbers: as easy as 1, 2, 3, SC11 (2011).
 */

/** Purposes of numbers: the last word of a counter. */
export const PURPOSES = { points: 0, directions: 1, diffusion: 2 } as const;

const MULTIPLY_0 = 0xd2511f53;
const MULTIPLY_2 = 0xcd9e8d57;
const WEYL_0 = 0x9e3779b9;
const WEYL_1 = 0xbb67ae85;
const WORD = 2 ** 32;

/** Overwrites the four words of a counter with their random words. `key`: two words. */
export function philox(words: Uint32Array, key: readonly [number, number]): void {
  const at = (i: number): number => words[i] as number;
  let a = at(0);
  let b = at(1);
  let c = at(2);
  let d = at(3);
  let [low, high] = key;
  for (let round = 0; round < 10; round++) {
    const lowA = Math.imul(MULTIPLY_0, a) >>> 0;
    const lowC = Math.imul(MULTIPLY_2, c) >>> 0;
    const highA = highWord(MULTIPLY_0, a, lowA);
    a = (highWord(MULTIPLY_2, c, lowC) ^ b ^ low) >>> 0;
    c = (highA ^ d ^ high) >>> 0;
    b = lowC;
    d = lowA;
    low = (low + WEYL_0) >>> 0;
    high = (high + WEYL_1) >>> 0;
  }
  words.set([a, b, c, d]);
}

/** The upper word of a product of two words. Rounding moves the product by at most 2^10, far less than half of 2^32. */
function highWord(x: number, y: number, low: number): number {
  return Math.round((x * y - low) / WORD);
}

/** Draws three numbers in [0, 1), of 32 bits each. `index`: in the whole call. */
export function drawTriple(
  seed: number,
  index: number,
  purpose: keyof typeof PURPOSES,
  words: Uint32Array,
): readonly [number, number, number] {
  // Counter: index, step, draw, purpose. The second word of the key is the seed's, or what of the index is beyond 2^32.
  words.set([index >>> 0, 0, 0, PURPOSES[purpose]]);
  philox(words, [seed >>> 0, Math.floor(index / WORD)]);
  return [(words[0] as number) / WORD, (words[1] as number) / WORD, (words[2] as number) / WORD];
}

/**
 * Draws three numbers of the standard normal distribution for a step of a particle. Source: Box and Muller, A note on
 * the generation of random normal deviates, Annals of Mathematical Statistics 29 (1958).
 */
export function drawNormals(
  seed: number,
  index: number,
  step: number,
  words: Uint32Array,
): readonly [number, number, number] {
  words.set([index >>> 0, step, 0, PURPOSES.diffusion]);
  philox(words, [seed >>> 0, Math.floor(index / WORD)]);
  // The words lie in (0, 1]: their logarithms are finite.
  const radius = (i: number) => Math.sqrt(-2 * Math.log(((words[i] as number) + 1) / WORD));
  const angle = (i: number) => 2 * Math.PI * ((words[i] as number) / WORD);
  return [radius(0) * Math.cos(angle(1)), radius(0) * Math.sin(angle(1)), radius(2) * Math.cos(angle(3))];
}

/** The low part of a particle's number is below this, so that both parts are exact in float32. */
const LOW = 2 ** 20;

/** The numbers `first .. first + count - 1` of particles, three float32 each, which travel with their points. */
export function numbered(first: number, count: number): Float32Array {
  const triples = new Float32Array(3 * count);
  for (let i = 0; i < count; i++) {
    triples[3 * i] = (first + i) % LOW;
    triples[3 * i + 1] = Math.floor((first + i) / LOW);
  }
  return triples;
}

/** The number of particle `i` of `numbered`. */
export function numberAt(triples: ArrayLike<number>, i: number): number {
  return (triples[3 * i] as number) + LOW * (triples[3 * i + 1] as number);
}
