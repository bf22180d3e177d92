/** Places of tasks: slow ones give theirs back, and no owner keeps others from one. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { JobPlaces } from "../../src/jobs/job-places.js";
import { jobWith } from "./check-queue.js";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

const of = (owner: string | null, id = "a") => jobWith(id.repeat(24), 1, { owner });

it("has a place for another owner's task seconds after one owner has taken all, and none for a third of hers", () => {
  const places = new JobPlaces();
  const freed = vi.fn();
  expect([places.admits(of("ann"), true), places.areFree]).toEqual([true, true]);
  const ends = [places.take(of("ann"), freed), places.take(of("ann"), freed)];
  expect([places.areFree, places.admits(of("ann"), true)]).toEqual([false, false]);
  vi.advanceTimersByTime(2_000);
  expect([freed.mock.calls.length, places.areFree]).toEqual([2, true]);
  expect([places.admits(of("bob"), true), places.admits(of("ann"), false)]).toEqual([true, false]);
  for (const end of ends) end();
  expect(places.admits(of("ann"), true)).toBe(true);
});

it("lets an owner have the second place if nobody else asks, and tells jobs without owners apart", () => {
  const places = new JobPlaces();
  places.take(of(null, "a"), () => undefined);
  expect(places.admits(of(null, "a"), true)).toBe(false);
  expect(places.admits(of(null, "a"), false)).toBe(true);
  expect(places.admits(of(null, "b"), true)).toBe(true);
});

it("runs at most eight tasks, however slow", () => {
  const places = new JobPlaces();
  for (let i = 0; i < 8; i++) {
    expect(places.areFree).toBe(true);
    places.take(of(`owner ${i}`), () => undefined);
    vi.advanceTimersByTime(2_000);
  }
  expect(places.areFree).toBe(false);
});
