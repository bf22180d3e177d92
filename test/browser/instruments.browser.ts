/** The instruments of the page: overlays, ranges, curves, gestures, dropped files and limits, each against the service. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { scratchFolder } from "../support/scratch.js";
import { serveTestData } from "../support/service.js";
import { findChromium } from "./find-chromium.js";
import { lastSlice } from "./pictures.js";
import { askService, expectClean, openPage, settled, useStage, type Watched } from "./stage.js";

const reason = findChromium() === undefined ? " (skipped: no Chromium; set FIELDPROBE_CHROMIUM)" : "";
const OCTAVE = "/usr/bin/octave-cli";
const noOctave = existsSync(OCTAVE) ? "" : " (skipped: no GNU Octave)";

/** Touches the page with one or two fingers, as the browser itself would. */
async function touch(page: Page, steps: readonly (readonly (readonly [number, number])[])[]): Promise<void> {
  const client = await page.context().newCDPSession(page);
  for (const [i, fingers] of steps.entries()) {
    const touchPoints = fingers.map(([x, y], id) => ({ x, y, id }));
    const type = i === 0 ? "touchStart" : "touchMove";
    await client.send("Input.dispatchTouchEvent", { type, touchPoints });
  }
  await client.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
}

/** Two fingers that move apart about a place. */
const spread = ([x, y]: readonly [number, number], from: number, to: number) =>
  Array.from({ length: 7 }, (_, i) => {
    const away = from + ((to - from) * i) / 6;
    return [
      [x - away, y],
      [x + away, y],
    ] as const;
  });

async function middleOf(page: Page, selector: string): Promise<readonly [number, number]> {
  const box = await page.locator(selector).boundingBox();
  if (box === null) throw new Error(`${selector} is not there`);
  return [box.x + box.width / 2, box.y + box.height / 2];
}

describe.skipIf(reason !== "")(`instruments${reason}`, () => {
  const stage = useStage();
  const open = (query = "", options = {}) => openPage(stage.browser, `${stage.service.url}/${query}`, options);
  const close = async (watched: Watched) => {
    expectClean(watched);
    await watched.page.context().close();
  };
  const query = (page: Page) => new URL(page.url()).searchParams;
  const numbersIn = (page: Page, name: string) => (query(page).get(name) ?? "").split(",").map(Number);

  it("draws curves of several times and of kept probes, with the numbers of the service under the pointer", async () => {
    const watched = await open("?field=ux&values=Lag4&probe=1,2,3&line=x&curves=times");
    const { page } = watched;
    const labels = (id: string) =>
      page.$$eval(`#${id} .u-series .u-label`, (all) => all.slice(1).map((label) => label.textContent ?? ""));
    const times = (await labels("profile")).map((text) => Number(text.replace("t = ", "")));
    expect(times.length).toBeGreaterThanOrEqual(5);
    const options = { spatialInterpolation: "Lag4", temporalInterpolation: "PCHIP" };
    await page.locator("#profile").scrollIntoViewIfNeeded();
    const over = await page.locator("#profile .u-over").boundingBox();
    if (over === null) throw new Error("no chart");
    await page.mouse.move(over.x + 0.4 * over.width, over.y + 0.5 * over.height);
    const hover = () =>
      page.$$eval("#profile .u-series .u-value", (all) => all.map((value) => Number(value.textContent)));
    await expect.poll(async () => (await hover()).every(Number.isFinite)).toBe(true);
    const [x, ...values] = await hover();
    expect(x as number).toBeCloseTo(0.4 * 2 * Math.PI, 1);
    for (const [i, time] of times.entries()) {
      const wanted = await askService(stage.service, "isotropic32", "GetVelocity", { time, ...options }, [
        x as number,
        2,
        3,
      ]);
      expect(Math.abs((values[i] as number) - (wanted[0] as number))).toBeLessThan(0.02);
    }
    await page.mouse.click(over.x + 0.25 * over.width, over.y + 0.5 * over.height);
    await settled(page);
    expect(numbersIn(page, "probe")[0]).toBeCloseTo(0.25 * 2 * Math.PI, 1);
    expect(numbersIn(page, "probe").slice(1)).toEqual([2, 3]);
    await page.click("#keep-probe");
    await page.fill("#probe-y", "5");
    await page.press("#probe-y", "Enter");
    await settled(page);
    const [first = ""] = (await labels("series")).slice(1);
    expect((await labels("series"))[0]).toBe("probe");
    expect(first).toMatch(/^A \(1\.5/);
    await page.click("#series-table summary");
    await page.waitForSelector("#series-table tbody tr");
    const row = await page.$$eval("#series-table tbody tr:nth-child(9) > *", (all) =>
      all.map((cell) => Number(cell.textContent)),
    );
    const pin = numbersIn(page, "pins");
    for (const [i, place] of [numbersIn(page, "probe"), pin].entries()) {
      const parameters = { time: row[0] as number, ...options };
      const [wanted] = await askService(stage.service, "isotropic32", "GetVelocity", parameters, place);
      expect(Math.fround(row[i + 1] as number)).toBe(wanted);
    }
    await page.locator("#series").scrollIntoViewIfNeeded();
    const series = await page.locator("#series .u-over").boundingBox();
    if (series === null) throw new Error("no chart");
    await page.mouse.click(series.x + 0.5 * series.width, series.y + 0.5 * series.height);
    await expect.poll(() => Number(query(page).get("time"))).toBeCloseTo(1.1, 1);
    await page.click("#pin-A");
    await expect.poll(() => numbersIn(page, "probe")).toEqual(pin);
    await page.click("#drop-A");
    await expect.poll(() => query(page).get("pins")).toBeNull();
    await settled(page);
    await close(watched);
  });

  it("zooms by two fingers about the place between them, in the plane and in 3-D, and by the wheel in 3-D", async () => {
    const watched = await open("?nodes=32&scene=true", {
      viewport: { width: 800, height: 900 },
      hasTouch: true,
    });
    const { page } = watched;
    await page.waitForSelector('#scene[data-planes="1"]');
    const centre = await middleOf(page, "#slice");
    await touch(page, spread(centre, 40, 120));
    const width = () => (numbersIn(page, "window")[1] ?? 9) - (numbersIn(page, "window")[0] ?? 0);
    await expect.poll(width).toBeLessThan(0.6 * 2 * Math.PI);
    await settled(page);
    const [left = 0, right = 0, bottom = 0, top = 0] = numbersIn(page, "window");
    expect((left + right) / 2).toBeCloseTo(Math.PI, 0);
    expect((bottom + top) / 2).toBeCloseTo(Math.PI, 0);
    await settled(page);
    const slice = await lastSlice(watched);
    expect((slice.spacing[1] as number) * (slice.shape[1] as number)).toBeCloseTo(right - left, 4);
    await page.locator("#scene").scrollIntoViewIfNeeded();
    const away = () => Math.hypot(...numbersIn(page, "camera"));
    const scrolled = await page.evaluate(() => scrollY);
    const scene = await middleOf(page, "#scene");
    await page.mouse.move(...scene);
    await page.mouse.wheel(0, -300);
    await expect.poll(away).toBeGreaterThan(0);
    const wheeled = away();
    expect(wheeled).toBeLessThan(Math.hypot(1.45, 1.05, 1.95));
    expect(await page.evaluate(() => scrollY)).toBe(scrolled);
    await touch(page, spread(scene, 40, 120));
    await expect.poll(away).toBeLessThan(0.9 * wheeled);
    for (let i = 0; i < 12; i++) await page.mouse.wheel(0, 2000);
    await expect.poll(away).toBeCloseTo(6, 1);
    await page.click("#reset-camera");
    await expect.poll(() => query(page).get("camera")).toBeNull();
    await close(watched);
  });

  it("takes dropped files of points, as CSV and as NumPy arrays", async () => {
    const watched = await open("?dataset=lopsided&values=Lag4&time=0.5");
    const { page } = watched;
    const header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }".padEnd(117).concat("\n");
    const array = Buffer.concat([
      Buffer.from([0x93]),
      Buffer.from("NUMPY"),
      Buffer.from([1, 0, header.length, 0]),
      Buffer.from(header),
      Buffer.from(new Float32Array([1, 2, 3, 4.5, 5.25, 6]).buffer),
    ]);
    const files = [
      ["points.csv", Buffer.from("x,y,z\n1,2,3\n4.5,5.25,6\n")],
      ["points.npy", array],
    ] as const;
    const options = { time: 0.5, spatialInterpolation: "Lag4", temporalInterpolation: "PCHIP" };
    const wanted = await askService(stage.service, "lopsided", "GetVelocity", options, [4.5, 5.25, 6]);
    for (const [name, bytes] of files) {
      const transfer = await page.evaluateHandle(
        ([title, text]) => {
          const data = new DataTransfer();
          data.items.add(new File([Uint8Array.from(atob(text as string), (c) => c.charCodeAt(0))], title as string));
          return data;
        },
        [name, bytes.toString("base64")],
      );
      await page.dispatchEvent(".points form", "drop", { dataTransfer: transfer });
      await expect.poll(() => page.textContent(".points")).toContain(`2 points from ${name}`);
      await page.click("#points-ask");
      await page.waitForSelector("#points-answer tbody tr:nth-child(2)");
      const row = await page.$$eval("#points-answer tbody tr:nth-child(2) > *", (all) =>
        all.map((cell) => Number(cell.textContent)),
      );
      expect(row.slice(3).map(Math.fround)).toEqual(wanted);
      await page.fill("#points-text", "0,0,0");
    }
    await close(watched);
  });

  it("draws an isosurface of a part of the domain", async () => {
    const watched = await open("?scene=true&surface=vorticity&tint=p&volume=32&enclosed=20&box=1,3,1,4,2,5");
    const { page, requests } = watched;
    await page.waitForSelector("#scene[data-triangles]");
    const url = requests.find((address) => address.includes("/volume?")) ?? "";
    const asked = new URL(url).searchParams;
    expect([asked.get("origin"), asked.get("extent")]).toEqual(["1,1,2", "2,3,3"]);
    const values = new Float32Array(await (await fetch(url)).arrayBuffer());
    const note = (await page.textContent("#scene-note")) ?? "";
    expect(note).toContain("20 % of the part shown lie above");
    const level = Number(/magnitude = (-?[\d.e-]+)/.exec(note)?.[1]);
    expect(values.filter((value) => value > level).length / values.length).toBeCloseTo(0.2, 2);
    await page.fill("#box-x1", "2");
    await page.press("#box-x1", "Enter");
    await expect.poll(() => query(page).get("box")).toBe("1,2,1,4,2,5");
    await page.fill("#box-x0", "5");
    await page.press("#box-x0", "Enter");
    expect(await page.inputValue("#box-x0")).toBe("1");
    await page.click("#box-probe");
    await expect.poll(() => numbersIn(page, "box")[0]).toBeCloseTo(Math.PI / 2, 3);
    await page.selectOption("#box", "whole");
    await expect.poll(() => query(page).get("box")).toBeNull();
    await settled(page);
    await close(watched);
  });

  it("offers the further fields of a dataset, each with its formula and the numbers of the service", async () => {
    const watched = await open("?dataset=magnetised&field=b&nodes=32&values=Lag4&subject=slice");
    const { page } = watched;
    const box = await page.locator("#slice").boundingBox();
    if (box === null) throw new Error("no slice");
    const options = { time: 0, spatialInterpolation: "Lag4", temporalInterpolation: "PCHIP" };
    for (const [field, operation, reduce] of [
      ["b", "GetMagneticField", (v: number[]) => Math.hypot(...v)],
      ["az", "GetVectorPotential", (v: number[]) => v[2]],
      ["density", "GetDensity", (v: number[]) => v[0]],
      ["temperature", "GetTemperature", (v: number[]) => v[0]],
    ] as const) {
      await page.selectOption("#field", field);
      await settled(page);
      await page.mouse.move(box.x + 0.3 * box.width, box.y + 0.6 * box.height);
      const [x, y, z, value] = await page.$$eval("#slice-readout b", (all) =>
        all.map((element) => Number(element.textContent)),
      );
      const record = await askService(stage.service, "magnetised", operation, options, [x, y, z] as number[]);
      expect(Math.fround(value as number)).toBe(Math.fround(reduce(record) as number));
      expect(await page.getAttribute("#slice-title span", "title")).not.toBe("");
    }
    expect(await page.textContent('td[data-probe="value"], td[data-probe="p"]')).toMatch(/^-?[\d.e-]+$/);
    await page.selectOption("#language", "python");
    await page.click("#call-box summary");
    const call = (await page.textContent("#call")) ?? "";
    expect(call).toContain("temperature = T, from GetTemperature");
    expect(call).toContain("?wsdl=later");
    await close(watched);
  });

  it.skipIf(noOctave !== "")(`copies a text that GNU Octave runs, with the place of the token${noOctave}`, async () => {
    const watched = await open("?subject=profile&field=ux&probe=1,2,3&line=x&time=0.5&language=matlab");
    const { page } = watched;
    await page.click("#call-box summary");
    expect(await page.textContent("#call")).not.toContain("YOUR-TOKEN");
    await page.fill("#token", "some-token");
    await page.press("#token", "Tab");
    await settled(page);
    await page.click("#copy-call");
    await expect.poll(() => page.textContent(".request [role=status]")).toBe("Copied.");
    const text = await page.evaluate(() => navigator.clipboard.readText());
    expect(text).toContain("Bearer YOUR-TOKEN");
    const program = join(scratchFolder(), "call.m");
    writeFileSync(program, `${text}\nprintf('%.9g\\n', values(:, 1));\n`);
    const { stdout } = await promisify(execFile)(OCTAVE, ["--norc", "--quiet", program], { encoding: "utf8" });
    await page.click("#profile-table summary");
    await page.waitForSelector("#profile-table tbody tr");
    const shown = await page.$$eval("#profile-table tbody tr", (all) =>
      all.map((row) => Math.fround(Number(row.lastElementChild?.textContent))),
    );
    expect(stdout.trim().split("\n").map(Number).map(Math.fround)).toEqual(shown);
    await close(watched);
  });

  it("samples no more than a token admits, and says what fits where more is asked", async () => {
    const tokens = join(scratchFolder(), "tokens.json");
    const sha256 = createHash("sha256").update("small").digest("hex");
    writeFileSync(tokens, JSON.stringify({ version: 1, tokens: [{ name: "small", sha256, limit: 1000 }] }));
    const service = await serveTestData([], { TOKENS: tokens, ANONYMOUS: "true" });
    try {
      const watched = await openPage(stage.browser, `${service.url}/`);
      const { page, requests } = watched;
      const countOf = () =>
        (new URL(requests.findLast((url) => url.includes("/slice?")) ?? "").searchParams.get("nodes") ?? "")
          .split(",")
          .map(Number);
      expect(countOf()).toEqual([128, 128]);
      await page.fill("#token", "small");
      await page.press("#token", "Tab");
      await expect.poll(countOf).toEqual([31, 31]);
      await settled(page);
      expect(await page.locator("[role=alert]").count()).toBe(0);
      await page.selectOption("#nodes", "64");
      const alert = page.locator(".slice [role=alert]");
      await expect.poll(() => alert.textContent()).toMatch(/4096 > 1000.*the limit token\.points.*31 × 31 samples/s);
      await page.getByRole("button", { name: "Take what fits: the slice" }).click();
      await expect.poll(() => alert.count()).toBe(0);
      await settled(page);
      expect(await page.inputValue("#nodes")).toBe("auto");
      const takeWhatFits = async (name: string, refusal: RegExp) => {
        const refused = page.locator("[role=alert]");
        await expect.poll(async () => (await refused.allTextContents()).join(" ")).toMatch(refusal);
        await page.getByRole("button", { name: `Take what fits: the ${name}` }).click();
        await expect.poll(() => refused.count()).toBe(0);
      };
      await page.click("#open-scene");
      await page.selectOption("#surface", "Q");
      await page.waitForSelector("#scene[data-triangles]");
      const volumes = requests
        .filter((url) => url.includes("/volume?"))
        .map((url) => {
          const counts = (new URL(url).searchParams.get("nodes") ?? "").split(",").map(Number);
          return counts.reduce((product, count) => product * count, 1);
        });
      expect(Math.max(...volumes)).toBeLessThanOrEqual(1000);
      expect(volumes.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(20 ** 3);
      await page.selectOption("#volume", "128");
      await takeWhatFits("isosurface", /2097152 > 1000.*the limit token\.points.*1000 points fit into one request/s);
      await settled(page);
      await page.waitForSelector("#scene[data-triangles]");
      await page.fill("#count", "1024");
      await page.click("text=Launch");
      await takeWhatFits("particles", /> 1000.*the limit token\.points.*1000 particles fit/s);
      await page.waitForSelector("#scene[data-longest-segment]");
      await page.fill("#points-text", Array.from({ length: 1200 }, (_, i) => `${i / 200}, 1, 2`).join("\n"));
      await page.click("#points-ask");
      await takeWhatFits(
        "answer at your points",
        /> 1000.*the limit token\.points.*The first 1000 of your points fit/s,
      );
      await expect.poll(() => page.textContent("#points-answer caption")).toContain("the first 50 of 1000");
      await page.click("#cutout-h5");
      const download = page.waitForEvent("download");
      await takeWhatFits("cutout", /> 1000.*the limit token\.points.*1000 nodes fit/s);
      expect((await download).suggestedFilename()).toMatch(/^isotropic32-.*\.h5$/);
      expect(watched.faults.violations).toEqual([]);
      await page.context().close();
    } finally {
      await service.close();
    }
  });
});
