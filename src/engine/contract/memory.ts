/** Layout of the memory that all threads share: WebAssembly constants, worker indices, arenas, brick cache. */
import type { WasmMemory } from "../../kernels/simd/index.js";
import { type CacheLayout, cacheLayout } from "../../storage/bricks/directory.js";
import { MAX_BRICKS, MAX_NODES } from "../../storage/dataset/dataset.js";

const PAGE = 65_536;
const LARGEST = 65_536 * PAGE;

/** Largest number of points of a batch. It sizes the arenas; a batch is sorted again in each of its time slices. */
export const BATCH_POINTS = 32_768;
/** Grid nodes over all axes, for the key tables of the sort. */
export const MAX_AXIS_NODES = 3 * MAX_NODES;
/** Largest number of float64 values in the result of a group. */
export const GROUP_VALUES = 393_216;
/** Largest number of frames whose bricks are at hand at a time. */
export const MAX_FRAMES = 4;
/** The part of the cache that one worker may pin if its own share cannot hold a stencil in all frames of a time. */
export const PINNED_PART = 0.9;
/** Bytes handed to the SIMD module of each worker. */
export const SIMD_SCRATCH = 3 * 1024 * 1024;

const ARENA_BYTES =
  2 * 24 * BATCH_POINTS +
  2 * 8 * BATCH_POINTS +
  8 * GROUP_VALUES +
  2 * (4 * MAX_FRAMES + 1 + 4) * MAX_BRICKS +
  4 * MAX_AXIS_NODES +
  SIMD_SCRATCH +
  PAGE;

export interface MemoryLayout {
  readonly bytes: number;
  readonly workers: number;
  /** One Int32 per worker: the id of the thread with that index, or 0. The first page is left to the SIMD module. */
  readonly threadIds: number;
  /** The index, with an arena and pins, of the thread that serves requests; `threadIds` has no word for it. */
  readonly inlineIndex: number;
  readonly arenas: number;
  readonly arenaBytes: number;
  readonly cache: CacheLayout;
}

/** Plans the memory; a cache that exceeds the addresses of WebAssembly is made smaller. */
export function memoryLayout(workers: number, cacheBytes: number): MemoryLayout {
  const arenas = 2 * PAGE;
  const arenaBytes = Math.ceil(ARENA_BYTES / PAGE) * PAGE;
  const base = arenas + (workers + 1) * arenaBytes;
  let bytes = cacheBytes;
  let cache = cacheLayout(base, bytes, workers + 1);
  while (cache.end > LARGEST) {
    bytes -= cache.end - LARGEST;
    cache = cacheLayout(base, bytes, workers + 1);
  }
  bytes = Math.ceil(cache.end / PAGE) * PAGE;
  return { bytes, workers, threadIds: PAGE, inlineIndex: workers, arenas, arenaBytes, cache };
}

/** Allocates typed arrays in a worker's part of the memory; nothing is given back. */
export class Arena {
  readonly #buffer: ArrayBufferLike;
  readonly #end: number;
  #next: number;

  constructor(buffer: ArrayBufferLike, first: number, bytes: number) {
    this.#buffer = buffer;
    this.#next = first;
    this.#end = first + bytes;
  }

  float64(length: number): Float64Array {
    return new Float64Array(this.#buffer, this.take(length * 8), length);
  }

  int32(length: number): Int32Array {
    return new Int32Array(this.#buffer, this.take(length * 4), length);
  }

  uint32(length: number): Uint32Array {
    return new Uint32Array(this.#buffer, this.take(length * 4), length);
  }

  uint8(length: number): Uint8Array {
    return new Uint8Array(this.#buffer, this.take(length), length);
  }

  /** Allocates bytes, aligned to 16, and returns the index of the first. */
  take(bytes: number): number {
    const first = this.#next;
    this.#next += Math.ceil(bytes / 16) * 16;
    if (this.#next > this.#end) throw new Error("the arena is too small for its plan");
    return first;
  }
}

export interface WorkerSetup {
  /** Digest of the entry of worker threads at the start; in a bundle it names all files by their contents. */
  readonly build: string;
  readonly memory: WasmMemory;
  readonly layout: MemoryLayout;
  readonly chunkBytes: number;
  readonly fd8Legacy: boolean;
  /** Word 0 is 1 while tasks of several queries compete for the threads. */
  readonly contended: Int32Array;
  /** Per worker index: the id of the thread once it has loaded, so that it may be terminated. */
  readonly loaded: Int32Array;
  /** Per worker index: the ticket of the task that the thread runs, or ran when it died; else 0. */
  readonly tickets: Int32Array;
}
