/**
 * Opens HDF5 files through h5wasm, follows their links, describes and reads them; failures are DataErrors. `loadHdf5`
 * comes first.
 */
import { h5wasm, Module } from "h5wasm/node";
import { DataError } from "../../errors.js";
import { packingOf, unpack } from "../file/packing.js";
import type { AttributeValue, ChunkIndex, Hyperslab, RawValues, Stored } from "../file/stored.js";
import {
  countElements,
  MAX_TABLE_BYTES,
  MAX_TEXTS,
  type StoredFile,
  type StoredHyperslab,
  type ValueBuffer,
} from "../file/stored-file.js";
import {
  type ByteRange,
  type FilePlace,
  hdf5Bytes,
  type OpenBytes,
  pathOf,
  type RangedFile,
  whyNotHdf5,
} from "../hdf5-bytes/bytes.js";
import { isUnwritten, type Placement, readChunkIndex, readPlacement } from "../hdf5-bytes/chunk-index.js";
import {
  type ChunkedDataset,
  checkChunks,
  isWholeChunk,
  readChunks,
  readWholeChunk,
} from "../hdf5-bytes/chunk-reader.js";
import { FILTER_NAMES, isUndoneHere } from "../hdf5-bytes/filters.js";
import { isUsualNumber } from "../hdf5-bytes/header-messages.js";
import { hasExternalStorage, statedCounts, typeMessage } from "../hdf5-bytes/object-header.js";
import { readRows, storedRanges } from "../hdf5-bytes/stored-ranges.js";
import { attempt, type LibraryHandle, libraryGeneration, openInLibrary, ReadBuffer, readValues } from "./library.js";

const ELEMENTS = new Map<number, Stored["element"]>([
  [0, "integer"],
  [1, "float"],
  [3, "string"],
]);
const MAX_LINKS = 16;
/** Numbers of a table count as many bytes at least: as read they take 8. */
const FLOAT32_BYTES = 4;
/** The library's length of a dimension without a bound: 2^64 - 1, as a float64 has it. */
const UNLIMITED = 2 ** 64;

/** An open file, read-only. */
export class H5File implements StoredFile {
  readonly path: string;
  readonly #place: FilePlace;
  #handle: LibraryHandle;
  #closed = false;
  /** Chunk indexes by path; null where a dataset has none. */
  readonly #indexes = new Map<string, ChunkIndex | null>();
  readonly #groups = new Map<string, ReadonlySet<string>>();
  #bytes: OpenBytes | null = null;
  readonly #placements = new Map<string, Placement>();
  readonly #described = new Map<string, Stored>();

  /** @param place path of the file, or the file where it is read by ranges */
  constructor(place: FilePlace) {
    this.path = pathOf(place);
    this.#place = place;
    this.#handle = this.#open();
  }

  #open(): LibraryHandle {
    const why = () => `${this.path} does not open as an HDF5 file: ${whyNotHdf5(this.#place)}.`;
    return openInLibrary(this.#place, why);
  }

  /** The library's handle; another one where the library has begun anew since the file was opened. */
  get #id(): bigint {
    if (this.#handle.generation !== libraryGeneration() && !this.#closed) this.#handle = this.#open();
    return this.#handle.id;
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

  /** Names in a group, in stored order. */
  names(group: string): string[] {
    return [...this.#members(group)];
  }

  /** Names in a group; kept, because each step of a path asks for them, and groups may have thousands. */
  #members(group: string): ReadonlySet<string> {
    let members = this.#groups.get(group);
    if (members === undefined) {
      const what = `${this.path}: ${group} is not a readable group.`;
      members = attempt(what, () => new Set(Module.get_names(this.#id, group, false)));
      const { links } = this.#stated(group);
      if (links !== null && links !== members.size) throw new DataError(what);
      this.#groups.set(group, members);
    }
    return members;
  }

  /**
   * The path with its soft links followed by hand, each of its members checked.
   *
   * @returns null when there is no such member
   * @throws DataError for an external link, and for soft links in a circle
   */
  resolve(path: string): string | null {
    let left = path.split("/").filter((part) => part !== "");
    let at = "";
    for (let hops = 0; left.length > 0; ) {
      const [name, ...rest] = left as [string, ...string[]];
      const parent = at === "" ? "/" : at;
      if (at !== "" && this.#typeOf(at) !== Module.H5G_GROUP) return null;
      if (!this.#members(parent).has(name)) return null;
      const here = `${at}/${name}`;
      const link = this.#link(here);
      if (link === null) {
        at = here;
        left = rest;
        continue;
      }
      if (++hops > MAX_LINKS) throw new DataError(`${this.path}: ${path} is a chain of too many links.`);
      const target = link.split("/").filter((part) => part !== "" && part !== ".");
      if (link.startsWith("/")) at = "";
      left = [...target, ...rest];
    }
    return at === "" ? "/" : at;
  }

  /** Target of a soft link, or null for a hard link. */
  #link(path: string): string | null {
    return attempt(`${this.path}: ${path} is not readable.`, () => {
      const external = Module.get_external_link(this.#id, path);
      if (external.filename !== undefined)
        throw new DataError(`${this.path}: ${path} is an external link to ${external.filename}, which is refused.`);
      return (Module.get_symbolic_link(this.#id, path) as string | null) ?? null;
    });
  }

  #typeOf(path: string): number {
    return attempt(`${this.path}: ${path} is not readable.`, () => Module.get_type(this.#id, path));
  }

  /** The object at a path that `resolve` returned. */
  kind(path: string): "group" | "dataset" | "other" {
    const type = this.#typeOf(path);
    return type === Module.H5G_GROUP ? "group" : type === Module.H5G_DATASET ? "dataset" : "other";
  }

  /** Header of the dataset at a path that `resolve` returned. */
  describe(path: string): Stored {
    return attempt(`${this.path}: ${path} has no readable header.`, () => {
      const header = Module.get_dataset_metadata(this.#id, path);
      const shape = header.shape ?? [];
      return {
        shape,
        maxShape: (header.maxshape ?? shape).map((length) => (length < UNLIMITED ? length : Number.POSITIVE_INFINITY)),
        element: this.#elementOf(path, header.type),
        size: header.size,
        signed: header.signed,
        littleEndian: header.littleEndian,
        chunks: header.chunks,
        filters: Module.get_dataset_filters(this.#id, path).map(({ id }) => FILTER_NAMES.get(id) ?? `#${id}`),
        virtual: header.virtual_sources !== undefined,
      };
    });
  }

  /** The element type of a dataset; numbers that are not what their size says, such as those of a VAX, are others. */
  #elementOf(path: string, type: number): Stored["element"] {
    const element = ELEMENTS.get(type) ?? "other";
    if (element !== "float" && element !== "integer") return element;
    const message = typeMessage(this.#place, this.headerAddress(path));
    return message !== null && isUsualNumber(message) ? element : "other";
  }

  /** The placement of the values of a dataset in the file. */
  placement(path: string, stored: Stored): Placement {
    let placement = this.#placements.get(path);
    if (placement === undefined) {
      const chunkBytes = (stored.chunks ?? []).reduce((product, edge) => product * edge, stored.size);
      placement = readPlacement(this.#place, path, this.headerAddress(path), stored, chunkBytes);
      this.#placements.set(path, placement);
    }
    return placement;
  }

  isUnwritten(path: string): boolean {
    return isUnwritten(this.#place, this.headerAddress(path));
  }

  hasExternalStorage(path: string): boolean {
    return hasExternalStorage(this.#place, this.headerAddress(path));
  }

  /** Starts to fetch the bytes of boxes where the file lies elsewhere. */
  fetched(boxes: readonly StoredHyperslab[]): readonly boolean[] {
    if (this.#ranged === null) return boxes.map(() => true);
    const find = boxes.map(
      ({ path, offset, count }) =>
        () =>
          this.#ranges(path, { offset, count }),
    );
    return this.#ranged.fetched(find);
  }

  /** The bytes that hold a box. */
  #ranges(path: string, box: Hyperslab): ByteRange[] {
    let stored = this.#described.get(path);
    if (stored === undefined) {
      stored = this.describe(path);
      this.#described.set(path, stored);
    }
    return storedRanges(stored, this.placement(path, stored), box);
  }

  /** Address of the object header in the file, from the start of the HDF5 data. */
  headerAddress(path: string): number {
    return attempt(`${this.path}: ${path} is not readable.`, () => {
      const reference = Uint8Array.from(Module.create_object_reference(this.#id, path));
      return Number(new DataView(reference.buffer).getBigUint64(0, true));
    });
  }

  /** The numbers of members that the object at a path states to have. */
  #stated(path: string): ReturnType<typeof statedCounts> {
    this.#bytes ??= hdf5Bytes(this.#place);
    return statedCounts(this.#bytes, this.path, this.headerAddress(path));
  }

  /** Attributes: numbers, text, and null for those of other types. */
  attributes(path: string): Map<string, AttributeValue | null> {
    return attempt(`${this.path}: the attributes of ${path} are not readable.`, () => {
      const found = new Map<string, AttributeValue | null>();
      const holder = new h5wasm.Group(this.#id, path);
      const names = Module.get_attribute_names(this.#id, path);
      if (names.length !== this.#stated(path).attributes) throw new Error("some attributes are not listed");
      for (const name of names) {
        const { type, size, enum_type: names } = Module.get_attribute_metadata(this.#id, path, name);
        const isKnown = isReadable(ELEMENTS.get(type), size) || isTruth(names?.members);
        found.set(name, isKnown ? attributeValue(holder.get_attribute(name, true)) : null);
      }
      return found;
    });
  }

  /** Dimension scales attached to each dimension of a dataset: their paths. */
  scales(path: string): string[][] {
    return attempt(`${this.path}: the dimension scales of ${path} are not readable.`, () =>
      this.describe(path).shape.map((_, index) => [...Module.get_attached_scales(this.#id, path, index)]),
    );
  }

  /** Label of each dimension of a dataset, or null. */
  labels(path: string): (string | null)[] {
    return attempt(`${this.path}: the dimension labels of ${path} are not readable.`, () =>
      Module.get_dimension_labels(this.#id, path).map((label) => (label === null || label === "" ? null : label)),
    );
  }

  texts(path: string): readonly string[] | null {
    const { element, shape, size } = this.describe(path);
    const count = shape.reduce((product, length) => product * length, 1);
    if (element !== "string" || count === 0 || count > MAX_TEXTS || count * size > MAX_TABLE_BYTES) return null;
    return attempt(`${this.path}: ${path} is not readable.`, () => {
      const value = new h5wasm.Dataset(this.#id, path).value as unknown;
      const texts = Array.isArray(value) ? value : [value];
      return texts.every((text) => typeof text === "string") ? texts : null;
    });
  }

  address(path: string): number {
    return this.headerAddress(path);
  }

  /** All values of a small numeric dataset, unpacked to float64. */
  numbers(path: string): Float64Array {
    const described = this.describe(path);
    const { shape, size, element } = described;
    const count = shape.reduce((product, extent) => product * extent, 1);
    const bytes = count * size;
    if (element !== "float" && element !== "integer") throw new DataError(`${this.path}: ${path} holds no numbers.`);
    if (Math.max(bytes, count * FLOAT32_BYTES) > MAX_TABLE_BYTES)
      throw new DataError(`${this.path}: ${path} is too large for a table (${bytes} bytes).`);
    if (bytes > 0 && this.isUnwritten(path)) throw new DataError(`${this.path}: ${path} was never written.`);
    return attempt(`${this.path}: ${path} is not readable.`, () => {
      this.#checkTable(path, described);
      const value = new h5wasm.Dataset(this.#id, path).value as unknown;
      const stored =
        typeof value === "number" || typeof value === "bigint" ? [value] : (value as ArrayLike<number | bigint>);
      const numbers = Float64Array.from(stored as ArrayLike<number>, Number);
      const unpacked = unpack(numbers, packingOf(this.attributes(path), described));
      return unpacked instanceof Float64Array ? unpacked : Float64Array.from(unpacked);
    });
  }

  /** Decodes the chunks of a table, which the library then reads once more. @throws DataError when one is damaged */
  #checkTable(path: string, stored: Stored): void {
    const chunked = this.#chunked(path, stored);
    if (chunked === null || stored.shape.includes(0)) return;
    const whole = { offset: stored.shape.map(() => 0), count: stored.shape };
    if (stored.filters.length === 0 || !isUndoneHere(stored.filters)) checkChunks(chunked, whole);
    else
      readChunks(
        chunked,
        whole,
        new Uint8Array(stored.shape.reduce((product, extent) => product * extent, stored.size)),
        new Uint8Array(stored.size),
        (room) => Buffer.allocUnsafeSlow(room),
      );
  }

  /**
   * Reads a hyperslab in stored order and stored type (little-endian) into `buffer`.
   * The library does not check bounds and takes wrong ranks silently: the box is checked here.
   */
  readHyperslab(path: string, stored: Stored, box: Hyperslab, buffer: ValueBuffer): RawValues {
    if (this.#closed) throw new DataError(`${this.path} is closed.`);
    const total = countElements(`${this.path}: ${path}`, stored.shape, box);
    const read = () => this.#readBox(path, stored, box, total, buffer);
    return this.#ranged === null ? read() : this.#ranged.with(this.#ranges(path, box), read);
  }

  readWholeChunk(path: string, stored: Stored, box: Hyperslab, out: Uint8Array, buffer: ValueBuffer): boolean {
    const chunked = !this.#closed && isUndoneHere(stored.filters) ? this.#chunked(path, stored) : null;
    if (chunked === null || !isWholeChunk(chunked, box)) return false;
    const read = () => readWholeChunk(chunked, box, out, (bytes) => buffer.room(bytes));
    return this.#ranged === null ? read() : this.#ranged.with(this.#ranges(path, box), read);
  }

  #readBox(path: string, stored: Stored, box: Hyperslab, total: number, buffer: ValueBuffer): RawValues {
    const chunked = this.#chunked(path, stored);
    const pointer = buffer.reserve(total * stored.size);
    if (chunked !== null && stored.filters.length > 0 && isUndoneHere(stored.filters)) {
      const gap = chunked.index.unwritten(box);
      const fill = gap === null ? null : this.#fillValue(path, stored, gap);
      readChunks(chunked, box, buffer.bytes(total * stored.size), fill, (bytes) => buffer.room(bytes));
      return buffer.values(stored, total);
    }
    const start = this.#ranged === null || stored.chunks !== null ? null : this.placement(path, stored).contiguous;
    if (start !== null) {
      readRows(this.#ranged as RangedFile, start, stored, box, buffer.bytes(total * stored.size));
      return buffer.values(stored, total);
    }
    if (chunked !== null) checkChunks(chunked, box);
    this.#readByLibrary(path, box, pointer);
    return buffer.values(stored, total);
  }

  /** The element that stands for those of unwritten chunks, of which `first` begins one; little-endian. */
  #fillValue(path: string, stored: Stored, first: readonly number[]): Uint8Array {
    const buffer = new ReadBuffer();
    try {
      this.#readByLibrary(path, { offset: first, count: first.map(() => 1) }, buffer.reserve(stored.size));
      return buffer.bytes(stored.size).slice();
    } finally {
      buffer.free();
    }
  }

  #readByLibrary(path: string, { offset, count }: Hyperslab, pointer: number): void {
    readValues(
      () => `${this.path}: reading ${path} failed.`,
      () =>
        Module.get_dataset_data(
          this.#id,
          path,
          count.map(BigInt),
          offset.map(BigInt),
          count.map(() => 1n),
          BigInt(pointer),
        ),
    );
  }

  /**
   * The chunk index of the dataset at a path that `resolve` returned; null where everything is written and unfiltered.
   */
  chunkIndex(path: string, stored: Stored): ChunkIndex | null {
    let index = this.#indexes.get(path);
    if (index === undefined) {
      index = readChunkIndex(this.#place, path, this.headerAddress(path), stored);
      this.#indexes.set(path, index);
    }
    return index;
  }

  /** Null where values have no chunks, or chunks that need no look. */
  #chunked(path: string, stored: Stored): ChunkedDataset | null {
    const { chunks } = stored;
    const index = chunks === null ? null : this.chunkIndex(path, stored);
    if (chunks === null || index === null) return null;
    this.#bytes ??= hdf5Bytes(this.#place);
    return { where: `${this.path}: ${path}`, stored: { ...stored, chunks }, index, bytes: this.#bytes };
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#handle.close();
  }
}

/** Whether an attribute of that type can be read: no float16, no integers of odd sizes. */
function isReadable(element: Stored["element"] | undefined, size: number): boolean {
  if (element === "integer") return [1, 2, 4, 8].includes(size);
  return element === "float" ? size === 4 || size === 8 : element === "string";
}

/** Whether the names of an enumeration are those by which h5py writes false and true. */
function isTruth(members: Readonly<Record<string, number>> | undefined): boolean {
  return members !== undefined && Object.keys(members).sort().join() === "FALSE,TRUE";
}

function attributeValue(value: unknown): AttributeValue | null {
  if (typeof value === "string" || typeof value === "number") return value;
  if (typeof value === "bigint" || typeof value === "boolean") return Number(value);
  if (!Array.isArray(value)) return null;
  return typeof value[0] === "string" ? (value as string[]) : Float64Array.from(value as number[], Number);
}
