/** Lists the chunks of an HDF5 file as references, by which it is read as a Zarr store in place. */

import { STORE_BOUNDS } from "../../shared/store-settings.js";
import { packingOf } from "../file/packing.js";
import { ReadBuffer } from "../file/read-buffer.js";
import type { AttributeValue, Stored } from "../file/stored.js";
import type { Hdf5File } from "../hdf5-bytes/hdf5-file.js";
import type { TargetStamp } from "../zarr/reference-list.js";

/** Largest range that contiguous values are cut into. */
const READ_BYTES = 4 * 1024 * 1024;
/** Groups inside of groups that are looked through. */
const DEPTH = 12;

/** The filters that stores of Zarr know, as numcodecs and imagecodecs name them, by the bytes of an element. */
const CODECS: ReadonlyMap<string, (size: number) => object> = new Map<string, (size: number) => object>([
  ["shuffle", (size: number) => ({ id: "shuffle", elementsize: size })],
  ["fletcher32", () => ({ id: "fletcher32" })],
  ["gzip", () => ({ id: "zlib", level: 4 })],
  ["blosc", () => ({ id: "blosc", cname: "lz4", clevel: 5, shuffle: 1, blocksize: 0 })],
  ["zstd", () => ({ id: "zstd", level: 3 })],
  ["lzf", () => ({ id: "imagecodecs_lzf", header: false })],
]);

/** Attributes by which HDF5 keeps dimension scales, which are named by their labels. */
const SCALES = /^(DIMENSION_LIST|REFERENCE_LIST)$/;

/** A list of references in the form of kerchunk; other readers pass over `targets`. */
export interface ReferenceList {
  readonly version: 1;
  /** By target: its version when the list was written. */
  readonly targets: Readonly<Record<string, TargetStamp>>;
  readonly refs: Readonly<Record<string, string | readonly [target: string, offset: number, length: number]>>;
}

/**
 * Names the chunks of all numeric datasets of a file.
 *
 * Source: fsspec, "Reference filesystem specification", version 1; Zarr storage specification 2.
 *
 * @param target address or path of the file as the list names it
 * @param stamp  the version of the file
 * @returns the list, and a line for each dataset that is left out
 * @throws DataError when a group or an index is damaged
 */
export function referencesOf(
  file: Hdf5File,
  target: string,
  stamp: TargetStamp = {},
): { list: ReferenceList; left: string[] } {
  const refs: Record<string, ReferenceList["refs"][string]> = {};
  const left: string[] = [];
  const groups = new Map<number, string>();
  const visit = (path: string, depth: number) => {
    const prefix = path === "/" ? "" : `${path.slice(1)}/`;
    if (file.kind(path) === "group") {
      const known = groups.get(file.address(path));
      if (known !== undefined) {
        left.push(`${path} is left out: it is the group ${known} again`);
        return;
      }
      groups.set(file.address(path), path);
      refs[`${prefix}.zgroup`] = JSON.stringify({ zarr_format: 2 });
      refs[`${prefix}.zattrs`] = JSON.stringify(attributesOf(file, path));
      if (depth < DEPTH) for (const name of file.names(path)) visit(`/${prefix}${name}`, depth + 1);
    } else if (file.kind(path) === "dataset") {
      const stored = file.describe(path);
      const found = lackOf(stored) ?? arrayOf(file, path, stored, prefix, target);
      if (typeof found === "string") left.push(`${path} is left out: ${found}`);
      else Object.assign(refs, found);
    }
  };
  visit("/", 0);
  return { list: { version: 1, targets: { [target]: stamp }, refs }, left };
}

/** The reason why a dataset cannot be named, or null. */
function lackOf({ element, size, filters, virtual, shape }: Stored): string | null {
  if (element !== "float" && element !== "integer") return "it holds no numbers";
  if (size > 8) return "stores of Zarr have no long double";
  if (virtual) return "it is virtual";
  if (shape.includes(0)) return "it is empty";
  const other = filters.find((name) => !CODECS.has(name));
  return other === undefined ? null : `stores of Zarr do not know the filter ${other}`;
}

/** The references of an array, or the reason why it cannot be named. */
function arrayOf(
  file: Hdf5File,
  path: string,
  stored: Stored,
  prefix: string,
  target: string,
): ReferenceList["refs"] | string {
  const { shape, size, filters } = stored;
  const placement = file.placement(path);
  const chunks = stored.chunks ?? rangesOf(shape, size);
  const refs: Record<string, ReferenceList["refs"][string]> = {};
  let gap: readonly number[] | null = null;
  const counts = shape.map((length, axis) => Math.ceil(length / chunks[axis]));
  const count = counts.reduce((product, along) => product * along, 1);
  if (count > STORE_BOUNDS.references)
    return `it has ${count} chunks, and a list names at most ${STORE_BOUNDS.references}`;
  for (const at of indices(counts)) {
    const first = at.map((index, axis) => index * chunks[axis]);
    const place =
      placement.contiguous === null ? placement.chunk(first) : range(placement.contiguous, shape, chunks, first, size);
    if (filters.length > 0 && place?.lacksFilters === true)
      return `its chunk at ${first.join(", ")} did not go through all of its filters, which a store of Zarr cannot say`;
    const key = at.length === 0 ? "0" : at.join(".");
    if (place === null) gap ??= first;
    else refs[prefix + key] = [target, place.address, place.bytes];
  }
  const fill = gap === null ? null : fillAt(file, path, stored, gap);
  const codec = (name: string) => CODECS.get(name)?.(size);
  const last = filters.at(-1);
  const compressor = last === "shuffle" || last === "fletcher32" ? undefined : last;
  const before = compressor === undefined ? filters : filters.slice(0, -1);
  const about = { _ARRAY_DIMENSIONS: dimensionsOf(file, path), ...attributesOf(file, path) };
  return {
    [`${prefix}.zarray`]: JSON.stringify({
      zarr_format: 2,
      shape,
      chunks,
      dtype: typeOf(stored),
      order: "C",
      filters: before.length === 0 ? null : before.map(codec),
      compressor: compressor === undefined ? null : codec(compressor),
      fill_value: fill,
    }),
    [`${prefix}.zattrs`]: JSON.stringify(fill === null ? about : { ...about, missing: "fill" }),
    ...refs,
  };
}

/** The value of chunks that were never written, if their file says that it marks nothing; null if they are a fault. */
function fillAt(file: Hdf5File, path: string, stored: Stored, gap: readonly number[]): number | "NaN" | null {
  if (file.isUnwritten(path)) return null;
  const box = { offset: gap, count: gap.map(() => 1) };
  const [value] = file.readHyperslab(path, stored, box, new ReadBuffer()) as Iterable<number> as number[];
  if (Number.isNaN(value)) return "NaN";
  return packingOf(file.attributes(path), stored).missing.includes(value) ? value : null;
}

/** The element type as Zarr 2 names it. */
function typeOf({ element, size, signed, littleEndian }: Stored): string {
  const order = size === 1 ? "|" : littleEndian ? "<" : ">";
  return `${order}${element === "float" ? "f" : signed ? "i" : "u"}${size}`;
}

/**
 * Edges of ranges that contiguous values are cut into: each is one stretch of the file, and the last one along an axis
 * is as long as the others, so the axis that is cut must be a multiple of its edge.
 */
function rangesOf(shape: readonly number[], size: number): number[] {
  const edges = [...shape];
  for (let axis = 0; axis < shape.length; axis++) {
    const others = edges.reduce((product, edge) => product * edge, size) / edges[axis];
    if (others * edges[axis] <= READ_BYTES) break;
    const most = Math.max(1, Math.floor(READ_BYTES / others));
    edges[axis] = Array.from({ length: most }, (_, i) => most - i).find((edge) => shape[axis] % edge === 0) as number;
    if (edges[axis] > 1) break;
  }
  return edges;
}

/** The stretch of contiguous values that holds a range. */
function range(
  start: number,
  shape: readonly number[],
  edges: readonly number[],
  first: readonly number[],
  size: number,
) {
  const at = first.reduce((sum, index, axis) => sum * shape[axis] + index, 0);
  return {
    address: start + at * size,
    bytes: edges.reduce((product, edge) => product * edge, size),
    lacksFilters: false,
  };
}

/** Names of the dimensions: their labels, else those of their scales, else numbers as other tools give them. */
function dimensionsOf(file: Hdf5File, path: string): string[] {
  const scales = file.scales(path);
  return file.labels(path).map((label, axis) => label ?? scales[axis]?.[0]?.split("/").pop() ?? `phony_dim_${axis}`);
}

function attributesOf(file: Hdf5File, path: string): Record<string, unknown> {
  // An attribute that cannot be read stays one: left out, a default would stand in for it.
  const told = [...file.attributes(path)].filter(([name, value]) => !SCALES.test(name) && !isBookkeeping(value));
  return Object.fromEntries(told.map(([name, value]) => [name, value instanceof Float64Array ? [...value] : value]));
}

/** Whether JSON has no words for a value: a fill value of NaN, which marks what is NaN anyway. */
function isBookkeeping(value: AttributeValue | null): boolean {
  const numbers = typeof value === "number" ? [value] : value instanceof Float64Array ? [...value] : [];
  return numbers.some((number) => !Number.isFinite(number));
}

/** Indices of an array of that shape. */
function* indices(shape: readonly number[]): Generator<number[]> {
  const [length, ...rest] = shape;
  if (length === undefined) {
    yield [];
    return;
  }
  for (let index = 0; index < length; index++) for (const others of indices(rest)) yield [index, ...others];
}
