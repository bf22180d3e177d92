/** What the cache of chunks keeps, and for how many readers a chunk is loaded. */
import { describe, expect, it } from "vitest";
import { ChunkCache } from "../../../src/storage/remote/chunk-cache.js";

/** A cache of ten bytes and a loader of chunks of four, which counts its loads. */
function cacheOf() {
  const loads: string[] = [];
  const cache = new ChunkCache<Uint8Array>(
    10,
    ({ length }) => length,
    (chunk) => chunk,
  );
  const get = (name: string, isKept?: boolean) => {
    const load = async () => {
      loads.push(name);
      return new Uint8Array(4);
    };
    return cache.get(name, load, isKept);
  };
  return { loads, get };
}

describe("ChunkCache", () => {
  it("drops the least recently used chunk", async () => {
    const { loads, get } = cacheOf();
    for (const name of ["a", "b", "a", "c", "a", "b"]) await get(name);
    expect(loads).toEqual(["a", "b", "c", "b"]);
  });

  it("loads once for readers that come together, and forgets a chunk that none of them wants kept", async () => {
    const { loads, get } = cacheOf();
    await Promise.all([get("a", false), get("a", false)]);
    await get("a", false);
    expect(loads).toEqual(["a", "a"]);
    await Promise.all([get("b", false), get("b"), get("b", false)]);
    await get("b");
    expect(loads).toEqual(["a", "a", "b"]);
  });
});
