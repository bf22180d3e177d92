/**
 * `readItems` reads the items of `points` and `InitialV` into the engine's slabs: by a scanner that knows their tags,
 * or else by the XML reader.
 */
import type { TripleSink } from "../../engine/contract/query.js";
import { FULL, LONGEST_NUMBER, type ScanEnd, SHORT, TripleScanner } from "../../float32/triples.js";
import { excerpt, tooManyPoints } from "../../shared/errors.js";
import { RECORDS } from "../../shared/operations.js";
import { copyFloats, formOf, readAhead } from "../../text/items-ahead.js";
import type { SmallTexts } from "../../text/small-texts.js";
import type { Steps } from "../../text/steps.js";
import type { QueryTexts } from "../../text/text-task.js";
import { readFloat } from "../http/read-number.js";
import { checkAttributes, collapsed, invalid, type RequestDialect, readText, schemaType } from "./simple-members.js";
import { END, START, type XmlReader } from "./xml/reader.js";

type Item = "Point3" | "Vector3";

/** An array member of a request. */
export interface ItemArray {
  readonly item: Item;
  readonly member: string;
  readonly sink: TripleSink;
  /** Items that it may have, and the limit that says so. */
  readonly most: number;
  readonly limit: string;
  /** Records items read; a promise if reading has to wait. */
  readonly admit: (count: number) => Promise<void> | null;
  /** The threads that read the items; absent: the caller's thread reads them all. */
  readonly ahead?: ReadingThreads;
}

/** The threads that read large requests, and what they need to know of one. */
export interface ReadingThreads {
  readonly texts: QueryTexts;
  /** Bytes of the request still to come, as far as it says. */
  remaining(): number;
}

/** An incomplete item longer than this goes to the slow reader, which never reads a byte twice for long. */
const SHORT_BYTES = 4096;
/**
 * Number of items in one form after which threads pay off; they are used at once if the request announces this many
 * bytes.
 */
const AHEAD_FROM = 4096;
const LARGE_BYTES = 256 * 1024;

/**
 * Scanners of items as nearly every client writes them: no prefix, the namespace of the service being the default one.
 */
export class PlainScanners implements Readonly<Record<Item, TripleScanner>> {
  readonly Point3 = plainScanner("Point3");
  readonly Vector3 = plainScanner("Vector3");
}

function plainScanner(item: Item): TripleScanner {
  const tags = [item, ...RECORDS[item].flatMap((name) => [name, `/${name}`]), `/${item}`];
  return new TripleScanner(tags.map((tag) => Buffer.from(`<${tag}>`)));
}

/** Reads the items of the member whose start tag was read last, up to its end tag. */
export function readItems(
  reader: XmlReader,
  expected: RequestDialect,
  scanners: PlainScanners,
  texts: SmallTexts,
  array: ItemArray,
): Steps<void> {
  return new ItemsReader(reader, expected, scanners, texts, array).run();
}

class ItemsReader {
  readonly #reader: XmlReader;
  readonly #expected: RequestDialect;
  readonly #texts: SmallTexts;
  readonly #array: ItemArray;
  /** Of the form that the last item had, once it is known. */
  #scanner: TripleScanner | undefined;
  /** Items read so far, and those of them that are in the slab. */
  #total = 0;
  #filled = 0;
  /** Items in one form without another one among them, and how many of them are worth the threads. */
  #alike = 0;
  #aheadFrom: number;

  constructor(
    reader: XmlReader,
    expected: RequestDialect,
    scanners: PlainScanners,
    texts: SmallTexts,
    array: ItemArray,
  ) {
    this.#reader = reader;
    this.#expected = expected;
    this.#texts = texts;
    this.#array = array;
    const plain = reader.resolve("") === expected.namespace && reader.hasRoom(2, LONGEST_NUMBER);
    this.#scanner = plain ? scanners[array.item] : undefined;
    this.#aheadFrom = (array.ahead?.remaining() ?? 0) >= LARGE_BYTES ? 1 : AHEAD_FROM;
  }

  *run(): Steps<void> {
    const reader = this.#reader;
    const { item, member, sink, most, limit } = this.#array;
    const stray = () => invalid(`There is text inside ${member}.`, member);
    for (;;) {
      if (this.#scanner !== undefined && this.#total < most) {
        const why = this.#scan(this.#scanner);
        const wait = this.#advance(this.#texts.count);
        if (wait) yield wait;
        if (this.#alike >= this.#aheadFrom) yield* this.#readAhead(this.#scanner);
        else if (why === FULL && this.#total < most) continue;
        else if (why === SHORT && !reader.ended && reader.end - reader.position < SHORT_BYTES) {
          yield* reader.fill();
          continue;
        }
      }
      if ((yield* reader.nextTag(stray)) === END) break;
      if (this.#total >= most) throw tooManyPoints(limit, this.#total + 1, most);
      const path = `${member}[${this.#total}]`;
      const tags = yield* readItem(reader, this.#expected, item, path, sink, this.#filled * 3);
      if (!this.#scanner?.knows(tags)) this.#scanner = new TripleScanner(tags);
      this.#alike = 0;
      const wait = this.#advance(1);
      if (wait) yield wait;
    }
    if (this.#filled > 0) sink.commit(this.#filled);
  }

  /** Scans the items at hand, as many as there is room for. */
  #scan(scanner: TripleScanner): ScanEnd {
    const reader = this.#reader;
    const texts = this.#texts;
    const { slab } = this.#array.sink;
    const room = Math.min(slab.length / 3 - this.#filled, this.#array.most - this.#total);
    const why = texts.scan(scanner, reader.buffer, reader.position, reader.end, slab, this.#filled, room);
    reader.position = texts.position;
    this.#alike += texts.count;
    return why;
  }

  /** Records items in the slab; a promise if reading has to wait. */
  #advance(count: number): Promise<void> | null {
    const { sink, admit } = this.#array;
    this.#total += count;
    this.#filled += count;
    if (this.#filled * 3 === sink.slab.length) {
      sink.commit(this.#filled);
      this.#filled = 0;
    }
    return count > 0 ? admit(count) : null;
  }

  /**
   * Lets threads read the following items until one has another form; then many of one form must come before threads
   * are tried again.
   */
  *#readAhead(scanner: TripleScanner): Steps<void> {
    const { ahead } = this.#array;
    this.#alike = 0;
    if (ahead === undefined) {
      this.#aheadFrom = Number.POSITIVE_INFINITY;
      return;
    }
    const deliver = (triples: Float32Array, count: number) => this.#deliver(triples, count);
    const isOdd = yield* readAhead(this.#reader, formOf(scanner.tags, "xml"), ahead.texts, deliver);
    this.#aheadFrom = Math.max(AHEAD_FROM, isOdd ? 2 * this.#aheadFrom : 0);
  }

  /** Copies triples that a thread has read into the slabs. */
  *#deliver(triples: Float32Array, count: number): Steps<void> {
    const { sink, most, limit } = this.#array;
    const taken = Math.min(count, most - this.#total);
    for (let from = 0; from < taken; ) {
      const { slab } = sink;
      const part = Math.min(taken - from, slab.length / 3 - this.#filled);
      copyFloats(triples.subarray(3 * from, 3 * (from + part)), slab, 3 * this.#filled);
      from += part;
      const wait = this.#advance(part);
      if (wait) yield wait;
    }
    if (count > taken) throw tooManyPoints(limit, most + 1, most);
  }
}

/** Reads one item by the XML reader, after its start tag; returns its tags, from which the fast scanner learns. */
function* readItem(
  reader: XmlReader,
  expected: RequestDialect,
  item: Item,
  path: string,
  sink: TripleSink,
  at: number,
): Steps<Uint8Array[]> {
  const { namespace, version } = expected;
  expect(reader, namespace, item, path);
  checkAttributes(reader, version, path, `{${namespace}}${item}`);
  const tags = [reader.copyTag()];
  const stray = () => invalid(`There is text inside ${path}.`, path);
  for (const [i, name] of RECORDS[item].entries()) {
    const member = `${path}.${name}`;
    if ((yield* reader.nextTag(stray)) !== START) throw invalid(`The member ${member} is missing.`, path);
    expect(reader, namespace, name, member);
    checkAttributes(reader, version, member, schemaType("float"));
    tags.push(reader.copyTag());
    const value = readFloat(collapsed(yield* readText(reader, member)), member);
    sink.slab[at + i] = value;
    tags.push(reader.copyTag());
  }
  if ((yield* reader.nextTag(stray)) !== END) throw invalid(`${path} holds more than x, y and z.`, path);
  tags.push(reader.copyTag());
  return tags;
}

/** Requires the start tag read last to be of that name. */
function expect(reader: XmlReader, namespace: string, local: string, path: string): void {
  if (reader.local === local && reader.namespace === namespace) return;
  throw invalid(`Expected ${path}, found ${excerpt(reader.local)}.`, path);
}
