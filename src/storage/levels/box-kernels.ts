/** Sums, extrema and histograms of a box of nodes by WebAssembly, in a separate memory. */
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
/** Addresses; 1024 bytes are left to the module. */
const VALUES = 1024;
const [WX, WY, WZ] = [0, 1, 2].map((a) => VALUES + 4 * NUMBERS + 16 + 8 * BOX_EDGE * a) as [number, number, number];
const WORK = WZ + 8 * BOX_EDGE;
const ROW = WORK + 8192;
const SUMS = ROW + 8192;
const EXTREMA = SUMS + NUMBERS;
const HISTOGRAMS = EXTREMA + (8 * SETS * NUMBERS) / 8 ** 3;
const END = HISTOGRAMS + 4 * 8 * 3 * BINS;

/** WebAssembly, whose types are in the DOM library: memories, modules and their instances. */
type Made = new (of: unknown, imports?: object) => { readonly buffer: ArrayBuffer; readonly exports: unknown };
/** The functions of `assembly/`. */
type Functions = Readonly<Record<"extrema" | "histogram" | "sums", (...parameters: number[]) => void>>;

/** A box of nodes of a field of one or three components, and the histograms of a frame. */
export class BoxKernels {
  readonly #buffer: ArrayBuffer;
  readonly #functions: Functions;
  #count: Triple = [0, 0, 0];
  #components = 1;

  constructor() {
    const { Memory, Module, Instance } = (globalThis as unknown as { WebAssembly: Record<string, Made> }).WebAssembly;
    const memory = new Memory({ initial: Math.ceil(END / 65_536) });
    const module = new Module(readFileSync(builtFile(new URL("./levels.wasm", import.meta.url))));
    this.#functions = new Instance(module, { env: { memory } }).exports as Functions;
    this.#buffer = memory.buffer;
  }

  /** Takes a box in place of the one before. `values`: [z][y][x][component]. */
  place(values: Float32Array, count: Triple, components: number, widths: Widths): void {
    this.#count = count;
    this.#components = components;
    new Float32Array(this.#buffer, VALUES, values.length).set(values);
    for (const [a, one] of widths.entries()) new Float64Array(this.#buffer, [WX, WY, WZ][a], BOX_EDGE).set(one);
  }

  /** Sums over cubes of 2^3 nodes, valid until the next call. */
  sums(): Float64Array {
    this.#functions.sums(VALUES, ...this.#count, this.#components, WX, WY, WZ, WORK, SUMS);
    const cubes = this.#count.reduce((product, n) => product * Math.ceil(n / 2), this.#components);
    return new Float64Array(this.#buffer, SUMS, cubes);
  }

  /** Extrema of cubes of 8^3 nodes, [z][y][x][component][set][minimum, maximum], valid until the next box. */
  extrema(): Float32Array {
    this.#functions.extrema(VALUES, ...this.#count, this.#components, WORK, EXTREMA);
    return new Float32Array(this.#buffer, EXTREMA, (HISTOGRAMS - EXTREMA) / 4);
  }

  /** Weights of the bins of a component. */
  bins(c: number): Float64Array {
    return new Float64Array(this.#buffer, HISTOGRAMS + 8 * c * BINS, BINS);
  }

  /**
   * Adds the weights of the finite values of the box to bins; bin i of a component is [base + i, base + i + 1)
   * 2^exponent.
   */
  weigh(bins: readonly { readonly exponent: number; readonly base: number }[]): void {
    const [nx, ny, nz] = this.#count;
    const n = this.#components;
    const [floats, before] = [new Float32Array(this.#buffer, ROW), new Int32Array(this.#buffer, ROW)];
    const [widths, along] = [new Float64Array(this.#buffer, WX), new Float64Array(this.#buffer, ROW)];
    for (let i = 0; i < n * nx; i++) {
      floats[i] = 2 ** -bins[i % n].exponent;
      floats[256 + i] = bins[i % n].base;
      before[512 + i] = BINS * (i % n);
      along[384 + i] = widths[Math.floor(i / n)];
    }
    // Values beyond the end of a row have no weight.
    for (let i = n * nx; i % 4 !== 0; i++) [floats[i], floats[256 + i], before[512 + i], along[384 + i]] = [0, 0, 0, 0];
    this.#functions.histogram(VALUES, n * nx, ny, nz, ROW, WY, WZ, HISTOGRAMS, n * BINS);
  }
}
