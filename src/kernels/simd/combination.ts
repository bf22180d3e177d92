/**
 * Evaluates combinations of frames in the module: points are divided into runs, and the nodes of a run are combined
 * once where its points share enough of them.
 */
import type { BrickField, Scheme } from "../types.js";
import { NODES_BYTES, type Reach, type Scratch } from "./scratch.js";
import type { Module } from "./webassembly.js";

/** Largest distance of first nodes in a run, along an axis, plus one: the edge of the blocks by which points are sorted. */
const RUN_EDGE = 16;
/** A combined node costs this much less in a run than at a point of its own, whose nodes stay in the nearest cache. */
const RUN_GAIN = 0.8;
/** Points are together however few they are. */
const ALWAYS = 2 ** 30;

/** What a scheme tells of its stencils. */
export interface Stencil extends Reach {
  /** First node of the interpolation, counted from the cell, or from the nearest node when `nearest`. */
  readonly first: number;
  readonly nearest: boolean;
  /** Nodes that are combined for one point alone. */
  readonly nodes: number;
  /** Components of each field. */
  readonly sizes: readonly number[];
  /** The records of axes and terms. */
  readonly image: Uint8Array;
}

/**
 * Evaluates the fields that have been written at `count` points.
 *
 * @param frames address of what frames are combined with
 * @param run    address of the run whose nodes are combined; 0: each point has its own
 */
export type Evaluate = (
  frames: number,
  run: number,
  positions: Float64Array,
  first: number,
  count: number,
  out: Float64Array,
) => void;

/** The methods of a scheme that combine frames. */
export function createCombination(
  module: Module,
  records: Scratch,
  stencil: Stencil,
  evaluate: Evaluate,
): Pick<Scheme, "combine" | "combineInTurn"> {
  const { image, sizes, first: base, low, span, nearest } = stencil;
  const room = longestEdge(stencil);
  const edge = Math.min(RUN_EDGE, room);
  const alone = Math.floor(RUN_GAIN * stencil.nodes);
  const findRun = (positions: Float64Array, first: number, count: number, longest: number, share: number): void => {
    const at = positions.byteOffset + 24 * first;
    module.nextRun(nearest ? 0.5 : 0, base + low, span, longest, share, records.axes, at, count, records.run);
  };
  const combineRun = (): void => {
    module.combineRun(records.frames, records.run, records.axes, records.fields, sizes.length);
  };
  return {
    combine(frames, weights, positions, first, count, out) {
      records.writeScheme(image);
      frames.forEach((fields: readonly BrickField[], f) => {
        if (f === 0) records.writeFields(fields, sizes.length);
        else records.writeFrame(f, fields, sizes.length);
      });
      records.writeWeights(weights, weights.length, stencil);
      const end = first + count;
      for (let done = first; done < end; ) {
        findRun(positions, done, end - done, edge, alone);
        const [apart, together] = records.runCounts;
        if (apart > 0) evaluate(records.frames, 0, positions, done, apart, out);
        done += apart;
        if (together === 0) continue;
        combineRun();
        evaluate(records.frames, records.run, positions, done, together, out);
        done += together;
      }
    },
    combineInTurn(weights, withFrame, positions, first, count, out) {
      let together = 0;
      weights.forEach((weight, turn) => {
        withFrame(turn, (fields) => {
          records.writeScheme(image);
          records.writeFields(fields, sizes.length);
          records.writeWeights([weight], turn === 0 ? 1 : 0, stencil);
          findRun(positions, first, count, room, ALWAYS);
          combineRun();
          together = records.runCounts[1];
        });
      });
      evaluate(records.frames, records.run, positions, first, together, out);
      return together;
    },
  };
}

/** The longest edge of a run whose nodes have room in scratch. */
function longestEdge({ span, sizes }: Stencil): number {
  const components = sizes.reduce((sum, size) => sum + size, 0);
  return Math.floor(Math.cbrt(NODES_BYTES / (8 * components)) + 1e-9) - span + 1;
}
