/** The page on the real service: linked views, numbers of their own question, links, statistics. */
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { expectClean, findingsOf, openPage, pictureOf, reason, rowIn, settled, useStage, valueAt } from "./stage.js";

/** Quantities of the tests, with the names that the page writes. */
const SYMBOLS: Readonly<Record<string, string>> = {
  ...{ "norm(omega)": "|ω|", Q: "Q", "omega.z": "ωz", "A[0][2]": "∂ux/∂z" },
  ...{ lambda2: "λ₂", "u.x*u.y": "u.x*u.y", p: "p" },
};

const readOut = async (page: Page) => Number((await page.textContent("[data-served]"))?.replace("−", "-"));

describe.skipIf(reason !== "")(`the page${reason}`, () => {
  const stage = useStage();
  const at = "x=2.6&y=3.6&z=3.125&time=1";

  const served = (dataset: string, what: string, members: Record<string, string>) =>
    valueAt(stage.service, dataset, { what, ...members });

  /** Chooses a quantity by what Find makes of a typed expression, the last of its list, and leaves the pointer alone. */
  async function choose(page: Page, what: string): Promise<void> {
    await page.keyboard.press("Control+k");
    await page.fill(".finder input", what);
    await page.waitForFunction((text) => {
      const last = document.querySelector(".finder li:last-child")?.textContent ?? "";
      return last.includes("Show this expression") && last.includes(text);
    }, what);
    for (let i = 0; i < 6; i++) await page.keyboard.press("PageDown");
    await page.keyboard.press("Enter");
  }

  /** What the picture shows between nodes: linear in the eight around a place. */
  async function preview(what: string, place: readonly number[]): Promise<number> {
    const spacing = (2 * Math.PI) / 32;
    const [i = 0, j = 0, k = 0] = place.map((one) => Math.floor(one / spacing));
    const query = new URLSearchParams({ what, time: "1", i: `${i}:${i + 2}`, j: `${j}:${j + 2}`, k: `${k}:${k + 2}` });
    const response = await fetch(`${stage.service.url}/api/datasets/isotropic32/nodes?${query}&format=f32`);
    const corners = new Float32Array(await response.arrayBuffer());
    const parts = place.map((one) => one / spacing - Math.floor(one / spacing));
    return corners.reduce((sum, value, corner) => {
      const weights = parts.map((part, a) => ((corner >> a) & 1 ? part : 1 - part));
      return sum + weights.reduce((product, one) => product * one, value);
    }, 0);
  }

  it("reads out the number of its own question, whichever was shown before", async () => {
    const url = `${stage.service.url}/view/isotropic32?what=norm(omega)&${at}&view.show=slice:z&view.flow=off`;
    const { page, faults } = await openPage(stage.browser, url);
    for (const what of Object.keys(SYMBOLS)) {
      await choose(page, what);
      await settled(page);
      expect(await page.textContent(".readout b")).toContain(SYMBOLS[what]);
      const right = await served("isotropic32", what, { points: "2.6,3.6,3.125", time: "1", method: "Lag8" });
      const value = await readOut(page);
      expect
        .soft(Math.abs(value - right), `${what}: ${value}, not ${right}`)
        .toBeLessThan(6e-4 * Math.abs(right) + 1e-6);
    }
    expectClean({ faults });
  });

  it("writes beside no name a number of another, for all pairs, however late and in whatever order answers come", async () => {
    const names = Object.keys(SYMBOLS);
    const right = new Map<string, { readonly value: number; readonly shown: number }>();
    for (const what of names)
      right.set(SYMBOLS[what] as string, {
        value: await served("isotropic32", what, { points: "2.6,3.6,3.125", time: "1", method: "Lag8" }),
        shown: await preview(what, [2.6, 3.6, 3.125]),
      });
    const url = `${stage.service.url}/view/isotropic32?what=p&${at}&view.show=slice:z&view.flow=off`;
    const { page, faults } = await openPage(stage.browser, url);
    // A place under the pointer, too: there the picture's number stands beside the name.
    const cross = await page.locator(".stage").boundingBox();
    if (cross === null) throw new Error("there is no stage");
    await page.mouse.move(cross.x + cross.width / 2, cross.y + cross.height / 2);
    await page.evaluate(() => {
      const seen: string[] = [];
      Object.assign(globalThis, { seen });
      const read = () => {
        const text = document.querySelector(".readout b")?.textContent;
        if (text != null && seen.at(-1) !== text) seen.push(text);
      };
      new MutationObserver(read).observe(document.querySelector(".stage") as Element, {
        ...{ subtree: true, childList: true, characterData: true },
      });
    });
    const seed = Math.floor(Math.random() * 1e6);
    let state = seed;
    await page.route("**/api/**", async (route) => {
      state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
      const late = (state >> 8) % 400;
      await new Promise((passed) => setTimeout(passed, late));
      await route.continue().catch(() => {});
    });
    // Steps of 1 to 6 around a ring of seven go from each name to each other one; the last two rest at each.
    for (let step = 1; step < names.length; step++) {
      const isPointed = step % 2 === 1;
      await page.mouse.move(isPointed ? cross.x + cross.width / 2 : 2, isPointed ? cross.y + cross.height / 2 : 2);
      for (let i = 0; i <= names.length; i++) {
        await choose(page, names[(i * step) % names.length] as string);
        if (i % 3 === 0 || step > names.length - 3) await settled(page);
      }
    }
    await settled(page);
    const seen = await page.evaluate(() => (globalThis as unknown as { seen: string[] }).seen);
    const numbers = new Set<string>();
    for (const text of seen) {
      const [, symbol = "", isPreview, digits] = /^(.+?) (≈ )?(−?[\d.]+)$/.exec(text.trim()) ?? [];
      if (digits === undefined) continue;
      const { value = Number.NaN, shown = Number.NaN } = right.get(symbol) ?? {};
      // Three digits of the picture, or of nodes before it has arrived, and half a pixel to the crosshair.
      const far = isPreview === undefined ? 6e-4 * Math.abs(value) : 0.06 * Math.abs(value) + 0.03;
      const owns = isPreview === undefined ? [value] : [value, shown];
      const off = Math.min(...owns.map((own) => Math.abs(Number(digits.replace("−", "-")) - own)));
      expect.soft(off, `${text}, not ${owns} (seed ${seed})`).toBeLessThan(far + 1e-6);
      numbers.add(`${symbol} ${isPreview === undefined ? "served" : "preview"}`);
    }
    expect([...numbers].filter((one) => one.endsWith("served"))).toHaveLength(names.length);
    expect(numbers.size).toBeGreaterThan(names.length);
    expectClean({ faults });
  });

  it("asks nothing while the crosshair is dragged over what is loaded", async () => {
    const url = `${stage.service.url}/view/isotropic32?what=p&${at}&view.show=slice:z&view.flow=off`;
    const { page, requests, faults } = await openPage(stage.browser, url);
    const before = requests.length;
    await page.mouse.move(300, 300);
    await page.mouse.down();
    for (let i = 0; i < 40; i++) await page.mouse.move(300 + 4 * i, 300 + 3 * i);
    expect(requests.slice(before)).toEqual([]);
    await page.mouse.up();
    await settled(page);
    expect(requests.length).toBeGreaterThan(before);
    expectClean({ faults });
  });

  it("draws planes that agree on their common line", async () => {
    const url = `${stage.service.url}/view/isotropic32?what=norm(omega)&${at}&view.flow=off&view.show=four`;
    const { page, faults } = await openPage(stage.browser, url);
    const picture = await pictureOf(page, ".stage > canvas");
    // The crosshair is in the middle of each pane; xy is above xz.
    const row = (part: number) => rowIn(picture, Math.round(picture.height * part), 0, (picture.width >> 1) - 4);
    const [above, below] = [row(0.25), row(0.75)];
    const off = above.map((one, i) => Math.abs(one - (below[i] as number)));
    // A hundredth of the range is some 2.5 of 255 in each channel; half a pixel across the line is as much again.
    expect(off.reduce((sum, one) => sum + one, 0) / off.length).toBeLessThan(3.4);
    expect(new Set(above).size).toBeGreaterThan(20);
    expectClean({ faults });
  });

  it.each(["Q&view.show=slice:x", "norm(omega)&view.show=four"])(
    "reopens a link to the same picture and number: %s",
    async (shown) => {
      const first = await openPage(
        stage.browser,
        `${stage.service.url}/view/isotropic32?what=${shown}&${at}&view.flow=off`,
      );
      const link = first.page.url();
      const [number, picture] = [await readOut(first.page), await pictureOf(first.page)];
      const second = await openPage(stage.browser, link);
      expect(await readOut(second.page)).toBe(number);
      expect((await pictureOf(second.page)).data.equals(picture.data)).toBe(true);
      expect(second.page.url()).toBe(link);
      for (const watched of [first, second]) expectClean(watched);
    },
  );

  it.each(["isotropic32", "walled", "walls", "planar", "perforated", "pressed", "ground", "magnetised"])(
    "shows %s without a fault",
    async (name) => {
      const watched = await openPage(stage.browser, `${stage.service.url}/view/${name}?view.flow=off`);
      const { page } = watched;
      expect(await page.locator(".trouble[role=alert]").allTextContents()).toEqual([]);
      // The stencil of a point meets the hole beside the largest Q.
      if (name !== "perforated") expect(await page.textContent("[data-served]")).not.toBe("none");
      expectClean(watched);
    },
  );

  it("draws statistics, and breaks neither the policy nor the rules of accessibility", async () => {
    const url = `${stage.service.url}/view/isotropic32?what=norm(omega)&${at}&view.show=slice:z&view.flow=off`;
    const { page, faults } = await openPage(stage.browser, url);
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
    expectClean({ faults });
  });

  it("opens at / the dataset of a link of 1.0, and says that it reads no more of it", async () => {
    const { page, faults } = await openPage(
      stage.browser,
      `${stage.service.url}/?dataset=walled&field=ux&axis=x&probe=1,0,2`,
    );
    expect(new URL(page.url()).pathname).toBe("/view/walled");
    expect(await page.textContent(".trouble")).toContain("Links of fieldprobe 1.0 are not read");
    await page.goto(`${stage.service.url}/view/walled?what=p&derivatives=Fd6&y=0.5&z=3&time=77&method=Lag5`);
    await page
      .getByText(/of this link: derivatives\..* dataset: time 77, method Lag5\. In the middle of the box: x\./)
      .waitFor();
    await settled(page);
    expect(await page.textContent(".readout small")).toContain("x 12.57  y 0.5000  z 3.000");
    await page.click(".trouble button");
    await page.locator(".trouble").waitFor({ state: "detached" });
    expectClean({ faults });
  });

  it("asks for a token where the service wants one, and keeps it in memory only", async () => {
    const context = await stage.browser.newContext({ reducedMotion: "reduce" });
    const page = await context.newPage();
    const body = JSON.stringify({ code: "Unauthorized", detail: "A token is needed." });
    await page.route("**/api/**", (route) =>
      route.request().headers().authorization === "Bearer secret-token"
        ? route.continue()
        : route.fulfill({ status: 401, body, contentType: "application/problem+json" }),
    );
    await page.goto(`${stage.service.url}/view/isotropic32?view.flow=off&view.show=slice:z`);
    await page.fill("input[name=token]", "secret-token");
    await page.press("input[name=token]", "Enter");
    await page.waitForSelector("[data-served]");
    const kept = await page.evaluate(() => [
      location.href,
      document.cookie,
      JSON.stringify({ ...localStorage, ...sessionStorage }),
    ]);
    expect(kept.join(" ")).not.toContain("secret-token");
    await page.click('.bar button:text-is("Export")');
    await page.click('.sheet .chips button:text-is("Data")');
    const csv = page.click('.sheet a[download]:text-is("CSV")');
    const [download] = await Promise.all([page.waitForEvent("download"), csv]);
    expect(download.suggestedFilename()).toBe("isotropic32-grid.csv");
    expect(await readFile(await download.path(), "utf8")).toMatch(/^x,y,norm\(omega\)\r\n0,0,/);
    await page.reload();
    await page.waitForSelector("input[name=token]");
  });

  it("draws the same after its context was lost, and nearly the same by half floats", async () => {
    const url = `${stage.service.url}/view/isotropic32?what=p&${at}&view.flow=off&view.show=four`;
    const { page, faults } = await openPage(stage.browser, url);
    const before = await pictureOf(page);
    await page.evaluate(async () => {
      const canvas = document.querySelector<HTMLCanvasElement>(".stage > canvas") as HTMLCanvasElement;
      const extension = canvas.getContext("webgl2")?.getExtension("WEBGL_lose_context");
      const lost = new Promise((resolve) => canvas.addEventListener("webglcontextlost", resolve));
      extension?.loseContext();
      await lost;
      // The event has passed everyone before the context may be restored.
      await new Promise(requestAnimationFrame);
      const restored = new Promise((resolve) => canvas.addEventListener("webglcontextrestored", resolve));
      extension?.restoreContext();
      await restored;
    });
    await page.waitForSelector('.trouble:has-text("with half of the memory")');
    await settled(page);
    expect((await pictureOf(page)).data.equals(before.data)).toBe(true);
    const half = await openPage(stage.browser, `${url}&half`);
    const { data } = await pictureOf(half.page);
    const off = before.data.reduce((sum, one, i) => sum + Math.abs(one - (data[i] as number)), 0) / data.length;
    // Edges of the surface move by less than a pixel; colours by less than one of 255.
    expect(off).toBeLessThan(0.5);
    expect(off).toBeGreaterThan(0);
    expectClean({ faults });
    expectClean(half);
  });
});
