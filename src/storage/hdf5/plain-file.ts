/**
 * `PlainFile` reads the structure of a local HDF5 file from its bytes: groups, headers, attributes and small tables, in
 * a tenth of the time that the library takes. It knows the forms that most writers use; for every other form, and for
 * the values of fields, it opens the file with the library.
 */
import type { FileStamp } from "../file/dataset.js";
import { packingOf, unpack } from "../file/packing.js";
import type { AttributeValue, ChunkIndex, Hyperslab, RawValues, Stored } from "../file/stored.js";
import type { StoredFile, ValueBuffer } from "../file/stored-file.js";
import { addressAt, unsigned } from "../hdf5-bytes/bytes.js";
import { FILTER_NAMES } from "../hdf5-bytes/filters.js";
import {
  OtherKind,
  readAttribute,
  readFilters,
  readNumbers,
  readSpace,
  readType,
} from "../hdf5-bytes/header-messages.js";
import { CHUNKED, CONTIGUOUS, MESSAGE, SHARED } from "../hdf5-bytes/object-header.js";
import { areElsewhere, isRefusal, PlainHeaders, type PlainObject, ROOM_BYTES } from "../hdf5-bytes/plain-headers.js";
import { H5File } from "./file.js";

/** Most bytes of a table of coordinates that is read without the library. */
const MOST_PLAIN_BYTES = 1024 * 1024;
/** The attributes that name the coordinate tables of the dimensions of a dataset, and their labels. */
const SCALES = "DIMENSION_LIST";
const LABELS = "DIMENSION_LABELS";

/** The place of the values of a dataset: in chunks, or all in one range of bytes. */
interface ValuesLayout {
  /** Lengths of a chunk; null where the values are in one range. */
  readonly chunks: readonly number[] | null;
  /** That range; null where the values are in chunks or were never written. */
  readonly values: { readonly address: number; readonly bytes: number } | null;
  /** Whether neither values nor chunks have a place. */
  readonly isUnwritten: boolean;
}

/** A local HDF5 file that is open for its structure. */
export class PlainFile implements StoredFile {
  readonly path: string;
  /** Null where the library has to read everything. */
  readonly #headers: PlainHeaders | null;
  /** The file as opened by the library; null until that is needed. */
  #library: H5File | null = null;
  readonly #objects = new Map<string, PlainObject>();
  readonly #attributes = new Map<PlainObject, Map<string, AttributeValue | null>>();

  /**
   * @param room of ROOM_BYTES, used until the file is closed
   * @throws DataError when the library has to open the file and cannot
   */
  constructor(path: string, room: Buffer = Buffer.allocUnsafeSlow(ROOM_BYTES)) {
    this.path = path;
    this.#headers = PlainHeaders.open(path, room);
    if (this.#headers === null) this.#library = new H5File(path);
  }

  /** The file as it was opened; null where the library reads everything. */
  get stamp(): FileStamp | null {
    return this.#headers?.record ?? null;
  }

  names(group: string): string[] {
    return this.#plainOrLibrary(
      () => [...this.#object(group).members().keys()],
      (file) => file.names(group),
    );
  }

  resolve(path: string): string | null {
    return this.#plainOrLibrary(
      () => {
        let at = "";
        for (const name of path.split("/").filter((part) => part !== "")) {
          const parent = this.#object(at);
          if (kindOf(parent) !== "group") return null;
          const address = parent.members().get(name);
          if (address === undefined) return null;
          if (address === null) throw new OtherKind();
          at = `${at}/${name}`;
        }
        return at === "" ? "/" : at;
      },
      (file) => file.resolve(path),
    );
  }

  kind(path: string): "group" | "dataset" | "other" {
    return this.#plainOrLibrary(
      () => kindOf(this.#object(path)),
      (file) => file.kind(path),
    );
  }

  describe(path: string): Stored {
    return this.#plainOrLibrary(
      () => describe(this.#object(path)),
      (file) => file.describe(path),
    );
  }

  attributes(path: string): Map<string, AttributeValue | null> {
    return this.#plainOrLibrary(
      () => this.#attributesOf(this.#object(path)),
      (file) => file.attributes(path),
    );
  }

  scales(path: string): string[][] {
    return this.#plainOrLibrary(
      () => {
        const object = this.#object(path);
        if (this.#attributesOf(object).has(SCALES)) throw new OtherKind();
        return describe(object).shape.map(() => []);
      },
      (file) => file.scales(path),
    );
  }

  labels(path: string): (string | null)[] {
    return this.#plainOrLibrary(
      () => {
        const object = this.#object(path);
        if (this.#attributesOf(object).has(LABELS)) throw new OtherKind();
        return describe(object).shape.map(() => null);
      },
      (file) => file.labels(path),
    );
  }

  numbers(path: string): Float64Array {
    return this.#plainOrLibrary(
      () => {
        const object = this.#object(path);
        const stored = describe(object);
        const { values } = layoutOf(object);
        const count = stored.shape.reduce((product, length) => product * length, 1);
        const bytes = count * stored.size;
        const isPlain = values?.bytes === bytes && bytes > 0 && bytes <= MOST_PLAIN_BYTES && !isExternal(object);
        if (!isPlain || stored.filters.length > 0) throw new OtherKind();
        const { element, size, signed } = readType(bodyOf(object, MESSAGE.type));
        const numbers = readNumbers(object.read(values.address, bytes), { element, size, signed }, count);
        return Float64Array.from(unpack(numbers, packingOf(this.#attributesOf(object), stored)));
      },
      (file) => file.numbers(path),
    );
  }

  texts(path: string): readonly string[] | null {
    const { element } = this.describe(path);
    return element === "string" ? this.#opened().texts(path) : null;
  }

  address(path: string): number {
    return this.#plainOrLibrary(
      () => this.#object(path).address,
      (file) => file.address(path),
    );
  }

  isUnwritten(path: string): boolean {
    return this.#plainOrLibrary(
      () => layoutOf(this.#object(path)).isUnwritten,
      (file) => file.isUnwritten(path),
    );
  }

  hasExternalStorage(path: string): boolean {
    return this.#plainOrLibrary(
      () => isExternal(this.#object(path)),
      (file) => file.hasExternalStorage(path),
    );
  }

  readHyperslab(path: string, stored: Stored, box: Hyperslab, buffer: ValueBuffer): RawValues {
    return this.#opened().readHyperslab(path, stored, box, buffer);
  }

  chunkIndex(path: string, stored: Stored): ChunkIndex | null {
    return this.#opened().chunkIndex(path, stored);
  }

  close(): void {
    this.#headers?.close();
    this.#library?.close();
  }

  #attributesOf(object: PlainObject): Map<string, AttributeValue | null> {
    const known = this.#attributes.get(object) ?? attributesOf(object);
    this.#attributes.set(object, known);
    return known;
  }

  /** The file as opened by the library. */
  #opened(): H5File {
    this.#library ??= new H5File(this.path);
    return this.#library;
  }

  /** Returns what `plain` reads from the bytes, or what the library reads where `plain` does not know their form. */
  #plainOrLibrary<T>(plain: () => T, library: (file: H5File) => T): T {
    if (this.#headers !== null) {
      try {
        return plain();
      } catch (error) {
        if (!isRefusal(error)) throw error;
      }
    }
    return library(this.#opened());
  }

  /** The object at a path that only hard links lead along. @throws OtherKind when there is none */
  #object(path: string): PlainObject {
    const known = this.#objects.get(path);
    if (known !== undefined) return known;
    const names = path.split("/").filter((name) => name !== "");
    const headers = this.#headers as PlainHeaders;
    const name = names.at(-1);
    const address = name === undefined ? headers.root : this.#object(names.slice(0, -1).join("/")).members().get(name);
    if (address === undefined || address === null) throw new OtherKind();
    const object = headers.object(address);
    this.#objects.set(path, object);
    return object;
  }
}

/** @throws OtherKind for an object that is neither group nor dataset */
function kindOf({ messages }: PlainObject): "group" | "dataset" {
  if (messages.some(({ type }) => type === MESSAGE.layout)) return "dataset";
  if (messages.some(({ type }) => type === MESSAGE.symbolTable || type === MESSAGE.linkInfo)) return "group";
  throw new OtherKind();
}

/** The body of the object's message of a type. @throws OtherKind when it has none, or shares it with other objects */
function bodyOf({ messages, body }: PlainObject, wanted: number): DataView {
  const message = messages.find(({ type }) => type === wanted);
  if (message === undefined || (message.flags & SHARED) !== 0) throw new OtherKind();
  return body(message);
}

/** Whether an object keeps its values in other files. */
function isExternal({ messages }: PlainObject): boolean {
  return messages.some(({ type }) => type === MESSAGE.externalFiles);
}

/** Describes a dataset of numbers. @throws OtherKind for one of anything else */
function describe(object: PlainObject): Stored {
  const { element, size, signed } = readType(bodyOf(object, MESSAGE.type));
  if (element !== "float" && element !== "integer") throw new OtherKind();
  const { shape, maxShape } = readSpace(bodyOf(object, MESSAGE.space));
  const { chunks } = layoutOf(object);
  if (chunks !== null && chunks.length !== shape.length) throw new OtherKind();
  const isFiltered = object.messages.some(({ type }) => type === MESSAGE.filters);
  const ids = isFiltered ? readFilters(bodyOf(object, MESSAGE.filters)) : [];
  const filters = ids.map((id) => FILTER_NAMES.get(id) ?? `#${id}`);
  return { shape, maxShape, element, size, signed, littleEndian: true, chunks, filters, virtual: false };
}

/** Reads the layout message. @throws OtherKind for another version than 3, or values inside of the header */
function layoutOf(object: PlainObject): ValuesLayout {
  const body = bodyOf(object, MESSAGE.layout);
  const [version, kind] = [body.getUint8(0), body.getUint8(1)];
  if (version !== 3 || (kind !== CONTIGUOUS && kind !== CHUNKED)) throw new OtherKind();
  if (kind === CONTIGUOUS) {
    const [address, bytes] = [addressAt(body, 2), unsigned(body, 10)];
    return { chunks: null, values: address === null ? null : { address, bytes }, isUnwritten: address === null };
  }
  // The last length is that of an element.
  const rank = body.getUint8(2) - 1;
  const chunks = Array.from({ length: rank }, (_, d) => body.getUint32(11 + 4 * d, true));
  return { chunks, values: null, isUnwritten: addressAt(body, 3) === null };
}

/** Reads the attributes of an object by name. @throws OtherKind where they are kept elsewhere */
function attributesOf(object: PlainObject): Map<string, AttributeValue | null> {
  const found = new Map<string, AttributeValue | null>();
  for (const message of object.messages) {
    const { type, flags } = message;
    if (type === MESSAGE.attributeInfo && areElsewhere(object.body(message))) throw new OtherKind();
    if (type !== MESSAGE.attribute) continue;
    if ((flags & SHARED) !== 0) throw new OtherKind();
    const { name, value } = readAttribute(object.body(message), object.read);
    found.set(name, value);
  }
  // The library lists attributes in the order of their names.
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}
