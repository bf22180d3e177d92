/**
 * Slots and points in flight: whoever comes and goes in whatever order, nothing is left behind and nobody is passed
 * over.
 */
import { setMaxListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { Admission } from "../../../../src/server/http/policies/admission.js";
import { BusyError, busyStore } from "../../../../src/shared/errors.js";

const LIMITS = {
  "engine.inflight": 2,
  "engine.queue": 2,
  "engine.pointsInFlight": 100,
  "http.requestTimeoutMs": 60_000,
};
const stay = new AbortController().signal;
/** A wait that is over before its timer runs, as are the tests of this process. */
const HOUR = 3_600_000;
setMaxListeners(0, stay);
const small = { client: "a", work: 10 };
const medium = { client: "b", work: 100_000 };
const large = { client: "b", work: 1e8 };

describe("points in flight", () => {
  it("are none when every request is over, also those that read on after their end", async () => {
    const admission = new Admission(LIMITS);
    const [first, second] = [admission.points.hold(), admission.points.hold()];
    expect(first.add(100)).toBeNull();
    const wait = second.add(10);
    expect(wait).toBeInstanceOf(Promise);
    second.release();
    await wait;
    expect(second.add(10)).toBeNull();
    expect(admission.points.held).toBe(100);
    first.release();
    expect(admission.points.held).toBe(0);
  });

  it("let the oldest request go on and the others in turn", async () => {
    const admission = new Admission(LIMITS);
    const [first, second] = [admission.points.hold(), admission.points.hold()];
    expect(first.add(60)).toBeNull();
    const wait = second.add(60);
    expect(first.add(60)).toBeNull();
    let resumed = false;
    const after = wait?.then(() => {
      resumed = true;
    });
    await Promise.resolve();
    expect(resumed).toBe(false);
    first.release();
    await after;
    expect(admission.points.held).toBe(60);
  });
});

describe("slots", () => {
  it("go to those who wait, in the order they came, and to no newcomer", async () => {
    const admission = new Admission(LIMITS);
    const held = await Promise.all([admission.slot(small, 0, stay), admission.slot(small, 0, stay)]);
    const order: string[] = [];
    const early = admission.slot(small, HOUR, stay).then((free) => {
      order.push("early");
      return free;
    });
    const late = admission.slot(small, HOUR, stay).then((free) => {
      order.push("late");
      return free;
    });
    await expect(admission.slot(small, HOUR, stay)).rejects.toBeInstanceOf(BusyError);
    held[0]?.();
    expect(admission.trySlot(small)).toBeNull();
    (await early)();
    (await late)();
    held[1]?.();
    held[1]?.();
    expect(order).toEqual(["early", "late"]);
    expect([admission.taken, admission.waiting]).toEqual([0, 0]);
  });

  it("are not kept by those who left", async () => {
    const admission = new Admission(LIMITS);
    const held = await Promise.all([admission.slot(small, 0, stay), admission.slot(small, 0, stay)]);
    const gone = new AbortController();
    const waiting = admission.slot(small, 60_000, gone.signal);
    gone.abort(new Error("left"));
    await expect(waiting).rejects.toThrow("left");
    await expect(admission.slot(small, 60_000, gone.signal)).rejects.toThrow("left");
    for (const free of held) free();
    expect([admission.taken, admission.waiting]).toEqual([0, 0]);
  });

  it("are kept for small requests: three quarters are for all others", async () => {
    const admission = new Admission({ ...LIMITS, "engine.inflight": 16, "engine.queue": 8 });
    const taken = (asker: typeof small): number => {
      let count = 0;
      while (admission.trySlot(asker) !== null) count++;
      return count;
    };
    expect([taken(large), taken(medium), taken(small)]).toEqual([12, 0, 4]);
    for (let i = 0; i < 6; i++) void admission.slot(large, HOUR, stay);
    await expect(admission.slot(large, HOUR, stay)).rejects.toBeInstanceOf(BusyError);
    await expect(admission.slot(medium, HOUR, stay)).rejects.toBeInstanceOf(BusyError);
    for (let i = 0; i < 2; i++) void admission.slot(small, HOUR, stay);
    expect(admission.waiting).toBe(8);
  });

  it("refuse newcomers only where small requests have taken or asked for all of them", async () => {
    const admission = new Admission({ ...LIMITS, "engine.inflight": 4 });
    for (let i = 0; i < 3; i++) admission.trySlot(large);
    admission.trySlot(small);
    for (let i = 0; i < 2; i++) void admission.slot(small, HOUR, stay);
    expect(() => admission.arrive()).not.toThrow();
    const wide = new Admission(LIMITS);
    for (let i = 0; i < 2; i++) wide.trySlot(small);
    expect(() => wide.arrive()).toThrow("All slots are taken.");
  });

  it("go to clients in turn, and of the requests of a client to the shortest", async () => {
    const admission = new Admission({ ...LIMITS, "engine.queue": 16 });
    const order: string[] = [];
    let free = admission.trySlot({ ...large, client: "a" });
    const ask = (client: string, work: number): Promise<void> =>
      admission.slot({ client, work }, HOUR, stay).then((given) => {
        order.push(`${client}${work}`);
        free = given;
      });
    const asked = [ask("a", 4e8), ask("a", 3e8), ask("b", 9e8), ask("b", 8e8), ask("c", 5e8)];
    for (const _ of asked) {
      free?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(asked);
    expect(order).toEqual(["b800000000", "c500000000", "a300000000", "b900000000", "a400000000"]);
  });
});

describe("points of small requests", () => {
  it("have an eighth of the bound to themselves beside requests that have taken all of it", async () => {
    const admission = new Admission({ ...LIMITS, "engine.pointsInFlight": 80_000 });
    const [oldest, next] = [admission.points.hold(), admission.points.hold()];
    expect(oldest.add(90_000)).toBeNull();
    expect(next.add(5_000)).toBeInstanceOf(Promise);
    const few = Array.from({ length: 3 }, () => admission.points.hold());
    expect(few.map((hold) => hold.add(4_000) === null)).toEqual([true, true, false]);
    oldest.release();
    expect(admission.points.held).toBe(17_000);
    for (const hold of [next, ...few]) hold.release();
    expect(admission.points.held).toBe(0);
  });
});

describe("requests that wait for stores", () => {
  it("are bounded for each store and for all, and leave the slots to others", () => {
    const admission = new Admission({ ...LIMITS, "engine.inflight": 8 });
    const waits = (store: string) => admission.waitForStore(store);
    const ends = [waits("a"), waits("a")];
    expect(ends).not.toContain(null);
    expect(waits("a")).toBeNull();
    expect([waits("b"), waits("b")]).not.toContain(null);
    expect([waits("b"), waits("c")]).toEqual([null, null]);
    expect(admission.taken).toBe(0);
    ends[0]?.();
    ends[0]?.();
    expect(waits("c")).not.toBeNull();
    expect(waits("c")).toBeNull();
  });

  it("have few slots while others wait for the store, and all once none does", () => {
    const admission = new Admission({ ...LIMITS, "engine.inflight": 32 });
    const asker = { ...small, store: "a" };
    const free = Array.from({ length: 8 }, () => admission.trySlot(asker));
    const end = admission.waitForStore("a");
    expect(() => admission.trySlot(asker)).toThrow("wait for the store");
    expect(admission.trySlot({ ...small, store: "b" })).not.toBeNull();
    expect(admission.trySlot(small)).not.toBeNull();
    free[0]?.();
    free[0]?.();
    expect(admission.trySlot(asker)).not.toBeNull();
    expect(() => admission.trySlot(asker)).toThrow("wait for the store");
    end?.();
    expect(admission.trySlot(asker)).not.toBeNull();
  });

  it("leave a quarter of the slots to those that read no store, and wait for one of theirs", async () => {
    const admission = new Admission({ ...LIMITS, "engine.inflight": 32 });
    const frees = Array.from({ length: 24 }, (_, i) => admission.trySlot({ ...small, store: `${i % 2}` }));
    expect(admission.trySlot({ ...small, store: "2" })).toBeNull();
    const next = admission.slot({ ...small, store: "2" }, HOUR, stay);
    expect(admission.waiting).toBe(1);
    for (let i = 0; i < 8; i++) expect(admission.trySlot(small)).not.toBeNull();
    expect(admission.trySlot(small)).toBeNull();
    frees[0]?.();
    (await next)();
    expect([admission.taken, admission.waiting]).toEqual([31, 0]);
  });

  it("get no more slots from the queue than at once", () => {
    const admission = new Admission({ ...LIMITS, "engine.inflight": 8, "engine.queue": 16 });
    const frees = Array.from({ length: 8 }, () => admission.trySlot(small));
    for (let i = 0; i < 8; i++) void admission.slot({ ...small, store: `${i}` }, HOUR, stay);
    for (const free of frees) free?.();
    expect([admission.taken, admission.waiting]).toEqual([6, 2]);
    void admission.slot(small, HOUR, stay);
    expect([admission.taken, admission.waiting]).toEqual([7, 2]);
  });

  it("wait in the queue while others wait for their store, and get all free slots once none does", () => {
    const admission = new Admission({ ...LIMITS, "engine.inflight": 8, "engine.queue": 16 });
    const asker = { ...small, store: "a" };
    const frees = Array.from({ length: 8 }, () => admission.trySlot(small));
    for (let i = 0; i < 4; i++) void admission.slot(asker, HOUR, stay);
    const end = admission.waitForStore("a");
    for (const free of frees) free?.();
    expect([admission.taken, admission.waiting]).toEqual([2, 2]);
    end?.();
    expect([admission.taken, admission.waiting]).toEqual([4, 0]);
  });

  it("crowd out nobody else from the queue, nor on arrival", async () => {
    const admission = new Admission({ ...LIMITS, "engine.inflight": 8, "engine.queue": 8 });
    const asker = { ...small, store: "a" };
    for (let i = 0; i < 6; i++) admission.trySlot(asker);
    for (let i = 0; i < 6; i++) void admission.slot(asker, HOUR, stay);
    await expect(admission.slot(asker, HOUR, stay)).rejects.toBeInstanceOf(BusyError);
    expect(() => admission.arrive()).not.toThrow();
    expect([admission.trySlot(small), admission.trySlot(small)]).not.toContain(null);
    void admission.slot(small, HOUR, stay);
    expect(admission.waiting).toBe(7);
  });

  it("get their slot back though all are taken, and give it back", () => {
    const admission = new Admission(LIMITS);
    while (admission.trySlot(small) !== null);
    const release = admission.takeAgain(small);
    expect(admission.taken).toBe(3);
    release();
    expect(admission.taken).toBe(2);
  });
});

it("asks those whom it refuses at the same time for a store to return at different times", () => {
  const seconds = Array.from({ length: 100 }, () => busyStore().context.retryAfter as number);
  expect(new Set(seconds).size).toBeGreaterThan(1);
  expect([Math.min(...seconds) >= 5, Math.max(...seconds) < 10]).toEqual([true, true]);
});
