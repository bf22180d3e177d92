/** Sums, means, extrema and histograms by WebAssembly, in a separate memory that also holds boxes and shards. */
import { readFileSync } from "node:fs";
import { builtFile } from "../../shared/build.js";
import type { Triple } from "../dataset/dataset.js";
import type { Widths } from "./level-axes.js";

/** Nodes of a box along each axis, at most. */
export const BOX_EDGE = 64;
/** Bins of a histogram; bin i is [first + i, first + i + 1) times the bin width. */
export const BINS = 4096;
/** Extrema of a cube of 8^3 nodes: of all nodes, and of its first layers along each combination of axes. */
export const SETS = 8;

const NUMBERS = 3 * BOX_EDGE ** 3;

/** WebAssembly, whose types are in the DOM library: memories, modules and their instances. */
type Made = new (of: unknown, imports?: object) => { readonly buffer: ArrayBuffer; readonly exports: unknown };
type Functions = Readonly<Record<"extrema" | "halve" | "histogram" | "means" | "sums", (...all: number[]) => void>>;

/** Weighted sums of cubes, [z][y][x][component]. */
export interface CubeSums {
  readonly at: number;
  readonly size: Triple;
  /** Bytes to the weights of known nodes, and from these to their number less that of missing ones; 0 if all are known. */
  readonly apart: number;
}

/** Memory and functions for boxes of a field of one or three components. */
export class BoxKernels {
  readonly buffer: ArrayBuffer;
  /** Memory of boxes to fill, [z][y][x][component]. */
  readonly boxes: readonly Float32Array[];
  /** Addresses of the rooms that were requested. */
  readonly rooms: readonly number[];
  readonly #call: Functions;
  readonly #widths: readonly Float64Array[];
  readonly #addresses: readonly number[];
  readonly #rows: readonly number[];
  #box = 0;
  #count: Triple = [0, 0, 0];
  #components = 1;

  /** @param rooms bytes of further parts of the memory */
  constructor(boxes: number, rooms: readonly number[]) {
    // 1024 bytes are left to the module; vectors end up to 16 bytes beyond a row.
    let end = 1024;
    const take = (bytes: number): number => {
      end += 16 * Math.ceil(bytes / 16) + 16;
      return end - 16 * Math.ceil(bytes / 16) - 16;
    };
    const values = Array.from({ length: boxes }, () => take(4 * NUMBERS));
    this.#addresses = [0, 1, 2].map(() => take(8 * 3 * BOX_EDGE));
    this.#rows = [8192, 8192, 3 * NUMBERS, (8 * SETS * NUMBERS) / 8 ** 3, 4 * 8 * 3 * BINS].map(take);
    this.rooms = rooms.map(take);
    const { Memory, Module, Instance } = (globalThis as unknown as { WebAssembly: Record<string, Made> }).WebAssembly;
    const memory = new Memory({ initial: Math.ceil(end / 65_536) });
    const module = new Module(readFileSync(builtFile(new URL("./levels.wasm", import.meta.url))));
    this.#call = new Instance(module, { env: { memory } }).exports as Functions;
    this.buffer = memory.buffer;
    this.boxes = values.map((at) => new Float32Array(memory.buffer, at, NUMBERS));
    this.#widths = this.#addresses.map((at) => new Float64Array(memory.buffer, at, 3 * BOX_EDGE));
  }

  /** Takes a box of `boxes` in place of the one before. */
  use(box: Float32Array, count: Triple, components: number, widths: Widths): void {
    this.#box = box.byteOffset;
    this.#count = count;
    this.#components = components;
    for (const [a, one] of widths.entries()) this.#widths[a].set(one);
  }

  /** Sums over cubes of 2^3 nodes, valid until the next call; the widths are no longer known. */
  sums(): CubeSums {
    const [work, , at] = this.#rows;
    const size = this.#count.map((n) => Math.ceil(n / 2)) as unknown as Triple;
    const apart = 8 * this.#components * size[0] * size[1] * size[2];
    const sum = (mode: number, to: number): void =>
      this.#call.sums(mode, this.#box, ...this.#count, this.#components, ...this.#addresses, work, to);
    sum(0, at);
    if (!new Float64Array(this.buffer, at, apart / 8).includes(Number.NaN)) return { at, size, apart: 0 };
    sum(1, at);
    sum(2, at + apart);
    for (const widths of this.#widths) widths.fill(1);
    sum(3, at + 2 * apart);
    return { at, size, apart };
  }

  /** Overwrites sums with those of the next level. */
  halve({ at, size, apart }: CubeSums): CubeSums {
    for (let part = 0; part < (apart === 0 ? 1 : 3); part++)
      this.#call.halve(at + part * apart, ...size, this.#components);
    return { at, size: size.map((n) => Math.ceil(n / 2)) as unknown as Triple, apart };
  }

  /**
   * Writes means of a box of cubes to an address in a chunk.
   * @param from index of its first sum @param weights of each value along x, and of the cubes along y and z
   */
  means({ at, size, apart }: CubeSums, from: number, count: Triple, weights: Widths, to: number, chunk: Triple): void {
    const n = this.#components;
    for (const [a, one] of weights.entries()) this.#widths[a].set(one);
    const sizes = [...count, n, size[0], size[1]];
    this.#call.means(at + 8 * from, apart, ...sizes, ...this.#addresses, to, chunk[0], chunk[1]);
  }

  /** Extrema of cubes of 8^3 nodes, [z][y][x][component][set][minimum, maximum], valid until the next box. */
  extrema(): Float32Array {
    const [work, , , at] = this.#rows;
    this.#call.extrema(this.#box, ...this.#count, this.#components, work, at);
    return new Float32Array(this.buffer, at, (2 * SETS * NUMBERS) / 8 ** 3);
  }

  bins(c: number): Float64Array {
    return new Float64Array(this.buffer, this.#rows[4] + 8 * c * BINS, BINS);
  }

  /** Adds the weights of the finite values of the box to bins; bin i of a component begins at (base + i) 2^exponent. */
  weigh(bins: readonly { readonly exponent: number; readonly base: number }[]): void {
    const [nx, ny, nz] = this.#count;
    const n = this.#components;
    const row = this.#rows[1];
    const floats = new Float32Array(this.buffer, row);
    const [before, along] = [new Int32Array(this.buffer, row), new Float64Array(this.buffer, row)];
    for (let i = 0; i < n * nx; i++) {
      floats[i] = 2 ** -bins[i % n].exponent;
      floats[256 + i] = bins[i % n].base;
      before[512 + i] = BINS * (i % n);
      along[384 + i] = this.#widths[0][Math.floor(i / n)];
    }
    // Values beyond the end of a row have no weight.
    for (let i = n * nx; i % 4 !== 0; i++) [floats[i], floats[256 + i], before[512 + i], along[384 + i]] = [0, 0, 0, 0];
    const [, wy, wz] = this.#addresses;
    this.#call.histogram(this.#box, n * nx, ny, nz, row, wy, wz, this.#rows[4], n * BINS);
  }
}
