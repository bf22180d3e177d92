/**
 * A pool of shared memory for reads. A buffer is reused once everybody who may read it has given it back: memory that
 * is allocated for each read is collected late, since V8 does not count shared memory. Each buffer counts its holds in
 * its first word, which all threads see. Taking a buffer holds it once. Whoever hands it on either passes on this hold
 * or adds another one first. A hold that is never given back costs no more than an ordinary allocation: the buffer is
 * left to the garbage collection.
 */

/** Bytes before the usable ones: the count of holds, up to the alignment of elements and of cache lines. */
const HEAD_BYTES = 64;
/** Least bytes of buffers that are kept: smaller ones are cheap. */
const MIN_BYTES = 4096;
/** Most bytes of all buffers that are kept, and of one buffer. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024;
const MAX_ONE_BYTES = MAX_KEPT_BYTES / 4;
/**
 * Whether memory that is given back turns into NaN, and a missing hold is an error: tests set it for all that they
 * start.
 */
const IS_POISONED = process.env.POISON_READ_MEMORY !== undefined;

type Shared = Uint8Array<SharedArrayBuffer>;

export class ReadMemory {
  static #ofThread: ReadMemory | null = null;
  /** By size, free buffers, and buffers that other threads may still read. */
  readonly #kept = new Map<number, Set<SharedArrayBuffer>>();
  #keptBytes = 0;
  /** The buffers of this thread, and its holds on buffers of other threads. */
  readonly #own = new WeakSet<SharedArrayBuffer>();
  readonly #received = new WeakMap<SharedArrayBuffer, number>();

  /** The pool of this thread. */
  static ofThread(): ReadMemory {
    ReadMemory.#ofThread ??= new ReadMemory();
    return ReadMemory.#ofThread;
  }

  /** Takes memory with arbitrary contents, and holds it once. */
  allocate(bytes: number): Shared {
    if (!(bytes >= MIN_BYTES && bytes + HEAD_BYTES <= MAX_ONE_BYTES))
      return new Uint8Array(new SharedArrayBuffer(bytes));
    const size = roundedUp(bytes + HEAD_BYTES);
    const buffer = this.#free(size) ?? new SharedArrayBuffer(size);
    Atomics.store(holdsOf(buffer), 0, 1);
    this.#own.add(buffer);
    return new Uint8Array(buffer, HEAD_BYTES, bytes);
  }

  /** Takes a free buffer; undefined if there is none. */
  #free(size: number): SharedArrayBuffer | undefined {
    for (const buffer of this.#kept.get(size) ?? []) {
      // A negative count was given back too often, and may still be read.
      if (Atomics.load(holdsOf(buffer), 0) !== 0) continue;
      this.#drop(size, buffer);
      return buffer;
    }
    return undefined;
  }

  /** Holds memory of this thread again, for a holder that gives it back separately; ignores other memory. */
  hold({ buffer }: ArrayBufferView, times = 1): void {
    if (this.#isOwn(buffer)) Atomics.add(holdsOf(buffer), 0, times);
  }

  /**
   * Passes memory with the caller's hold to another thread, which receives it. @returns whether it has to be given back
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

  /** Gives back one hold, after which its holder may not read the memory; ignores memory that was not lent. */
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

  /** Keeps a buffer, and beyond the limit drops others, first those whose sizes have not been used for longest. */
  #keep(buffer: SharedArrayBuffer): void {
    const size = buffer.byteLength;
    const ofSize = this.#kept.get(size) ?? new Set();
    this.#kept.set(size, ofSize);
    if (ofSize.has(buffer)) return;
    ofSize.add(buffer);
    this.#keptBytes += size;
    for (const [other, buffers] of this.#kept)
      for (const oldest of buffers) {
        if (this.#keptBytes <= MAX_KEPT_BYTES) return;
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

/** A result in lent memory for several readers, each of whom holds it separately. */
export class LentResult<T> {
  /** Does not hold the result. */
  readonly settled: Promise<T>;
  readonly #viewOf: (value: T) => ArrayBufferView;
  #askers = 0;
  #value: { readonly view: ArrayBufferView } | null = null;
  #isDropped = false;

  /** @param viewOf the memory of a value, which is held once */
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

  /** Gives up the result's own hold. */
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

/** The next of four sizes per power of two, so that later reads use most of a buffer. */
function roundedUp(bytes: number): number {
  const step = 2 ** Math.max(0, Math.floor(Math.log2(bytes)) - 2);
  return Math.ceil(bytes / step) * step;
}

export function copyToShared(from: Uint8Array, to: Uint8Array, at: number): void {
  // A pattern as long as its target is copied at once, whatever the alignment of either.
  Buffer.from(to.buffer, to.byteOffset + at, from.length).fill(from);
}
