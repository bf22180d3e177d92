/** One-dimensional weight vectors, written to memory: read back with splat loads they stay out of the inner loops. */

/** Lagrange basis on 4, 6 or 8 equispaced nodes at `f` from the left central one, 0 <= f < 1 (Berrut and Trefethen 2004, section 3). */
// @ts-ignore: decorator
@inline
export function lagrange(order: i32, f: f64, w: usize): void {
  if (order == 4) {
    const a = f + 1, c = f - 1, d = f - 2;
    const ab = a * f, cd = c * d;
    store<f64>(w, f * cd * (-1.0 / 6.0));
    store<f64>(w, a * cd * 0.5, 8);
    store<f64>(w, ab * d * -0.5, 16);
    store<f64>(w, ab * c * (1.0 / 6.0), 24);
  } else if (order == 6) {
    const a = f + 2, b = f + 1, d = f - 1, e = f - 2, g = f - 3;
    const ab = a * b, abf = ab * f, eg = e * g, deg = d * eg;
    store<f64>(w, b * f * deg * (-1.0 / 120.0));
    store<f64>(w, a * f * deg * (1.0 / 24.0), 8);
    store<f64>(w, ab * deg * (-1.0 / 12.0), 16);
    store<f64>(w, abf * eg * (1.0 / 12.0), 24);
    store<f64>(w, abf * d * g * (-1.0 / 24.0), 32);
    store<f64>(w, abf * d * e * (1.0 / 120.0), 40);
  } else {
    const a = f + 3, b = f + 2, c = f + 1, e = f - 1, g = f - 2, h = f - 3, i = f - 4;
    const ab = a * b, abc = ab * c, abcf = abc * f;
    const hi = h * i, ghi = g * hi, eghi = e * ghi;
    store<f64>(w, b * c * f * eghi * (-1.0 / 5040.0));
    store<f64>(w, a * c * f * eghi * (1.0 / 720.0), 8);
    store<f64>(w, ab * f * eghi * (-1.0 / 240.0), 16);
    store<f64>(w, abc * eghi * (1.0 / 144.0), 24);
    store<f64>(w, abcf * ghi * (-1.0 / 144.0), 32);
    store<f64>(w, abcf * e * hi * (1.0 / 240.0), 40);
    store<f64>(w, abcf * e * g * i * (-1.0 / 720.0), 48);
    store<f64>(w, abcf * e * g * h * (1.0 / 5040.0), 56);
  }
}

/** A symmetric or antisymmetric five-point stencil applied to every one of four interpolated nodes: eight weights. */
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

/** Differences f(+1) - f(-1), six weights, and f(+2) - f(-2), eight weights, over the spacing: factors of the mixed derivatives. */
// @ts-ignore: decorator
@inline
export function differences(w: usize, spacing: f64, one: usize, two: usize): void {
  const a = load<f64>(w) / spacing, b = load<f64>(w, 8) / spacing, c = load<f64>(w, 16) / spacing, d = load<f64>(w, 24) / spacing;
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
