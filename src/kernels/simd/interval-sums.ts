/** Runs the inner loop of the box means in the SIMD module: weights go in through scratch, sums come back. */
import {
  COMBINED_VALUES,
  createIntervalSums,
  type IntervalSums,
  type IntervalWeights,
} from "../filter/interval-sums.js";
import { TILE_EDGE } from "../filter/octree.js";
import type { Module, WasmMemory } from "./webassembly.js";

/**
 * Longest part of an axis, and most weights of one, that scratch has room for; larger ones are left to the plain loop.
 */
const NODES = 1_024;
const ENTRIES = 4_096;

const COMPONENTS = 3;
const WEIGHTS_BYTES = 16;
const LINE = 3 * WEIGHTS_BYTES;
const PLANE = LINE + 8 * COMPONENTS * TILE_EDGE;
const SUMS = PLANE + 8 * COMPONENTS * TILE_EDGE ** 2;
const WEIGHTS = SUMS + 8 * COMPONENTS * TILE_EDGE ** 3;
const AXIS_BYTES = 12 * ENTRIES + 8 * NODES;

const COMBINED = WEIGHTS + 3 * AXIS_BYTES;
const FRAME_WEIGHT = COMBINED + 8 * COMBINED_VALUES;

/** Scratch of one thread; multiple of 16. */
export const SUMS_BYTES = FRAME_WEIGHT + 16;

/** Weights of one axis in scratch, and the record that tells the module of them. */
interface AxisRoom {
  readonly record: Int32Array;
  readonly from: Int32Array;
  readonly interval: Int32Array;
  readonly weight: Float64Array;
}

/** Copies the weights of the nodes `first .. first + length - 1`; false when they are too many. */
function copyWeights(weights: IntervalWeights, first: number, length: number, room: AxisRoom): boolean {
  const start = weights.from[first];
  const end = weights.from[first + length];
  if (length >= NODES || end - start > ENTRIES) return false;
  room.record[0] = length;
  for (let r = 0; r <= length; r++) room.from[r] = weights.from[first + r] - start;
  for (let e = start; e < end; e++) {
    room.interval[e - start] = weights.interval[e];
    room.weight[e - start] = weights.weight[e];
  }
  return true;
}

/** Interval sums over data in `memory`, with SUMS_BYTES of scratch at `offset`; plain for any other data. */
export function createSimdIntervalSums(module: Module, memory: WasmMemory, offset: number): IntervalSums {
  const combined = new Float64Array(memory.buffer, offset + COMBINED, COMBINED_VALUES);
  const frameWeight = new Float64Array(memory.buffer, offset + FRAME_WEIGHT, 1);
  const plain = createIntervalSums(combined);
  const sumsInMemory = new Float64Array(memory.buffer, offset + SUMS, COMPONENTS * TILE_EDGE ** 3);
  const rooms = [0, 1, 2].map((a): AxisRoom => {
    const weight = offset + WEIGHTS + a * AXIS_BYTES;
    const interval = weight + 8 * ENTRIES;
    const from = interval + 4 * ENTRIES;
    const record = new Int32Array(memory.buffer, offset + a * WEIGHTS_BYTES, WEIGHTS_BYTES / 4);
    record.set([0, from, interval, weight]);
    return {
      record,
      from: new Int32Array(memory.buffer, from, NODES),
      interval: new Int32Array(memory.buffer, interval, ENTRIES),
      weight: new Float64Array(memory.buffer, weight, ENTRIES),
    };
  });
  return {
    combined,
    add(data, corner, strideY, strideZ, components, part, weights, n, sums) {
      const fits =
        data.buffer === memory.buffer &&
        rooms.every((room, a) => copyWeights(weights[a], part.first[a], part.length[a], room));
      if (!fits) {
        plain.add(data, corner, strideY, strideZ, components, part, weights, n, sums);
        return;
      }
      const bytes = data.BYTES_PER_ELEMENT;
      module.intervalSums(
        data instanceof Float64Array ? 1 : 0,
        data.byteOffset + bytes * corner,
        bytes * strideY,
        bytes * strideZ,
        components,
        offset,
        n,
        offset + LINE,
        offset + PLANE,
        offset + SUMS,
      );
      for (let i = 0; i < n ** 3 * components; i++) sums[i] += sumsInMemory[i];
    },
    addFrame(data, corner, strideY, strideZ, rows, weight, first, out) {
      if (data.buffer !== memory.buffer || out.buffer !== memory.buffer || data instanceof Float64Array) {
        plain.addFrame(data, corner, strideY, strideZ, rows, weight, first, out);
        return;
      }
      frameWeight[0] = weight;
      module.addFrame(
        first ? 1 : 0,
        frameWeight.byteOffset,
        data.byteOffset + 4 * corner,
        4 * strideY,
        4 * strideZ,
        rows.values,
        rows.ny,
        rows.nz,
        out.byteOffset,
      );
    },
  };
}
