/** The stores that the store thread has open: opens them, and reads boxes of their arrays. */
import ndarray from "ndarray";
import ops from "ndarray-ops";
import { type DataType, defineArrayExtension, get, open, root, slice, type Array as ZarrArray } from "zarrita";
import { DataError } from "../../errors.js";
import { LocalStore } from "./local-store.js";
import { expandConsolidated, nodesOf } from "./metadata.js";
import type { ObjectStore, Opened } from "./object-store.js";
import type { BoxRequest, Elements, OpenRequest, StoreTree } from "./protocol.js";

/** A store as it was when it was opened. */
interface OpenStore {
  readonly tree: StoreTree;
  readonly objects: ObjectStore;
  readonly arrays: Map<string, Promise<ZarrArray<DataType, ObjectStore>>>;
}

/** Boxes that were asked for ahead of their use, at most. */
const MOST_AHEAD = 64;
const CONSTRUCTORS = {
  float32: Float32Array,
  float64: Float64Array,
  int8: Int8Array,
  uint8: Uint8Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int64: BigInt64Array,
  uint64: BigUint64Array,
} as const;

export class Stores {
  readonly #open = new Map<string, Promise<OpenStore>>();
  /** Boxes under way or read ahead, by what they are, in the order of their requests. */
  readonly #boxes = new Map<string, Promise<Elements>>();

  /** Reads the metadata of a store as they are now, unless the version that is asked for is open. */
  async open({ store: location, newestMs }: OpenRequest): Promise<StoreTree> {
    if (newestMs !== undefined) return (await this.#verified(location, newestMs)).tree;
    const opening = openStore(location);
    opening.catch(() => undefined);
    const { tree } = await opening;
    const known = await this.#open.get(location)?.catch(() => null);
    if (known?.tree.digest === tree.digest && known.tree.newestMs === tree.newestMs) return known.tree;
    this.#open.set(location, opening);
    return tree;
  }

  /** Starts to read boxes that will be asked for soon. */
  ahead(boxes: readonly BoxRequest[]): void {
    for (const box of boxes) {
      if (this.#boxes.size >= MOST_AHEAD) return;
      this.#begin(box).catch(() => undefined);
    }
  }

  /** Reads a box of an array, its elements in C order. @throws DataError, BusyError */
  async read(box: BoxRequest): Promise<Elements> {
    try {
      return await this.#begin(box);
    } finally {
      this.#boxes.delete(nameOf(box));
    }
  }

  #begin(box: BoxRequest): Promise<Elements> {
    const name = nameOf(box);
    const known = this.#boxes.get(name);
    if (known !== undefined) return known;
    const reading = this.#readBox(box);
    this.#boxes.set(name, reading);
    return reading;
  }

  /** A store in the version that was verified. @throws DataError when it is another by now */
  async #verified(location: string, newestMs: number): Promise<OpenStore> {
    const known = await this.#open.get(location)?.catch(() => null);
    if (known?.tree.newestMs === newestMs) return known;
    await this.open({ store: location });
    const now = await (this.#open.get(location) as Promise<OpenStore>);
    if (now.tree.newestMs !== newestMs)
      throw new DataError(`${location} is not the store it was when the catalogue was read`);
    return now;
  }

  async #readBox(box: BoxRequest): Promise<Elements> {
    const { objects, arrays } = await this.#verified(box.store, box.newestMs);
    let array = arrays.get(box.path);
    if (array === undefined) {
      array = open(root(objects).resolve(box.path), { kind: "array" }).then((found) => withWholeChunks(found));
      arrays.set(box.path, array);
    }
    return readElements(await array, box);
  }
}

function nameOf({ store, newestMs, path, offset, count }: BoxRequest): string {
  return `${store}\n${newestMs} ${path}\n${offset.join()} ${count.join()}`;
}

async function openStore(location: string): Promise<OpenStore> {
  const objects = new MissingAsNothing(new LocalStore(location));
  const { documents, digest, bytes, newestMs } = await objects.open();
  const nodes = nodesOf(expandConsolidated(documents));
  if (Object.keys(nodes).length === 0)
    throw new DataError(`${location} holds neither zarr.json nor .zgroup nor .zarray`);
  return { tree: { nodes, digest, bytes, newestMs }, objects, arrays: new Map() };
}

async function readElements(array: ZarrArray<DataType, ObjectStore>, box: BoxRequest): Promise<Elements> {
  const Kind = CONSTRUCTORS[array.dtype as keyof typeof CONSTRUCTORS];
  if (Kind === undefined) throw new DataError(`${box.store}: ${box.path} holds ${array.dtype}, which are not numbers`);
  const total = box.count.reduce((product, length) => product * length, 1);
  const out = new Kind(new SharedArrayBuffer(total * Kind.BYTES_PER_ELEMENT) as unknown as ArrayBuffer);
  const selection = box.count.map((length, axis) => slice(box.offset[axis], box.offset[axis] + length));
  const { data, shape, stride } = (await get(array, selection)) as unknown as {
    data: Elements;
    shape: number[];
    stride: number[];
  };
  ops.assign(ndarray(out as Float64Array, [...box.count]), ndarray(data as Float64Array, shape, stride));
  return out;
}

/** Refuses chunks that decode to fewer or more elements than they have: the library would take what is missing for zeros. */
const withWholeChunks = defineArrayExtension((array) => ({
  async getChunk(coordinates, options) {
    const chunk = await array.getChunk(coordinates, options);
    const elements = array.chunks.reduce((product, length) => product * length, 1);
    if (chunk.data.length !== elements)
      throw new DataError(
        `chunk ${coordinates.join(".")} of ${array.path} decodes to ${chunk.data.length} elements, not ${elements}`,
      );
    return chunk;
  },
}));

/**
 * Makes floats that were never written NaN: the fill value of an array says what its writer would compute with, not
 * what was measured or simulated there.
 */
class MissingAsNothing implements ObjectStore {
  readonly #objects: ObjectStore;

  constructor(objects: ObjectStore) {
    this.#objects = objects;
  }

  open(): Promise<Opened> {
    return this.#objects.open();
  }

  async get(key: `/${string}`): Promise<Uint8Array | undefined> {
    const bytes = await this.#objects.get(key);
    return bytes !== undefined && /\/(zarr\.json|\.zarray)$/.test(key) ? withoutFill(bytes) : bytes;
  }

  getRange: ObjectStore["getRange"] = (key, range) => this.#objects.getRange(key, range);
}

/** The metadata of an array of floats with NaN as its fill value. */
function withoutFill(bytes: Uint8Array): Uint8Array {
  const document = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
  const type = String(document.data_type ?? document.dtype);
  return /^float|^[<>]f/.test(type)
    ? new TextEncoder().encode(JSON.stringify({ ...document, fill_value: "NaN" }))
    : bytes;
}
