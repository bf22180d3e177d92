/** Work that is gathered over a tick of the event loop. */
import { setImmediate as immediate } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { mainThreadCpu, Tick, TimeSlices } from "../../../src/server/life/event-loop.js";

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

test.each([
  [40, undefined, [16, 16, 8]],
  [5, 2, [2, 2, 1]],
])("%d pieces of work in a tick are done a few at a time, in order (%s slots)", async (count, slots, groups) => {
  const done: number[] = [];
  const tick = new Tick(slots);
  for (let i = 0; i < count; i++) tick.add(() => done.push(i));
  const seen: number[] = [];
  for (const _ of groups) {
    const before = done.length;
    await immediate();
    seen.push(done.length - before);
  }
  expect(seen).toEqual(groups);
  expect(done).toEqual(Array.from({ length: count }, (_, i) => i));
});

test("a long loop covers every element once and lets ticks pass between its slices", async () => {
  // A clock that goes on by three milliseconds whenever it is read.
  let now = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => {
    now += 3;
    return now;
  });
  try {
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
  } finally {
    clock.mockRestore();
  }
});

test("one slice of long work goes on in a tick, in the order of its waiting", async () => {
  const slices = new TimeSlices(() => null);
  const done: string[] = [];
  let clock = 0;
  const spy = vi.spyOn(performance, "now").mockImplementation(() => clock);
  try {
    const work = async (name: string): Promise<void> => {
      slices.begin();
      for (let i = 0; i < 3; i++) {
        done.push(`${name}${i}`);
        clock += 10;
        await slices.pauseAgain();
      }
      slices.end();
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
  } finally {
    spy.mockRestore();
  }
});

test("work that has had a slice waits if others have filled the tick, and what begins does not", async () => {
  const slices = new TimeSlices(() => null);
  let clock = 0;
  const spy = vi.spyOn(performance, "now").mockImplementation(() => clock);
  try {
    slices.begin();
    clock += 4;
    expect(slices.overdue).toBe(true);
    slices.end();
    slices.begin();
    expect(slices.pause()).toBeNull();
    const wait = slices.pauseAgain();
    expect(wait).toBeInstanceOf(Promise);
    await wait;
    expect(slices.pauseAgain()).toBeNull();
    slices.end();
  } finally {
    spy.mockRestore();
  }
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
  expect(slices.longestMs).toBeGreaterThanOrEqual(4);
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
