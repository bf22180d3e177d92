/** The slot of one request is given back, lent and timed, whatever its queries do. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { SMALL_WORK } from "../../../../src/engine/contract/query.js";
import type { Admission, SlotRequest } from "../../../../src/server/http/policies/admission.js";
import { RequestSlot } from "../../../../src/server/http/policies/request-slot.js";
import { NO_FACTS } from "../../../../src/server/http/request-facts.js";
import { CancelledError } from "../../../../src/shared/errors.js";

let held = { slots: 0, waits: 0 };
/** Whether a slot is free at once, and whether a store may be waited for. */
let isFree = true;
let mayWait = true;
/** The stores of the requests that have asked for a slot. */
let asked: unknown[] = [];
/** Gives a slot to a request that waits for one. */
let grant: () => void;

function hold(what: "slots" | "waits"): () => void {
  held[what]++;
  return () => {
    held[what]--;
  };
}

const admission = {
  trySlot: ({ store }: SlotRequest) => {
    asked.push(store);
    return isFree ? hold("slots") : null;
  },
  slot: (_asker: unknown, _ms: number, signal: AbortSignal) =>
    new Promise((resolve, reject) => {
      grant = () => resolve(hold("slots"));
      signal.addEventListener("abort", () => reject(signal.reason));
    }),
  takeAgain: () => hold("slots"),
  waitForStore: () => (mayWait ? hold("waits") : null),
} as unknown as Admission;

let facts = { ...NO_FACTS };
let slot: RequestSlot;

beforeEach(() => {
  vi.useFakeTimers();
  held = { slots: 0, waits: 0 };
  asked = [];
  isFree = true;
  mayWait = true;
  facts = { ...NO_FACTS };
  slot = new RequestSlot(admission, facts, () => "client");
});
afterEach(() => vi.useRealTimers());

it("is for work of the size that it was taken for, until it is left", async () => {
  expect(slot.isFor(5)).toBe(false);
  await slot.take(5, 1000);
  expect([slot.isFor(5), slot.isFor(SMALL_WORK), slot.isFor(SMALL_WORK + 1), held.slots]).toEqual([
    true,
    true,
    false,
    1,
  ]);
  slot.leave();
  expect([slot.isFor(5), held.slots]).toEqual([false, 0]);
});

it("is for the store of any of its queries, and is taken again for one that came later", async () => {
  slot.storeWait(null);
  await slot.take(5, 1000);
  slot.storeWait("a");
  expect(slot.isFor(5)).toBe(false);
  slot.leave();
  slot.storeWait(null);
  await slot.take(5, 1000);
  expect([slot.isFor(5), asked]).toEqual([true, [null, "a"]]);
});

it("is lent while any query waits for a store, and taken again once none does", async () => {
  const [one, other] = [slot.storeWait(null), slot.storeWait(null)];
  await slot.take(5, 1000);
  expect([one("a"), other("b")]).toEqual([true, true]);
  expect([held, slot.isFor(5)]).toEqual([{ slots: 0, waits: 2 }, true]);
  one(null);
  expect(held).toEqual({ slots: 0, waits: 1 });
  other(null);
  expect(held).toEqual({ slots: 1, waits: 0 });
});

it("is lent at once if a query waits for a store already", async () => {
  slot.storeWait(null)("a");
  await slot.take(5, 1000);
  expect(held).toEqual({ slots: 0, waits: 1 });
});

it("stays held if too many wait for the store", async () => {
  await slot.take(5, 1000);
  mayWait = false;
  expect(slot.storeWait(null)("a")).toBe(false);
  expect(held).toEqual({ slots: 1, waits: 0 });
});

it("holds nothing after the end, whatever its queries say then", async () => {
  const wait = slot.storeWait(null);
  await slot.take(5, 1000);
  wait("a");
  slot.end();
  expect(held).toEqual({ slots: 0, waits: 0 });
  expect(slot.storeWait(null)("b")).toBe(true);
  await slot.take(5, 1000);
  expect(held).toEqual({ slots: 0, waits: 0 });
});

it("says how long the request waited for it and computed in it", async () => {
  isFree = false;
  const taken = slot.take(5, 1000);
  vi.advanceTimersByTime(30);
  grant();
  await taken;
  vi.advanceTimersByTime(200);
  slot.endComputing();
  vi.advanceTimersByTime(1000);
  slot.leave();
  expect([facts.queueMs, facts.computeMs]).toEqual([30, 200]);
});

it("is no longer waited for once the caller has left", async () => {
  isFree = false;
  const taken = slot.take(5, 1000);
  slot.end();
  await expect(taken).rejects.toBeInstanceOf(CancelledError);
  expect(held.slots).toBe(0);
});
