/**
 * Pool of blocks of shared memory: fresh memory costs more than the work done in it, and large blocks that the C
 * library frees among small ones leave gaps that the system does not get back.
 */

/** Blocks begin at multiples of this many bytes, and take as many: pages of memory. */
const GRAIN = 4096;
/** Least growth of a memory, in bytes. */
const MIN_GROWTH = 1024 * 1024;
/** Addresses reserved for a memory, which cost nothing until used: as many as Node 20 allows. The bound of a block. */
export const MAX_BYTES = 4 * 1024 ** 3;

/** Shared memory that grows, as ES2024 declares it. */
interface SharedGrowing extends SharedArrayBuffer {
  grow(bytes: number): void;
}
type NewMemory = new (bytes: number, options: { readonly maxByteLength: number }) => SharedGrowing;

/** Bytes in a row that are not lent. */
interface Gap {
  at: number;
  bytes: number;
}

/** Lends blocks, which still hold their previous contents. */
export class BufferPool {
  /** One, unless more is lent than a memory may have. */
  readonly #memories: SharedMemory[] = [];
  #lentBytes = 0;

  get lentBytes(): number {
    return this.#lentBytes;
  }

  get bytes(): number {
    return this.#memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
  }

  /** Lends a block. Throws RangeError when the system gives no more memory. */
  lend(bytes: number): Uint8Array<SharedArrayBuffer> {
    const size = GRAIN * Math.ceil(Math.max(1, bytes) / GRAIN);
    let [block = null, memory] = [null as Uint8Array<SharedArrayBuffer> | null, 0];
    while (block === null) {
      if (memory === this.#memories.length) this.#memories.push(new SharedMemory());
      block = this.#memories[memory++].lend(size);
    }
    this.#lentBytes += size;
    return block.subarray(0, bytes);
  }

  floats(count: number): Float32Array<SharedArrayBuffer> {
    const { buffer, byteOffset } = this.lend(4 * count);
    return new Float32Array(buffer, byteOffset, count);
  }

  /** The same for numbers of eight bytes. */
  doubles(count: number): Float64Array<SharedArrayBuffer> {
    const { buffer, byteOffset } = this.lend(8 * count);
    return new Float64Array(buffer, byteOffset, count);
  }

  /** Takes a block back, by an array that begins where it does. It must no longer be read. */
  giveBack({ buffer, byteOffset }: Pick<ArrayBufferView, "buffer" | "byteOffset">): void {
    const bytes = this.#memories.find((memory) => memory.buffer === buffer)?.takeBack(byteOffset) ?? 0;
    if (bytes === 0) throw new Error("A block was given back that is not lent.");
    this.#lentBytes -= bytes;
  }
}

/** A memory that grows, from whose lowest addresses blocks are lent. */
class SharedMemory {
  readonly buffer = new (SharedArrayBuffer as unknown as NewMemory)(0, { maxByteLength: MAX_BYTES });
  /** Gaps by address; no two adjoin. */
  readonly #gaps: Gap[] = [];
  /** The number of grains of each block that is lent, by the grain at which it begins. */
  #lent = new Uint32Array(256);

  /** Lends whole grains; null if other blocks leave no room. Throws RangeError if there would never be any. */
  lend(bytes: number): Uint8Array<SharedArrayBuffer> | null {
    const at = this.#fill(bytes) ?? this.#grow(bytes);
    if (at === null) return null;
    this.#note(at / GRAIN, bytes / GRAIN);
    return new Uint8Array(this.buffer, at, bytes);
  }

  takeBack(at: number): number {
    const grain = at / GRAIN;
    const bytes = GRAIN * (this.#lent[grain] ?? 0);
    this.#lent[grain] = 0;
    if (bytes > 0) this.#free(at, bytes);
    return bytes;
  }

  /** Takes bytes from the first gap that has as many; null if there is none. */
  #fill(bytes: number): number | null {
    const index = this.#gaps.findIndex((gap) => gap.bytes >= bytes);
    const gap = this.#gaps[index];
    if (gap === undefined) return null;
    const { at } = gap;
    gap.at += bytes;
    gap.bytes -= bytes;
    if (gap.bytes === 0) this.#gaps.splice(index, 1);
    return at;
  }

  /** Takes bytes at the end of the memory, which grows; null if it may not grow so far. */
  #grow(bytes: number): number | null {
    const end = this.buffer.byteLength;
    const last = this.#gaps.at(-1);
    const at = last !== undefined && last.at + last.bytes === end ? last.at : end;
    if (at > 0 && at + bytes > MAX_BYTES) return null;
    this.buffer.grow(Math.max(at + bytes, Math.min(MAX_BYTES, end + MIN_GROWTH)));
    this.#free(end, this.buffer.byteLength - end);
    return this.#fill(bytes);
  }

  /** Adds a gap, or joins it to its neighbours. */
  #free(at: number, bytes: number): void {
    let low = 0;
    for (let high = this.#gaps.length; low < high; ) {
      const middle = (low + high) >> 1;
      if ((this.#gaps[middle] as Gap).at < at) low = middle + 1;
      else high = middle;
    }
    const [before, after] = [this.#gaps[low - 1], this.#gaps[low]];
    const follows = before !== undefined && before.at + before.bytes === at;
    const precedes = after !== undefined && at + bytes === after.at;
    if (follows) before.bytes += bytes;
    if (follows && precedes) {
      before.bytes += after.bytes;
      this.#gaps.splice(low, 1);
    } else if (precedes) {
      after.at = at;
      after.bytes += bytes;
    } else if (!follows) this.#gaps.splice(low, 0, { at, bytes });
  }

  #note(grain: number, grains: number): void {
    if (grain >= this.#lent.length) {
      const longer = new Uint32Array(2 ** Math.ceil(Math.log2(grain + 1)));
      longer.set(this.#lent);
      this.#lent = longer;
    }
    this.#lent[grain] = grains;
  }
}
