/** Discrete Fourier transforms of any length in float64, X_k = sum over j of x_j exp(-2 pi i j k / n), by prime factors. */
export class Transform {
  readonly #n: number;
  /** Prime factors; the last one is applied first. */
  readonly #factors: readonly number[];
  readonly #order: Int32Array;
  readonly #cos: Float64Array;
  readonly #sin: Float64Array;
  readonly #in: readonly [Float64Array, Float64Array];

  constructor(n: number) {
    this.#n = n;
    this.#factors = factorsOf(n);
    let order = [0];
    for (const p of this.#factors.toReversed()) {
      // Numbers at a stride p are transformed one set after another.
      const inner = order;
      order = Array.from({ length: p }, (_, r) => inner.map((i) => p * i + r)).flat();
    }
    this.#order = Int32Array.from(order);
    const angles = Float64Array.from({ length: n }, (_, i) => (2 * Math.PI * i) / n);
    [this.#cos, this.#sin] = [angles.map(Math.cos), angles.map(Math.sin)];
    this.#in = [new Float64Array(n), new Float64Array(n)];
  }

  /** Transforms `n` complex numbers in place. */
  forward(re: Float64Array, im: Float64Array): void {
    const [n, order, cos, sin] = [this.#n, this.#order, this.#cos, this.#sin];
    const [x, y] = this.#in;
    for (let i = 0; i < n; i++) {
      x[i] = re[order[i]];
      y[i] = im[order[i]];
    }
    re.set(x);
    im.set(y);
    let m = 1;
    for (let level = this.#factors.length - 1; level >= 0; level--) {
      const p = this.#factors[level];
      const stride = n / (m * p);
      for (let from = 0; p !== 2 && from < n; from += m * p) this.#join(re, im, from, m, p, stride);
      for (let k = 0; p === 2 && k < m; k++) {
        const c = cos[k * stride];
        const s = sin[k * stride];
        for (let a = k; a < n; a += 2 * m) {
          const b = a + m;
          const real = re[b] * c + im[b] * s;
          const imaginary = im[b] * c - re[b] * s;
          re[b] = re[a] - real;
          im[b] = im[a] - imaginary;
          re[a] += real;
          im[a] += imaginary;
        }
      }
      m *= p;
    }
  }

  #join(re: Float64Array, im: Float64Array, from: number, m: number, p: number, stride: number): void {
    const [x, y] = this.#in;
    for (let k = 0; k < m; k++) {
      for (let q = 0; q < p; q++) {
        x[q] = 0;
        y[q] = 0;
        for (let r = 0; r < p; r++) {
          const at = from + k + r * m;
          const turn = (r * (k + q * m) * stride) % this.#n;
          x[q] += re[at] * this.#cos[turn] + im[at] * this.#sin[turn];
          y[q] += im[at] * this.#cos[turn] - re[at] * this.#sin[turn];
        }
      }
      for (let q = 0; q < p; q++) {
        re[from + k + q * m] = x[q];
        im[from + k + q * m] = y[q];
      }
    }
  }
}

function factorsOf(n: number): number[] {
  const factors: number[] = [];
  for (let rest = n, p = 2; rest > 1; p++) for (; rest % p === 0; rest /= p) factors.push(p);
  return factors;
}
