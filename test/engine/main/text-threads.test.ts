/** The memory of text that threads read and write: what is lent at a time, and small parts beyond it. */
import { expect, it, vi } from "vitest";
import { BufferPool } from "../../../src/engine/main/buffers.js";
import { TextThreads } from "../../../src/engine/main/text-threads.js";
import type { ThreadPool } from "../../../src/engine/main/thread-pool.js";

const MIB = 2 ** 20;

function lendAll(textThreads: TextThreads, bytes: number): Uint8Array<SharedArrayBuffer>[] {
  const lent: Uint8Array<SharedArrayBuffer>[] = [];
  for (let memory = textThreads.lend(bytes); memory !== null; memory = textThreads.lend(bytes)) lent.push(memory);
  return lent;
}

it("lends small parts when no more large ones are lent, and all again when they are given back", () => {
  const textThreads = new TextThreads({ parallelism: 2 } as ThreadPool, new BufferPool());
  for (let round = 0; round < 2; round++) {
    const large = lendAll(textThreads, 4 * MIB);
    expect(large).toHaveLength(6);
    const small = lendAll(textThreads, MIB / 4);
    expect(small).toHaveLength(64);
    for (const memory of [...large, ...small]) textThreads.giveBack(memory);
  }
});

it("counts nothing of memory that the system does not give", () => {
  const buffers = new BufferPool();
  const textThreads = new TextThreads({ parallelism: 2 } as ThreadPool, buffers);
  vi.spyOn(buffers, "lend").mockImplementationOnce(() => {
    throw new RangeError("no memory");
  });
  expect(() => textThreads.lend(20 * MIB)).toThrow("no memory");
  expect(textThreads.lend(20 * MIB)).not.toBeNull();
});
