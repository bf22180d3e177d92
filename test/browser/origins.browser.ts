/** Pages of other origins in a real browser: refused by default, served and readable where they are allowed. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { RunningService } from "../../src/main.js";
import { serveTestData } from "../support/service.js";
import { writeDatasets } from "./datasets.js";
import { launch } from "./stage.js";

let home: RunningService;
let closed: RunningService;
let open: RunningService;
let browser: Browser;

beforeAll(async () => {
  const folders = await writeDatasets();
  home = await serveTestData(folders);
  closed = await serveTestData(folders);
  open = await serveTestData(folders, { CORS_ORIGINS: home.url });
  browser = await launch(false);
});
afterAll(async () => {
  await browser?.close();
  for (const service of [home, closed, open]) await service?.close();
});

/** The part of an answer to a POST that a page of `home` gets to see: its shape, or that there is none for it. */
async function askFromHome(service: RunningService): Promise<string | null> {
  const page = await browser.newPage();
  await page.goto(`${home.url}/healthz`);
  const seen = await page.evaluate(async (url) => {
    try {
      const headers = { "content-type": "application/json" };
      const question = {
        dataset: "isotropic32",
        call: "values",
        what: "u",
        points: [[1, 2, 3]],
        time: 0,
        format: "f32",
      };
      const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(question) });
      return response.headers.get("fieldprobe-shape");
    } catch {
      return "refused";
    }
  }, `${service.url}/api/ask`);
  await page.close();
  return seen;
}

it("lets a page ask the service that it came from, and one that allows its origin, no other", async () => {
  expect(await askFromHome(home)).toBe("1,3");
  expect(await askFromHome(closed)).toBe("refused");
  expect(await askFromHome(open)).toBe("1,3");
});
