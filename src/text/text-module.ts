/**
 * `TextModule` reads and writes decimal text by WebAssembly. It gives the same values and bytes as its references,
 * `TripleScanner` and `RecordWriter`, in less time.
 */

import { POWERS_OF_TEN } from "../float32/parse.js";
import { RecordWriter, recordBytes, type Separators } from "../float32/record-writer.js";
import { type ItemRules, TripleScanner } from "../float32/triples.js";
import { copyToShared } from "../shared/read-memory.js";
import {
  LITERAL_BYTES,
  LITERALS,
  NARROW,
  NUMBER_BYTES,
  NUMBERS,
  OUTCOME,
  PAGES,
  POWERS,
  SPACED,
  STOPPED_FULL,
  STOPPED_SHORT,
  TABLE,
  TABLE_ROWS,
  TEXT,
  TEXT_BYTES,
  WHOLE_POWERS,
} from "./text-layout.js";
import type { TriplesRead } from "./text-task.js";

interface Memory {
  readonly buffer: ArrayBuffer;
}

/** The part of WebAssembly that is used here, declared because this project compiles without the types of the DOM. */
interface Global {
  readonly WebAssembly: {
    readonly Memory: new (limits: { initial: number; maximum: number }) => Memory;
    readonly Module: new (bytes: Uint8Array) => object;
    readonly Instance: new (module: object, imports: { env: { memory: Memory } }) => { readonly exports: object };
  };
}

/** The functions of `assembly/`. Addresses are byte offsets in the memory. */
type Functions = Readonly<Record<"readTriples" | "writeRecords", (...parameters: number[]) => number>>;

/** Number of bytes that the module may read or write beyond the end of a text. */
const BEYOND = 32;
/** Largest numbers of triples and of single values that the memory has room for. */
const MOST_TRIPLES = Math.floor(NUMBER_BYTES / 12);
const MOST_NUMBERS = NUMBER_BYTES / 4;

/** The rules of items as the module takes them. */
const RULES: Readonly<Record<ItemRules, number>> = { xml: SPACED, json: SPACED | NARROW, lines: 0 };

/**
 * Reads and writes in one thread, in windows of at most TEXT_BYTES, which the caches of a processor hold. If the
 * WebAssembly module cannot decide on an item or a record, the reference reads or writes that one.
 */
export class TextModule {
  readonly #functions: Functions;
  readonly #buffer: ArrayBuffer;
  readonly #bytes: Buffer;
  readonly #outcome: Uint32Array;
  readonly #writer = new RecordWriter();
  #scanner = new TripleScanner([]);
  /** The literals whose table is in the memory. */
  #literals: readonly Uint8Array[] = [];

  /** @param wasm the module as it was built */
  constructor(wasm: Uint8Array) {
    const { WebAssembly } = globalThis as unknown as Global;
    const memory = new WebAssembly.Memory({ initial: PAGES, maximum: PAGES });
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(wasm), { env: { memory } });
    this.#functions = exports as Functions;
    this.#buffer = memory.buffer;
    this.#bytes = Buffer.from(memory.buffer);
    this.#outcome = new Uint32Array(memory.buffer, OUTCOME, 2);
    new Float64Array(memory.buffer, POWERS, POWERS_OF_TEN.length).set(POWERS_OF_TEN);
    new BigUint64Array(memory.buffer, WHOLE_POWERS, 9).set(Array.from({ length: 9 }, (_, k) => 10n ** BigInt(k)));
  }

  /**
   * Reads items from the start of `bytes` as long as they have the tags and `out` has room.
   *
   * @param tags the eight tags of an item; an array that has been passed before must hold the same tags as then
   * @param out  receives the triples
   */
  read(bytes: Uint8Array, tags: readonly Uint8Array[], out: Float32Array, rules: ItemRules = "xml"): TriplesRead {
    if (this.#scanner.tags !== tags || this.#scanner.rules !== rules) this.#scanner = new TripleScanner(tags, rules);
    const scanner = this.#scanner;
    const fits = this.#load(tags);
    const room = Math.floor(out.length / 3);
    /** Start and end of the part of the text that is in the memory. */
    let start = 0;
    let end = 0;
    let at = 0;
    let count = 0;
    while (count < room) {
      if (fits) {
        if (at >= end) {
          start = at;
          end = this.#moveWindow(bytes, at);
        }
        const found = this.#readWindow(at - start, end - start, out.subarray(3 * count, 3 * room));
        at = start + found.bytes;
        count += found.count;
        if (found.isShort && end < bytes.length && at > start) {
          end = at; // The window ended inside an item: the next one begins with it.
          continue;
        }
      }
      // The reference decides whether the text ends here, and reads what the module does not.
      scanner.scan(bytes, at, bytes.length, out, count, fits ? Math.min(1, room - count) : room - count);
      at = scanner.position;
      count += scanner.count;
      if (scanner.count === 0) break;
    }
    return { count, bytes: at };
  }

  /** Copies the text from `start` on, as far as there is room, to the memory; returns the end of the part copied. */
  #moveWindow(bytes: Uint8Array, start: number): number {
    const part = bytes.subarray(start, start + TEXT_BYTES);
    this.#bytes.fill(part, TEXT, TEXT + part.length);
    this.#bytes[TEXT + part.length] = 0;
    return start + part.length;
  }

  /** Reads the items between two places of the window, up to the first that the module leaves to the reference. */
  #readWindow(from: number, to: number, out: Float32Array): TriplesRead & { readonly isShort: boolean } {
    let at = TEXT + from;
    let count = 0;
    let why: number = STOPPED_FULL;
    while (why === STOPPED_FULL && 3 * count < out.length) {
      const most = Math.min(out.length / 3 - count, MOST_TRIPLES);
      const found = this.#functions.readTriples(at, TEXT + to, NUMBERS, most, TABLE, RULES[this.#scanner.rules]);
      at = this.#outcome[0];
      why = this.#outcome[1];
      out.set(new Float32Array(this.#buffer, NUMBERS, 3 * found), 3 * count);
      count += found;
    }
    return { count, bytes: at - TEXT, isShort: why === STOPPED_SHORT };
  }

  /**
   * Writes records at the start of `out`, which has room for the longest; returns the number of bytes.
   *
   * @param parts      parts of whole records
   * @param separators the literals of a record; an array that has been passed before must hold the same ones as then
   * @param notFinite  text of numbers that are not finite; null: NaN, INF and -INF, as in XML Schema
   */
  write(
    parts: readonly Float32Array[],
    separators: Separators,
    out: Uint8Array,
    notFinite: Uint8Array | null = null,
  ): number {
    const numbers = separators.length - 1;
    const longest = recordBytes(separators);
    const fits = longest + BEYOND < TEXT_BYTES && this.#load(separators);
    let at = 0;
    for (const values of parts) {
      for (let i = 0; i < values.length; ) {
        if (fits) {
          const end = Math.min(values.length, i + Math.floor(MOST_NUMBERS / numbers) * numbers);
          const length = this.#writeWindow(values.subarray(i, end), numbers, longest);
          copyToShared(this.#bytes.subarray(TEXT, TEXT + length), out, at);
          at += length;
          i += (this.#outcome[0] - NUMBERS) / 4;
          if (this.#outcome[1] === 0) continue;
        }
        const end = fits ? i + numbers : values.length;
        at = this.#writer.write(values, i, end, separators, out, at, notFinite);
        i = end;
      }
    }
    return at;
  }

  /**
   * Writes records to the text area of the memory, as many as it has room for, up to the first that the module leaves
   * to the reference. Returns the number of bytes.
   */
  #writeWindow(values: Float32Array, numbers: number, longest: number): number {
    new Float32Array(this.#buffer, NUMBERS, values.length).set(values);
    const end = NUMBERS + 4 * values.length;
    const room = TEXT + TEXT_BYTES - longest - BEYOND;
    return this.#functions.writeRecords(NUMBERS, end, TABLE, numbers, TEXT, room) - TEXT;
  }

  /** Writes tags or separators to the memory, unless they are there; false if it has no room for them. */
  #load(literals: readonly Uint8Array[]): boolean {
    if (this.#literals === literals) return true;
    const bytes = literals.reduce((sum, { length }) => sum + length, 0);
    if (literals.length > TABLE_ROWS || bytes > LITERAL_BYTES) return false;
    const table = new Uint32Array(this.#buffer, TABLE, 2 * literals.length);
    let at = LITERALS;
    for (const [i, literal] of literals.entries()) {
      this.#bytes.set(literal, at);
      table.set([at, literal.length], 2 * i);
      at += literal.length;
    }
    this.#literals = literals;
    return true;
  }
}
