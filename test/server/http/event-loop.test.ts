/** Work that is gathered over a tick of the event loop. */
import { setImmediate as immediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { inSlices, Tick, TimeSlices } from "../../../src/server/http/event-loop.js";

test("work added in one tick is done together and in order, before the next tick", async () => {
  const done: string[] = [];
  const tick = new Tick();
  tick.add(() => done.push("first"));
  tick.add(() => done.push("second"));
  await Promise.resolve();
  process.nextTick(() => done.push("at once"));
  await immediate();
  expect(done).toEqual(["at once", "first", "second"]);
});

test("work added by work waits for the next tick", async () => {
  const done: string[] = [];
  const tick = new Tick();
  tick.add(() => {
    done.push("first");
    tick.add(() => done.push("third"));
  });
  tick.add(() => done.push("second"));
  setImmediate(() => done.push("between"));
  await immediate();
  expect(done).toEqual(["first", "second", "between"]);
  await immediate();
  expect(done).toEqual(["first", "second", "between", "third"]);
});

test("a long loop covers every element once and lets the event loop turn between its slices", async () => {
  const ranges: (readonly [number, number])[] = [];
  let turns = 0;
  const count = (): void => {
    turns++;
    if (ranges.length < 3) setImmediate(count);
  };
  setImmediate(count);
  await inSlices(150_000, (from, to) => ranges.push([from, to]));
  expect(ranges).toEqual([
    [0, 65_536],
    [65_536, 131_072],
    [131_072, 150_000],
  ]);
  expect(turns).toBeGreaterThanOrEqual(2);
});

test("a time slice that has lasted is over after a pause", async () => {
  const slices = new TimeSlices(() => null);
  slices.begin();
  const since = performance.now();
  while (!slices.overdue) expect(performance.now() - since).toBeLessThan(10_000);
  await slices.pause();
  expect(slices.overdue).toBe(false);
  expect(slices.pause()).toBeNull();
  slices.end();
});

test("a time slice goes on across waits that end before the event loop turns", async () => {
  const slices = new TimeSlices(() => null);
  slices.begin();
  const since = performance.now();
  while (!slices.overdue) {
    expect(performance.now() - since).toBeLessThan(10_000);
    await slices.outside(Promise.resolve());
  }
  await slices.outside(immediate());
  slices.end();
  expect(slices.longestMs).toBeGreaterThanOrEqual(8);
});
