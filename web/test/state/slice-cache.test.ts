/** The cache of slices keeps 64 MiB of those used last, and asks for each plane once. */
import { beforeEach, expect, it } from "vitest";
import type { Slice } from "../../state/api.js";
import { SliceCache } from "../../state/slice-cache.js";

/** Values of a plane of which the cache holds four. */
const QUARTER = 4 * 1024 * 1024;
const { signal } = new AbortController();
let asked: string[];
let give: (() => void)[];
let held: boolean;
let cache: SliceCache;

beforeEach(() => {
  asked = [];
  give = [];
  held = false;
  const answer = <T>(value: T) =>
    held ? new Promise<T>((resolve) => give.push(() => resolve(value))) : Promise.resolve(value);
  const sliceOf = (path: string) => ({ values: { byteLength: 4 * QUARTER }, path }) as unknown as Slice;
  cache = new SliceCache({
    slice: (path) => {
      asked.push(path);
      return answer(sliceOf(path));
    },
    slices: (paths) => {
      asked.push(paths.join(" "));
      return paths.includes("gone") ? Promise.reject(new Error("gone")) : answer(paths.map(sliceOf));
    },
  });
});

it("keeps the planes used last, however often one is used", async () => {
  for (const path of ["a", "b", "c", "d"]) await cache.load(path, signal);
  for (let i = 0; i < 9; i++) await cache.load("a", signal);
  expect(["a", "b", "c", "d"].map((path) => cache.has(path))).toEqual([true, true, true, true]);
  await cache.load("e", signal);
  expect(["a", "b", "c", "d", "e"].map((path) => cache.has(path))).toEqual([true, false, true, true, true]);
  expect(asked).toEqual(["a", "b", "c", "d", "e"]);
});

it("counts a peek as a use and a glance as none", async () => {
  for (const path of ["a", "b", "c", "d"]) await cache.load(path, signal);
  expect(cache.peek("a")).toBe(cache.glance("a"));
  expect([cache.glance("b") === null, cache.peek("z"), cache.glance("z")]).toEqual([false, null, null]);
  await cache.load("e", signal);
  expect([cache.has("a"), cache.has("b")]).toEqual([true, false]);
});

it("waits for planes that are on their way instead of asking twice", async () => {
  held = true;
  const ahead = cache.fetchAhead(["a", "b"], signal);
  const loaded = cache.load("b", signal);
  expect(asked).toEqual(["a b"]);
  give[0]?.();
  await ahead;
  expect(await loaded).toBe(cache.glance("b"));
  const failing = cache.fetchAhead(["c", "gone"], signal);
  const lost = cache.load("c", signal);
  await expect(failing).rejects.toThrow("gone");
  await expect(lost).rejects.toThrow("gone");
});

it("forgets all planes, and then has room for as many again", async () => {
  for (const path of ["a", "b", "c", "d"]) await cache.load(path, signal);
  cache.clear();
  expect(cache.has("d")).toBe(false);
  for (const path of ["a", "b", "c", "d"]) await cache.load(path, signal);
  expect(cache.has("a")).toBe(true);
});

it("has room for half of what it keeps", () => {
  expect(cache.roomFor(QUARTER)).toBe(2);
  expect(cache.roomFor(4096)).toBe(2048);
});
