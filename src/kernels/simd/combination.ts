/**
 * Evaluates combinations of frames in the module: points are divided into packets, and the nodes of a packet are
 * combined once where its points share enough of them.
 */
import type { BrickField, Scheme, Triple } from "../types.js";
import { NODES_BYTES, type Reach, type Scratch } from "./scratch.js";
import type { Module } from "./webassembly.js";

/**
 * Largest distance of first nodes in a packet along x, y, z, plus one: whole cubes of those by which points are sorted.
 * Long rows are combined fast and share their ends.
 */
const PACKET_EDGES: Triple = [32, 32, 32];
/** Points are together however few they are. */
const ALWAYS = 2 ** 30;

/** The shape of a scheme's stencils. */
export interface StencilShape extends Reach {
  /** First node of the interpolation, counted from the cell, or from the nearest node when `nearest`. */
  readonly first: number;
  readonly nearest: boolean;
  /** Nodes that are combined for one point alone. */
  readonly nodes: number;
  /** Nodes of a packet's box, in those of its points' own stencils, up to which they are combined together. */
  readonly share: number;
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
  stencil: StencilShape,
  evaluate: Evaluate,
): Pick<Scheme, "combine" | "combineInTurn"> {
  const { image, sizes, first: base, low, span, nearest } = stencil;
  const room = longestEdge(stencil);
  const longest: Triple = [room, room, room];
  const edges = hasRoom(stencil, PACKET_EDGES) ? PACKET_EDGES : longest;
  const alone = Math.floor(stencil.share * stencil.nodes);
  const findPacket = (positions: Float64Array, first: number, count: number, within: Triple, share: number): void => {
    const at = positions.byteOffset + 24 * first;
    module.nextPacket(nearest ? 0.5 : 0, base + low, span, ...within, share, records.axes, at, count, records.packet);
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
        findPacket(positions, done, end - done, edges, alone);
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
          findPacket(positions, first, count, longest, ALWAYS);
          combinePacket();
          together = records.packetCounts[1];
        });
      });
      evaluate(records.frames, records.packet, positions, first, together, out);
      return together;
    },
  };
}

/** The longest edge of a cube of first nodes whose stencils have room in scratch. */
function longestEdge({ span, sizes }: StencilShape): number {
  return Math.floor(Math.cbrt(NODES_BYTES / (8 * componentsOf(sizes))) + 1e-9) - span + 1;
}

/** Whether the stencils of a box of first nodes have room in scratch. */
function hasRoom({ span, sizes }: StencilShape, edges: Triple): boolean {
  return edges.reduce((bytes, edge) => bytes * (edge + span - 1), 8 * componentsOf(sizes)) <= NODES_BYTES;
}

function componentsOf(sizes: readonly number[]): number {
  return sizes.reduce((sum, size) => sum + size, 0);
}
