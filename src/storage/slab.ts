/** Reads a box of nodes of one stored dataset: bounds, strides and direction from its dimensions. */
import type { Layout } from "./copy-box.js";
import type { FieldPart, Triple } from "./grid.js";
import type { H5File, ReadBuffer, Stored } from "./hdf5.js";

/** Nodes `first` to `first + count - 1` along x, y, z. */
export interface Box {
  readonly first: Triple;
  readonly count: Triple;
}

/** A box as it came from the file, in stored order and type. */
export interface Slab {
  readonly values: Float32Array | Float64Array;
  readonly layout: Layout;
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
      const [first, length] = [box.first[axis] as number, box.count[axis] as number];
      const start = part.flip[axis] ? (nodes[axis] as number) - first - length : first;
      offset.push((part.skip[axis] as number) + start);
      count.push(length);
    } else {
      offset.push(dimension === "t" ? frame : dimension === "n" ? part.index : 0);
      count.push(dimension === "c" ? (part.shape[index] as number) : 1);
    }
  }
  const values =
    part.declared === null
      ? file.readSlab(path, stored, offset, count, buffer)
      : readReordered(file, path, stored, part.shape, offset, count, buffer);
  return { values, layout: slabLayout(part, count), bytes: values.length * stored.size };
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
    if (flipped) base += stride * ((count[index] as number) - 1);
    stride *= count[index] as number;
  }
  return { base, strides };
}

/**
 * Reads a box of values whose real shape is not the declared one. The storage is contiguous, so a run of the real order
 * is a run of the declared order; each is read as the declared rows that cover it.
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
  const out = new Float64Array(count.reduce((product, length) => product * length, 1));
  const last = shape.length - 1;
  const run = count[last] as number;
  const at = [...offset];
  for (let written = 0; written < out.length; written += run) {
    const start = at.reduce((sum, index, dimension) => sum * (shape[dimension] as number) + index, 0);
    out.set(readRun(file, path, stored, start, run, buffer), written);
    for (let dimension = last - 1; dimension >= 0; dimension--) {
      at[dimension] = (at[dimension] as number) + 1;
      if ((at[dimension] as number) < (offset[dimension] as number) + (count[dimension] as number)) break;
      at[dimension] = offset[dimension] as number;
    }
  }
  return out;
}

/** Values `start` to `start + length - 1` in the order of the file. */
function readRun(
  file: H5File,
  path: string,
  { shape, ...rest }: Stored,
  start: number,
  length: number,
  buffer: ReadBuffer,
): Float64Array {
  const row = shape[shape.length - 1] as number;
  const out = new Float64Array(length);
  for (let done = 0; done < length; ) {
    const from = (start + done) % row;
    const take = Math.min(row - from, length - done);
    const at: number[] = [from];
    let index = Math.floor((start + done) / row);
    for (let dimension = shape.length - 2; dimension >= 0; dimension--) {
      at.unshift(index % (shape[dimension] as number));
      index = Math.floor(index / (shape[dimension] as number));
    }
    const values = file.readSlab(path, { shape, ...rest }, at, [...shape.slice(1).map(() => 1), take], buffer);
    out.set(values, done);
    done += take;
  }
  return out;
}
