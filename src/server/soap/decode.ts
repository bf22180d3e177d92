/** Body element and table row to a Query: scalars first, then points straight into the engine's slabs. */
import type { Evaluation, Query, TripleSink } from "../../engine/query.js";
import { excerpt, RequestError, tooManyPoints } from "../../errors.js";
import {
  type Member,
  OPERATIONS,
  type Operation,
  type OperationName,
  RECORDS,
  SPATIAL_INTERPOLATION,
  TEMPORAL_INTERPOLATION,
} from "../../operations.js";
import { checkEncodingStyle, nextTag, tagNow } from "./envelope.js";
import { parseFloat32 } from "./float-read.js";
import type { SoapVersion } from "./media-type.js";
import type { Steps } from "./steps.js";
import { FULL, LONGEST_NUMBER, SHORT, TripleScanner } from "./triples.js";
import { type Attribute, END, START, TEXT, type XmlReader } from "./xml.js";
import { countChars } from "./xml-chars.js";
import { tooLong } from "./xml-scan.js";

const XSI = "http://www.w3.org/2001/XMLSchema-instance";
const XSD = "http://www.w3.org/2001/XMLSchema";
const ROWS: ReadonlyMap<string, OperationRow> = new Map(OPERATIONS.map((row) => [row.name, row]));
const ENUMERATIONS: Readonly<Record<"SpatialInterpolation" | "TemporalInterpolation", readonly string[]>> = {
  SpatialInterpolation: SPATIAL_INTERPOLATION,
  TemporalInterpolation: TEMPORAL_INTERPOLATION,
};
const INT = /^[+-]?[0-9]+(?:\.0+)?$/;
/** An incomplete item longer than this goes to the slow reader, which never reads a byte twice for long. */
const SHORT_BYTES = 4096;

/** A row of the operation table with its name as one of the sixteen. */
export type OperationRow = Operation & { readonly name: OperationName };

/** What the decoder needs of the service. */
export interface DecodeContext {
  readonly namespace: string;
  readonly version: SoapVersion;
  readonly textChars: number;
  /** Judges the token (null where the request has none); returns how many points it admits. */
  authorise(token: string | null): number;
  /** Begins the evaluation, before the first point is read. */
  start(query: Query): Evaluation;
  /** Takes note of points decoded, also of none; a promise where reading has to wait for its share or give way to other work. */
  admit(points: number): Promise<void> | undefined;
}

/** The operation that a body element names; undefined for every other name. */
export function findOperation(namespace: string, reader: XmlReader): OperationRow | undefined {
  return reader.namespace === namespace ? ROWS.get(reader.local) : undefined;
}

/** Reads the content of one operation element; see `decode`. */
export function decode(reader: XmlReader, row: OperationRow, context: DecodeContext): Steps<Evaluation> {
  return new Decoder(reader, row, context).run();
}

type Scalars = { -readonly [K in keyof Query]: Query[K] };

/** Scanners of items as nearly every client writes them: no prefix, the namespace of the service being the default one. */
const PLAIN_SCANNERS = { Point3: plainScanner("Point3"), Vector3: plainScanner("Vector3") };

function plainScanner(item: "Point3" | "Vector3"): TripleScanner {
  const tags = [item, ...RECORDS[item].flatMap((name) => [name, `/${name}`]), `/${item}`];
  return new TripleScanner(tags.map((tag) => Buffer.from(`<${tag}>`)));
}

class Decoder {
  readonly #reader: XmlReader;
  readonly #row: OperationRow;
  readonly #context: DecodeContext;
  readonly #query: Scalars;
  #cursor = 0;
  #pointLimit = -1;
  #evaluation: Evaluation | undefined;

  constructor(reader: XmlReader, row: OperationRow, context: DecodeContext) {
    this.#reader = reader;
    this.#row = row;
    this.#context = context;
    this.#query = { operation: row.name };
  }

  /** Reads from after the start tag of the operation to its end tag. */
  *run(): Steps<Evaluation> {
    checkEncodingStyle(this.#reader.attributes, this.#context.version);
    this.#checkAttributes(this.#row.name, undefined);
    const stray = (): RequestError => invalid(`There is text between the members of ${this.#row.name}.`);
    for (;;) {
      const event = tagNow(this.#reader, stray) ?? (yield* nextTag(this.#reader, stray));
      if (event === END) break;
      yield* this.#member();
    }
    this.#advance(this.#row.request.length, "the end of the request");
    return this.#begin();
  }

  /** Reads the member whose start tag was read last. */
  *#member(): Steps<void> {
    const { local, namespace } = this.#reader;
    const members = this.#row.request;
    const index = namespace === this.#context.namespace ? members.findIndex((member) => member.name === local) : -1;
    if (index !== 0) this.#authorise(null);
    const member = members[index];
    if (member === undefined) return yield* this.#extra();
    if (index < this.#cursor) throw invalid(`The member ${local} is repeated or out of order.`, local);
    this.#advance(index, local);
    this.#cursor = index + 1;
    this.#checkAttributes(local, this.#typeName(member));
    if (member.type === "ArrayOfPoint3") yield* this.#triples("Point3", member.name, this.#begin().points, true);
    else if (member.type === "ArrayOfVector3") {
      yield* this.#triples("Vector3", member.name, this.#begin().velocities, false);
    } else this.#scalar(member, yield* this.#value(local));
  }

  /** Accepts the trailing `addr` of later clients and refuses every other name. */
  *#extra(): Steps<void> {
    const { local, namespace } = this.#reader;
    const known = this.#row.addr && local === "addr" && namespace === this.#context.namespace;
    if (!known || this.#cursor > this.#row.request.length) {
      const name = excerpt(local);
      throw invalid(`The member ${name} is unknown to ${this.#row.name}, repeated or out of order.`, name);
    }
    this.#advance(this.#row.request.length, local);
    this.#cursor = this.#row.request.length + 1;
    this.#checkAttributes(local, `{${XSD}}string`);
    yield* this.#value(local);
  }

  /** Passes over members up to `index`; a required one among them is missing. */
  #advance(index: number, before: string): void {
    if (index > 0) this.#authorise(null);
    for (let i = this.#cursor; i < index; i++) {
      const member = this.#row.request[i] as Member;
      const required = member.required || member.name === "dataset";
      if (required) throw invalid(`The member ${member.name} is missing before ${before}.`, member.name);
    }
  }

  #authorise(token: string | null): void {
    if (this.#pointLimit < 0) this.#pointLimit = this.#context.authorise(token);
  }

  #begin(): Evaluation {
    this.#evaluation ??= this.#context.start(this.#query);
    return this.#evaluation;
  }

  #typeName(member: Member): string {
    const simple = member.type === "string" || member.type === "float" || member.type === "int";
    return `{${simple ? XSD : this.#context.namespace}}${member.type}`;
  }

  /** Judges the attributes of the element that has just started; `type` is its declared type, if it has a name. */
  #checkAttributes(member: string, type: string | undefined): void {
    const { attributes } = this.#reader;
    if (attributes.length === 0) return;
    checkEncodingStyle(attributes, this.#context.version);
    for (const attribute of attributes) this.#checkAttribute(attribute, member, type);
  }

  #checkAttribute({ namespace, local, value }: Attribute, member: string, type: string | undefined): void {
    if (namespace === "") throw invalid(`The attribute ${excerpt(local)} of ${member} is not allowed.`, member);
    if (namespace !== XSI) return;
    if (local === "nil" && value.trim() !== "false" && value.trim() !== "0") {
      throw invalid(`The member ${member} may not be nil.`, member);
    }
    if (local === "type" && this.#expand(value.trim()) !== type) {
      throw invalid(`The member ${member} is declared to be of another type than its xsi:type.`, member);
    }
  }

  /** A qualified name with its namespace; "" where its prefix stands for none. */
  #expand(name: string): string {
    const colon = name.indexOf(":");
    const namespace = this.#reader.resolve(colon < 0 ? "" : name.slice(0, colon));
    return namespace === undefined ? "" : `{${namespace}}${name.slice(colon + 1)}`;
  }

  /** The text of a simple member up to its end tag. */
  *#value(member: string): Steps<string> {
    const reader = this.#reader;
    let value = "";
    for (;;) {
      const event = reader.poll() ?? (yield* reader.next());
      if (event === END) return value;
      if (event !== TEXT) throw invalid(`The member ${member} may not hold elements.`, member);
      value += reader.text;
      // The reader lets white space pass, which between elements is no value.
      const { textChars } = this.#context;
      if (value.length > textChars && countChars(value) > textChars) throw tooLong();
    }
  }

  #scalar(member: Member, text: string): void {
    switch (member.type) {
      case "string":
        if (member.name === "authToken") this.#authorise(text);
        else this.#assign(member.name, text);
        return;
      case "float":
        this.#assign(member.name, readFloat(text, member.name));
        return;
      case "int":
        this.#assign(member.name, readInt(text, member.name));
        return;
      case "SpatialInterpolation":
      case "TemporalInterpolation":
        if (!ENUMERATIONS[member.type].includes(text)) {
          throw invalid(
            `The member ${member.name} is not one of ${ENUMERATIONS[member.type].join(", ")}.`,
            member.name,
          );
        }
        this.#assign(member.name, text);
        return;
      default:
        throw new TypeError(`${member.type} is not a simple type`);
    }
  }

  /** `name` comes from the operation table, never from the caller. */
  #assign(name: string, value: string | number): void {
    (this.#query as Record<string, unknown>)[name] = value;
  }

  /** Reads the items of `points` or `InitialV` up to its end tag. */
  *#triples(item: "Point3" | "Vector3", member: string, sink: TripleSink, counted: boolean): Steps<void> {
    const reader = this.#reader;
    const { limit } = this.#begin();
    const token = this.#pointLimit > 0 && this.#pointLimit < limit.points;
    const most = token ? this.#pointLimit : limit.points;
    const stray = (): RequestError => invalid(`There is text inside ${member}.`, member);
    const plain =
      reader.resolve("") === this.#context.namespace && reader.hasRoom(2) && this.#context.textChars >= LONGEST_NUMBER;
    let scanner = plain ? PLAIN_SCANNERS[item] : undefined;
    let total = 0;
    let filled = 0;
    const advance = (count: number): Promise<void> | undefined => {
      total += count;
      filled += count;
      if (filled * 3 === sink.slab.length) {
        sink.commit(filled);
        filled = 0;
      }
      return count > 0 ? this.#context.admit(counted ? count : 0) : undefined;
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
      if ((tagNow(reader, stray) ?? (yield* nextTag(reader, stray))) === END) break;
      if (total >= most) {
        throw tooManyPoints(token ? "token.points" : limit.name, total + 1, most);
      }
      const tags = yield* this.#triple(item, `${member}[${total}]`, sink, filled * 3);
      if (tags !== undefined && !scanner?.knows(tags)) scanner = new TripleScanner(tags);
      const wait = advance(1);
      if (wait) yield wait;
    }
    if (filled > 0) sink.commit(filled);
  }

  /** Reads one item the exact way, after its start tag; returns its tags, from which the fast scanner learns. */
  *#triple(item: "Point3" | "Vector3", path: string, sink: TripleSink, at: number): Steps<Uint8Array[]> {
    const reader = this.#reader;
    this.#expect(item, path);
    this.#checkAttributes(path, `{${this.#context.namespace}}${item}`);
    const tags = [reader.copyTag()];
    const stray = (): RequestError => invalid(`There is text inside ${path}.`, path);
    for (const [i, name] of RECORDS[item].entries()) {
      if ((tagNow(reader, stray) ?? (yield* nextTag(reader, stray))) !== START)
        throw invalid(`The member ${path}.${name} is missing.`, path);
      this.#expect(name, `${path}.${name}`);
      this.#checkAttributes(`${path}.${name}`, `{${XSD}}float`);
      tags.push(reader.copyTag());
      const value = readFloat(yield* this.#value(`${path}.${name}`), `${path}.${name}`);
      sink.slab[at + i] = value;
      tags.push(reader.copyTag());
    }
    if ((tagNow(reader, stray) ?? (yield* nextTag(reader, stray))) !== END)
      throw invalid(`${path} holds more than x, y and z.`, path);
    tags.push(reader.copyTag());
    return tags;
  }

  /** Requires the start tag read last to be of that name. */
  #expect(local: string, path: string): void {
    if (this.#reader.local === local && this.#reader.namespace === this.#context.namespace) return;
    throw invalid(`${path} was expected where ${excerpt(this.#reader.local)} stands.`, path);
  }
}

function invalid(message: string, member?: string): RequestError {
  return new RequestError("InvalidRequest", message, member === undefined ? {} : { member });
}

/** Text without the white space of XML around it. */
function collapsed(text: string): string {
  return text.replace(/^[ \t\r\n]+/, "").replace(/[ \t\r\n]+$/, "");
}

/** Infinite and NaN values pass: they are judged with the other values, after reading. */
function readFloat(text: string, member: string): number {
  const value = parseFloat32(collapsed(text));
  if (value === undefined) throw invalid(`The value of ${member} is not a number: ${excerpt(text)}.`, member);
  return value;
}

function readInt(text: string, member: string): number {
  const plain = collapsed(text);
  const value = Number(plain);
  if (!INT.test(plain) || value < -(2 ** 31) || value >= 2 ** 31) {
    throw invalid(`The value of ${member} is not an integer of 32 bits: ${excerpt(text)}.`, member);
  }
  return value;
}
