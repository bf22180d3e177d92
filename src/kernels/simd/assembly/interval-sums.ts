/** Sums the weighted nodes of one brick over a lattice of intervals. */

/**
 * Weights of one axis, as `../interval-sums.ts` lays them out. Node r adds `weight[e]` of its value to interval
 * `interval[e]` for e = from[r] .. from[r + 1] - 1.
 */
@unmanaged
export class Weights {
  nodes: i32;
  /** Addresses. */
  from: usize;
  interval: usize;
  weight: usize;
}

/** out[i] += scale * values[i] for `bytes / 8` values. */
// @ts-ignore: decorator
@inline
function addScaled(values: usize, scale: usize, out: usize, bytes: usize): void {
  const factor = v128.load64_splat(scale);
  const end = values + bytes;
  for (; values + 8 < end; values += 16) {
    v128.store(out, f64x2.add(v128.load(out), f64x2.mul(factor, v128.load(values))));
    out += 16;
  }
  if (values < end) store<f64>(out, load<f64>(out) + load<f64>(scale) * load<f64>(values));
}

/** Sums of one row over its intervals; WIDE: its values are float64. */
// @ts-ignore: decorator
@inline
function addRow(TRIPLE: bool, WIDE: bool, node: usize, x: Weights, line: usize): void {
  let e = load<i32>(x.from);
  for (let r = 0; r < x.nodes; r++) {
    const end = load<i32>(x.from + (<usize>(r + 1) << 2));
    if (TRIPLE) {
      const uv = WIDE ? v128.load(node) : f64x2.promote_low_f32x4(v128.load64_zero(node));
      const w = WIDE ? load<f64>(node, 16) : <f64>load<f32>(node, 8);
      for (; e < end; e++) {
        const at = line + <usize>load<i32>(x.interval + (<usize>e << 2)) * 24;
        const weight = x.weight + (<usize>e << 3);
        v128.store(at, f64x2.add(v128.load(at), f64x2.mul(v128.load64_splat(weight), uv)));
        store<f64>(at, load<f64>(at, 16) + load<f64>(weight) * w, 16);
      }
      node += WIDE ? 24 : 12;
    } else {
      const p = WIDE ? load<f64>(node) : <f64>load<f32>(node);
      for (; e < end; e++) {
        const at = line + (<usize>load<i32>(x.interval + (<usize>e << 2)) << 3);
        store<f64>(at, load<f64>(at) + load<f64>(x.weight + (<usize>e << 3)) * p);
      }
      node += WIDE ? 8 : 4;
    }
  }
}

/**
 * Sums over n * n * n intervals, [z][y][x][component] float64 at `sums`, overwritten.
 *
 * @param wide        whether the nodes are float64, not float32
 * @param corner      address of the first node; rows and planes are `strideY` and `strideZ` bytes apart
 * @param axes        three records of `Weights`
 * @param line, plane scratch for n and n * n intervals
 */
export function intervalSums(
  wide: bool, corner: usize, strideY: usize, strideZ: usize, components: i32, axes: usize, n: i32, line: usize,
  plane: usize, sums: usize
): void {
  const x = changetype<Weights>(axes);
  const y = changetype<Weights>(axes + offsetof<Weights>());
  const z = changetype<Weights>(axes + 2 * offsetof<Weights>());
  const lineBytes = <usize>(n * components) << 3;
  const planeBytes = <usize>n * lineBytes;
  memory.fill(sums, 0, <usize>n * planeBytes);
  for (let k = 0; k < z.nodes; k++) {
    const fromZ = load<i32>(z.from + (<usize>k << 2));
    const endZ = load<i32>(z.from + (<usize>(k + 1) << 2));
    if (fromZ == endZ) continue;
    memory.fill(plane, 0, planeBytes);
    for (let j = 0; j < y.nodes; j++) {
      const fromY = load<i32>(y.from + (<usize>j << 2));
      const endY = load<i32>(y.from + (<usize>(j + 1) << 2));
      if (fromY == endY) continue;
      memory.fill(line, 0, lineBytes);
      const node = corner + <usize>k * strideZ + <usize>j * strideY;
      if (wide) {
        if (components == 3) addRow(true, true, node, x, line);
        else addRow(false, true, node, x, line);
      } else if (components == 3) addRow(true, false, node, x, line);
      else addRow(false, false, node, x, line);
      for (let e = fromY; e < endY; e++) {
        const interval = <usize>load<i32>(y.interval + (<usize>e << 2));
        addScaled(line, y.weight + (<usize>e << 3), plane + interval * lineBytes, lineBytes);
      }
    }
    for (let e = fromZ; e < endZ; e++) {
      const interval = <usize>load<i32>(z.interval + (<usize>e << 2));
      addScaled(plane, z.weight + (<usize>e << 3), sums + interval * planeBytes, planeBytes);
    }
  }
}
