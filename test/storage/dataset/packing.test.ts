/** Stored numbers become values by the attributes beside them; bounds that are met exactly are values. */
import { describe, expect, it } from "vitest";
import { isAsStored, isField, packingOf, unpack } from "../../../src/storage/dataset/packing.js";
import type { AttributeValue, NumberType, RawValues, Stored } from "../../../src/storage/dataset/stored.js";

type View = {
  readonly BYTES_PER_ELEMENT: number;
  from(numbers: readonly number[]): RawValues;
  of(number: number): RawValues;
};
type Type = readonly [
  name: string,
  element: "float" | "integer",
  signed: boolean,
  view: View,
  least: number,
  most: number,
];

/** Views by which a stored type is read, with the smallest and the largest number of each. */
const TYPES: readonly Type[] = [
  ["i1", "integer", true, Int8Array, -128, 127],
  ["u1", "integer", false, Uint8Array, 0, 255],
  ["i2", "integer", true, Int16Array, -32768, 32767],
  ["u2", "integer", false, Uint16Array, 0, 65535],
  ["i4", "integer", true, Int32Array, -(2 ** 31), 2 ** 31 - 1],
  ["u4", "integer", false, Uint32Array, 0, 2 ** 32 - 1],
  ["f4", "float", false, Float32Array, -3.4028234663852886e38, 3.4028234663852886e38],
  ["f8", "float", false, Float64Array, -Number.MAX_VALUE, Number.MAX_VALUE],
];

function storedAs([, element, signed, View]: Type): Stored {
  const size = View.BYTES_PER_ELEMENT;
  const shape = [1];
  return {
    shape,
    maxShape: shape,
    element,
    size,
    signed,
    littleEndian: true,
    chunks: null,
    filters: [],
    virtual: false,
  };
}

function values(type: Type, numbers: readonly number[], attributes: Record<string, AttributeValue>): number[] {
  const raw: RawValues = type[3].from(numbers);
  return [...unpack(raw, packingOf(new Map(Object.entries(attributes)), storedAs(type)))];
}

const typeOf = (wanted: string) => TYPES.find(([name]) => name === wanted) as Type;
const [FLOAT32, FLOAT64, INT16] = [typeOf("f4"), typeOf("f8"), typeOf("i2")];

describe.each(TYPES)("%s", (...type) => {
  const [, element, , , least, most] = type;

  it("keeps values that equal a bound, and drops those beyond it", () => {
    const [low, high] = [least / 2, most / 2].map(Math.ceil) as [number, number];
    const numbers = [low - (Math.abs(low) > 1e30 ? low * -1e-3 : 1), low, 1, high, high + (high > 1e30 ? high : 1)];
    const inside = [low, 1, high].map((x) => type[3].of(x)[0]);
    const bounded = least === 0 ? numbers.slice(1) : numbers;
    const expected = [...(least === 0 ? [] : [Number.NaN]), ...inside, Number.NaN];
    expect(values(type, bounded, { valid_min: low, valid_max: high })).toEqual(expected);
    expect(values(type, bounded, { valid_range: Float64Array.of(low, high) })).toEqual(expected);
  });

  it("keeps the limits of its type where they are the bounds", () => {
    expect(values(type, [least, 1, most], { valid_min: least, valid_max: most })).toEqual([least, 1, most]);
  });

  it.each(["_FillValue", "missing_value"])("drops %s at either limit of its type, and nothing else", (name) => {
    expect(values(type, [least, 1, most], { [name]: least })).toEqual([Number.NaN, 1, most]);
    expect(values(type, [least, 1, most], { [name]: most })).toEqual([least, 1, Number.NaN]);
  });

  it("is a field as it is, or with a scale", () => {
    const stored = storedAs(type);
    expect(isField(stored, packingOf(new Map(), stored))).toBe(element === "float");
    expect(isField(stored, packingOf(new Map([["scale_factor", 1]]), stored))).toBe(true);
  });
});

describe("bounds", () => {
  it("are compared in the stored type: 0.1 as float64 bounds 0.1 as float32", () => {
    const tenth = Math.fround(0.1);
    expect(values(FLOAT32, [tenth, 0.2], { valid_min: 0.1 })[0]).toBe(tenth);
    expect(values(FLOAT32, [tenth, 0.05], { valid_max: 0.1 })[0]).toBe(tenth);
    expect(values(FLOAT32, [tenth, 0.2], { _FillValue: 0.1 })[0]).toBeNaN();
    expect(values(FLOAT64, [Math.fround(0.1)], { _FillValue: 0.1 })[0]).toBe(tenth);
  });

  it("are of stored numbers, not of the values that a scale makes of them", () => {
    const attributes = { scale_factor: 0.5, add_offset: 10, valid_max: 4 };
    expect(values(INT16, [3, 4, 5], attributes)).toEqual([11.5, 12, Number.NaN]);
  });

  it("of valid_range and valid_min both hold", () => {
    expect(values(INT16, [1, 2, 3], { valid_range: Float64Array.of(1, 3), valid_min: 2 })).toEqual([Number.NaN, 2, 3]);
    expect(values(INT16, [1, 2, 3], { valid_range: Float64Array.of(1, 3), valid_max: 2 })).toEqual([1, 2, Number.NaN]);
  });
});

/** Attributes, each a stored type and its numbers. */
function typed(
  attributes: Record<string, [type: "f4" | "f8" | "i1" | "i2" | "i4" | "i8" | "json", ...numbers: number[]]>,
) {
  const types = new Map<string, NumberType>();
  const found = Object.assign(new Map<string, AttributeValue>(), { types });
  for (const [name, [type, ...numbers]] of Object.entries(attributes)) {
    found.set(name, numbers.length === 1 ? (numbers[0] as number) : Float64Array.from(numbers));
    const isFloat = type === "json" ? numbers.some((number) => !Number.isInteger(number)) : type.startsWith("f");
    types.set(name, { element: isFloat ? "float" : "integer", size: type === "json" ? null : Number(type[1]) });
  }
  return found;
}

describe("limits and markers by their types", () => {
  const [tenth, thousandth] = [Math.fround(0.1), Math.fround(0.001)];
  const NONE = Number.NaN;
  const thousandths = (...numbers: number[]) => numbers.map((number) => number * thousandth);

  it.each([
    // NetCDF Users Guide: limits of the type of the variable are stored numbers.
    [
      "i2, of stored numbers",
      "i2",
      [-1001, -1000, 0, 1000, 1001],
      { scale_factor: ["f4", thousandth], valid_range: ["i2", -1000, 1000] },
      [NONE, ...thousandths(-1000, 0, 1000), NONE],
    ],
    [
      "i8 on i2, of stored numbers",
      "i2",
      [-1, 0, 3, 4],
      { scale_factor: ["f4", thousandth], valid_range: ["i8", 0, 3] },
      [NONE, ...thousandths(0, 3), NONE],
    ],
    // netCDF-Java: limits of the type of scale_factor, wider than the variable, are values.
    [
      "f4, of values",
      "i2",
      [-1001, -1000, 0, 1000, 1001],
      { scale_factor: ["f4", thousandth], valid_range: ["f4", -1, 1] },
      [NONE, ...thousandths(-1000, 0, 1000), NONE],
    ],
    [
      "f8, of values",
      "i2",
      [-4, -3, 3, 4],
      { scale_factor: ["f8", 0.1], valid_range: ["f8", -0.3, 0.3] },
      [NONE, -3 * 0.1, 3 * 0.1, NONE],
    ],
    [
      "f4, valid_min alone",
      "i2",
      [-1001, -1000, 32767],
      { scale_factor: ["f4", thousandth], valid_min: ["f4", -1] },
      [NONE, ...thousandths(-1000, 32767)],
    ],
    [
      "f4, valid_max alone",
      "u1",
      [0, 9, 10, 11],
      { scale_factor: ["f4", tenth], valid_max: ["f4", 1] },
      [0, 9 * tenth, 10 * tenth, NONE],
    ],
    [
      "f4 with an offset",
      "i2",
      [0, 1, 2, 3],
      { scale_factor: ["f4", 0.5], add_offset: ["f4", 10], valid_range: ["f4", 10.5, 11] },
      [NONE, 10.5, 11, NONE],
    ],
    [
      "f8, the offset being wider than the scale",
      "i2",
      [0, 1, 2, 3],
      { scale_factor: ["f4", 0.5], add_offset: ["f8", 10], valid_range: ["f8", 10.5, 11] },
      [NONE, 10.5, 11, NONE],
    ],
    [
      "f4 with a negative scale",
      "i2",
      [-3, -2, -1, 0],
      { scale_factor: ["f4", -0.5], valid_range: ["f4", 0.5, 1] },
      [NONE, 1, 0.5, NONE],
    ],
    ["f8 of scaled f4", "f4", [1, 2, 3], { scale_factor: ["f8", 2], valid_max: ["f8", 4] }, [2, 4, NONE]],
    ["f8 of f4 that is not scaled", "f4", [1, 2, 3], { valid_max: ["f8", 2] }, [1, 2, NONE]],
    ["f8, 0 of either", "i2", [-1, 0, 1], { scale_factor: ["f4", 0.5], valid_min: ["f8", 0] }, [NONE, 0, 0.5]],
    [
      "JSON, integers",
      "i2",
      [-3, 1, 3],
      { scale_factor: ["json", 0.5], valid_range: ["json", -1, 1] },
      [NONE, 0.5, NONE],
    ],
    [
      "JSON, a fraction",
      "i2",
      [-4, 2, 3],
      { scale_factor: ["json", 0.5], valid_range: ["json", -1.5, 1] },
      [NONE, 1, NONE],
    ],
    // CF 2.5.1: missing values are stored numbers, whatever their type.
    [
      "missing values, several",
      "i2",
      [-9, -8, 1],
      { scale_factor: ["f4", 0.5], missing_value: ["i2", -9, -8] },
      [NONE, NONE, 0.5],
    ],
    ["missing values, i4", "i2", [-9, 1], { scale_factor: ["f4", 0.5], _FillValue: ["i4", -9] }, [NONE, 0.5]],
    [
      "missing values, f8 that only a stored number can be",
      "i2",
      [-9999, 1],
      { scale_factor: ["f8", 0.001], missing_value: ["f8", -9999] },
      [NONE, 0.001],
    ],
    [
      "missing values, f8 that nothing can be",
      "i2",
      [-9, 1],
      { scale_factor: ["f4", 0.5], _FillValue: ["f8", 1e20] },
      [-4.5, 0.5],
    ],
  ] as const)("%s", (_, type, numbers, attributes, expected) => {
    const stored = storedAs(typeOf(type));
    const raw: RawValues = typeOf(type)[3].from(numbers);
    expect([...unpack(raw, packingOf(typed(attributes as never), stored))]).toEqual(expected);
  });

  it("of the unsigned meaning of signed integers are unsigned values", () => {
    const attributes = typed({ scale_factor: ["f4", 0.5], valid_range: ["f4", 1, 126.5] });
    attributes.set("_Unsigned", "true");
    const raw = Int8Array.of(1, 2, -3, -2);
    expect([...unpack(raw, packingOf(attributes, storedAs(typeOf("i1"))))]).toEqual([NONE, 1, 126.5, NONE]);
  });

  it.each([
    [
      "f8 beside a scale of f4",
      "i2",
      { scale_factor: ["f4", 0.5], valid_range: ["f8", -1, 1] },
      "the attribute valid_range, of type float64, may limit the stored numbers (int16) or their values",
    ],
    [
      "f4 beside a scale of f8",
      "i2",
      { scale_factor: ["f8", 0.5], valid_min: ["f4", 1] },
      "valid_min, of type float32",
    ],
    ["i8 as the scale is", "i2", { scale_factor: ["i8", 2], valid_max: ["i8", 10] }, "valid_max, of type int64"],
    ["f4 of f8", "f8", { scale_factor: ["f4", 2], valid_max: ["f4", 10] }, "valid_max, of type float32"],
    [
      "JSON of scaled floats",
      "f4",
      { scale_factor: ["json", 2], valid_max: ["json", 10] },
      "valid_max, of type int, may limit the stored numbers (float32)",
    ],
    ["reversed", "i2", { valid_range: ["i2", 1, -1] }, "valid_range (1 to -1) has no values"],
    ["not a number", "f4", { valid_min: ["f4", NONE] }, "valid_min (NaN) has no values"],
    [
      "apart",
      "f4",
      { valid_min: ["f4", 2], valid_max: ["f4", 1] },
      "valid_range, valid_min, valid_max have no values in common",
    ],
    [
      "a marker that may be a value",
      "i2",
      { scale_factor: ["f4", 0.5], missing_value: ["f4", -9] },
      "the attribute missing_value, -9, is of type float32: it may be the stored number -9 or the value of -18",
    ],
    [
      "a marker that is a value",
      "i2",
      { scale_factor: ["f4", tenth], _FillValue: ["f4", Math.fround(-999.9)] },
      "or the value of -9999",
    ],
  ] as const)("are refused if they are %s", (_, type, attributes, message) => {
    expect(() => packingOf(typed(attributes as never), storedAs(typeOf(type)))).toThrow(message);
  });
});

describe("zero", () => {
  it("keeps its sign where a fill value or a bound is stated", () => {
    expect(Object.is(values(FLOAT32, [-0], { _FillValue: 7 })[0], -0)).toBe(true);
    expect(Object.is(values(FLOAT64, [-0], { valid_max: 7 })[0], -0)).toBe(true);
    expect(Object.is(values(FLOAT32, [-0], { scale_factor: 2 })[0], -0)).toBe(true);
  });
});

describe("_Unsigned", () => {
  it("turns negative numbers into the upper half, fill values and bounds too", () => {
    const attributes = { _Unsigned: "true", _FillValue: -1, valid_max: -2 };
    expect(values(INT16, [1, -32768, -2, -1], attributes)).toEqual([1, 32768, 65534, Number.NaN]);
  });

  it("is refused where it says something else", () => {
    expect(() => values(INT16, [1], { _Unsigned: "yes" })).toThrow(/_Unsigned/);
    expect(() => values(typeOf("u2"), [1], { _Unsigned: "false" })).toThrow(/_Unsigned/);
  });
});

describe("attributes that change values", () => {
  it.each([
    [{ Scale_Factor: 2 }, /spelled scale_factor/],
    [{ scale_factor: "2" }, /scale_factor is not a number/],
    [{ valid_range: 2 }, /valid_range is not two numbers/],
    [{ scale_factor: 0 }, /do not give values/],
    [{ add_offset: Number.NaN }, /do not give values/],
  ])("are refused unless they are what they must be: %o", (attributes, message) => {
    expect(() => values(FLOAT32, [1], attributes as unknown as Record<string, AttributeValue>)).toThrow(message);
  });

  it("leave float32 numbers where they are only if none of them has an effect", () => {
    const stored = storedAs(FLOAT32);
    const isPlain = (attributes: Record<string, AttributeValue>) =>
      isAsStored(stored, packingOf(new Map(Object.entries(attributes)), stored));
    expect(isPlain({ scale_factor: 1, add_offset: 0, _FillValue: Number.NaN })).toBe(true);
    for (const name of ["_FillValue", "missing_value", "valid_min", "valid_max", "add_offset", "unitSI"])
      expect(isPlain({ [name]: 3 }), name).toBe(false);
  });

  it("multiply: unitSI and scale_factor", () => {
    expect(values(FLOAT64, [3], { unitSI: 2, scale_factor: 5, add_offset: 1 })).toEqual([31]);
  });
});
