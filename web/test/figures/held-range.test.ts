/** The automatic range of colours is the same from a link as in the view that the link was made of. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { boxFacts } from "../../../test/support/box-facts.js";
import { HeldRanges } from "../../figures/held-range.js";
import { ApiClient } from "../../state/api.js";
import type { DatasetFacts } from "../../state/facts.js";
import { initialState, parseState, type ViewState } from "../../state/view-state.js";
import { ViewStore } from "../../state/view-store.js";

const FACTS = boxFacts({
  fields: [{ name: "velocity", components: 3 }],
  operations: [{ name: "GetVelocity", available: true, spatialInterpolation: ["Lag4", "Lag6"], components: [] }],
});
/** The extremes that the service has of each plane of nodes. */
const LOWS = [-4, -3, -2, -1];
const HIGHS = [1, 2, 3, 4];

beforeEach(() => {
  vi.stubGlobal("document", { baseURI: "http://127.0.0.1/page/" });
  vi.stubGlobal("location", { href: "http://127.0.0.1/page/" });
  vi.stubGlobal("history", { replaceState: () => {}, pushState: () => {} });
});
afterEach(() => vi.unstubAllGlobals());

/** A page on a view, with the bodies that it asked for. */
function open(search: string, facts: DatasetFacts = FACTS, hasFamilies = true) {
  const asked: Record<string, unknown>[] = [];
  const api = Object.assign(new ApiClient(), {
    statistics: async (_name: string, bodies: readonly Record<string, unknown>[]) => {
      asked.push(...bodies);
      if (!hasFamilies && bodies.some(({ over }) => over !== undefined)) throw new Error("too late");
      return bodies.map(({ region, over }) => {
        if (over !== undefined) return { results: [{ min: LOWS, max: HIGHS, coordinates: { z: [0, 1, 2, 3] } }] };
        const { origin, extent } = region as { origin: number[]; extent: number[] };
        const from = origin[2] as number;
        const inside = [0, 1, 2, 3].filter((z) => z >= from && z <= from + (extent[2] as number));
        return {
          results: [
            {
              min: Math.min(...inside.map((z) => LOWS[z] as number)),
              max: Math.max(...inside.map((z) => HIGHS[z] as number)),
            },
          ],
        };
      });
    },
  });
  const store = new ViewStore(api, parseState(search, facts).state, facts);
  const held = new HeldRanges(
    store,
    () => [store.state],
    () => {},
  );
  // The page is rendered before its first picture comes.
  held.refresh();
  held.over([]);
  /** Shows a picture with some values. */
  const show = async (change: Partial<ViewState>, ...values: number[]) => {
    if (Object.keys(change).length > 0) store.set(change);
    held.refresh();
    await vi.waitFor(() => expect(held.isRunning).toBe(false));
    const slice = { values: Float32Array.from(values), low: Math.min(...values), high: Math.max(...values) };
    const { low, high, least } = held.over([{ state: store.state, slice }]);
    return { range: [low, high, least], rule: held.rule };
  };
  return { store, show, asked };
}

const link = ({ store }: ReturnType<typeof open>) => new URL(store.link).search;

it("takes the nodes of the whole plane at all times, whatever was seen before", async () => {
  const page = open("?dataset=box&field=ux&at=1.5");
  await page.show({}, -9, 0.5);
  await page.show({ time: 1 }, -0.1, 0.1);
  const zoomed = await page.show({ window: [0, 1, 0, 1] }, -0.2, 0.3);
  expect(zoomed).toEqual({ range: [-3, 3, 0], rule: "of all times" });
  expect(page.asked).toHaveLength(1);
  expect(link(page)).not.toContain("seen");
  expect(await open(link(page)).show({}, -0.2, 0.3)).toEqual(zoomed);
});

it("takes all planes while the 3-D view is open, in which planes move", async () => {
  const page = open("?dataset=box&field=ux&scene=true");
  const first = await page.show({ at: 1 }, -0.1, 0.1);
  expect(first).toEqual({ range: [-4, 4, 0], rule: "of all times and planes" });
  expect(await page.show({ at: 3 }, -0.3, 0.2)).toEqual(first);
  expect(page.asked.map(({ over }) => over)).toEqual([["x", "y", "t"]]);
  expect(await open(link(page)).show({}, -0.3, 0.2)).toEqual(first);
});

it("asks for planes one by one once all of them together were refused", async () => {
  const page = open("?dataset=box&field=ux&at=0.5", FACTS, false);
  await page.show({}, -0.1, 0.1);
  for (const at of [1.5, 2.5])
    expect(await page.show({ at }, -0.1, 0.1)).toEqual({
      range: [LOWS[Math.floor(at)], HIGHS[Math.ceil(at)], 0],
      rule: "of all times",
    });
  expect(page.asked.map(({ over }) => over !== undefined)).toEqual([false, true, false, false]);
});

it("has links carry what was seen of a comparison, and of large data", async () => {
  const large = { ...FACTS, axes: FACTS.axes.map((one) => ({ ...one, nodes: 4000 })) as never };
  for (const [search, facts] of [
    ["?dataset=box&field=ux&compare=time&otherTime=1", FACTS],
    ["?dataset=box&field=ux", large],
  ] as const) {
    const page = open(search, facts);
    await page.show({}, -2.5, 1.25);
    const last = await page.show({ time: 2, window: [0, 1, 0, 1] }, -0.5, 1.5);
    expect(last).toEqual({ range: [-2.5, 1.5, 0], rule: "of all times seen" });
    expect(link(page)).toContain("seen=-2.5,1.5,0");
    const other = open(link(page), facts);
    expect(await other.show({}, -0.5, 1.5)).toEqual(last);
    expect(link(other)).toBe(link(page));
    expect(page.asked).toEqual([]);
    // Another quantity begins anew.
    expect((await other.show({ field: "uy" }, -0.5, 0.5)).range).toEqual([-0.5, 0.5, 0]);
    expect(link(other)).toContain("seen=-0.5,0.5,0");
    expect(link(other)).not.toContain("-2.5");
  }
});

it("has links carry where a logarithm of nodes ends, and nothing beside a fixed range or that of the picture", async () => {
  const page = open("?dataset=box&field=ux&at=1&shape=log");
  await page.show({}, 0.25, 2);
  const last = await page.show({ time: 1 }, 0.5, 1);
  expect(last).toEqual({ range: [-3, 2, 0.25], rule: "of all times" });
  expect(await open(link(page)).show({}, 0.5, 1)).toEqual(last);
  for (const own of [{ scaling: "picture" }, { scaling: "auto", range: [0, 1] }] as const) {
    await page.show(own, 0.5, 1);
    expect(link(page)).not.toContain("seen");
  }
});

it("takes the nodes of the plane of a dataset of one time", async () => {
  const still = { ...FACTS, times: { ...FACTS.times, count: 1, last: 0, stored: [0] } };
  expect(initialState(still).scaling).toBe("auto");
  const shown = await open("?dataset=box&field=ux&at=2&window=0,1,0,1", still).show({}, -0.1, 0.1);
  expect(shown).toEqual({ range: [-2, 3, 0], rule: "of the whole plane" });
});

it("waits for the range of the view it shows, not for that of a former one", async () => {
  const { store } = open("?dataset=box&field=ux");
  const never = new Promise<never>(() => {});
  Object.assign(store.api, { statistics: () => never });
  const held = new HeldRanges(
    store,
    () => [store.state],
    () => {},
  );
  const waits = (change: Partial<ViewState>) => {
    store.set(change);
    held.refresh();
    return held.isRunning;
  };
  expect(waits({})).toBe(true);
  expect(waits({ scaling: "picture" })).toBe(false);
  expect(waits({ scaling: "auto" })).toBe(true);
  expect(waits({ range: [0, 1] })).toBe(false);
  // A comparison has no extremes of nodes to wait for.
  expect(waits({ range: null, compare: "time", otherTime: 1 })).toBe(false);
  expect(waits({ compare: "none" })).toBe(true);
});
