/** Unpacks stored numbers by netCDF and CF: scale, offset, missing values and valid range. */
import { DataError } from "../../shared/errors.js";
import type { Attributes, AttributeValue, NumberType, RawValues, Stored } from "./stored.js";

/** The value of a stored number `p` is `p * factor + offset`; all other members are stored numbers. */
export interface Packing {
  readonly factor: number;
  readonly offset: number;
  /** Added to negative stored numbers: 2^bits if signed integers mean unsigned ones, else 0. */
  readonly wrap: number;
  readonly missing: readonly number[];
  /** Valid stored numbers, `wrap` added to negative ones. */
  readonly least: number;
  readonly most: number;
  /** Whether a scale or an offset is stated, even as 1 or 0: integers are then field values. */
  readonly isStated: boolean;
}

/** Names of the attributes that change values, and how many numbers each has. */
const MEMBERS = new Map([
  ["scale_factor", 1],
  ["unitSI", 1],
  ["add_offset", 1],
  ["_FillValue", 1],
  ["missing_value", Number.POSITIVE_INFINITY],
  ["valid_range", 2],
  ["valid_min", 1],
  ["valid_max", 1],
]);

const UNSIGNED = "_Unsigned";
const SPELLED: ReadonlyMap<string, string> = new Map(
  [...MEMBERS.keys(), UNSIGNED].map((name) => [name.toLowerCase(), name]),
);

export function isPackingName(name: string): boolean {
  return SPELLED.has(name.toLowerCase());
}

/** Values with which an attribute leaves stored numbers as they are. */
const NEUTRAL = { scale_factor: 1, unitSI: 1, add_offset: 0, _FillValue: Number.NaN, missing_value: Number.NaN };

export function changesValues(name: string, value: AttributeValue | null): boolean {
  const number = value instanceof Float64Array && value.length === 1 ? value[0] : value;
  return isPackingName(name) && !Object.is(number, NEUTRAL[name as keyof typeof NEUTRAL]);
}

const LIMITS = ["valid_range", "valid_min", "valid_max"];
const MARKERS = ["_FillValue", "missing_value"];
const SCALES = ["scale_factor", "add_offset"];

/**
 * The packing of a dataset with these attributes; without `types`, limits and markers are of the stored type.
 *
 * Source: NetCDF Users Guide, appendix A; CF conventions 1.11, sections 2.5 and 8.1; netCDF-Java, "Packed data values",
 * for limits in the type of the values; openPMD 1.1.0 for `unitSI`.
 * @throws DataError for attributes that are not the numbers they must be, are spelled otherwise, or may mean both
 * stored numbers and values
 */
export function packingOf(attributes: Attributes, stored: Stored): Packing {
  const { element, size } = stored;
  for (const name of attributes.keys()) {
    const spelled = SPELLED.get(name.toLowerCase()) ?? name;
    if (spelled !== name)
      throw new DataError(`the attribute ${name} may change values and is only read if it is spelled ${spelled}`);
  }
  const numbers = (name: string): readonly number[] => {
    const value = attributes.get(name);
    if (value === undefined) return [];
    const found = typeof value === "number" ? [value] : value instanceof Float64Array ? [...value] : [];
    const most = MEMBERS.get(name) as number;
    // A truth has no type of numbers.
    const isTruth = attributes.types?.has(name) === false && !MARKERS.includes(name);
    if (isTruth || found.length === 0 || found.length > most || (name === "valid_range" && found.length !== 2))
      throw new DataError(`the attribute ${name} is not ${most === 2 ? "two numbers" : "a number"}`);
    // The stored type is the one in which a stored number can equal it.
    return element === "float" && size === 4 && [...LIMITS, ...MARKERS].includes(name) ? found.map(Math.fround) : found;
  };
  const factor = (numbers("scale_factor")[0] ?? 1) * (numbers("unitSI")[0] ?? 1);
  const [offset = 0] = numbers("add_offset");
  if (!Number.isFinite(factor) || !Number.isFinite(offset) || factor === 0)
    throw new DataError(`scale_factor ${factor} and add_offset ${offset} do not give values`);
  const wrap = wrapOf(attributes.get(UNSIGNED), stored);
  const scale = { factor, offset, wrap };
  const pairs = LIMITS.filter((name) => attributes.has(name)).map((name) => {
    const [first = Number.NaN, second = Number.POSITIVE_INFINITY] = numbers(name);
    const stated = name === "valid_max" ? [Number.NEGATIVE_INFINITY, first] : [first, second];
    const pair = storedLimits(name, stated, attributes.types, stored, scale);
    if (!(pair[0] <= pair[1]))
      throw new DataError(`the attribute ${name} (${numbers(name).join(" to ")}) has no values`);
    return pair;
  });
  const [least, most] = [Math.max(...pairs.map(([low]) => low)), Math.min(...pairs.map(([, high]) => high))];
  if (least > most) throw new DataError(`${LIMITS.join(", ")} have no values in common`);
  for (const name of MARKERS) checkMarkers(name, numbers(name), attributes.types, stored, scale);
  return {
    ...scale,
    missing: MARKERS.flatMap(numbers).filter((value) => !Number.isNaN(value)),
    least,
    most,
    isStated: SCALES.some((name) => attributes.has(name)) || factor !== 1,
  };
}

type Scale = Pick<Packing, "factor" | "offset" | "wrap">;

/**
 * Limits as stored numbers. Those of the stored type, and integers that limit integers, are; those of the wider type of
 * `scale_factor` and `add_offset` are values.
 * @throws DataError for another type, unless both readings are the same
 */
function storedLimits(
  name: string,
  stated: readonly number[],
  types: Attributes["types"],
  stored: Stored,
  scale: Scale,
): [least: number, most: number] {
  const asStored = stated.map((limit) => wrapped(limit, scale.wrap)) as [number, number];
  const type = types?.get(name);
  if (type === undefined || !isScaled(scale) || isSameType(type, stored)) return asStored;
  const numbers = stated.map((value) => storedNumber(value, type, stored, scale)) as [number, number];
  const asValues: [number, number] = scale.factor < 0 ? [numbers[1], numbers[0]] : numbers;
  if (isOfValues(type, types, stored)) return asValues;
  const isScaleType = SCALES.some((scaling) => isSameType(types?.get(scaling), type)) && type.size !== null;
  if (type.element === "integer" && stored.element === "integer" && !isScaleType) return asStored;
  if (asStored.every((limit, i) => limit === asValues[i])) return asStored;
  throw new DataError(
    `the attribute ${name}, of type ${typeName(type)}, may limit the stored numbers (${typeName(stored)}) or their values`,
  );
}

function isOfValues(type: NumberType, types: Attributes["types"], stored: Stored): boolean {
  if (type.element !== "float") return false;
  const scales = SCALES.flatMap((name) => types?.get(name) ?? []).filter(
    ({ element, size }) => element === "float" || size === null,
  );
  if (type.size === null) return stored.element === "integer" && scales.length > 0;
  const widest = Math.max(...scales.map(({ size }) => size ?? 0));
  return type.size === widest && (stored.element === "integer" || widest > stored.size);
}

function isSameType(one: NumberType | undefined, { element, size }: Stored | NumberType): boolean {
  return one?.element === element && one.size === size;
}

function typeName({ element, size }: Pick<Stored, "element"> & { readonly size: number | null }): string {
  return `${element === "float" ? "float" : "int"}${size === null ? "" : 8 * size}`;
}

function storedNumber(value: number, { size }: NumberType, stored: Stored, { factor, offset }: Scale): number {
  const number = (value - offset) / factor;
  const rounding = (Math.abs(value) + Math.abs(offset)) * (size === 4 ? 2 ** -22 : 2 ** -50);
  const isRounded = Math.abs(number - Math.round(number)) <= Math.abs(rounding / factor);
  return stored.element === "integer" && isRounded ? Math.round(number) : number;
}

/** @throws DataError if markers of missing values in the type of the values may be stored numbers or values */
function checkMarkers(
  name: string,
  markers: readonly number[],
  types: Attributes["types"],
  stored: Stored,
  scale: Scale,
): void {
  const type = types?.get(name);
  if (type?.element !== "float" || stored.element !== "integer" || !isScaled(scale)) return;
  const half = stored.signed ? 2 ** (8 * stored.size - 1) : 0;
  const [least, most] = [-half, 2 ** (8 * stored.size) - 1 - (scale.wrap > 0 ? 0 : half)];
  for (const marker of markers) {
    const number = storedNumber(marker, type, stored, scale);
    if (Number.isInteger(number) && number !== marker && number >= least && number <= most)
      throw new DataError(
        `the attribute ${name}, ${marker}, is of type ${typeName(type)}: it may be the stored number ${marker} or the value of ${number}`,
      );
  }
}

/** The packing of a dataset whose values are also multiplied by a factor. */
export function timesFactor(packing: Packing, factor = 1): Packing {
  return { ...packing, factor: packing.factor * factor, offset: packing.offset * factor };
}

/** @throws DataError if `_Unsigned` is not clear */
function wrapOf(said: AttributeValue | null | undefined, { element, size, signed }: Stored): number {
  if (said === undefined || element !== "integer") return 0;
  const isUnsigned = said === "true";
  if ((!isUnsigned && said !== "false") || (!isUnsigned && !signed))
    throw new DataError(`the attribute ${UNSIGNED} is ${JSON.stringify(said)}, which is not read`);
  return isUnsigned && signed ? 2 ** (8 * size) : 0;
}

/** Whether elements can be values of a field: float32, float64, or packed integers of up to 4 bytes. */
export function isField({ element, size }: Stored, packing: Packing): boolean {
  if (element === "float") return size === 4 || size === 8;
  return element === "integer" && size <= 4 && packing.isStated;
}

const isScaled = ({ factor, offset, wrap }: Scale): boolean => factor !== 1 || offset !== 0 || wrap !== 0;

export function isAsStored({ element, size }: Stored, packing: Packing): boolean {
  return element === "float" && size === 4 && !isBounded(packing) && !isScaled(packing);
}

function isBounded({ missing, least, most }: Packing): boolean {
  return missing.length > 0 || least > Number.NEGATIVE_INFINITY || most < Number.POSITIVE_INFINITY;
}

/** Unpacks stored numbers, in place if nothing has to be computed; missing and invalid ones become NaN. */
export function unpack(stored: RawValues, packing: Packing): Float32Array | Float64Array {
  const { factor, offset, wrap, least, most } = packing;
  const missing = packing.missing.map((number) => wrapped(number, wrap));
  const isFloat = stored instanceof Float32Array || stored instanceof Float64Array;
  const bounded = isBounded(packing);
  if (isFloat && !bounded && !isScaled(packing)) return stored;
  const values = isFloat && !isScaled(packing) ? stored : new Float64Array(stored.length);
  // Adding zero would turn -0 into +0.
  const isShifted = offset !== 0;
  for (let i = 0; i < values.length; i++) {
    const number = wrapped(stored[i], wrap);
    const isNothing = bounded && (missing.includes(number) || number < least || number > most);
    const scaled = number * factor;
    values[i] = isNothing ? Number.NaN : isShifted ? scaled + offset : scaled;
  }
  return values;
}

/** The unsigned number that a signed integer stands for; a bound that is not stated stays infinite. */
function wrapped(number: number, wrap: number): number {
  return wrap !== 0 && number < 0 && number > Number.NEGATIVE_INFINITY ? number + wrap : number;
}
