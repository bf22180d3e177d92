/**
 * Levels of one frame of a quantity, from boxes of its nodes in Morton order: means of all levels, extrema of cubes of
 * 8^3 nodes, and a histogram. It holds one shard per level, the extrema of 8^3, and sums of 64^3.
 */
import type { Dataset, Triple } from "../dataset/dataset.js";
import { BINS, BOX_EDGE, BoxKernels, type CubeSums, SETS } from "./box-kernels.js";
import { coarsestLevel, nodesOf, shapeOf, sumsOver, type Widths } from "./level-axes.js";

/** A box is a cube of this level. */
const BOX_LEVEL = Math.log2(BOX_EDGE);
/** Cubes of a chunk along each axis: a box fills one of level 1. */
const CHUNK_LEVEL = 5;
export const CHUNK_EDGE = 2 ** CHUNK_LEVEL;
/** The level that has extrema, and nodes of its cubes along each axis. */
export const EXTREMA_LEVEL = 3;
const MIN_EXPONENT = -126;

export const SHARD_CHUNKS = 4;

/** A shard of means: chunks, [z][y][x][component], NaN beyond the grid. */
export interface LevelShard {
  readonly level: number;
  /** Number of the shard along x, y, z. */
  readonly at: Triple;
  /** Chunks, each followed by room for a checksum, then room for the index. */
  readonly bytes: Uint8Array;
  readonly chunkBytes: number;
  /** The place of each chunk in the order of the shard, and the number of places. */
  readonly places: readonly number[];
  readonly of: number;
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

/** Bytes of a checksum, and of the entry of a chunk in the index of a shard. */
const SUM_BYTES = 4;
const INDEX_BYTES = 16;

export const product = ([x, y, z]: Triple): number => x * y * z;

/** Cubes of a chunk of a level along x, y, z. */
export const chunkOf = (size: Triple): Triple => size.map((n) => Math.min(n, CHUNK_EDGE)) as unknown as Triple;

/** Chunks of a shard of a level along x, y, z. */
export const shardOf = (size: Triple): Triple =>
  size.map((n) => Math.min(SHARD_CHUNKS, Math.ceil(n / CHUNK_EDGE))) as unknown as Triple;

/** Boxes of nodes or cubes in Morton order, so that shards are completed one after another. */
export function boxesOf(nodes: Triple, edge = BOX_EDGE): readonly { readonly first: Triple; readonly count: Triple }[] {
  const counts = nodes.map((n) => Math.ceil(n / edge));
  const inside = (at: readonly number[], side: number): readonly (readonly number[])[] => {
    if (at.some((v, a) => v >= counts[a])) return [];
    const corners = CORNERS.map((corner) => at.map((v, a) => v + (side / 2) * corner[a]));
    return side === 1 ? [at] : corners.flatMap((corner) => inside(corner, side / 2));
  };
  return inside([0, 0, 0], 2 ** Math.ceil(Math.log2(Math.max(...counts)))).map((at) => {
    const first = at.map((v) => v * edge) as unknown as Triple;
    return { first, count: first.map((v, a) => Math.min(edge, nodes[a] - v)) as unknown as Triple };
  });
}
const CORNERS = Array.from({ length: 8 }, (_, o) => [o & 1, (o >> 1) & 1, o >> 2]);

/** A growing histogram: bin i is at (base + i) 2^exponent. */
interface Bins {
  exponent: number;
  base: number;
  least: number;
  most: number;
  readonly weights: Float64Array;
}

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

/** Kernels with memory for boxes, for sums of cubes of the size of a box, and for a shard of each level. */
export function kernelsOf(axes: Dataset["axes"], boxes: number): BoxKernels {
  const nodes = nodesOf({ axes });
  const shards = Array.from({ length: coarsestLevel(axes) }, (_, i) => {
    const size = shapeOf(nodes, i + 1);
    return product(shardOf(size)) * (12 * product(chunkOf(size)) + SUM_BYTES + INDEX_BYTES) + SUM_BYTES;
  });
  return new BoxKernels(boxes, [3 * 8 * 3 * product(shapeOf(nodes, BOX_LEVEL)), ...shards]);
}

interface OpenLevel {
  readonly level: number;
  readonly chunk: Triple;
  readonly per: Triple;
  /** Weights of the cubes: along x for each value, along y, and along z. */
  readonly weights: Widths;
  at: Triple | null;
  places: number[];
}

const placeIn = ([width, height]: Triple, [x, y, z]: readonly number[], n: number): number =>
  n * ((z * height + y) * width + x);

const partOf = (weights: Widths, first: readonly number[], count: readonly number[]): Widths =>
  weights.map((one, a) => one.subarray(first[a], first[a] + count[a])) as unknown as Widths;

export class FrameLevels {
  readonly #axes: Dataset["axes"];
  readonly #widths: Widths;
  readonly #components: number;
  readonly #levels: readonly OpenLevel[];
  /** Cubes of the size of a box, for the coarser levels. */
  readonly #beyond: CubeSums;
  readonly #extrema: LevelExtrema;
  readonly #bins: readonly Bins[];
  readonly #kernels: BoxKernels;

  /** @param widths weights of the nodes @param kernels of `kernelsOf`, for one frame at a time */
  constructor(axes: Dataset["axes"], widths: Widths, components: number, kernels: BoxKernels) {
    const nodes = nodesOf({ axes });
    this.#axes = axes;
    this.#widths = widths;
    this.#components = components;
    this.#kernels = kernels;
    this.#levels = Array.from({ length: coarsestLevel(axes) }, (_, i): OpenLevel => {
      const size = shapeOf(nodes, i + 1);
      const [x, y, z] = widths.map((one) => sumsOver(one, i + 1)) as unknown as Widths;
      const each = Float64Array.from({ length: components * x.length }, (_, at) => x[Math.floor(at / components)]);
      return { level: i + 1, chunk: chunkOf(size), per: shardOf(size), weights: [each, y, z], at: null, places: [] };
    });
    const boxes = shapeOf(nodes, BOX_LEVEL);
    this.#beyond = { at: kernels.rooms[0], size: boxes, apart: 8 * components * product(boxes) };
    const size = shapeOf(nodes, EXTREMA_LEVEL);
    this.#extrema = { size, values: new Float32Array(2 * components * product(size)) };
    const { values } = this.#extrema;
    values.fill(Number.NEGATIVE_INFINITY);
    for (let at = 0; at < values.length; at += 2 * components)
      values.fill(Number.POSITIVE_INFINITY, at, at + components);
    this.#bins = Array.from({ length: components }, (_, c) => {
      const [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
      return { exponent: MIN_EXPONENT, base: 0, least, most, weights: kernels.bins(c).fill(0) };
    });
  }

  /** Adds a box of `boxesOf`, in its order. `values`: one of `kernels.boxes`. */
  add(first: Triple, count: Triple, values: Float32Array): void {
    const n = this.#components;
    const kernels = this.#kernels;
    const widths = partOf(this.#widths, first, count);
    kernels.use(values, count, n, widths);
    this.#addExtrema(first, count, values.subarray(0, n * product(count)));
    kernels.weigh(this.#bins);
    let cubes = kernels.sums();
    for (const level of this.#levels.slice(0, BOX_LEVEL)) {
      if (level.level > 1) cubes = kernels.halve(cubes);
      this.#putMeans(level, first.map((v) => v >> level.level) as unknown as Triple, cubes.size, cubes, 0);
    }
    if (this.#levels.length <= BOX_LEVEL) return;
    const { at, apart, size } = this.#beyond;
    const weight = widths.reduce((all, one) => all * one.reduce((sum, w) => sum + w, 0), 1);
    for (const [part, usual] of [0, weight, product(count)].entries()) {
      const box = first.map((v) => v >> BOX_LEVEL);
      const to = new Float64Array(kernels.buffer, at + part * apart + 8 * placeIn(size, box, n), n);
      if (part > 0 && cubes.apart === 0) to.fill(usual);
      else to.set(new Float64Array(kernels.buffer, cubes.at + part * cubes.apart, n));
    }
  }

  /** Shards that are complete before the next box; they must be written before it is added. */
  *complete(next: Triple | null): Generator<LevelShard> {
    for (const open of this.#levels.slice(0, BOX_LEVEL))
      yield* this.#end(
        open,
        next?.map((v) => v >> open.level),
      );
  }

  /** Shards of levels with cubes that are larger than a box. */
  *coarser(): Generator<LevelShard> {
    let cubes = this.#beyond;
    for (const open of this.#levels.slice(BOX_LEVEL)) {
      cubes = this.#kernels.halve(cubes);
      const boxes = boxesOf(cubes.size, CHUNK_EDGE);
      for (const [i, { first, count }] of boxes.entries()) {
        this.#putMeans(open, first, count, cubes, placeIn(cubes.size, first, this.#components));
        yield* this.#end(open, boxes[i + 1]?.first);
      }
    }
  }

  /** Extrema and histograms after the last box. */
  finish(): { readonly extrema: LevelExtrema; readonly histograms: readonly Histogram[] } {
    const histograms = this.#bins.map(({ exponent, base, least, most, weights }): Histogram => {
      const width = least > most ? Number.NaN : 2 ** exponent;
      return { edges: [base * width, width], weights };
    });
    return { extrema: this.#extrema, histograms };
  }

  /** The open shard, unless the next cube lies in it. */
  *#end(open: OpenLevel, next: readonly number[] | undefined): Generator<LevelShard> {
    const { level, chunk, per, at, places } = open;
    if (at === null || next?.every((v, a) => Math.floor(v / (CHUNK_EDGE * per[a])) === at[a])) return;
    const chunkBytes = 4 * this.#components * product(chunk);
    const length = places.length * (chunkBytes + SUM_BYTES) + product(per) * INDEX_BYTES + SUM_BYTES;
    Object.assign(open, { at: null, places: [] });
    const bytes = new Uint8Array(this.#kernels.buffer, this.#kernels.rooms[level], length);
    yield { level, at, bytes, chunkBytes, places, of: product(per) };
  }

  /** Writes means into the chunk of a cube in the open shard. `from`: index of the first sum. */
  #putMeans(open: OpenLevel, first: Triple, count: Triple, cubes: CubeSums, from: number): void {
    const { level, chunk, per, weights, places } = open;
    const { buffer, rooms } = this.#kernels;
    const n = this.#components;
    const at = first.map((v) => v >> CHUNK_LEVEL);
    open.at ??= at.map((v, a) => Math.floor(v / per[a])) as unknown as Triple;
    const place = placeIn(
      per,
      at.map((v, a) => v % per[a]),
      1,
    );
    const values = n * product(chunk);
    const addressOf = (slot: number): number => rooms[level] + slot * (4 * values + SUM_BYTES);
    if (!places.includes(place)) new Float32Array(buffer, addressOf(places.push(place) - 1), values).fill(Number.NaN);
    const inChunk = placeIn(
      chunk,
      first.map((v) => v % CHUNK_EDGE),
      n,
    );
    const [x, ...others] = first;
    const own = partOf(weights, [n * x, ...others], [n * count[0], count[1], count[2]]);
    this.#kernels.means(cubes, from, count, own, addressOf(places.indexOf(place)) + 4 * inChunk, chunk);
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
