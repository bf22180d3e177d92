/**
 * `ReferenceTable` keeps the references of a list by their keys, a million in some fifty megabytes: as objects they
 * would take four times as much, and as long to collect as to make.
 */

/** Part of a target, or the whole of it. */
export type Reference = readonly [target: string, offset?: number, length?: number];

/** The offset of a reference to a whole target. */
const WHOLE = -1;

/** Maps keys to references. */
export class ReferenceTable {
  /** Keys in UTF-8, one after the other, and where each ends. */
  #keys = new Uint8Array(1024);
  #ends = new Uint32Array(64);
  /** Offset and length of each. */
  #parts = new Float64Array(128);
  /** Place of its target among the targets. */
  #targetOf = new Uint32Array(64);
  readonly #targets: string[] = [];
  readonly #places = new Map<string, number>();
  /** One more than the number of a reference, at the hash of its key or after it; 0: free. At most half are taken. */
  #buckets = new Uint32Array(128);
  #size = 0;

  /** Sets the reference of a key. */
  set(key: string, target: string, offset?: number, length?: number): void {
    const bytes = Buffer.from(key);
    const bucket = this.#find(bytes);
    const found = this.#buckets[bucket];
    const index = found === 0 ? this.#add(bytes, bucket) : found - 1;
    this.#targetOf[index] = this.#placeOf(target);
    this.#parts[2 * index] = offset ?? WHOLE;
    this.#parts[2 * index + 1] = length ?? 0;
  }

  /** The reference of a key; undefined if it has none. */
  get(key: string): Reference | undefined {
    const found = this.#buckets[this.#find(Buffer.from(key))];
    if (found === 0) return undefined;
    const [target, offset, length] = [this.#targetOf[found - 1], ...this.#parts.subarray(2 * found - 2, 2 * found)];
    const place = this.#targets[target] as string;
    return offset === WHOLE ? [place] : [place, offset, length];
  }

  #placeOf(target: string): number {
    const known = this.#places.get(target);
    if (known !== undefined) return known;
    this.#places.set(target, this.#targets.length);
    return this.#targets.push(target) - 1;
  }

  /** The bucket of a key, or the free one where it belongs. */
  #find(key: Uint8Array): number {
    const last = this.#buckets.length - 1;
    let bucket = hashOf(key, 0, key.length) & last;
    for (let found = this.#buckets[bucket]; found !== 0 && !this.#isKey(found - 1, key); found = this.#buckets[bucket])
      bucket = (bucket + 1) & last;
    return bucket;
  }

  #isKey(index: number, key: Uint8Array): boolean {
    const from = this.#startOf(index);
    if (this.#ends[index] - from !== key.length) return false;
    for (let i = 0; i < key.length; i++) if (this.#keys[from + i] !== key[i]) return false;
    return true;
  }

  #startOf(index: number): number {
    return index === 0 ? 0 : this.#ends[index - 1];
  }

  #add(key: Uint8Array, bucket: number): number {
    const index = this.#size++;
    const from = this.#startOf(index);
    const end = from + key.length;
    if (end > this.#keys.length) this.#keys = grown(this.#keys, new Uint8Array(Math.max(end, 2 * this.#keys.length)));
    if (index === this.#ends.length) {
      this.#ends = grown(this.#ends, new Uint32Array(2 * index));
      this.#targetOf = grown(this.#targetOf, new Uint32Array(2 * index));
      this.#parts = grown(this.#parts, new Float64Array(4 * index));
    }
    this.#keys.set(key, from);
    this.#ends[index] = end;
    this.#buckets[bucket] = index + 1;
    if (2 * this.#size > this.#buckets.length) this.#spread();
    return index;
  }

  /** Puts all references into twice as many buckets. */
  #spread(): void {
    const buckets = new Uint32Array(2 * this.#buckets.length);
    for (let index = 0; index < this.#size; index++) {
      let bucket = hashOf(this.#keys, this.#startOf(index), this.#ends[index]) & (buckets.length - 1);
      while (buckets[bucket] !== 0) bucket = (bucket + 1) & (buckets.length - 1);
      buckets[bucket] = index + 1;
    }
    this.#buckets = buckets;
  }
}

/** The FNV-1a hash of bytes, whose upper half is folded into the lower. */
function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = 0x811c9dc5;
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ bytes[at], 0x01000193);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Copies numbers into a longer array. */
function grown<Numbers extends Uint8Array | Uint32Array | Float64Array>(from: Numbers, to: Numbers): Numbers {
  to.set(from);
  return to;
}
