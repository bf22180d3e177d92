/**
 * Evaluates combinations of frames in the SIMD module: divides points into packets, and combines the nodes of a packet
 * once for all its points. Points that share too few nodes are each evaluated with its own nodes.
 */
import type { BrickField, Bricking, Scheme, Triple } from "../types.js";
import { EACH_POINTS, NODES_BYTES, type Reach, type Scratch } from "./scratch.js";
import type { Module } from "./webassembly.js";

/**
 * Edges along x, y and z of the box that holds the first nodes of the stencils of a packet. They are multiples of the
 * cubes by which points are sorted; long rows are combined fast, and the nodes at their ends are shared by more points.
 */
const PACKET_EDGES: Triple = [32, 32, 32];
/** Bytes of all frames from which on the lines of a point are read ahead: more than a core's part of the caches. */
const AHEAD_BYTES = 8 * 1024 * 1024;
/** More nodes for each point than any box has: with this bound a single point makes a packet. */
const UNBOUNDED = 2 ** 30;
/** Points with this box have the same first node. */
const ONE_NODE: Triple = [1, 1, 1];

/** The shape of a scheme's stencils. */
export interface StencilShape extends Reach {
  /** First node of the interpolation, counted from the cell, or from the nearest node when `nearest`. */
  readonly first: number;
  readonly nearest: boolean;
  /** Nodes that are combined for a point that is in no packet. */
  readonly nodes: number;
  /** Largest ratio of the nodes in a packet's box to those in the stencils of its points, one by one. */
  readonly density: number;
  /** Components of each field. */
  readonly sizes: readonly number[];
  /** The records of axes and terms. */
  readonly image: Uint8Array;
  /** Whether the module takes weights for each point. */
  readonly weighsEach: boolean;
}

/**
 * Evaluates the fields whose records are in scratch at `count` points, from point `first` on.
 *
 * @param frames address of the record of frames and weights; 0: one frame, which is not combined
 * @param packet address of the packet whose nodes have been combined; 0: those of each point are combined by themselves
 */
export type Evaluate = (
  frames: number,
  packet: number,
  positions: Float64Array,
  first: number,
  count: number,
  out: Float64Array,
) => void;

/** Makes the methods of a scheme that combine frames. */
export function createCombination(
  module: Module,
  records: Scratch,
  stencil: StencilShape,
  evaluate: Evaluate,
): Pick<Scheme, "combine" | "combineEach" | "combineInTurn" | "evaluateCombined"> {
  const { image, sizes, first: base, low, span, nearest } = stencil;
  const edge = longestEdge(stencil);
  const largestEdges: Triple = [edge, edge, edge];
  const edges = hasRoom(stencil, PACKET_EDGES) ? PACKET_EDGES : largestEdges;
  const nodesPerPoint = Math.floor(stencil.density * stencil.nodes);
  /** Finds the first packet of the points; its box has at most `most` nodes for each of its points. */
  const findPacket = (positions: Float64Array, first: number, count: number, within: Triple, most: number): void => {
    const at = positions.byteOffset + 24 * first;
    module.nextPacket(nearest ? 0.5 : 0, base + low, span, ...within, most, records.axes, at, count, records.packet);
  };
  const combinePacket = (): void => {
    module.combinePacket(records.frames, records.packet, records.axes, records.fields, sizes.length);
  };
  const writeFrames = (frames: readonly (readonly BrickField[])[]): void => {
    records.writeScheme(image);
    const bytes = frames[0].reduce((sum, { bricking, components }) => sum + bytesOf(bricking, components), 0);
    records.writeAhead(frames.length * bytes > AHEAD_BYTES);
    frames.forEach((fields, f) => {
      if (f === 0) records.writeFields(fields, sizes.length);
      else records.writeFrame(f, fields, sizes.length);
    });
  };
  return {
    combineEach(frames, weights, positions, first, count, out) {
      const width = frames.length;
      writeFrames(frames);
      const step = stencil.weighsEach ? EACH_POINTS : 1;
      for (let i = 0; i < count; i += step) {
        const some = weights.subarray(width * i, width * Math.min(count, i + step));
        if (stencil.weighsEach) records.writeEach(some, width, stencil);
        else records.writeWeights(some, width, stencil);
        evaluate(records.frames, 0, positions, first + i, some.length / width, out);
      }
    },
    combine(frames, weights, positions, first, count, out) {
      writeFrames(frames);
      records.writeWeights(weights, weights.length, stencil);
      const end = first + count;
      for (let done = first; done < end; ) {
        findPacket(positions, done, end - done, edges, nodesPerPoint);
        const [apart, together] = records.packetCounts;
        if (apart > 0) evaluate(records.frames, 0, positions, done, apart, out);
        done += apart;
        if (together === 0) continue;
        combinePacket();
        evaluate(records.frames, records.packet, positions, done, together, out);
        done += together;
      }
    },
    evaluateCombined(fields, positions, first, count, out) {
      records.writeScheme(image);
      records.writeFields(fields, sizes.length);
      records.writeWeights([1], 1, stencil);
      const gathered = (from: number): number => {
        module.gatherPacket(records.frames, records.packet, records.axes, records.fields, sizes.length);
        const together = records.packetCounts[1];
        evaluate(records.frames, records.packet, positions, from, together, out);
        return from + together;
      };
      const end = first + count;
      for (let done = first; done < end; ) {
        findPacket(positions, done, end - done, edges, nodesPerPoint);
        const [apart, together] = records.packetCounts;
        if (together > 0 && apart === 0) done = gathered(done);
        // Points apart are gathered each by itself: the packet behind them is found again.
        for (const until = done + apart; done < until; ) {
          findPacket(positions, done, until - done, ONE_NODE, UNBOUNDED);
          done = gathered(done);
        }
      }
    },
    combineInTurn(weights, withFrame, positions, first, count, out) {
      let together = 0;
      weights.forEach((weight, turn) => {
        withFrame(turn, (fields) => {
          records.writeScheme(image);
          records.writeFields(fields, sizes.length);
          records.writeWeights([weight], turn === 0 ? 1 : 0, stencil);
          findPacket(positions, first, count, largestEdges, UNBOUNDED);
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

/** Bytes of a field in bricks of float32. */
export function bytesOf({ edge, count }: Bricking, components: number): number {
  return [0, 1, 2].reduce((bytes, a) => bytes * edge[a] * count[a], 4 * components);
}

function componentsOf(sizes: readonly number[]): number {
  return sizes.reduce((sum, size) => sum + size, 0);
}
