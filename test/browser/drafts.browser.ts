/** Add data: a bare file is shown as it is taken for, answered, confirmed and opened. */
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningService } from "../../src/main.js";
import { fill, writeHdf5 } from "../support/cubes.js";
import { scratchFolder } from "../support/scratch.js";
import { serveTestData } from "../support/service.js";
import { expectClean, findingsOf, launch, openPage, reason, settled } from "./stage.js";

const N = 8;
const valueAt = (x: number, y: number, z: number, c: number) => c + x / N + y / N ** 2 + z / N ** 3;

describe.skipIf(reason !== "")(`adding data${reason}`, () => {
  const folder = scratchFolder();
  let service: RunningService;
  let browser: Browser;
  const write = (note: string) =>
    writeHdf5(join(folder, "bare.h5"), (file) => {
      const values = fill(["z", "y", "x", "c"], [N, N, N, 3], ({ x, y, z, c }) => valueAt(x, y, z, c));
      file.create_dataset({ name: "u", data: Float32Array.from(values), shape: [N, N, N, 3] });
      file.create_attribute("note", note);
    });
  beforeAll(async () => {
    await write("first");
    service = await serveTestData([], { DATA: folder, STATE: scratchFolder() });
    browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });

  it("shows what waits where nothing is served, takes answers, and opens the dataset once it is confirmed", async () => {
    const { page, faults } = await openPage(browser, `${service.url}/`);
    await page.waitForSelector('.stage :text("The service has no dataset yet.")');
    expect(await page.innerText(".crumbs button >> nth=0")).toBe("No dataset");
    expect(await page.innerText(".stage")).not.toContain("Loading");
    expect(await findingsOf(page)).toEqual([]);
    await page.click('.stage button:has-text("bare.h5: needs a look")');
    await page.waitForSelector('.sheet h3:has-text("bare.h5")');
    expect(await page.isDisabled('.sheet button:text-is("Confirm")')).toBe(true);
    expect(await findingsOf(page)).toEqual([]);
    // Whatever is asked is answered, each while the answers before are on their way, until nothing is open.
    const answers: Record<string, string> = {
      ...{ dims: "z,y,x,c", spacing: "0.25", length: "2", origin: "0,0,0", periodic: "xyz", walls: "none" },
    };
    const inputs = page.locator('.sheet section input[aria-label*=": "]');
    const given = new Set<string>();
    while ((await inputs.count()) > 0) {
      const labels = await inputs.evaluateAll((all) => all.map((one) => one.getAttribute("aria-label") ?? ""));
      const flag = labels.map((label) => label.split(":")[0] as string).find((name) => !given.has(name));
      if (flag === undefined) {
        await page.waitForFunction(() => document.querySelector(".sheet header [role=status]")?.textContent === "");
        continue;
      }
      given.add(flag);
      expect(Object.keys(answers)).toContain(flag);
      const field = page.locator(`.sheet input[aria-label^="${flag}: "]`).first();
      await field.pressSequentially(answers[flag] as string);
      await page.keyboard.press("Tab");
    }
    await page.waitForSelector(".sheet img.slice");
    expect(await page.innerText(".sheet")).toContain("dimensions z y x c, from your answer");
    expect(await page.innerText('pre[aria-label="Command"]')).toContain(
      `fieldprobe inspect ${folder}/bare.h5 --dims z,y,x,c `,
    );
    // What has changed since it was shown is shown anew.
    await write("second");
    await page.click('.sheet button:text-is("Confirm"):not([disabled])');
    await page.waitForSelector('.sheet [role=alert]:has-text("the attribute @note is")');
    await page.waitForSelector('.sheet details :text("second")', { state: "attached" });
    expect(faults.errors.splice(0)).toEqual([expect.stringContaining("409")]);
    await page.click('.sheet button:text-is("Confirm"):not([disabled])');
    await page.waitForFunction(() => location.pathname.endsWith("/view/bare"));
    await settled(page);
    const answer = await fetch(`${service.url}/api/datasets/bare/values?what=u.x&points=0.75,0.5,0.25&method=nearest`);
    const { rows } = (await answer.json()) as { rows: number[][] };
    expect(rows[0]?.at(-1)).toBeCloseTo(valueAt(3, 2, 1, 0), 6);
    expect(await page.isVisible(".empty")).toBe(false);
    expectClean({ faults });
    await page.context().close();
  });
});
