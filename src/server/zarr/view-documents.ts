/** Metadata of a view in Zarr 2 and Zarr 3, for the same chunks. */
import type { ZarrArray, ZarrView } from "./view.js";

/** Compressions of chunks by their names in addresses; level 1 of Zstandard is the fastest. */
export const CODECS = ["none", "zstd"] as const;
export type Codec = (typeof CODECS)[number];

export const ZSTD_LEVEL = 1;

type Document = Readonly<Record<string, unknown>>;

export function elementBytes({ content }: ZarrArray): 4 | 8 {
  return content.kind === "coordinates" ? 8 : 4;
}

/** Whether chunks are compressed; chunks of coordinates never are. */
export function compresses({ content }: ZarrArray, codec: Codec): boolean {
  return codec === "zstd" && content.kind !== "coordinates";
}

function arrayV2(array: ZarrArray, codec: Codec): Document {
  return {
    zarr_format: 2,
    shape: array.shape,
    chunks: array.chunks,
    dtype: `<f${elementBytes(array)}`,
    compressor: compresses(array, codec) ? { id: "zstd", level: ZSTD_LEVEL } : null,
    fill_value: "NaN",
    order: "C",
    filters: null,
    dimension_separator: ".",
  };
}

function arrayV3(array: ZarrArray, codec: Codec): Document {
  const zstd = { name: "zstd", configuration: { level: ZSTD_LEVEL, checksum: false } };
  return {
    zarr_format: 3,
    node_type: "array",
    shape: array.shape,
    data_type: elementBytes(array) === 8 ? "float64" : "float32",
    chunk_grid: { name: "regular", configuration: { chunk_shape: array.chunks } },
    chunk_key_encoding: { name: "v2", configuration: { separator: "." } },
    fill_value: "NaN",
    codecs: [{ name: "bytes", configuration: { endian: "little" } }, ...(compresses(array, codec) ? [zstd] : [])],
    attributes: array.attributes,
    dimension_names: array.dimensions,
    storage_transformers: [],
  };
}

/** A Zarr 3 group with OME-NGFF 0.5 images; Zarr 2 has OME-NGFF 0.4. */
function groupV3({ multiscales, ...attributes }: Document): Document {
  const images = (multiscales ?? []) as readonly Document[];
  const ome = { version: "0.5", multiscales: images.map(({ version: _, ...image }) => image) };
  return { zarr_format: 3, node_type: "group", attributes: images.length === 0 ? attributes : { ...attributes, ome } };
}

const join = (folder: string, name: string): string => (folder === "" ? name : `${folder}/${name}`);

const isBelow = (path: string, group: string): boolean =>
  path !== group && (group === "" || path.startsWith(`${group}/`));

/** All members below a group, named as in Zarr 2 by paths from that group. */
function consolidatedV2({ groups, arrays }: ZarrView, group: string, codec: Codec): Document {
  const metadata: Record<string, unknown> = {};
  const add = (path: string, documents: Document) => {
    const within = group === "" ? path : path.slice(group.length + 1);
    for (const [name, document] of Object.entries(documents)) metadata[join(within, name)] = document;
  };
  for (const [path, attributes] of groups)
    if (path === group || isBelow(path, group)) add(path, { ".zgroup": { zarr_format: 2 }, ".zattrs": attributes });
  for (const [path, array] of arrays)
    if (isBelow(path, group)) add(path, { ".zarray": arrayV2(array, codec), ".zattrs": attributesV2(array) });
  return { zarr_consolidated_format: 1, metadata };
}

function consolidatedV3({ groups, arrays }: ZarrView, group: string, codec: Codec): Document {
  const metadata: Record<string, unknown> = {};
  const within = (path: string) => (group === "" ? path : path.slice(group.length + 1));
  for (const [path, attributes] of groups) if (isBelow(path, group)) metadata[within(path)] = groupV3(attributes);
  for (const [path, array] of arrays) if (isBelow(path, group)) metadata[within(path)] = arrayV3(array, codec);
  return { kind: "inline", must_understand: false, metadata };
}

/** Attributes of an array in Zarr 2, where xarray looks for the names of dimensions. */
function attributesV2({ attributes, dimensions }: ZarrArray): Document {
  return { ...attributes, _ARRAY_DIMENSIONS: dimensions };
}

export function documentAt(view: ZarrView, path: string, codec: Codec): Document | null {
  const cut = path.lastIndexOf("/");
  const [owner, name] = [path.slice(0, Math.max(0, cut)), path.slice(cut + 1)];
  const group = view.groups.get(owner);
  if (group !== undefined) {
    switch (name) {
      case ".zgroup":
        return { zarr_format: 2 };
      case ".zattrs":
        return group;
      case ".zmetadata":
        return consolidatedV2(view, owner, codec);
      case "zarr.json":
        return { ...groupV3(group), consolidated_metadata: consolidatedV3(view, owner, codec) };
    }
    return null;
  }
  const array = view.arrays.get(owner);
  switch (array === undefined ? "" : name) {
    case ".zarray":
      return arrayV2(array as ZarrArray, codec);
    case ".zattrs":
      return attributesV2(array as ZarrArray);
    case "zarr.json":
      return arrayV3(array as ZarrArray, codec);
  }
  return null;
}
