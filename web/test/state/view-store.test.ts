/** The address follows the view, but no faster than browsers let it. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { boxFacts } from "../../../test/support/box-facts.js";
import { ApiClient } from "../../state/api.js";
import { initialState } from "../../state/view-state.js";
import { ViewStore } from "../../state/view-store.js";

const FACTS = boxFacts();

const written: string[] = [];
const pushed: string[] = [];
beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("document", { baseURI: "http://127.0.0.1/page/?dataset=box" });
  vi.stubGlobal("location", { href: "http://127.0.0.1/page/?dataset=box" });
  vi.stubGlobal("history", {
    replaceState: (_state: unknown, _title: string, address: string) => written.push(address),
    pushState: (_state: unknown, _title: string, address: string) => pushed.push(address),
  });
});
afterEach(() => {
  written.length = 0;
  pushed.length = 0;
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it("writes the first change at once and the last of many, never more than a hundred in half a minute", () => {
  const store = new ViewStore(new ApiClient(), initialState(FACTS), FACTS);
  const seen: number[] = [];
  store.onChange((state) => seen.push(state.release));
  store.set({ release: 1 });
  expect(written).toEqual(["http://127.0.0.1/page/?dataset=box&release=1"]);
  for (let release = 2; release <= 1800; release++) {
    store.set({ release });
    vi.advanceTimersByTime(1000 / 60);
  }
  expect(seen).toHaveLength(1800);
  expect(written.length).toBeLessThanOrEqual(100);
  expect(written.length).toBeGreaterThan(50);
  vi.runAllTimers();
  expect(written.at(-1)).toBe("http://127.0.0.1/page/?dataset=box&release=1800");
  const after = written.length;
  vi.advanceTimersByTime(10_000);
  expect(written).toHaveLength(after);
  expect(store.link).toBe(written.at(-1));
});

it("writes twenty changes in a row at once, and the next when a write is due again", () => {
  const store = new ViewStore(new ApiClient(), initialState(FACTS), FACTS);
  for (let release = 1; release <= 21; release++) store.set({ release });
  expect(written).toHaveLength(20);
  vi.advanceTimersByTime(399);
  expect(written).toHaveLength(20);
  vi.advanceTimersByTime(1);
  expect(written).toHaveLength(21);
});

it("begins an entry of the history after a pause, and walks back without another", () => {
  const store = new ViewStore(new ApiClient(), initialState(FACTS), FACTS);
  store.set({ release: 1 });
  expect([written.length, pushed.length]).toEqual([1, 0]);
  vi.advanceTimersByTime(1500);
  store.set({ release: 2 });
  store.set({ release: 3 });
  expect(pushed).toEqual(["http://127.0.0.1/page/?dataset=box&release=2"]);
  expect(written).toHaveLength(2);
  vi.advanceTimersByTime(1500);
  store.restore(FACTS, initialState(FACTS));
  vi.runAllTimers();
  expect([written.length, pushed.length]).toEqual([2, 1]);
});

it("begins no entry of the history while time plays", () => {
  const store = new ViewStore(new ApiClient(), initialState(FACTS), FACTS);
  for (const time of [0.25, 0.5, 0.75]) {
    vi.advanceTimersByTime(1500);
    store.pass(time);
  }
  vi.advanceTimersByTime(500);
  store.set({ release: 1 });
  expect(pushed).toEqual([]);
  expect(written.at(-1)).toContain("time=0.75");
});

it("has the plane through the probe if three are shown", () => {
  const store = new ViewStore(new ApiClient(), initialState(FACTS), FACTS);
  const { probe } = store.state;
  store.set({ layout: "three", at: 0.25 });
  expect([store.state.at, probe[2]]).toEqual([probe[2], probe[2]]);
  store.set({ probe: [probe[0], probe[1], 0.125] });
  expect(store.state.at).toBe(0.125);
});
