/**
 * Messages of object headers that describe values: types, shapes, filters, fill values and attributes.
 *
 * Source: HDF5 file format specification 4.0, section IV.A.2.
 */
import { DataError } from "../../shared/errors.js";
import type { AttributeValue, Stored } from "../dataset/stored.js";
import { bufferOf, type ReadBytes, unsigned } from "./bytes.js";
import type { StoredFilter } from "./filters.js";
import { globalObject } from "./heaps.js";

export interface ElementType {
  readonly element: Stored["element"];
  readonly size: number;
  readonly signed: boolean;
  readonly littleEndian: boolean;
  /** Whether numbers have the extended precision of x86 long double. */
  readonly isExtended: boolean;
  /** How text is read; null for other elements. */
  readonly text: TextType | null;
  /** Whether numbers belong to a boolean enumeration. */
  readonly isTruth: boolean;
  /** Whether elements are lists in the heap of references to objects. */
  readonly isReferences: boolean;
}

interface TextType {
  readonly isInHeap: boolean;
  readonly isUnicode: boolean;
  /** Whether texts are padded with blanks, as by Fortran programs. */
  readonly isPadded: boolean;
}

const [FIXED_POINT, FLOATING_POINT, STRING, REFERENCE, ENUMERATION, VARIABLE] = [0, 1, 3, 7, 8, 9];
/** Sizes, bit fields and properties of IEEE 754 numbers, little-endian, by their bytes. */
const FLOATS: readonly (readonly [size: number, parts: readonly number[]])[] = [
  [2, [0x20, 0x0f, 0, 0x0000_1000, 0x0a05_000a, 0x0f00_0000]],
  [4, [0x20, 0x1f, 0, 0x0000_2000, 0x1708_0017, 0x7f00_0000]],
  [8, [0x20, 0x3f, 0, 0x0000_4000, 0x340b_0034, 0xff03_0000]],
  [16, [0x20, 0x7f, 0, 0x0000_8000, 0x700f_0070, 0xff3f_0000]],
];
/** Bytes that long double of x86 takes: 80 bits with a mantissa that states its leading 1. */
const EXTENDED_SIZES = [10, 12, 16];
const EXTENDED_PARTS = [0x00, 0x4f, 0, 0x0000_5000, 0x400f_0040, 0xff3f_0000];
/** The bits of a floating-point type that say how its bytes are ordered and its unused bits filled. */
const ORDER_BITS = 0x0f;
const SPACE_PADDED = 2;
const [LAST_CLASS, LAST_VERSION] = [11, 5];
const TYPE_HEAD = 8;
const TRUTHS = ["FALSE", "TRUE"];
const SINGLE_BYTES = new TextDecoder("ascii");

export function readType(message: DataView): ElementType {
  const [kind, version] = [message.getUint8(0) & 0x0f, message.getUint8(0) >> 4];
  if (kind > LAST_CLASS || version < 1 || version > LAST_VERSION)
    throw new DataError(`a type of class ${kind} and version ${version} is not read`);
  const bits = message.getUint8(1);
  const size = message.getUint32(4, true);
  const littleEndian = (bits & 1) === 0;
  const isExtended = kind === FLOATING_POINT && EXTENDED_SIZES.includes(size) && hasParts(message, EXTENDED_PARTS);
  const plain = { size, signed: false, littleEndian, isExtended, text: null, isTruth: false, isReferences: false };
  const other = { ...plain, element: "other", littleEndian: true } as const;
  if (kind === FIXED_POINT || kind === FLOATING_POINT) {
    if (!isExtended && !isUsualNumber(message)) return other;
    return kind === FLOATING_POINT
      ? { ...plain, element: "float" }
      : { ...plain, element: "integer", signed: (bits & 8) !== 0 };
  }
  if (kind === STRING && size > 0) return { ...other, element: "string", text: textType(false, bits & 15, bits >> 4) };
  if (kind === ENUMERATION) {
    const base = readType(rest(message, TYPE_HEAD));
    return { ...other, signed: base.signed, littleEndian: base.littleEndian, isTruth: isTruth(message, version, base) };
  }
  if (kind !== VARIABLE) return other;
  if ((bits & 0x0f) === 1)
    return { ...other, element: "string", text: textType(true, bits >> 4, message.getUint8(2) & 15) };
  return { ...other, isReferences: isObjectReference(rest(message, TYPE_HEAD)) };
}

/** Whether a type is the address of an object, as references were before HDF5 1.12 and are by default since. */
function isObjectReference(type: DataView): boolean {
  const isObject = (type.getUint8(1) & 0x0f) === 0 && type.getUint32(4, true) === 8;
  return (type.getUint8(0) & 0x0f) === REFERENCE && isObject;
}

function textType(isInHeap: boolean, padding: number, set: number): TextType {
  return { isInHeap, isUnicode: set === 1, isPadded: !isInHeap && padding === SPACE_PADDED };
}

function rest(view: DataView, at: number): DataView {
  return new DataView(view.buffer, view.byteOffset + at, view.byteLength - at);
}

/** Whether an enumeration has the two names by which h5py writes false and true. */
function isTruth(message: DataView, version: number, base: ElementType): boolean {
  if (message.getUint16(1, true) !== TRUTHS.length || base.element !== "integer") return false;
  const names: string[] = [];
  for (let at = TYPE_HEAD + TYPE_HEAD + 4; names.length < TRUTHS.length; ) {
    const bytes = bufferOf(rest(message, at));
    const end = bytes.indexOf(0);
    names.push(bytes.toString("latin1", 0, end));
    at += version < 3 ? 8 * Math.ceil((end + 1) / 8) : end + 1;
  }
  return names.sort().join() === TRUTHS.join();
}

/** Whether a type is an integer using all its bits, or an IEEE 754 number of 2, 4, 8 or 16 bytes, in either order. */
function isUsualNumber(message: DataView): boolean {
  const size = message.getUint32(4, true);
  if ((message.getUint8(0) & 0x0f) === FIXED_POINT)
    return [1, 2, 4, 8].includes(size) && message.getUint16(8, true) === 0 && message.getUint16(10, true) === 8 * size;
  return FLOATS.some(([bytes, parts]) => bytes === size && hasParts(message, parts));
}

function hasParts(message: DataView, parts: readonly number[]): boolean {
  const order = message.getUint8(1) & ORDER_BITS;
  return parts.every((part, at) =>
    at < 3 ? message.getUint8(at + 1) === part + (at === 0 ? order : 0) : message.getUint32(4 * at - 4) === part,
  );
}

/** The lengths of a dataset, now and at most; Infinity without a bound. */
export interface Space {
  readonly shape: readonly number[];
  readonly maxShape: readonly number[];
  readonly isNull: boolean;
}

const UNLIMITED = 2 ** 64;
const NULL_SPACE = 2;
const MAX_DIMENSIONS = 32;

export function readSpace(message: DataView): Space {
  const [version, rank, flags] = [message.getUint8(0), message.getUint8(1), message.getUint8(2)];
  if ((version !== 1 && version !== 2) || rank > MAX_DIMENSIONS)
    throw new DataError(`a shape of version ${version} and ${rank} dimensions is not read`);
  const start = version === 1 ? 8 : 4;
  const lengths = (from: number) => Array.from({ length: rank }, (_, d) => unsigned(message, from + 8 * d));
  const shape = lengths(start);
  const most = (flags & 1) === 0 ? shape : lengths(start + 8 * rank);
  const isNull = version === 2 && message.getUint8(3) === NULL_SPACE;
  return { shape, maxShape: most.map((n) => (n < UNLIMITED ? n : Number.POSITIVE_INFINITY)), isNull };
}

/** Reads a filter pipeline message: the filters in order of application. */
export function readFilters(message: DataView): StoredFilter[] {
  const version = message.getUint8(0);
  const count = message.getUint8(1);
  if (version !== 1 && version !== 2) throw new DataError(`a list of filters of version ${version} is not read`);
  const filters: StoredFilter[] = [];
  for (let at = version === 1 ? 8 : 2; filters.length < count; ) {
    const id = message.getUint16(at, true);
    const named = version === 1 || id >= 256;
    const name = named ? message.getUint16(at + 2, true) : 0;
    const numbers = message.getUint16(at + (named ? 6 : 4), true);
    const padding = version === 1 && numbers % 2 === 1 ? 4 : 0;
    at += (named ? 8 : 6) + (version === 1 ? 8 * Math.ceil(name / 8) : name);
    filters.push({ id, parameters: Array.from({ length: numbers }, (_, i) => message.getUint32(at + 4 * i, true)) });
    at += 4 * numbers + padding;
  }
  return filters;
}

export interface Fill {
  /** The stored bytes of the element; null for zeros. */
  readonly element: Uint8Array | null;
  /** Whether they have none: a reader gets arbitrary memory. */
  readonly isNothing: boolean;
}

const [NEVER, IF_SET] = [1, 2];

export function readFill(message: DataView, isOld: boolean): Fill {
  const element = (at: number): Uint8Array | null => {
    const size = message.getUint32(at, true);
    return size === 0 ? null : bufferOf(rest(message, at + 4)).subarray(0, size);
  };
  if (isOld) return { element: element(0), isNothing: false };
  const version = message.getUint8(0);
  if (version < 1 || version > 3) throw new DataError(`a fill value of version ${version} is not read`);
  const flags = message.getUint8(1);
  const time = version === 3 ? (flags >> 2) & 3 : message.getUint8(2);
  const isUndefined = version === 3 ? (flags & 0x10) !== 0 : version === 2 && message.getUint8(3) === 0;
  const isThere = version === 3 ? (flags & 0x20) !== 0 : !isUndefined;
  return {
    element: isThere ? element(version === 3 ? 2 : 4) : null,
    isNothing: time === NEVER || (time === IF_SET && isUndefined),
  };
}

interface AttributeParts {
  readonly name: string;
  readonly type: DataView;
  readonly space: DataView;
  readonly values: DataView;
}

type ReadShared = (body: DataView, type: number) => DataView;

const [TYPE_MESSAGE, SPACE_MESSAGE] = [0x03, 0x01];

export function attributeParts(message: DataView, shared: ReadShared): AttributeParts {
  const version = message.getUint8(0);
  if (version < 1 || version > 3) throw new DataError(`an attribute of version ${version} is not read`);
  const flags = version === 1 ? 0 : message.getUint8(1);
  const sizes = [2, 4, 6].map((at) => message.getUint16(at, true));
  const [name = 0, type = 0, space = 0] = version === 1 ? sizes.map((size) => 8 * Math.ceil(size / 8)) : sizes;
  const start = version === 3 ? 9 : 8;
  const part = (at: number, length: number) => new DataView(message.buffer, message.byteOffset + at, length);
  const end = start + name + type + space;
  if (end > message.byteLength) throw new DataError("an attribute reaches beyond its message");
  const [ownType, ownSpace] = [part(start + name, type), part(start + name + type, space)];
  const isUnicode = version === 3 && message.getUint8(8) === 1;
  return {
    name: decoded(bufferOf(part(start, sizes[0] as number)), { isUnicode, isInHeap: true, isPadded: false }),
    type: (flags & 1) === 0 ? ownType : shared(ownType, TYPE_MESSAGE),
    space: (flags & 2) === 0 ? ownSpace : shared(ownSpace, SPACE_MESSAGE),
    values: rest(message, end),
  };
}

/** The value of an attribute as `StoredFile.attributes` has it. `read`: for text in the heap of the file. */
export function attributeValue({ type, space, values }: AttributeParts, read: ReadBytes): AttributeValue | null {
  const elements = readType(type);
  const { shape, isNull } = readSpace(space);
  const { element, size, text, isTruth } = elements;
  const isNumber = isTruth || element === "integer" || (element === "float" && size >= 4);
  if (!isNumber && text === null) return null;
  // NetCDF writes an empty text as a space without values.
  if (isNull) return text === null ? new Float64Array(0) : "";
  const count = shape.reduce((product, length) => product * length, 1);
  if (count === 0) return text === null ? new Float64Array(0) : [];
  if (count * size > values.byteLength) throw new DataError("an attribute has fewer values than it states");
  if (text !== null) {
    const texts = readTexts(values, elements, count, read);
    return shape.length === 0 ? (texts[0] as string) : texts;
  }
  const numbers = readNumbers(values, isTruth ? { ...elements, element: "integer" } : elements, count);
  return shape.length === 0 ? (numbers[0] as number) : numbers;
}

/** Offsets in an element of text in a heap: after a length, an address and a number. */
const [HEAP_ADDRESS_AT, HEAP_INDEX_AT] = [4, 12];

export function readTexts(values: DataView, { size, text }: ElementType, count: number, read: ReadBytes): string[] {
  if (text === null) throw new DataError("there is no text");
  return Array.from({ length: count }, (_, i) => {
    const at = i * size;
    if (!text.isInHeap) return decoded(bufferOf(values).subarray(at, at + size), text);
    const [length, address] = [values.getUint32(at, true), unsigned(values, at + HEAP_ADDRESS_AT)];
    if (length === 0 || address === 0) return "";
    return decoded(globalObject(read, address, values.getUint32(at + HEAP_INDEX_AT, true)).subarray(0, length), text);
  });
}

/** The addresses of the objects that an element refers to, which is a list in the heap. */
export function readReferences(values: DataView, at: number, read: ReadBytes): number[] {
  const [length, address] = [values.getUint32(at, true), unsigned(values, at + HEAP_ADDRESS_AT)];
  if (length === 0 || address === 0) return [];
  const list = globalObject(read, address, values.getUint32(at + HEAP_INDEX_AT, true));
  const view = new DataView(list.buffer, list.byteOffset, list.byteLength);
  return Array.from({ length }, (_, i) => unsigned(view, 8 * i));
}

function decoded(bytes: Buffer, { isUnicode, isInHeap, isPadded }: TextType): string {
  const end = bytes.indexOf(0);
  const text = end < 0 ? bytes : bytes.subarray(0, end);
  // The library's binding reads single bytes of fixed length as Windows-1252, and those in the heap as Latin-1.
  const said = isUnicode ? text.toString("utf8") : isInHeap ? text.toString("latin1") : SINGLE_BYTES.decode(text);
  return isPadded ? said.replace(/ +$/, "") : said;
}

/** Reads numbers as float64. Throws DataError for other sizes. */
export function readNumbers(values: DataView, type: ElementType, count: number): Float64Array {
  const { element, size, signed, littleEndian } = type;
  const kind = element === "float" ? "Float" : signed ? "Int" : "Uint";
  const at: Record<string, (at: number) => number> = {
    Float4: (i) => values.getFloat32(i, littleEndian),
    Float8: (i) => values.getFloat64(i, littleEndian),
    Int1: (i) => values.getInt8(i),
    Int2: (i) => values.getInt16(i, littleEndian),
    Int4: (i) => values.getInt32(i, littleEndian),
    Int8: (i) => Number(values.getBigInt64(i, littleEndian)),
    Uint1: (i) => values.getUint8(i),
    Uint2: (i) => values.getUint16(i, littleEndian),
    Uint4: (i) => values.getUint32(i, littleEndian),
    Uint8: (i) => Number(values.getBigUint64(i, littleEndian)),
  };
  const isLong = element === "float" && (type.isExtended || size === 16);
  const one = isLong ? (i: number) => longDouble(values, i, type) : at[`${kind}${size}`];
  if (one === undefined) throw new DataError(`numbers of type ${element} and ${size} bytes are not read`);
  return Float64Array.from({ length: count }, (_, i) => one(i * size));
}

/**
 * Rounded to float64. Source: IEEE 754-2019, section 3.4 (binary128); Intel 64 and IA-32 manual, volume 1, section
 * 4.2.2 (80 bits).
 */
function longDouble(values: DataView, at: number, { size, littleEndian, isExtended }: ElementType): number {
  const bytes = Uint8Array.from({ length: size }, (_, i) => values.getUint8(at + (littleEndian ? i : size - 1 - i)));
  const view = new DataView(bytes.buffer);
  const top = view.getUint16(isExtended ? 8 : 14, true);
  const exponent = top & 0x7fff;
  const low = view.getBigUint64(0, true);
  const bits = isExtended ? 63 : 112;
  const stated = isExtended ? low : (view.getBigUint64(8, true) % 2n ** 48n) * 2n ** 64n + low;
  const mantissa = isExtended || exponent === 0 ? stated : stated + 2n ** 112n;
  const sign = top >= 0x8000 ? -1 : 1;
  if (exponent === 0x7fff) return mantissa % 2n ** BigInt(bits) === 0n ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (Number(mantissa) / 2 ** bits) * 2 ** (Math.max(exponent, 1) - 16383);
}
