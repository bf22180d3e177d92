/**
 * Levels of one frame of a quantity, from boxes of its nodes in Morton order: means of all levels, extrema of cubes of
 * 8^3 nodes, and a histogram. It holds one chunk per level, the extrema of 8^3, and sums of 64^3.
 */
import type { Dataset, Triple } from "../dataset/dataset.js";
import { BINS, BOX_EDGE, BoxKernels, SETS } from "./box-kernels.js";
import { coarsestLevel, nodesOf, shapeOf, sumsOver, type Widths } from "./level-axes.js";

/** A box is a cube of this level. */
const BOX_LEVEL = Math.log2(BOX_EDGE);
/** Cubes of a chunk along each axis: a box fills one of level 1. */
const CHUNK_LEVEL = 5;
export const CHUNK_EDGE = 2 ** CHUNK_LEVEL;
/** The level that has extrema, and nodes of its cubes along each axis. */
export const EXTREMA_LEVEL = 3;
/** Exponent of the smallest bin width. */
const LEAST_EXPONENT = -126;

/** Means of a part of a level, [z][y][x][component]; NaN beyond the grid. */
export interface LevelChunk {
  readonly level: number;
  /** Number of the chunk along x, y, z. */
  readonly at: Triple;
  readonly values: Float32Array;
}

export interface Histogram {
  /** Lower end of the first bin, and width of a bin. */
  readonly edges: readonly [number, number];
  readonly weights: Float64Array;
}

/** Extrema of cubes, [z][y][x][minima of the components, then maxima]; without a value infinity and minus infinity. */
export interface LevelExtrema {
  readonly size: Triple;
  readonly values: Float32Array;
}

export const product = ([x, y, z]: Triple): number => x * y * z;

/** Cubes of a chunk of a level along x, y, z. */
export const chunkOf = (size: Triple): Triple => size.map((n) => Math.min(n, CHUNK_EDGE)) as unknown as Triple;

/** Boxes of nodes or cubes in Morton order, so that chunks are completed one after another. */
export function boxesOf(nodes: Triple, edge = BOX_EDGE): readonly { readonly first: Triple; readonly count: Triple }[] {
  const counts = nodes.map((n) => Math.ceil(n / edge));
  const inside = (at: readonly number[], side: number): readonly (readonly number[])[] => {
    if (at.some((v, a) => v >= counts[a])) return [];
    const half = side / 2;
    return side === 1
      ? [at]
      : CORNERS.flatMap((corner) =>
          inside(
            at.map((v, a) => v + half * corner[a]),
            half,
          ),
        );
  };
  return inside([0, 0, 0], 2 ** Math.ceil(Math.log2(Math.max(...counts)))).map((at) => {
    const first = at.map((v) => v * edge) as unknown as Triple;
    return { first, count: first.map((v, a) => Math.min(edge, nodes[a] - v)) as unknown as Triple };
  });
}
const CORNERS = Array.from({ length: 8 }, (_, o) => [o & 1, (o >> 1) & 1, o >> 2]);

/** Weighted sums of cubes, [z][y][x][component], followed by weights and numbers of missing values if there are any. */
interface CubeSums {
  readonly size: Triple;
  readonly sums: readonly Float64Array[];
}

/** Adds the cubes of a level to the cubes of the next level. */
function halved({ size, sums }: CubeSums, n: number): CubeSums {
  const half = shapeOf(size, 1);
  const [nx, ny, nz] = size;
  const added = sums.map((from) => {
    const to = new Float64Array(n * product(half));
    for (let z = 0, i = 0; z < nz; z++)
      for (let y = 0; y < ny; y++)
        for (let x = 0, row = ((z >> 1) * half[1] + (y >> 1)) * half[0]; x < nx; x++)
          for (let c = 0, at = n * (row + (x >> 1)); c < n; c++) to[at++] += from[i++];
    return to;
  });
  return { size: half, sums: added };
}

/** A growing histogram: bin i is at (base + i) 2^exponent. */
interface Bins {
  exponent: number;
  base: number;
  least: number;
  most: number;
  readonly weights: Float64Array;
}

/** Extends a histogram to the values between two finite numbers. */
function widen(bins: Bins, low: number, high: number): void {
  if (low >= bins.least && high <= bins.most) return;
  bins.least = Math.min(bins.least, low);
  bins.most = Math.max(bins.most, high);
  let { exponent } = bins;
  const binAt = (value: number): number => Math.floor(value * 2 ** -exponent);
  // Bin numbers stay exact integers of float64.
  const isFine = (): boolean => Math.max(Math.abs(binAt(bins.least)), Math.abs(binAt(bins.most))) > 2 ** 48;
  while (binAt(bins.most) - binAt(bins.least) >= BINS || isFine()) exponent++;
  const base = binAt(bins.least);
  const scale = 2 ** (bins.exponent - exponent);
  if (exponent === bins.exponent && base === bins.base) return;
  const weights = new Float64Array(BINS);
  for (let i = 0; i < BINS; i++)
    if (bins.weights[i] !== 0) weights[Math.floor((bins.base + i) * scale) - base] += bins.weights[i];
  bins.exponent = exponent;
  bins.base = base;
  bins.weights.set(weights);
}

/** Collects the levels of a frame of a quantity. */
export class FrameLevels {
  /** Complete chunks, until they are taken away. */
  readonly ended: LevelChunk[] = [];
  readonly #axes: Dataset["axes"];
  readonly #nodes: Triple;
  readonly #widths: Widths;
  readonly #levels: number;
  readonly #components: number;
  /** Weights of the cubes by level: along x for each value, along y, and along z. */
  readonly #weights: readonly (readonly Float64Array[])[];
  /** The incomplete chunk of each level. */
  readonly #open: LevelChunk[] = [];
  /** Cubes of the size of a box, for the coarser levels; null if there are none. */
  readonly #beyond: CubeSums | null;
  readonly #extrema: LevelExtrema;
  readonly #bins: readonly Bins[];
  readonly #kernels = new BoxKernels();

  /** @param widths weights of the nodes */
  constructor(axes: Dataset["axes"], widths: Widths, components: number) {
    const nodes = nodesOf({ axes });
    const levels = coarsestLevel(axes);
    this.#axes = axes;
    this.#nodes = nodes;
    this.#widths = widths;
    this.#levels = levels;
    this.#components = components;
    this.#weights = Array.from({ length: levels + 1 }, (_, k) => {
      const [x, y, z] = widths.map((one) => sumsOver(one, k));
      return [Float64Array.from({ length: components * x.length }, (_, i) => x[Math.floor(i / components)]), y, z];
    });
    const boxes = shapeOf(nodes, BOX_LEVEL);
    const sums = [0, 1, 2].map(() => new Float64Array(components * product(boxes)));
    this.#beyond = levels > BOX_LEVEL ? { size: boxes, sums } : null;
    const size = shapeOf(nodes, EXTREMA_LEVEL);
    this.#extrema = { size, values: new Float32Array(2 * components * product(size)) };
    const { values } = this.#extrema;
    values.fill(Number.NEGATIVE_INFINITY);
    for (let at = 0; at < values.length; at += 2 * components)
      values.fill(Number.POSITIVE_INFINITY, at, at + components);
    this.#bins = Array.from({ length: components }, (_, c) => {
      const [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
      return { exponent: LEAST_EXPONENT, base: 0, least, most, weights: this.#kernels.bins(c) };
    });
  }

  /** Adds a box of `boxesOf`, in its order. `values`: [z][y][x][component]. */
  add(first: Triple, count: Triple, values: Float32Array): void {
    const n = this.#components;
    const kernels = this.#kernels;
    kernels.place(values, count, n, this.#widthsFrom(first));
    this.#addExtrema(first, count, values);
    kernels.weigh(this.#bins);
    let cubes: CubeSums = { size: shapeOf(count, 1), sums: [kernels.sums()] };
    if (cubes.sums[0].includes(Number.NaN)) {
      const sumsOf = (known: number | null, missing: number, weight: (w: number) => number): Float64Array => {
        const numbers = values.map((v) => (Number.isNaN(v) ? missing : (known ?? v)));
        kernels.place(numbers, count, n, this.#widthsFrom(first).map((one) => one.map(weight)) as unknown as Widths);
        return kernels.sums().slice();
      };
      const sums = [sumsOf(null, 0, (w) => w), sumsOf(0, 1, (w) => w), sumsOf(0, 1, () => 1)];
      cubes = { size: cubes.size, sums };
    }
    for (let k = 1; k <= Math.min(BOX_LEVEL, this.#levels); k++) {
      if (k > 1) cubes = halved(cubes, n);
      this.#putMeans(k, first.map((v) => v >> k) as unknown as Triple, cubes.size, cubes, [0, 0, 0]);
    }
    if (this.#beyond === null) return;
    const { size, sums } = this.#beyond;
    const at = n * (((first[2] >> BOX_LEVEL) * size[1] + (first[1] >> BOX_LEVEL)) * size[0] + (first[0] >> BOX_LEVEL));
    for (const [i, one] of cubes.sums.entries()) sums[i].set(one, at);
  }

  /** Ends the frame after its last box. */
  finish(): { readonly extrema: LevelExtrema; readonly histograms: readonly Histogram[] } {
    for (let k = BOX_LEVEL + 1, cubes = this.#beyond; cubes !== null && k <= this.#levels; k++) {
      cubes = halved(cubes, this.#components);
      for (const { first, count } of boxesOf(cubes.size, CHUNK_EDGE)) this.#putMeans(k, first, count, cubes, first);
    }
    this.ended.push(...this.#open.flat());
    const histograms = this.#bins.map(({ exponent, base, least, most, weights }): Histogram => {
      const width = least > most ? Number.NaN : 2 ** exponent;
      return { edges: [base * width, width], weights };
    });
    return { extrema: this.#extrema, histograms };
  }

  #widthsFrom(first: Triple): Widths {
    return this.#widths.map((one, a) => one.subarray(first[a], first[a] + BOX_EDGE)) as unknown as Widths;
  }

  /** Writes means into a chunk. `first`: number of the first cube. `from`: its index in the sums. */
  #putMeans(k: number, first: Triple, count: Triple, { size, sums }: CubeSums, from: Triple): void {
    const [sum, lost = null, missing = null] = sums;
    const [wx, wy, wz] = this.#weights[k] as [Float64Array, Float64Array, Float64Array];
    const nodesIn = (a: number, i: number): number => Math.min(2 ** k, this.#nodes[a] - 2 ** k * i);
    const n = this.#components;
    const values = this.#chunk(k, first);
    const [width, height] = chunkOf(shapeOf(this.#nodes, k));
    const [x0, y0, z0] = first.map((v) => v % CHUNK_EDGE);
    for (let z = 0; z < count[2]; z++)
      for (let y = 0; y < count[1]; y++) {
        const [gy, gz] = [first[1] + y, first[2] + z];
        const [weights, nodes] = [wy[gy] * wz[gz], nodesIn(1, gy) * nodesIn(2, gz)];
        let to = n * (((z0 + z) * height + y0 + y) * width + x0);
        let i = n * (((from[2] + z) * size[1] + from[1] + y) * size[0] + from[0]);
        for (let at = n * first[0]; at < n * (first[0] + count[0]); at++, i++, to++) {
          const weight = weights * wx[at];
          if (lost === null || missing === null) values[to] = sum[i] / weight;
          else if (2 * missing[i] <= nodes * nodesIn(0, Math.floor(at / n))) values[to] = sum[i] / (weight - lost[i]);
        }
      }
  }

  /** The values of the chunk of a cube; the previous chunk is complete. */
  #chunk(level: number, cube: Triple): Float32Array {
    const at = cube.map((v) => v >> CHUNK_LEVEL) as unknown as Triple;
    const open = this.#open[level];
    if (open?.at.every((v, a) => v === at[a])) return open.values;
    if (open !== undefined) this.ended.push(open);
    const length = this.#components * product(chunkOf(shapeOf(this.#nodes, level)));
    this.#open[level] = { level, at, values: new Float32Array(length).fill(Number.NaN) };
    return this.#open[level].values;
  }

  /** Adds the extrema of a box to its cubes, to earlier cubes that share a layer with them, and to the histograms. */
  #addExtrema(first: Triple, count: Triple, values: Float32Array): void {
    const n = this.#components;
    const { size, values: all } = this.#extrema;
    const own = this.#kernels.extrema();
    const cubes = shapeOf(count, EXTREMA_LEVEL);
    for (let set = 0; set < SETS; set++) {
      // There is no cube beyond an end that is not periodic.
      const [xs, ys, zs] = [4, 1, 2].map((bit, a) =>
        Array.from({ length: cubes[a] }, (_, i) => {
          const at = (first[a] >> EXTREMA_LEVEL) + i - ((set & bit) > 0 ? 1 : 0);
          return at < 0 ? (this.#axes[a as 0].periodic ? size[a] - 1 : null) : at;
        }),
      );
      let from = 2 * set;
      for (const z of zs)
        for (const y of ys)
          for (const x of xs)
            for (let c = 0; c < n; c++, from += 2 * SETS) {
              if (x === null || y === null || z === null) continue;
              const to = 2 * n * ((z * size[1] + y) * size[0] + x) + c;
              if (own[from] < all[to]) all[to] = own[from];
              if (own[from + 1] > all[to + n]) all[to + n] = own[from + 1];
            }
    }
    for (let c = 0; c < n; c++) {
      let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
      for (let i = 2 * SETS * c; i < 2 * SETS * n * product(cubes); i += 2 * SETS * n) {
        least = Math.min(least, own[i]);
        most = Math.max(most, own[i + 1]);
      }
      if (Number.isFinite(most - least)) widen(this.#bins[c], least, most);
      // Infinite values have no bin.
      else if (least < most)
        for (let at = c; at < values.length; at += n)
          if (Number.isFinite(values[at])) widen(this.#bins[c], values[at], values[at]);
    }
  }
}
