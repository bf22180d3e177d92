/** Fields and points to measure kernels with, in a memory shared with the SIMD module. */
import { readFileSync } from "node:fs";
import { type SortTables, sortByBrick, sortTables } from "../dist/kernels/brick-order.js";
import type { Accelerator } from "../dist/kernels/index.js";
import { createSharedMemory, instantiateSimd, SCRATCH_BYTES, type WasmMemory } from "../dist/kernels/simd/index.js";
import type { Axes, BrickField, Scheme, Triple } from "../dist/kernels/types.js";

const MODULE = new URL("../dist/kernels/simd/kernels.wasm", import.meta.url);

/** Numbers in 0 .. 1 from a seed (Marsaglia's xorshift). */
export function randomNumbers(seed: number): () => number {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** Arrays handed out of one shared memory, a cache line aligned. */
export class Arena {
  readonly memory: WasmMemory;
  #end = 0;

  constructor(bytes: number) {
    this.memory = createSharedMemory(bytes);
  }

  #take(bytes: number): number {
    const offset = this.#end;
    this.#end += Math.ceil(bytes / 64) * 64;
    return offset;
  }

  float64(length: number): Float64Array {
    return new Float64Array(this.memory.buffer, this.#take(8 * length), length);
  }

  float32(length: number): Float32Array {
    return new Float32Array(this.memory.buffer, this.#take(4 * length), length);
  }

  int32(length: number): Int32Array {
    return new Int32Array(this.memory.buffer, this.#take(4 * length), length);
  }

  uint32(length: number): Uint32Array {
    return new Uint32Array(this.memory.buffer, this.#take(4 * length), length);
  }

  uint8(length: number): Uint8Array {
    return new Uint8Array(this.memory.buffer, this.#take(length), length);
  }

  accelerator(): Accelerator {
    return instantiateSimd(readFileSync(MODULE), this.memory, {
      offset: this.#take(SCRATCH_BYTES),
      bytes: SCRATCH_BYTES,
    });
  }
}

/** A periodic cube of `nodes` nodes an axis and length 2 pi. */
export function cubeAxes(nodes: number): Axes {
  const axis = { nodes, origin: 0, spacing: (2 * Math.PI) / nodes, periodic: true, coordinates: null };
  return [axis, axis, axis];
}

/** Node values of a smooth flow of a few modes: component c of node (i, j, k). */
export function smoothFlow(nodes: number): (i: number, j: number, k: number, c: number) => number {
  const wave = (n: number) =>
    Float32Array.from({ length: nodes }, (_, i) => Math.sin((2 * Math.PI * n * i) / nodes + n));
  const [one, two, three] = [wave(1), wave(2), wave(3)];
  const at = (table: Float32Array | undefined, i: number) => table?.[i] ?? 0;
  return (i, j, k, c) => {
    if (c === 0) return at(one, i) * at(two, j) + at(three, k);
    if (c === 1) return at(two, j) * at(one, k) - at(three, i);
    if (c === 2) return at(one, k) * at(two, i) + 0.5 * at(three, j);
    return at(one, i) * at(one, j) * at(two, k);
  };
}

/** A cube of the smooth flow in bricks; a field of one component is its pressure. */
export function brickCube(arena: Arena, nodes: number, edge: number, components: 1 | 3): BrickField {
  const bricks = Math.ceil(nodes / edge);
  const size = edge ** 3 * components;
  const value = smoothFlow(nodes);
  const values = arena.float32(bricks ** 3 * size);
  const table = arena.int32(bricks ** 3);
  for (let b = 0; b < table.length; b++) table[b] = values.byteOffset / 4 + b * size;
  for (let k = 0; k < nodes; k++) {
    for (let j = 0; j < nodes; j++) {
      for (let i = 0; i < nodes; i++) {
        const [x, y, z] = [Math.floor(i / edge), Math.floor(j / edge), Math.floor(k / edge)];
        const node = ((k - z * edge) * edge + (j - y * edge)) * edge + (i - x * edge);
        const at = ((z * bricks + y) * bricks + x) * size + node * components;
        for (let c = 0; c < components; c++) values[at + c] = value(i, j, k, components === 1 ? 3 : c);
      }
    }
  }
  const triple = (n: number): Triple => [n, n, n];
  const data = new Float32Array(arena.memory.buffer);
  return { components, bricking: { edge: triple(edge), count: triple(bricks) }, data, table };
}

/** Random positions in the cube, such as float32 input gives. */
export function randomPositions(arena: Arena, count: number, seed: number): Float64Array {
  const random = randomNumbers(seed);
  const positions = arena.float64(3 * count);
  for (let i = 0; i < positions.length; i++) positions[i] = Math.fround(2 * Math.PI * random());
  return positions;
}

/** A sort of points by the bricks of a field. */
export interface Sorter {
  /** Puts the first `count` positions, sorted, into `sorted` and returns which point each of them is. */
  sort(count: number, positions: Float64Array, sorted: Float64Array): Uint32Array;
}

/** A sort of up to `most` points. */
export function createSorter(arena: Arena, axes: Axes, { bricking }: BrickField, most: number): Sorter {
  const plain = sortTables(axes, bricking);
  const place = (table: Uint32Array) => {
    const placed = arena.uint32(table.length);
    placed.set(table);
    return placed;
  };
  const tables: SortTables = { x: place(plain.x), y: place(plain.y), z: place(plain.z) };
  const keys = arena.uint32(2 * most);
  const order = arena.uint32(2 * most);
  return {
    sort(count, positions, sorted) {
      sortByBrick(axes, tables, positions, count, keys, order, sorted);
      return order;
    },
  };
}

/** Answers batches as a worker does: sort, evaluate, return to the order of the caller as float32. */
export function createBatch(
  scheme: Scheme,
  field: BrickField,
  sorter: Sorter,
  sorted: Float64Array,
  out: Float64Array,
) {
  const answer = new Float32Array(sorted.length);
  return (count: number, positions: Float64Array): Float32Array => {
    const order = sorter.sort(count, positions, sorted);
    scheme.evaluate([field], sorted, 0, count, out);
    for (let i = 0; i < count; i++) {
      const to = 3 * (order[i] as number);
      for (let c = 0; c < 3; c++) answer[to + c] = out[3 * i + c] as number;
    }
    return answer;
  };
}
