/**
 * Reads the messages of object headers that describe values: types, shapes, filters and attributes, as far as most
 * writers use them. What is of another kind is left to the library.
 *
 * Source: HDF5 file format specification 3.0, sections III.E (global heap) and IV.A.2.
 */

import type { AttributeValue } from "../file/stored.js";
import { type ReadBytes, unsigned } from "./bytes.js";

/** Says that a file is not of the kind that is read here; the library may read it. */
export class OtherKind extends Error {}

/** A type of elements: the library's class of it, its bytes, and how text ends. */
interface ElementType {
  readonly element: "float" | "integer" | "text" | "heap text" | "other";
  readonly size: number;
  readonly signed: boolean;
}

const FIXED_POINT = 0;
const FLOATING_POINT = 1;
const STRING = 3;
const VARIABLE = 9;
/** Classes whose values are read neither here nor by the library: bits, opaque, compound, references, arrays ... */
const OTHERS: ReadonlySet<number> = new Set([2, 4, 5, 6, 7, 10]);
/** The bit fields and properties of IEEE 754 numbers, little-endian, by their bytes. */
const FLOATS: ReadonlyMap<number, readonly number[]> = new Map([
  [4, [0x20, 0x1f, 0, 0x0000_2000, 0x1708_0017, 0x7f00_0000]],
  [8, [0x20, 0x3f, 0, 0x0000_4000, 0x340b_0034, 0xff03_0000]],
]);
/** The bits of a floating-point type that say how its bytes are ordered and its unused bits filled. */
const ORDER_BITS = 0x0f;
const HEAP_ADDRESS_AT = 4;
const HEAP_INDEX_AT = 12;

function bytesOf({ buffer, byteOffset, byteLength }: DataView): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Reads a datatype message. */
export function readType(message: DataView): ElementType {
  const kind = message.getUint8(0) & 0x0f;
  const bits = message.getUint8(1);
  const size = message.getUint32(4, true);
  const other = { element: "other", size, signed: false } as const;
  if (OTHERS.has(kind)) return other;
  if (kind === FIXED_POINT) {
    const isWhole = message.getUint16(8, true) === 0 && message.getUint16(10, true) === 8 * size;
    if (![1, 2, 4, 8].includes(size) || !isWhole || (bits & 0x07) !== 0) throw new OtherKind();
    return { element: "integer", size, signed: (bits & 0x08) !== 0 };
  }
  if (kind === FLOATING_POINT) {
    if (!isIeee(message, size, 0)) throw new OtherKind();
    return { element: "float", size, signed: false };
  }
  if (kind === STRING && size > 0) return { element: "text", size, signed: false };
  if (kind !== VARIABLE) throw new OtherKind();
  return (bits & 0x0f) === 1 ? { element: "heap text", size, signed: false } : other;
}

/**
 * Whether the numbers of a type are what their class and size say: integers of all their bits, or IEEE 754 numbers of 4
 * or 8 bytes, of either byte order. The library reads others of these sizes as if they were such.
 */
export function isUsualNumber(message: DataView): boolean {
  const size = message.getUint32(4, true);
  if ((message.getUint8(0) & 0x0f) === FIXED_POINT)
    return message.getUint16(8, true) === 0 && message.getUint16(10, true) === 8 * size;
  return !FLOATS.has(size) || isIeee(message, size, message.getUint8(1) & ORDER_BITS);
}

/** Whether a floating-point type is that of IEEE 754 but for some bits of its bit field. */
function isIeee(message: DataView, size: number, bits: number): boolean {
  const known = FLOATS.get(size);
  if (known === undefined) return false;
  return known.every((part, at) =>
    at < 3 ? message.getUint8(at + 1) === part + (at === 0 ? bits : 0) : message.getUint32(4 * at - 4) === part,
  );
}

/** The lengths that values have and may grow to; Infinity where there is no bound. */
interface Space {
  readonly shape: readonly number[];
  readonly maxShape: readonly number[];
}

const UNLIMITED = 2 ** 64;
/** Kind of a space that has dimensions. */
const SIMPLE_SPACE = 1;

/** Reads a dataspace message. */
export function readSpace(message: DataView): Space {
  const version = message.getUint8(0);
  const rank = message.getUint8(1);
  const flags = message.getUint8(2);
  if ((version !== 1 && version !== 2) || (version === 2 && message.getUint8(3) !== (rank === 0 ? 0 : SIMPLE_SPACE)))
    throw new OtherKind();
  const start = version === 1 ? 8 : 4;
  const lengths = (from: number): number[] => {
    const found: number[] = [];
    for (let d = 0; d < rank; d++) found.push(unsigned(message, from + 8 * d));
    return found;
  };
  const shape = lengths(start);
  const most = (flags & 1) === 0 ? shape : lengths(start + 8 * rank);
  return { shape, maxShape: most.map((length) => (length < UNLIMITED ? length : Number.POSITIVE_INFINITY)) };
}

/** Reads a filter pipeline message: the registered numbers of filters in order of application. */
export function readFilters(message: DataView): number[] {
  const version = message.getUint8(0);
  const count = message.getUint8(1);
  if (version !== 1 && version !== 2) throw new OtherKind();
  const ids: number[] = [];
  for (let at = version === 1 ? 8 : 2; ids.length < count; ) {
    const id = message.getUint16(at, true);
    const named = version === 1 || id >= 256;
    const name = named ? message.getUint16(at + 2, true) : 0;
    const parameters = message.getUint16(at + (named ? 6 : 4), true);
    const padding = version === 1 && parameters % 2 === 1 ? 4 : 0;
    ids.push(id);
    at += (named ? 8 : 6) + (version === 1 ? 8 * Math.ceil(name / 8) : name) + 4 * parameters + padding;
  }
  return ids;
}

/** An attribute: its name, and its value as `StoredFile.attributes` has it. */
interface StoredAttribute {
  readonly name: string;
  readonly value: AttributeValue | null;
}

/** Reads an attribute message. @param read for text in the heap of the file */
export function readAttribute(message: DataView, read: ReadBytes): StoredAttribute {
  const version = message.getUint8(0);
  if (version < 1 || version > 3 || (version > 1 && message.getUint8(1) !== 0)) throw new OtherKind();
  const sizes = [2, 4, 6].map((at) => message.getUint16(at, true)) as [number, number, number];
  const padded = version === 1 ? sizes.map((size) => 8 * Math.ceil(size / 8)) : sizes;
  const [name = 0, type = 0, space = 0] = padded;
  const start = version === 3 ? 9 : 8;
  const part = (at: number, length: number) => {
    if (at + length > message.byteLength) throw new OtherKind();
    return new DataView(message.buffer, message.byteOffset + at, length);
  };
  const kind = readType(part(start + name, type));
  const said = textOf(bytesOf(part(start, sizes[0])));
  if (kind.element === "other") return { name: said, value: null };
  const { shape } = readSpace(part(start + name + type, space));
  const count = shape.reduce((product, length) => product * length, 1);
  if (count === 0) throw new OtherKind();
  const values = part(start + name + type + space, count * kind.size);
  return { name: said, value: attributeValue(values, kind, count, shape.length === 0, read) };
}

function attributeValue(
  values: DataView,
  type: ElementType,
  count: number,
  isSingle: boolean,
  read: ReadBytes,
): AttributeValue {
  if (type.element === "float" || type.element === "integer") {
    const numbers = readNumbers(values, type, count);
    return isSingle ? numbers[0] : numbers;
  }
  const texts = Array.from({ length: count }, (_, i) => {
    const at = i * type.size;
    if (type.element === "text") return textOf(bytesOf(values).subarray(at, at + type.size));
    return heapText(unsigned(values, at + HEAP_ADDRESS_AT), values.getUint32(at + HEAP_INDEX_AT, true), read);
  });
  return isSingle ? (texts[0] as string) : texts;
}

/** Reads little-endian numbers to float64. */
export function readNumbers(values: DataView, { element, size, signed }: ElementType, count: number): Float64Array {
  const kind = element === "float" ? "Float" : signed ? "Int" : "Uint";
  const at: Record<string, (at: number) => number> = {
    Float4: (i) => values.getFloat32(i, true),
    Float8: (i) => values.getFloat64(i, true),
    Int1: (i) => values.getInt8(i),
    Int2: (i) => values.getInt16(i, true),
    Int4: (i) => values.getInt32(i, true),
    Int8: (i) => Number(values.getBigInt64(i, true)),
    Uint1: (i) => values.getUint8(i),
    Uint2: (i) => values.getUint16(i, true),
    Uint4: (i) => values.getUint32(i, true),
    Uint8: (i) => Number(values.getBigUint64(i, true)),
  };
  const one = at[`${kind}${size}`];
  if (one === undefined) throw new OtherKind();
  return Float64Array.from({ length: count }, (_, i) => one(i * size));
}

/** Text up to its first zero; that of other letters than ASCII depends on the declared set, which the library knows. */
function textOf(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  const text = end < 0 ? bytes : bytes.subarray(0, end);
  if (text.some((byte) => byte > 0x7f)) throw new OtherKind();
  return text.toString("latin1");
}

/** Text of any length, which is kept in a heap of the file. */
function heapText(address: number, index: number, read: ReadBytes): string {
  const head = read(address, 16);
  if (bytesOf(head).toString("latin1", 0, 4) !== "GCOL" || head.getUint8(4) !== 1) throw new OtherKind();
  const end = address + unsigned(head, 8);
  // A collection that reaches beyond the file is damaged.
  read(end, 0);
  for (let at = address + 16; at + 16 <= end; ) {
    const object = read(at, 16);
    const bytes = unsigned(object, 8);
    const number = object.getUint16(0, true);
    if (number === 0 || at + 16 + bytes > end) break;
    if (number === index) return textOf(bytesOf(read(at + 16, bytes)));
    at += 16 + 8 * Math.ceil(bytes / 8);
  }
  throw new OtherKind();
}
