/**
 * Writes the bytes of a ZIP archive entry by entry, not compressed, also beyond 4 GiB and 65 535 entries.
 * Source: PKWARE, APPNOTE.TXT 6.3.10, sections 4.3 and 4.5.3.
 */
import { crc32 } from "node:zlib";

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END_64 = 0x06064b50;
const LOCATOR_64 = 0x07064b50;
const END = 0x06054b50;
const DESCRIPTOR = 0x08074b50;
/** Versions needed to read an entry: whole, streamed, ZIP64. */
const VERSION = 10;
const VERSION_STREAMED = 20;
const VERSION_64 = 45;
/** Flags of an entry: checksum and sizes follow it; its name is UTF-8. */
const STREAMED = 1 << 3;
const UTF_8 = 1 << 11;
/** 1980-01-01: equal entries give equal bytes. */
const DATE = (1 << 5) | 1;
const MAX_16 = 0xffff;
const MAX_32 = 0xffff_ffff;

interface ZipEntry {
  readonly name: Buffer;
  readonly version: number;
  readonly flags: number;
  readonly crc: number;
  readonly bytes: number;
  readonly offset: number;
}

/** Little-endian numbers one after the other. `widths`: bytes of each, a digit each. */
function record(widths: string, ...numbers: readonly number[]): Buffer {
  const sizes = [...widths].map(Number);
  const out = Buffer.alloc(sizes.reduce((sum, size) => sum + size, 0));
  let at = 0;
  for (const [i, size] of sizes.entries()) {
    const value = numbers[i];
    if (size === 8) out.writeBigUInt64LE(BigInt(value), at);
    else out.writeUIntLE(value, at, size);
    at += size;
  }
  return out;
}

/** Members common to both records of an entry: flags, method, time, date, checksum, sizes, lengths of texts. */
function factsOf({ flags, crc, bytes, name }: ZipEntry, more: number): Buffer {
  return record("222244422", flags, 0, 0, DATE, crc, bytes, bytes, name.length, more);
}

export class ZipWriter {
  readonly #entries: ZipEntry[] = [];
  #at = 0;

  /** Adds an entry of less than 4 GiB. Returns its bytes in the archive. */
  add(name: string, content: Buffer): Buffer[] {
    const sums = { crc: crc32(content), bytes: content.length };
    const head = this.#begin({ name: Buffer.from(name), version: VERSION, flags: UTF_8, ...sums, offset: this.#at });
    this.#at += content.length;
    return [head, content];
  }

  /** Adds an entry of less than 4 GiB whose bytes come in chunks: checksum and length follow them. */
  async *stream(name: string, chunks: Iterable<Buffer> | AsyncIterable<Buffer>): AsyncGenerator<Buffer, undefined> {
    const bytes = Buffer.from(name);
    const flags = STREAMED | (bytes.length === name.length ? 0 : UTF_8);
    const entry = { name: bytes, version: VERSION_STREAMED, flags, crc: 0, bytes: 0, offset: this.#at };
    yield this.#begin(entry);
    for await (const chunk of chunks) {
      entry.crc = crc32(chunk, entry.crc);
      entry.bytes += chunk.length;
      yield chunk;
    }
    this.#at += entry.bytes + 16;
    yield record("4444", DESCRIPTOR, entry.crc, entry.bytes, entry.bytes);
  }

  #begin(entry: ZipEntry): Buffer {
    this.#entries.push(entry);
    const head = Buffer.concat([record("42", LOCAL, entry.version), factsOf(entry, 0), entry.name]);
    this.#at += head.length;
    return head;
  }

  *end(): Generator<Buffer> {
    const start = this.#at;
    for (const entry of this.#entries) {
      const isFar = entry.offset >= MAX_32;
      const more = isFar ? record("228", 1, 8, entry.offset) : Buffer.alloc(0);
      const version = isFar ? VERSION_64 : entry.version;
      const place = record("22244", 0, 0, 0, 0, Math.min(entry.offset, MAX_32));
      const head = Buffer.concat([record("422", CENTRAL, version, version), factsOf(entry, more.length), place]);
      this.#at += head.length + entry.name.length + more.length;
      yield Buffer.concat([head, entry.name, more]);
    }
    yield endOf(this.#entries.length, start, this.#at);
  }
}

/** The end of an archive whose directory lies from `start` to `end`. */
function endOf(entries: number, start: number, end: number): Buffer {
  const bytes = end - start;
  const [most, size, at] = [Math.min(entries, MAX_16), Math.min(bytes, MAX_32), Math.min(start, MAX_32)];
  const last = record("42222442", END, 0, 0, most, most, size, at, 0);
  if (entries < MAX_16 && end < MAX_32) return last;
  const whole = record("4822448888", END_64, 44, VERSION_64, VERSION_64, 0, 0, entries, entries, bytes, start);
  return Buffer.concat([whole, record("4484", LOCATOR_64, 0, end, 1), last]);
}
