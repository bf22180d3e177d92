/** Chunks that the stencils of a query touch, and what an analytic cube answers. */
import type { Check } from "./ask.js";

const PERIOD = 2 * Math.PI;
const CHECKED = 1000;

/**
 * Bytes of the chunks of one frame that stencils of `order` nodes an axis touch; three float32 a node, periodic cube of
 * length 2 pi.
 */
export function touchedBytes(nodes: number, chunk: number, order: number, points: Float32Array): number {
  const chunks = Math.ceil(nodes / chunk);
  const touched = new Uint8Array(chunks ** 3);
  const ends = [1 - order / 2, order / 2];
  const along = [new Set<number>(), new Set<number>(), new Set<number>()];
  for (let at = 0; at < points.length; at += 3) {
    for (const [a, found] of along.entries()) {
      found.clear();
      const cell = Math.floor(((points[at + a] as number) / PERIOD) * nodes);
      for (const end of ends) found.add(Math.floor(((((cell + end) % nodes) + nodes) % nodes) / chunk));
    }
    const [xs, ys, zs] = along as [Set<number>, Set<number>, Set<number>];
    for (const z of zs) for (const y of ys) for (const x of xs) touched[(z * chunks + y) * chunks + x] = 1;
  }
  return touched.reduce((sum, one) => sum + one, 0) * chunk ** 3 * 12;
}

/** A check of velocities in `generate abc`: the formula at time `t`, as far as `tolerance` off it. */
export function checkAbc(points: Float32Array, t: number, tolerance: number): Check {
  const [b, c] = [Math.sqrt(2 / 3), Math.sqrt(1 / 3)];
  const decay = Math.exp(-0.1 * t);
  return (values) => {
    const stride = 3 * Math.max(1, Math.floor(points.length / 3 / CHECKED));
    for (let at = 0; at < points.length; at += stride) {
      const [x, y, z] = points.subarray(at, at + 3) as unknown as [number, number, number];
      const flow = [Math.sin(z) + c * Math.cos(y), b * Math.sin(x) + Math.cos(z), c * Math.sin(y) + b * Math.cos(x)];
      for (const [i, value] of flow.entries()) {
        const found = values[at + i] as number;
        if (!(Math.abs(found - decay * value) <= tolerance))
          throw new Error(`at (${x}, ${y}, ${z}) the flow is ${decay * value}, the answer ${found}`);
      }
    }
  };
}
