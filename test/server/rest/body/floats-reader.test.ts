/** Octet-stream bodies: triples wherever they are cut, and nothing where the operation takes no points. */
import { describe, expect, it } from "vitest";
import { FloatsReader } from "../../../../src/server/rest/body/floats-reader.js";
import { TripleWriter } from "../../../../src/server/rest/triple-writer.js";

const bytes = (...numbers: readonly number[]): Buffer => Buffer.from(Float32Array.from(numbers).buffer);

/** A reader of lists of points, and the numbers of each list as they are handed over. */
function reader(names: readonly string[]): { read: FloatsReader; lists: number[][] } {
  const lists: number[][] = names.map(() => []);
  const writers = lists.map((list) => {
    const slab = new Float32Array(6);
    const sink = { slab, commit: (count: number) => void list.push(...slab.subarray(0, 3 * count)) };
    return new TripleWriter(sink, { points: 100, name: "query.points" });
  });
  return { read: new FloatsReader(writers, names), lists };
}

describe("an operation without points", () => {
  it("refuses the first byte of a body, whatever follows", () => {
    const { read } = reader([]);
    read.write(Buffer.alloc(0));
    expect(() => read.write(Buffer.alloc(1))).toThrow("takes no points, so its octet-stream body must be empty");
  });

  it("takes an empty body", () => {
    const { read } = reader([]);
    read.end();
    expect(() => read.end()).not.toThrow();
  });
});

describe("points", () => {
  it.each([1, 5, 12, 13, 24, 48])("are the same in pieces of %i bytes", (size) => {
    const whole = bytes(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
    const { read, lists } = reader(["points", "InitialV"]);
    for (let at = 0; at < whole.length; at += size) read.write(whole.subarray(at, at + size));
    read.end();
    expect(lists).toEqual([
      [1, 2, 3, 7, 8, 9],
      [4, 5, 6, 10, 11, 12],
    ]);
  });

  it("are refused in part, and by the place of a number that is not finite", () => {
    const { read } = reader(["points"]);
    read.write(bytes(1, 2, 3, 4));
    expect(() => read.end()).toThrow("12 bytes each");
    expect(() => reader(["points"]).read.write(bytes(1, 2, 3, 4, Number.NaN, 6))).toThrow("points[1].y is not finite");
  });
});
