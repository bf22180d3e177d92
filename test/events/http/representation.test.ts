/** Finished bodies are kept until the data change. */
import { describe, expect, it } from "vitest";
import { type Representation, RepresentationCache } from "../../../src/events/http/representation.js";
import type { Interval } from "../../../src/events/store/store.js";

const interval = (): Interval => ({ snapshot: {} as Interval["snapshot"], from: 0, until: 1 });
const page = (length: number): Representation => ({ body: "x".repeat(length), tag: "t", headers: {} });

describe("the cache of pages", () => {
  it("makes a page once in an interval and anew in the next", () => {
    const cache = new RepresentationCache(10_000);
    const [first, second] = [interval(), interval()];
    let made = 0;
    const get = (at: Interval) =>
      cache.get(at, "a", () => {
        made += 1;
        return page(10);
      });
    expect(get(first)).toBe(get(first));
    expect(made).toBe(1);
    get(second);
    expect(made).toBe(2);
    cache.keep(first, "late", page(10));
    expect(cache.find(second, "late")).toBeUndefined();
  });

  it("holds no more than its bytes, and drops what was used longest ago", () => {
    const cache = new RepresentationCache(2 * 3 * 101);
    const at = interval();
    for (const key of ["a", "b", "c"]) cache.get(at, key, () => page(100));
    cache.find(at, "a");
    cache.get(at, "d", () => page(100));
    expect(["a", "b", "c", "d"].map((key) => cache.find(at, key) !== undefined)).toEqual([true, false, true, true]);
    cache.get(at, "huge", () => page(1000));
    expect(cache.find(at, "huge")).toBeUndefined();
    expect(cache.find(at, "a")).toBeDefined();
  });

  it("keeps a page that fills it exactly, and none that is a character longer", () => {
    const at = interval();
    for (const [length, isKept] of [
      [100, true],
      [101, false],
    ] as const) {
      const cache = new RepresentationCache(2 * (1 + 100));
      cache.get(at, "a", () => page(length));
      expect(cache.find(at, "a") !== undefined).toBe(isKept);
    }
  });

  it("keeps nothing when it may hold nothing", () => {
    const cache = new RepresentationCache(0);
    const at = interval();
    cache.get(at, "a", () => page(1));
    expect(cache.find(at, "a")).toBeUndefined();
  });
});
