/** Reads a box of nodes of one stored dataset: bounds, strides and direction from its dimensions. */

import type { FieldPart, Triple } from "../dataset.js";
import type { H5File, Stored } from "../hdf5/file.js";
import type { ReadBuffer } from "../hdf5/library.js";
import type { Layout } from "./copy-box.js";

/** Nodes `first` to `first + count - 1` along x, y, z. */
export interface Box {
  readonly first: Triple;
  readonly count: Triple;
}

/** A box as it came from the file, in stored order and type. */
export interface Slab {
  readonly values: Float32Array | Float64Array;
  readonly layout: Layout;
  /** Where it stands in the stored dataset. */
  readonly offset: readonly number[];
  readonly count: readonly number[];
  /** Bytes taken from the file. */
  readonly bytes: number;
}

const AXES = ["x", "y", "z"];

/**
 * Reads a box of one frame.
 *
 * @param frame index on the dimension `t`, where there is one; 0 in a series
 * @param nodes nodes of the grid along x, y, z
 */
export function readBox(
  file: H5File,
  path: string,
  stored: Stored,
  part: FieldPart,
  frame: number,
  nodes: Triple,
  box: Box,
  buffer: ReadBuffer,
): Slab {
  const offset: number[] = [];
  const count: number[] = [];
  for (const [index, dimension] of part.dimensions.entries()) {
    const axis = AXES.indexOf(dimension);
    if (axis >= 0) {
      const [first, length] = [box.first[axis], box.count[axis]];
      const start = part.flip[axis] ? nodes[axis] - first - length : first;
      offset.push(part.skip[axis] + start);
      count.push(length);
    } else {
      offset.push(dimension === "t" ? frame : dimension === "n" ? part.index : 0);
      count.push(dimension === "c" ? part.shape[index] : 1);
    }
  }
  const values =
    part.declared === null
      ? file.readSlab(path, stored, offset, count, buffer)
      : readReordered(file, path, stored, part.shape, offset, count, buffer);
  return { values, layout: slabLayout(part, count), offset, count, bytes: values.length * stored.size };
}

/** Strides of a slab in stored order; a descending axis runs backwards from its last node. */
function slabLayout(part: FieldPart, count: readonly number[]): Layout {
  const strides: [number, number, number, number] = [0, 0, 0, 1];
  let base = 0;
  let stride = 1;
  for (let index = count.length - 1; index >= 0; index--) {
    const dimension = part.dimensions[index] as string;
    const axis = AXES.indexOf(dimension);
    const flipped = axis >= 0 && part.flip[axis];
    if (axis >= 0) strides[axis] = flipped ? -stride : stride;
    if (dimension === "c") strides[3] = stride;
    if (flipped) base += stride * (count[index] - 1);
    stride *= count[index];
  }
  return { base, strides };
}

/**
 * Reads a box of values whose real shape is not the declared one. The storage is contiguous: what lies between the first
 * and the last value of a plane of the box (its two fastest dimensions) is one stretch of the file.
 */
function readReordered(
  file: H5File,
  path: string,
  stored: Stored,
  shape: readonly number[],
  offset: readonly number[],
  count: readonly number[],
  buffer: ReadBuffer,
): Float64Array {
  const [rows, run] = count.slice(-2) as [number, number];
  const row = shape.at(-1) as number;
  const outer = count.slice(0, -2);
  const planes = outer.reduce((product, length) => product * length, 1);
  const out = new Float64Array(planes * rows * run);
  for (let plane = 0; plane < planes; plane++) {
    const at = unravel(plane, outer).map((index, dimension) => index + offset[dimension]);
    const start = [...at, ...offset.slice(-2)].reduce((sum, index, d) => sum * shape[d] + index, 0);
    const stretch = readStretch(file, path, stored, start, (rows - 1) * row + run, buffer);
    for (let y = 0; y < rows; y++) out.set(stretch.subarray(y * row, y * row + run), (plane * rows + y) * run);
  }
  return out;
}

/** Values `start` to `start + length - 1` in the order of the file, read as the declared rows that hold them. */
function readStretch(
  file: H5File,
  path: string,
  stored: Stored,
  start: number,
  length: number,
  buffer: ReadBuffer,
): Float64Array {
  const [perPlane, row] = stored.shape.slice(-2) as [number, number];
  const outer = stored.shape.slice(0, -2);
  const out = new Float64Array(length);
  const end = Math.ceil((start + length) / row);
  for (let first = Math.floor(start / row); first < end; ) {
    const rows = Math.min(end - first, perPlane - (first % perPlane));
    const at = [...unravel(Math.floor(first / perPlane), outer), first % perPlane, 0];
    const values = file.readSlab(path, stored, at, [...outer.map(() => 1), rows, row], buffer);
    const from = Math.max(start, first * row);
    const to = Math.min(start + length, (first + rows) * row);
    out.set(values.subarray(from - first * row, to - first * row), from - start);
    first += rows;
  }
  return out;
}

/** Indices of element `index` of an array of that shape, the last dimension fastest. */
function unravel(index: number, shape: readonly number[]): number[] {
  const at: number[] = [];
  for (const length of shape.toReversed()) {
    at.unshift(index % length);
    index = Math.floor(index / length);
  }
  return at;
}
