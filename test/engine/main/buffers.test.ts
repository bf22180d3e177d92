/** The memory that queries share: where its blocks are, how far it grows, and that each block is its lender's alone. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BufferPool } from "../../../src/engine/main/buffers.js";

const POINTS = 1_000_000;
const MIB = 2 ** 20;
/**
 * What a swept query for the velocity at a million points takes: its points, the same sorted, their order, the answer.
 */
const BYTES = [12 * POINTS, 12 * POINTS, 4 * POINTS, 12 * POINTS];

describe("buffer pool", () => {
  it("makes no new memory for one query of a million points after another", () => {
    const pool = new BufferPool();
    const first = BYTES.map((bytes) => pool.lend(bytes));
    const [{ buffer }] = first as [Uint8Array];
    const before = buffer.byteLength;
    for (const block of first) pool.giveBack(block);
    // Of other sizes and in another order too: blocks are not kept by size.
    for (const bytes of [11 * POINTS, ...BYTES.toReversed().slice(1), 1]) pool.lend(bytes);
    expect(buffer.byteLength).toBe(before);
  });

  it("grows by no more than is lent at a time", () => {
    const pool = new BufferPool();
    const lent = Array.from({ length: 13 }, () => pool.lend(8 * MIB));
    expect(lent[0]?.buffer.byteLength).toBe(13 * 8 * MIB);
    // Every second gap is too small for more; the last adjoins the end, and is used.
    for (const index of [1, 3, 12]) pool.giveBack(lent[index] as Uint8Array);
    pool.lend(10 * MIB);
    expect(lent[0]?.buffer.byteLength).toBe((12 * 8 + 10) * MIB);
  });

  it("lends no byte twice, whatever is given back in between, and is whole again in the end", () => {
    const step = fc.record({ bytes: fc.nat(40_000), back: fc.option(fc.nat()) });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 200 }), (steps) => {
        const pool = new BufferPool();
        const lent: { readonly block: Uint8Array; readonly mark: number }[] = [];
        const giveBack = (index: number): void => {
          for (const { block, mark } of lent.splice(index, 1)) {
            expect(block.every((byte) => byte === mark)).toBe(true);
            pool.giveBack(block);
          }
        };
        for (const [mark, { bytes, back }] of steps.entries()) {
          const block = pool.lend(bytes).fill(mark);
          lent.push({ block, mark });
          if (back !== null) giveBack(back % lent.length);
        }
        while (lent.length > 0) giveBack(0);
        expect(pool.lentBytes).toBe(0);
        const { buffer } = pool.lend(1);
        const grown = buffer.byteLength;
        pool.lend(grown - 4096);
        expect(buffer.byteLength).toBe(grown);
      }),
    );
  });

  it("refuses a block that is not lent", () => {
    const pool = new BufferPool();
    const block = pool.lend(12);
    pool.giveBack(block);
    expect(() => pool.giveBack(block)).toThrow("not lent");
    expect(pool.lentBytes).toBe(0);
  });

  it("lends blocks that other threads see", async () => {
    const floats = new BufferPool().floats(5);
    const sent = structuredClone(floats);
    sent[4] = 7;
    expect([...floats]).toEqual([0, 0, 0, 0, 7]);
  });
});
