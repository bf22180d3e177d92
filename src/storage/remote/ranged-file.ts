/** Remote file read by ranges through the store thread; its metadata are cached in blocks. */
import { ReadMemory } from "../../shared/read-memory.js";
import type { ByteRange, RangedFile } from "../hdf5-bytes/bytes.js";
import { FILE_BLOCK_BYTES, type FileState, type RangeRequest } from "./protocol.js";
import { type OpenOptions, StoreClient } from "./store-client.js";

const CACHED_BLOCKS = 256;

/** Thrown when a block has not arrived yet, after recording it. */
class NotArrived extends Error {}

export class RemoteFile implements RangedFile {
  readonly path: string;
  readonly #state: FileState;
  readonly #client = StoreClient.ofThread();
  readonly #blocks = new Map<number, Uint8Array>();
  /** Ranges fetched for the current read, in order of position. */
  #ranges: readonly (ByteRange & { readonly bytes: Uint8Array })[] = [];
  #missing: Set<number> | null = null;

  constructor(path: string, { newestMs, named, timeoutMs }: OpenOptions = {}) {
    this.path = path;
    this.#state = this.#client.ask({ kind: "file", store: path, newestMs, named }, timeoutMs);
  }

  get size(): number {
    return this.#state.size;
  }

  get newestMs(): number {
    return this.#state.newestMs;
  }

  get version(): string {
    return this.#state.digest;
  }

  read(bytes: Uint8Array, position: number): number {
    const length = Math.min(bytes.length, Math.max(0, this.size - position));
    if (length === 0) return 0;
    const range = this.#rangeAround(position, length);
    if (range !== null) {
      const at = position - range.position;
      bytes.set(range.bytes.subarray(at, at + length));
      return length;
    }
    const [first, last] = [
      Math.floor(position / FILE_BLOCK_BYTES),
      Math.floor((position + length - 1) / FILE_BLOCK_BYTES),
    ];
    // Metadata are small: a read of more blocks than are cached is one of values, which need not be cached.
    if (last - first >= CACHED_BLOCKS) {
      const [values] = this.#fetch([this.#request({ position, length }, false)], false) as [Uint8Array];
      bytes.set(values);
      ReadMemory.ofThread().giveBack(values);
      return length;
    }
    this.#load(first, last);
    for (let number = first; number <= last; number++) {
      const block = this.#blocks.get(number) as Uint8Array;
      const start = number * FILE_BLOCK_BYTES;
      const from = Math.max(position, start);
      const to = Math.min(position + length, start + block.length);
      bytes.set(block.subarray(from - start, to - start), from - position);
    }
    return length;
  }

  #rangeAround(position: number, length: number): (ByteRange & { readonly bytes: Uint8Array }) | null {
    let [low, high] = [0, this.#ranges.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ranges[middle] as ByteRange).position <= position) low = middle + 1;
      else high = middle;
    }
    const range = this.#ranges[low - 1];
    return range !== undefined && position + length <= range.position + range.length ? range : null;
  }

  #load(first: number, last: number): void {
    const absent: number[] = [];
    for (let number = first; number <= last; number++) {
      const block = this.#blocks.get(number);
      if (block === undefined) absent.push(number);
      else {
        this.#blocks.delete(number);
        this.#blocks.set(number, block);
      }
    }
    if (absent.length === 0) return;
    const blocks = this.#fetch(
      absent.map((number) => this.#blockAt(number)),
      this.#missing !== null,
    );
    if (blocks === null) {
      for (const number of absent) this.#missing?.add(number);
      throw new NotArrived();
    }
    for (const [index, block] of blocks.entries()) this.#blocks.set(absent[index], block);
    for (const oldest of this.#blocks.keys()) {
      if (this.#blocks.size <= CACHED_BLOCKS) break;
      if (oldest < first || oldest > last) this.#blocks.delete(oldest);
    }
  }

  #fetch(ranges: readonly RangeRequest[], onlyIfArrived: boolean): readonly Uint8Array[] | null {
    return this.#client.ask({ kind: "bytes", store: this.path, ranges, ifThere: onlyIfArrived });
  }

  #request({ position, length }: ByteRange, isBlock: boolean): RangeRequest {
    const inside = Math.min(length, Math.max(0, this.size - position));
    return { store: this.path, newestMs: this.newestMs, position, length: inside, isBlock };
  }

  #blockAt(number: number): RangeRequest {
    return this.#request({ position: number * FILE_BLOCK_BYTES, length: FILE_BLOCK_BYTES }, true);
  }

  /** Runs `use` with these ranges fetched together. */
  withRanges<T>(ranges: readonly ByteRange[], use: () => T): T {
    const wanted = ranges.map((range) => this.#request(range, false)).filter(({ length }) => length > 0);
    const bytes = wanted.length === 0 ? [] : (this.#fetch(wanted, false) as readonly Uint8Array[]);
    const before = this.#ranges;
    this.#ranges = wanted
      .map(({ position, length }, index) => ({ position, length, bytes: bytes[index] }))
      .sort((a, b) => a.position - b.position);
    try {
      return use();
    } finally {
      this.#ranges = before;
      for (const range of bytes) ReadMemory.ofThread().giveBack(range);
    }
  }

  /**
   * Has ranges fetched; each function finds some, by reading metadata that may not have arrived.
   * @returns for each function, whether all its ranges have arrived or are known to fail
   */
  prefetch(find: readonly (() => readonly ByteRange[])[]): readonly boolean[] {
    const missing = new Set<number>();
    const reads: RangeRequest[] = [];
    /** For each function, its first range and the one after its last; null if blocks are missing. */
    const found: ([first: number, end: number] | null)[] = [];
    this.#missing = missing;
    try {
      for (const ranges of find) {
        const first = reads.length;
        try {
          reads.push(...ranges().map((range) => this.#request(range, false)));
          found.push([first, reads.length]);
        } catch (error) {
          found.push(error instanceof NotArrived ? null : [first, first]);
        }
      }
    } finally {
      this.#missing = null;
    }
    reads.push(...[...missing].map((number) => this.#blockAt(number)));
    const ready = this.#client.ask({ kind: "ready", store: this.path, reads });
    return found.map((span) => span !== null && ready.slice(...span).every(Boolean));
  }
}
