/**
 * Levels of one frame of a quantity, from boxes of its nodes that come in Morton order: means of all levels, extrema
 * of cubes of 8^3 nodes and more, and a histogram. It holds a chunk a level, the extrema of 8^3, and sums of 64^3.
 */
import type { Triple } from "../dataset/dataset.js";
import { cubesOf, shapeOf, sumsOver } from "./level-axes.js";

/** Nodes of a box along each axis: a cube of this level. */
const BOX_LEVEL = 6;
const BOX_EDGE = 2 ** BOX_LEVEL;
/** Cubes of a chunk along each axis: a box fills one of level 1. */
const CHUNK_LEVEL = 5;
export const CHUNK_EDGE = 2 ** CHUNK_LEVEL;
/** The level that has extrema, and nodes of its cubes along each axis. */
export const EXTREMA_LEVEL = 3;
const EDGE = 2 ** EXTREMA_LEVEL;
/** Bins of a histogram: [first + i, first + i + 1) times a power of two, the smallest that holds all values. */
export const BINS = 4096;
const LEAST_EXPONENT = -149;

/** Grid of a frame. */
export interface FrameGrid {
  readonly nodes: Triple;
  readonly periodic: readonly boolean[];
  /** Weights of nodes along x, y, z. */
  readonly widths: readonly [Float64Array, Float64Array, Float64Array];
  /** The coarsest level. */
  readonly levels: number;
}

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

/** Extrema of cubes, [z][y][x][minima of the components, then maxima]; no value: infinity, then minus infinity. */
export interface LevelExtrema {
  readonly size: Triple;
  readonly values: Float32Array;
}

export const product = ([x, y, z]: Triple): number => x * y * z;

/** Cubes of a chunk of a level along x, y, z. */
export const chunkOf = (size: Triple): Triple => size.map((n) => Math.min(n, CHUNK_EDGE)) as unknown as Triple;

/** Boxes of 64^3 nodes in Morton order, so that chunks become whole one after another. */
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

/** Weighted sums of cubes, [z][y][x][component], and the weights and numbers of missing values, null if none is. */
interface CubeSums {
  readonly size: Triple;
  readonly sum: Float64Array;
  readonly lost: { readonly weight: Float64Array; readonly nodes: Float64Array } | null;
}

function noSums(size: Triple, n: number, isHoled: boolean): CubeSums {
  const zeros = () => new Float64Array(n * product(size));
  return { size, sum: zeros(), lost: isHoled ? { weight: zeros(), nodes: zeros() } : null };
}

/** Adds the cubes of a level to those of the next one. */
function halved({ size, sum, lost }: CubeSums, n: number): CubeSums {
  const half = noSums(shapeOf(size, 1), n, lost !== null);
  const [nx, ny, nz] = size;
  const [hx, hy] = half.size;
  const add = (from: Float64Array, to: Float64Array): void => {
    for (let z = 0, i = 0; z < nz; z++)
      for (let y = 0; y < ny; y++)
        for (let x = 0, row = ((z >> 1) * hy + (y >> 1)) * hx; x < nx; x++)
          for (let c = 0, at = n * (row + (x >> 1)); c < n; c++) to[at++] += from[i++];
  };
  add(sum, half.sum);
  if (lost !== null && half.lost !== null) {
    add(lost.weight, half.lost.weight);
    add(lost.nodes, half.lost.nodes);
  }
  return half;
}

function hasMissing(sums: Float64Array): boolean {
  for (let i = 0; i < sums.length; i++) if (Number.isNaN(sums[i])) return true;
  return false;
}

/** A histogram that grows: bin i is at (base + i) 2^exponent. */
interface Bins {
  exponent: number;
  base: number;
  least: number;
  most: number;
  weights: Float64Array;
}

/** Makes room in a histogram for the values between two finite numbers. */
function widen(bins: Bins, low: number, high: number): void {
  if (low >= bins.least && high <= bins.most) return;
  bins.least = Math.min(bins.least, low);
  bins.most = Math.max(bins.most, high);
  let { exponent } = bins;
  const binAt = (value: number): number => Math.floor(value * 2 ** -exponent);
  // Numbers of bins stay whole numbers of float64.
  const isFine = (): boolean => Math.max(Math.abs(binAt(bins.least)), Math.abs(binAt(bins.most))) > 2 ** 48;
  while (binAt(bins.most) - binAt(bins.least) >= BINS || isFine()) exponent++;
  const base = binAt(bins.least);
  const scale = 2 ** (bins.exponent - exponent);
  if (exponent === bins.exponent && base === bins.base) return;
  const weights = new Float64Array(BINS);
  for (let i = 0; i < BINS; i++)
    if (bins.weights[i] !== 0) weights[Math.floor((bins.base + i) * scale) - base] += bins.weights[i];
  Object.assign(bins, { exponent, base, weights });
}

/** Collects a frame of a quantity. */
export class FrameLevels {
  readonly #grid: FrameGrid;
  readonly #components: number;
  readonly #whole: (chunk: LevelChunk) => void;
  /** Weights and numbers of nodes of the cubes along x, y, z, by level. */
  readonly #weights: readonly (readonly Float64Array[])[];
  readonly #counts: readonly (readonly Float64Array[])[];
  readonly #open = new Map<string, LevelChunk & { left: number }>();
  /** Cubes of the size of a box, for the levels beyond; null if there are none. */
  readonly #beyond: CubeSums | null;
  readonly #extrema: LevelExtrema;
  readonly #bins: readonly Bins[];
  /** Rows of a box: sums, minima and maxima. */
  readonly #row: Float64Array;
  readonly #low: Float64Array;
  readonly #high: Float64Array;

  /** @param whole takes a chunk as soon as all of its cubes are there */
  constructor(grid: FrameGrid, components: number, whole: (chunk: LevelChunk) => void) {
    const { nodes, widths, levels } = grid;
    this.#grid = grid;
    this.#components = components;
    this.#whole = whole;
    const all = Array.from({ length: levels + 1 }, (_, k) => k);
    this.#weights = all.map((k) => widths.map((one) => sumsOver(one, k)));
    this.#counts = all.map((k) => widths.map((one) => sumsOver(new Float64Array(one.length).fill(1), k)));
    this.#beyond = levels > BOX_LEVEL ? noSums(shapeOf(nodes, BOX_LEVEL), components, true) : null;
    const size = shapeOf(nodes, EXTREMA_LEVEL);
    this.#extrema = { size, values: new Float32Array(2 * components * product(size)) };
    for (const at of this.#extrema.values.keys())
      this.#extrema.values[at] =
        at % (2 * components) < components ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
    this.#bins = Array.from({ length: components }, () => {
      const [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
      return { exponent: LEAST_EXPONENT, base: 0, least, most, weights: new Float64Array(BINS) };
    });
    const row = BOX_EDGE * components;
    this.#row = new Float64Array(row);
    [this.#low, this.#high] = [new Float64Array(4 * row), new Float64Array(4 * row)];
  }

  /** Adds a box of `boxesOf`, in its order. @param values [z][y][x][component] */
  add(first: Triple, count: Triple, values: Float32Array): void {
    const n = this.#components;
    for (let z = 0; z < count[2]; z += EDGE)
      for (let y = 0; y < count[1]; y += EDGE) this.#addRows(first, count, values, y, z);
    const widths = this.#widthsFrom(first);
    let sums: CubeSums = { size: shapeOf(count, 1), sum: this.#sumsOf(count, values, widths), lost: null };
    if (hasMissing(sums.sum)) {
      const known = values.map((v) => (Number.isNaN(v) ? 0 : v));
      const missing = values.map((v) => (Number.isNaN(v) ? 1 : 0));
      const ones = widths.map((one) => new Float64Array(one.length).fill(1)) as unknown as typeof widths;
      const lost = { weight: this.#sumsOf(count, missing, widths), nodes: this.#sumsOf(count, missing, ones) };
      sums = { size: sums.size, sum: this.#sumsOf(count, known, widths), lost };
    }
    for (let k = 1; k <= Math.min(BOX_LEVEL, this.#grid.levels); k++) {
      if (k > 1) sums = halved(sums, n);
      const cube = first.map((v) => v >> k) as unknown as Triple;
      this.#putMeans(k, cube, sums);
      const chunk = this.#chunk(k, cube[0], cube[1], cube[2]);
      if (--chunk.left === 0) this.#end(chunk);
    }
    if (this.#beyond === null) return;
    const { size, sum, lost } = this.#beyond;
    const at = n * (((first[2] >> BOX_LEVEL) * size[1] + (first[1] >> BOX_LEVEL)) * size[0] + (first[0] >> BOX_LEVEL));
    sum.set(sums.sum, at);
    if (sums.lost === null) return;
    lost?.weight.set(sums.lost.weight, at);
    lost?.nodes.set(sums.lost.nodes, at);
  }

  /** Ends the frame after its last box. */
  finish(): { readonly extrema: LevelExtrema; readonly histograms: readonly Histogram[] } {
    const { levels } = this.#grid;
    for (let k = BOX_LEVEL + 1, sums = this.#beyond; sums !== null && k <= levels; k++) {
      sums = halved(sums, this.#components);
      this.#putMeans(k, [0, 0, 0], sums);
    }
    for (const chunk of this.#open.values()) this.#end(chunk);
    const histograms = this.#bins.map(({ exponent, base, least, most, weights }): Histogram => {
      const width = least > most ? Number.NaN : 2 ** exponent;
      return { edges: [base * width, width], weights };
    });
    return { extrema: this.#extrema, histograms };
  }

  #widthsFrom(first: Triple): [Float64Array, Float64Array, Float64Array] {
    return this.#grid.widths.map((one, a) => one.subarray(first[a])) as [Float64Array, Float64Array, Float64Array];
  }

  /** Sums over the cubes of level 1 of a box, four rows at a time. */
  #sumsOf(count: Triple, values: Float32Array, [wx, wy, wz]: FrameGrid["widths"]): Float64Array {
    const [nx, ny, nz] = count;
    const n = this.#components;
    const sum = new Float64Array(n * product(shapeOf(count, 1)));
    const length = n * nx;
    const row = this.#row;
    let to = 0;
    for (let z = 0; z < nz; z += 2)
      for (let y = 0; y < ny; y += 2) {
        // A row beyond the grid is one of weight 0.
        const [y1, z1] = [Math.min(y + 1, ny - 1), Math.min(z + 1, nz - 1)];
        const [v, v1] = [y1 > y ? wy[y1] : 0, z1 > z ? wz[z1] : 0];
        const [a, b] = [length * (z * ny + y), length * (z * ny + y1)];
        const [c, d] = [length * (z1 * ny + y), length * (z1 * ny + y1)];
        const [wa, wb, wc, wd] = [wz[z] * wy[y], wz[z] * v, v1 * wy[y], v1 * v];
        for (let i = 0; i < length; i++)
          row[i] = wa * values[a + i] + wb * values[b + i] + (wc * values[c + i] + wd * values[d + i]);
        for (let x = 0, i = 0; x < nx; x += 2, i += n)
          for (const end = i + n; i < end; i++)
            sum[to++] = x + 1 < nx ? wx[x] * row[i] + wx[x + 1] * row[i + n] : wx[x] * row[i];
      }
    return sum;
  }

  /** Puts means at their places in chunks. @param first number of the first cube */
  #putMeans(k: number, first: Triple, { size, sum, lost }: CubeSums): void {
    const [wx, wy, wz] = this.#weights[k] as [Float64Array, Float64Array, Float64Array];
    const [cx, cy, cz] = this.#counts[k] as [Float64Array, Float64Array, Float64Array];
    const n = this.#components;
    const [width, height] = chunkOf(shapeOf(this.#grid.nodes, k));
    for (let z = 0, i = 0; z < size[2]; z++)
      for (let y = 0; y < size[1]; y++) {
        const [gy, gz] = [first[1] + y, first[2] + z];
        const [weights, nodes] = [wy[gy] * wz[gz], cy[gy] * cz[gz]];
        for (let x = 0; x < size[0]; ) {
          let gx = first[0] + x;
          const { values } = this.#chunk(k, gx, gy, gz);
          let to = n * (((gz % CHUNK_EDGE) * height + (gy % CHUNK_EDGE)) * width + (gx % CHUNK_EDGE));
          const end = Math.min(size[0], x + CHUNK_EDGE - (gx % CHUNK_EDGE));
          for (; x < end; x++, gx++)
            for (let c = 0; c < n; c++, i++) {
              const isKnown = lost === null || 2 * lost.nodes[i] <= nodes * cx[gx];
              const weight = weights * wx[gx] - (lost === null ? 0 : lost.weight[i]);
              values[to++] = isKnown ? sum[i] / weight : Number.NaN;
            }
        }
      }
  }

  /** The chunk of a cube. */
  #chunk(level: number, x: number, y: number, z: number): LevelChunk & { left: number } {
    const at = [x >> CHUNK_LEVEL, y >> CHUNK_LEVEL, z >> CHUNK_LEVEL] as const;
    const key = `${level} ${at[0]} ${at[1]} ${at[2]}`;
    const known = this.#open.get(key);
    if (known !== undefined) return known;
    const size = shapeOf(this.#grid.nodes, level);
    // Boxes that fill it; levels beyond a box are filled at the end.
    const left = size.map((n, a) => cubesOf(Math.min(CHUNK_EDGE, n - CHUNK_EDGE * at[a]), BOX_LEVEL - level));
    const values = new Float32Array(product(chunkOf(size)) * this.#components).fill(Number.NaN);
    const made = { level, at, left: product(left as unknown as Triple), values };
    this.#open.set(key, made);
    return made;
  }

  #end({ level, at, values }: LevelChunk): void {
    this.#open.delete(`${level} ${at[0]} ${at[1]} ${at[2]}`);
    this.#whole({ level, at, values });
  }

  /** Adds the rows of a cube of 8^3 along y and z to the extrema, also of the cubes before, and to the histograms. */
  #addRows(first: Triple, count: Triple, values: Float32Array, y0: number, z0: number): void {
    const n = this.#components;
    const [nx, ny, nz] = count;
    const length = n * nx;
    const [low, high] = [this.#low.fill(Number.POSITIVE_INFINITY), this.#high.fill(Number.NEGATIVE_INFINITY)];
    const [yEnd, zEnd] = [Math.min(ny, y0 + EDGE), Math.min(nz, z0 + EDGE)];
    for (let z = z0; z < zEnd; z++)
      for (let y = y0; y < yEnd; y++) {
        // Rows inside, rows of the first y, of the first z, and the one of both.
        const to = length * ((y === y0 ? 1 : 0) + (z === z0 ? 2 : 0));
        for (let i = to, at = length * (z * ny + y), end = to + length; i < end; i++, at++) {
          const v = values[at];
          if (v < low[i]) low[i] = v;
          if (v > high[i]) high[i] = v;
        }
      }
    for (let c = 0; c < n; c++) {
      let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
      for (let i = c; i < 4 * length; i += n) {
        if (low[i] < least) least = low[i];
        if (high[i] > most) most = high[i];
      }
      if (least > most) continue;
      this.#mergeRows(first, count, y0, z0, c);
      const bins = this.#bins[c];
      if (least - most - (least - most) === 0) widen(bins, least, most);
      else widenByAll(bins, values.subarray(length * z0 * ny, length * zEnd * ny), n, c);
      const { base, weights } = bins;
      const scale = 2 ** -bins.exponent;
      const [wx, wy, wz] = this.#widthsFrom(first);
      for (let z = z0; z < zEnd; z++)
        for (let y = y0; y < yEnd; y++) {
          const w = wz[z] * wy[y];
          for (let x = 0, at = length * (z * ny + y) + c; x < nx; x++, at += n) {
            const v = values[at];
            if (v - v === 0) weights[(Math.floor(v * scale) - base) | 0] += w * wx[x];
          }
        }
    }
  }

  /** Adds the extrema along x of rows to their cubes, and to those before that share a layer with them. */
  #mergeRows(first: Triple, count: Triple, y: number, z: number, c: number): void {
    const n = this.#components;
    const length = n * count[0];
    for (let group = 0; group < 4; group++)
      for (let x = 0; x < count[0]; x += EDGE) {
        const from = group * length + n * x + c;
        const end = Math.min(from + n * EDGE, (group + 1) * length);
        let [least, most] = [this.#low[from], this.#high[from]];
        this.#merge(first, [x, y, z], group | 4, c, least, most);
        for (let i = from + n; i < end; i += n) {
          if (this.#low[i] < least) least = this.#low[i];
          if (this.#high[i] > most) most = this.#high[i];
        }
        this.#merge(first, [x, y, z], group, c, least, most);
      }
  }

  /** Adds extrema to a cube. @param shared bit 0, 1, 2: the cube before along y, z, x has them too */
  #merge(first: Triple, node: Triple, shared: number, c: number, least: number, most: number): void {
    const n = this.#components;
    const { size, values } = this.#extrema;
    for (let before = shared; ; before = (before - 1) & shared) {
      let to = 0;
      for (let a = 2; a >= 0; a--) {
        const own = (first[a] + node[a]) >> EXTREMA_LEVEL;
        const at = own - ((before >> SHARED_BIT[a]) & 1);
        // Over an end that is none of a period there is no cube.
        if (at < 0 && !this.#grid.periodic[a]) to = Number.NaN;
        to = to * size[a] + (at < 0 ? size[a] - 1 : at);
      }
      to = 2 * n * to + c;
      if (least < values[to]) values[to] = least;
      if (most > values[to + n]) values[to + n] = most;
      if (before === 0) return;
    }
  }
}

const SHARED_BIT = [2, 0, 1];

/** Makes room for the finite ones among values. */
function widenByAll(bins: Bins, values: Float32Array, n: number, c: number): void {
  for (let at = c; at < values.length; at += n) if (values[at] - values[at] === 0) widen(bins, values[at], values[at]);
}
