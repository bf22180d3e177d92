/** Threads that fail to start are tried again, ever more rarely. */
import { afterEach, expect, it, vi } from "vitest";
import { ThreadStarts } from "../../../src/engine/main/thread-starts.js";

afterEach(() => {
  vi.restoreAllMocks();
});

it("reports the first failure of a row, and refuses tasks after ten until the pause is over", () => {
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now);
  const reasons: unknown[] = [];
  const starts = new ThreadStarts((reason) => reasons.push(reason));
  for (let i = 0; i < 9; i++) starts.failed(i);
  expect([reasons, starts.allowed, starts.failing]).toEqual([[0], true, true]);
  starts.failed(9);
  expect([reasons, starts.allowed, starts.pauseMs]).toEqual([[0], false, 250]);
  now = 249;
  expect(starts.allowed).toBe(false);
  now = 250;
  expect(starts.allowed).toBe(true);
  starts.failed(10);
  expect([starts.allowed, starts.pauseMs]).toEqual([false, 500]);
  for (let i = 0; i < 20; i++) starts.failed(i);
  expect(starts.pauseMs).toBe(30_000);
  starts.succeeded();
  starts.failed("again");
  expect([reasons, starts.pauseMs]).toEqual([[0, "again"], 250]);
});
