/** Copies into shared memory: every byte lands in its place, however both sides are aligned, and no other changes. */
import { expect, it } from "vitest";
import { copyToShared } from "../../src/shared/read-memory.js";

const source = Uint8Array.from({ length: 64 }, (_, i) => i + 1);

it.each([
  [0, 0, 64],
  [3, 5, 40],
  [5, 3, 1],
  [1, 8, 17],
  [8, 1, 0],
])("copies from byte %i to byte %i, %i bytes", (from, at, length) => {
  const to = new Uint8Array(new SharedArrayBuffer(72), 8);
  const part = source.subarray(from, from + length);
  copyToShared(part, to, at);
  expect([...to]).toEqual([...new Array(at).fill(0), ...part, ...new Array(64 - at - length).fill(0)]);
});
