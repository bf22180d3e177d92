import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { MisuseError } from "../../../src/cli/input/arguments.js";
import { isNpy, readNpy } from "../../../src/cli/input/npy.js";
import { readCsv, readPoints } from "../../../src/cli/input/points.js";
import { scratchFolder } from "../../support/scratch.js";

const csv = (text: string) => Array.from(readCsv(Buffer.from(text)));

describe("CSV points", () => {
  it("reads three numbers a line, with or without a header, in every notation", () => {
    expect(csv("1,2,3\n")).toEqual([1, 2, 3]);
    expect(csv("x,y,z\n1,2,3\n-4.5, .5 ,+6e-1\n")).toEqual([1, 2, 3, -4.5, 0.5, Math.fround(0.6)]);
    expect(csv("# x y z\r\n1,2,3\r\n\r\n4,5,6")).toEqual([1, 2, 3, 4, 5, 6]);
    expect(csv("\uFEFFx,y,z\n1,2,3")).toEqual([1, 2, 3]);
    expect(csv("x [m], y+, z (10)\n1,2,3")).toEqual([1, 2, 3]);
    expect(csv("# 3 columns\n1,2,3")).toEqual([1, 2, 3]);
    expect(csv("1.0e+00 2 3\n4\t5\t6\n 7;8; 9\n")).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(csv("")).toEqual([]);
  });

  it("rounds every number once", () => {
    // Just above the midpoint of 1 and the next float32; a double holds the midpoint alone.
    expect(
      csv("1.000000059604644775390625000001,-1.000000059604644775390625000001,1.000000059604644775390625"),
    ).toEqual([1 + 2 ** -23, -1 - 2 ** -23, 1]);
  });

  it("takes columns by the names of a header, in any order and among others", () => {
    expect(csv("z,y,x\n3,2,1\n")).toEqual([1, 2, 3]);
    expect(csv("id;x;name;y;z\n7;1;a b;2;3\n")).toEqual([1, 2, 3]);
    expect(csv('"Points:2","Points:1","Points:0","speed"\n3,2,1,nan\n')).toEqual([1, 2, 3]);
    expect(csv("# Y X Z\n2 1 3\n")).toEqual([1, 2, 3]);
    expect(csv("pos_x,pos_z,pos_y\n1,3,2")).toEqual([1, 2, 3]);
  });

  it.each(["x,y,y\n1,2,3", "x,y\n1,2", "a,b,c\n1,2,3", "x,y,z,pos_x\n1,2,3,4", "# x y\n1 2 3"])(
    "refuses the header of %j",
    (text) => expect(() => csv(text)).toThrow("does not name one column each x, y and z"),
  );

  it("reads more points than its first buffer holds", () => {
    const lines = Array.from({ length: 5000 }, (_, i) => `${i},${i + 0.5},${-i}`);
    const points = csv(`x,y,z\n${lines.join("\n")}`);
    expect(points.length).toBe(15_000);
    expect(points.slice(3 * 4999)).toEqual([4999, 4999.5, -4999]);
  });

  it.each([
    ["1,2\n", "line 1"],
    ["1,2,3\n1,2,3,4\n", "line 2"],
    ["x,y,z\n1,two,3\n", "line 2"],
    ["1,2,\n", "line 1"],
    ["1,2,0x10\n", "line 1"],
    ["1,2,NaN\n", "line 1"],
    ["1 2 3\n4,5,6\n7 8\n", "line 3"],
    ['"1","2","3"\n', "line 1"],
    ["nan,nan,nan\n1,2,3\n", "line 1"],
    ["1,5;2,5;3,5\n", "line 1"],
    ["1,,3\n", "line 1"],
  ])("refuses %j and says where", (text, where) => {
    expect(() => csv(text)).toThrow(where);
  });
});

/** A .npy file by the format's description. */
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
    expect(() => readNpy(npy("<f4", "(2, 3)", "False", f4).subarray(0, 9))).toThrow("cut short");
  });
});

describe("point files", () => {
  const folder = scratchFolder();

  it("are told apart by their content", async () => {
    const text = join(folder, "points.csv");
    const binary = join(folder, "points.dat");
    writeFileSync(text, "1,2,3\n");
    writeFileSync(binary, npy("<f4", "(2, 3)", "False", f4));
    expect(Array.from(await readPoints(text))).toEqual([1, 2, 3]);
    expect(Array.from(await readPoints(binary))).toEqual(NUMBERS);
  });

  it("are named when they cannot be read", async () => {
    await expect(readPoints(join(folder, "none.csv"))).rejects.toThrow(MisuseError);
    await expect(readPoints(join(folder, "none.csv"))).rejects.toThrow("none.csv");
  });
});
