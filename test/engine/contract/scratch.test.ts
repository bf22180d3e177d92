/** Scratch space gives back the numbers that were put into it, from memory and from a file alike. */
import { closeSync, openSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { readScratch, type ScratchPlanes, writeScratch } from "../../../src/engine/contract/scratch.js";
import { eachScratchFolder } from "../../support/scratch.js";

let folder = "";
eachScratchFolder((made) => {
  folder = made;
});

const files: number[] = [];
afterEach(() => {
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

  if (kind === "a file")
    it("says that the file ends too early", () => {
      const scratch = make();
      writeScratch(scratch, 0, Float64Array.of(1, 2));
      expect(() => readScratch(scratch, 1, new Float64Array(2))).toThrow("the scratch file ends too early");
    });
});
