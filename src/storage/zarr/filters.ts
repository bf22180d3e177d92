/** Filters of numcodecs that state a type or an element size. */
import type { Json } from "../dataset/documents.js";
import { unshuffle as undo } from "../hdf5-bytes/filters.js";
import { ELEMENT_TYPES } from "./element-size.js";

export const ARRAYS = {
  int8: Int8Array,
  uint8: Uint8Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int32: Int32Array,
  uint32: Uint32Array,
  float32: Float32Array,
  float64: Float64Array,
} as const;
type NumberType = keyof typeof ARRAYS;
type Numbers = InstanceType<(typeof ARRAYS)[NumberType]>;

const MAX_ELEMENT = 256;

interface TypedChunk {
  readonly data: ArrayLike<number>;
  readonly shape: readonly number[];
  readonly stride: readonly number[];
}

interface ArrayFilter {
  readonly decode: (data: ArrayLike<number>, type: NumberType, configuration: Json) => Numbers;
}

/** Source: numcodecs 0.15, delta.py, quantize.py, fixedscaleoffset.py. */
const FILTERS: Readonly<Record<string, ArrayFilter>> = {
  delta: {
    decode: (data, type) => {
      const out = ARRAYS[type].from(data);
      for (let i = 1; i < out.length; i++) out[i] = out[i - 1] + out[i];
      return out;
    },
  },
  quantize: { decode: (data, type) => ARRAYS[type].from(data) },
  fixed_scale_offset: {
    decode: (data, type, { scale, offset }) => {
      // NumPy computes in float32 for stored float32, and in float64 for integers.
      const round = data instanceof Float32Array ? Math.fround : (value: number) => value;
      const [by, from] = [round(Number(scale)), round(Number(offset))];
      return ARRAYS[type].from(Array.from(data, (value) => round(round(value / by) + from)));
    },
  },
};

export function arrayFilter(name: string): object {
  const { decode } = FILTERS[name];
  return {
    fromConfig: (configuration: Json, { dataType }: { readonly dataType: NumberType }) => ({
      kind: "array_to_array",
      encode: () => {
        throw new Error("stores are only read");
      },
      decode: ({ data, shape, stride }: TypedChunk) => ({ data: decode(data, dataType, configuration), shape, stride }),
      getEncodedMeta: (metadata: object) => ({ ...metadata, dataType: storedType(configuration) }),
    }),
  };
}

/** Undoes a byte shuffle. Throws Error if the bytes are not whole elements. */
export function unshuffle(bytes: Uint8Array, { elementsize = 4 }: Json): Uint8Array {
  const size = Number(elementsize);
  if (bytes.length % size !== 0) throw new Error(`${bytes.length} bytes are not elements of ${size} bytes`);
  return undo(bytes, { elementBytes: size });
}

const storedType = ({ dtype, astype }: Json): string => typeOf(astype ?? dtype).type;

function typeOf(value: unknown): { readonly type: string; readonly order: string | null } {
  const [, order = "", short] = /^([<>|=]?)([fiu]\d)$/.exec(String(value)) ?? [];
  const type = short === undefined ? String(value) : (ELEMENT_TYPES.get(short) ?? String(value));
  return { type, order: order === "<" || order === ">" ? order : null };
}

/** Codecs of the library that compute with numbers, but do not support float16. */
const NUMBERS_ONLY = new Set(["bitround", "cast_value", "scale_offset"]);

/** Element-wise filters of Zarr 2 and codecs of Zarr 3, by their names in numcodecs. */
const ON_ELEMENTS = new Set(["delta", "quantize", "fixedscaleoffset", "fixed_scale_offset", "bitround"]);

export function worksOnElements(name: string): boolean {
  return ON_ELEMENTS.has(shortName(name));
}

export const shortName = (name: string): string => name.replace("numcodecs.", "");

export interface NamedCodec {
  readonly name: string;
  readonly configuration: Json;
}

/** The unsupported parts of a chain of codecs. `type`: the elements of the array, as Zarr 3 or NumPy names them. */
export function codecRefusals(codecs: readonly NamedCodec[], type: string): string[] {
  const found: string[] = [];
  let isBytes = false;
  let elements = typeOf(type);
  for (const { name, configuration } of codecs) {
    const short = shortName(name);
    const refusal = refusalOf(short, configuration, elements);
    if (refusal !== null) found.push(`${short} ${refusal}`);
    if (!worksOnElements(name)) isBytes = true;
    else if (isBytes) found.push(`${short} behind a codec of bytes`);
    if (short in FILTERS || short === "fixedscaleoffset") elements = { ...elements, type: storedType(configuration) };
  }
  return found;
}

/** What the library of blosc takes: numbers are of Zarr 2, names of Zarr 3. */
const BLOSC: Readonly<Record<string, readonly unknown[]>> = {
  cname: [undefined, "blosclz", "lz4", "lz4hc", "zlib", "zstd"],
  shuffle: [undefined, -1, 0, 1, 2, "noshuffle", "shuffle", "bitshuffle"],
};

function refusalOf(name: string, configuration: Json, elements: ReturnType<typeof typeOf>): string | null {
  const size = Number(configuration.elementsize ?? 4);
  const isSize = Number.isInteger(size) && size >= 1 && size <= MAX_ELEMENT;
  if (name === "shuffle") return isSize ? null : `of ${configuration.elementsize} bytes`;
  const wrong = Object.keys(BLOSC).find((member) => !BLOSC[member].includes(configuration[member]));
  if (name === "blosc" && wrong !== undefined) return `with ${wrong} ${JSON.stringify(configuration[wrong])}`;
  if (name === "zstd" && !Number.isInteger(configuration.level ?? 0)) return `with level ${configuration.level}`;
  // The plugin does not handle doubles.
  if (name === "zfpy") return elements.type === "float32" ? null : `of ${elements.type}`;
  if (name === "imagecodecs_lzf") return configuration.header === false ? null : "with a header";
  if (NUMBERS_ONLY.has(name) && elements.type === "float16") return "of float16";
  const place = { crc32: "start", adler32: "start", crc32c: "end" }[name];
  const { location = place } = configuration;
  if (place !== undefined) return location === null || location === place ? null : `at ${location}`;
  if (name === "bitround") return elements.type.startsWith("float") ? null : `of ${elements.type}`;
  return worksOnElements(name) ? filterRefusal(name, configuration, elements) : null;
}

function filterRefusal(name: string, configuration: Json, elements: ReturnType<typeof typeOf>): string | null {
  const [own, stored] = [typeOf(configuration.dtype), typeOf(configuration.astype ?? configuration.dtype)];
  const words = `of ${configuration.dtype} as ${configuration.astype ?? configuration.dtype}`;
  const orders = [own, stored].map(({ order, type }) => (/8$/.test(type) ? null : order));
  const isOther = orders.some((order) => order !== null && elements.order !== null && order !== elements.order);
  if (!(own.type in ARRAYS) || !(stored.type in ARRAYS) || own.type !== elements.type || isOther) return words;
  const isNumbers = ["scale", "offset"].every((member) => Number.isFinite(configuration[member]));
  if (name.startsWith("fixed") && (!isNumbers || configuration.scale === 0)) return "without a scale and an offset";
  // In integer arithmetic, fractions would be lost.
  return own.type.startsWith("float") || own.type === stored.type ? null : words;
}
