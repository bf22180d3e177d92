/** Threads that fail to start are tried again, ever more rarely. */
import { afterEach, expect, it, vi } from "vitest";
import { ThreadStarts } from "../../../src/engine/threads/thread-starts.js";

afterEach(() => {
  vi.restoreAllMocks();
});

it("reports the first failure of a row, and refuses tasks after five until the pause is over", () => {
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now);
  const reasons: unknown[] = [];
  const starts = new ThreadStarts((reason) => reasons.push(reason));
  for (let i = 0; i < 4; i++) starts.failed(i);
  expect([reasons, starts.allowed, starts.failing]).toEqual([[0], true, true]);
  starts.failed(4);
  expect([reasons, starts.allowed, starts.pauseMs]).toEqual([[0], false, 4000]);
  now = 3999;
  expect(starts.allowed).toBe(false);
  now = 4000;
  expect(starts.allowed).toBe(true);
  starts.succeeded();
  starts.failed("again");
  expect([reasons, starts.pauseMs]).toEqual([[0, "again"], 250]);
});
