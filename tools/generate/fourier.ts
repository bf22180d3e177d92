/** Transforms cubes by the FFT of `fft.js`, applied along each axis in turn. */
import FFT from "fft.js";

/**
 * Transforms a complex cube in place, re and im interleaved, `2 * nodes^3` numbers in the order [z][y][x];
 * unnormalised.
 */
export type CubeTransform = (cube: Float64Array) => void;

/**
 * @param nodes nodes along an axis, a power of two
 * @returns `forward` sums with exp(-i k.x) and `inverse` with exp(+i k.x); one after the other multiplies by `nodes^3`
 */
export function cubeTransforms(nodes: number): { readonly forward: CubeTransform; readonly inverse: CubeTransform } {
  const fft = new FFT(nodes);
  const line = new Float64Array(2 * nodes);
  const image = new Float64Array(2 * nodes);
  const alongAxis = (cube: Float64Array, axis: 0 | 1 | 2, sign: 1 | -1) => {
    const stride = nodes ** axis;
    // Lines along the axis start at every node whose own index is zero: `outer` walks slower axes, `inner` faster ones.
    for (let outer = 0; outer < nodes ** 3; outer += stride * nodes) {
      for (let inner = 0; inner < stride; inner++) {
        const start = 2 * (outer + inner);
        // The inverse is the conjugate of the forward transform of the conjugate.
        for (let i = 0, at = start; i < 2 * nodes; i += 2, at += 2 * stride) {
          line[i] = cube[at];
          line[i + 1] = sign * cube[at + 1];
        }
        fft.transform(image, line);
        for (let i = 0, at = start; i < 2 * nodes; i += 2, at += 2 * stride) {
          cube[at] = image[i];
          cube[at + 1] = sign * image[i + 1];
        }
      }
    }
  };
  const transform = (sign: 1 | -1) => (cube: Float64Array) => {
    for (const axis of [0, 1, 2] as const) alongAxis(cube, axis, sign);
  };
  return { forward: transform(1), inverse: transform(-1) };
}
