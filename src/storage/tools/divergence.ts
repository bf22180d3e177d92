/** The divergence of a velocity relative to its gradient, as stored and with the components along other axes. */
import type { Axis, Triple } from "../dataset/dataset.js";

/** Divergence above which a smaller one with shuffled axes is told, and the part of it that the smaller one may be. */
const DOUBT = { least: 0.1, part: 0.5 };

/** Root mean square of the divergence, divided by that of the gradient. */
export interface Divergence {
  readonly own: number;
  /** The least and the largest with shuffled axes. */
  readonly shuffled: readonly [number, number];
}

export class DivergenceSums {
  #gradient = 0;
  /** Of the divergence as stored, and of the five with shuffled axes. */
  readonly #squares = new Float64Array(6);

  /**
   * Adds the nodes of a block whose six neighbours lie in it too, by central differences.
   * @param edge lengths of the block in memory, x first @param size its nodes @param first its first node
   */
  add(block: Float32Array | Float64Array, edge: Triple, size: Triple, first: Triple, axes: readonly Axis[]): void {
    const inverse = axes.map((axis, at) => inverseSpans(axis, first[at as 0], size[at as 0]));
    const [ix, iy, iz] = inverse as [Float64Array, Float64Array, Float64Array];
    const [sx, sy, sz] = [3, 3 * edge[0], 3 * edge[0] * edge[1]];
    const slope = (at: number, stride: number, inverse: number) => (block[at + stride] - block[at - stride]) * inverse;
    const squares = this.#squares;
    for (let z = 1; z < size[2] - 1; z++)
      for (let y = 1; y < size[1] - 1; y++)
        for (let x = 1; x < size[0] - 1; x++) {
          const at = x * sx + y * sy + z * sz;
          const ux = slope(at, sx, ix[x]);
          const vx = slope(at + 1, sx, ix[x]);
          const wx = slope(at + 2, sx, ix[x]);
          const uy = slope(at, sy, iy[y]);
          const vy = slope(at + 1, sy, iy[y]);
          const wy = slope(at + 2, sy, iy[y]);
          const uz = slope(at, sz, iz[z]);
          const vz = slope(at + 1, sz, iz[z]);
          const wz = slope(at + 2, sz, iz[z]);
          const gradient = ux * ux + vx * vx + wx * wx + uy * uy + vy * vy + wy * wy + uz * uz + vz * vz + wz * wz;
          if (!Number.isFinite(gradient)) continue;
          this.#gradient += gradient;
          squares[0] += (ux + vy + wz) ** 2;
          squares[1] += (ux + vz + wy) ** 2;
          squares[2] += (uy + vx + wz) ** 2;
          squares[3] += (uz + vy + wx) ** 2;
          squares[4] += (uy + vz + wx) ** 2;
          squares[5] += (uz + vx + wy) ** 2;
        }
  }

  /** @returns null for a velocity without a gradient */
  found(): Divergence | null {
    if (this.#gradient === 0) return null;
    const [own, ...others] = [...this.#squares].map((sum) => Math.sqrt(sum / this.#gradient));
    return { own, shuffled: [Math.min(...others), Math.max(...others)] };
  }
}

function inverseSpans({ spacing, coordinates }: Axis, first: number, size: number): Float64Array {
  return Float64Array.from({ length: size }, (_, i) => {
    if (coordinates === null) return 1 / (2 * spacing);
    return 1 / ((coordinates[first + i + 1] ?? Number.NaN) - (coordinates[first + i - 1] ?? Number.NaN));
  });
}

/** The figures with shuffled axes, and what they say of the order. */
export function shuffledText(found: Divergence): string {
  const [least, most] = found.shuffled.map((value) => String(Number(value.toPrecision(4))));
  const doubt = isDoubtful(found) ? ": the order is probably wrong" : "";
  return `with shuffled axes ${least} to ${most}${doubt} (says nothing for compressible flow)`;
}

/** Whether another order of axes leaves far less divergence. */
export function isDoubtful(found: Divergence | null): found is Divergence {
  return found !== null && found.own > DOUBT.least && found.shuffled[0] < DOUBT.part * found.own;
}
