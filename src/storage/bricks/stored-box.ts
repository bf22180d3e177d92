/** Reads boxes of a stored dataset as views along x, y, z and component, and copies them. */
import ndarray, { type NdArray } from "ndarray";
import ops from "ndarray-ops";
import { AXIS_NAMES, type FieldPart, type Triple } from "../dataset/dataset.js";
import { type Packing, unpack } from "../dataset/packing.js";
import type { ReadBuffer } from "../dataset/read-buffer.js";
import type { Hyperslab, Stored } from "../dataset/stored.js";
import type { StoredFile } from "../dataset/stored-file.js";

/** Nodes `first` to `first + count - 1` along x, y, z. */
export type NodeBox = Readonly<Record<"first" | "count", Triple>>;

/** Values as they are stored, or rounded to float32. */
export type NodeValues = Float32Array | Float64Array;

/** Node values of shape (x, y, z, component), in whatever order they are stored. */
export type NodeView = NdArray<NodeValues>;

export interface StoredBox extends Hyperslab {
  /** Every axis ascends. The values lie in the read buffer and last until its next use. */
  readonly view: NodeView;
  readonly bytes: number;
}

/** Reads a box of one frame. `frame`: index on the dimension `t`; 0 in a series. */
export function readBox(
  file: StoredFile,
  path: string,
  stored: Stored,
  part: FieldPart,
  frame: number,
  nodes: Triple,
  box: NodeBox,
  packing: Packing,
  buffer: ReadBuffer,
): StoredBox {
  const inStore = storedBox(part, frame, nodes, box);
  const elements =
    part.declared === null
      ? file.readHyperslab(path, stored, inStore, buffer)
      : readReordered(file, path, stored, part.shape, inStore, buffer);
  const values = unpack(elements, packing);
  return { view: viewOf(values, part, inStore.count), ...inStore, bytes: values.length * stored.size };
}

export function storedBox(part: FieldPart, frame: number, nodes: Triple, box: NodeBox): Hyperslab {
  const offset: number[] = [];
  const count: number[] = [];
  for (const [index, dimension] of part.dimensions.entries()) {
    const axis = (AXIS_NAMES as readonly string[]).indexOf(dimension);
    if (axis >= 0) {
      const [first, length] = [box.first[axis], box.count[axis]];
      const start = part.flip[axis] ? nodes[axis] - first - length : first;
      offset.push(part.skip[axis] + start);
      count.push(length);
    } else {
      const fixed = dimension === "n" ? part.index : dimension === "c" ? (part.component ?? 0) : 0;
      offset.push(dimension === "t" ? frame : fixed);
      count.push(dimension === "c" && part.component === undefined ? part.shape[index] : 1);
    }
  }
  return { offset, count };
}

/** Whether the values of a box in stored order form a block of its shape, [z][y][x][component]. */
export function isInBlockOrder(part: FieldPart, count: readonly number[], { count: nodes }: NodeBox): boolean {
  const { shape, stride, offset } = viewOf(new Float32Array(0), part, count);
  const strides = [shape[3], shape[3] * nodes[0], shape[3] * nodes[0] * nodes[1], 1];
  return offset === 0 && stride.every((step, axis) => step === strides[axis]);
}

function viewOf(values: NodeValues, part: FieldPart, count: readonly number[]): NodeView {
  const wanted: readonly string[] = [...AXIS_NAMES, "c"];
  const dimensions = part.dimensions.includes("c") ? part.dimensions : [...part.dimensions, "c"];
  const lengths = dimensions.map((_, index) => count[index] ?? 1);
  const nodes = ndarray(values, lengths).pick(...dimensions.map((name) => (wanted.includes(name) ? null : 0)));
  const left = dimensions.filter((name) => wanted.includes(name));
  return nodes.transpose(...wanted.map((name) => left.indexOf(name))).step(...part.flip.map((f) => (f ? -1 : 1)), 1);
}

/**
 * Copies a box into a block of its shape and type. Rows that are stored alike in both are moved whole, with adjacent
 * rows: views take five times as long as rows, and rows five to ten times as long as a whole box.
 */
export function copyBox(from: NodeView, to: NodeView): void {
  const [nx, ny, nz, components] = from.shape as [number, number, number, number];
  const isRow = ({ stride }: NodeView) => stride[3] === 1 && stride[0] === components;
  if (!isRow(from) || !isRow(to)) {
    ops.assign(to as NdArray, from as NdArray);
    return;
  }
  const follows = (axis: number, run: number) => from.stride[axis] === run && to.stride[axis] === run;
  const [row, plane] = [nx * components, nx * components * ny];
  const isPlane = follows(1, row);
  const isBox = isPlane && follows(2, plane);
  const [run, rows, planes] = isBox ? [plane * nz, 1, 1] : isPlane ? [plane, 1, nz] : [row, ny, nz];
  for (let z = 0; z < planes; z++) {
    for (let y = 0; y < rows; y++) {
      const start = from.index(0, y, z, 0);
      to.data.set(from.data.subarray(start, start + run), to.index(0, y, z, 0));
    }
  }
}

/**
 * Reads values whose real shape differs from the declared one: each plane of the box (its two fastest dimensions) is
 * one stretch of the contiguous storage.
 */
function readReordered(
  file: StoredFile,
  path: string,
  stored: Stored,
  shape: readonly number[],
  { offset, count }: Hyperslab,
  buffer: ReadBuffer,
): Float64Array {
  const [rows, run] = count.slice(-2) as [number, number];
  const row = shape[shape.length - 1];
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

/** Values `start` to `start + length - 1` in the order of the file, read as the declared rows around them. */
function readStretch(
  file: StoredFile,
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
    const values = file.readHyperslab(path, stored, { offset: at, count: [...outer.map(() => 1), rows, row] }, buffer);
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
