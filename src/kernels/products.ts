/**
 * Evaluates sums of separable products at points: a weight vector per axis and term, contracted with a box of nodes.
 */
import { type AxisVectors, VALUE } from "./axis-vectors.js";
import { areMarked, createBlockReader, markBricks, touchedRuns } from "./block.js";
import { evaluateBlocks, type PointSums } from "./evaluate.js";
import { createContraction } from "./interpolate.js";
import type { Axes, Scheme } from "./types.js";

/** One separable product: vectors `kinds` on x, y, z, times `scale`, add to the result `output` of each component. */
export interface Term {
  readonly output: number;
  readonly kinds: readonly number[];
  readonly scale: number;
}

/**
 * The scheme of `results` sums of terms for each component of fields with `sizes[f]` components; results of a component
 * stay together, and fields follow each other.
 *
 * @param vectors weight vectors of x, y, z
 * @param sum     adds up the box of a point if that is not done term by term
 */
export function createProducts(
  axes: Axes,
  vectors: readonly AxisVectors[],
  terms: readonly Term[],
  results: number,
  sizes: readonly (1 | 3)[],
  sum?: PointSums["sum"],
): Scheme {
  const span = Math.max(...vectors.map((vector) => vector.span));
  const reader = createBlockReader(axes, span, Math.max(...sizes));
  const contract = createContraction(span);
  const components = results * sizes.reduce((sum: number, size) => sum + size, 0);
  const [vx, vy, vz] = vectors;
  /** Parts of runs touched by each kind of vector, per axis. */
  const touched = vectors.map((vector) => new Int32Array(vector.taps.length));

  const locate = (positions: Float64Array, at: number) => {
    for (let a = 0; a < 3; a++) {
      const vector = vectors[a];
      vector.locate(positions[at + a]);
      reader.box.start[a] = vector.start;
      reader.box.length[a] = vector.length;
    }
  };

  const addTerms: PointSums["sum"] = (block, size, out, at) => {
    for (let t = 0; t < terms.length; t++) {
      const { output, kinds, scale } = terms[t];
      const x = vx.taps[kinds[0]];
      const y = vy.taps[kinds[1]];
      const z = vz.taps[kinds[2]];
      if (x.count * y.count * z.count > 0) contract(block, size, x, y, z, scale, out, at + output, results);
    }
  };

  return {
    components,
    listBricks(bricking, positions, first, count, marks, list, length) {
      let end = length;
      for (let i = first; i < first + count; i++) {
        locate(positions, 3 * i);
        if (reader.isInOneBrick(bricking)) {
          if (marks[reader.onlyBrick] === 0) list[end++] = reader.onlyBrick;
          marks[reader.onlyBrick] = 1;
          continue;
        }
        if (areMarked(bricking, reader.runs, marks)) continue;
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
    ...evaluateBlocks(axes, reader, sizes, components, {
      locate(positions, at) {
        locate(positions, at);
        if (sum === undefined) for (let a = 0; a < 3; a++) vectors[a].weigh();
      },
      sum: sum ?? addTerms,
    }),
  };
}

export function along(axis: number, kind: number): number[] {
  return [0, 1, 2].map((a) => (a === axis ? kind : VALUE));
}

/** Kinds on two axes, values on the third. */
export function across(a: number, kindA: number, b: number, kindB: number): number[] {
  const kinds = [VALUE, VALUE, VALUE];
  kinds[a] = kindA;
  kinds[b] = kindB;
  return kinds;
}
