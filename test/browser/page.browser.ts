/** The page on the real service: linked views, numbers of their own question, links, statistics. */
import { createHash } from "node:crypto";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { expectClean, findingsOf, openPage, reason, settled, useStage } from "./stage.js";

/** The number read out at the crosshair, as the service gave it. */
const readOut = async (page: Page) => Number((await page.textContent("[data-served]"))?.replace("−", "-"));

describe.skipIf(reason !== "")(`the page${reason}`, () => {
  const stage = useStage();
  const at = "x=2.6&y=3.6&z=3.125&time=1";

  async function served(dataset: string, what: string, members: Record<string, string>): Promise<number> {
    const query = new URLSearchParams({ what, ...members });
    const response = await fetch(`${stage.service.url}/api/datasets/${dataset}/values?${query}`);
    const { rows } = (await response.json()) as { rows: number[][] };
    return rows[0]?.[3] as number;
  }

  it("reads out the number of its own question, whichever was shown before", { timeout: 240_000 }, async () => {
    const url = `${stage.service.url}/view/isotropic32?what=norm(omega)&${at}&view.show=slice:z&view.flow=off`;
    const watched = await openPage(stage.browser, url);
    const { page } = watched;
    for (const what of ["norm(omega)", "Q", "omega.z", "A[0][2]", "lambda2", "u.x*u.y", "p"]) {
      await page.keyboard.press("Control+k");
      await page.fill(".finder input", what);
      await page.evaluate((text) => {
        const rows = [...document.querySelectorAll<HTMLElement>(".finder li")];
        const own = rows.find(
          (row) => row.textContent?.includes("Show this expression") && row.textContent.includes(text),
        );
        own?.click();
      }, what);
      await settled(page);
      const right = await served("isotropic32", what, { points: "2.6,3.6,3.125", time: "1", method: "Lag8" });
      const value = await readOut(page);
      expect
        .soft(Math.abs(value - right), `${what}: ${value}, not ${right}`)
        .toBeLessThan(6e-4 * Math.abs(right) + 1e-6);
    }
    expectClean(watched);
    await page.context().close();
  });

  it("asks nothing while the crosshair is dragged over what is loaded", { timeout: 240_000 }, async () => {
    const url = `${stage.service.url}/view/isotropic32?what=p&${at}&view.show=slice:z&view.flow=off`;
    const watched = await openPage(stage.browser, url);
    const { page, requests } = watched;
    const before = requests.length;
    await page.mouse.move(300, 300);
    await page.mouse.down();
    for (let i = 0; i < 40; i++) await page.mouse.move(300 + 4 * i, 300 + 3 * i);
    expect(requests.slice(before)).toEqual([]);
    await page.mouse.up();
    await settled(page);
    expect(requests.length).toBeGreaterThan(before);
    expectClean(watched);
    await page.context().close();
  });

  it("draws planes that agree on their common line", { timeout: 240_000 }, async () => {
    const url = `${stage.service.url}/view/isotropic32?what=norm(omega)&${at}&view.flow=off&view.show=four`;
    const watched = await openPage(stage.browser, url);
    const { page } = watched;
    const rows = await page.evaluate(() => {
      const canvas = document.querySelector<HTMLCanvasElement>(".stage > canvas") as HTMLCanvasElement;
      const copy = document.createElement("canvas");
      copy.width = canvas.width;
      copy.height = canvas.height;
      const c = copy.getContext("2d") as CanvasRenderingContext2D;
      c.drawImage(canvas, 0, 0);
      // The crosshair is in the middle of each pane; xy is above xz.
      const width = Math.floor(canvas.width / 2) - 4;
      return [0.25, 0.75].map((part) => [...c.getImageData(0, Math.round(canvas.height * part), width, 1).data]);
    });
    const [above, below] = rows as [number[], number[]];
    const off = above.map((one, i) => Math.abs(one - (below[i] as number)));
    // A hundredth of the range is some 2.5 of 255 in each channel; half a pixel across the line is as much again.
    expect(off.reduce((sum, one) => sum + one, 0) / off.length).toBeLessThan(2.55);
    expect(new Set(above).size).toBeGreaterThan(20);
    expectClean(watched);
    await page.context().close();
  });

  it("reopens a link to the same picture and number", { timeout: 240_000 }, async () => {
    const url = `${stage.service.url}/view/isotropic32?what=Q&${at}&view.flow=off&view.show=slice:x`;
    const first = await openPage(stage.browser, url);
    const link = first.page.url();
    const [number, picture] = [await readOut(first.page), await first.page.locator(".stage").screenshot()];
    const second = await openPage(stage.browser, link);
    expect(await readOut(second.page)).toBe(number);
    expect((await second.page.locator(".stage").screenshot()).equals(picture)).toBe(true);
    expect(second.page.url()).toBe(link);
    for (const { page } of [first, second]) await page.context().close();
  });

  it.each(["isotropic32", "walled", "walls", "planar", "perforated", "pressed", "ground", "magnetised"])(
    "shows %s without a fault",
    { timeout: 240_000 },
    async (name) => {
      const watched = await openPage(stage.browser, `${stage.service.url}/view/${name}?view.flow=off`);
      const { page } = watched;
      expect(await page.locator(".trouble[role=alert]").allTextContents()).toEqual([]);
      // The stencil of a point meets the hole beside the largest Q, and more than the one node across a plane.
      if (name !== "perforated" && name !== "planar") expect(await page.textContent("[data-served]")).not.toBe("none");
      expectClean(watched);
      await page.context().close();
    },
  );

  it("draws statistics, and breaks neither the policy nor the rules of accessibility", {
    timeout: 240_000,
  }, async () => {
    const url = `${stage.service.url}/view/isotropic32?what=norm(omega)&${at}&view.show=slice:z&view.flow=off`;
    const watched = await openPage(stage.browser, url);
    const { page } = watched;
    for (const tab of ["Look", "Point", "Statistics", "Particles"]) {
      await page.click(`#tab-${tab}`);
      await settled(page);
      if (tab === "Statistics") {
        for (const card of ["PDF", "Spectrum", "Structure functions", "Profile", "Q–R"]) {
          await page.click(`.chips button:text-is("${card}")`);
          await page.waitForSelector(".card svg");
          await settled(page);
        }
      }
      const found = await findingsOf(page);
      expect.soft(found, tab).toEqual([]);
    }
    expectClean(watched);
    await page.context().close();
  });

  it("has the digest of the style sheet of charts in its policy", async () => {
    const { page } = await openPage(
      stage.browser,
      `${stage.service.url}/view/isotropic32?${at}&view.show=slice:z&view.flow=off`,
    );
    await page.click("#tab-Statistics");
    const text = await page.locator(".card svg style").first().textContent();
    const digest = createHash("sha256")
      .update(text ?? "")
      .digest("base64");
    const answer = await fetch(`${stage.service.url}/view/isotropic32`);
    expect(answer.headers.get("content-security-policy")).toContain(`'sha256-${digest}'`);
    await page.context().close();
  });

  it("opens at / the dataset of a link of 1.0, and says that it reads no more of it", {
    timeout: 120_000,
  }, async () => {
    const watched = await openPage(stage.browser, `${stage.service.url}/?dataset=walled&field=ux&axis=x&probe=1,0,2`);
    const { page } = watched;
    expect(new URL(page.url()).pathname).toBe("/view/walled");
    expect(await page.textContent(".trouble")).toContain("Links of fieldprobe 1.0 are not read");
    await page.click(".trouble button");
    expect(await page.locator(".trouble").count()).toBe(0);
    expectClean(watched);
    await page.context().close();
  });

  it("fits a phone without scrolling sideways", { timeout: 120_000 }, async () => {
    const size = { width: 390, height: 844 };
    const watched = await openPage(stage.browser, `${stage.service.url}/view/isotropic32?${at}&view.flow=off`, {
      viewport: size,
    });
    const { page } = watched;
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    expectClean(watched);
    await page.context().close();
  });
});
