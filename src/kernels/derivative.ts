/** Differentiates fields at points: per axis a few weight vectors, and sums of their tensor products. */

import { createDifferenceVectors, FIRST, FITTED, PAIR, SECOND, UNFITTED, VALUE } from "./axis-vectors.js";
import { createBlockReader, markBricks, touchedRuns } from "./block.js";
import { type DifferenceOrder, MIXED_DIFFERENCES } from "./finite-difference.js";
import { contract } from "./interpolate.js";
import { type Quantity, RESULTS } from "./table.js";
import type { Axes, Scheme } from "./types.js";

/** A derivative of a field; its results follow each other as in the record of the same name. */
export type Derivative = Exclude<Quantity, "value">;

/** One separable product: the vectors `kinds` on x, y, z, times `scale`, add to the result `output` of each component. */
interface Term {
  readonly output: number;
  readonly kinds: readonly number[];
  readonly scale: number;
}

/** Positions of xx, xy, xz, yy, yz, zz: pure second derivatives and axis pairs. */
const PURE = [0, 3, 5] as const;
const MIXED = [
  { output: 1, axes: [0, 1] },
  { output: 2, axes: [0, 2] },
  { output: 4, axes: [1, 2] },
] as const;

/**
 * The scheme of a derivative of a field with `size` components (1 or 3); results of a component stay together.
 *
 * The derivative is that of the discrete field, by differences of `order` at the nearest node; with `base` 4 the differences at
 * 4 x 4 x 4 nodes are interpolated by fourth-order Lagrange weights, fused into one weight vector per axis. Mixed derivatives use the plane diagonals
 * where the centred stencil stands on both axes, as the sum over k of m_k D_k(a) D_k(b) with D_k f = f(+k) - f(-k),
 * and the product of two first derivatives elsewhere.
 *
 * @param legacy published coefficients for the second derivative of order 8
 * @throws RangeError when an axis that is not periodic has fewer nodes than the stencil
 */
export function createDerivative(
  axes: Axes,
  derivative: Derivative,
  method: { readonly base: 1 | 4; readonly order: DifferenceOrder },
  size: 1 | 3,
  legacy: boolean,
): Scheme {
  const terms = TERMS[derivative](axes, method.order);
  const vectors = axes.map((axis, a) => {
    const kinds = new Set(terms.map((term) => term.kinds[a]));
    return createDifferenceVectors(axis, method.base, method.order, kinds, legacy);
  });
  const span = Math.max(...vectors.map((vector) => vector.span));
  const reader = createBlockReader(axes, span, size);
  const results = RESULTS[derivative];
  const components = results * size;
  const [vx, vy, vz] = vectors;
  /** Pieces touched by each kind of vector, per axis. */
  const touched = vectors.map((vector) => new Int32Array(vector.taps.length));

  const locate = (positions: Float64Array, at: number) => {
    for (let a = 0; a < 3; a++) {
      const vector = vectors[a];
      vector.locate(positions[at + a]);
      reader.box.start[a] = vector.start;
      reader.box.length[a] = vector.length;
    }
  };

  return {
    components,
    cover(bricking, positions, first, count, marks, list, length) {
      let end = length;
      for (let i = first; i < first + count; i++) {
        locate(positions, 3 * i);
        if (reader.cut(bricking)) {
          if (marks[reader.lone] === 0) list[end++] = reader.lone;
          marks[reader.lone] = 1;
          continue;
        }
        for (let a = 0; a < 3; a++) {
          const { support } = vectors[a];
          for (let kind = 0; kind < support.length; kind++)
            touched[a][kind] = touchedRuns(reader.runs[a], support[kind]);
        }
        for (const { kinds } of terms) {
          const x = touched[0][kinds[0]];
          const y = touched[1][kinds[1]];
          const z = touched[2][kinds[2]];
          end = markBricks(bricking, reader.runs, x, y, z, marks, list, end);
        }
      }
      return end;
    },
    evaluate([field], positions, first, count, out) {
      out.fill(0, first * components, (first + count) * components);
      for (let i = first; i < first + count; i++) {
        locate(positions, 3 * i);
        for (let a = 0; a < 3; a++) vectors[a].weigh();
        reader.open(field);
        for (let t = 0; t < terms.length; t++) {
          const { output, kinds, scale } = terms[t];
          const x = vx.taps[kinds[0]];
          const y = vy.taps[kinds[1]];
          const z = vz.taps[kinds[2]];
          if (x.count * y.count * z.count === 0) continue;
          contract(reader.block, size, x, y, z, scale, out, components * i + output, results);
        }
      }
    },
  };
}

/** The terms of each derivative; those of products of first derivatives only where an axis has ends. */
const TERMS: Readonly<Record<Derivative, (axes: Axes, order: DifferenceOrder) => readonly Term[]>> = {
  gradient: () => [0, 1, 2].map((a) => ({ output: a, kinds: along(a, FIRST), scale: 1 })),
  laplacian: () => [0, 1, 2].map((a) => ({ output: 0, kinds: along(a, SECOND), scale: 1 })),
  hessian: (axes, order) => [
    ...PURE.map((output, a) => ({ output, kinds: along(a, SECOND), scale: 1 })),
    ...MIXED.flatMap(({ output, axes: [a, b] }) => [
      ...MIXED_DIFFERENCES[order].map((scale, k) => ({ output, kinds: across(a, PAIR + k, b, PAIR + k), scale })),
      ...(axes[a].periodic && axes[b].periodic
        ? []
        : [
            { output, kinds: across(a, UNFITTED, b, FIRST), scale: 1 },
            { output, kinds: across(a, FITTED, b, UNFITTED), scale: 1 },
          ]),
    ]),
  ],
};

function along(axis: number, kind: number): number[] {
  return [0, 1, 2].map((a) => (a === axis ? kind : VALUE));
}

function across(a: number, kindA: number, b: number, kindB: number): number[] {
  const kinds = [VALUE, VALUE, VALUE];
  kinds[a] = kindA;
  kinds[b] = kindB;
  return kinds;
}
