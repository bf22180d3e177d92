/** The store of answers. */
import { expect, it, vi } from "vitest";
import { delay, Refusal, Store, send } from "../state/ask.js";
import "./page.js";

it("asks again, at one word, for all answers that were refused alike", async () => {
  const store = new Store(1000);
  const asked: string[] = [];
  let isBusy = true;
  const wantedOf = (key: string, status: number) => ({
    key,
    priority: 0,
    load: async () => {
      asked.push(key);
      if (isBusy || status === 400) throw new Refusal(status, "refused");
      return key;
    },
  });
  store.want([...["a", "b", "c", "d"].map((key) => wantedOf(key, 503)), wantedOf("unknown", 400)]);
  await vi.waitFor(() => expect(store.isBusy).toBe(false));
  isBusy = false;
  asked.length = 0;
  store.retry("b");
  await vi.waitFor(() => expect(store.isBusy).toBe(false));
  expect(asked.toSorted()).toEqual(["a", "b", "c", "d"]);
  expect(["a", "b", "c", "d"].map((key) => store.entry(key).answer)).toEqual(["a", "b", "c", "d"]);
  // Neither answers nor other refusals are asked for again.
  store.retry("a");
  expect(store.isBusy).toBe(false);
  expect(store.entry("unknown").error?.status).toBe(400);
});

it("says at once why requests wait, until all of them are answered or left", async () => {
  vi.useFakeTimers();
  const lost = { detail: "rep is not served now: its files have changed" };
  const answers = [Response.json(lost, { status: 503, headers: { "retry-after": "30" } }), Response.json({})];
  vi.stubGlobal("fetch", async ({ pathname }: URL) => {
    if (pathname === "/a") return answers.shift();
    throw new TypeError("Failed to fetch");
  });
  const one = send("a");
  const left = new AbortController();
  await vi.waitFor(() => expect(delay.value).toBe(lost.detail));
  const other = send("b", {}, left.signal);
  await vi.advanceTimersByTimeAsync(29_900);
  expect(delay.value).toBe(lost.detail);
  await vi.advanceTimersByTimeAsync(200);
  expect((await one).ok).toBe(true);
  expect(delay.value).toBe("The service cannot be reached.");
  left.abort(new Error("left"));
  await expect(other).rejects.toThrow("left");
  expect(delay.value).toBe(null);
  vi.useRealTimers();
});
