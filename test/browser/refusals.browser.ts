/** What the service refuses the page does not show, and what the page shows it names: time, quantity, method, dataset. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import {
  ask,
  close,
  expectClean,
  findingsOf,
  numberIn,
  openPage,
  pictureOf,
  reason,
  settled,
  shared,
  useStage,
  valueAt,
} from "./stage.js";

describe.skipIf(reason !== "")(`refusals${reason}`, () => {
  const stage = useStage();
  const at = "x=1&y=2&z=3&view.flow=off";
  const open = (query: string, set = "isotropic32") =>
    openPage(stage.browser, `${stage.service.url}/view/${set}?${at}&${query}`);

  const value = (members: Record<string, string>, set = "isotropic32") =>
    valueAt(stage.service, set, { points: "1,2,3", method: "Lag8", ...members });

  /** Colours in a part of the stage, from 0 to 1 of its width, away from the lines and texts over it. */
  async function colours(page: Page, from: number, to: number, of = ".stage > canvas"): Promise<number> {
    const picture = await pictureOf(page, of);
    const [left, right] = [from, to].map((part) => Math.round(part * picture.width)) as [number, number];
    const found = new Set<number>();
    for (let row = 40; row < picture.height - 40; row++)
      for (let x = left; x < right; x++) found.add(picture.data.readUInt32LE(4 * (row * picture.width + x)));
    return found.size;
  }
  const selected = (page: Page, label: string) =>
    page.$eval(`select[aria-label="${label}"]`, (element) => (element as HTMLSelectElement).value);

  it("shows no flow map whose interval ends beyond the stored times, nor the last one that was shown", async () => {
    const watched = await open("what=ftle(0.4)&time=1.8&view.show=slice:z");
    const { page } = watched;
    expect(await colours(page, 0.1, 0.4)).toBeGreaterThan(50);
    const question = await shared(page, "FTLE +0.4 at the crosshair");
    expect(question).toMatchObject({ call: "flow_map", what: "ftle", x: 1, time: "1.8:2.2" });
    const { data } = await ask<{ data: { ftle: number } }>(stage.service, question);
    expect(await shared(page, "Plane xy")).toMatchObject({ call: "flow_map", z: 3, time: "1.8:2.2" });
    close(numberIn(await page.textContent("[data-served]")), data.ftle);
    await page.click("#tab-Point");
    close(numberIn(await page.textContent('.panel td:text-is("Lag8") + td')), data.ftle);
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
  });

  it("names the dataset of B, and draws no time that it lacks", async () => {
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
    await page.waitForSelector(".sheet", { state: "detached" });
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
      expect(await colours(page, 0.6, 0.9), how).toBeLessThan(5);
    }
  });

  it("shows in its lists what B is asked, and refuses what B lacks", async () => {
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
    const address = (query: string, set: string) =>
      `${stage.service.url}/view/${set}?${at}&time=1&view.show=compare&${query}`;
    await page.goto(address("what=u.x&b.dataset=nosuch", "isotropic32"));
    await settled(page);
    close(numberIn(await page.textContent("[data-served]")), await value({ what: "u.x", time: "1" }));
    expect(await page.textContent(".trouble[role=alert]")).toMatch(/B: .*nosuch/);
    expect([(await colours(page, 0.1, 0.4)) > 50, (await colours(page, 0.6, 0.9)) < 5]).toEqual([true, true]);
    await page.goto(address("what=u.x&b.what=p", "lopsided"));
    await settled(page);
    // Each side has the bar of its own quantity, and metres a second less pascals are nothing.
    for (const from of [0.3, 0.8]) expect(await colours(page, from, from + 0.2, ".ink canvas")).toBeGreaterThan(120);
    await page.click('.chips button:text-is("A − B")');
    await settled(page);
    expect(await page.textContent(".title small")).toBe("A is in m/s, B in Pa: no difference");
    expect(await colours(page, 0.1, 0.9)).toBe(1);
    await page.click(".bar .export");
    await page.waitForSelector('.preview:has-text("no picture for a figure. A is in m/s, B in Pa: no difference")');
    expect(await page.locator(".sheet .primary:disabled").count()).toBe(3);
  });

  it("shows no answers of data that have replaced those that it describes", async () => {
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
  });

  it("takes no numbers from an answer that is not of the service", async () => {
    const watched = await open("what=u.x&time=0.6&view.show=slice:z");
    const { page } = watched;
    const body = "<html>".padEnd(4 * 4096);
    for (const [key, contentType] of [
      [".", "text/html"],
      [".", "application/octet-stream"],
    ] as const) {
      await page.route(/\/(?:grid|nodes)\?/, (route) => route.fulfill({ status: 200, contentType, body }));
      await page.focus(".stage");
      await page.keyboard.press(key);
      await page.waitForSelector('.trouble:has-text("in place of the service")');
      await settled(page);
      expect(await colours(page, 0.1, 0.4)).toBe(1);
      expect(await page.textContent(".readout b")).not.toContain("≈");
      await page.unroute(/\/(?:grid|nodes)\?/);
    }
    const retry = page.locator('.trouble button:text-is("Retry")');
    await retry.first().click();
    await settled(page);
    expect(await retry.count()).toBe(0);
    expect(await colours(page, 0.1, 0.4)).toBeGreaterThan(50);
  });

  it("names the stored time whose nodes it shows or saves between stored times", async () => {
    const { page, faults } = await open("what=u.x&time=0.69&view.show=four");
    await page.mouse.move(200, 200);
    await page.waitForSelector('.readout small:has-text("picture")');
    const [x, y, z] = ((await page.textContent(".readout small")) as string).match(/[\d.]+/g) as string[];
    const under = numberIn(((await page.textContent(".readout b")) as string).replace(/^.*≈ /, ""));
    const drawn = await value({ what: "u.x", time: "0.69", points: `${x},${y},${z}` });
    expect(Math.abs(under - drawn)).toBeLessThan(0.02);
    expect(await page.locator(".title small").last().textContent()).toContain("nodes of t = 0.6");
    const isWhole = await page.locator(".pane >> nth=-1").evaluate((pane) => {
      const note = (pane.querySelector("small") as Element).getBoundingClientRect();
      return note.right <= pane.getBoundingClientRect().right;
    });
    expect(isWhole).toBe(true);
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
    expectClean({ faults });
  });

  it("tells screen readers what the service says at each place, none where nodes are missing", async () => {
    const watched = await open("what=u.x&time=0.69&view.show=slice:z&method=Lag4", "perforated");
    const texts = await watched.page
      .locator("table.unseen tr")
      .evaluateAll((rows) =>
        rows.map((row) => [...row.children].map((cell) => (cell.textContent as string).replace("−", "-"))),
      );
    const [[, ...xs] = [], ...rows] = texts;
    const points = rows.flatMap(([y]) => xs.map((x) => `${x},${y},3`)).join(";");
    const query = new URLSearchParams({ points, what: "u.x", time: "0.69", method: "Lag4" });
    const answer = await fetch(`${stage.service.url}/api/datasets/perforated/values?${query}`);
    const right = ((await answer.json()) as { rows: (number | null)[][] }).rows.map((row) => row[3] as number | null);
    const cells = rows.flatMap(([, ...numbers]) => numbers);
    expect(cells.map((cell) => cell === "none")).toEqual(right.map((one) => one === null));
    expect(new Set(right.map((one) => one === null)).size).toBe(2);
    // Places are written with four digits, and small numbers with a power of ten.
    for (const [i, one] of right.entries())
      if (Math.abs(one ?? 0) > 1e-3) expect(Number(cells[i])).toBeCloseTo(one as number, 2);
  });
});
