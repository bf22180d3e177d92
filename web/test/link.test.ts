/** Links of the new page hold the whole view. */
import { expect, it } from "vitest";
import { EMPTY, type Range, readLink, type View, writeLink } from "../state/link.js";

/** A generator of numbers from 0 to 1 (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const WHATS = ["norm(omega)", "Q", "A[0][2]", "u.x*u.y + 2", "dot(u,omega) > 0 ? 1 : 0", "a&b#c%d"];

function randomView(random: () => number): View {
  const number = () => Number(((random() - 0.5) * 10 ** Math.floor(random() * 6)).toPrecision(8));
  const triple = () => [number(), number(), number()] as const;
  const one = <T>(of: readonly T[]) => of[Math.floor(random() * of.length)] as T;
  const maybe = <T>(value: T) => (random() < 0.5 ? value : null);
  const scales = ["linear", "log", "symlog:0.5"] as const;
  const range = (): Range => ({ low: -Math.abs(number() || 1), high: Math.abs(number() || 1), scale: one(scales) });
  return {
    ...{ dataset: "a set", what: maybe(one(WHATS)), cross: maybe(triple()), time: maybe(number()) },
    ...{
      method: one(["Lag4", "M2Q8", "nearest"]),
      show: one(["four", "3d", "compare", "slice:x", "slice:z"] as const),
    },
    surface: { what: one(WHATS.slice(0, 3)), value: maybe(number()) },
    colour: one(WHATS),
    ranges: new Map(WHATS.slice(0, Math.floor(random() * 4)).map((what) => [what, range()])),
    ...{ map: maybe("vik"), centre: maybe(triple()), window: maybe(Math.abs(number()) || 1), camera: triple() },
    ...{ flow: one(["streaks", "off"] as const), cards: random() < 0.5 ? [] : ["pdf", "spectrum"] },
    ...{ brush: maybe("Q > 2.5"), pins: random() < 0.5 ? [] : [triple(), triple()] },
    b: random() < 0.5 ? {} : { method: "Lag4", time: 0.25, what: "Q" },
    ...{ compare: one(["swipe", "side", "difference"] as const), stage: one(["dark", "light"] as const) },
  };
}

it("are read back as they were written, for 1000 random views", () => {
  for (let seed = 1; seed <= 1000; seed++) {
    const view = randomView(numbers(seed));
    expect(readLink(view.dataset, writeLink(view)), `seed ${seed}`).toEqual(view);
  }
});

it("leave to the page what they cannot say", () => {
  const read = readLink("a", "view.show=nothing&x=1&y=2&view.range=Q:5:1&view.camera=1,2&view.window=-3&time=soon");
  expect(read).toEqual({ ...EMPTY, dataset: "a" });
});
