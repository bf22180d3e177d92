/** Answers that wait for their readers: a bound on their bytes, and the slowest reader cut off for others. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Outgoing, type OutgoingAnswer } from "../../../../src/server/http/policies/outgoing.js";

const GRACE_MS = 100;
let cut: string[];
let outgoing: Outgoing;
const answer = (name: string, bytes: number, taken = 0, readMs = 0): OutgoingAnswer => ({
  ...{ bytes, taken, readMs },
  cut: () => cut.push(name),
});

beforeEach(() => {
  vi.useFakeTimers();
  cut = [];
  outgoing = new Outgoing(1000, GRACE_MS, 1000);
});
afterEach(() => vi.useRealTimers());

it("admits answers up to its limit, and a single one of any size", () => {
  const large = answer("large", 5000);
  expect(outgoing.enter(large)).toBe(true);
  expect(outgoing.enter(answer("small", 1))).toBe(false);
  outgoing.leave(large);
  expect([400, 600, 1].map((bytes) => outgoing.enter(answer("part", bytes)))).toEqual([true, true, false]);
  expect(outgoing.bytes).toBe(1000);
});

it("counts an answer that leaves twice once", () => {
  const [one, other] = [answer("one", 300), answer("other", 200)];
  for (const each of [one, other]) outgoing.enter(each);
  for (let i = 0; i < 2; i++) outgoing.leave(one);
  expect(outgoing.bytes).toBe(200);
});

it("cuts off the slowest reader that had its time, and nobody else", () => {
  for (const [name, taken, readMs] of [
    ["new", 0, GRACE_MS - 1],
    ["slow", 50, 1000],
    ["slowest", 40, 1000],
    ["good", 1e9, 1000],
  ] as const)
    outgoing.enter(answer(name, 10, taken, readMs));
  void outgoing.room();
  expect(cut).toEqual(["slowest"]);
});

it("wakes those who wait once an answer has left, or after a while", async () => {
  const held = answer("held", 10);
  outgoing.enter(held);
  const woken = outgoing.room().then(() => "left");
  outgoing.leave(held);
  expect(await woken).toBe("left");
  const later = outgoing.room().then(() => "later");
  vi.advanceTimersByTime(1000);
  expect(await later).toBe("later");
  expect(vi.getTimerCount()).toBe(0);
});
