/** Links of the new page hold the whole view. */
import { expect, it } from "vitest";
import type { Axis } from "../state/dataset.js";
import { EMPTY, membersIgnored, type Range, readLink, type View, writeLink } from "../state/link.js";

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
  const range = (): Range => {
    const scale = one(scales);
    const low = Math.abs(number() || 1);
    return { low: scale === "log" ? low : -low, high: 2 * low, scale };
  };
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
    ...{ flow: one(["streaks", "off"] as const) },
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

it.each(["1e999", "1.2.3", ".", "-"])("hold no %s as a number", (number) => {
  const read = readLink("a", `view.range=p:0:${number}&view.surface=p@${number}&view.brush=p>=${number}&x=${number}`);
  expect(read).toEqual({ ...EMPTY, dataset: "a", surface: { what: "p", value: null } });
});

it("leave to the page what they cannot say", () => {
  const read = readLink("a", "view.show=nothing&x=a&view.range=Q:5:1&view.camera=1,2&view.window=-3&time=soon");
  expect(read).toEqual({ ...EMPTY, dataset: "a" });
  expect(readLink("a", "x=&y=2&view.brush=Q > 1 %26%26 p < 2")).toEqual({
    ...{ ...EMPTY, dataset: "a", cross: [Number.NaN, 2, Number.NaN] },
  });
});

const axisOf = (name: Axis["name"], ends: Partial<Axis>): Axis => ({
  ...{ name, nodes: 4, first: 0, last: 3, length: 3, spacing: 1, periodic: false, ...ends },
});
const AXES = [axisOf("x", { periodic: true }), axisOf("y", {}), axisOf("z", { periodic: true })];
const ENDLESS = [AXES[0], axisOf("y", { first: -1e9, last: 1e9, spacing: 1e9 }), AXES[2]] as Axis[];

/** What is said of a link beside the view that is shown, which has what can be read of it, and the members of `page`. */
const said = (query: string, page: Partial<View> = {}, axes: readonly Axis[] = AXES) =>
  membersIgnored(query, { ...readLink("a", query), ...page }, axes);

it("say nothing of what they show, however it is written", () => {
  for (let seed = 1; seed <= 1000; seed++) {
    const view = randomView(numbers(seed));
    const { cross, ...page } = view;
    expect(
      membersIgnored(writeLink(view), { ...view, cross: cross && [9, cross[1], 9] }, ENDLESS),
      `seed ${seed}`,
    ).toBe("");
    expect(membersIgnored(writeLink({ ...page, cross: null }), view, []), `seed ${seed}`).toBe("");
  }
  const same =
    "time=1.50&x=7.0&y=2e0&z=1&method=LAG8&b.method=lag8&view.surface=Q@2.50&view.flow=streaks&what=Q&what=Q";
  expect(said(same, { cross: [1, 2, 1], what: "Q", method: "Lag8", b: { method: "Lag8" } })).toBe("");
});

const REPLACED = "Replaced, since unreadable, repeated or not in the dataset:";
it.each([
  ["y=2&z=3", { cross: [1, 2, 3] }, "In the middle of the box: x."],
  ["x=&y=2&z=3", { cross: [1, 2, 3] }, `${REPLACED} x (empty). In the middle of the box: x.`],
  ["x=NaN&y=2&z=1e400", { cross: [1, 2, 3] }, `${REPLACED} x NaN, z 1e400. In the middle of the box: x, z.`],
  ["x=0:2", { cross: [1, 2, 3] }, `${REPLACED} x 0:2.`],
  ["x=1&y=9&z=3", { cross: [1, 3, 3] }, "Outside of the box, so at its face: y 9."],
  ["x=1&y=3.0000002&z=3", { cross: [1, 3, 3] }, "Outside of the box, so at its face: y 3.0000002."],
  ["what=u.x&what=u.y&x=1&x=2&y=1&z=1", {}, `${REPLACED} what u.y, x 2.`],
  ["what=&view.map=jet&view.pins=1,2,3;4", {}, `${REPLACED} what (empty), view.map jet, view.pins 1,2,3;4.`],
  ["view.pins=0,1,99;99,9,99", {}, "Outside of the box, so at its face: pin 99,9,99."],
  ["b.time=5&b.method=None&b.what=", { b: {} }, `${REPLACED} b.time 5, b.method None, b.what (empty).`],
  [
    "view.brush=Q&view.range=Q:-1:1:log&view.surface=Q@NaN",
    {},
    `${REPLACED} view.brush Q, view.range Q:-1:1:log, view.surface Q@NaN.`,
  ],
  ...["range=p:0:1e999", "range=p:0:1:symlog:0", "surface=p@1e999", "surface=p@1.2.3", "brush=p>=1.2.3"].map(
    (member) => [`view.${member}`, {}, `${REPLACED} view.${member.replace("=", " ")}.`] as const,
  ),
  ...["1e300", "12.002", "1e-300"].map((window) => {
    const text = `Replaced, since views span a millionth of the box to 4 boxes: view.window ${window}.`;
    return [`view.window=${window}`, { window: null }, text] as const;
  }),
  ["view.window=2&view.window=1", { window: 2 }, `${REPLACED} view.window 1.`],
  ["view.cards=pdf&half", {}, "Not read of this link: view.cards, half. Numbers are without."],
] as const)("say what a page does not take of them: %s", (query, page, text) => {
  expect(said(query, page as Partial<View>)).toBe(text);
});

it("leave the place of an only node to the page without a word", () => {
  const flat = [AXES[0], AXES[1], axisOf("z", { nodes: 1, first: 0.5, last: 0.5, length: 1, periodic: true })];
  expect(said("x=1&y=2", { cross: [1, 2, 0.5] }, flat as Axis[])).toBe("");
  expect(said("x=1", { cross: [1, 1.5, 0.5] }, flat as Axis[])).toBe("In the middle of the box: y.");
});

it("take places of more digits than they write, and say where float32 is coarse", () => {
  const cross = [1, 0.37625159, 3] as const;
  const rounded = { centre: [1.12345679, 2, 3] as const, window: 1.23456789, camera: [38.1234568, 22, 3.5] as const };
  const more =
    "view.centre=1.123456789012,2,3&view.window=1.2345678901234&view.camera=38.12345678901,22,3.5&x=1&z=3&y=";
  expect(said(`${more}0.3762515894150309`, { cross, ...rounded })).toBe("");
  expect(said(`${more}0.3762517`, { cross, ...rounded })).toBe(`${REPLACED} y 0.3762517.`);
  // An end of a box, and the same in float32.
  expect(said("x=1&z=3&y=3.0000001", { cross: [1, 3, 3] })).toBe("");
  const far = [AXES[0], axisOf("y", { first: -70_000, last: -69_998.1, length: 1.9, spacing: 0.25 }), AXES[2]];
  const text = "Rounded to float32, as the service takes places: y -69998.1.";
  expect(said("x=1&z=3&y=-69998.1", { cross: [1, -69_998.1015625, 3] }, far as Axis[])).toBe(text);
  expect(said("x=1&z=3&y=-69998.5", { cross: [1, -69_998.5, 3] }, far as Axis[])).toBe("");
});
