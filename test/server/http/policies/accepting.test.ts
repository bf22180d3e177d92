/** Callers who connect at once: what the service does for others waits until they are accepted, but not for long. */
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, expect, it, vi } from "vitest";
import { Accepting } from "../../../../src/server/http/policies/accepting.js";
import { TimeSlices } from "../../../../src/server/http/policies/time-slices.js";

let clock = 0;

afterEach(() => vi.restoreAllMocks());

function acceptingByHand(): Accepting {
  clock = 1000;
  vi.spyOn(performance, "now").mockImplementation(() => clock);
  return new Accepting();
}

/** Accepts one connection a turn of the event loop, as Node does. */
async function accept(accepting: Accepting, connections: number, msEach: number): Promise<void> {
  for (let i = 0; i < connections; i++) {
    accepting.accepted();
    clock += msEach;
    await turn();
  }
}

it("lets long work of bodies wait while each turn accepts a connection", async () => {
  const accepting = acceptingByHand();
  const slices = new TimeSlices(() => null, accepting);
  const done: string[] = [];
  expect(slices.isOver).toBe(false);
  accepting.accepted();
  expect(slices.isOver).toBe(true);
  void slices.pause()?.then(() => done.push("body"));
  await accept(accepting, 40, 1);
  expect(done).toEqual([]);
  for (let i = 0; i < 4; i++) await turn();
  expect(done).toEqual(["body"]);
});

it("does work every 50 milliseconds, however many connect", async () => {
  const accepting = acceptingByHand();
  const slices = new TimeSlices(() => null, accepting);
  const done: number[] = [];
  accepting.accepted();
  for (let i = 0; i < 3; i++) void slices.pause()?.then(() => done.push(clock - 1000));
  await accept(accepting, 200, 1);
  expect(done).toHaveLength(3);
  for (const [i, ms] of done.entries()) expect(ms).toBeGreaterThanOrEqual(50 * (i + 1));
});

it("knows the longest time for which turn after turn accepted a connection", async () => {
  const accepting = acceptingByHand();
  await accept(accepting, 11, 3);
  for (let i = 0; i < 3; i++) await turn();
  clock += 500;
  await accept(accepting, 2, 3);
  expect(accepting.longestMs).toBe(30);
});
