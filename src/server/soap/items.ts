/** `readItems` reads the items of `points` and `InitialV` into the engine's slabs: by a scanner that knows their tags, else the exact way. */
import type { TripleSink } from "../../engine/query.js";
import { excerpt, tooManyPoints } from "../../errors.js";
import { RECORDS } from "../../operations.js";
import { readFloat } from "../http/read-number.js";
import type { Steps } from "./steps.js";
import { FULL, LONGEST_NUMBER, SHORT, TripleScanner } from "./triples.js";
import { checkAttributes, collapsed, type Expected, invalid, readText, schemaType } from "./values.js";
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
  /** Takes note of items read; a promise where reading has to wait. */
  readonly admit: (count: number) => Promise<void> | null;
}

/** An incomplete item longer than this goes to the slow reader, which never reads a byte twice for long. */
const SHORT_BYTES = 4096;

/** Scanners of items as nearly every client writes them: no prefix, the namespace of the service being the default one. */
export class PlainScanners implements Readonly<Record<Item, TripleScanner>> {
  readonly Point3 = plainScanner("Point3");
  readonly Vector3 = plainScanner("Vector3");
}

function plainScanner(item: Item): TripleScanner {
  const tags = [item, ...RECORDS[item].flatMap((name) => [name, `/${name}`]), `/${item}`];
  return new TripleScanner(tags.map((tag) => Buffer.from(`<${tag}>`)));
}

/** Reads the items of the member whose start tag was read last, up to its end tag. */
export function* readItems(
  reader: XmlReader,
  expected: Expected,
  scanners: PlainScanners,
  array: ItemArray,
): Steps<void> {
  const { item, member, sink, most, admit } = array;
  const stray = () => invalid(`There is text inside ${member}.`, member);
  const plain = reader.resolve("") === expected.namespace && reader.hasRoom(2, LONGEST_NUMBER);
  let scanner = plain ? scanners[item] : undefined;
  let total = 0;
  let filled = 0;
  const advance = (count: number): Promise<void> | null => {
    total += count;
    filled += count;
    if (filled * 3 === sink.slab.length) {
      sink.commit(filled);
      filled = 0;
    }
    return count > 0 ? admit(count) : null;
  };
  for (;;) {
    if (scanner !== undefined && total < most) {
      const room = Math.min(sink.slab.length / 3 - filled, most - total);
      const why = scanner.scan(reader.buffer, reader.position, reader.end, sink.slab, filled, room);
      reader.position = scanner.position;
      const wait = advance(scanner.count);
      if (wait) yield wait;
      if (why === FULL && total < most) continue;
      if (why === SHORT && !reader.ended && reader.end - reader.position < SHORT_BYTES) {
        yield* reader.fill();
        continue;
      }
    }
    if ((yield* reader.nextTag(stray)) === END) break;
    if (total >= most) throw tooManyPoints(array.limit, total + 1, most);
    const tags = yield* readItem(reader, expected, item, `${member}[${total}]`, sink, filled * 3);
    if (!scanner?.knows(tags)) scanner = new TripleScanner(tags);
    const wait = advance(1);
    if (wait) yield wait;
  }
  if (filled > 0) sink.commit(filled);
}

/** Reads one item the exact way, after its start tag; returns its tags, from which the fast scanner learns. */
function* readItem(
  reader: XmlReader,
  expected: Expected,
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
  throw invalid(`${path} was expected where ${excerpt(reader.local)} stands.`, path);
}
