/** The panel of jobs shows one from the call to the saved file. */
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { startService } from "../../src/main.js";
import { loadConfig } from "../../src/shared/config.js";
import { scratchFolder } from "../support/scratch.js";
import { SHIPPED_DATA } from "../support/service.js";
import { findChromium } from "./find-chromium.js";
import { expectClean, launch, openPage } from "./stage.js";

const reason = findChromium() === undefined ? " (skipped: no Chromium; set FIELDPROBE_CHROMIUM)" : "";

describe.skipIf(reason !== "")(`jobs${reason}`, () => {
  const folder = scratchFolder();

  it("are listed with their progress, saved and deleted", async () => {
    const settings = { PORT: "0", WORKERS: "2", STATE: folder, DATA: SHIPPED_DATA, EVENTS: "off" };
    const service = await startService(loadConfig(settings, {}), pino({ level: "warn" }));
    const browser = await launch();
    try {
      const { url } = service;
      const query = "time=0.4&spatialInterpolation=Lag6&temporalInterpolation=None";
      const headers = { prefer: "respond-async", "content-type": "application/octet-stream" };
      const call = `${url}/api/datasets/isotropic32/GetVelocity?${query}`;
      const body = new Float32Array([1, 2, 3]);
      const { id } = (await (await fetch(call, { method: "POST", headers, body })).json()) as { id: string };
      const watched = await openPage(browser, `${url}/`);
      const { page } = watched;
      await page.click("#jobs summary");
      const row = page.locator(`[data-job="${id}"]`);
      await row.locator("button", { hasText: "Save npy" }).waitFor();
      const [file] = await Promise.all([
        page.waitForEvent("download"),
        row.locator("button", { hasText: "Save npy" }).click(),
      ]);
      expect(file.suggestedFilename()).toBe(`${id}.npy`);
      await row.locator("button", { hasText: "Delete" }).click();
      await row.waitFor({ state: "detached" });
      expect(await page.textContent("#jobs")).toContain("You have no jobs");
      expectClean(watched);
    } finally {
      await browser.close();
      await service.close();
    }
  });
});
