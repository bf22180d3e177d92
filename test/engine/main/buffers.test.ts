/** The pool of shared buffers. */
import { describe, expect, it } from "vitest";
import { BufferPool } from "../../../src/engine/main/buffers.js";

const POINTS = 1_000_000;
/**
 * What a swept query for the velocity at a million points takes: its points, the same sorted, their order, the answer.
 */
const BYTES = [12 * POINTS, 12 * POINTS, 4 * POINTS, 12 * POINTS];

describe("buffer pool", () => {
  it("makes no new memory for one query of a million points after another", () => {
    const pool = new BufferPool();
    const first = BYTES.map((bytes) => pool.take(bytes));
    for (const buffer of first) pool.give(buffer);
    const second = BYTES.map((bytes) => pool.take(bytes));
    expect(second.filter((buffer) => !first.includes(buffer))).toEqual([]);
  });

  it("keeps at most 64 MiB", () => {
    const pool = new BufferPool();
    const first = Array.from({ length: 13 }, () => pool.take(8 * 2 ** 20));
    for (const buffer of first) pool.give(buffer);
    const second = Array.from({ length: 13 }, () => pool.take(8 * 2 ** 20));
    expect(second.filter((buffer) => first.includes(buffer))).toHaveLength(8);
    // What is lent is not kept, so that there is room for it when it comes back.
    for (const buffer of second) pool.give(buffer);
    const third = Array.from({ length: 13 }, () => pool.take(8 * 2 ** 20));
    expect(third.filter((buffer) => second.includes(buffer))).toHaveLength(8);
  });

  it("has what it drops collected, 64 MiB at a time", () => {
    let collected = 0;
    const pool = new BufferPool(() => collected++);
    const buffers = Array.from({ length: 8 + 17 }, () => pool.take(8 * 2 ** 20));
    const counts = buffers.map((buffer) => {
      pool.give(buffer);
      return collected;
    });
    expect(counts.filter((count) => count === 0)).toHaveLength(8 + 7);
    expect(collected).toBe(2);
  });

  it("gives dropped memory back to the system without being asked again", async () => {
    const pool = new BufferPool();
    const before = process.memoryUsage().arrayBuffers;
    for (let buffers = Array.from({ length: 40 }, () => pool.take(8 * 2 ** 20)); buffers.length > 0; )
      pool.give(buffers.pop() as SharedArrayBuffer);
    await expect.poll(() => process.memoryUsage().arrayBuffers - before).toBeLessThan(140 * 2 ** 20);
  });
});
