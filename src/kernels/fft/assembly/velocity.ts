/** Multiplies the components of a velocity at nodes, and moves numbers in shared memory, which the host does slowly. */

/**
 * Replaces u, v and w at nodes by uu - ww, vv - ww, uv, uw and vw, or by all products: uu, vv, ww, uv, uw and vw.
 *
 * @param bytes of a field: 8 for each node, a multiple of 16; the fields follow one another at `at`
 */
export function multiply(at: usize, bytes: usize, all: bool): void {
  for (let i = at; i < at + bytes; i += 16) {
    const u = v128.load(i);
    const v = v128.load(i + bytes);
    const w = v128.load(i + 2 * bytes);
    const uu = f64x2.mul(u, u);
    const vv = f64x2.mul(v, v);
    const ww = f64x2.mul(w, w);
    let to = i + 2 * bytes;
    v128.store(i, all ? uu : f64x2.sub(uu, ww));
    v128.store(i + bytes, all ? vv : f64x2.sub(vv, ww));
    if (all) {
      v128.store(to, ww);
      to += bytes;
    }
    v128.store(to, f64x2.mul(u, v));
    v128.store(to + bytes, f64x2.mul(u, w));
    v128.store(to + 2 * bytes, f64x2.mul(v, w));
  }
}

/** Copies bytes. */
export function copy(to: usize, from: usize, bytes: usize): void {
  memory.copy(to, from, bytes);
}

/** Sets bytes to 0. */
export function clear(at: usize, bytes: usize): void {
  memory.fill(at, 0, bytes);
}
