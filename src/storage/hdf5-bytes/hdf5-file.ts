/** Reads an HDF5 file: groups, attributes, tables and values. The caller passes a function for further filters. */
import { dirname } from "node:path";
import { DataError } from "../../shared/errors.js";
import type { FileStamp } from "../dataset/dataset.js";
import { packingOf, unpack } from "../dataset/packing.js";
import type { ReadBuffer } from "../dataset/read-buffer.js";
import type {
  Attributes,
  AttributeValue,
  ChunkIndex,
  Hyperslab,
  NumberType,
  RawValues,
  Stored,
} from "../dataset/stored.js";
import type { StoredFile, StoredHyperslab, VirtualSources } from "../dataset/stored-file.js";
import { countElements, MAX_TABLE_BYTES, MAX_TEXTS, NO_SOURCES } from "../dataset/stored-file.js";
import { type ByteRange, type FilePlace, pathOf, type RangedFile, swapped, whyNotHdf5 } from "./bytes.js";
import { type Placement, readLayout, type StoredLayout, type ValuePlaces, valuePlaces } from "./chunk-index.js";
import { type ChunkedDataset, isWholeChunk, readChunks, readWholeChunk, repeated } from "./chunk-reader.js";
import { filterName, type StoredFilter, type UndoFilter, whyNotUndone } from "./filters.js";
import {
  attributeParts,
  attributeValue,
  type ElementType,
  type Fill,
  readFill,
  readFilters,
  readNumbers,
  readReferences,
  readSpace,
  readTexts,
  readType,
} from "./header-messages.js";
import { globalObject } from "./heaps.js";
import { netcdfFill } from "./netcdf-fill.js";
import { MESSAGE } from "./object-header.js";
import { readRows, storedRanges } from "./stored-ranges.js";
import { type Hdf5Object, Structure } from "./structure.js";
import { readMappings, VirtualDataset } from "./virtual.js";

const MAX_LINKS = 16;
/** Fewest bytes that a number of a table counts as: in memory, it takes 8. */
const FLOAT32_BYTES = 4;
/** Attributes of a dataset that refer to the coordinate tables of its dimensions, and that label them. */
const SCALES = "DIMENSION_LIST";
const LABELS = "DIMENSION_LABELS";
/** The attribute of missing values, and the attribute of the root in files that netCDF wrote. */
const FILL = "_FillValue";
const NETCDF_MARK = "_NCProperties";
/** Bytes of an element that is a list in the heap. */
const LIST_BYTES = 16;

interface DatasetHeader {
  readonly object: Hdf5Object;
  readonly type: ElementType;
  readonly stored: Stored;
  readonly filters: readonly StoredFilter[];
  readonly layout: StoredLayout;
  readonly fill: Fill;
  readonly isExternal: boolean;
  /** Whether there are no values at all, not even one. */
  readonly isNull: boolean;
  places: ValuePlaces | null;
  /** The virtual dataset, once its values are read. */
  virtual: VirtualDataset | null;
}

export class Hdf5File implements StoredFile {
  readonly path: string;
  readonly #place: FilePlace;
  readonly #structure: Structure;
  readonly #undo: UndoFilter;
  readonly #below: string | undefined;
  readonly #datasets = new Map<number, DatasetHeader>();
  readonly #attributes = new Map<number, Attributes>();
  /** The first path of each object, once a dimension scale was requested. */
  #paths: ReadonlyMap<number, string> | null = null;
  #closed = false;

  /** `undo`: undoes other filters; `room`: of ROOM_BYTES, used until it is closed; `below`: holds sources. Throws DataError. */
  constructor(place: FilePlace, undo: UndoFilter, room?: Buffer, below?: string) {
    this.#below = below;
    this.path = pathOf(place);
    this.#place = place;
    this.#undo = undo;
    try {
      this.#structure = new Structure(place, room);
      // A file without a root group is damaged.
      if (this.#structure.object("/").kind !== "group") throw new DataError("its root is not a group");
    } catch (error) {
      if (!isDamage(error)) throw error;
      throw new DataError(`${this.path} does not open as an HDF5 file: ${whyNotHdf5(place, named(error))}.`, error);
    }
  }

  /** The stamp of the file when it was opened; null for a file that is read by ranges. */
  get stamp(): FileStamp | null {
    return this.#structure.bytes.stamp;
  }

  get newestMs(): number | undefined {
    return this.#ranged?.newestMs;
  }

  get version(): string | undefined {
    return this.#ranged?.version;
  }

  get #ranged(): RangedFile | null {
    return typeof this.#place === "string" ? null : this.#place;
  }

  names(group: string): string[] {
    return this.#reading(`${group} is not a readable group`, () => [
      ...this.#structure.members(this.#structure.object(group)).keys(),
    ]);
  }

  /** @throws DataError for an external link, and for soft links in a circle */
  resolve(path: string): string | null {
    return this.#reading(`${path} is not readable`, () => {
      let left = namesIn(path);
      let at: string[] = [];
      for (let hops = 0; left.length > 0; ) {
        const [name, ...rest] = left as [string, ...string[]];
        const parent = this.#structure.object(at.join("/"));
        const member = parent.kind === "group" ? this.#structure.members(parent).get(name) : undefined;
        if (member === undefined) return null;
        if (typeof member === "object")
          throw new DataError(`${this.path}: /${[...at, name].join("/")} is ${member.refused}, which is refused.`);
        if (typeof member === "number") {
          at = [...at, name];
          left = rest;
          continue;
        }
        if (++hops > MAX_LINKS) throw new DataError(`${this.path}: ${path} is a chain of too many links.`);
        if (member.startsWith("/")) at = [];
        left = [...namesIn(member), ...rest];
      }
      return `/${at.join("/")}`;
    });
  }

  kind(path: string): "group" | "dataset" | "other" {
    return this.#reading(`${path} is not readable`, () => this.#structure.object(path).kind);
  }

  describe(path: string): Stored {
    return this.#dataset(path).stored;
  }

  attributes(path: string): Attributes {
    return this.#reading(`the attributes of ${path} are not readable`, () => {
      const object = this.#structure.object(path);
      const known = this.#attributes.get(object.address);
      if (known !== undefined) return known;
      const { read } = this.#structure;
      const types = new Map<string, NumberType>();
      const found = Object.assign(new Map<string, AttributeValue | null>(), { types });
      for (const part of this.#attributeParts(object)) {
        if (found.has(part.name)) throw new DataError(`two of them have the name ${part.name}`);
        found.set(part.name, attributeValue(part, read));
        const { element, size } = readType(part.type);
        if (element === "float" || element === "integer") types.set(part.name, { element, size });
      }
      const fill = object.kind === "dataset" && !found.has(FILL) ? this.#netcdfFill(path, found) : null;
      if (fill !== null) found.set(FILL, fill);
      this.#attributes.set(object.address, found);
      return found;
    });
  }

  /** The default by which netCDF marks missing values of a dataset without the attribute; null if there is none. */
  #netcdfFill(path: string, attributes: Attributes): number | null {
    const { stored, type, fill } = this.#dataset(path);
    if (stored.element !== "float" && stored.element !== "integer") return null;
    // As netCDF4-python and xarray read them: the default of signed integers is a value of unsigned ones.
    if (attributes.get("_Unsigned") === "true" && stored.signed) return null;
    const isStated = fill.element?.length === stored.size;
    const [stated = null] = isStated ? readNumbers(viewOf(fill.element as Uint8Array), type, 1) : [];
    return netcdfFill(stored, stated, this.attributes("/").has(NETCDF_MARK));
  }

  #attributeParts(object: Hdf5Object): ReturnType<typeof attributeParts>[] {
    return this.#structure.attributes(object).map((body) => attributeParts(body, this.#structure.shared));
  }

  scales(path: string): string[][] {
    return this.#reading(`the dimension scales of ${path} are not readable`, () => {
      return this.#scalesOf(path).map((list) => list.filter((scale) => scale !== null));
    });
  }

  lostScales(path: string): number[] {
    return this.#reading(`the dimension scales of ${path} are not readable`, () =>
      this.#scalesOf(path).flatMap((list, dimension) => (list.includes(null) ? [dimension] : [])),
    );
  }

  /** The scales of each dimension; null for those without a path, or referred to in another form. */
  #scalesOf(path: string): (string | null)[][] {
    const { object, stored } = this.#dataset(path);
    const list = this.#attributeParts(object).find(({ name }) => name === SCALES);
    if (list === undefined) return stored.shape.map(() => []);
    if (!readType(list.type).isReferences) return stored.shape.map(() => [null]);
    return stored.shape.map((_, d) =>
      readReferences(list.values, d * LIST_BYTES, this.#structure.read).map((address) => this.#pathOf(address)),
    );
  }

  labels(path: string): (string | null)[] {
    return this.#reading(`the dimension labels of ${path} are not readable`, () => {
      const labels = this.attributes(path).get(LABELS);
      const texts = typeof labels === "string" ? [labels] : Array.isArray(labels) ? labels : [];
      return this.describe(path).shape.map((_, d) => texts[d] || null);
    });
  }

  texts(path: string): readonly string[] | null {
    const { stored, type, isNull } = this.#dataset(path);
    const count = stored.shape.reduce((product, length) => product * length, 1);
    const isSmall = !isNull && count > 0 && count <= MAX_TEXTS && count * stored.size <= MAX_TABLE_BYTES;
    if (stored.element !== "string" || !isSmall) return null;
    return this.#reading(`${path} is not readable`, () =>
      readTexts(viewOf(this.#allValues(path)), type, count, this.#structure.read),
    );
  }

  address(path: string): number {
    return this.#reading(`${path} is not readable`, () => this.#structure.object(path).address);
  }

  numbers(path: string): Float64Array {
    const { stored, type } = this.#dataset(path);
    const count = stored.shape.reduce((product, length) => product * length, 1);
    const bytes = count * stored.size;
    const { element } = stored;
    if (element !== "float" && element !== "integer") throw new DataError(`${this.path}: ${path} holds no numbers.`);
    if (Math.max(bytes, count * FLOAT32_BYTES) > MAX_TABLE_BYTES)
      throw new DataError(`${this.path}: ${path} is too large for a table (${bytes} bytes).`);
    if (bytes > 0 && this.isUnwritten(path)) throw new DataError(`${this.path}: ${path} was never written.`);
    return this.#reading(`${path} is not readable`, () => {
      const values = viewOf(bytes === 0 ? new Uint8Array(0) : this.#allValues(path));
      const numbers = readNumbers(values, { ...type, littleEndian: true }, count);
      return Float64Array.from(unpack(numbers, packingOf(this.attributes(path), stored)));
    });
  }

  isUnwritten(path: string): boolean {
    const { layout } = this.#dataset(path);
    return layout.address === null && layout.virtual === null;
  }

  sources(path: string): VirtualSources {
    if (!this.#dataset(path).stored.virtual) return NO_SOURCES;
    return this.#reading(`the sources of ${path} are not readable`, () => this.#virtual(path).sources());
  }

  #virtual(path: string): VirtualDataset {
    const dataset = this.#dataset(path);
    const { stored, layout } = dataset;
    const { address, index } = layout.virtual as { readonly address: number; readonly index: number };
    if (this.#ranged !== null) throw new DataError("it is a virtual dataset, which is not read at an address");
    dataset.virtual ??= new VirtualDataset(
      readMappings(globalObject(this.#structure.read, address, index), stored.shape),
      stored,
      this.attributes(path),
      dirname(this.path),
      this.#below,
      (file) => (file === "." ? this : new Hdf5File(file, this.#undo)),
    );
    return dataset.virtual;
  }

  hasExternalStorage(path: string): boolean {
    return this.#dataset(path).isExternal;
  }

  placement(path: string): Placement {
    return this.#places(path).placement;
  }

  chunkIndex(path: string): ChunkIndex | null {
    if (this.#dataset(path).stored.virtual) return null;
    const { index, isKnown } = this.#places(path);
    return isKnown ? index : null;
  }

  fetch(boxes: readonly StoredHyperslab[]): readonly boolean[] {
    if (this.#ranged === null) return boxes.map(() => true);
    return this.#ranged.prefetch(boxes.map((box) => () => this.#ranges(box.path, box)));
  }

  #ranges(path: string, box: Hyperslab): ByteRange[] {
    return storedRanges(this.#dataset(path).stored, this.placement(path), box);
  }

  /** @throws DataError for a box outside of the dataset, damage, or values that were never written */
  readHyperslab(path: string, stored: Stored, box: Hyperslab, buffer: ReadBuffer): RawValues {
    const total = countElements(`${this.path}: ${path}`, stored.shape, box);
    if (this.#closed) throw new DataError(`${this.path} is closed.`);
    const out = buffer.bytes(total * stored.size);
    this.#reading(`reading ${path} failed`, () => this.#readBox(path, box, out, buffer.chunkMemory));
    return buffer.values(stored, total);
  }

  readWholeChunk(path: string, stored: Stored, box: Hyperslab, out: Uint8Array, buffer: ReadBuffer): boolean {
    if (this.#closed || stored.chunks === null) return false;
    return this.#reading(`reading ${path} failed`, () => {
      const chunked = this.#chunked(path);
      if (chunked === null || !isWholeChunk(chunked, box)) return false;
      return this.#fetching(path, box, () => readWholeChunk(chunked, box, out, buffer.chunkMemory));
    });
  }

  #fetching<T>(path: string, box: Hyperslab, read: () => T): T {
    return this.#ranged === null ? read() : this.#ranged.withRanges(this.#ranges(path, box), read);
  }

  /** Reads a box of elements, little-endian. `roomFor`: lends memory for a stored chunk. */
  #readBox(path: string, box: Hyperslab, out: Uint8Array, roomFor: (bytes: number) => Buffer): void {
    const { stored, isExternal } = this.#dataset(path);
    if (isExternal) throw new DataError("its values are in an external file");
    if (stored.virtual) {
      this.#virtual(path).read(box, out);
      return;
    }
    this.#fetching(path, box, () => this.#readFetched(path, box, out, roomFor));
  }

  /** Reads a box whose bytes are there: from chunks, by its fill value if nothing was written, or in rows. */
  #readFetched(path: string, box: Hyperslab, out: Uint8Array, roomFor: (bytes: number) => Buffer): void {
    const { stored, layout } = this.#dataset(path);
    const chunked = this.#chunked(path);
    if (chunked !== null) {
      const isWhole = chunked.index.unwritten(box) === null;
      readChunks(chunked, box, out, isWhole ? null : this.#fillOf(path), roomFor);
    } else if (layout.address === null) out.set(repeated(this.#fillOf(path), out.length));
    else {
      const whole = stored.shape.reduce((product, length) => product * length, stored.size);
      if (layout.bytes !== null && layout.bytes < whole)
        throw new DataError(`it has ${layout.bytes} of ${whole} bytes`);
      readRows(this.#structure.bytes, layout.address, stored, box, out, roomFor);
    }
  }

  /** The fill value of elements that were never written, little-endian. Throws DataError if they have none. */
  #fillOf(path: string): Uint8Array {
    const { fill, stored } = this.#dataset(path);
    if (fill.isNothing)
      throw new DataError(`${this.path}: ${path} has values that were never written, and no fill value.`);
    const element = fill.element === null ? new Uint8Array(stored.size) : Uint8Array.from(fill.element);
    if (element.length !== stored.size) throw new DataError("its fill value is of another size");
    return stored.littleEndian ? element : swapped(element, stored.size);
  }

  #allValues(path: string): Uint8Array {
    const { stored } = this.#dataset(path);
    const foreign = whyNotUndone(stored.filters);
    if (foreign !== null) throw new DataError(`${this.path}: ${path} ${foreign}.`);
    const out = new Uint8Array(stored.shape.reduce((product, length) => product * length, stored.size));
    const box = { offset: stored.shape.map(() => 0), count: stored.shape };
    this.#readBox(path, box, out, (length) => Buffer.allocUnsafeSlow(length));
    return out;
  }

  #chunked(path: string): ChunkedDataset | null {
    const { stored, filters } = this.#dataset(path);
    const { chunks } = stored;
    if (chunks === null) return null;
    const { index } = this.#places(path);
    const { bytes } = this.#structure;
    const where = `${this.path}: ${path}`;
    return { where, stored: { ...stored, chunks }, index, bytes, filters, undo: this.#undo };
  }

  #places(path: string): ValuePlaces {
    const dataset = this.#dataset(path);
    const { read, bytes } = this.#structure;
    const where = `${this.path}: ${path}`;
    dataset.places ??= this.#reading(`the values of ${path} are not readable`, () =>
      valuePlaces(read, bytes.start, where, dataset.layout, dataset.stored),
    );
    return dataset.places;
  }

  #dataset(path: string): DatasetHeader {
    return this.#reading(`${path} has no readable header`, () => {
      const object = this.#structure.object(path);
      let dataset = this.#datasets.get(object.address);
      if (dataset === undefined) {
        dataset = openDataset(this.#structure, object);
        this.#datasets.set(object.address, dataset);
      }
      return dataset;
    });
  }

  #pathOf(address: number): string | null {
    this.#paths ??= this.#pathsOfObjects();
    return this.#paths.get(address) ?? null;
  }

  #pathsOfObjects(): ReadonlyMap<number, string> {
    const paths = new Map<number, string>();
    const visit = (group: string, address: number): void => {
      for (const [name, member] of this.#structure.members(this.#structure.at(address))) {
        if (typeof member !== "number" || paths.has(member)) continue;
        const path = `${group}/${name}`;
        paths.set(member, path);
        if (this.#structure.at(member).kind === "group") visit(path, member);
      }
    };
    const { root } = this.#structure.bytes;
    paths.set(root, "/");
    visit("", root);
    return paths;
  }

  #reading<T>(what: string, read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (!isDamage(error)) throw error;
      if (error instanceof DataError && error.message.startsWith(this.path)) throw error;
      throw new DataError(`${this.path}: ${what}: ${named(error).message.replace(/\.$/, "")}.`, error);
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const { virtual } of this.#datasets.values()) virtual?.close();
    this.#structure.close();
  }
}

/** Whether an error shows damage: an explicit error, a length or address that is too large, or a failed read. */
function isDamage(error: unknown): error is Error {
  return error instanceof DataError || error instanceof RangeError || (error instanceof Error && "syscall" in error);
}

/** Damage in terms of the file: the message of a RangeError would speak of arrays. */
function named(error: Error): Error {
  return error instanceof RangeError ? new DataError("a length or address is too large") : error;
}

const namesIn = (path: string): string[] => path.split("/").filter((name) => name !== "" && name !== ".");

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

/** Reads the header of a dataset. Throws DataError when the object is not a dataset, or damaged. */
function openDataset(structure: Structure, object: Hdf5Object): DatasetHeader {
  const [typeBody, spaceBody] = [structure.body(object, MESSAGE.type), structure.body(object, MESSAGE.space)];
  const message = object.header.messages.find(({ type }) => type === MESSAGE.layout);
  if (typeBody === null || spaceBody === null || message === undefined) throw new DataError("it is not a dataset");
  const type = readType(typeBody);
  const { shape, maxShape, isNull } = readSpace(spaceBody);
  const layout = readLayout(structure.bodyOf(message), message.start, shape.length);
  const { chunks } = layout;
  if (chunks !== null && (chunks.length !== shape.length || chunks.includes(0)))
    throw new DataError(`its chunks have ${chunks.length} dimensions`);
  const pipeline = structure.body(object, MESSAGE.filters);
  const filters = pipeline === null ? [] : readFilters(pipeline);
  const names = filters.map(filterName);
  const { element, size, signed, littleEndian } = type;
  const [fill, oldFill] = [structure.body(object, MESSAGE.fill), structure.body(object, MESSAGE.oldFill)];
  return {
    object,
    type,
    stored: {
      shape,
      maxShape,
      element,
      size,
      signed,
      littleEndian,
      chunks,
      filters: names,
      virtual: layout.virtual !== null,
    },
    filters,
    layout,
    fill: fill !== null ? readFill(fill, false) : readFill(oldFill ?? NO_FILL, true),
    isExternal: object.header.messages.some(({ type }) => type === MESSAGE.externalFiles),
    isNull,
    places: null,
    virtual: null,
  };
}

const NO_FILL = new DataView(new ArrayBuffer(4));
