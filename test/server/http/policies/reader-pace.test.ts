/** A reader that is too slow is cut off, and the bytes of its answer are given back. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Outgoing, OutgoingAnswer } from "../../../../src/server/http/policies/outgoing.js";
import { ReaderPace } from "../../../../src/server/http/policies/reader-pace.js";
import { LIMITS } from "../../../../src/shared/config.js";

const limits = { ...LIMITS, "http.readerGraceMs": 100, "http.readerBytesPerSecond": 1000 };
let waiting: Set<OutgoingAnswer>;
let hasRoom: boolean;
let cuts: number;
let pace: ReaderPace;

beforeEach(() => {
  vi.useFakeTimers();
  waiting = new Set();
  hasRoom = true;
  cuts = 0;
  const outgoing = {
    enter: (answer: OutgoingAnswer) => hasRoom && waiting.add(answer).size > 0,
    room: () => Promise.resolve(),
    leave: (answer: OutgoingAnswer) => waiting.delete(answer),
  } as unknown as Outgoing;
  pace = new ReaderPace(outgoing, limits, { encodeMs: 0 }, () => cuts++);
});
afterEach(() => vi.useRealTimers());

it("has the time of its bytes and of one pause", () => {
  pace.beginWrite(500);
  vi.advanceTimersByTime(599);
  expect(cuts).toBe(0);
  vi.advanceTimersByTime(1);
  expect(cuts).toBe(1);
});

it("is not cut off once it has taken the bytes, nor after the end", () => {
  pace.beginWrite(500);
  pace.endWrite(500);
  vi.advanceTimersByTime(10_000);
  pace.beginWrite(500);
  pace.end();
  pace.beginWrite(500);
  vi.advanceTimersByTime(10_000);
  expect([cuts, vi.getTimerCount()]).toEqual([0, 0]);
});

it("is measured while it has bytes to take, and only then", async () => {
  await pace.waitForRoom(700, 1000);
  const [answer] = waiting;
  pace.beginWrite(500);
  vi.advanceTimersByTime(40);
  expect([answer?.bytes, answer?.taken, answer?.readMs]).toEqual([700, 0, 40]);
  pace.endWrite(500);
  vi.advanceTimersByTime(1000);
  pace.beginWrite(200);
  vi.advanceTimersByTime(5);
  expect([answer?.taken, answer?.readMs]).toEqual([500, 45]);
  pace.end();
  expect(waiting.size).toBe(0);
});

it("waits for room until the answer is due", async () => {
  hasRoom = false;
  const late = pace.waitForRoom(700, performance.now() - 1);
  await expect(late).rejects.toThrow("Too many answers wait for their readers.");
  const early = pace.waitForRoom(700, performance.now() + 1);
  hasRoom = true;
  await early;
  expect(waiting.size).toBe(1);
});

it("counts nothing after the end", async () => {
  pace.end();
  await expect(pace.waitForRoom(700, 1000)).rejects.toThrow();
  expect(waiting.size).toBe(0);
});

it("is measured from the first of the bytes that it has not taken", async () => {
  await pace.waitForRoom(700, 1000);
  const [answer] = waiting;
  pace.beginWrite(100);
  vi.advanceTimersByTime(30);
  pace.beginWrite(100);
  vi.advanceTimersByTime(10);
  expect(answer?.readMs).toBe(40);
  pace.end();
});
