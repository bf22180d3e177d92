/**
 * Transforms planes of float64 numbers along their rows and columns, by WebAssembly, in its own memory.
 *
 * A row of a plane has `half` real parts and then `half` imaginary parts; a row of real numbers has only the former,
 * which may go on into the latter. Sums are unnormalised: forward with exp(-i k x), inverse with exp(+i k x).
 */
import type { WasmBytes } from "../simd/webassembly.js";
import { LINES, LINES_BYTES } from "./fft-layout.js";
import { type FftFunctions, instantiateFft } from "./fft-module.js";
import { planBytes, writePlan } from "./passes.js";

const PAGE_BYTES = 65_536;
/** Rows that are transformed together along x. */
export const BLOCK = 2 * LINES;

/** The planes that a thread works on. */
export interface PlaneShape {
  /** Numbers along a transformed row. */
  readonly nodes: number;
  /** Lengths of columns. */
  readonly lengths: readonly number[];
  /** Real parts in a row: a multiple of LINES. */
  readonly half: number;
  readonly rows: number;
  readonly planes: number;
}

/** Real parts in a row: of the half of the transform of `nodes` real numbers, or of `nodes` complex numbers. */
export function halfOf(nodes: number, isTransformed: boolean): number {
  return LINES * Math.ceil((isTransformed ? (nodes >> 1) + 1 : nodes) / LINES);
}

/** The transforms of one thread. */
export class PlaneTransforms {
  readonly #module: FftFunctions;
  readonly #memory: GrowingMemory;
  #key = "";
  #shape: PlaneShape = { nodes: 1, lengths: [], half: LINES, rows: 0, planes: 0 };
  #plans = new Map<number, number>();
  #work = 0;
  #workBytes = 0;
  #first = 0;
  #planeBytes = 0;

  constructor(wasm: WasmBytes) {
    const { WebAssembly } = globalThis as unknown as Global;
    this.#memory = new WebAssembly.Memory({ initial: 1 });
    this.#module = instantiateFft(wasm, this.#memory);
  }

  /** Makes room for planes; their numbers are lost if the shape is another than before. */
  prepare(shape: PlaneShape): void {
    const key = JSON.stringify(shape);
    if (this.#key === key) return;
    const { nodes, lengths, half, rows, planes } = shape;
    const longest = Math.max(nodes, ...lengths);
    let next = LINES_BYTES;
    const take = (bytes: number): number => {
      const at = next;
      next += LINES_BYTES * Math.ceil(bytes / LINES_BYTES);
      return at;
    };
    this.#workBytes = 2 * LINES_BYTES * (longest + 2);
    this.#work = take(3 * this.#workBytes);
    this.#planeBytes = 16 * half * BLOCK * Math.ceil(rows / BLOCK);
    this.#first = take(planes * this.#planeBytes);
    this.#plans = new Map([nodes, ...lengths].map((n) => [n, take(planBytes(n))]));
    const missing = Math.ceil((next - this.#memory.buffer.byteLength) / PAGE_BYTES);
    if (missing > 0) this.#memory.grow(missing);
    for (const [n, at] of this.#plans) writePlan(this.#memory.buffer, at, n);
    this.#shape = shape;
    this.#key = key;
  }

  /** The numbers of a plane, row by row; valid until the shape changes. */
  plane(index: number): Float64Array {
    const { rows, half } = this.#shape;
    return new Float64Array(this.#memory.buffer, this.#first + index * this.#planeBytes, 2 * half * rows);
  }

  /** Replaces rows of real numbers by the first halves of their transforms, or by their first `kept` modes. */
  forwardAlongRows(plane: number, kept = (this.#shape.nodes >> 1) + 1): void {
    this.#inBlocks(plane, (rows, bytes, im) => {
      const { nodes } = this.#shape;
      this.#module.takeRows(rows, bytes, nodes, this.#work);
      this.#lanes(0, LINES_BYTES);
      this.#module.unpackRows(this.#work, nodes, kept, rows, im, bytes);
    });
  }

  /** Replaces the first halves of transforms by rows of real numbers; modes beyond the first `kept` are 0. */
  inverseAlongRows(plane: number, kept = (this.#shape.nodes >> 1) + 1): void {
    this.#inBlocks(plane, (rows, bytes, im) => {
      const { nodes } = this.#shape;
      this.#module.packRows(rows, im, bytes, nodes, kept, this.#work);
      this.#lanes(LINES_BYTES, 0);
      this.#module.placeRows(this.#work, nodes, rows, bytes);
    });
  }

  /**
   * Transforms the columns of a plane: `length` rows, `step` rows from one to the next.
   *
   * @param length one of `lengths`
   * @param lanes  numbers of a row that are transformed: a multiple of LINES, all by default
   */
  alongColumns(plane: number, length: number, inverse: boolean, first = 0, step = 1, lanes = this.#shape.half): void {
    if (length === 1) return;
    const { half } = this.#shape;
    const re = this.#first + plane * this.#planeBytes + 16 * half * first;
    const im = re + 8 * half;
    const [a, b] = inverse ? [im, re] : [re, im];
    const plan = this.#plans.get(length) as number;
    this.#module.transformRows(plan, a, b, 16 * half * step, lanes, this.#work, this.#workBytes);
  }

  /** Transforms the lanes of the work area. */
  #lanes(re: number, im: number): void {
    const { nodes } = this.#shape;
    if (nodes === 1) return;
    const [at, bytes] = [this.#work, this.#workBytes];
    const plan = this.#plans.get(nodes) as number;
    this.#module.transformRows(plan, at + re, at + im, 2 * LINES_BYTES, LINES, at + bytes, bytes);
  }

  #inBlocks(plane: number, use: (rows: number, rowBytes: number, im: number) => void): void {
    const { rows, half } = this.#shape;
    const at = this.#first + plane * this.#planeBytes;
    // Rows beyond the last share registers with it.
    const beyond = new Float64Array(this.#memory.buffer, at, this.#planeBytes / 8);
    beyond.fill(0, 2 * half * rows);
    for (let row = 0; row < rows; row += BLOCK) use(at + 16 * half * row, 16 * half, 8 * half);
  }
}

interface GrowingMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/** The part of WebAssembly that is used here, declared because this project compiles without the types of the DOM. */
interface Global {
  readonly WebAssembly: { readonly Memory: new (limits: { initial: number }) => GrowingMemory };
}
