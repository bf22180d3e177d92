/** The points that a caller of the page pastes or drops: every number is where it was meant, or the line is refused. */
import { describe, expect, it } from "vitest";
import { readPointFile, readPointText } from "../../state/point-files.js";

describe("pasted points", () => {
  it("are lines of three numbers, whatever ends a line", () => {
    expect([...readPointText("1, 2, 3\r\n4 5 6\r7;8;9\n")]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect([...readPointText("id,z,y,x\n7,3,2,1\n")]).toEqual([1, 2, 3]);
  });

  it.each(["1,2,", ",1,2", "1,,2,3", "1,2,3,0.5", "0x10,1,2", "1 2 3\n4 5", "1,2,1e39"])("refuse %j", (text) => {
    expect(() => readPointText(text)).toThrow(/^line \d: three numbers expected/);
  });

  it("have to be there, and no more than the page takes", () => {
    expect(() => readPointText("\n# nothing\n")).toThrow("There are no points.");
    expect(readPointText("1 2 3\n".repeat(100_000)).length).toBe(300_000);
    expect(() => readPointText("1 2 3\n".repeat(100_001))).toThrow("There are more than 100000 points.");
  });
});

describe("dropped files", () => {
  it("are text or NumPy files by their content", () => {
    expect([...readPointFile(Buffer.from("1,2,3"))]).toEqual([1, 2, 3]);
    const header = Buffer.from("{'descr': '>i2', 'fortran_order': False, 'shape': (3,), }\n");
    const head = Buffer.from([0x93, ...Buffer.from("NUMPY"), 1, 0, header.length, 0]);
    expect([...readPointFile(Buffer.concat([head, header, Buffer.from([0, 1, 0, 2, 1, 0])]))]).toEqual([1, 2, 256]);
  });
});
