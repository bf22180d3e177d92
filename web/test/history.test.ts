/** What Ctrl+Z takes back: one act a time, and nothing of what was before the page. */
import { afterAll, beforeEach, expect, it, vi } from "vitest";

const before = [globalThis.location, globalThis.history];
afterAll(() => {
  for (const [i, name] of ["location", "history"].entries()) vi.stubGlobal(name, before[i]);
});

const entries: { state: unknown; href: string }[] = [];
let at = 0;
const here = () => entries[at] as (typeof entries)[0];
const location = {
  get href() {
    return here().href;
  },
};
vi.stubGlobal("location", location);
vi.stubGlobal("history", {
  get state() {
    return here().state;
  },
  replaceState: (state: unknown, _: string, href = here().href) => {
    entries[at] = { state, href };
  },
  pushState: (state: unknown, _: string, href: string) => {
    entries.splice(++at, entries.length, { state, href });
  },
  go: (by: number) => {
    at += by;
  },
});

const { saveAddress, turnBack, turned } = await import("../state/history.js");
const step = (by: -1 | 1) => {
  const before = at;
  turnBack(by);
  if (at !== before) turned();
  return here().href.split("/").at(-1);
};
const act = (name: string, kind: Parameters<typeof saveAddress>[1]) => saveAddress(`http://a/${name}`, kind, {});

beforeEach(() => {
  entries.splice(0, 99, { state: null, href: "http://other/" }, { state: null, href: "http://a/link" });
  at = 1;
});

it("does nothing in a link that was just opened, nor twice before the page has turned", () => {
  act("shown", null);
  expect(step(-1)).toBe("shown");
  act("quantity", "choice");
  turnBack(-1);
  turnBack(-1);
  expect(at).toBe(1);
  turned();
  expect([step(-1), step(1), step(1)]).toEqual(["shown", "quantity", "quantity"]);
});

it("takes back one act a time, of which those that go on are one", () => {
  act("view", "choice");
  for (const name of ["right", "up"]) act(name, "place");
  act("up2", null);
  act("later", "time");
  for (const name of ["method", "method", "colours"]) act(name, "choice");
  expect([step(-1), step(-1), step(-1), step(-1), step(-1), step(-1)]).toEqual([
    "method",
    "later",
    "up2",
    "view",
    "link",
    "link",
  ]);
  expect([step(1), step(1)]).toEqual(["view", "up2"]);
  act("down", "place");
  expect([step(1), step(-1), step(-1)]).toEqual(["down", "up2", "view"]);
});

it("goes on after a press that showed no other entry, as where the browser has dropped it", () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  act("quantity", "choice");
  const shown = at;
  turnBack(-1);
  at = shown;
  turnBack(-1);
  expect(at).toBe(shown);
  vi.advanceTimersByTime(1001);
  expect(step(-1)).toBe("link");
  vi.useRealTimers();
});
