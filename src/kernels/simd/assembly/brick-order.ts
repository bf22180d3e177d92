/**
 * Sorts points by brick key: a stable radix sort, least significant digit first, on entries of key and index side by
 * side.
 */
import { Axis } from "./records";
import { wrap } from "./nodes";

const DIGIT_BITS: u32 = 11;
const DIGITS: usize = 1 << DIGIT_BITS;
/** Digits of a 32-bit key. */
const PASSES: usize = 3;
/** Bytes of the counts of one digit. */
const COUNTS: usize = DIGITS * 4;

/** The cell of a coordinate, wrapped on a periodic axis, limited to the others. */
// @ts-ignore: decorator
@inline
function cellOf(axis: Axis, x: f64): i32 {
  const cell = Math.floor((x - axis.origin) / axis.spacing);
  return axis.periodic ? wrap(cell, axis.nodes) : <i32>Math.min(Math.max(cell, 0), <f64>(axis.nodes - 1));
}

// @ts-ignore: decorator
@inline
function digit(key: u32, pass: usize): usize {
  return (<usize>(key >> (<u32>pass * DIGIT_BITS)) & (DIGITS - 1)) << 2;
}

/** Turns the counts of a digit into the places where its first entries go. */
function accumulate(counts: usize): void {
  let next: u32 = 0;
  for (let at = counts; at < counts + COUNTS; at += 4) {
    const count = load<u32>(at);
    store<u32>(at, next);
    next += count;
  }
}

/**
 * Order of points by the key `x[i] | y[j] | z[k]` of their cell (i, j, k).
 *
 * @param keys  8 * count bytes of scratch
 * @param indices 8 * count bytes; the first half becomes the indices of the points in key order
 * @param sorted receives the positions in key order; 0: they are not wanted
 * @param work  24 KiB of this thread
 */
export function sortByBrick(
  axes: usize, x: usize, y: usize, z: usize, positions: usize, count: i32, keys: usize, indices: usize, sorted: usize,
  work: usize
): void {
  const axisX = changetype<Axis>(axes);
  const axisY = changetype<Axis>(axes + offsetof<Axis>());
  const axisZ = changetype<Axis>(axes + 2 * offsetof<Axis>());
  memory.fill(work, 0, PASSES * COUNTS);
  let differing: u32 = 0;
  let first: u32 = 0;
  for (let i = 0; i < count; i++) {
    const position = positions + <usize>i * 24;
    const key =
      load<u32>(x + (<usize>cellOf(axisX, load<f64>(position)) << 2)) |
      load<u32>(y + (<usize>cellOf(axisY, load<f64>(position, 8)) << 2)) |
      load<u32>(z + (<usize>cellOf(axisZ, load<f64>(position, 16)) << 2));
    store<u64>(keys + (<usize>i << 3), (<u64>key << 32) | <u64>i);
    if (i == 0) first = key;
    differing |= key ^ first;
    for (let pass: usize = 0; pass < PASSES; pass++) {
      const at = work + pass * COUNTS + digit(key, pass);
      store<u32>(at, load<u32>(at) + 1);
    }
  }
  let from = keys;
  let to = indices;
  for (let pass: usize = 0; pass < PASSES; pass++) {
    if (digit(differing, pass) == 0) continue;
    const counts = work + pass * COUNTS;
    accumulate(counts);
    const end = from + (<usize>count << 3);
    for (let p = from; p < end; p += 8) {
      const entry = load<u64>(p);
      const at = counts + digit(<u32>(entry >> 32), pass);
      const place = load<u32>(at);
      store<u32>(at, place + 1);
      store<u64>(to + (<usize>place << 3), entry);
    }
    const other = from;
    from = to;
    to = other;
  }
  for (let i = 0; i < count; i++) store<u32>(indices + (<usize>i << 2), load<u32>(from + (<usize>i << 3)));
  if (sorted == 0) return;
  for (const end = indices + (<usize>count << 2); indices < end; indices += 4) {
    const position = positions + <usize>load<u32>(indices) * 24;
    v128.store(sorted, v128.load(position));
    store<u64>(sorted, load<u64>(position, 16), 16);
    sorted += 24;
  }
}
