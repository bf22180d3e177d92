/** Unpacks stored numbers by the conventions of netCDF and CF: scale, offset, missing values and valid range. */
import { DataError } from "../../shared/errors.js";
import type { AttributeValue, RawValues, Stored } from "./stored.js";

/** The value of a stored number `p` is `p * factor + offset`; the other members speak of stored numbers. */
export interface Packing {
  readonly factor: number;
  readonly offset: number;
  /** Added to negative stored numbers: 2^bits if signed integers mean unsigned ones, else 0. */
  readonly wrap: number;
  /** Stored numbers that mean "nothing here". */
  readonly missing: readonly number[];
  readonly least: number;
  readonly most: number;
  /** Whether a scale or an offset is stated, even as 1 or 0: integers are then numbers of a field. */
  readonly isStated: boolean;
}

/** Names of the attributes that change values, and the numbers that each of them has. */
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

/** Says "true" of signed integers that mean unsigned ones. */
const UNSIGNED = "_Unsigned";
/** The names as they are spelled, by their letters in lower case. */
const SPELLED: ReadonlyMap<string, string> = new Map(
  [...MEMBERS.keys(), UNSIGNED].map((name) => [name.toLowerCase(), name]),
);

/** Whether an attribute of this name changes values, or may be meant to. */
export function isPackingName(name: string): boolean {
  return SPELLED.has(name.toLowerCase());
}

/**
 * The packing of a dataset with these attributes.
 *
 * Source: NetCDF Users Guide, appendix A; CF conventions 1.11, sections 2.5 and 8.1; openPMD 1.1.0 for `unitSI`.
 *
 * @param attributes those that are readable, and null for others
 * @throws DataError when an attribute that changes values is not the numbers it must be, or not spelled as it must be
 */
export function packingOf(attributes: ReadonlyMap<string, AttributeValue | null>, stored: Stored): Packing {
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
    if (found.length === 0 || found.length > most || (name === "valid_range" && found.length !== 2))
      throw new DataError(`the attribute ${name} is not ${most === 2 ? "two numbers" : "a number"}`);
    // The stored type is the one in which a stored number can equal it.
    return element === "float" && size === 4 && !["scale_factor", "unitSI", "add_offset"].includes(name)
      ? found.map(Math.fround)
      : found;
  };
  const [least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY] = numbers("valid_range");
  const factor = (numbers("scale_factor")[0] ?? 1) * (numbers("unitSI")[0] ?? 1);
  const [offset = 0] = numbers("add_offset");
  if (!Number.isFinite(factor) || !Number.isFinite(offset) || factor === 0)
    throw new DataError(`scale_factor ${factor} and add_offset ${offset} do not give values`);
  return {
    factor,
    offset,
    wrap: wrapOf(attributes.get(UNSIGNED), stored),
    missing: [...numbers("_FillValue"), ...numbers("missing_value")].filter((value) => !Number.isNaN(value)),
    least: Math.max(least, numbers("valid_min")[0] ?? Number.NEGATIVE_INFINITY),
    most: Math.min(most, numbers("valid_max")[0] ?? Number.POSITIVE_INFINITY),
    isStated: ["scale_factor", "add_offset"].some((name) => attributes.has(name)) || factor !== 1,
  };
}

/** The packing of values that are multiplied by a factor as well. */
export function timesFactor(packing: Packing, factor = 1): Packing {
  return { ...packing, factor: packing.factor * factor, offset: packing.offset * factor };
}

/** @throws DataError if `_Unsigned` does not say what integers of this type mean */
function wrapOf(said: AttributeValue | null | undefined, { element, size, signed }: Stored): number {
  if (said === undefined || element !== "integer") return 0;
  const isUnsigned = said === "true";
  if ((!isUnsigned && said !== "false") || (!isUnsigned && !signed))
    throw new DataError(`the attribute ${UNSIGNED} is ${JSON.stringify(said)}, which is not read`);
  return isUnsigned && signed ? 2 ** (8 * size) : 0;
}

/**
 * Whether the elements of a dataset can be values of a field: float32, float64, or packed integers of up to 4 bytes.
 */
export function isField({ element, size }: Stored, packing: Packing): boolean {
  if (element === "float") return size === 4 || size === 8;
  return element === "integer" && size <= 4 && packing.isStated;
}

/** Whether values are other numbers than the stored ones. */
function isScaled({ factor, offset, wrap }: Packing): boolean {
  return factor !== 1 || offset !== 0 || wrap !== 0;
}

/** Whether the values of stored float32 numbers are these numbers. */
export function isAsStored({ element, size }: Stored, packing: Packing): boolean {
  return element === "float" && size === 4 && !isBounded(packing) && !isScaled(packing);
}

/** Whether some stored numbers mean that there is no value. */
function isBounded({ missing, least, most }: Packing): boolean {
  return missing.length > 0 || least > Number.NEGATIVE_INFINITY || most < Number.POSITIVE_INFINITY;
}

/**
 * The values of stored numbers, in place if nothing has to be computed; "nothing here" and invalid ones become NaN.
 */
export function unpack(stored: RawValues, packing: Packing): Float32Array | Float64Array {
  const { factor, offset, wrap } = packing;
  const missing = packing.missing.map((number) => wrapped(number, wrap));
  const [least, most] = [wrapped(packing.least, wrap), wrapped(packing.most, wrap)];
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

/** The number that a signed integer means; a bound that is not stated stays infinite. */
function wrapped(number: number, wrap: number): number {
  return wrap !== 0 && number < 0 && number > Number.NEGATIVE_INFINITY ? number + wrap : number;
}
