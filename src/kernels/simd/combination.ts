/**
 * Evaluates combinations of frames in the module: points are divided into packets, and the nodes of a packet are combined
 * once where its points share enough of them.
 */
import type { BrickField, Scheme } from "../types.js";
import { NODES_BYTES, type Reach, type Scratch } from "./scratch.js";
import type { Module } from "./webassembly.js";

/** Largest distance of first nodes in a packet, along an axis, plus one: the edge of the blocks by which points are sorted. */
const PACKET_EDGE = 16;
/** A combined node costs this much less in a packet than at a point of its own, whose nodes stay in the nearest cache. */
const PACKET_GAIN = 0.8;
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
 * @param packet address of the packet whose nodes are combined; 0: each point has its own
 */
export type Evaluate = (
  frames: number,
  packet: number,
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
  const edge = Math.min(PACKET_EDGE, room);
  const alone = Math.floor(PACKET_GAIN * stencil.nodes);
  const findPacket = (positions: Float64Array, first: number, count: number, longest: number, share: number): void => {
    const at = positions.byteOffset + 24 * first;
    module.nextPacket(nearest ? 0.5 : 0, base + low, span, longest, share, records.axes, at, count, records.packet);
  };
  const combinePacket = (): void => {
    module.combinePacket(records.frames, records.packet, records.axes, records.fields, sizes.length);
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
        findPacket(positions, done, end - done, edge, alone);
        const [apart, together] = records.packetCounts;
        if (apart > 0) evaluate(records.frames, 0, positions, done, apart, out);
        done += apart;
        if (together === 0) continue;
        combinePacket();
        evaluate(records.frames, records.packet, positions, done, together, out);
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
          findPacket(positions, first, count, room, ALWAYS);
          combinePacket();
          together = records.packetCounts[1];
        });
      });
      evaluate(records.frames, records.packet, positions, first, together, out);
      return together;
    },
  };
}

/** The longest edge of a packet whose nodes have room in scratch. */
function longestEdge({ span, sizes }: Stencil): number {
  const components = sizes.reduce((sum, size) => sum + size, 0);
  return Math.floor(Math.cbrt(NODES_BYTES / (8 * components)) + 1e-9) - span + 1;
}
