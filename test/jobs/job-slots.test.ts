/** Places of tasks: slow ones give theirs back, and no owner keeps others from one. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { JobSlots } from "../../src/jobs/job-slots.js";
import { jobWith } from "./check-queue.js";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

const of = (owner: string | null, id = "a") => jobWith(id.repeat(24), 1, { owner });

it("has a slot for another owner's task seconds after one owner has taken all, and none for a third of hers", () => {
  const slots = new JobSlots();
  const freed = vi.fn();
  expect([slots.admits(of("ann"), true), slots.areFree]).toEqual([true, true]);
  const ends = [slots.take(of("ann"), freed), slots.take(of("ann"), freed)];
  expect([slots.areFree, slots.admits(of("ann"), true)]).toEqual([false, false]);
  vi.advanceTimersByTime(2_000);
  expect([freed.mock.calls.length, slots.areFree]).toEqual([2, true]);
  expect([slots.admits(of("bob"), true), slots.admits(of("ann"), false)]).toEqual([true, false]);
  for (const end of ends) end();
  expect(slots.admits(of("ann"), true)).toBe(true);
});

it("lets an owner have the second slot if nobody else asks, and tells jobs without owners apart", () => {
  const slots = new JobSlots();
  slots.take(of(null, "a"), () => undefined);
  expect(slots.admits(of(null, "a"), true)).toBe(false);
  expect(slots.admits(of(null, "a"), false)).toBe(true);
  expect(slots.admits(of(null, "b"), true)).toBe(true);
});

it("runs at most eight tasks, however slow", () => {
  const slots = new JobSlots();
  for (let i = 0; i < 8; i++) {
    expect(slots.areFree).toBe(true);
    slots.take(of(`owner ${i}`), () => undefined);
    vi.advanceTimersByTime(2_000);
  }
  expect(slots.areFree).toBe(false);
});
