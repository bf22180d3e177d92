/** Memory that is freed at once, and memory that others may read. */
import { expect, test } from "vitest";
import { Discard } from "../../../src/server/life/discard.js";

test("the memory of a buffer of its own is freed", () => {
  const discard = new Discard();
  for (let i = 0; i < 100; i++) {
    const bytes = Buffer.from(new ArrayBuffer(65_536));
    discard.free(bytes);
    expect([bytes.length, bytes.buffer.byteLength]).toEqual([0, 0]);
  }
});

test("a part of a larger memory, and shared memory, are left alone", () => {
  const discard = new Discard();
  const pooled = Buffer.from("some bytes");
  const part = Buffer.from(new ArrayBuffer(100), 10, 90);
  const shared = Buffer.from(new SharedArrayBuffer(100));
  for (const bytes of [pooled, part, shared]) discard.free(bytes);
  expect([String(pooled), part.length, shared.length]).toEqual(["some bytes", 90, 100]);
});

test("hundreds of megabytes of bodies leave nothing for the collector", () => {
  const discard = new Discard();
  const before = process.memoryUsage().arrayBuffers;
  for (let i = 0; i < 8000; i++) discard.free(Buffer.from(new ArrayBuffer(65_536)));
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1024 * 1024);
});
