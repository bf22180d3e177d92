/** Add data: a bare file is shown as it is taken for, answered, confirmed and opened. */
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningService } from "../../src/main.js";
import { writeHdf5 } from "../support/cubes.js";
import { scratchFolder } from "../support/scratch.js";
import { serveTestData } from "../support/service.js";
import { expectClean, findingsOf, launch, openPage, reason, settled } from "./stage.js";

const N = 8;
const valueAt = (x: number, y: number, z: number, c: number) => c + x / N + y / N ** 2 + z / N ** 3;

describe.skipIf(reason !== "")(`adding data${reason}`, () => {
  const folder = scratchFolder();
  let service: RunningService;
  let browser: Browser;
  beforeAll(async () => {
    const data = new Float32Array(N ** 3 * 3);
    for (let z = 0, at = 0; z < N; z++)
      for (let y = 0; y < N; y++)
        for (let x = 0; x < N; x++) for (let c = 0; c < 3; c++) data[at++] = valueAt(x, y, z, c);
    await writeHdf5(join(folder, "bare.h5"), (file) => {
      file.create_dataset({ name: "u", data, shape: [N, N, N, 3] });
    });
    service = await serveTestData([folder], { STATE: scratchFolder() });
    browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });

  it("shows the draft of a file, takes answers, and opens the dataset once it is confirmed", {
    timeout: 240_000,
  }, async () => {
    const watched = await openPage(browser, `${service.url}/view/isotropic32?view.show=slice:z&view.flow=off`);
    const { page } = watched;
    // The list of what waits comes last.
    await page.waitForLoadState("networkidle");
    await page.click(".crumbs button >> nth=0");
    await page.click('.finder li:has-text("Add data")');
    await page.waitForSelector('.sheet h3:has-text("bare.h5")');
    expect(await page.isDisabled('.sheet button:text-is("Confirm")')).toBe(true);
    expect(await findingsOf(page)).toEqual([]);
    // Whatever is asked first is answered, until nothing is open.
    const answers: Record<string, string> = {
      ...{ dims: "z,y,x,c", spacing: "0.25", length: "2", origin: "0,0,0", periodic: "xyz", faces: "open" },
    };
    const inputs = page.locator('.sheet section input[aria-label*=": "]');
    for (let n = 0; n < 8 && (await inputs.count()) > 0; n++) {
      const flag = ((await inputs.first().getAttribute("aria-label")) as string).split(":")[0] as string;
      expect(Object.keys(answers)).toContain(flag);
      await inputs.first().fill(answers[flag] as string);
      await inputs.first().press("Enter");
      await page.waitForFunction(
        (name) => document.querySelector('pre[aria-label="Command"]')?.textContent?.includes(`--${name} `),
        flag,
      );
    }
    await page.waitForSelector(".sheet img.slice");
    await page.click('.sheet button:text-is("Confirm"):not([disabled])');
    await page.waitForFunction(() => location.pathname.endsWith("/view/bare"));
    await settled(page);
    const answer = await fetch(`${service.url}/api/datasets/bare/values?what=u.x&points=0.75,0.5,0.25&method=nearest`);
    const { rows } = (await answer.json()) as { rows: number[][] };
    expect(rows[0]?.at(-1)).toBeCloseTo(valueAt(3, 2, 1, 0), 6);
    expectClean(watched);
    await page.context().close();
  });
});
