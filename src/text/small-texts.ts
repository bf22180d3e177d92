/**
 * `SmallTexts` reads and writes the text of small requests on the thread that serves them: a few points by the
 * references in TypeScript, more by the text module.
 */
import { readFileSync } from "node:fs";
import { RecordWriter, type Separators } from "../float32/record-writer.js";
import type { ScanEnd, TripleScanner } from "../float32/triples.js";
import { builtFile } from "../shared/build.js";
import { TextModule } from "./text-module.js";

const MODULE = builtFile(new URL("./text.wasm", import.meta.url));
/** Bytes of items, and numbers of records, for which a call of the module takes as long as the reference. */
const WORTH_BYTES = 512;
const WORTH_NUMBERS = 16;

/** One per service. Both modules are made when they are first needed. */
export class SmallTexts {
  /** The index after the last item that the last scan has read, and the number of its items. */
  position = 0;
  count = 0;
  #reader: TextModule | null = null;
  #writer: TextModule | null = null;
  readonly #records = new RecordWriter();

  /** Reads items like `scanner.scan`; `position` and `count` are those of this object. */
  scan(
    scanner: TripleScanner,
    bytes: Uint8Array,
    from: number,
    end: number,
    out: Float32Array,
    at: number,
    room: number,
  ): ScanEnd {
    let position = from;
    let count = 0;
    if (end - from >= WORTH_BYTES) {
      this.#reader ??= openModule();
      const free = out.subarray(3 * at, 3 * (at + room));
      const read = this.#reader.read(bytes.subarray(from, end), scanner.tags, free, scanner.rules);
      position += read.bytes;
      count = read.count;
    }
    // The reference reads what the module has left, and says why there is no more.
    const why = scanner.scan(bytes, position, end, out, at + count, room - count);
    this.position = scanner.position;
    this.count = count + scanner.count;
    return why;
  }

  /** Writes records like `RecordWriter.write`; numbers that are not finite as in XML Schema. */
  write(values: Float32Array, from: number, end: number, separators: Separators, out: Uint8Array, at: number): number {
    if (end - from < WORTH_NUMBERS) return this.#records.write(values, from, end, separators, out, at);
    this.#writer ??= openModule();
    return at + this.#writer.write([values.subarray(from, end)], separators, out.subarray(at));
  }
}

function openModule(): TextModule {
  return new TextModule(readFileSync(MODULE));
}
