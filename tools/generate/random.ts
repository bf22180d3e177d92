/** Seeded random numbers by position: no number depends on earlier numbers, so boxes can be made in any order. */

/** Odd 32-bit constants of the golden ratio and of the murmur3 finaliser. */
const GOLDEN = 0x9e3779b9;

/** The murmur3 finaliser: a bijection of 32-bit integers in which every input bit moves every output bit. */
function mix(bits: number): number {
  let h = bits;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** A stream of its own for each pair of a seed and a number. */
export function randomStream(seed: number, stream: number): number {
  return mix(mix(seed + GOLDEN) ^ Math.imul(stream + 1, GOLDEN));
}

/** The number at `index` (below 2^53) of a stream: uniform, 0 <= value < 1, a multiple of 2^-32. */
export function randomAt(stream: number, index: number): number {
  const high = Math.floor(index / 4294967296);
  return mix(mix(stream ^ Math.imul(high, GOLDEN)) + Math.imul(index | 0, GOLDEN)) / 4294967296;
}
