/** Scratch space is memory up to its bound, then files without a name, and is refused beyond theirs. */
import { readdirSync } from "node:fs";
import { expect, it, vi } from "vitest";
import { readScratch, writeScratch } from "../../../src/engine/contract/scratch.js";
import { BufferPool } from "../../../src/engine/main/buffers.js";
import { ScratchSpace } from "../../../src/engine/main/scratch-space.js";
import { LIMITS } from "../../../src/shared/config.js";
import type { FieldprobeError } from "../../../src/shared/errors.js";
import { scratchFolder } from "../../support/scratch.js";

const state = scratchFolder();

const open = (bounds: Partial<typeof LIMITS>, buffers = new BufferPool()) =>
  new ScratchSpace({ limits: { ...LIMITS, ...bounds }, state }, buffers);

it("is memory as far as all may have it, and files that keep numbers and no name", () => {
  const space = open({ "analysis.memoryBytes": 8000 });
  const first = space.lend(600);
  const second = space.lend(600);
  expect([first.scratch.kind, second.scratch.kind]).toEqual(["memory", "file"]);
  for (const { scratch } of [first, second]) {
    writeScratch(scratch, 597, Float64Array.of(1, 2, 3));
    const out = new Float64Array(2);
    readScratch(scratch, 598, out);
    expect([...out]).toEqual([2, 3]);
  }
  expect(readdirSync(state)).toEqual([]);
  first.release();
  first.release();
  expect(space.lend(1000).scratch.kind).toBe("memory");
  expect(space.lend(1).scratch.kind).toBe("file");
  second.release();
});

it("refuses what its bound can never hold, and has callers return if others or the disk leave no room", () => {
  const refused = (space: ScratchSpace, numbers: number): unknown => {
    try {
      space.lend(numbers).release();
    } catch (error) {
      const { code, message, cause } = error as FieldprobeError;
      return [code, message, cause === undefined ? "" : String(cause)];
    }
    return null;
  };
  const space = open({ "analysis.memoryBytes": 0, "analysis.scratchBytes": 8000 });
  const { release } = space.lend(600);
  const others = "The transform needs 4800 bytes of scratch space; others leave 3200 of 8000.";
  expect(refused(space, 600)).toEqual(["Busy", others, ""]);
  release();
  expect(refused(space, 600)).toBeNull();
  const never = "The transform needs 8008 bytes of scratch space; all transforms may have 8000.";
  expect(refused(space, 1001)).toEqual(["LimitExceeded", never, ""]);
  expect(refused(open({ "analysis.memoryBytes": 0, "analysis.scratchBytes": 2 ** 52 }), 2 ** 48)).toEqual([
    "Busy",
    "The service has no room left on its disk.",
    expect.stringContaining("The transform needs 2251799813685248 bytes of scratch space"),
  ]);
});

it("is a file if it is more than a block of memory can have, whatever all may have", () => {
  const space = open({ "analysis.memoryBytes": 2 ** 40, "analysis.scratchBytes": 8000 });
  expect(() => space.lend(2 ** 29 + 1)).toThrow(
    "needs 4294967304 bytes of scratch space; all transforms may have 8000",
  );
});

it("counts nothing of memory that the system does not give", () => {
  const buffers = new BufferPool();
  const take = vi.spyOn(buffers, "lend").mockImplementationOnce(() => {
    throw new RangeError("no memory");
  });
  const space = open({ "analysis.memoryBytes": 8000 }, buffers);
  expect(() => space.lend(1000)).toThrow("no memory");
  expect(space.lend(1000).scratch.kind).toBe("memory");
  expect(take).toHaveBeenCalledTimes(2);
});
