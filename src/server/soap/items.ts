/**
 * Reads the items of `points` and `InitialV`: the text module reads items with the same tags, byte for byte, as their
 * predecessors; the XML reader reads all others.
 */
import type { TripleSink } from "../../engine/contract/query.js";
import { excerpt, tooManyPoints } from "../../shared/errors.js";
import { RECORDS } from "../../shared/operations.js";
import { copyFloats, readAhead } from "../../text/items-ahead.js";
import type { Steps } from "../../text/steps.js";
import { FULL, LONGEST_NUMBER, SHORT } from "../../text/text-layout.js";
import { textModule } from "../../text/text-module.js";
import type { ItemForm, TextWorkers, TriplesRead } from "../../text/text-task.js";
import { readFloat } from "../http/read-number.js";
import { checkAttributes, collapsed, invalid, type RequestDialect, readText, schemaType } from "./simple-members.js";
import { END, START, type XmlReader } from "./xml/reader.js";

type Item = "Point3" | "Vector3";

export interface ItemArray {
  readonly item: Item;
  readonly member: string;
  readonly sink: TripleSink;
  readonly maxItems: number;
  readonly limitName: string;
  /** Counts items read; a promise if reading has to wait. */
  readonly countPoints: (count: number) => Promise<void> | null;
  /** Threads that may read items; absent: the caller's thread reads them all. */
  readonly ahead?: ReadingThreads;
}

export interface ReadingThreads {
  readonly textThreads: TextWorkers;
  remaining(): number;
}

/** Longest incomplete item that waits for more bytes; the XML reader reads longer ones, without reading bytes twice. */
const SHORT_BYTES = 4096;
/** Items in one form after which threads pay off, and announced bytes from which they are used at once. */
const AHEAD_FROM = 4096;
const LARGE_BYTES = 256 * 1024;

/** The form of nearly all clients: no prefix, the namespace of the service as default. */
const PLAIN: Readonly<Record<Item, ItemForm>> = { Point3: plainForm("Point3"), Vector3: plainForm("Vector3") };

function plainForm(item: Item): ItemForm {
  const tags = [item, ...RECORDS[item].flatMap((name) => [name, `/${name}`]), `/${item}`];
  return { tags: tags.map((tag) => `<${tag}>`), rules: "xml" };
}

export function readItems(reader: XmlReader, expected: RequestDialect, array: ItemArray): Steps<void> {
  return new ItemsReader(reader, expected, array).run();
}

class ItemsReader {
  readonly #reader: XmlReader;
  readonly #expected: RequestDialect;
  readonly #array: ItemArray;
  #form: ItemForm | undefined;
  #total = 0;
  #filled = 0;
  /** Items in one form without a break, and the number from which threads are worthwhile. */
  #sameForm = 0;
  #readAheadFrom: number;

  constructor(reader: XmlReader, expected: RequestDialect, array: ItemArray) {
    this.#reader = reader;
    this.#expected = expected;
    this.#array = array;
    const plain = reader.resolve("") === expected.namespace && reader.hasRoom(2, LONGEST_NUMBER);
    this.#form = plain ? PLAIN[array.item] : undefined;
    this.#readAheadFrom = (array.ahead?.remaining() ?? 0) >= LARGE_BYTES ? 1 : AHEAD_FROM;
  }

  *run(): Steps<void> {
    const reader = this.#reader;
    const { item, member, sink, maxItems: most, limitName: limit } = this.#array;
    const stray = () => invalid(`There is text inside ${member}.`, member);
    for (;;) {
      if (this.#form !== undefined && this.#total < most) {
        const { count, why } = this.#readSameForm(this.#form);
        const wait = this.#advance(count);
        if (wait) yield wait;
        if (this.#sameForm >= this.#readAheadFrom) yield* this.#readAhead(this.#form);
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
      if (!tags.every((tag, i) => tag === this.#form?.tags[i])) this.#form = { tags, rules: "xml" };
      this.#sameForm = 0;
      const wait = this.#advance(1);
      if (wait) yield wait;
    }
    if (this.#filled > 0) sink.commit(this.#filled);
  }

  #readSameForm(form: ItemForm): TriplesRead {
    const reader = this.#reader;
    const { slab } = this.#array.sink;
    const room = Math.min(slab.length / 3 - this.#filled, this.#array.maxItems - this.#total);
    const out = slab.subarray(3 * this.#filled, 3 * (this.#filled + room));
    const read = textModule().read(reader.buffer.subarray(reader.position, reader.end), form, out);
    reader.position += read.bytes;
    this.#sameForm += read.count;
    return read;
  }

  #advance(count: number): Promise<void> | null {
    const { sink, countPoints: admit } = this.#array;
    this.#total += count;
    this.#filled += count;
    if (this.#filled * 3 === sink.slab.length) {
      sink.commit(this.#filled);
      this.#filled = 0;
    }
    return count > 0 ? admit(count) : null;
  }

  /** Lets threads read items until one has another form; then many of one form must follow before they return. */
  *#readAhead(form: ItemForm): Steps<void> {
    const { ahead } = this.#array;
    this.#sameForm = 0;
    if (ahead === undefined) {
      this.#readAheadFrom = Number.POSITIVE_INFINITY;
      return;
    }
    const deliver = (triples: Float32Array, count: number) => this.#deliver(triples, count);
    const isOtherForm = yield* readAhead(this.#reader, form, ahead.textThreads, deliver);
    this.#readAheadFrom = Math.max(AHEAD_FROM, isOtherForm ? 2 * this.#readAheadFrom : 0);
  }

  *#deliver(triples: Float32Array, count: number): Steps<void> {
    const { sink, maxItems: most, limitName: limit } = this.#array;
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

/** Reads an item by the XML reader, after its start tag. Returns its tags. */
function* readItem(
  reader: XmlReader,
  expected: RequestDialect,
  item: Item,
  path: string,
  sink: TripleSink,
  at: number,
): Steps<string[]> {
  const { namespace, version } = expected;
  expectElement(reader, namespace, item, path);
  checkAttributes(reader, version, path, `{${namespace}}${item}`);
  const tags = [reader.rawTag()];
  const stray = () => invalid(`There is text inside ${path}.`, path);
  for (const [i, name] of RECORDS[item].entries()) {
    const member = `${path}.${name}`;
    if ((yield* reader.nextTag(stray)) !== START) throw invalid(`The member ${member} is missing.`, path);
    expectElement(reader, namespace, name, member);
    checkAttributes(reader, version, member, schemaType("float"));
    tags.push(reader.rawTag());
    const value = readFloat(collapsed(yield* readText(reader, member)), member);
    sink.slab[at + i] = value;
    tags.push(reader.rawTag());
  }
  if ((yield* reader.nextTag(stray)) !== END) throw invalid(`${path} holds more than x, y and z.`, path);
  tags.push(reader.rawTag());
  return tags;
}

function expectElement(reader: XmlReader, namespace: string, local: string, path: string): void {
  if (reader.local === local && reader.namespace === namespace) return;
  throw invalid(`Expected ${path}, found ${excerpt(reader.local)}.`, path);
}
