import { describe, expect, it } from "vitest";
import { isNpy, readNpy as read } from "../../src/float32/npy.js";

const readNpy = (bytes: Uint8Array) => read(bytes).rows;

function npy(descr: string, shape: string, order: "True" | "False", data: Buffer, major = 1): Buffer {
  const dict = `{'descr': '${descr}', 'fortran_order': ${order}, 'shape': ${shape}, }\n`;
  const length = Buffer.alloc(major === 1 ? 2 : 4);
  if (major === 1) length.writeUInt16LE(dict.length);
  else length.writeUInt32LE(dict.length);
  const magic = Buffer.from([0x93, ...Buffer.from("NUMPY"), major, 0]);
  return Buffer.concat([magic, length, Buffer.from(dict, "latin1"), data]);
}

const NUMBERS = [1, -2, 3.5, 4, 5, 6.25];
const buffer = (bytes: number, write: (data: Buffer, value: number, at: number) => void, values = NUMBERS) => {
  const data = Buffer.alloc(bytes * values.length);
  values.forEach((value, i) => {
    write(data, value, bytes * i);
  });
  return data;
};
const f4 = buffer(4, (data, value, at) => data.writeFloatLE(value, at));
const f8be = buffer(8, (data, value, at) => data.writeDoubleBE(value, at));

describe(".npy points", () => {
  it("reads float32 and float64, either byte order, both header versions, and a single point", () => {
    expect(Array.from(readNpy(npy("<f4", "(2, 3)", "False", f4)))).toEqual(NUMBERS);
    expect(Array.from(readNpy(npy(">f8", "(2, 3)", "False", f8be, 2)))).toEqual(NUMBERS);
    expect(Array.from(readNpy(npy("<f4", "(3,)", "False", f4.subarray(0, 12))))).toEqual(NUMBERS.slice(0, 3));
    expect(isNpy(npy("<f4", "(2, 3)", "False", f4))).toBe(true);
    expect(isNpy(Buffer.from("x,y,z\n"))).toBe(false);
  });

  it("reads integers of every width", () => {
    const whole = [1, -2, 3, 4, 5, 6];
    const i8 = buffer(8, (data, value, at) => data.writeBigInt64LE(BigInt(value), at), whole);
    const i4be = buffer(4, (data, value, at) => data.writeInt32BE(value, at), whole);
    const i1 = buffer(1, (data, value, at) => data.writeInt8(value, at), whole);
    const u2 = buffer(2, (data, value, at) => data.writeUInt16LE(value, at), [40_000, 1, 2]);
    expect(Array.from(readNpy(npy("<i8", "(2, 3)", "False", i8)))).toEqual(whole);
    expect(Array.from(readNpy(npy(">i4", "(2, 3)", "False", i4be)))).toEqual(whole);
    expect(Array.from(readNpy(npy("|i1", "(2, 3)", "False", i1)))).toEqual(whole);
    expect(Array.from(readNpy(npy("<u2", "(3,)", "False", u2)))).toEqual([40_000, 1, 2]);
  });

  it("reads column-major arrays", () => {
    const columns = buffer(4, (data, value, at) => data.writeFloatLE(value, at), [1, 4, -2, 5, 3.5, 6.25]);
    expect(Array.from(readNpy(npy("<f4", "(2, 3)", "True", columns)))).toEqual(NUMBERS);
  });

  it("refuses other shapes and types and files that are cut short", () => {
    expect(() => readNpy(npy("<f4", "(3, 2)", "False", f4))).toThrow("shape (3, 2)");
    expect(() => readNpy(npy("<f4", "(1, 2, 3)", "False", f4))).toThrow("shape");
    expect(() => readNpy(npy("<f4", "()", "False", f4))).toThrow("shape");
    expect(() => readNpy(npy("<f4", "(-1, 3)", "False", f4))).toThrow("shape (-1, 3)");
    expect(() => readNpy(npy("<f4", "(x, 3)", "False", f4))).toThrow("shape (x, 3)");
    expect(() => readNpy(npy("<c8", "(1, 3)", "False", f4))).toThrow("<c8");
    expect(() => readNpy(npy("<f4", "(2, 3)", "False", f4.subarray(1)))).toThrow("cut short");
    expect(() => readNpy(npy("<f4", "(1, 3)", "False", f4))).toThrow("12 bytes follow the .npy array");
    expect(() => readNpy(npy("<f4", "(2, 3)", "False", f4).subarray(0, 9))).toThrow("cut short");
  });
});
