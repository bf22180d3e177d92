/** The picture has the window, and everything else is one key away. */
import { describe, expect, it } from "vitest";
import { findChromium } from "./find-chromium.js";
import { expectClean, openBare, settled, useStage } from "./stage.js";

const reason = findChromium() === undefined ? " (skipped: no Chromium; set FIELDPROBE_CHROMIUM)" : "";

describe.skipIf(reason !== "")(`the picture first${reason}`, () => {
  const stage = useStage();
  const open = (query: string, width: number, height: number) =>
    openBare(stage.browser, `${stage.service.url}/${query}`, { viewport: { width, height } });

  it.each([
    ["isotropic32", 1440, 900, 0.55],
    ["walled", 1440, 900, 0.3],
    ["perforated", 1440, 900, 0.55],
    ["isotropic32", 390, 844, 0.45],
  ] as const)("gives the frame of %s at %i by %i its part of the window", async (dataset, width, height, part) => {
    const watched = await open(`?dataset=${dataset}`, width, height);
    const box = await watched.page.locator(".plane-frame").boundingBox();
    if (box === null) throw new Error("no frame");
    expect((box.width * box.height) / (width * height)).toBeGreaterThanOrEqual(part);
    expect(box.y + box.height).toBeLessThanOrEqual(height);
    expectClean(watched);
    await watched.page.context().close();
  });

  it("folds the controls, finds them by name, lists the keys, plays and opens 3-D by keys", async () => {
    const watched = await open("?dataset=isotropic32&nodes=32", 1440, 900);
    const { page } = watched;
    const width = async () => (await page.locator(".plane-frame").boundingBox())?.width ?? 0;
    const before = await width();
    await page.keyboard.press("[");
    await expect.poll(() => page.locator("form.controls").isVisible()).toBe(false);
    await expect.poll(width).toBeGreaterThan(before + 200);
    for (const keys of ["/", "Control+k"]) {
      await page.keyboard.press(keys);
      await page.fill("#palette-text", "compare");
      await page.keyboard.press("Enter");
      await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("compare");
      expect(await page.locator("form.controls").isVisible()).toBe(true);
      await page.locator("h1").click();
    }
    await page.keyboard.press("/");
    await page.fill("#palette-text", "spectrum");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#panel-statistics");
    await page.click("#tab-statistics");
    await page.keyboard.press("?");
    await expect.poll(() => page.locator("#palette").textContent()).toContain("zoom to a box");
    await page.keyboard.press("Escape");
    await page.locator("h1").click();
    await page.keyboard.press(" ");
    await expect.poll(() => page.textContent("#time-play")).toContain("Pause");
    await page.keyboard.press(" ");
    await expect.poll(() => page.textContent("#time-play")).toContain("Play");
    await page.keyboard.press("3");
    await page.waitForSelector("#scene[data-planes]");
    await settled(page);
    expectClean(watched);
    await page.context().close();
  });

  it("shows the stored times as ticks of the time line, which sets the time", async () => {
    const watched = await open("?dataset=isotropic32&nodes=32", 1440, 900);
    const { page } = watched;
    const { times } = await (await fetch(`${stage.service.url}/api/datasets/isotropic32`)).json();
    expect(await page.locator(".timeline line").count()).toBe(times.stored.length);
    await page.focus("#timeline");
    await page.keyboard.press("End");
    await settled(page);
    expect(await page.textContent("#play-time")).toContain("t = ");
    expect(Number(new URL(page.url()).searchParams.get("time"))).toBeCloseTo(times.last, 5);
    expectClean(watched);
    await page.context().close();
  });
});
