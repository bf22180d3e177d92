/**
 * Levels of one frame of a quantity, from boxes of its nodes that come in Morton order: means of all levels, extrema
 * of cubes of 8^3 nodes and more, and a histogram. It holds one shard a level, the extrema of 8^3, and sums of 64^3.
 */
import type { Triple } from "../dataset/dataset.js";
import { cubesOf, shapeOf, sumsOver } from "./level-axes.js";

/** Nodes of a box along each axis: a cube of this level. */
const BOX_LEVEL = 6;
export const BOX_EDGE = 2 ** BOX_LEVEL;
/** Cubes of a shard along each axis. */
const SHARD_LEVEL = 7;
export const SHARD_EDGE = 2 ** SHARD_LEVEL;
/** The finest level that has extrema. */
export const EXTREMA_LEVEL = 3;
/** Bins of a histogram: [first + i, first + i + 1) times a power of two, the smallest that holds all values. */
export const BINS = 4096;
const LEAST_EXPONENT = -149;

/** What is known of the grid of a frame. */
export interface FrameGrid {
  readonly nodes: Triple;
  readonly periodic: readonly [boolean, boolean, boolean];
  /** Weights of nodes along x, y, z. */
  readonly widths: readonly [Float64Array, Float64Array, Float64Array];
  /** The coarsest level. */
  readonly levels: number;
}

/** Means of a part of a level, [z][y][x][component]. */
export interface LevelShard {
  readonly level: number;
  /** Number of the shard along x, y, z. */
  readonly at: Triple;
  readonly size: Triple;
  readonly values: Float32Array;
}

export interface Histogram {
  /** Lower end of the first bin, and width of a bin. */
  readonly edges: readonly [number, number];
  readonly weights: Float64Array;
}

/** Extrema of a level, [z][y][x][minima of the components, then maxima]; no value: infinity, then minus infinity. */
export interface LevelExtrema {
  readonly level: number;
  readonly size: Triple;
  readonly values: Float32Array;
}

const product = ([x, y, z]: Triple): number => x * y * z;

/** Numbers of boxes along x, y, z in Morton order, so that shards become whole one after another. */
export function* boxesOf(nodes: Triple): Generator<{ readonly first: Triple; readonly count: Triple }> {
  const counts = shapeOf(nodes, BOX_LEVEL);
  const visit = function* (at: Triple, edge: number): Generator<Triple> {
    if (at.some((v, a) => v >= counts[a])) return;
    if (edge === 1) yield at;
    else
      for (let o = 0; o < 8; o++)
        yield* visit(at.map((v, a) => v + ((o >> a) & 1) * (edge / 2)) as unknown as Triple, edge / 2);
  };
  for (const at of visit([0, 0, 0], 2 ** Math.ceil(Math.log2(Math.max(...counts))))) {
    const first = at.map((v) => v * BOX_EDGE) as unknown as Triple;
    yield { first, count: first.map((v, a) => Math.min(BOX_EDGE, nodes[a] - v)) as unknown as Triple };
  }
}

/** Weighted sums of cubes: sum(w v) of a component, and the weight and the number of missing values. */
interface CubeSums {
  readonly size: Triple;
  readonly sum: Float64Array;
  /** Null if nothing is missing. */
  readonly lost: { readonly weight: Float64Array; readonly nodes: Float64Array } | null;
}

const noSums = (size: Triple, isHoled: boolean): CubeSums => {
  const zeros = () => new Float64Array(product(size));
  return { size, sum: zeros(), lost: isHoled ? { weight: zeros(), nodes: zeros() } : null };
};

function halved({ size, sum, lost }: CubeSums): CubeSums {
  const half = noSums(shapeOf(size, 1), lost !== null);
  const [nx, ny, nz] = size;
  const [hx, hy] = half.size;
  const add = (from: Float64Array, to: Float64Array): void => {
    for (let z = 0, i = 0; z < nz; z++)
      for (let y = 0; y < ny; y++)
        for (let x = 0, row = ((z >> 1) * hy + (y >> 1)) * hx; x < nx; x++) to[row + (x >> 1)] += from[i++];
  };
  add(sum, half.sum);
  if (lost !== null && half.lost !== null) {
    add(lost.weight, half.lost.weight);
    add(lost.nodes, half.lost.nodes);
  }
  return half;
}

interface Bins {
  exponent: number;
  base: number;
  least: number;
  most: number;
  weights: Float64Array;
}

/** Collects a frame of a quantity. */
export class FrameLevels {
  readonly #grid: FrameGrid;
  readonly #components: number;
  readonly #place: (shard: LevelShard) => void;
  /** Weights and numbers of nodes of the cubes along x, y, z, by level. */
  readonly #weights: readonly (readonly Float64Array[])[];
  readonly #counts: readonly (readonly Float64Array[])[];
  readonly #open = new Map<string, LevelShard & { left: number }>();
  /** Cubes of the size of a box, by component, for the levels beyond; null if there are none. */
  readonly #beyond: readonly CubeSums[];
  readonly #extrema: LevelExtrema | null;
  readonly #bins: Bins[];

  /** @param place takes a shard as soon as it is whole */
  constructor(grid: FrameGrid, components: number, place: (shard: LevelShard) => void) {
    const { nodes, widths, levels } = grid;
    this.#grid = grid;
    this.#components = components;
    this.#place = place;
    const all = Array.from({ length: levels + 1 }, (_, k) => k);
    this.#weights = all.map((k) => widths.map((one) => sumsOver(one, k)));
    this.#counts = all.map((k) => widths.map((one) => sumsOver(new Float64Array(one.length).fill(1), k)));
    const more = levels > BOX_LEVEL ? components : 0;
    this.#beyond = Array.from({ length: more }, () => noSums(shapeOf(nodes, BOX_LEVEL), true));
    const size = shapeOf(nodes, EXTREMA_LEVEL);
    this.#extrema = levels < EXTREMA_LEVEL ? null : noExtrema(EXTREMA_LEVEL, size, components);
    this.#bins = Array.from({ length: components }, () => {
      return {
        exponent: LEAST_EXPONENT,
        base: 0,
        least: Number.POSITIVE_INFINITY,
        most: Number.NEGATIVE_INFINITY,
        weights: new Float64Array(BINS),
      };
    });
  }

  /** Adds a box of `boxesOf`, in its order. @param values [z][y][x][component] */
  add(first: Triple, count: Triple, values: Float32Array): void {
    for (let c = 0; c < this.#components; c++) {
      const [low, high] = this.#addExtrema(first, count, values, c);
      if (low <= high) this.#addToBins(first, count, values, c, low, high);
      let sums = this.#firstSums(first, count, values, c);
      for (let k = 1; k <= Math.min(BOX_LEVEL, this.#grid.levels); k++) {
        if (k > 1) sums = halved(sums);
        this.#putMeans(k, first.map((v) => v >> k) as unknown as Triple, sums, c);
      }
      const beyond = this.#beyond[c];
      if (beyond === undefined) continue;
      const [x, y, z] = first.map((v) => v >> BOX_LEVEL) as [number, number, number];
      const at = (z * beyond.size[1] + y) * beyond.size[0] + x;
      beyond.sum[at] = sums.sum[0];
      if (sums.lost === null || beyond.lost === null) continue;
      beyond.lost.weight[at] = sums.lost.weight[0];
      beyond.lost.nodes[at] = sums.lost.nodes[0];
    }
    for (let k = 1; k <= Math.min(BOX_LEVEL, this.#grid.levels); k++)
      this.#countDown(k, first.map((v) => (v >> k) >> SHARD_LEVEL) as unknown as Triple);
  }

  /** Ends the frame after its last box. */
  finish(): { readonly extrema: readonly LevelExtrema[]; readonly histograms: readonly Histogram[] } {
    for (const [c, one] of this.#beyond.entries())
      for (let k = BOX_LEVEL + 1, sums = one; k <= this.#grid.levels; k++) {
        sums = halved(sums);
        this.#putMeans(k, [0, 0, 0], sums, c);
      }
    for (const shard of this.#open.values()) this.#place(shard);
    const extrema: LevelExtrema[] = [];
    for (let one = this.#extrema; one !== null; one = one.level < this.#grid.levels ? coarser(one) : null)
      extrema.push(one);
    const histograms = this.#bins.map(({ exponent, base, least, most, weights }): Histogram => {
      const width = least > most ? Number.NaN : 2 ** exponent;
      return { edges: [base * width, width], weights };
    });
    return { extrema, histograms };
  }

  #firstSums(first: Triple, count: Triple, values: Float32Array, c: number): CubeSums {
    const [nx, ny, nz] = count;
    const [wx, wy, wz] = this.#widthsFrom(first);
    let sums: CubeSums = noSums(shapeOf(count, 1), false);
    const { sum, size } = sums;
    const n = this.#components;
    for (let z = 0, at = c; z < nz; z++)
      for (let y = 0; y < ny; y++) {
        const w = wz[z] * wy[y];
        const row = ((z >> 1) * size[1] + (y >> 1)) * size[0];
        for (let x = 0; x < nx; x++, at += n) {
          const v = values[at];
          if (!Number.isNaN(v)) sum[row + (x >> 1)] += w * wx[x] * v;
          else {
            if (sums.lost === null) sums = { ...noSums(size, true), sum };
            const lost = sums.lost as NonNullable<CubeSums["lost"]>;
            lost.weight[row + (x >> 1)] += w * wx[x];
            lost.nodes[row + (x >> 1)] += 1;
          }
        }
      }
    return sums;
  }

  #widthsFrom(first: Triple): [Float64Array, Float64Array, Float64Array] {
    return this.#grid.widths.map((one, a) => one.subarray(first[a])) as [Float64Array, Float64Array, Float64Array];
  }

  /** Puts means at their places in shards. @param first number of the first cube */
  #putMeans(k: number, first: Triple, { size, sum, lost }: CubeSums, c: number): void {
    const [wx, wy, wz] = this.#weights[k] as [Float64Array, Float64Array, Float64Array];
    const [cx, cy, cz] = this.#counts[k] as [Float64Array, Float64Array, Float64Array];
    const n = this.#components;
    for (let z = 0, i = 0; z < size[2]; z++)
      for (let y = 0; y < size[1]; y++) {
        const [gy, gz] = [first[1] + y, first[2] + z];
        const [weights, nodes] = [wy[gy] * wz[gz], cy[gy] * cz[gz]];
        let shard: LevelShard | null = null;
        let row = 0;
        for (let x = 0; x < size[0]; x++, i++) {
          const gx = first[0] + x;
          if (shard === null || gx % SHARD_EDGE === 0) {
            shard = this.#shard(k, [gx >> SHARD_LEVEL, gy >> SHARD_LEVEL, gz >> SHARD_LEVEL]);
            row = ((gz % SHARD_EDGE) * shard.size[1] + (gy % SHARD_EDGE)) * shard.size[0];
          }
          const isKnown = lost === null || 2 * lost.nodes[i] <= nodes * cx[gx];
          const weight = weights * wx[gx] - (lost === null ? 0 : lost.weight[i]);
          shard.values[n * (row + (gx % SHARD_EDGE)) + c] = isKnown ? sum[i] / weight : Number.NaN;
        }
      }
  }

  #shard(level: number, at: Triple): LevelShard & { left: number } {
    const key = `${level} ${at}`;
    const known = this.#open.get(key);
    if (known !== undefined) return known;
    const whole = shapeOf(this.#grid.nodes, level);
    const size = whole.map((n, a) => Math.min(SHARD_EDGE, n - SHARD_EDGE * at[a])) as unknown as Triple;
    // Boxes that it is made of; levels beyond a box are made at the end.
    const left = product(size.map((n) => cubesOf(n, BOX_LEVEL - level)) as unknown as Triple);
    const made = { level, at, size, left, values: new Float32Array(product(size) * this.#components) };
    this.#open.set(key, made);
    return made;
  }

  #countDown(level: number, at: Triple): void {
    const shard = this.#shard(level, at);
    if (--shard.left > 0) return;
    this.#open.delete(`${level} ${at}`);
    this.#place(shard);
  }

  /** Adds the nodes of a box to the extrema of their cubes and of those before, with which they share a layer. */
  #addExtrema(first: Triple, count: Triple, values: Float32Array, c: number): readonly [low: number, high: number] {
    const n = this.#components;
    const [nx, ny, nz] = count;
    const cubes = cubesOf(nx, EXTREMA_LEVEL);
    // Of a row: the cube before the box, then its own.
    const [lows, highs] = [new Float64Array(cubes + 1), new Float64Array(cubes + 1)];
    let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    const all = this.#extrema;
    for (let z = 0, at = c; z < nz; z++)
      for (let y = 0; y < ny; y++) {
        lows.fill(Number.POSITIVE_INFINITY);
        highs.fill(Number.NEGATIVE_INFINITY);
        for (let x = 0; x < nx; x++, at += n) {
          const v = values[at];
          const j = (x >> EXTREMA_LEVEL) + 1;
          if (v < lows[j]) lows[j] = v;
          if (v > highs[j]) highs[j] = v;
          if (x % 8 !== 0) continue;
          if (v < lows[j - 1]) lows[j - 1] = v;
          if (v > highs[j - 1]) highs[j - 1] = v;
        }
        for (let j = 0; j <= cubes; j++) {
          if (lows[j] < low && j > 0) low = lows[j];
          if (highs[j] > high && j > 0) high = highs[j];
        }
        if (all !== null) this.#mergeRow(all, first, y, z, lows, highs, c);
      }
    return [low, high];
  }

  #mergeRow(
    { size, values }: LevelExtrema,
    first: Triple,
    y: number,
    z: number,
    lows: Float64Array,
    highs: Float64Array,
    c: number,
  ): void {
    const n = this.#components;
    const ys = this.#cubesAt(1, first[1] + y, size[1]);
    for (const k of this.#cubesAt(2, first[2] + z, size[2]))
      for (const j of ys)
        for (let i = 0; i < lows.length; i++) {
          let cube = (first[0] >> EXTREMA_LEVEL) + i - 1;
          if (cube < 0 && !this.#grid.periodic[0]) continue;
          if (cube < 0) cube += size[0];
          const at = 2 * n * ((k * size[1] + j) * size[0] + cube) + c;
          if (lows[i] < values[at]) values[at] = lows[i];
          if (highs[i] > values[at + n]) values[at + n] = highs[i];
        }
  }

  #cubesAt(a: number, node: number, cubes: number): readonly number[] {
    const own = node >> EXTREMA_LEVEL;
    if (node % 8 !== 0) return [own];
    if (own > 0) return [own, own - 1];
    return this.#grid.periodic[a] ? [own, cubes - 1] : [own];
  }

  #addToBins(first: Triple, count: Triple, values: Float32Array, c: number, low: number, high: number): void {
    const bins = this.#bins[c];
    const [least, most] = low - high - (low - high) === 0 ? [low, high] : finiteEnds(values, this.#components, c);
    if (least > most) return;
    bins.least = Math.min(bins.least, least);
    bins.most = Math.max(bins.most, most);
    let { exponent } = bins;
    const binAt = (value: number): number => Math.floor(value * 2 ** -exponent);
    // Numbers of bins stay whole numbers of float64.
    const isFine = (): boolean => Math.max(Math.abs(binAt(bins.least)), Math.abs(binAt(bins.most))) > 2 ** 48;
    while (binAt(bins.most) - binAt(bins.least) >= BINS || isFine()) exponent++;
    const base = binAt(bins.least);
    const scale = 2 ** (bins.exponent - exponent);
    if (exponent !== bins.exponent || base !== bins.base) {
      const moved = new Float64Array(BINS);
      for (let i = 0; i < BINS; i++)
        if (bins.weights[i] !== 0) moved[Math.floor((bins.base + i) * scale) - base] += bins.weights[i];
      Object.assign(bins, { exponent, base, weights: moved });
    }
    const { weights } = bins;
    const [nx, ny, nz] = count;
    const [wx, wy, wz] = this.#widthsFrom(first);
    const inverse = 2 ** -exponent;
    for (let z = 0, at = c; z < nz; z++)
      for (let y = 0; y < ny; y++) {
        const w = wz[z] * wy[y];
        for (let x = 0; x < nx; x++, at += this.#components) {
          const v = values[at];
          if (v - v === 0) weights[Math.floor(v * inverse) - base] += w * wx[x];
        }
      }
  }
}

function finiteEnds(values: Float32Array, components: number, c: number): [number, number] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let at = c; at < values.length; at += components) {
    const v = values[at];
    if (v - v === 0) [low, high] = [Math.min(low, v), Math.max(high, v)];
  }
  return [low, high];
}

function noExtrema(level: number, size: Triple, components: number): LevelExtrema {
  const values = new Float32Array(2 * components * product(size));
  for (let i = 0; i < values.length; i++)
    values[i] = i % (2 * components) < components ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  return { level, size, values };
}

/** Extrema of the next level: a cube is the union of up to eight, shared layers included. */
function coarser({ level, size, values }: LevelExtrema): LevelExtrema {
  const width = values.length / product(size);
  const next = noExtrema(level + 1, shapeOf(size, 1), width / 2);
  const [nx, ny] = next.size;
  for (let z = 0, from = 0; z < size[2]; z++)
    for (let y = 0; y < size[1]; y++)
      for (let x = 0; x < size[0]; x++)
        for (let c = 0; c < width; c++, from++) {
          const to = width * (((z >> 1) * ny + (y >> 1)) * nx + (x >> 1)) + c;
          const [a, b] = [values[from], next.values[to]];
          next.values[to] = c < width / 2 ? Math.min(a, b) : Math.max(a, b);
        }
  return next;
}
