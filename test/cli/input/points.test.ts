import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { MisuseError } from "../../../src/cli/input/arguments.js";
import { readPoints } from "../../../src/cli/input/points.js";
import { scratchFolder } from "../../support/scratch.js";

/** One point, as NumPy 2.2 saves `numpy.array([[1, -2, 3.5]], "float32")`. */
const NPY = Buffer.concat([
  Buffer.from("\x93NUMPY\x01\x00\x76\x00", "latin1"),
  Buffer.from(`${"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }".padEnd(117)}\n`),
  Buffer.from(Float32Array.of(1, -2, 3.5).buffer),
]);

describe("point files", () => {
  const folder = scratchFolder();

  it("are told apart by their content", async () => {
    const text = join(folder, "points.csv");
    const binary = join(folder, "points.dat");
    writeFileSync(text, "x,y,z\r\n1,2,3\r\n4,5,6");
    writeFileSync(binary, NPY);
    expect(Array.from(await readPoints(text))).toEqual([1, 2, 3, 4, 5, 6]);
    expect(Array.from(await readPoints(binary))).toEqual([1, -2, 3.5]);
  });

  it("may be text in UTF-16, as PowerShell writes it", async () => {
    const text = Buffer.from("\uFEFFx,y,z\r\n1,2,3\r\n4,5,6\r\n", "utf16le");
    for (const bytes of [text, Buffer.from(text).swap16()]) {
      const path = join(folder, "wide.csv");
      writeFileSync(path, bytes);
      expect(Array.from(await readPoints(path))).toEqual([1, 2, 3, 4, 5, 6]);
    }
  });

  it("are told apart though the first piece of a pipe is shorter than the magic of npy", async () => {
    const stdin = Object.getOwnPropertyDescriptor(process, "stdin") as PropertyDescriptor;
    try {
      for (const cut of [1, 5, 6, 7]) {
        const value = Readable.from([NPY.subarray(0, cut), NPY.subarray(cut)]);
        Object.defineProperty(process, "stdin", { ...stdin, get: () => value });
        expect(Array.from(await readPoints("-"))).toEqual([1, -2, 3.5]);
      }
    } finally {
      Object.defineProperty(process, "stdin", stdin);
    }
  });

  it("are not read to their end where they begin like something else", async () => {
    await expect(readPoints("/dev/zero")).rejects.toThrow("/dev/zero: it is neither text nor .npy");
    await expect(readPoints("")).rejects.toThrow("the name of the file of points is empty");
  });

  it("are named when they cannot be read", async () => {
    await expect(readPoints(join(folder, "none.csv"))).rejects.toThrow(MisuseError);
    await expect(readPoints(join(folder, "none.csv"))).rejects.toThrow("none.csv");
    const timed = join(folder, "timed.csv");
    writeFileSync(timed, "x,y,z,t\n1,2,3,4\n");
    await expect(readPoints(timed)).rejects.toThrow(`${timed}: SOAP takes x, y and z of a point`);
    writeFileSync(timed, "x [mm],y,z\n1,2,3\n");
    await expect(readPoints(timed)).rejects.toThrow(`${timed}: its header says mm, and SOAP states no units`);
    const short = join(folder, "short.csv");
    writeFileSync(short, "1,2,3\n4,5\n");
    await expect(readPoints(short)).rejects.toThrow(`${short}: line 2: three numbers expected, found "4,5"`);
  });
});
