/** Scratch space is memory up to its bound, then files without a name, and is refused beyond theirs. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { LIMITS } from "../../../src/config.js";
import { readScratch, writeScratch } from "../../../src/engine/contract/scratch.js";
import { BufferPool } from "../../../src/engine/main/buffers.js";
import { ScratchSpace } from "../../../src/engine/main/scratch-space.js";

const state = mkdtempSync(join(tmpdir(), "fieldprobe-scratch-test-"));
afterAll(() => rmSync(state, { recursive: true }));

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

it("refuses what the disk, or its bound, has no room for", () => {
  const space = open({ "analysis.memoryBytes": 0, "analysis.scratchBytes": 8000 });
  const { release } = space.lend(600);
  expect(() => space.lend(600)).toThrow("needs 4800 bytes of scratch space; 3200 are free");
  release();
  space.lend(600).release();
  expect(() => open({ "analysis.scratchBytes": 2 ** 52 }).lend(2 ** 48)).toThrow("bytes of scratch space");
});

it("is a file if it is more than a block of memory can have, whatever all may have", () => {
  const space = open({ "analysis.memoryBytes": 2 ** 40, "analysis.scratchBytes": 8000 });
  expect(() => space.lend(2 ** 29 + 1)).toThrow("needs 4294967304 bytes of scratch space; 8000 are free");
});

it("counts nothing of memory that the system does not give", () => {
  const buffers = new BufferPool();
  const take = vi.spyOn(buffers, "take").mockImplementationOnce(() => {
    throw new RangeError("no memory");
  });
  const space = open({ "analysis.memoryBytes": 8000 }, buffers);
  expect(() => space.lend(1000)).toThrow("no memory");
  expect(space.lend(1000).scratch.kind).toBe("memory");
  expect(take).toHaveBeenCalledTimes(2);
});
