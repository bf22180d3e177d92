/** Turns of long work on the event loop. */
import { setImmediate as immediate } from "node:timers/promises";
import { afterEach, expect, test, vi } from "vitest";
import { mainThreadCpu, TimeSlices } from "../../../../src/server/http/policies/time-slices.js";

afterEach(() => void vi.restoreAllMocks());

test("a long loop covers every element once and lets ticks pass between its slices", async () => {
  // A clock that goes on by three milliseconds whenever it is read.
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => {
    now += 3;
    return now;
  });
  const ranges: (readonly [number, number])[] = [];
  let turns = 0;
  const count = (): void => {
    turns++;
    if (ranges.length < 4) setImmediate(count);
  };
  setImmediate(count);
  await new TimeSlices(() => null).each(30_000, (from, to) => ranges.push([from, to]));
  expect(ranges).toEqual([
    [0, 8_192],
    [8_192, 16_384],
    [16_384, 24_576],
    [24_576, 30_000],
  ]);
  expect(turns).toBeGreaterThanOrEqual(1);
});

test("one slice of long work goes on in a tick, in the order of its waiting", async () => {
  const slices = new TimeSlices(() => null);
  const done: string[] = [];
  let clock = 0;
  vi.spyOn(performance, "now").mockImplementation(() => clock);
  const work = async (name: string): Promise<void> => {
    for (let i = 0; i < 3; i++) {
      done.push(`${name}${i}`);
      clock += 10;
      await slices.pause();
    }
  };
  let over = false;
  const turn = (): void => {
    done.push("turn");
    if (!over) setImmediate(turn);
  };
  setImmediate(turn);
  await Promise.all(["a", "b", "c"].map(work));
  over = true;
  const text = done.join(" ");
  expect(text.replaceAll(" turn", "").replaceAll("turn ", "")).toBe("a0 b0 c0 a1 b1 c1 a2 b2 c2");
  expect(text).not.toMatch(/[abc][12] [abc][12]/);
});

test("what is done in one turn shares its slice, and the next turn has another", async () => {
  const slices = new TimeSlices(() => null);
  let clock = 0;
  vi.spyOn(performance, "now").mockImplementation(() => clock);
  slices.noteActivity();
  clock += 4;
  slices.noteActivity();
  const wait = slices.pause();
  expect(wait).toBeInstanceOf(Promise);
  await wait;
  expect(slices.pause()).toBeNull();
  clock += 1;
  await immediate();
  clock += 10;
  expect(slices.pause()).toBeNull();
  expect(slices.longestMs).toBe(4);
});

test("a slice from the queue is not cut short by the end of the turn before it", async () => {
  const slices = new TimeSlices(() => null);
  let clock = 0;
  vi.spyOn(performance, "now").mockImplementation(() => clock);
  slices.noteActivity();
  clock += 5;
  const first = slices.pause();
  const second = slices.pause();
  await first;
  clock += 6;
  expect(slices.isOver).toBe(true);
  await second;
  expect(slices.isOver).toBe(false);
  expect(slices.longestMs).toBe(6);
});

test("waits for something else do not count", async () => {
  const slices = new TimeSlices(() => null);
  slices.noteActivity();
  const since = performance.now();
  while (performance.now() - since < 50) await immediate();
  expect(slices.longestMs).toBeLessThan(performance.now() - since);
  expect(slices.isOver).toBe(false);
});

test.runIf(process.platform === "linux")(
  "the clock of CPU time sees work that is shorter than a tick of the scheduler",
  () => {
    const clock = mainThreadCpu();
    const start = clock() ?? Number.NaN;
    let unseen = 0;
    for (let before = start, i = 0; i < 50; i++) {
      const end = performance.now() + 0.3;
      while (performance.now() < end);
      const now = clock() ?? Number.NaN;
      if (now <= before) unseen++;
      before = now;
    }
    expect(start).toBeGreaterThan(0);
    expect(unseen).toBe(0);
  },
);
