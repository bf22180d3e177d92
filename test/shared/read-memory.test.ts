/** Lent memory is used again once nobody holds it, and not before. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { LentResult, ReadMemory } from "../../src/shared/read-memory.js";

const BYTES = 100_000;
const isPoisoned = (view: Uint8Array) => view.every((byte) => byte === 0xff);

describe("ReadMemory", () => {
  it("uses a piece again after the last of its holds, and poisons it in tests", () => {
    const memory = new ReadMemory();
    const first = memory.allocate(BYTES).fill(1);
    memory.hold(first);
    memory.giveBack(first);
    expect(memory.allocate(BYTES).buffer).not.toBe(first.buffer);
    expect(first[0]).toBe(1);
    memory.giveBack(first.subarray(10, 20));
    expect(isPoisoned(first)).toBe(true);
    expect(memory.allocate(BYTES - 1).buffer).toBe(first.buffer);
    expect(memory.allocate(BYTES).buffer).not.toBe(first.buffer);
    memory.giveBack(first);
    expect(() => memory.giveBack(first)).toThrow(/given back twice/);
  });

  it("takes a piece back from another thread only when that has given it back", async () => {
    const memory = new ReadMemory();
    const lent = memory.allocate(BYTES).fill(7);
    expect(memory.lend(lent)).toBe(true);
    const entry = new URL("../../dist/shared/read-memory.js", import.meta.url).href;
    const code = `const { parentPort } = require("node:worker_threads");
      import(${JSON.stringify(entry)}).then(({ ReadMemory }) => parentPort.on("message", (lent) => {
        if (lent === null) ReadMemory.ofThread().giveBack(globalThis.lent);
        else ReadMemory.ofThread().receive((globalThis.lent = lent));
        parentPort.postMessage(globalThis.lent[0]);
      }));`;
    const started = () => new Worker(code, { eval: true });
    const [reader, other] = [started(), started()];
    const says = async (worker: Worker, message: Uint8Array | null) => {
      worker.postMessage(message);
      return (await once(worker, "message"))[0];
    };
    try {
      expect(await says(reader, lent)).toBe(7);
      expect(memory.allocate(BYTES).buffer).not.toBe(lent.buffer);
      await says(reader, null);
      expect(memory.allocate(BYTES).buffer).toBe(lent.buffer);
      memory.lend(lent);
      await says(other, lent);
    } finally {
      await Promise.all([reader.terminate(), other.terminate()]);
    }
    // A thread that dies gives nothing back: its memory is left to the garbage collection.
    expect(memory.allocate(BYTES).buffer).not.toBe(lent.buffer);
  });

  it("is given back as often as it was received, and by nobody else", () => {
    const [owner, reader] = [new ReadMemory(), new ReadMemory()];
    const lent = owner.allocate(BYTES);
    owner.hold(lent);
    for (const view of [lent.subarray(0, 10), lent.subarray(10)]) {
      owner.lend(view);
      reader.receive(view);
    }
    reader.giveBack(lent);
    expect(owner.allocate(BYTES).buffer).not.toBe(lent.buffer);
    reader.giveBack(lent);
    reader.giveBack(lent);
    expect(owner.allocate(BYTES).buffer).toBe(lent.buffer);
    expect(reader.lend(lent)).toBe(false);
    reader.giveBack(new Uint8Array(4));
  });

  it("keeps 32 MiB at most, and no piece of more than a quarter of that", () => {
    const memory = new ReadMemory();
    const pieces = Array.from({ length: 12 }, () => memory.allocate(3_600_000));
    for (const piece of pieces) memory.giveBack(piece);
    const again = new Set(Array.from({ length: 12 }, () => memory.allocate(3_600_000).buffer));
    expect(pieces.filter(({ buffer }) => again.has(buffer))).toHaveLength(9);
    expect(memory.lend(memory.allocate(2 ** 23))).toBe(false);
    expect(memory.lend(memory.allocate(100))).toBe(false);
  });
});

describe("LentResult", () => {
  it("is held by each asker, by those that come late too, until it is dropped and all have given it back", async () => {
    const memory = ReadMemory.ofThread();
    const view = memory.allocate(BYTES).fill(3);
    const result = new LentResult(Promise.resolve(view), (value) => value);
    const early = result.ask();
    const [one, two] = await Promise.all([early, result.ask()]);
    await result.ask();
    result.drop();
    result.drop();
    for (const held of [one, two]) memory.giveBack(held);
    expect(view[0]).toBe(3);
    memory.giveBack(view);
    expect(isPoisoned(view)).toBe(true);
  });

  it("is given back at once if it was dropped before it came", async () => {
    const view = ReadMemory.ofThread().allocate(BYTES).fill(3);
    const result = new LentResult(Promise.resolve(view), (value) => value);
    result.drop();
    await result.settled;
    expect(isPoisoned(view)).toBe(true);
  });
});
