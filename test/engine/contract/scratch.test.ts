/** Scratch space gives back the numbers that were put into it, from memory and from a file alike. */
import { closeSync, openSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { readScratch, type ScratchPlanes, writeScratch } from "../../../src/engine/contract/scratch.js";
import { eachScratchFolder } from "../../support/scratch.js";

/** Bytes that a call of the system moves at most. */
const system = vi.hoisted(() => ({ most: Number.POSITIVE_INFINITY }));
vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  type Move = (file: number, bytes: NodeJS.ArrayBufferView, offset: number, length: number, position: number) => number;
  const short =
    (move: Move): Move =>
    (file, bytes, offset, length, position) =>
      move(file, bytes, offset, Math.min(length, system.most), position);
  return { ...fs, readSync: short(fs.readSync as Move), writeSync: short(fs.writeSync as Move) };
});

let folder = "";
eachScratchFolder((made) => {
  folder = made;
});

const files: number[] = [];
afterEach(() => {
  system.most = Number.POSITIVE_INFINITY;
  for (const file of files.splice(0)) closeSync(file);
});

/** A file without a name, as the service has it. */
function unnamed(): ScratchPlanes {
  const path = join(folder, "scratch");
  const file = openSync(path, "w+");
  unlinkSync(path);
  files.push(file);
  return { kind: "file", file };
}

describe.each([
  ["memory", (): ScratchPlanes => ({ kind: "memory", values: new Float64Array(8) })],
  ["a file", unnamed],
])("scratch space in %s", (kind, make) => {
  it("gives numbers back at their places", () => {
    const scratch = make();
    writeScratch(scratch, 0, Float64Array.of(1, 2, 3, 4, 5, 6, 7, 8));
    // A view into the middle of a buffer takes and gives its own numbers only.
    const buffer = Float64Array.of(-1, 30, 40, -1);
    writeScratch(scratch, 2, buffer.subarray(1, 3));
    readScratch(scratch, 1, buffer.subarray(1, 4));
    expect([...buffer]).toEqual([-1, 2, 30, 40]);
    const whole = new Float64Array(8);
    readScratch(scratch, 0, whole);
    expect([...whole]).toEqual([1, 2, 30, 40, 5, 6, 7, 8]);
  });

  it("moves all bytes if the system moves a few at a time", () => {
    system.most = 12;
    const scratch = make();
    writeScratch(scratch, 1, Float64Array.of(1, 2, 3, 4, 5));
    const read = new Float64Array(4);
    readScratch(scratch, 2, read);
    expect([...read]).toEqual([2, 3, 4, 5]);
  });

  if (kind === "a file")
    it("is refused for now if the disk has become full", () => {
      const file = openSync("/dev/full", "w");
      files.push(file);
      const write = () => writeScratch({ kind: "file", file }, 0, Float64Array.of(1));
      expect(write).toThrow(
        expect.objectContaining({ code: "Busy", message: "The service has no room left on its disk." }),
      );
    });

  if (kind === "a file")
    it("says that the file ends too early", () => {
      const scratch = make();
      writeScratch(scratch, 0, Float64Array.of(1, 2));
      expect(() => readScratch(scratch, 1, new Float64Array(2))).toThrow("the scratch file ends too early");
    });
});
