/** Announced reads start within a bound of bytes, which they may just meet, and the first whatever its size. */
import { expect, it, vi } from "vitest";
import type { StoreRead } from "../../../src/storage/remote/protocol.js";
import { ReadAhead, readKey } from "../../../src/storage/remote/read-ahead.js";

const range = (position: number, length: number): StoreRead => ({
  ...{ store: "s", newestMs: 1, isBlock: false },
  ...{ position, length },
});

/** A `ReadAhead` within 100 bytes, and the positions of the reads that it has started and given up. */
function watched() {
  const started: number[] = [];
  const dropped: string[] = [];
  const begin = async (read: StoreRead) => started.push("position" in read ? read.position : -1);
  return { ahead: new ReadAhead(100, begin, (name) => dropped.push(name)), started, dropped };
}

it("starts reads up to the bound, and the next once one of them is asked for", () => {
  const { ahead, started } = watched();
  ahead.add([range(0, 60), range(60, 40), range(100, 1), range(101, 1)]);
  expect(started).toEqual([0, 60]);
  ahead.requested(readKey(range(60, 40)));
  expect(started).toEqual([0, 60, 100, 101]);
});

it("starts a read larger than the bound alone", () => {
  const { ahead, started } = watched();
  ahead.add([range(0, 500), range(500, 1)]);
  expect(started).toEqual([0]);
  ahead.requested(readKey(range(0, 500)));
  expect(started).toEqual([0, 500]);
});

it("counts elements as the largest", () => {
  const { ahead, started } = watched();
  ahead.add([{ store: "s", newestMs: 1, path: "u", offset: [0, 0], count: [3, 4] }, range(7, 4), range(11, 1)]);
  expect(started).toEqual([-1, 7]);
});

it("starts a read once, and none that was asked for meanwhile", () => {
  const { ahead, started } = watched();
  ahead.add([range(0, 100), range(100, 10)]);
  ahead.add([range(0, 100)]);
  ahead.requested(readKey(range(100, 10)));
  ahead.requested(readKey(range(0, 100)));
  expect(started).toEqual([0]);
});

it("gives up after 30 seconds what nobody has asked for", () => {
  const now = vi.spyOn(performance, "now").mockReturnValue(0);
  const { ahead, started, dropped } = watched();
  ahead.add([range(0, 100)]);
  now.mockReturnValue(29_999);
  ahead.add([range(100, 10)]);
  expect([started, dropped]).toEqual([[0], []]);
  now.mockReturnValue(30_000);
  ahead.add([]);
  expect([started, dropped]).toEqual([[0, 100], [readKey(range(0, 100))]]);
  now.mockRestore();
});
