/** Slots and points in flight: whoever comes and goes in whatever order, nothing is left behind and nobody is passed over. */
import { describe, expect, it } from "vitest";
import { BusyError } from "../../../src/errors.js";
import { Admission } from "../../../src/server/http/admission.js";

const LIMITS = {
  "engine.inflight": 2,
  "engine.queue": 2,
  "engine.pointsInFlight": 100,
  "http.requestTimeoutMs": 60_000,
};
const stay = new AbortController().signal;

describe("points in flight", () => {
  it("are none when every request is over, also those that read on after their end", async () => {
    const admission = new Admission(LIMITS);
    const [first, second] = [admission.hold(), admission.hold()];
    expect(first.add(100)).toBeNull();
    const wait = second.add(10);
    expect(wait).toBeInstanceOf(Promise);
    second.release();
    await wait;
    expect(second.add(10)).toBeNull();
    expect(admission.points).toBe(100);
    first.release();
    expect(admission.points).toBe(0);
  });

  it("let the oldest request go on and the others in turn", async () => {
    const admission = new Admission(LIMITS);
    const [first, second] = [admission.hold(), admission.hold()];
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
    expect(admission.points).toBe(60);
  });
});

describe("slots", () => {
  it("go to those who wait, in the order they came, and to no newcomer", async () => {
    const admission = new Admission(LIMITS);
    const held = await Promise.all([admission.slot(0, stay), admission.slot(0, stay)]);
    const order: string[] = [];
    const early = admission.slot(60_000, stay).then((free) => {
      order.push("early");
      return free;
    });
    const late = admission.slot(60_000, stay).then((free) => {
      order.push("late");
      return free;
    });
    await expect(admission.slot(60_000, stay)).rejects.toBeInstanceOf(BusyError);
    held[0]?.();
    expect(admission.trySlot()).toBeNull();
    (await early)();
    (await late)();
    held[1]?.();
    held[1]?.();
    expect(order).toEqual(["early", "late"]);
    expect([admission.taken, admission.waiting]).toEqual([0, 0]);
  });

  it("are not kept by those who left", async () => {
    const admission = new Admission(LIMITS);
    const held = await Promise.all([admission.slot(0, stay), admission.slot(0, stay)]);
    const gone = new AbortController();
    const waiting = admission.slot(60_000, gone.signal);
    gone.abort(new Error("left"));
    await expect(waiting).rejects.toThrow("left");
    await expect(admission.slot(60_000, gone.signal)).rejects.toThrow("left");
    for (const free of held) free();
    expect([admission.taken, admission.waiting]).toEqual([0, 0]);
  });
});
