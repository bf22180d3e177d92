/**
 * Finds parts of a frame that do not look like a flow: constant cells in a varying field, repeated cells,
 * values that are not finite. Cells are blocks of at least 8^3 nodes; runs of them are joined to boxes.
 */
import type { Axis, Triple } from "../dataset/dataset.js";

/** Fewest nodes of a cell along each axis, and most cells of a frame. */
const MIN_EDGE = 8;
const MAX_CELLS = 2 ** 18;
/** Fraction of all cells above which repetition is a property of the field: symmetry, or no change. */
const OWN = 0.25;
const LISTED = 6;

type NodeRange = Readonly<Record<"first" | "last", Triple>>;

/** Nodes with what is found there: their one value, or how far away the nodes are that they repeat. */
type Cell = NodeRange & { readonly value: string };

export interface FramePlaces {
  /** Constant boxes, if the field varies. */
  readonly constant: readonly string[];
  /** Repeated boxes, and boxes with values that are not finite. */
  readonly others: readonly string[];
  /** A hash of all values, which differs if any value does; null for a constant frame. */
  readonly hash: number | null;
}

export class PlacesOfFrame {
  readonly #components: number;
  readonly #nodes: readonly number[];
  readonly #edge: number;
  readonly #constant: Cell[] = [];
  readonly #cells = new Map<number, NodeRange>();
  readonly #repeated: Cell[] = [];
  #cellCount = 0;
  #notFinite: NodeRange | null = null;
  #varies = false;
  #hash = 0;
  #firstValue = Number.NaN;

  constructor(axes: readonly Axis[], components: number) {
    this.#components = components;
    this.#nodes = axes.map(({ nodes }) => nodes);
    const cells = (edge: number) => axes.reduce((count, { nodes }) => count * Math.ceil(nodes / edge), 1);
    let edge = MIN_EDGE;
    while (cells(edge) > MAX_CELLS) edge *= 2;
    this.#edge = edge;
  }

  /** @param edge nodes of the stored brick @param size nodes of it within the grid @param first its first node */
  add(brick: Float32Array, edge: Triple, size: Triple, first: Triple): void {
    const cell = this.#edge;
    for (let z = 0; z < size[2]; z += cell)
      for (let y = 0; y < size[1]; y += cell)
        for (let x = 0; x < size[0]; x += cell) this.#addCell(brick, edge, size, first, [x, y, z]);
  }

  #addCell(brick: Float32Array, edge: Triple, size: Triple, first: Triple, from: Triple): void {
    const components = this.#components;
    const to = from.map((at, axis) => Math.min(at + this.#edge, size[axis])) as unknown as Triple;
    const range = rangeOf(first, from, to);
    const bits = new Int32Array(brick.buffer, brick.byteOffset, brick.length);
    const start = ((from[2] * edge[1] + from[1]) * edge[0] + from[0]) * components;
    let [hash, other] = [0, 0];
    let same = true;
    let finite = true;
    for (let z = from[2]; z < to[2]; z++)
      for (let y = from[1]; y < to[1]; y++) {
        const row = ((z * edge[1] + y) * edge[0] + from[0]) * components;
        for (let i = row; i < row + (to[0] - from[0]) * components; i++) {
          hash = Math.imul(hash ^ bits[i], 0x9e3779b1) ^ (hash >>> 15);
          other = Math.imul(other + bits[i], 0x85ebca6b) ^ (other >>> 13);
          same &&= brick[i] === brick[start + ((i - row) % components)];
          finite &&= Number.isFinite(brick[i]);
        }
      }
    this.#cellCount++;
    if (Number.isNaN(this.#firstValue)) this.#firstValue = brick[start];
    this.#varies ||= !same || brick[start] !== this.#firstValue;
    // 53 bits: two of the most cells share a hash once in 2^18 frames.
    const both = (hash >>> 0) * 2 ** 21 + (other >>> 11);
    this.#hash = (31 * (this.#hash % 2 ** 47) + both) % 2 ** 53;
    // A single node, such as the last one of 2^n + 1 along each axis, always has one value.
    if (!finite) this.#notFinite = this.#notFinite === null ? range : joined(this.#notFinite, range);
    else if (nodesOf(range) === 1) return;
    else if (same) this.#constant.push({ ...range, value: numbersText(brick.subarray(start, start + components)) });
    else this.#addHash(both, range);
  }

  #addHash(hash: number, cell: NodeRange): void {
    const as = this.#cells.get(hash);
    if (as === undefined) this.#cells.set(hash, cell);
    else if (sizeOf(as).join() === sizeOf(cell).join())
      this.#repeated.push({ ...cell, value: cell.first.map((at, axis) => at - as.first[axis]).join() });
  }

  found(): FramePlaces {
    const boxes = this.#varies ? boxesOf(this.#constant).filter((box) => !this.#isPlane(box)) : [];
    const constant = boxes.map((box) => `${textOf(box)} are all ${box.value}`);
    const others = [
      ...(this.#notFinite === null ? [] : [`${textOf(this.#notFinite)} hold values that are not finite`]),
      ...(this.#repeated.length > OWN * this.#cellCount ? [] : this.#repeatedText()),
    ];
    return { constant: listed(constant), others: listed(others), hash: this.#varies ? this.#hash : null };
  }

  /** Whether a box is a single plane: the last of 2^n + 1 nodes, such as a wall, is a cell of its own. */
  #isPlane(box: NodeRange): boolean {
    const size = sizeOf(box);
    return size.includes(1) && size.every((nodes, axis) => nodes === 1 || nodes === this.#nodes[axis]);
  }

  #repeatedText(): string[] {
    return boxesOf(this.#repeated).map((box) => {
      const away = box.value.split(",").map(Number);
      const earlier = (at: Triple) => at.map((node, axis) => node - away[axis]) as unknown as Triple;
      return `${textOf(box)} repeat ${textOf({ first: earlier(box.first), last: earlier(box.last) })}`;
    });
  }
}

function listed(texts: readonly string[]): string[] {
  const more = texts.length - LISTED;
  return more > 0 ? [...texts.slice(0, LISTED), `and ${more} more`] : [...texts];
}

function rangeOf(first: Triple, from: Triple, to: Triple): NodeRange {
  const at = (inside: Triple, less: number) => first.map((start, axis) => start + inside[axis] - less);
  return { first: at(from, 0) as unknown as Triple, last: at(to, 1) as unknown as Triple };
}

/** The smallest box around two. */
function joined(a: NodeRange, b: NodeRange): NodeRange {
  return {
    first: a.first.map((at, axis) => Math.min(at, b.first[axis])) as unknown as Triple,
    last: a.last.map((at, axis) => Math.max(at, b.last[axis])) as unknown as Triple,
  };
}

const sizeOf = ({ first, last }: NodeRange): number[] => first.map((at, axis) => last[axis] - at + 1);
const nodesOf = (range: NodeRange): number => sizeOf(range).reduce((product, nodes) => product * nodes, 1);

function textOf({ first, last }: NodeRange): string {
  const ranges = [..."xyz"].map((axis, at) => `${axis} ${first[at]} to ${last[at]}`);
  return `nodes ${ranges.join(", ")}`;
}

const numbersText = (numbers: Float32Array) => Array.from(numbers, (one) => Number(one.toPrecision(7))).join(", ");

/** Cells of one value that fill a box are joined to it. */
function boxesOf(cells: readonly Cell[]): Cell[] {
  const boxes: Cell[] = [];
  for (const cell of cells) {
    let box = cell;
    for (let at = boxes.length - 1; at >= 0; at--) {
      const other = boxes[at] as Cell;
      const both = joined(other, box);
      if (other.value !== box.value || nodesOf(both) !== nodesOf(other) + nodesOf(box)) continue;
      box = { ...both, value: box.value };
      boxes.splice(at, 1);
    }
    boxes.push(box);
  }
  return boxes;
}
