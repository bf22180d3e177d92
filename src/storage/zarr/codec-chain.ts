/** Checks that codecs and the fill value of an array can be applied, before it is listed. */
import { type Json, objectOf } from "../dataset/documents.js";
import { type NamedCodec, shortName, worksOnElements } from "./filters.js";

const TO_BYTES = new Set(["bytes", "sharding_indexed", "vlen-utf8", "json2", "zfpy"]);
const OF_BYTES = new Set(
  "blosc gzip zlib zstd lz4 bz2 imagecodecs_lzf shuffle crc32 crc32c adler32 fletcher32".split(" "),
);
/** Codecs of shard indices, whose encoded length is known. Source: Zarr sharding codec 1.0. */
const OF_INDEX = new Set(["bytes", "crc32c"]);
/** Fill values of floats for which JSON has no number; also their bits. */
const SPECIAL = /^(NaN|-?Infinity|0x[0-9a-fA-F]+)$/;
const SEPARATORS: readonly unknown[] = [undefined, ".", "/"];

/** The problems of the codecs of an array in Zarr 3. Source: Zarr core specification 3.1, section "Codecs". */
export function chainRefusals(codecs: readonly NamedCodec[], rank: number, type: string): string[] {
  const found: string[] = [];
  const makers = codecs.filter(({ name }) => TO_BYTES.has(shortName(name)));
  if (makers.length !== 1) found.push(`codecs of which ${makers.length} turn elements into bytes`);
  const at = codecs.indexOf(makers[0] as NamedCodec);
  for (const [i, { name, configuration }] of codecs.entries()) {
    const isEarly = i < at && OF_BYTES.has(shortName(name));
    const isLate = at >= 0 && i > at && (name === "transpose" || worksOnElements(name));
    if (isEarly || isLate) found.push(`${shortName(name)} ${isEarly ? "before" : "behind"} ${makers[0]?.name}`);
    if (name === "transpose" && !isOrder(configuration.order, rank)) found.push("transpose of other axes");
    if (name !== "bytes") continue;
    const { endian } = configuration;
    const isNeeded = !/8$/.test(type) && type !== "bool";
    if (endian !== "little" && endian !== "big" && (isNeeded || endian !== undefined))
      found.push(`bytes of endian ${endian}`);
  }
  return found;
}

export function indexRefusals(codecs: readonly NamedCodec[]): string[] {
  const isKnown = codecs.every(({ name }) => OF_INDEX.has(shortName(name)));
  const found = isKnown ? chainRefusals(codecs, 1, "uint64") : ["codecs of another length"];
  return found.map((words) => `index_codecs: ${words}`);
}

/** Whether a transposition names each axis once; older writers name an order of memory. */
function isOrder(order: unknown, rank: number): boolean {
  if (order === undefined || order === "C" || order === "F") return true;
  return Array.isArray(order) && order.length === rank && new Set(order).size === rank && order.every(isAxis, rank);
}

function isAxis(this: unknown, axis: unknown): boolean {
  return Number.isInteger(axis) && Number(axis) >= 0 && Number(axis) < Number(this);
}

export function fillRefusals(fill: unknown, type: string): string[] {
  if (fill === null || fill === undefined || isFill(fill, type)) return [];
  return [`fill_value ${JSON.stringify(fill).slice(0, 40)} of ${type}`];
}

function isFill(fill: unknown, type: string): boolean {
  const [, kind, bits] = /^(int|uint|float)(\d+)$/.exec(type) ?? [];
  if (kind === undefined) return true;
  if (kind === "float") return typeof fill === "number" || (typeof fill === "string" && SPECIAL.test(fill));
  if (typeof fill !== "number" || !Number.isInteger(fill)) return false;
  const [least, most] = kind === "int" ? [-(2 ** (Number(bits) - 1)), 2 ** (Number(bits) - 1)] : [0, 2 ** Number(bits)];
  // JSON rounds the largest 64-bit integers up.
  return fill >= least && (fill < most || (bits === "64" && fill === most));
}

/** The separator in chunk keys, if it is invalid. */
export function separatorRefusals(encoding: unknown): string[] {
  const { separator } = objectOf(objectOf(encoding).configuration) as Json;
  return SEPARATORS.includes(separator) ? [] : [`separator ${JSON.stringify(separator)}`];
}
