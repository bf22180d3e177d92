/** Metadata of an array in Zarr 3 with a regular chunk grid. */

interface WrittenArray {
  readonly shape: readonly number[];
  readonly chunks: readonly number[];
  readonly type: string;
  readonly fill: number | string;
  readonly codecs: readonly object[];
  readonly dimensions: readonly (string | null)[];
  readonly attributes?: object;
}

export const PLAIN_CODECS: readonly object[] = [{ name: "bytes", configuration: { endian: "little" } }];

export function arrayDocument(array: WrittenArray): object {
  return {
    zarr_format: 3,
    node_type: "array",
    shape: array.shape,
    data_type: array.type,
    chunk_grid: { name: "regular", configuration: { chunk_shape: array.chunks } },
    chunk_key_encoding: { name: "default", configuration: { separator: "/" } },
    fill_value: array.fill,
    codecs: array.codecs,
    dimension_names: array.dimensions,
    attributes: array.attributes ?? {},
  };
}

/** The document of a root group, with consolidated metadata of the arrays below it. */
export function rootDocument(attributes: object, documents: ReadonlyMap<string, object>): object {
  const all = { kind: "inline", must_understand: false, metadata: Object.fromEntries(documents) };
  return { zarr_format: 3, node_type: "group", attributes, consolidated_metadata: all };
}

export const documentBytes = (document: object): Buffer => Buffer.from(`${JSON.stringify(document, null, 2)}\n`);
