/** Of work that overlaps only the latest counts, whatever the order in which it ends. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Latest } from "../../../src/web/state/latest.js";

function deferred<T>() {
  let settle: { resolve: (value: T) => void; reject: (error: Error) => void } | undefined;
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, ...(settle as NonNullable<typeof settle>) };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("Latest", () => {
  it("drops an answer and an error that come late", async () => {
    const latest = new Latest<string>(() => undefined);
    const [first, second, third] = [deferred<string>(), deferred<string>(), deferred<string>()];
    const signals: AbortSignal[] = [];
    const runs = [first, second, third].map(({ promise }) =>
      latest.run((signal) => {
        signals.push(signal);
        return promise;
      }),
    );
    expect(signals.map((signal) => signal.aborted)).toEqual([true, true, false]);
    third.resolve("third");
    await runs[2];
    first.resolve("first");
    second.reject(new Error("late"));
    await Promise.all(runs);
    expect([latest.value, latest.standing.error, latest.standing.running]).toEqual(["third", null, false]);
  });

  it("is slow after half a second and not before, and ends when it is cancelled", async () => {
    const latest = new Latest<string>(() => undefined);
    const work = deferred<string>();
    const run = latest.run(() => work.promise);
    vi.advanceTimersByTime(499);
    expect(latest.standing.slow).toBe(false);
    vi.advanceTimersByTime(1);
    expect(latest.standing.slow).toBe(true);
    latest.cancel();
    expect(latest.standing).toEqual({ slow: false, running: false, error: "Cancelled.", code: null });
    work.resolve("too late");
    await run;
    expect(latest.value).toBeNull();
  });

  it("does failed work again when asked, and nothing after it was cleared", async () => {
    const latest = new Latest<string>(() => undefined);
    const answers = [Promise.reject(new Error("busy")), Promise.resolve("second")];
    let asked = 0;
    await latest.run(() => answers[asked++] as Promise<string>);
    expect([latest.value, latest.standing.error]).toEqual([null, "busy"]);
    latest.again();
    await vi.waitFor(() => expect(latest.value).toBe("second"));
    expect([latest.standing.error, asked]).toEqual([null, 2]);
    latest.clear();
    latest.again();
    expect([latest.value, latest.standing.running, asked]).toEqual([null, false, 2]);
  });
});
