/** The only reader and the only writer of decimal text, in WebAssembly. */
import { readFileSync } from "node:fs";
import { FLOAT_BYTES, shortestFloat32 } from "../float32/format.js";
import { parseFloat32 } from "../float32/parse.js";
import { builtFile } from "../shared/build.js";
import { copyToShared } from "../shared/read-memory.js";
import * as layout from "./text-layout.js";
import type { ItemForm, RecordForm, TriplesRead } from "./text-task.js";

interface Memory {
  readonly buffer: ArrayBuffer;
}

interface Global {
  readonly WebAssembly: {
    readonly Memory: new (limits: { initial: number; maximum: number }) => Memory;
    readonly Module: new (bytes: Uint8Array) => object;
    readonly Instance: new (module: object, imports: { env: object }) => { readonly exports: object };
  };
}

type Functions = Readonly<Record<"readTriples" | "writeRecords", (...parameters: number[]) => number>>;

/** Bytes that the module may read or write beyond the end of a text. */
const BEYOND = 32;
const MAX_TRIPLES = Math.floor(layout.NUMBER_BYTES / 12);
const MAX_NUMBERS = layout.NUMBER_BYTES / 4;

export function recordBytes({ separators }: RecordForm): number {
  const literal = separators.reduce((sum, { length }) => sum + length, 0);
  return literal + (separators.length - 1) * FLOAT_BYTES;
}

class Literals {
  readonly #memory: Buffer;
  readonly #table: Uint32Array;
  readonly #address: number;
  readonly #most: number;
  #texts: readonly string[] = [];

  constructor(memory: Buffer, table: number, rows: number, address: number, most: number) {
    this.#memory = memory;
    this.#table = new Uint32Array(memory.buffer, table, 2 * rows);
    this.#address = address;
    this.#most = most;
  }

  /** Puts texts of one byte per character in place; false if there is no room. */
  place(texts: readonly string[]): boolean {
    const known = this.#texts;
    if (texts === known || (texts.length === known.length && texts.every((text, i) => text === known[i]))) return true;
    const bytes = texts.reduce((sum, { length }) => sum + length, 0);
    if (2 * texts.length > this.#table.length || bytes > this.#most) return false;
    let at = this.#address;
    for (const [i, text] of texts.entries()) {
      this.#table.set([at, text.length], 2 * i);
      at += this.#memory.write(text, at, "latin1");
    }
    this.#texts = texts;
    return true;
  }
}

/** Reads and writes in one thread, in windows of at most TEXT_BYTES, which the caches of a processor hold. */
export class TextModule {
  readonly #functions: Functions;
  readonly #memory: Buffer;
  readonly #floats: Float32Array;
  readonly #outcome: Uint32Array;
  readonly #tags: Literals;
  readonly #separators: Literals;
  #notFinite: string | null = null;

  constructor(wasm: Uint8Array) {
    const { WebAssembly } = globalThis as unknown as Global;
    const memory = new WebAssembly.Memory({ initial: layout.PAGES, maximum: layout.PAGES });
    const { buffer } = memory;
    this.#memory = Buffer.from(buffer);
    this.#floats = new Float32Array(buffer);
    this.#outcome = new Uint32Array(buffer, layout.OUTCOME, 2);
    this.#tags = new Literals(this.#memory, layout.TAGS, layout.TAG_ROWS, layout.TAG_LITERALS, layout.TAG_BYTES);
    this.#separators = new Literals(
      this.#memory,
      layout.SEPARATORS,
      layout.SEPARATOR_ROWS,
      layout.SEPARATOR_LITERALS,
      layout.SEPARATOR_BYTES,
    );
    // Powers of ten that a double holds exactly.
    new Float64Array(buffer, layout.POWERS, 23).set(Array.from({ length: 23 }, (_, k) => Number(`1e${k}`)));
    new BigUint64Array(buffer, layout.WHOLE_POWERS, 9).set(Array.from({ length: 9 }, (_, k) => 10n ** BigInt(k)));
    const env = {
      memory,
      readExactly: (from: number, to: number, out: number) => this.#readExactly(from, to, out),
      writeExactly: (value: number, out: number) => this.#writeExactly(value, out),
    };
    this.#functions = new WebAssembly.Instance(new WebAssembly.Module(wasm), { env }).exports as Functions;
  }

  read(bytes: Uint8Array, form: ItemForm, out: Float32Array): TriplesRead {
    if (!this.#tags.place(form.tags)) return { count: 0, bytes: 0, why: layout.ODD };
    let [count, at] = [0, 0];
    for (;;) {
      const part = bytes.subarray(at, at + layout.TEXT_BYTES);
      const isLast = at + part.length === bytes.length;
      this.#memory.fill(part, layout.TEXT, layout.TEXT + part.length);
      this.#memory[layout.TEXT + part.length] = 0;
      const found = this.#readWindow(part.length, form, out.subarray(3 * count));
      count += found.count;
      at += found.bytes;
      if (found.why !== layout.SHORT || isLast) return { count, bytes: at, why: found.why };
      // An item that the window cuts begins the next window, unless it is longer than one.
      if (found.bytes === 0) return { count, bytes: at, why: layout.ODD };
    }
  }

  #readWindow(length: number, { rules }: ItemForm, out: Float32Array): TriplesRead {
    const [spaced, finite] = rules === "xml" ? [1, 0] : [0, 1];
    const room = Math.floor(out.length / 3);
    let at = layout.TEXT;
    let count = 0;
    let why: number = layout.FULL;
    while (why === layout.FULL && count < room) {
      const most = Math.min(room - count, MAX_TRIPLES);
      const found = this.#functions.readTriples(at, layout.TEXT + length, layout.NUMBERS, most, spaced, finite);
      [at, why] = this.#outcome;
      out.set(this.#floats.subarray(layout.NUMBERS / 4, layout.NUMBERS / 4 + 3 * found), 3 * count);
      count += found;
    }
    return { count, bytes: at - layout.TEXT, why };
  }

  #readExactly(from: number, to: number, out: number): number {
    const value = parseFloat32(this.#memory.toString("latin1", from, to));
    if (value === undefined) return 0;
    this.#floats[out / 4] = value;
    return Number.isFinite(value) ? 1 : 2;
  }

  /** Writes whole records at `out[at]`, which has room for the longest; returns the index after them. */
  write(parts: readonly Float32Array[], form: RecordForm, out: Uint8Array, at = 0): number {
    const numbers = form.separators.length - 1;
    const room = layout.TEXT + layout.TEXT_BYTES - recordBytes(form) - BEYOND;
    if (room <= layout.TEXT || !this.#separators.place(form.separators))
      throw new RangeError("a record is too long to write");
    this.#notFinite = form.notFinite;
    const most = Math.floor(MAX_NUMBERS / numbers) * numbers;
    let next = at;
    for (const values of parts) {
      for (let i = 0; i < values.length; ) {
        const part = values.subarray(i, i + most);
        this.#floats.set(part, layout.NUMBERS / 4);
        const end = this.#functions.writeRecords(
          layout.NUMBERS,
          layout.NUMBERS + 4 * part.length,
          numbers,
          layout.TEXT,
          room,
        );
        copyToShared(this.#memory.subarray(layout.TEXT, end), out, next);
        next += end - layout.TEXT;
        i += (this.#outcome[0] - layout.NUMBERS) / 4;
      }
    }
    return next;
  }

  #writeExactly(value: number, out: number): number {
    const text = this.#notFinite === null || Number.isFinite(value) ? shortestFloat32(value) : this.#notFinite;
    return out + this.#memory.write(text, out, "latin1");
  }
}

const made: { module: TextModule | null } = { module: null };

export function textModule(): TextModule {
  made.module ??= openModule(builtFile(new URL("./text.wasm", import.meta.url)));
  return made.module;
}

function openModule(file: string): TextModule {
  try {
    return new TextModule(readFileSync(file));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${file} does not belong to this program, run npm ci: ${reason}`);
  }
}
