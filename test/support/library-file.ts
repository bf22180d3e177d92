/** Reads the structure of HDF5 files by the HDF5 library alone: what the byte reader is held to. */
import { h5wasm, Module } from "h5wasm/node";
import { DataError } from "../../src/shared/errors.js";
import { packingOf, unpack } from "../../src/storage/dataset/packing.js";
import type { AttributeValue, Stored } from "../../src/storage/dataset/stored.js";
import { FILTER_NAMES } from "../../src/storage/hdf5-bytes/filters.js";
import "./hdf5-library.js";

const ELEMENTS = new Map<number, Stored["element"]>([
  [0, "integer"],
  [1, "float"],
  [3, "string"],
]);
const MAX_LINKS = 16;
const UNLIMITED = 2 ** 64;

/** Runs a call of the library, which throws if it fails. @throws DataError */
function attempt<T>(what: string, call: () => T): T {
  try {
    return call();
  } catch (cause) {
    throw cause instanceof DataError ? cause : new DataError(what, cause);
  }
}

export class LibraryFile {
  readonly path: string;
  readonly #id: bigint;

  constructor(path: string) {
    this.path = path;
    this.#id = attempt(`${path} does not open.`, () => Module.open(path, Module.H5F_ACC_RDONLY, false, -1, -1));
  }

  names(group: string): string[] {
    return attempt(`${this.path}: ${group} is no group.`, () => [...Module.get_names(this.#id, group, false)]);
  }

  resolve(path: string): string | null {
    let left = path.split("/").filter((part) => part !== "");
    let at = "";
    for (let hops = 0; left.length > 0; ) {
      const [name, ...rest] = left as [string, ...string[]];
      const parent = at === "" ? "/" : at;
      if (at !== "" && this.#typeOf(at) !== Module.H5G_GROUP) return null;
      if (!this.names(parent).includes(name)) return null;
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

  describe(path: string): Stored {
    return attempt(`${this.path}: ${path} has no readable header.`, () => {
      const header = Module.get_dataset_metadata(this.#id, path);
      const shape = header.shape ?? [];
      return {
        shape,
        maxShape: (header.maxshape ?? shape).map((length) => (length < UNLIMITED ? length : Number.POSITIVE_INFINITY)),
        element: ELEMENTS.get(header.type) ?? "other",
        size: header.size,
        signed: header.signed,
        littleEndian: header.littleEndian,
        chunks: header.chunks,
        filters: Module.get_dataset_filters(this.#id, path).map(({ id }) => FILTER_NAMES.get(id) ?? `#${id}`),
        virtual: header.virtual_sources !== undefined,
      };
    });
  }

  address(path: string): number {
    return attempt(`${this.path}: ${path} is not readable.`, () => {
      const reference = Uint8Array.from(Module.create_object_reference(this.#id, path));
      return Number(new DataView(reference.buffer).getBigUint64(0, true));
    });
  }

  attributes(path: string): Map<string, AttributeValue | null> {
    return attempt(`${this.path}: the attributes of ${path} are not readable.`, () => {
      const found = new Map<string, AttributeValue | null>();
      const holder = new h5wasm.Group(this.#id, path);
      const names = Module.get_attribute_names(this.#id, path);
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
    const { element, shape } = this.describe(path);
    const count = shape.reduce((product, length) => product * length, 1);
    if (element !== "string" || count === 0 || count > 64) return null;
    return attempt(`${this.path}: ${path} is not readable.`, () => {
      const value = new h5wasm.Dataset(this.#id, path).value as unknown;
      const texts = Array.isArray(value) ? value : [value];
      return texts.every((text) => typeof text === "string") ? texts : null;
    });
  }

  numbers(path: string): Float64Array {
    const described = this.describe(path);
    return attempt(`${this.path}: ${path} is not readable.`, () => {
      const value = new h5wasm.Dataset(this.#id, path).value as unknown;
      const stored =
        typeof value === "number" || typeof value === "bigint" ? [value] : (value as ArrayLike<number | bigint>);
      const numbers = Float64Array.from(stored as ArrayLike<number>, Number);
      return Float64Array.from(unpack(numbers, packingOf(this.attributes(path), described)));
    });
  }

  close(): void {
    Module.close_file(this.#id);
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
