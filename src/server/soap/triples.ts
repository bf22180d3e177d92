/** `TripleScanner` is the fast path for items of three numbers: it compares tag bytes with those of an earlier item and scans digits. */
import { DecimalScanner, IN_DOUBT } from "../../float32/scan.js";
import { isSpace } from "./xml/chars.js";

export const FULL = 0;
export const SHORT = 1;
export const ODD = 2;
/** Why a scan stopped: no room left, bytes end inside an item, or the next item is not in the learnt form. */
export type ScanEnd = typeof FULL | typeof SHORT | typeof ODD;

/** Longest number, with white space around it, that is taken here; the limit on text is judged by the exact reader. */
export const LONGEST_NUMBER = 64;

/** Tags of one item: item, x, /x, y, /y, z, /z, /item. */
export const TAGS_PER_ITEM = 8;

/**
 * Reads items that repeat the tags of an earlier item byte for byte: in the same scope they mean the same. White space
 * between tags and around numbers is skipped.
 */
export class TripleScanner {
  /** Where the scan stopped: always between items. */
  position = 0;
  /** Items read by the last scan. */
  count = 0;

  readonly #tags: readonly Uint8Array[];
  readonly #decimals = new DecimalScanner();
  #next = 0;

  /** @param tags the `TAGS_PER_ITEM` tags of an item, as bytes */
  constructor(tags: readonly Uint8Array[]) {
    this.#tags = tags;
  }

  /** Whether these are the tags it was made for. */
  knows(tags: readonly Uint8Array[]): boolean {
    return tags.every((tag, i) => Buffer.compare(tag, this.#tags[i] as Uint8Array) === 0);
  }

  /**
   * Reads items from `bytes[from .. end)` into `out` from triple `at` on, at most `room` of them.
   *
   * Numbers are rounded once: the double computed here is within a few units of the exact value, and whenever a midpoint
   * between two float32 is that near, the item is left to the exact reader.
   */
  scan(bytes: Uint8Array, from: number, end: number, out: Float32Array, at: number, room: number): ScanEnd {
    let p = from;
    let index = at * 3;
    const last = index + room * 3;
    let why: ScanEnd = FULL;
    for (; index < last; index += 3) {
      let q = this.#tag(bytes, p, end, 0);
      let component = 0;
      for (; q >= 0 && component < 3; component++) {
        q = this.#tag(bytes, q, end, 1 + 2 * component);
        if (q < 0) break;
        const value = this.#number(bytes, q, end);
        q = this.#next;
        if (q < 0) break;
        out[index + component] = value;
        q = this.#tag(bytes, q, end, 2 + 2 * component);
      }
      if (q >= 0) q = this.#tag(bytes, q, end, 7);
      if (q < 0) {
        why = q === -1 ? SHORT : ODD;
        break;
      }
      p = q;
    }
    this.position = p;
    this.count = index / 3 - at;
    return why;
  }

  /** Skips white space and the tag; returns the index after it, -1 where bytes are missing, -2 where it differs. */
  #tag(bytes: Uint8Array, from: number, end: number, which: number): number {
    const tag = this.#tags[which] as Uint8Array;
    let p = from;
    while (p < end && isSpace(bytes[p])) p++;
    const length = tag.length;
    if (p + length > end) {
      for (let i = 0; p < end; i++, p++) if (bytes[p] !== tag[i]) return -2;
      return -1;
    }
    for (let i = 0; i < length; i++) if (bytes[p + i] !== tag[i]) return -2;
    return p + length;
  }

  /** Reads a decimal with white space around it; `#next` is the index after it, or negative as for `#tag`. */
  #number(bytes: Uint8Array, from: number, end: number): number {
    let p = from;
    while (p < end && isSpace(bytes[p])) p++;
    const value = this.#decimals.read(bytes, p, end);
    p = this.#decimals.next;
    if (p >= 0) {
      while (p < end && isSpace(bytes[p])) p++;
      if (p - from > LONGEST_NUMBER) p = IN_DOUBT;
    }
    this.#next = p;
    return value;
  }
}
