/** Many senders at once: when they rest, and that each goes on in its turn. */
import { setImmediate as tick } from "node:timers/promises";
import { afterEach, expect, it, vi } from "vitest";
import { Intake } from "../../../src/server/life/intake.js";

let clock = 0;

afterEach(() => vi.restoreAllMocks());

function intakeByHand(): Intake {
  clock = 1000;
  vi.spyOn(performance, "now").mockImplementation(() => clock);
  return new Intake();
}

it("lets senders go on for two milliseconds of a tick, and again in the next one", async () => {
  const intake = intakeByHand();
  expect(intake.isOver).toBe(false);
  clock += 1.9;
  expect(intake.isOver).toBe(false);
  clock += 0.2;
  expect(intake.isOver).toBe(true);
  await tick();
  expect(intake.isOver).toBe(false);
});

it("lets four senders go on in a tick, in the order of their rests", async () => {
  const intake = intakeByHand();
  const gone: number[] = [];
  for (let i = 0; i < 10; i++) intake.rest(() => gone.push(i));
  expect(gone).toEqual([]);
  const seen: number[] = [];
  while (gone.length < 10) {
    await tick();
    seen.push(gone.length);
  }
  expect(gone).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(seen.every((count, i) => count - (seen[i - 1] ?? 0) <= 4)).toBe(true);
});
