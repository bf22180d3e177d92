/** Copies a box between two strided layouts of x, y, z and component. */

/** Where element (x, y, z, component) stands: `base + x * strides[0] + y * strides[1] + z * strides[2] + c * strides[3]`. */
export interface Layout {
  readonly base: number;
  readonly strides: readonly [number, number, number, number];
}

/**
 * Copies `count` nodes along x, y, z and `components` values a node; float64 is rounded to float32.
 *
 * @param fill a value that stands for "nothing here" and becomes NaN; NaN when there is none
 */
export function copyBox(
  source: Float32Array | Float64Array,
  from: Layout,
  count: readonly [number, number, number],
  components: number,
  out: Float32Array,
  to: Layout,
  fill: number,
): void {
  const [sx, sy, sz, sc] = from.strides;
  const [tx, ty, tz, tc] = to.strides;
  const [nx, ny, nz] = count;
  const run = nx * components;
  const rows = sc === 1 && tc === 1 && sx === components && tx === components && Number.isNaN(fill);
  for (let z = 0; z < nz; z++) {
    for (let y = 0; y < ny; y++) {
      let s = from.base + z * sz + y * sy;
      let t = to.base + z * tz + y * ty;
      if (rows) {
        out.set(source.subarray(s, s + run), t);
        continue;
      }
      for (let x = 0; x < nx; x++, s += sx, t += tx) {
        for (let c = 0; c < components; c++) {
          const value = source[s + c * sc];
          out[t + c * tc] = value === fill ? Number.NaN : value;
        }
      }
    }
  }
}
