/** What the service refuses the page does not show, and what the page shows it names: time, quantity, method, dataset. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { close, expectClean, findingsOf, numberIn, openPage, reason, settled, shared, useStage } from "./stage.js";

describe.skipIf(reason !== "")(`refusals${reason}`, () => {
  const stage = useStage();
  const at = "x=1&y=2&z=3&view.flow=off";
  const open = (query: string, set = "isotropic32") =>
    openPage(stage.browser, `${stage.service.url}/view/${set}?${at}&${query}`);

  async function value(members: Record<string, string>, set = "isotropic32"): Promise<number> {
    const query = new URLSearchParams({ points: "1,2,3", method: "Lag8", ...members });
    const answer = await fetch(`${stage.service.url}/api/datasets/${set}/values?${query}`);
    return ((await answer.json()) as { rows: number[][] }).rows[0]?.[3] as number;
  }

  /** Colours in a part of the stage, from 0 to 1 of its width, away from the lines and texts over it. */
  const colours = (page: Page, from: number, to: number) =>
    page.evaluate(
      ([left, right]) => {
        const canvas = document.querySelector<HTMLCanvasElement>(".stage > canvas") as HTMLCanvasElement;
        const copy = document.createElement("canvas");
        [copy.width, copy.height] = [canvas.width, canvas.height];
        const c = copy.getContext("2d") as CanvasRenderingContext2D;
        c.drawImage(canvas, 0, 0);
        const [x, width] = [Math.round(left * copy.width), Math.round((right - left) * copy.width)];
        return new Set(new Uint32Array(c.getImageData(x, 40, width, copy.height - 80).data.buffer)).size;
      },
      [from, to] as const,
    );
  const selected = (page: Page, label: string) =>
    page.$eval(`select[aria-label="${label}"]`, (element) => (element as HTMLSelectElement).value);

  it("shows no flow map whose interval ends beyond the stored times, nor the last one that was shown", {
    timeout: 120_000,
  }, async () => {
    const watched = await open("what=ftle(0.4)&time=1.8&view.show=slice:z");
    const { page } = watched;
    expect(await colours(page, 0.1, 0.4)).toBeGreaterThan(50);
    const question = await shared(page, "FTLE +0.4 at the crosshair");
    expect(question).toMatchObject({ call: "flow_map", what: "ftle", x: 1, time: "1.8:2.2" });
    const init = { method: "POST", body: JSON.stringify(question), headers: { "content-type": "application/json" } };
    const { data } = (await (await fetch(`${stage.service.url}/api/ask`, init)).json()) as { data: { ftle: number } };
    expect(await shared(page, "Plane xy")).toMatchObject({ call: "flow_map", z: 3, time: "1.8:2.2" });
    close(numberIn(await page.textContent("[data-served]")), data.ftle);
    await page.focus(".stage");
    await page.keyboard.press(".");
    await page.waitForSelector(".trouble[role=alert]");
    await settled(page);
    expect(await colours(page, 0.1, 0.4)).toBe(1);
    expect(await page.locator("[data-served]").count()).toBe(0);
    expect(await page.textContent(".readout b")).toMatch(/^FTLE \+0\.4 refused/);
    expect(await findingsOf(page)).toEqual([]);
    await page.keyboard.press(",");
    await settled(page);
    close(numberIn(await page.textContent("[data-served]")), data.ftle);
    expect(await colours(page, 0.1, 0.4)).toBeGreaterThan(50);
    await page.context().close();
  });

  it("names the dataset of B, and draws no time that it lacks", { timeout: 180_000 }, async () => {
    const { page } = await open("what=u.x&time=1&view.show=compare&b.dataset=lopsided");
    close(numberIn(await page.textContent("[data-served]")), await value({ what: "u.x", time: "1" }));
    close(numberIn(await page.textContent("[data-second]")), await value({ what: "u.x", time: "1" }, "lopsided"));
    const small = await page.textContent(".readout small");
    expect(small).toContain("A: ux, Lag8, t 1, isotropic32 · B: ux, Lag8, t 1, lopsided");
    await page.click('.chips button:text-is("Side by side")');
    await settled(page);
    expect(await page.locator(".title small").allTextContents()).toEqual([
      ...["A: ux, Lag8, t 1, isotropic32", "B: ux, Lag8, t 1, lopsided"],
    ]);
    await page.click('.bar button:text-is("Export")');
    await page.waitForSelector(".preview svg");
    const caption = await page.textContent(".sheet section p");
    expect(caption).toContain("A (ux, Lag8, t 1, isotropic32) and B (ux, Lag8, t 1, lopsided)");
    await page.click('.sheet header button[aria-label="Close"]');
    // The last time of lopsided is 2.
    for (let i = 0; i < 6; i++) {
      await page.focus(".stage");
      await page.keyboard.press(".");
    }
    await settled(page);
    expect(await page.textContent(".readout small")).toContain("t 2.2,");
    expect(await page.textContent(".trouble[role=alert]")).toContain("B: ");
    expect(await page.textContent("[data-second]")).toBe("refused");
    expect(await colours(page, 0.05, 0.4)).toBeGreaterThan(50);
    expect(await colours(page, 0.55, 0.9)).toBe(1);
    for (const [how, isLeft] of [
      ["Swipe", true],
      ["A − B", false],
    ] as const) {
      await page.click(`.chips button:text-is("${how}")`);
      await settled(page);
      expect((await colours(page, 0.05, 0.4)) > 1, how).toBe(isLeft);
      // The seams of the box are drawn over the empty half.
      expect(await colours(page, 0.6, 0.9), how).toBeLessThan(5);
    }
    await page.context().close();
  });

  it("shows in its lists what B is asked, and refuses what B lacks", { timeout: 120_000 }, async () => {
    const watched = await open("what=u.x&time=0.65&view.show=compare&view.compare=difference&b.what=foo");
    const { page } = watched;
    expect(await page.textContent(".trouble[role=alert]")).toMatch(/B: .*foo/);
    expect(await colours(page, 0.1, 0.9)).toBe(1);
    expect([await selected(page, "Quantity of B"), await selected(page, "Time of B")]).toEqual(["foo", "0.65"]);
    await page.selectOption('select[aria-label="Quantity of B"]', "u.y");
    await settled(page);
    close(numberIn(await page.textContent("[data-second]")), await value({ what: "u.y", time: "0.65" }));
    await page.selectOption('select[aria-label="Time of B"]', "0.8");
    await settled(page);
    close(numberIn(await page.textContent("[data-second]")), await value({ what: "u.y", time: "0.8" }));
    await page.goBack();
    await page.goBack();
    await settled(page);
    expect(await selected(page, "Quantity of B")).toBe("foo");
    await page.context().close();
  });

  it("shows no answers of data that have replaced those that it describes", { timeout: 120_000 }, async () => {
    const watched = await open("what=u.x&time=0.6&view.show=slice:z");
    const { page } = watched;
    await page.route("**/api/**", async (route) => {
      const response = await route.fetch();
      const headers = { ...response.headers(), "fieldprobe-manifest": "0".repeat(64) };
      const body = (await response.text()).replace(/"manifest":"\w+"/, `"manifest":"${"0".repeat(64)}"`);
      await route.fulfill({
        response,
        headers,
        body: route.request().method() === "POST" ? body : await response.body(),
      });
    });
    await page.focus(".stage");
    await page.keyboard.press(".");
    await page.waitForSelector('.trouble:has-text("isotropic32 was replaced by other data. Reload the page")');
    await settled(page);
    expect(await page.textContent(".readout b")).toMatch(/^ux refused/);
    expect(await colours(page, 0.1, 0.4)).toBe(1);
    // What is shown of earlier answers is old, too.
    await page.keyboard.press(",");
    await settled(page);
    expect(await page.textContent(".trouble")).toContain("Reload the page");
    await page.context().close();
  });

  it("names the stored time whose nodes it shows or saves between stored times", { timeout: 120_000 }, async () => {
    const watched = await open("what=u.x&time=0.69&view.show=four");
    const { page } = watched;
    await page.mouse.move(200, 200);
    await page.waitForSelector('.readout small:has-text("nodes of t = 0.6")');
    expect(await page.locator(".title small").last().textContent()).toContain("nodes of t = 0.6");
    expect(await page.textContent("caption")).toContain("nodes of t = 0.6");
    await page.click('.bar button:text-is("Export")');
    await page.click('.sheet .chips button:text-is("Data")');
    await page.waitForSelector(".sheet h3");
    expect(await page.locator(".sheet h3").allTextContents()).toEqual([
      ...["Plane shown", "Box of nodes of t = 0.6", "All nodes of t = 0.6"],
      expect.stringMatching(/^Surface Q = .*, nodes of t = 0\.6$/),
    ]);
    await page.click('.sheet .chips button:text-is("Figure")');
    await page.waitForSelector(".preview svg");
    expect(await page.textContent(".sheet section p")).toMatch(/t = 0\.69.*surface of .*, nodes of t = 0\.6\b/i);
    expectClean(watched);
    await page.context().close();
  });
});
