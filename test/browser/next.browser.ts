/** The page written anew, on the real service: linked views, numbers of their own question, links, statistics. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { findChromium } from "./find-chromium.js";
import { useStage } from "./stage.js";

const AXE = readFileSync(new URL("../../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const reason = findChromium() === undefined ? " (skipped: no Chromium; set FIELDPROBE_CHROMIUM)" : "";

interface Opened {
  readonly page: Page;
  readonly faults: string[];
  readonly requests: string[];
}

/** What the page offers to tests. */
interface Probe {
  settled(): Promise<void>;
  readonly pictures: number;
}
const settled = (page: Page) => page.evaluate(() => (globalThis as unknown as { stage: Probe }).stage.settled());

async function openNext(browser: Browser, url: string, size = { width: 1000, height: 720 }): Promise<Opened> {
  const context = await browser.newContext({ viewport: size, reducedMotion: "reduce" });
  const page = await context.newPage();
  const faults: string[] = [];
  const requests: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(message.text());
  });
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("request", (request) => requests.push(request.url()));
  await page.goto(url);
  await page.waitForFunction(() => "stage" in globalThis);
  await settled(page);
  return { page, faults, requests };
}

/** The number read out at the crosshair, as the service gave it. */
const readOut = async (page: Page) => Number((await page.textContent("[data-served]"))?.replace("−", "-"));

describe.skipIf(reason !== "")(`new page${reason}`, () => {
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
    const { page, faults } = await openNext(stage.browser, url);
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
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("asks nothing while the crosshair is dragged over what is loaded", { timeout: 240_000 }, async () => {
    const url = `${stage.service.url}/view/isotropic32?what=p&${at}&view.show=slice:z&view.flow=off`;
    const { page, faults, requests } = await openNext(stage.browser, url);
    const before = requests.length;
    await page.mouse.move(300, 300);
    await page.mouse.down();
    for (let i = 0; i < 40; i++) await page.mouse.move(300 + 4 * i, 300 + 3 * i);
    expect(requests.slice(before)).toEqual([]);
    await page.mouse.up();
    await settled(page);
    expect(requests.length).toBeGreaterThan(before);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("draws planes that agree on their common line", { timeout: 240_000 }, async () => {
    const url = `${stage.service.url}/view/isotropic32?what=norm(omega)&${at}&view.flow=off&view.show=four`;
    const { page, faults } = await openNext(stage.browser, url);
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
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("reopens a link to the same picture and number", { timeout: 240_000 }, async () => {
    const url = `${stage.service.url}/view/isotropic32?what=Q&${at}&view.flow=off&view.show=slice:x`;
    const first = await openNext(stage.browser, url);
    const link = first.page.url();
    const [number, picture] = [await readOut(first.page), await first.page.locator(".stage").screenshot()];
    const second = await openNext(stage.browser, link);
    expect(await readOut(second.page)).toBe(number);
    expect((await second.page.locator(".stage").screenshot()).equals(picture)).toBe(true);
    expect(second.page.url()).toBe(link);
    for (const { page } of [first, second]) await page.context().close();
  });

  it.each(["isotropic32", "walled", "walls", "planar", "perforated", "pressed", "ground", "magnetised"])(
    "shows %s without a fault",
    { timeout: 240_000 },
    async (name) => {
      const { page, faults } = await openNext(stage.browser, `${stage.service.url}/view/${name}?view.flow=off`);
      expect(await page.locator(".trouble[role=alert]").allTextContents()).toEqual([]);
      // The stencil of a point meets the hole beside the largest Q, and more than the one node across a plane.
      if (name !== "perforated" && name !== "planar") expect(await page.textContent("[data-served]")).not.toBe("none");
      expect(faults).toEqual([]);
      await page.context().close();
    },
  );

  it("draws statistics, and breaks neither the policy nor the rules of accessibility", {
    timeout: 240_000,
  }, async () => {
    const url = `${stage.service.url}/view/isotropic32?what=norm(omega)&${at}&view.show=slice:z&view.flow=off`;
    const { page, faults } = await openNext(stage.browser, url);
    await page.evaluate(AXE);
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
      const found = await page.evaluate(async () => {
        const { axe } = globalThis as unknown as {
          axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
        };
        const { violations } = await axe.run();
        return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
      });
      expect.soft(found, tab).toEqual([]);
    }
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("has the digest of the style sheet of charts in its policy", async () => {
    const { page } = await openNext(
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

  it("fits a phone without scrolling sideways", { timeout: 120_000 }, async () => {
    const size = { width: 390, height: 844 };
    const { page, faults } = await openNext(
      stage.browser,
      `${stage.service.url}/view/isotropic32?${at}&view.flow=off`,
      size,
    );
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    expect(faults).toEqual([]);
    await page.context().close();
  });
});
