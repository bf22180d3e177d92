/** Reads the arrays of one version of a Zarr store through the library. */
import ndarray from "ndarray";
import ops from "ndarray-ops";
import type { AbsolutePath, AsyncReadable, Chunk, DataType, RangeQuery, Array as ZarrArray } from "zarrita";
import { defineArrayExtension, get, open, root, slice } from "zarrita";
import { DataError, FieldprobeError } from "../../shared/errors.js";
import { copyToShared, ReadMemory } from "../../shared/read-memory.js";
import { type MissingChunks, STORE_BOUNDS, type StoreSettings } from "../../shared/store-settings.js";
import type { Documents } from "../dataset/documents.js";
import { undoAround } from "../zarr/codecs.js";
import { sizeOf } from "../zarr/element-size.js";
import { ARRAYS, worksOnElements } from "../zarr/filters.js";
import { isReferences } from "../zarr/kinds.js";
import type { ShardFacts } from "../zarr/metadata.js";
import { DOCUMENT_NAMES, entriesOf, expandConsolidated, readableDocument, shardFactsOf } from "../zarr/metadata.js";
import type { StoredArray, StoredGroup, StoreTree } from "../zarr/store-tree.js";
import { ChunkCache } from "./chunk-cache.js";
import type { ObjectStore, VersionName } from "./object-store.js";
import { undated } from "./objects/pinned-objects.js";
import type { BoxRequest, Elements } from "./protocol.js";
import type { OpenVersion } from "./versioned.js";

export const ELEMENT_BYTES = 8;
/** Bytes that encoding may add to a chunk beyond an eighth, and bytes of an entry in the index of a shard. */
const SLACK_BYTES = 64 * 1024;
const ENTRY_BYTES = 16;
/** Most cached bytes of shards with codecs around them: each of their chunks needs the whole shard. */
const SHARDS_BYTES = 128 * 1024 * 1024;
const CONSTRUCTORS = {
  ...ARRAYS,
  int64: BigInt64Array,
  uint64: BigUint64Array,
} as const;

export type Decoded = Chunk<DataType>;

interface ChunkRead {
  found: boolean;
  fetched: Uint8Array | null;
}

export class OpenStore implements OpenVersion {
  readonly state: StoreTree;
  readonly objects: ObjectStore;
  readonly #location: string;
  readonly #missing: MissingChunks;
  readonly #readable: ReadableStore;
  readonly #arrays = new Map<string, Promise<ZarrArray<DataType, ReadableStore>>>();

  private constructor(
    location: string,
    tree: StoreTree,
    objects: ObjectStore,
    documents: Documents,
    missing: MissingChunks,
  ) {
    this.#location = location;
    this.state = tree;
    this.objects = objects;
    this.#missing = missing;
    this.#readable = new ReadableStore(objects, documents, tree);
  }

  /** Reads the metadata of a store. Versions differ by their times. Throws DataError if it holds no metadata. */
  static async open(
    location: string,
    objects: ObjectStore,
    changedMs: number,
    { chunkBytes, missing }: StoreSettings,
    last: VersionName | null = null,
  ): Promise<OpenStore> {
    const { documents: found, digest, ...opened } = await objects.open(changedMs, last);
    const isOther = last !== null && last.digest !== digest;
    const newestMs = isOther ? Math.max(opened.newestMs, last.newestMs + 1) : opened.newestMs;
    const documents = expandConsolidated(location, found, opened.present);
    const entries = entriesOf(documents, chunkBytes);
    if (Object.keys(entries).length === 0)
      throw new DataError(`${location} holds neither zarr.json nor .zgroup nor .zarray`);
    // The parts of a shard are of one version by its ETag.
    const isWhole = (one: StoredGroup | StoredArray) => one.kind === "array" && !one.codecs.includes("sharding");
    if (opened.isUndated && Object.values(entries).some(isWhole)) throw undated(location);
    const tree = { entries, digest, newestMs, present: opened.present ?? {} };
    return new OpenStore(location, tree, objects, documents, missing);
  }

  async read(box: BoxRequest, chunks: ChunkCache<Decoded>): Promise<Elements> {
    const array = await this.#array(box.path, chunks);
    const Kind = CONSTRUCTORS[array.dtype as keyof typeof CONSTRUCTORS];
    if (Kind === undefined)
      throw new DataError(`${this.#location}: ${box.path} holds ${array.dtype}, which are not numbers`);
    this.#checkCount(box, array.chunks);
    const entry = this.state.entries[box.path];
    if (entry?.kind === "array" && entry.dataType === "float16") return halves(await get(array, slicesOf(box)));
    const whole = await wholeChunk(array, box);
    // Bytes that were only fetched are in shared memory: reading threads change nothing but missing values.
    if (whole instanceof Kind && (whole.buffer as unknown) instanceof SharedArrayBuffer) return whole;
    const total = box.count.reduce((product, length) => product * length, 1);
    const { buffer, byteOffset } = ReadMemory.ofThread().allocate(total * Kind.BYTES_PER_ELEMENT);
    const out = new Kind(buffer as unknown as ArrayBuffer, byteOffset, total);
    if (whole !== null) {
      out.set(whole as never);
      ReadMemory.ofThread().giveBack(whole as Elements);
      return out;
    }
    const { data, shape, stride } = (await get(array, slicesOf(box))) as unknown as {
      data: Elements;
      shape: number[];
      stride: number[];
    };
    ops.assign(ndarray(out as Float64Array, [...box.count]), ndarray(data as Float64Array, shape, stride));
    return out;
  }

  async texts(path: string): Promise<readonly string[]> {
    const array = await open(root(this.#readable).resolve(path), { kind: "array" });
    const { data } = (await get(array)) as unknown as { data: Iterable<unknown> };
    return Array.from(data, String);
  }

  #checkCount({ path, offset, count }: BoxRequest, chunks: readonly number[]): void {
    const touched = chunks.reduce((product, edge, axis) => {
      const [first, end] = [offset[axis], offset[axis] + count[axis]];
      return product * Math.max(1, Math.ceil(end / edge) - Math.floor(first / edge));
    }, 1);
    if (touched > STORE_BOUNDS.readChunks)
      throw new DataError(
        `${this.#location}: ${path} is cut into more than ${STORE_BOUNDS.readChunks} chunks in the box that is read`,
      );
  }

  #array(path: string, chunks: ChunkCache<Decoded>): Promise<ZarrArray<DataType, ReadableStore>> {
    const known = this.#arrays.get(path);
    if (known !== undefined) return known;
    const name = `${this.#location}\n${this.state.newestMs}\n${path}`;
    const checks = { chunks, name, missing: this.#missingOf(path), forget: () => this.#arrays.delete(path) };
    const opening = open(root(this.#readable).resolve(path), { kind: "array" }).then((array) =>
      throughCache(array, { location: this.#location, ...checks }),
    );
    this.#arrays.set(path, opening);
    opening.catch(() => this.#arrays.delete(path));
    return opening;
  }

  /** The meaning of a missing chunk, by the array, a group above it, or the setting. */
  #missingOf(path: string): MissingChunks {
    for (let at = path; ; at = at.slice(0, at.lastIndexOf("/"))) {
      const stated = this.state.entries[at === "" ? "/" : at]?.attributes.missing;
      if (stated === "fill" || stated === "error") return stated;
      if (at === "" || at === "/") return this.#missing;
    }
  }
}

function slicesOf({ offset, count }: BoxRequest) {
  return count.map((length, axis) => slice(offset[axis], offset[axis] + length));
}

/** Half-precision numbers from their bits, in C order. Source: IEEE 754-2019, section 3.4. */
function halves(read: unknown): Float32Array {
  const { data, shape, stride } = read as { data: Uint16Array; shape: number[]; stride: number[] };
  const { buffer, byteOffset } = ReadMemory.ofThread().allocate(4 * data.length);
  const out = new Float32Array(buffer as unknown as ArrayBuffer, byteOffset, data.length);
  ops.assign(ndarray(out, shape), ndarray(data as unknown as Float32Array<ArrayBuffer>, shape, stride));
  for (let i = 0; i < out.length; i++) {
    const [sign, exponent, steps] = [out[i] & 0x8000 ? -1 : 1, (out[i] >> 10) & 31, out[i] & 1023];
    const special = steps === 0 ? Number.POSITIVE_INFINITY : Number.NaN;
    const size = exponent === 0 ? steps * 2 ** -24 : (1024 + steps) * 2 ** (exponent - 25);
    out[i] = sign * (exponent === 31 ? special : size);
  }
  return out;
}

function mostEncoded({ entries }: StoreTree): number {
  const bytes = Object.values(entries).map((entry) =>
    entry.kind === "group" || entry.unknownCodecs.length > 0
      ? 0
      : entry.chunks.reduce((product, edge) => product * edge, Math.max(ELEMENT_BYTES, sizeOf(entry.dataType))),
  );
  return bytes.reduce((most, one) => Math.max(most, Math.ceil(1.125 * one)), 0) + SLACK_BYTES;
}

/** Marks a chunk that is read as a whole: the brick cache keeps it, so the chunk cache need not. */
const WHOLE = { isWhole: true };

/** The values of a box that is exactly one chunk, stored in C order, held once; null for other boxes. */
async function wholeChunk(
  array: ZarrArray<DataType, ReadableStore>,
  { offset, count }: BoxRequest,
): Promise<Decoded["data"] | null> {
  if (!array.chunks.every((edge, axis) => count[axis] === edge && offset[axis] % edge === 0)) return null;
  const coordinates = array.chunks.map((edge, axis) => offset[axis] / edge);
  const { data, shape, stride } = await array.getChunk(coordinates, WHOLE as object);
  const isPlain = stride.every((step, axis) => step === shape.slice(axis + 1).reduce((product, n) => product * n, 1));
  return isPlain ? data : null;
}

interface ChunkChecks {
  readonly location: string;
  readonly chunks: ChunkCache<Decoded>;
  readonly name: string;
  readonly missing: MissingChunks;
  /** Has the array reopened: the library remembers missing shards. */
  readonly forget: () => void;
}

/**
 * Reads chunks through a cache. Refuses missing chunks, unless missing means the fill value, and chunks with another
 * number of elements: the library would take both for zeros.
 */
const throughCache = defineArrayExtension((array, { location, chunks, name, missing, forget }: ChunkChecks) => ({
  getChunk(coordinates: number[], request?: object) {
    const place = `${location}: chunk ${coordinates.join(".")} of ${array.path}`;
    const load = async () => {
      const read: ChunkRead = { found: false, fetched: null };
      const chunk = await array.getChunk(coordinates, read as object).catch((error: unknown) => {
        throw error instanceof FieldprobeError
          ? error
          : new DataError(`${place} is damaged: ${reasonOf(error)}`, error);
      });
      const elements = array.chunks.reduce((product, length) => product * length, 1);
      if (chunk.data.length !== elements)
        throw new DataError(`${place} decodes to ${chunk.data.length} elements, not ${elements}`);
      // Values other than the fetched bytes were decoded into their own memory.
      if (read.fetched !== null && (chunk.data as Elements).buffer !== read.fetched.buffer)
        ReadMemory.ofThread().giveBack(read.fetched);
      if (read.found) return chunk;
      forget();
      if (missing === "fill" && (array.fillValue ?? null) !== null) return chunk;
      const first = coordinates.map((at, axis) => at * array.chunks[axis]);
      // A list names the chunks of another file; chunks that it omits were never written.
      const lack = isReferences(location)
        ? `${location}: ${array.path} was never written at ${first.join(", ")}`
        : `${place} is not there`;
      throw new DataError(
        `${lack}; if that means the fill value, say so: an attribute "missing": "fill" of the array or of a group above it, or FIELDPROBE_STORE_MISSING=fill`,
      );
    };
    return chunks.get(`${name} ${coordinates.join(".")}`, load, request !== WHOLE);
  },
}));

function reasonOf(error: unknown): string {
  const own = error instanceof Error ? error : new Error(String(error));
  const cause = own.cause instanceof Error ? `${own.message}: ${own.cause.message}` : own.message;
  return cause.replace(/\s+/g, " ");
}

class ReadableStore implements AsyncReadable {
  readonly #objects: ObjectStore;
  readonly #documents: Documents;
  readonly #entries: StoreTree["entries"];
  readonly #mostBytes: number;
  /** Facts about shards that the library does not know, by the prefix of their keys. */
  readonly #facts: ReadonlyMap<string, ShardFacts>;
  readonly #shards = new ChunkCache<Uint8Array>(
    SHARDS_BYTES,
    ({ length }) => length,
    (shard) => shard,
  );

  constructor(objects: ObjectStore, documents: Documents, tree: StoreTree) {
    this.#objects = objects;
    this.#documents = documents;
    this.#entries = tree.entries;
    this.#mostBytes = mostEncoded(tree);
    const facts = [...documents].map(([key, document]) => [key, shardFactsOf(document)] as const);
    this.#facts = new Map(
      facts.flatMap(([key, found]) => (found === null ? [] : [[`/${key.slice(0, key.lastIndexOf("/") + 1)}`, found]])),
    );
  }

  async get(key: AbsolutePath, read?: object): Promise<Uint8Array | undefined> {
    const isDocument = DOCUMENT_NAMES.some((name) => key.endsWith(`/${name}`));
    if (isDocument) return this.#document(key.slice(1));
    return noted(await this.#objects.read(key.slice(1), null, this.#mostBytes), read, this.#alignmentOf(key));
  }

  async getRange(key: AbsolutePath, wanted: RangeQuery, read?: object): Promise<Uint8Array | undefined> {
    const isIndex = "suffixLength" in wanted;
    const most = isIndex ? ENTRY_BYTES * (STORE_BOUNDS.shardChunks + 1) : this.#mostBytes;
    const facts = [...this.#facts].find(([beginning]) => key.startsWith(beginning))?.[1];
    const range = isIndex && facts?.isIndexFirst ? { offset: 0, length: wanted.suffixLength } : wanted;
    const bytes =
      facts === undefined || facts.around.length === 0
        ? await this.#objects.read(key.slice(1), range, most)
        : partOf(await this.#shard(key, facts), range, key);
    return noted(bytes, isIndex ? undefined : read, isIndex ? ELEMENT_BYTES : this.#alignmentOf(key));
  }

  /** Alignment of the elements of an object in bytes: their size if they are stored uncompressed. */
  #alignmentOf(key: AbsolutePath): number {
    for (let at = key.lastIndexOf("/"); at > 0; at = key.lastIndexOf("/", at - 1)) {
      const entry = this.#entries[key.slice(0, at)];
      if (entry?.kind === "array")
        return entry.codecs.some(worksOnElements) ? ELEMENT_BYTES : sizeOf(entry.dataType) || ELEMENT_BYTES;
    }
    return ELEMENT_BYTES;
  }

  #shard(key: AbsolutePath, { around, mostBytes }: ShardFacts): Promise<Uint8Array> {
    return this.#shards.get(key, async () => {
      const bytes = await this.#objects.read(key.slice(1), null, Math.ceil(1.125 * mostBytes) + SLACK_BYTES);
      return bytes === undefined ? new Uint8Array(0) : undoAround(around, bytes, mostBytes);
    });
  }

  #document(key: string): Uint8Array | undefined {
    const document = this.#documents.get(key);
    return document && new TextEncoder().encode(JSON.stringify(readableDocument(document)));
  }
}

/** Part of a shard; undefined if it is empty. Throws Error if the shard is too short. */
function partOf(shard: Uint8Array, range: RangeQuery, key: string): Uint8Array | undefined {
  if (shard.length === 0) return undefined;
  const [offset, length] =
    "suffixLength" in range ? [shard.length - range.suffixLength, range.suffixLength] : [range.offset, range.length];
  if (offset < 0 || offset + length > shard.length) throw new DataError(`${key} ends after ${shard.length} bytes`);
  return shard.subarray(offset, offset + length);
}

/** Records a chunk, and aligns its bytes for typed arrays. The hold on the bytes passes to the read. */
function noted(bytes: Uint8Array | undefined, read: object | undefined, alignment: number): Uint8Array | undefined {
  if (bytes === undefined) return undefined;
  const isAligned = bytes.byteOffset % alignment === 0;
  const noted = isAligned ? bytes : ReadMemory.ofThread().allocate(bytes.length);
  if (!isAligned) {
    copyToShared(bytes, noted, 0);
    ReadMemory.ofThread().giveBack(bytes);
  }
  if (read !== undefined && "found" in read) Object.assign(read as ChunkRead, { found: true, fetched: noted });
  return noted;
}
