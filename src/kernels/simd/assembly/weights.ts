/**
 * Computes one-dimensional weight vectors and writes them to memory: read back with splat loads they stay out of the
 * inner loops.
 *
 * Interpolation weights of two coordinates are computed side by side, one a lane, and stored apart.
 */

// @ts-ignore: decorator
@inline
function times(a: v128, b: v128): v128 {
  return f64x2.mul(a, b);
}

// @ts-ignore: decorator
@inline
function plus(a: v128, b: f64): v128 {
  return f64x2.add(a, f64x2.splat(b));
}

/** Stores weight K of the two coordinates: `product / DENOMINATOR`. */
// @ts-ignore: decorator
@inline
function put(K: i32, low: usize, high: usize, product: v128, DENOMINATOR: f64): void {
  const weight = times(product, f64x2.splat(1 / DENOMINATOR));
  v128.store64_lane(low + 8 * K, weight, 0);
  v128.store64_lane(high + 8 * K, weight, 1);
}

/**
 * Lagrange bases on 4, 6 or 8 equispaced nodes at the offsets `f` from the left central one, 0 <= f < 1, to `low` and
 * `high`.
 * Source: Berrut and Trefethen, SIAM Review 46 (2004), section 2.
 */
// @ts-ignore: decorator
@inline
export function lagrange(order: i32, f: v128, low: usize, high: usize): void {
  const b = plus(f, 1), d = plus(f, -1), e = plus(f, -2);
  const bf = times(b, f), de = times(d, e);
  if (order == 4) {
    put(0, low, high, times(f, de), -6);
    put(1, low, high, times(b, de), 2);
    put(2, low, high, times(bf, e), -2);
    put(3, low, high, times(bf, d), 6);
  } else if (order == 6) {
    const a = plus(f, 2), g = plus(f, -3);
    const ab = times(a, b), abf = times(ab, f);
    const eg = times(e, g), deg = times(d, eg);
    put(0, low, high, times(bf, deg), -120);
    put(1, low, high, times(times(a, f), deg), 24);
    put(2, low, high, times(ab, deg), -12);
    put(3, low, high, times(abf, eg), 12);
    put(4, low, high, times(abf, times(d, g)), -24);
    put(5, low, high, times(abf, de), 120);
  } else {
    const z = plus(f, 3), a = plus(f, 2), g = plus(f, -3), h = plus(f, -4);
    const za = times(z, a), zab = times(za, b), zabf = times(za, bf);
    const gh = times(g, h), egh = times(e, gh), degh = times(de, gh);
    put(0, low, high, times(times(a, bf), degh), -5040);
    put(1, low, high, times(times(z, bf), degh), 720);
    put(2, low, high, times(times(za, f), degh), -240);
    put(3, low, high, times(zab, degh), 144);
    put(4, low, high, times(zabf, egh), -144);
    put(5, low, high, times(zabf, times(d, gh)), 240);
    put(6, low, high, times(zabf, times(de, h)), -720);
    put(7, low, high, times(zabf, times(de, g)), 5040);
  }
}

/** A five-point stencil applied to each of four interpolated nodes: eight weights. */
// @ts-ignore: decorator
@inline
function convolve(w: usize, left2: f64, left1: f64, centre: f64, right1: f64, right2: f64, out: usize): void {
  const a = load<f64>(w), b = load<f64>(w, 8), c = load<f64>(w, 16), d = load<f64>(w, 24);
  store<f64>(out, a * left2);
  store<f64>(out, a * left1 + b * left2, 8);
  store<f64>(out, a * centre + b * left1 + c * left2, 16);
  store<f64>(out, a * right1 + b * centre + c * left1 + d * left2, 24);
  store<f64>(out, a * right2 + b * right1 + c * centre + d * left1, 32);
  store<f64>(out, b * right2 + c * right1 + d * centre, 40);
  store<f64>(out, c * right2 + d * right1, 48);
  store<f64>(out, d * right2, 56);
}

/** First derivative, fourth order, of the field interpolated with the four weights `w`. */
// @ts-ignore: decorator
@inline
export function firstDerivative(w: usize, spacing: f64, out: usize): void {
  const near = 2.0 / 3.0 / spacing, far = 1.0 / 12.0 / spacing;
  convolve(w, far, -near, 0, near, -far, out);
}

/** Second derivative, fourth order, of the field interpolated with the four weights `w`. */
// @ts-ignore: decorator
@inline
export function secondDerivative(w: usize, spacing: f64, out: usize): void {
  const near = 4.0 / 3.0 / (spacing * spacing), far = -1.0 / 12.0 / (spacing * spacing);
  convolve(w, far, near, -2.5 / (spacing * spacing), near, far, out);
}

/**
 * Differences f(+1) - f(-1), six weights, and f(+2) - f(-2), eight weights, over the spacing: factors of the mixed
 * derivatives.
 */
// @ts-ignore: decorator
@inline
export function differences(w: usize, spacing: f64, one: usize, two: usize): void {
  const a = load<f64>(w) / spacing, b = load<f64>(w, 8) / spacing, c = load<f64>(
    w, 16
  ) / spacing, d = load<f64>(w, 24) / spacing;
  store<f64>(one, -a);
  store<f64>(one, -b, 8);
  store<f64>(one, a - c, 16);
  store<f64>(one, b - d, 24);
  store<f64>(one, c, 32);
  store<f64>(one, d, 40);
  store<f64>(two, -a);
  store<f64>(two, -b, 8);
  store<f64>(two, -c, 16);
  store<f64>(two, -d, 24);
  store<f64>(two, a, 32);
  store<f64>(two, b, 40);
  store<f64>(two, c, 48);
  store<f64>(two, d, 56);
}
