/** Of work that overlaps only the request counts, whatever the order in which it ends. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { LatestRequest } from "../../state/latest-request.js";

function deferred<T>() {
  let settle: { resolve: (value: T) => void; reject: (error: Error) => void } | undefined;
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, ...(settle as NonNullable<typeof settle>) };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("LatestRequest", () => {
  it("drops an answer and an error that come late", async () => {
    const request = new LatestRequest<string>(() => undefined);
    const [first, second, third] = [deferred<string>(), deferred<string>(), deferred<string>()];
    const signals: AbortSignal[] = [];
    const runs = [first, second, third].map(({ promise }) =>
      request.run((signal) => {
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
    expect([request.value, request.status.error, request.status.running]).toEqual(["third", null, false]);
  });

  it("shows something until its value comes, but not once another has replaced it", async () => {
    const request = new LatestRequest<string>(() => undefined);
    const [early, work] = [deferred<string>(), deferred<string>()];
    const run = request.run(async (signal) => {
      request.show("soon", signal);
      request.show(await early.promise, signal);
      return work.promise;
    });
    expect([request.value, request.status.running]).toEqual(["soon", true]);
    request.take("known");
    early.resolve("late");
    work.resolve("too late");
    await run;
    expect([request.value, request.status.running]).toEqual(["known", false]);
  });

  it("is slow after half a second and not before, and ends when it is cancelled", async () => {
    const request = new LatestRequest<string>(() => undefined);
    const work = deferred<string>();
    const run = request.run(() => work.promise);
    vi.advanceTimersByTime(499);
    expect(request.status.slow).toBe(false);
    vi.advanceTimersByTime(1);
    expect(request.status.slow).toBe(true);
    request.cancel();
    expect(request.status).toEqual({
      slow: false,
      running: false,
      error: "Cancelled.",
      code: null,
      limit: null,
      most: null,
    });
    work.resolve("too late");
    await run;
    expect(request.value).toBeNull();
  });

  it("does failed work again when asked, and nothing after it was cleared", async () => {
    const request = new LatestRequest<string>(() => undefined);
    const answers = [Promise.reject(new Error("busy")), Promise.resolve("second")];
    let asked = 0;
    await request.run(() => answers[asked++] as Promise<string>);
    expect([request.value, request.status.error]).toEqual([null, "busy"]);
    request.again();
    await vi.waitFor(() => expect(request.value).toBe("second"));
    expect([request.status.error, asked]).toEqual([null, 2]);
    request.clear();
    request.again();
    expect([request.value, request.status.running, asked]).toEqual([null, false, 2]);
  });
});
