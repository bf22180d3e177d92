/** Cache of values made from short texts, by their bytes; a newer text replaces an older one. */

/** Size of the cache, a power of two. */
const ENTRIES = 512;
const LONGEST = 64;

interface InternedText<T> {
  readonly bytes: Uint8Array;
  readonly made: T;
}

export class Interned<T> {
  readonly #make: (text: string) => T;
  readonly #entries: (InternedText<T> | undefined)[] = new Array(ENTRIES).fill(undefined);

  /** @param make its errors are not cached */
  constructor(make: (text: string) => T) {
    this.#make = make;
  }

  intern(buffer: Buffer, from: number, to: number): T {
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
