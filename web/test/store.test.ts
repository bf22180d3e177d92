/** The store of answers. */
import { expect, it, vi } from "vitest";
import { Refusal, Store } from "../state/ask.js";

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
