/** Evaluates a plain scheme on the box of nodes of each point: of one frame, or of a combination of frames. */
import { type Block, type BlockReader, createBlockReader } from "./block.js";
import type { Axes, BrickField, Scheme } from "./types.js";

/** Combined values of boxes that are held at a time, unless one point alone has more. */
const SCRATCH_VALUES = 262_144;

/** The computation of a scheme on the box of a point. */
export interface PointSums {
  /** Sets the box of the reader and the weights for the point whose x is `positions[at]`. */
  locate(positions: Float64Array, at: number): void;
  /** Adds the results of a field of `size` components to `out[at]` and the following. */
  sum(block: Block, size: number, out: Float64Array, at: number): void;
}

/**
 * The methods of a scheme that evaluate.
 *
 * @param reader     opens the boxes
 * @param sizes      components of each field
 * @param components results per point, of all fields: as many of each component
 */
export function evaluateBlocks(
  axes: Axes,
  reader: BlockReader,
  sizes: readonly number[],
  components: number,
  { locate, sum }: PointSums,
): Pick<Scheme, "evaluate" | "evaluateCombined" | "combine" | "combineEach" | "combineInTurn"> {
  const results = components / sizes.reduce((total, size) => total + size, 0);
  const room = Math.max(
    1,
    Math.floor(SCRATCH_VALUES / (sizes.reduce((sum, size) => sum + size, 0) * reader.span ** 3)),
  );
  /** By point, then field: what opens a box of combined nodes. */
  const combined: BlockReader[][] = [];

  const combineInTurn: Scheme["combineInTurn"] = (weights, withFrame, positions, first, count, out) => {
    const points = Math.min(count, room);
    while (combined.length < points) combined.push(sizes.map((size) => createBlockReader(axes, reader.span, size)));
    weights.forEach((weight, turn) => {
      withFrame(turn, (fields) => {
        for (let i = 0; i < points; i++) {
          locate(positions, 3 * (first + i));
          fields.forEach((field, f) => {
            const { box } = combined[i][f];
            box.start.set(reader.box.start);
            box.length.set(reader.box.length);
            combined[i][f].addFrame(field, weight, turn === 0);
          });
        }
      });
    });
    out.fill(0, first * components, (first + points) * components);
    let at = components * first;
    for (let i = 0; i < points; i++) {
      locate(positions, 3 * (first + i));
      for (let f = 0; f < sizes.length; f++) {
        sum(combined[i][f].block, sizes[f], out, at);
        at += results * sizes[f];
      }
    }
    return points;
  };

  const evaluate: Scheme["evaluate"] = (fields, positions, first, count, out) => {
    out.fill(0, first * components, (first + count) * components);
    for (let i = first; i < first + count; i++) {
      locate(positions, 3 * i);
      let at = components * i;
      for (let f = 0; f < sizes.length; f++) {
        reader.open(fields[f]);
        sum(reader.block, sizes[f], out, at);
        at += results * sizes[f];
      }
    }
  };

  return {
    combineInTurn,
    evaluate,
    evaluateCombined: evaluate,
    combine(frames, weights, positions, first, count, out) {
      const withFrame = (turn: number, use: (fields: readonly BrickField[]) => void): void => use(frames[turn]);
      for (let i = first; i < first + count; i++) combineInTurn(weights, withFrame, positions, i, 1, out);
    },
    combineEach(frames, weights, positions, first, count, out) {
      const width = frames.length;
      const withFrame = (turn: number, use: (fields: readonly BrickField[]) => void): void => use(frames[turn]);
      for (let i = 0; i < count; i++) {
        const own = [...weights.subarray(width * i, width * (i + 1))];
        combineInTurn(own, withFrame, positions, first + i, 1, out);
      }
    },
  };
}
