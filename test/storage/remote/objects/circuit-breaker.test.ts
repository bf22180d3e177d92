/** The circuit breaker of a host: when it opens, for how long, and what closes it. */
import { expect, it } from "vitest";
import { CircuitBreaker } from "../../../../src/storage/remote/objects/circuit-breaker.js";

function breakerAt(clock: { now: number }): CircuitBreaker {
  return new CircuitBreaker({ now: () => clock.now, after: () => () => undefined });
}

it("opens for 5 s once two objects have failed with no answer in between", () => {
  const clock = { now: 1000 };
  const breaker = breakerAt(clock);
  breaker.failed("a", null);
  breaker.failed("a", null);
  breaker.answered();
  breaker.failed("b", null);
  expect([breaker.openMs, breaker.isOnTrial]).toEqual([0, false]);
  breaker.failed("a", null);
  expect([breaker.openMs, breaker.isOnTrial]).toEqual([5000, true]);
  clock.now += 5000;
  expect([breaker.openMs, breaker.isOnTrial]).toEqual([0, true]);
  breaker.failed("a", null);
  expect(breaker.openMs).toBe(5000);
  breaker.answered();
  expect([breaker.openMs, breaker.isOnTrial]).toEqual([0, false]);
});

it("opens at once for as long as the host asks, the longest of several times", () => {
  const breaker = breakerAt({ now: 1000 });
  breaker.failed("a", 0);
  expect(breaker.openMs).toBe(0);
  breaker.failed("a", 60_000);
  breaker.failed("b", null);
  expect(breaker.openMs).toBe(60_000);
});
