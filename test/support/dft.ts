/** Fourier transform of cubes by the definition, axis by axis: slow, obvious, and unrelated to what it checks. */
export type Complex = Readonly<Record<"re" | "im", Float64Array>>;

/**
 * Sums with exp(-i k.x) and divides by `nodes^3` (`sign` -1), or sums with exp(+i k.x) (`sign` 1).
 * Cubes are in the order [z][y][x], wavenumbers likewise, k standing for itself modulo `nodes`.
 */
export function dft(nodes: number, cube: Complex, sign: 1 | -1): Complex {
  const cos = Float64Array.from({ length: nodes }, (_, i) => Math.cos((2 * Math.PI * i) / nodes));
  const sin = Float64Array.from({ length: nodes }, (_, i) => sign * Math.sin((2 * Math.PI * i) / nodes));
  let from = cube;
  for (const stride of [1, nodes, nodes * nodes]) {
    const to = { re: new Float64Array(nodes ** 3), im: new Float64Array(nodes ** 3) };
    for (let node = 0; node < nodes ** 3; node++) {
      const k = Math.floor(node / stride) % nodes;
      const start = node - k * stride;
      let re = 0;
      let im = 0;
      for (let i = 0, phase = 0; i < nodes; i++, phase = (phase + k) % nodes) {
        const a = from.re[start + i * stride] as number;
        const b = from.im[start + i * stride] as number;
        const c = cos[phase] as number;
        const s = sin[phase] as number;
        re += a * c - b * s;
        im += a * s + b * c;
      }
      to.re[node] = re;
      to.im[node] = im;
    }
    from = to;
  }
  if (sign === 1) return from;
  const scale = 1 / nodes ** 3;
  return { re: from.re.map((value) => value * scale), im: from.im.map((value) => value * scale) };
}

export function transformOf(nodes: number, values: ArrayLike<number>): Complex {
  return dft(nodes, { re: Float64Array.from(values), im: new Float64Array(nodes ** 3) }, -1);
}

/** The wavenumber (kx, ky, kz) at an index, each component between -nodes / 2 and nodes / 2 - 1. */
export function wavenumberAt(nodes: number, index: number): [number, number, number] {
  const signed = (i: number) => (i < nodes / 2 ? i : i - nodes);
  return [
    signed(index % nodes),
    signed(Math.floor(index / nodes) % nodes),
    signed(Math.floor(index / (nodes * nodes))),
  ];
}

export function indexOf(nodes: number, [x, y, z]: readonly [number, number, number]): number {
  const wrap = (component: number) => (component + nodes) % nodes;
  return (wrap(z) * nodes + wrap(y)) * nodes + wrap(x);
}

/** Values at the nodes of the derivative along an axis of a real field, given its transform. */
export function derivative(nodes: number, transform: Complex, axis: 0 | 1 | 2): Float64Array {
  const times = (part: Float64Array, sign: number) =>
    part.map((value, index) => sign * wavenumberAt(nodes, index)[axis] * value);
  return dft(nodes, { re: times(transform.im, -1), im: times(transform.re, 1) }, 1).re;
}
