/** Memory of analyses: never more than the budget, in the order of arrival, and all of it comes back. */
import { setMaxListeners } from "node:events";
import { afterEach, describe, expect, it, vi } from "vitest";
import { MemoryBudget } from "../../../../src/server/http/policies/memory-budget.js";

const MIB = 1024 * 1024;
const stay = new AbortController().signal;
setMaxListeners(0, stay);

afterEach(() => {
  vi.useRealTimers();
});

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const open = Symbol("open");
  return (await Promise.race([promise, new Promise((resolve) => setImmediate(() => resolve(open)))])) !== open;
}

describe("the memory of analyses", () => {
  it("goes to forty at once only as far as it reaches, and to the others in turn", async () => {
    const budget = new MemoryBudget(128 * MIB);
    const order: number[] = [];
    let most = 0;
    const analyse = async (i: number): Promise<void> => {
      const giveBack = await budget.take(50 * MIB, 60_000, stay);
      order.push(i);
      most = Math.max(most, budget.used);
      await new Promise((resolve) => setImmediate(resolve));
      giveBack();
      giveBack();
    };
    await Promise.all(Array.from({ length: 40 }, (_, i) => analyse(i)));
    expect(order).toEqual(Array.from({ length: 40 }, (_, i) => i));
    expect([most, budget.used]).toEqual([100 * MIB, 0]);
  });

  it("is all for one that needs more, which smaller ones do not overtake; those that need little never wait", async () => {
    const budget = new MemoryBudget(128 * MIB);
    const first = await budget.take(60 * MIB, 60_000, stay);
    const large = budget.take(1000 * MIB, 60_000, stay);
    const next = budget.take(60 * MIB, 60_000, stay);
    expect(await isSettled(budget.take(MIB, 60_000, stay))).toBe(true);
    expect([await isSettled(large), await isSettled(next)]).toEqual([false, false]);
    first();
    const giveBack = await large;
    expect([budget.used, await isSettled(next)]).toEqual([128 * MIB, false]);
    giveBack();
    (await next)();
    expect(budget.used).toBe(0);
  });

  it("is not waited for longer than the deadline, nor by callers who have left; those behind them go on", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const budget = new MemoryBudget(128 * MIB);
    const giveBack = await budget.take(100 * MIB, 60_000, stay);
    const leave = new AbortController();
    const left = budget.take(100 * MIB, 60_000, leave.signal);
    const late = budget.take(100 * MIB, 1_000, stay);
    const small = budget.take(20 * MIB, 60_000, stay);
    const outcomes = Promise.allSettled([left, late]);
    leave.abort(new Error("gone"));
    vi.advanceTimersByTime(1_000);
    expect(await outcomes).toMatchObject([
      { status: "rejected", reason: { message: "gone" } },
      { status: "rejected", reason: { code: "Busy" } },
    ]);
    (await small)();
    giveBack();
    expect(budget.used).toBe(0);
  });
});
