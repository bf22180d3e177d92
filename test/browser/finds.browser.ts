/** Finds of testers who compared the page with the service: what it shows, saves and says is of the same data. */
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { close, numberIn, openPage, pngIn, reason, rowIn, settled, useStage, valueAt } from "./stage.js";

describe.skipIf(reason !== "")(`finds${reason}`, () => {
  const stage = useStage();
  const open = (set: string, query: string, options = {}) =>
    openPage(stage.browser, `${stage.service.url}/view/${set}?x=1&y=2&z=3&time=1&view.flow=off&${query}`, options);
  const openExport = async (page: Page, part: string) => {
    await page.click(".bar .export");
    await page.click(`.sheet .chips button:text-is("${part}")`);
  };
  const savedBy = async (page: Page, button: string) => {
    const [file] = await Promise.all([page.waitForEvent("download"), page.click(`.sheet button:text-is("${button}")`)]);
    return readFileSync(await file.path());
  };
  const sceneOf = (glb: Buffer) => JSON.parse(glb.toString("utf8", 20, 20 + glb.readUInt32LE(12)));
  /** The value of a quantity at the first vertex of a mesh. */
  const onMesh = (set: string, what: string, time: number, glb: Buffer) => {
    const from = sceneOf(glb).nodes[0].translation as number[];
    const vertex = from.map((one, i) => one + glb.readFloatLE(28 + glb.readUInt32LE(12) + 4 * i));
    return valueAt(stage.service, set, { what, time: String(time), points: vertex.join() });
  };

  it("draws A − B of other nodes by samples of what both boxes have", async () => {
    const query = "what=p&view.show=compare&b.dataset=finer&view.compare=difference";
    const { page, requests } = await open("lopsided", query);
    const right = async (points: string) => {
      const both = ["lopsided", "finer"].map((set) => valueAt(stage.service, set, { what: "p", time: "1", points }));
      return (await Promise.all(both)).reduce((a, b) => a - b);
    };
    close(numberIn(await page.textContent("[data-difference]")), await right("1,2,3"));
    const grids = requests.filter((one) => one.includes("/grid?")).map((one) => one.replace(/datasets\/\w+/, ""));
    expect(new Set(grids).size).toBe(1);
    expect(new URL(grids[0] as string).searchParams.get("y")).toBe("1:4");
    await page.mouse.move(200, 400);
    await page.waitForSelector('.readout small:has-text("picture")');
    const [x, y, z] = ((await page.textContent(".readout small")) as string).match(/[\d.]+/g) as string[];
    const under = numberIn(((await page.textContent(".readout b")) as string).replace(/^.*≈ /, ""));
    expect(Math.abs(under - (await right(`${x},${y},${z}`)))).toBeLessThan(0.02);
  });

  it("dims figures outside of the brush, and saves the region that is opaque", async () => {
    const query = "what=u.x&view.brush=u.x+>=+0+%26%26+u.x+<=+1.2&view.range=u.x:0:1.5&view.map=cividis";
    const { page } = await open("walls", `${query}&view.surface=u.x@0.5&view.show=slice:z`);
    await openExport(page, "Figure");
    await page.waitForSelector(".preview svg image");
    expect(await page.textContent(".sheet section p")).toContain(", faint but for ux from 0 to 1.2.");
    await page.click('.sheet .chips button:text-is("Code")');
    expect(await page.textContent('.code pre[aria-label="Python"]')).toMatch(/plt\nanswer\.plot\(\)\nplt\.savefig/);
    await page.click('.sheet .chips button:text-is("Figure")');
    const picture = pngIn((await page.getAttribute(".preview image", "href")) as string);
    const column = [0.5, 0.2].map((part) => rowIn(picture, Math.round(part * picture.height), 300, 301));
    // 1.5 in the middle is the last colour of cividis, 35 % of it on white; 0.96 is a middle one.
    expect(column[0]).toEqual([254, 248, 190]);
    expect(Math.max(...(column[1] as number[]))).toBeLessThan(190);
    await page.click('.sheet header button[aria-label="Close"]');
    await page.waitForSelector(".sheet", { state: "detached" });
    await page.focus(".stage");
    await page.keyboard.press("2");
    await settled(page);
    await openExport(page, "Data");
    await page.waitForSelector('.sheet h3:has-text("Region of ux from 0 to 1.2, of ")');
    const glb = await savedBy(page, "GLB");
    expect(sceneOf(glb).asset.extras.region).toBe("u.x >= 0 && u.x <= 1.2");
    const on = await onMesh("walls", "u.x", 1, glb);
    expect(Math.min(Math.abs(on), Math.abs(on - 1.2))).toBeLessThan(0.02);
  });

  it("counts lost particles, has the table of the pane of a phone", async () => {
    const { page } = await open("perforated", "x=9&y=1&what=p&view.show=slice:z");
    await page.click("#tab-Particles");
    await page.click('.chips button:text-is("Release")');
    const lost = page.locator('.rows span:text-is("Lost where values are missing") + span');
    expect(numberIn(await lost.textContent())).toBeGreaterThan(9);
    const phone = await open("lopsided", "what=p&view.show=four", { viewport: { width: 390, height: 844 } });
    expect(await phone.page.locator("table.unseen").count()).toBe(0);
    await phone.page.click('.panes button:text-is("zy")');
    await phone.page.waitForSelector("table.unseen caption:has-text('zy plane, x = 1')", { state: "attached" });
  });

  it("saves the surface of the time it names, and captions with what they are of", async () => {
    const { page } = await open("isotropic32", "what=p&view.show=four&view.surface=p@0.1&view.colour=p");
    await page.route(/\/nodes\?.*frame/, (route) => setTimeout(() => void route.continue().catch(() => {}), 2000));
    await page.focus(".stage");
    await page.keyboard.press(".");
    await openExport(page, "Data");
    const glb = await savedBy(page, "GLB");
    const { time, surface } = sceneOf(glb).asset.extras;
    expect(time).toBeGreaterThan(1);
    expect(Math.abs((await onMesh("isotropic32", "p", time, glb)) - surface.value)).toBeLessThan(0.01);
    await page.unroute(/\/nodes\?.*frame/);
    await page.click('.sheet header button[aria-label="Close"]');
    const body = JSON.stringify({ code: "Bad", detail: "Refused." });
    await page.route(/\/grid\?.*&x=/, (route) => route.fulfill({ status: 422, contentType: "application/json", body }));
    await page.click('.panel .chips button:text-is("5 %")');
    await page.focus(".stage");
    await page.keyboard.press(".");
    await settled(page);
    await openExport(page, "Figure");
    await page.waitForSelector(".preview svg");
    const caption = await page.textContent(".sheet section p");
    expect(caption).toContain("Left out, since there is no picture: zy.");
    await page.evaluate(() => history.back());
    await settled(page);
    expect(await page.textContent(".sheet section p")).toBe(caption);
  });

  it("follows no link to data that were replaced, and forgets that with the dataset", async () => {
    const { page } = await open("isotropic32", "what=p&view.show=slice:z");
    await openExport(page, "Data");
    await page.route(/\/api\/datasets\/isotropic32$/, async (route) => {
      const answer = await (await route.fetch()).json();
      await route.fulfill({ json: { ...answer, digest: "0".repeat(64) } });
    });
    await page.click('.sheet a:text-is("CSV") >> nth=0');
    await page.waitForSelector('.trouble:has-text("isotropic32 was replaced by other data")');
    await page.keyboard.press("Escape");
    await page.click(".crumbs button >> nth=0");
    await page.fill(".finder input", "lopsided");
    await page.keyboard.press("Enter");
    await page.waitForURL(/view\/lopsided/);
    await settled(page);
    expect(await page.locator(".trouble[role=alert]").count()).toBe(0);
  });
});
