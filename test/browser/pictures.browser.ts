/** Pictures of the stage: colours under streaks, and two questions beside each other. */
import { interpolateCividis, interpolateInferno } from "d3-scale-chromatic";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { PLACED } from "./datasets.js";
import { expectClean, openPage, pictureOf, reason, rowIn, settled, useStage } from "./stage.js";

/** Mean colours of squares of 16 by 16 pixels of the stage, in rows, and the mean difference of neighbours. */
const squaresOf = (page: Page) =>
  page.evaluate(() => {
    const stage = document.querySelector(".stage > canvas") as HTMLCanvasElement;
    const [columns, rows] = [stage.width >> 4, stage.height >> 4];
    const c = new OffscreenCanvas(stage.width, stage.height).getContext("2d") as OffscreenCanvasRenderingContext2D;
    c.drawImage(stage, 0, 0);
    let roughness = 0;
    const means = Array.from({ length: columns * rows }, (_, square) => {
      const { data } = c.getImageData(16 * (square % columns), 16 * Math.floor(square / columns), 16, 16);
      const reds = [...data].filter((_, i) => i % 4 === 0);
      reds.reduce((before, red) => {
        roughness += Math.abs(red - before) / data.length;
        return red;
      });
      return [0, 1, 2].map((c) => data.reduce((sum, byte, i) => (i % 4 === c ? sum + byte / 256 : sum), 0));
    });
    return { columns, rows, means, roughness: roughness / means.length };
  });

describe.skipIf(reason !== "")(`pictures${reason}`, () => {
  const stage = useStage();

  async function shown(dataset: string, members: Readonly<Record<string, string>>, motion?: "no-preference") {
    const query = new URLSearchParams({ x: "2.6", y: "3.6", z: "3.125", "view.show": "slice:z", "view.flow": "off" });
    for (const [name, value] of Object.entries(members)) query.set(name, value);
    for (const what of ["u.x", "u.y"]) query.append("view.range", `${what}:-2:2`);
    const { page, faults } = await openPage(stage.browser, `${stage.service.url}/view/${dataset}?${query}`, {
      reducedMotion: motion ?? "reduce",
    });
    // Streaks grow stronger for some pictures.
    if (motion !== undefined)
      await page.evaluate(async () => {
        for (let i = 0; i < 100; i++) await new Promise(requestAnimationFrame);
      });
    const numbers = await page.locator("[data-served], [data-second]").allTextContents();
    const found = { ...(await squaresOf(page)), numbers };
    expectClean({ faults });
    return found;
  }

  it.each([
    { map: "inferno", colour: interpolateInferno },
    { map: "cividis", colour: interpolateCividis },
  ])(
    "keep under streaks the mean of every 16 by 16 pixels within a fiftieth of the range: $map",
    async ({ map, colour }) => {
      const members = { what: "norm(u)", time: "1", "view.range": "norm(u):0:3", "view.map": map };
      const plain = await shown("isotropic32", members);
      const streaked = await shown("isotropic32", { ...members, "view.flow": "streaks" }, "no-preference");
      const bar = Array.from({ length: 501 }, (_, i) => {
        const text = colour(i / 500);
        return text.startsWith("#")
          ? [1, 3, 5].map((from) => Number.parseInt(text.slice(from, from + 2), 16))
          : (text.match(/\d+/g) ?? []).map(Number);
      });
      /** The place on the bar of the nearest colour, from 0 to 1. */
      const placeOf = (mean: readonly number[]) => {
        const far = bar.map((one) => one.reduce((sum, value, c) => sum + (value - (mean[c] as number)) ** 2, 0));
        return far.indexOf(Math.min(...far)) / 500;
      };
      const off = streaked.means.map((mean, i) => Math.abs(placeOf(mean) - placeOf(plain.means[i] as number[])));
      expect(off.length).toBeGreaterThan(1000);
      expect(Math.max(...off)).toBeLessThan(0.02);
      expect(streaked.roughness).toBeGreaterThan(1.4 * plain.roughness);
    },
  );

  it("move streaks with little of the time of the page's thread", async () => {
    const link = `${stage.service.url}/view/isotropic32?x=2.6&y=3.6&z=3.125&time=1&view.show=slice:z`;
    const { page } = await openPage(stage.browser, link, { reducedMotion: "no-preference" });
    const client = await page.context().newCDPSession(page);
    await client.send("Performance.enable", { timeDomain: "threadTicks" });
    const spent = async () =>
      (await client.send("Performance.getMetrics")).metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0;
    const [before, first] = [await spent(), await squaresOf(page)];
    await page.evaluate(async () => {
      for (let i = 0; i < 60; i++) await new Promise(requestAnimationFrame);
    });
    // Streaks that the thread itself drew took 0.3 s a picture.
    expect((await spent()) - before).toBeLessThan(60 * 0.05);
    expect((await squaresOf(page)).means).not.toEqual(first.means);
  });

  it("close surfaces at the sides of the box", async () => {
    const query =
      "view.show=3d&view.camera=0,0,3.5&view.surface=u.x@0.9&view.colour=u.x&view.range=u.x:0:1.5&view.flow=off";
    const { page } = await openPage(stage.browser, `${stage.service.url}/view/walls?x=1&y=0.9&z=1&${query}`);
    const picture = await pictureOf(page, ".stage > canvas");
    const at = (picture.width >> 1) + 40;
    const column = Array.from({ length: picture.height }, (_, row) => rowIn(picture, row, at, at + 1));
    const isSurface = column.map((colour) => Math.max(...colour) - Math.min(...colour) > 40);
    const [from, to] = [isSurface.indexOf(true), isSurface.lastIndexOf(true)];
    // 1.5 (1 - y^2) is above 0.9 in a slab, which the front of the box cuts: its face has no hole.
    expect(to - from).toBeGreaterThan(50);
    expect(isSurface.slice(from, to + 1)).not.toContain(false);
  });

  it.each([
    ["far from zero, and of tiny boxes", "3d", Object.keys(PLACED), ["p@1"]],
    ["of values at the ends of float32", "four", ["near"], ["p/8@0.1", "p/8*1e38@1e37", "p/8*1e-40@1e-41"]],
  ] as const)("draw the same %s", async (_, show, names, surfaces) => {
    const drawn = names
      .flatMap((name) => surfaces.map((surface) => [name, surface] as const))
      .map(async ([name, surface]) => {
        const [origin, spacing] = PLACED[name as keyof typeof PLACED];
        const at = ["x", "y", "z"].map((axis) => `${axis}=${origin + 4 * spacing}`).join("&");
        const what = surface.split("@")[0];
        const query = `${at}&view.show=${show}&what=${what}&view.surface=${surface}&view.colour=${what}&view.flow=off`;
        const { page } = await openPage(stage.browser, `${stage.service.url}/view/${name}?${query}`);
        return pictureOf(page, ".stage > canvas");
      });
    const [near, ...others] = (await Promise.all(drawn)).map(({ data }) => data) as [Buffer, ...Buffer[]];
    expect(new Set(near).size).toBeGreaterThan(100);
    for (const data of others)
      expect(near.filter((one, i) => Math.abs(one - (data[i] as number)) > 8).length).toBeLessThan(0.002 * near.length);
  });

  it("outline no area in which a mask has the value that is brushed", async () => {
    const plain = await shown("isotropic32", { what: "u.x" });
    const brushed = await shown("isotropic32", { what: "u.x", "view.brush": "((x > 3) ? 1 : 0) >= 1" });
    const same = brushed.means.filter((mean, at) => mean.join() === plain.means[at]?.join());
    expect(same.length / plain.means.length).toBeGreaterThan(0.4);
  });

  it.each([
    [".", ",", "z"],
    [".", "."],
  ])("draw after keys what a fresh page draws: %s %s", async (...keys) => {
    const link = `${stage.service.url}/view/isotropic32?x=1&y=2&z=3&time=1&view.flow=off&what=p&view.surface=Q@3`;
    const { page } = await openPage(stage.browser, link);
    await page.focus(".stage");
    for (const key of keys) await page.keyboard.press(key, { delay: 60 });
    await settled(page);
    const after = await pictureOf(page);
    const fresh = await openPage(stage.browser, page.url());
    const { data } = await pictureOf(fresh.page);
    const off = after.data.filter((one, i) => Math.abs(one - (data[i] as number)) > 8).length;
    expect(off / data.length).toBeLessThan(0.01);
  });

  it.each([
    ["quantity", "isotropic32", { what: "u.y" }],
    ["time", "isotropic32", { time: "1.6" }],
    ["method", "isotropic32", { method: "nearest" }],
    ["dataset", "lopsided", { dataset: "perforated" }],
  ] as const)(
    "show on each side of the line its own question: another %s",
    async (_, dataset, b: Readonly<Record<string, string>>) => {
      const a = { what: "u.x", time: "1", method: "Lag4", "view.map": "vik", "view.brush": "u.x >= 0.3 && u.x <= 5" };
      const { dataset: other = dataset, ...differs } = b;
      const [first, second] = [await shown(dataset, a), await shown(other, { ...a, ...differs })];
      expect(second).not.toEqual(first);
      const compared = Object.fromEntries(Object.entries(b).map(([name, value]) => [`b.${name}`, value]));
      const swiped = await shown(dataset, { ...a, ...compared, "view.show": "compare" });
      expect(swiped.numbers).toEqual([...first.numbers, ...second.numbers]);
      for (const [at, mean] of swiped.means.entries()) {
        const column = at % swiped.columns;
        if (Math.abs(column - swiped.columns / 2) < 2) continue;
        expect(mean).toEqual((column < swiped.columns / 2 ? first : second).means[at]);
      }
    },
  );
});
