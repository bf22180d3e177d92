/** Writes the records of a scheme to the scratch of a thread, in the layouts of `assembly/records.ts`. */
import type { Tap } from "../nodal.js";
import type { Axes, BrickField, Bricking } from "../types.js";
import { AXIS_BYTES, FIELD_BYTES, PACKET_BYTES, TAP_BYTES, TERM_BYTES } from "./record-sizes.js";
import type { Product } from "./terms.js";
import type { WasmMemory } from "./webassembly.js";

/** Combined nodes that there is room for, in bytes: four components on 40 nodes per axis. */
export const NODES_BYTES = 8 * 4 * 40 ** 3;

/**
 * Places in scratch: axes with terms or taps and the polynomials of a spline behind them, fields, how frames are
 * combined, a packet of points, the work area of the module, weights of single points, and combined nodes.
 */
const SCHEME = 0;
const FIELDS = 4_096;
const FRAMES = 4_224;
const PACKET = 4_288;
const WORK = 4_352;
const EACH = 24_576;
const NODES = 32_768;

/** Scratch that schemes need; multiple of 16. */
export const SCHEME_BYTES = NODES + NODES_BYTES;

const FIELD_WORDS = FIELD_BYTES / 4;
/** Word of a field record from which on it has the brick tables of further frames. */
const MORE_TABLES = 10;
/** Largest number of frames that are combined. */
const MAX_FRAMES = 4;
/** Points with weights of their own that are written at a time. */
export const EACH_POINTS = (NODES - EACH) / (8 * MAX_FRAMES);

/** Nodes of a stencil: the first one, counted from the first of the interpolation, and their number along an axis. */
export interface Reach {
  readonly low: number;
  readonly span: number;
  /** Whether they are combined as one cube, or term by term. */
  readonly whole: boolean;
}

/** Records in the scratch of one thread. Addresses are byte offsets in the memory. */
export interface Scratch {
  readonly axes: number;
  /** Terms or taps. */
  readonly stencil: number;
  readonly fields: number;
  readonly frames: number;
  readonly packet: number;
  readonly work: number;
  /** Points of the packet that are apart, then together, as the module has found them. */
  readonly packetCounts: Int32Array;
  /** Puts the axes and stencil of a scheme in place. */
  writeScheme(image: Uint8Array): void;
  writeFields(fields: readonly BrickField[], count: number): void;
  /** Adds the bricks of a further frame, from 1 on, to the fields. */
  writeFrame(frame: number, fields: readonly BrickField[], count: number): void;
  /** Says whether the frames exceed the caches. */
  writeAhead(ahead: boolean): void;
  /** Sets what frames are combined with; `count` 0 adds one frame to the nodes that are there. */
  writeWeights(weights: ArrayLike<number>, count: number, reach: Reach): void;
  /** Sets weights of `width` frames for each of up to `EACH_POINTS` points. */
  writeEach(weights: Float64Array, width: number, reach: Reach): void;
}

/** Scratch at `offset` of a memory, SCHEME_BYTES long. */
export function createScratch(memory: WasmMemory, offset: number): Scratch {
  const bytes = new Uint8Array(memory.buffer, offset + SCHEME, FIELDS - SCHEME);
  const words = new Int32Array(memory.buffer, offset + FIELDS, (FRAMES - FIELDS) / 4);
  const weightsInMemory = new Float64Array(memory.buffer, offset + FRAMES, MAX_FRAMES);
  const reachInMemory = new Int32Array(memory.buffer, offset + FRAMES + weightsInMemory.byteLength, 7);
  const eachInMemory = new Float64Array(memory.buffer, offset + EACH, MAX_FRAMES * EACH_POINTS);
  const writeReach = (count: number, { low, span, whole }: Reach, each: number): void => {
    reachInMemory[0] = count;
    reachInMemory[1] = low;
    reachInMemory[2] = span;
    reachInMemory[3] = whole ? 1 : 0;
    reachInMemory[4] = offset + NODES;
    reachInMemory[5] = each;
  };
  return {
    axes: offset + SCHEME,
    stencil: offset + SCHEME + 3 * AXIS_BYTES,
    fields: offset + FIELDS,
    frames: offset + FRAMES,
    packet: offset + PACKET,
    work: offset + WORK,
    packetCounts: new Int32Array(memory.buffer, offset + PACKET, PACKET_BYTES / 4),
    writeScheme: (image) => bytes.set(image),
    writeFields(fields, count) {
      for (let f = 0; f < count; f++) {
        words[f * FIELD_WORDS] = fields[f].components;
        words[f * FIELD_WORDS + 1] = fields[f].table.byteOffset;
        writeBricks(fields[f].bricking, words, f * FIELD_WORDS + 2);
      }
    },
    writeFrame(frame, fields, count) {
      for (let f = 0; f < count; f++) words[f * FIELD_WORDS + MORE_TABLES + frame - 1] = fields[f].table.byteOffset;
    },
    writeAhead(ahead) {
      reachInMemory[6] = ahead ? 1 : 0;
    },
    writeWeights(weights, count, reach) {
      if (weights.length > MAX_FRAMES) throw new RangeError(`${weights.length} frames are too many to combine`);
      weightsInMemory.set(weights);
      writeReach(count, reach, 0);
    },
    writeEach(weights, width, reach) {
      for (let i = 0, at = 0; i < weights.length; i += width, at += MAX_FRAMES)
        for (let f = 0; f < width; f++) eachInMemory[at + f] = weights[i + f];
      writeReach(width, reach, offset + EACH);
    },
  };
}

/** Edges, counts along x and y, and the reciprocals that turn nodes into bricks. */
function writeBricks({ edge, count }: Bricking, words: Int32Array, at: number): void {
  for (let a = 0; a < 3; a++) {
    words[at + a] = edge[a];
    words[at + 5 + a] = Math.floor(2 ** 31 / edge[a]) + 1;
  }
  words[at + 3] = count[0];
  words[at + 4] = count[1];
}

/** Axes and terms of a separable scheme, and the coefficients of a spline. */
export function imageOfProducts(axes: Axes, terms: readonly Product[], coefficients: Float64Array): Uint8Array {
  const end = 3 * AXIS_BYTES + terms.length * TERM_BYTES;
  const view = imageOfAxes(axes, terms.length * TERM_BYTES + coefficients.byteLength);
  coefficients.forEach((value, i) => {
    view.setFloat64(end + 8 * i, value, true);
  });
  terms.forEach(({ scale, output, vectors }, t) => {
    const at = 3 * AXIS_BYTES + t * TERM_BYTES;
    view.setFloat64(at, scale, true);
    view.setInt32(at + 8, output, true);
    vectors.forEach(({ vector, start, length }, a) => {
      view.setInt32(at + 12 + 12 * a, vector, true);
      view.setInt32(at + 16 + 12 * a, start, true);
      view.setInt32(at + 20 + 12 * a, length, true);
    });
  });
  return new Uint8Array(view.buffer);
}

/** Axes and taps of a nodal scheme. */
export function imageOfTaps(axes: Axes, taps: readonly Tap[]): Uint8Array {
  const view = imageOfAxes(axes, taps.length * TAP_BYTES);
  taps.forEach(({ weight, output, offset }, t) => {
    const at = 3 * AXIS_BYTES + t * TAP_BYTES;
    view.setFloat64(at, weight, true);
    view.setInt32(at + 8, output, true);
    offset.forEach((step, a) => {
      view.setInt32(at + 12 + 4 * a, step, true);
    });
  });
  return new Uint8Array(view.buffer);
}

function imageOfAxes(axes: Axes, more: number): DataView {
  const view = new DataView(new ArrayBuffer(3 * AXIS_BYTES + more));
  axes.forEach(({ origin, spacing, nodes, periodic }, a) => {
    view.setFloat64(a * AXIS_BYTES, origin, true);
    view.setFloat64(a * AXIS_BYTES + 8, spacing, true);
    view.setInt32(a * AXIS_BYTES + 16, nodes, true);
    view.setInt32(a * AXIS_BYTES + 20, periodic ? 1 : 0, true);
  });
  return view;
}
