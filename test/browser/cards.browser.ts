/** Cards, Share and jobs: every number that they show is that of the question which they print. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { scratchFolder } from "../support/scratch.js";
import { ask, close, expectClean, findingsOf, numberIn, openPage, reason, settled, useStage } from "./stage.js";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PYTHON = fileURLToPath(new URL("../../python/src", import.meta.url));

const readOut = async (page: Page) => numberIn(await page.textContent("[data-served]"));
/** The first number of a row below a card. */
const rowOf = async (page: Page, name: string) => {
  const text = await page.locator(`.panel .rows span:text-matches("^${name}") + span`).textContent();
  return numberIn(/^[−\d.e+-]+/.exec(text ?? "")?.[0] ?? null);
};

describe.skipIf(reason !== "")(`cards${reason}`, () => {
  const stage = useStage({ STATE: scratchFolder(), EVENTS: "off" });
  const at = "x=2.6&y=3.6&z=3.125&time=1&view.show=slice:z&view.flow=off";

  const openAt = (set: string, more = "") => openPage(stage.browser, `${stage.service.url}/view/${set}?${at}${more}`);

  it("draws the series at the crosshair and the values along a line through it", async () => {
    const { page, faults } = await openAt("isotropic32", "&what=omega.z");
    await page.click("#tab-Point");
    await page.waitForSelector(".card svg");
    await settled(page);
    expect(await page.textContent(".panel .card-head h2 >> nth=0")).toContain("ωz at 2.6, 3.6, 3.125");
    const { rows } = await ask<{ rows: number[][] }>(stage.service, {
      ...{ dataset: "isotropic32", call: "values", what: ["omega.z"], points: [[2.6, 3.6, 3.125]], time: "all" },
      method: "Lag8",
    });
    const now = rows.find((row) => Math.abs((row[3] as number) - 1) < 1e-9) as number[];
    close(await rowOf(page, "At t = 1"), now[4] as number);
    expect(await rowOf(page, "At t = 1")).toBe(await readOut(page));
    close(
      await rowOf(page, "Mean of stored times"),
      rows.reduce((sum, row) => sum + (row[4] as number), 0) / rows.length,
    );
    await page.click('.chips button:text-is("Line")');
    await page.waitForSelector('[role=img][aria-label*="along x at y = 3.6, z = 3.125"] svg');
    expect(await findingsOf(page)).toEqual([]);
    expectClean({ faults });
  });

  it("shows correlations, means around events and budgets by the service", async () => {
    const { page, faults } = await openAt("isotropic32", "&what=u.x");
    await page.click("#tab-Statistics");
    await page.click('.chips button:text-is("Correlation")');
    await page.waitForSelector(".card svg");
    const { integral_length } = await ask<{ integral_length: number }>(stage.service, {
      ...{ dataset: "isotropic32", call: "correlation", what: "u.x", axis: "x", time: 1 },
    });
    close(await rowOf(page, "Integral length"), integral_length);
    await page.click('.chips button:text-is("Around")');
    await page.waitForSelector('.card[aria-label^="Mean of ux around Q > 4*rms(Q)"] svg');
    const { events, results } = await ask<{ events: number; results: { mean: number[][][] }[] }>(stage.service, {
      ...{ dataset: "isotropic32", call: "around", what: "u.x", where: "Q > 4*rms(Q)", lag: [0, 0, 0], time: 1 },
    });
    expect(await rowOf(page, "Events")).toBe(events);
    close(await rowOf(page, "At the event"), results[0]?.mean[0]?.[0]?.[0] as number);
    // Structures have all nodes at which the condition holds, and bins of an automatic range all nodes.
    await page.click('.chips button:text-is("Structures")');
    await page.waitForSelector('.card[aria-label^="Structures of Q > 4*rms(Q)"] svg');
    expect(await rowOf(page, "Together")).toBeCloseTo((100 * events) / 32 ** 3, 2);
    await page.click('.chips button:text-is("Mean given")');
    await page.waitForSelector('.card[aria-label^="Mean of ux given Q"] svg');
    expect(await rowOf(page, "Samples")).toBe(32 ** 3);
    await page.fill('[aria-label="Given quantity"]', "2*u.x");
    await page.press('[aria-label="Given quantity"]', "Enter");
    await page.waitForSelector('.card[aria-label^="Mean of ux given 2*u.x"] svg');
    expect(await findingsOf(page)).toEqual([]);
    expectClean({ faults });
    // The mean 1.5 (1 - y^2) has the slope 3 at both walls: u_tau is the root of 3 nu.
    const channel = await openPage(stage.browser, `${stage.service.url}/view/walls?view.show=slice:z&view.flow=off`);
    await channel.page.click("#tab-Statistics");
    await channel.page.click('.chips button:text-is("Budget")');
    await channel.page.waitForSelector(".card svg");
    const first = channel.page.locator(".panel .rows span >> nth=1");
    close(numberIn(await first.textContent()), Math.sqrt(3 * 0.01));
    // Between walls there is a spectrum for every y: the one drawn is that of the crosshair.
    const walled = await openPage(stage.browser, `${stage.service.url}/view/walled?${at.replace("y=3.6", "y=0.3")}`);
    await walled.page.click("#tab-Statistics");
    await walled.page.click('.chips button:text-is("Spectrum")');
    await walled.page.waitForSelector('.card[aria-label^="Energy spectrum, y = 0.3827, t = 1:"] svg');
    const line = (await walled.page.getAttribute(".card svg [stroke-width='2'] path", "d")) as string;
    const heights = [...line.matchAll(/,([\d.]+)/g)].map(([, y]) => Number(y));
    const { E } = await ask<{ E: number[][] }>(stage.service, { dataset: "walled", call: "spectrum", time: 1 });
    const own = E[10] as number[];
    const logs = own.slice(1).flatMap((one) => (one > 1e-9 * Math.max(...own) ? [Math.log(one)] : []));
    expect(heights).toHaveLength(logs.length);
    const part = (all: number[], i: number) =>
      ((all[i] as number) - Math.max(...all)) / (Math.min(...all) - Math.max(...all));
    for (const i of logs.keys()) expect(part(heights, i)).toBeCloseTo(1 - part(logs, i), 2);
    for (const one of [channel, walled]) expectClean(one);
  });

  it("prints questions that curl, the command line and Python answer alike", async () => {
    const { page, faults } = await openAt("isotropic32", "&what=Q");
    await page.click(".bar .share");
    expect(await page.inputValue(".sheet input")).toBe(page.url());
    await page.click('button:text-is("Copy link")');
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(page.url());
    expect(await findingsOf(page)).toEqual([]);
    const shown = await readOut(page);
    const text = async (name: string) => (await page.textContent(`.code pre[aria-label="${name}"]`)) as string;
    const shell = async (line: string) => (await run("bash", ["-c", line], { cwd: ROOT })).stdout;
    const curl = JSON.parse(await shell(await text("curl"))) as { rows: number[][] };
    close(shown, curl.rows[0]?.[3] as number);
    const csv = await shell((await text("Command line")).replace(/^fieldprobe/, "node bin/fieldprobe.js"));
    expect(numberIn(csv.trim().split("\n")[1]?.split(",").at(-1) as string)).toBe(curl.rows[0]?.[3]);
    const env = { ...process.env, PYTHONPATH: PYTHON };
    const hasNumpy = (await run("python3", ["-c", "import numpy"]).catch(() => null)) !== null;
    if (hasNumpy) {
      const lines = `${await text("Python")}\nprint(float(answer["Q"][0]))`;
      expect(Number((await run("python3", ["-c", lines], { env })).stdout)).toBeCloseTo(curl.rows[0]?.[3] as number, 5);
    }
    // The plane is a question of its own, and its samples are those of the picture.
    await page.click('.chips button:text-is("Plane xy")');
    await page.waitForSelector('.chips button[aria-pressed=true]:text-is("Plane xy")');
    const plane = JSON.parse(await shell(await text("curl"))) as { data: Record<string, number[][]> };
    expect(plane.data.Q?.length).toBeGreaterThan(16);
    expectClean({ faults });
  });

  it("runs questions as jobs, lists them, and shows the result of a large card", async () => {
    const { page, faults } = await openAt("isotropic32", "&what=Q");
    await page.click(".bar .share");
    await page.click('button:text-is("Run as a job")');
    const link = page.locator(".jobs li >> nth=0 >> a");
    await link.waitFor();
    const result = (await (await fetch((await link.getAttribute("href")) as string)).json()) as { rows: number[][] };
    close(await readOut(page), result.rows[0]?.[3] as number);
    expect(await findingsOf(page)).toEqual([]);
    await page.click('.jobs button:text-is("Remove")');
    await page.waitForFunction(() => document.querySelectorAll(".jobs li").length === 0);
    await page.keyboard.press("Escape");
    await page.evaluate(() => {
      (globalThis as unknown as { stage: { jobAbove: { value: number } } }).stage.jobAbove.value = 1000;
    });
    await page.click("#tab-Statistics");
    await page.click('button:text-matches("^Compute")');
    await page.waitForSelector(".card svg");
    const { results } = await ask<{ results: [unknown, { variance: number }] }>(stage.service, {
      ...{
        dataset: "isotropic32",
        call: "statistics",
        reduce: [{ histogram: "Q", bins: 160, range: "auto" }, { moments: "Q" }],
      },
      time: 1,
    });
    close(await rowOf(page, "Standard deviation"), Math.sqrt(results[1].variance));
    await page.keyboard.press("Control+k");
    await page.fill(".finder input", "Jobs");
    await page.keyboard.press("Enter");
    await page.waitForSelector('.jobs li:has-text("statistics of isotropic32"):has-text("Done")');
    expectClean({ faults });
  });
});
