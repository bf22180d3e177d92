import { describe, expect, it } from "vitest";
import { ClientError } from "../../src/client/error.js";
import { inParts } from "../../src/client/split.js";
import { fc } from "../support/property.js";

const tick = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Runs inParts against a service that takes `accepted` points a request, and lists the parts it answered. */
async function split(total: number, size: number, lanes: number, accepted = Infinity) {
  const answered: [number, number][] = [];
  let running = 0;
  let most = 0;
  await inParts(total, size, lanes, async (first, count) => {
    most = Math.max(most, ++running);
    await tick();
    running--;
    if (count > accepted) throw new ClientError("LimitExceeded", "too many", { limit: "query.points" });
    answered.push([first, count]);
  });
  return { answered: answered.sort((a, b) => a[0] - b[0]), most };
}

describe("inParts", () => {
  it("covers every point exactly once, in parts no larger than allowed, whatever the service accepts", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 300 }),
        fc.integer({ min: 1, max: 100 }),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 120 }),
        async (total, size, lanes, accepted) => {
          const { answered, most } = await split(total, size, lanes, accepted);
          let next = 0;
          for (const [first, count] of answered) {
            expect(first).toBe(next);
            expect(count).toBeGreaterThan(0);
            expect(count).toBeLessThanOrEqual(Math.min(size, accepted));
            next += count;
          }
          expect(next).toBe(total);
          expect(most).toBeLessThanOrEqual(lanes);
        },
      ),
    );
  });

  it("keeps as many requests under way as it has lanes", async () => {
    expect((await split(100, 10, 3)).most).toBe(3);
  });

  it("sends no more large requests once one was refused", async () => {
    const sizes: number[] = [];
    await inParts(64, 32, 1, async (_, count) => {
      sizes.push(count);
      if (count > 8) throw new ClientError("LimitExceeded", "too many", { limit: "query.filterSamples" });
    });
    expect(sizes).toEqual([32, 16, 8, 8, 16, 8, 8, 8, 8, 8, 8]);
  });

  it("sends fewer requests at once when the service takes fewer", async () => {
    let running = 0;
    const answered: number[] = [];
    await inParts(40, 2, 5, async (first) => {
      if (running === 2) throw new ClientError("LimitExceeded", "too many at once", { limit: "token.concurrent" });
      running++;
      await tick();
      running--;
      answered.push(first);
    });
    expect(answered.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => 2 * i));
    const never = async () => {
      throw new ClientError("LimitExceeded", "too many at once", { limit: "token.concurrent" });
    };
    await expect(inParts(4, 2, 2, never)).rejects.toMatchObject({ limit: "token.concurrent" });
  });

  it("gives up on a single point that is too large, and on limits that fewer points do not help", async () => {
    const refuse = (limit: string) => async () => {
      throw new ClientError("LimitExceeded", limit, { limit });
    };
    await expect(inParts(4, 4, 1, refuse("query.particleSteps"))).rejects.toMatchObject({
      limit: "query.particleSteps",
    });
    let calls = 0;
    const textLimit = async () => {
      calls++;
      throw new ClientError("LimitExceeded", "long", { limit: "xml.textChars" });
    };
    await expect(inParts(4, 4, 1, textLimit)).rejects.toMatchObject({ limit: "xml.textChars" });
    expect(calls).toBe(1);
  });

  it("rejects with the first error, begins nothing after it and aborts what is under way", async () => {
    const begun: number[] = [];
    const aborted: number[] = [];
    const part = async (first: number, _: number, signal: AbortSignal) => {
      begun.push(first);
      if (first === 1) throw new ClientError("OutOfRange", "time");
      await new Promise((_, reject) =>
        signal.addEventListener("abort", () => {
          aborted.push(first);
          reject(signal.reason);
        }),
      );
    };
    await expect(inParts(10, 1, 3, part)).rejects.toMatchObject({ code: "OutOfRange" });
    expect(begun).toEqual([0, 1, 2]);
    expect(aborted).toEqual([0, 2]);
  });

  it("says after how many points the connection broke, if any were answered", async () => {
    const breakAt = (at: number) => async (first: number) => {
      if (first === at) throw new ClientError("Network", "The connection failed");
    };
    await expect(inParts(6, 2, 1, breakAt(0))).rejects.toThrow(/^The connection failed$/);
    await expect(inParts(6, 2, 1, breakAt(4))).rejects.toThrow(/^The connection failed after 4 of 6 points$/);
  });

  it("stops with the caller's reason", async () => {
    const control = new AbortController();
    const reason = new Error("enough");
    const part = (_: number, __: number, signal: AbortSignal) =>
      new Promise<void>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    const running = inParts(10, 1, 2, part, control.signal);
    control.abort(reason);
    await expect(running).rejects.toBe(reason);
    await expect(inParts(10, 1, 2, part, control.signal)).rejects.toBe(reason);
  });
});
