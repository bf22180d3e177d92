/** `Interned` caches the values made from short texts, so that a repeated text is decoded only once. */

/** Number of entries; a power of two. */
const ENTRIES = 512;
/** Longer spellings are not kept. */
const LONGEST = 64;

interface InternedText<T> {
  readonly bytes: Uint8Array;
  readonly made: T;
}

/** Values of a bounded number of short texts, kept by their bytes; a newer text replaces an older one in its place. */
export class Interned<T> {
  readonly #make: (text: string) => T;
  readonly #entries: (InternedText<T> | undefined)[] = new Array(ENTRIES).fill(undefined);

  /** @param make makes the value of a text; errors that it throws are not kept */
  constructor(make: (text: string) => T) {
    this.#make = make;
  }

  /** The value of the UTF-8 text in `buffer[from .. to)`. */
  take(buffer: Buffer, from: number, to: number): T {
    const length = to - from;
    if (length > LONGEST) return this.#make(buffer.toString("utf8", from, to));
    let hash = length;
    for (let i = from; i < to; i++) hash = Math.imul(hash, 31) + buffer[i];
    const entry = (hash ^ (hash >>> 9)) & (ENTRIES - 1);
    const known = this.#entries[entry];
    if (known !== undefined && spells(known.bytes, buffer, from, length)) return known.made;
    const made = this.#make(buffer.toString("utf8", from, to));
    this.#entries[entry] = { bytes: Uint8Array.prototype.slice.call(buffer, from, to), made };
    return made;
  }
}

function spells(bytes: Uint8Array, buffer: Buffer, from: number, length: number): boolean {
  if (bytes.length !== length) return false;
  for (let i = 0; i < length; i++) if (bytes[i] !== buffer[from + i]) return false;
  return true;
}
