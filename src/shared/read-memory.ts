/**
 * `ReadMemory` keeps buffers of shared memory that are used again once everybody who may read them has given them back:
 * memory that is allocated anew for each read is collected late, since V8 does not count what is shared.
 *
 * Each buffer counts its holds in its first word, which all threads see. Taking a buffer holds it once. Whoever hands
 * it on either passes on this hold or adds another one first. A hold that is never given back costs no more than an
 * ordinary allocation: the buffer is left to the garbage collection.
 */

/** Bytes before those that are lent: the count of holds, up to the alignment of elements and of lines of a cache. */
const HEAD_BYTES = 64;
/** Least bytes that are kept: smaller ones cost little. */
const LEAST_BYTES = 4096;
/** Most bytes of buffers that are kept, and of one of them. */
const MOST_KEPT_BYTES = 32 * 1024 * 1024;
const MOST_ONE_BYTES = MOST_KEPT_BYTES / 4;
/** Whether what is given back turns into NaN, and a hold too few is an error: tests set it for all they start. */
const IS_POISONED = process.env.POISON_READ_MEMORY !== undefined;

type Shared = Uint8Array<SharedArrayBuffer>;

export class ReadMemory {
  static #ofThread: ReadMemory | null = null;
  /** By their size: buffers that are free, and those that other threads may still read. */
  readonly #kept = new Map<number, Set<SharedArrayBuffer>>();
  #keptBytes = 0;
  /** The buffers that this thread has made, and its holds of those of other threads. */
  readonly #own = new WeakSet<SharedArrayBuffer>();
  readonly #received = new WeakMap<SharedArrayBuffer, number>();

  /** The memory of this thread. */
  static ofThread(): ReadMemory {
    ReadMemory.#ofThread ??= new ReadMemory();
    return ReadMemory.#ofThread;
  }

  /** Takes memory, whose contents are whatever they were, and holds it once. */
  take(bytes: number): Shared {
    if (!(bytes >= LEAST_BYTES && bytes + HEAD_BYTES <= MOST_ONE_BYTES))
      return new Uint8Array(new SharedArrayBuffer(bytes));
    const size = roundedUp(bytes + HEAD_BYTES);
    const buffer = this.#free(size) ?? new SharedArrayBuffer(size);
    Atomics.store(holdsOf(buffer), 0, 1);
    this.#own.add(buffer);
    return new Uint8Array(buffer, HEAD_BYTES, bytes);
  }

  /** Takes a buffer that is no longer held out of those that are kept; undefined if there is none. */
  #free(size: number): SharedArrayBuffer | undefined {
    for (const buffer of this.#kept.get(size) ?? []) {
      // Below zero it was given back too often, and may still be read.
      if (Atomics.load(holdsOf(buffer), 0) !== 0) continue;
      this.#drop(size, buffer);
      return buffer;
    }
    return undefined;
  }

  /** Holds memory of this thread again, for one who gives it back separately. Other memory is left alone. */
  hold({ buffer }: ArrayBufferView, times = 1): void {
    if (this.#isOwn(buffer)) Atomics.add(holdsOf(buffer), 0, times);
  }

  /**
   * Hands memory to another thread with the caller's hold, which that thread receives.
   *
   * @returns whether it is to be given back
   */
  lend({ buffer }: ArrayBufferView): boolean {
    if (!this.#isOwn(buffer)) return false;
    this.#keep(buffer);
    return true;
  }

  /** Receives memory that another thread has lent to this one. */
  receive({ buffer }: ArrayBufferView): void {
    const shared = buffer as SharedArrayBuffer;
    this.#received.set(shared, 1 + (this.#received.get(shared) ?? 0));
  }

  /** Gives back one hold: its holder does not look at the memory again. Memory that was not lent is left alone. */
  giveBack({ buffer }: ArrayBufferView): void {
    const shared = buffer as SharedArrayBuffer;
    const isOwn = this.#isOwn(shared);
    const received = this.#received.get(shared) ?? 0;
    if (!isOwn && received === 0) return;
    if (!isOwn) this.#received.set(shared, received - 1);
    const holds = holdsOf(shared);
    if (IS_POISONED && Atomics.load(holds, 0) < 1) throw new RangeError("memory was given back twice");
    // Bytes of all ones are NaN, as numbers of four bytes and of eight.
    if (IS_POISONED && Atomics.load(holds, 0) === 1) new Uint8Array(shared, HEAD_BYTES).fill(0xff);
    if (Atomics.sub(holds, 0, 1) === 1 && isOwn) this.#keep(shared);
  }

  #isOwn(buffer: ArrayBufferLike): buffer is SharedArrayBuffer {
    return this.#own.has(buffer as SharedArrayBuffer);
  }

  /** Keeps a buffer, and forgets others beyond the bound, whose sizes have been in use for the longest time first. */
  #keep(buffer: SharedArrayBuffer): void {
    const size = buffer.byteLength;
    const ofSize = this.#kept.get(size) ?? new Set();
    this.#kept.set(size, ofSize);
    if (ofSize.has(buffer)) return;
    ofSize.add(buffer);
    this.#keptBytes += size;
    for (const [other, buffers] of this.#kept)
      for (const oldest of buffers) {
        if (this.#keptBytes <= MOST_KEPT_BYTES) return;
        if (oldest !== buffer) this.#drop(other, oldest);
      }
  }

  #drop(size: number, buffer: SharedArrayBuffer): void {
    const ofSize = this.#kept.get(size);
    if (!ofSize?.delete(buffer)) return;
    if (ofSize.size === 0) this.#kept.delete(size);
    this.#keptBytes -= size;
  }
}

/** What is read into lent memory for several askers, each of whom holds it separately. */
export class LentResult<T> {
  /** Without a hold. */
  readonly settled: Promise<T>;
  readonly #viewOf: (value: T) => ArrayBufferView;
  #askers = 0;
  #value: { readonly view: ArrayBufferView } | null = null;
  #isDropped = false;

  /** @param viewOf the memory of a value, which comes with one hold */
  constructor(reading: Promise<T>, viewOf: (value: T) => ArrayBufferView) {
    this.#viewOf = viewOf;
    this.settled = reading.then((value) => {
      this.#value = { view: this.#viewOf(value) };
      ReadMemory.ofThread().hold(this.#value.view, this.#askers);
      if (this.#isDropped) this.#giveBack();
      return value;
    });
    this.settled.catch(() => undefined);
  }

  /** The result, which the caller then holds once. */
  ask(): Promise<T> {
    if (this.#value === null) this.#askers++;
    else ReadMemory.ofThread().hold(this.#value.view);
    return this.settled;
  }

  /** Gives up the result's own hold, once it is no longer requested. */
  drop(): void {
    if (this.#isDropped) return;
    this.#isDropped = true;
    this.#giveBack();
  }

  #giveBack(): void {
    if (this.#value !== null) ReadMemory.ofThread().giveBack(this.#value.view);
  }
}

function holdsOf(buffer: SharedArrayBuffer): Int32Array {
  return new Int32Array(buffer, 0, 1);
}

/** The next of four sizes for each power of two, so that what is read to it later is most of it. */
function roundedUp(bytes: number): number {
  const step = 2 ** Math.max(0, Math.floor(Math.log2(bytes)) - 2);
  return Math.ceil(bytes / step) * step;
}

export function copyToShared(from: Uint8Array, to: Uint8Array, at: number): void {
  // A pattern as long as its place is copied at once, however either of them is aligned.
  Buffer.from(to.buffer, to.byteOffset + at, from.length).fill(from);
}
