/** Counts the chunks and lines that the stencils of a query touch, and what an analytic cube answers. */
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

/**
 * Lines of 64 bytes that a point reads in flat arrays [z][y][x][3] of float32, one a frame: all of them, and those that
 * caches of so many bytes lack, which drop what was used longest ago; of the second of two passes over the points.
 */
export function linesOfPoints(
  nodes: number,
  order: number,
  frames: number,
  points: Float64Array,
  caches: readonly number[],
): readonly number[] {
  const count = points.length / 3;
  const models = caches.map((bytes) => ({ bytes, lines: new Set<number>(), lacked: 0 }));
  let all = 0;
  const read = (line: number): void => {
    all++;
    for (const model of models) {
      const { bytes, lines } = model;
      if (!lines.delete(line)) model.lacked++;
      lines.add(line);
      if (64 * lines.size > bytes) lines.delete(lines.values().next().value as number);
    }
  };
  const wrapped = (index: number) => ((index % nodes) + nodes) % nodes;
  for (let pass = 0; pass < 2; pass++) {
    all = 0;
    for (const model of models) model.lacked = 0;
    for (let p = 0; p < count; p++) {
      const [i, j, k] = [0, 1, 2].map(
        (a) => Math.floor(((points[3 * p + a] as number) / PERIOD) * nodes) + 1 - order / 2,
      ) as [number, number, number];
      for (let z = k; z < k + order; z++) {
        for (let y = j; y < j + order; y++) {
          for (let frame = 0; frame < frames; frame++) {
            const row = 12 * nodes * ((frame * nodes + wrapped(z)) * nodes + wrapped(y));
            let last = -1;
            for (let x = i; x < i + order; x++) {
              const at = row + 12 * wrapped(x);
              for (const line of [Math.floor(at / 64), Math.floor((at + 11) / 64)]) {
                if (line !== last) read(line);
                last = line;
              }
            }
          }
        }
      }
    }
  }
  return [all, ...models.map(({ lacked }) => lacked)].map((lines) => lines / count);
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
