/** Ranges that are asked for together share a request if they are near each other, and each gets its own bytes. */
import { expect, it } from "vitest";
import { DataError } from "../../../../src/shared/errors.js";
import { RangeQueue } from "../../../../src/storage/remote/objects/range-queue.js";
import type { ObjectRange } from "../../../../src/storage/remote/objects/remote-objects.js";

const KIB = 1024;
const MIB = 1024 * KIB;
const range = (offset: number, length: number): ObjectRange => ({ offset, length });
const bytesAt = ({ offset, length }: ObjectRange): Uint8Array =>
  Uint8Array.from({ length }, (_, i) => (offset + i) % 251);

it.each([
  ["side by side, out of order", [range(20, 10), range(0, 20)], [range(0, 30)]],
  ["as far apart as the largest gap", [range(0, 10), range(10 + 32 * KIB, 5)], [range(0, 15 + 32 * KIB)]],
  ["a byte further apart", [range(0, 10), range(11 + 32 * KIB, 5)], [range(0, 10), range(11 + 32 * KIB, 5)]],
  ["that overlap", [range(0, 10), range(5, 3), range(4, 8)], [range(0, 12)]],
  ["of the most bytes together", [range(0, MIB), range(MIB, MIB)], [range(0, 2 * MIB)]],
  ["of a byte more", [range(0, MIB), range(MIB, MIB + 1)], [range(0, MIB), range(MIB, MIB + 1)]],
])("ranges %s", async (_, asked, requests) => {
  const sent: ObjectRange[] = [];
  const queue = new RangeQueue(async ({ offset, length }) => {
    sent.push({ offset, length });
    return bytesAt({ offset, length });
  });
  const answers = await Promise.all(asked.map((one) => queue.get(one)));
  expect(sent).toEqual(requests);
  for (const [i, one] of asked.entries()) expect(Buffer.compare(answers[i] as Uint8Array, bytesAt(one))).toBe(0);
});

it("asks again for each range of a group that is refused, so that a wrong one fails alone", async () => {
  const queue = new RangeQueue(async (one) => {
    if (one.offset + one.length > 100) throw new DataError("beyond the end");
    return bytesAt(one);
  });
  const [good, bad] = [queue.get(range(0, 10)), queue.get(range(90, 20))];
  await expect(bad).rejects.toThrow("beyond the end");
  expect(await good).toEqual(bytesAt(range(0, 10)));
});

it("answers null if there is no object", async () => {
  const queue = new RangeQueue(async () => null);
  expect(await Promise.all([queue.get(range(0, 1)), queue.get(range(1, 1))])).toEqual([null, null]);
});
