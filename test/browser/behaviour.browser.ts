/** Gestures, limits, outages, history and memory of the page, on every kind of dataset. */
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { RunningService } from "../../src/main.js";
import { scratchFolder } from "../support/scratch.js";
import { serveTestData } from "../support/service.js";
import { DatasetView, finite, KINDS, numberOf } from "./dataset-view.js";
import { writeDatasets } from "./datasets.js";
import { findChromium } from "./find-chromium.js";
import { ticks } from "./pictures.js";
import { expectClean, openPage, refuseInBatches, settled, useStage } from "./stage.js";

const reason = findChromium() === undefined ? " (skipped: no Chromium; set FIELDPROBE_CHROMIUM)" : "";

type Place = readonly [number, number];

/** Touches the page with one or two fingers, as the browser itself would. */
async function touch(page: Page, steps: readonly (readonly Place[])[]): Promise<void> {
  const client = await page.context().newCDPSession(page);
  for (const [i, fingers] of steps.entries()) {
    const touchPoints = fingers.map(([x, y], id) => ({ x, y, id }));
    const type = i === 0 ? "touchStart" : "touchMove";
    await client.send("Input.dispatchTouchEvent", { type, touchPoints });
  }
  await client.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
}

/** Two fingers that move apart about a place. */
const spread = ([x, y]: Place, from: number, to: number) =>
  Array.from({ length: 7 }, (_, i): readonly Place[] => {
    const away = from + ((to - from) * i) / 6;
    return [
      [x - away, y],
      [x + away, y],
    ];
  });

/** Two points as a NumPy array of float32. */
function numpyFile(points: readonly (readonly number[])[]): Buffer {
  const header = `{'descr': '<f4', 'fortran_order': False, 'shape': (${points.length}, 3), }`.padEnd(117).concat("\n");
  return Buffer.concat([
    Buffer.from([0x93]),
    Buffer.from("NUMPY"),
    Buffer.from([1, 0, header.length, 0]),
    Buffer.from(header),
    Buffer.from(Float32Array.from(points.flat()).buffer),
  ]);
}

describe.skipIf(reason !== "")(`behaviour${reason}`, () => {
  const stage = useStage();
  let limited: RunningService;
  beforeAll(async () => {
    const tokens = join(scratchFolder(), "tokens.json");
    const sha256 = createHash("sha256").update("small").digest("hex");
    writeFileSync(tokens, JSON.stringify({ version: 1, tokens: [{ name: "small", sha256, limit: 1000 }] }));
    limited = await serveTestData(await writeDatasets(), { TOKENS: tokens, ANONYMOUS: "true" });
  });
  afterAll(() => limited?.close());

  describe.each(KINDS)("$name", (kind) => {
    let view: DatasetView;
    let page: Page;
    beforeAll(async () => {
      view = await DatasetView.open(stage, kind);
      page = view.page;
    });
    afterEach(async () => {
      await page.unrouteAll({ behavior: "ignoreErrors" });
      expectClean(view.watched);
    });
    afterAll(() => view.close());

    /** Opens another page of the dataset for as long as a test needs it. */
    async function withTouch(test: (touched: DatasetView) => Promise<void>): Promise<void> {
      const touched = await DatasetView.open(stage, kind, { viewport: { width: 480, height: 900 }, hasTouch: true });
      // The controls lie over the lower part of a narrow page.
      await touched.page.click(".fold-sheet");
      await test(touched);
      expectClean(touched.watched);
      await touched.close();
    }

    async function middleOf(of: DatasetView, selector: string): Promise<Place> {
      const { x, y, width, height } = await of.boxOf(selector);
      return [x + width / 2, y + height / 2];
    }

    it("agrees on edges, ticks, samples and read-out to a tenth of a pixel", async () => {
      await view.show({ nodes: 64 });
      const answer = await view.slice({ field: "ux" });
      const box = await view.boxOf("#slice");
      const [x, y] = view.facts.axes;
      expect(Math.abs(answer.across(-0.5)) * box.width).toBeLessThan(0.1);
      expect(Math.abs(answer.across(answer.columns - 0.5) - 1) * box.width).toBeLessThan(0.1);
      expect(Math.abs(answer.down(-0.5) - 1) * box.height).toBeLessThan(0.1);
      expect(Math.abs(answer.down(answer.rows - 0.5)) * box.height).toBeLessThan(0.1);
      const lines = await page.$$eval(".slice svg.axes line", (all) =>
        all.map((line) => {
          const { left, top } = (line.closest("svg") as Element).getBoundingClientRect();
          return [left + Number(line.getAttribute("x1")), top + Number(line.getAttribute("y1"))] as const;
        }),
      );
      const labels = (await ticks(page)).map((tick) => ({ ...tick, value: Number(tick.text.replace("−", "-")) }));
      let seen = 0;
      for (const { value, x: left, y: top } of labels.filter((label) => Number.isFinite(label.value))) {
        const below = top > box.y + box.height;
        const at = below
          ? box.x + ((value - x.first) / x.length) * box.width
          : box.y + (1 - (value - y.first) / y.length) * box.height;
        expect(Math.min(...lines.map((line) => Math.abs(line[below ? 0 : 1] - at)))).toBeLessThan(0.1);
        expect(Math.abs((below ? left : top) - at)).toBeLessThan(2);
        seen++;
      }
      expect(seen).toBeGreaterThan(3);
      await page.mouse.move(box.x + box.width - 1, box.y + 1);
      const { point } = await view.readOut();
      const pixel = [x.length / box.width, y.length / box.height] as const;
      expect(Math.abs(point[0] - x.first - x.length * answer.across(answer.columns - 1))).toBeLessThan(0.1 * pixel[0]);
      const top = y.first + y.length * (1 - answer.down(answer.rows - 1));
      expect(Math.abs(point[1] - top)).toBeLessThan(0.1 * pixel[1]);
    });

    it("places the plane in 3-D to a tenth of a pixel of the picture", async () => {
      const [x, y, z] = view.facts.axes;
      const longest = Math.max(...view.facts.axes.map(({ length }) => length));
      const half = Math.min(0.08 * longest, 0.3 * x.length);
      const window = [
        ...[x.first + x.length / 2 - half, x.first + x.length / 2 + half],
        ...[y.first + 0.25 * y.length, y.first + 0.75 * y.length],
      ].map(Math.fround) as [number, number, number, number];
      await view.show({ scene: "true", camera: "0,0,0.3", theme: "light", map: "magma", window: window.join(",") });
      const { width: wide } = await view.boxOf("#slice");
      const pixel = x.length / Math.max(wide, 500);
      await page.waitForSelector('#scene[data-planes="1"]');
      await page.locator("#scene").scrollIntoViewIfNeeded();
      await settled(page);
      const { width, row } = await page.$eval("#scene", (element) => {
        const source = element as HTMLCanvasElement;
        const canvas = Object.assign(document.createElement("canvas"), { width: source.width, height: source.height });
        const pen = canvas.getContext("2d") as CanvasRenderingContext2D;
        pen.drawImage(source, 0, 0);
        const { data } = pen.getImageData(0, Math.floor(source.height / 2), source.width, 1);
        return { width: source.width, row: [...data] };
      });
      const { width: across, height: up } = await view.boxOf("#scene");
      const away = 0.3 - (view.middle[2] - z.first - z.length / 2) / longest;
      /** Coordinates of the dataset in a pixel of the 3-D view. */
      const step = (2 * away * longest * Math.tan((20 * Math.PI) / 180) * Math.max(1, across / up)) / width;
      const colour = (at: number) => row.slice(4 * at, 4 * at + 3);
      const apart = (a: readonly number[], b: readonly number[]) =>
        Math.hypot(...a.map((part, c) => part - (b[c] ?? 0)));
      const paper = colour(2);
      const inner = [0, width - 1].map((edge) => {
        const sense = edge === 0 ? 1 : -1;
        let at = edge;
        while (apart(colour(at), paper) < 4 && at >= 0 && at < width) at += sense;
        // The pixel at the edge is covered in part; the next but one is covered as a whole.
        const whole = apart(colour(at + 2 * sense), paper);
        const covered = Math.min(1, apart(colour(at), paper) / whole);
        return sense > 0 ? at + 1 - covered : at + covered;
      });
      for (const [i, side] of inner.entries()) {
        const place = x.first + x.length / 2 + (side - width / 2) * step;
        expect([i, Math.abs(place - (window[i] as number)) < 0.1 * pixel]).toEqual([i, true]);
      }
    });

    it("tells the numbers of the service under the pointer in every curve of a chart", async () => {
      await view.show({ curves: "times", line: "x", probe: view.middle.join(",") });
      const rows = (await view.tableOf("profile")).map((cells) => cells.map(numberOf));
      await page.click("#profile-table summary");
      await page.locator("#profile").scrollIntoViewIfNeeded();
      const { x, y, width, height } = await view.boxOf("#profile .u-over");
      await page.mouse.move(x + 0.4 * width, y + 0.5 * height);
      const shown = () => page.$$eval("#profile .u-series .u-value", (all) => all.map((one) => one.textContent ?? ""));
      await expect.poll(async () => (await shown()).every((text) => Number.isFinite(Number(text)))).toBe(true);
      const [place = 0, ...values] = (await shown()).map(Number);
      const [axis] = view.facts.axes;
      expect(Math.abs(place - (axis.first + 0.4 * axis.length))).toBeLessThan(axis.length / 100);
      const [at = 0] = rows.reduce((best, row) =>
        Math.abs((row[0] as number) - place) < Math.abs((best[0] as number) - place) ? row : best,
      );
      const names = await page.$$eval("#profile .u-series .u-label", (all) =>
        all.map((label) => label.textContent ?? ""),
      );
      expect(values).toHaveLength(names.length - 1);
      for (const [i, value] of values.entries()) {
        const time = Number(names[i + 1]?.replace("t = ", ""));
        const [wanted = 0] = await view.ask("GetVelocity", [at, ...view.middle.slice(1)], { time });
        expect(Math.abs(value - wanted)).toBeLessThan(1e-3);
      }
    });

    it("zooms by two fingers about the place between them, in the plane and in 3-D, and scrolls by one", async () => {
      await withTouch(async (touched) => {
        await touched.show({ scene: "true" });
        const [x, y] = touched.facts.axes;
        await touched.page.waitForSelector('#scene[data-planes="1"]');
        await touched.page.locator("#slice").evaluate((slice) => slice.scrollIntoView({ block: "center" }));
        const [cx, cy] = await middleOf(touched, "#slice");
        // One finger is left to the browser, which scrolls.
        await touched.page.evaluate(() => {
          const kept: boolean[] = [];
          Object.assign(globalThis, { kept });
          addEventListener("touchmove", (event) => void kept.push(event.defaultPrevented), { passive: true });
        });
        await touch(
          touched.page,
          [0, 10, 20, 30].map((down) => [[cx, cy + down] as const]),
        );
        const kept = await touched.page.evaluate(() => (globalThis as unknown as { kept: boolean[] }).kept);
        expect([kept.length > 0, kept.includes(true), touched.query("window")]).toEqual([true, false, null]);
        const actions = await touched.page.$$eval("#slice, #scene", (all) =>
          all.map((one) => getComputedStyle(one).touchAction),
        );
        expect(actions).toEqual(["pan-x pan-y", "pan-y"]);
        await touched.page.locator("#slice").evaluate((slice) => slice.scrollIntoView({ block: "center" }));
        await touch(touched.page, spread(await middleOf(touched, "#slice"), 40, 120));
        const width = () => (touched.numbersIn("window")[1] ?? 99) - (touched.numbersIn("window")[0] ?? 0);
        await expect.poll(width).toBeLessThan(0.6 * x.length);
        await settled(touched.page);
        const [left = 0, right = 0, bottom = 0, top = 0] = touched.numbersIn("window");
        expect(Math.abs((left + right) / 2 - x.first - x.length / 2)).toBeLessThan(0.06 * x.length);
        expect(Math.abs((bottom + top) / 2 - y.first - y.length / 2)).toBeLessThan(0.06 * y.length);
        const answer = await touched.slice({ field: "ux" });
        expect(answer.across(answer.columns - 0.5) - answer.across(-0.5)).toBeCloseTo(1, 4);
        await touched.page.locator("#scene").scrollIntoViewIfNeeded();
        const away = () => Math.hypot(...touched.numbersIn("camera"));
        const scrolledTo = () => touched.page.$eval(".stage", (stage) => [scrollY, stage.scrollTop]);
        const scrolled = await scrolledTo();
        const scene = await middleOf(touched, "#scene");
        await touched.page.mouse.move(...scene);
        await touched.page.mouse.wheel(0, -300);
        await expect.poll(away).toBeGreaterThan(0);
        const wheeled = away();
        expect(await scrolledTo()).toEqual(scrolled);
        await touch(touched.page, spread(scene, 40, 120));
        await expect.poll(away).toBeLessThan(0.9 * wheeled);
        for (let i = 0; i < 12; i++) await touched.page.mouse.wheel(0, 2000);
        await expect.poll(away).toBeCloseTo(6, 1);
        await touched.page.click("#reset-camera");
        await expect.poll(() => touched.query("camera")).toBeNull();
      });
    });

    it("takes dropped files of points, as CSV and as NumPy arrays", async () => {
      await view.show();
      const points = [0.3, 0.4].map((part) =>
        view.facts.axes.map(({ first, length }) => Math.fround(first + part * length)),
      );
      const files = [
        ["points.csv", Buffer.from(["x,y,z", ...points.map((point) => point.join(","))].join("\n"))],
        ["points.npy", numpyFile(points)],
      ] as const;
      await page.selectOption("#points-operation", "GetVelocity");
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
        await expect.poll(() => view.text(".points")).toContain(`2 points from ${name}`);
        await page.click("#points-ask");
        await page.waitForSelector("#points-answer tbody tr:nth-child(2)");
        const rows = await page.$$eval("#points-answer tbody tr", (all) =>
          all.map((row) => [...row.children].map((cell) => cell.textContent?.trim() ?? "")),
        );
        for (const [i, point] of points.entries()) {
          expect(rows[i]?.map(numberOf)).toEqual([...point, ...(await view.ask("GetVelocity", point))]);
        }
        await page.fill("#points-text", points.map((point) => point.join(",")).join("\n"));
      }
    });

    it("draws an isosurface of a part of the domain, or says that a plane has none", async () => {
      const ends = view.facts.axes.flatMap(({ first, length }) => [first + 0.2 * length, first + 0.8 * length]);
      const box = ends.map(Math.fround);
      const before = view.watched.calls.length;
      const asked = () => view.watched.calls.slice(before).filter((url) => url.includes("/volume?"));
      await view.show({ scene: "true", surface: "speed", tint: "p", volume: 32, enclosed: 20, box: box.join(",") });
      if (kind.flat) {
        expect(await view.text("#no-surface")).toContain("these data lie on a plane");
        expect([await page.locator("#surface-box").count(), asked()]).toEqual([0, []]);
        return;
      }
      await expect
        .poll(() => view.text("#scene-note"), { timeout: 20_000 })
        .toContain("20 % of the part shown lies above");
      const url = asked().find((address) => address.includes("field=speed")) ?? "";
      const list = (name: string) => (new URL(url).searchParams.get(name) ?? "").split(",").map(Number);
      for (const [axis, low] of list("region.origin").entries()) {
        expect(low).toBeCloseTo(box[2 * axis] as number, 4);
        expect(list("region.extent")[axis]).toBeCloseTo((box[2 * axis + 1] as number) - (box[2 * axis] as number), 4);
      }
      const values = finite(new Float32Array(await (await fetch(url)).arrayBuffer()));
      const level = Number(/Speed \|u\| = (-?[\d.e-]+)/.exec(await view.text("#scene-note"))?.[1]);
      expect(Math.abs(values.filter((value) => value > level).length / values.length - 0.2)).toBeLessThan(0.01);
      const next = Math.fround((box[0] as number) + 0.5 * ((box[1] as number) - (box[0] as number)));
      await page.fill("#box-x1", String(next));
      await page.press("#box-x1", "Enter");
      await expect.poll(() => view.numbersIn("box")[1]).toBeCloseTo(next, 4);
      await page.fill("#box-x0", String(box[1]));
      await page.press("#box-x0", "Enter");
      expect(Math.fround(Number(await page.inputValue("#box-x0")))).toBe(box[0]);
      await page.click("#box-probe");
      const [{ first, length }] = view.facts.axes;
      await expect.poll(() => view.numbersIn("box")[1]).toBeCloseTo(first + length / 2, 3);
      await page.selectOption("#box", "whole");
      await expect.poll(() => view.query("box")).toBeNull();
      await settled(page);
      await page.click("#close-scene");
    });

    it("samples no more than a token admits, and says what fits where more is asked", async () => {
      const watched = await openPage(stage.browser, `${limited.url}/?dataset=${kind.name}&values=${kind.values}`);
      const { page: narrow, calls } = watched;
      const samplesOf = (url: string) =>
        (new URL(url).searchParams.get("nodes") ?? "0")
          .split(",")
          .reduce((product, count) => product * Number(count), 1);
      const sampled = () => samplesOf(calls.findLast((url) => url.includes("/slice?")) ?? "");
      expect(sampled()).toBeGreaterThan(15_000);
      await narrow.click(".settings summary");
      await narrow.fill("#token", "small");
      await narrow.press("#token", "Tab");
      await narrow.click(".settings summary");
      await expect.poll(sampled).toBeLessThanOrEqual(1000);
      expect(sampled()).toBeGreaterThan(800);
      await settled(narrow);
      const refused = narrow.locator("[role=alert]");
      expect(await refused.count()).toBe(0);
      const takeWhatFits = async (name: string, refusal: RegExp) => {
        await expect.poll(async () => (await refused.allTextContents()).join(" ")).toMatch(refusal);
        await narrow.getByRole("button", { name: `Take what fits: the ${name}` }).click();
        await expect.poll(() => refused.count()).toBe(0);
      };
      await narrow.selectOption("#nodes", "64");
      await takeWhatFits("slice", /4\d\d\d > 1000.*the limit token\.points.*31 × 31 samples/s);
      await settled(narrow);
      expect(await narrow.inputValue("#nodes")).toBe("auto");
      await narrow.click("#toggle-scene");
      await narrow.waitForSelector("#scene[data-planes]");
      if (!kind.flat) {
        await narrow.selectOption("#surface", "speed");
        await narrow.waitForSelector("#scene[data-triangles]");
        const volumes = calls.filter((url) => url.includes("/volume?")).map(samplesOf);
        expect(Math.max(...volumes)).toBeLessThanOrEqual(1000);
        expect(volumes.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(20 ** 3);
        await narrow.selectOption("#volume", "128");
        await takeWhatFits("isosurface", /> 1000.*the limit token\.points.*1000 points fit into one request/s);
        await settled(narrow);
        await narrow.waitForSelector("#scene[data-triangles]");
      }
      await narrow.fill("#count", "1024");
      await narrow.click("text=Launch");
      await takeWhatFits("particles", /> 1000.*the limit token\.points.*1000 particles fit/s);
      await narrow.waitForSelector("#scene[data-longest-segment]");
      const [{ first, length }] = view.facts.axes;
      const [, y, z] = view.middle;
      const line = Array.from({ length: 1200 }, (_, i) => `${Math.fround(first + (length * i) / 1200)}, ${y}, ${z}`);
      await narrow.fill("#points-text", line.join("\n"));
      await narrow.click("#points-ask");
      await takeWhatFits(
        "answer at your points",
        /> 1000.*the limit token\.points.*The first 1000 of your points fit/s,
      );
      await expect.poll(() => narrow.textContent("#points-answer caption")).toContain("the first 50 of 1000");
      const download = narrow.waitForEvent("download");
      await narrow.click("#cutout-h5");
      const numbers = 2 * view.facts.axes.reduce((product, { nodes }) => product * nodes, 1);
      if (numbers > 1000) await takeWhatFits("cutout", /> 1000.*the limit token\.points.*1000 nodes fit/s);
      expect((await download).suggestedFilename()).toMatch(new RegExp(`^${kind.name}-.*\\.h5$`));
      expect([watched.faults.violations, watched.faults.strangers]).toEqual([[], []]);
      await narrow.context().close();
    });

    it("says in one line that the service is gone, comes back by itself, and can be tried again from the start", async () => {
      await view.show();
      await page.route(/\/api\//, (route) => route.abort());
      await page.selectOption("#field", "uy");
      await page.waitForSelector("#outage");
      expect(await page.locator("#outage").count()).toBe(1);
      expect(await view.text("#slice-title")).toContain("Velocity x");
      await page.unroute(/\/api\//);
      await page.waitForSelector("#outage", { state: "detached", timeout: 20_000 });
      await expect.poll(() => view.text("#slice-title")).toContain("Velocity y");
      expect(await page.locator("[role=alert]").count()).toBe(0);
      await settled(page);
      const late = await page.context().newPage();
      await late.route(/api\/datasets$/, (route) => route.abort());
      await late.goto(`${stage.service.url}/?dataset=${kind.name}`);
      await expect.poll(() => late.textContent("[role=alert]")).toContain("The service is not answering");
      await late.unroute(/api\/datasets$/);
      await late.click("text=Try again");
      await late.waitForSelector("#slice-readout [data-value]");
      expect(await late.title()).toContain(`· ${kind.name} ·`);
      await late.close();
      // The browser reports each request that the test has broken.
      view.watched.faults.errors.length = 0;
    });

    it("leaves alone what is being typed while answers arrive", async () => {
      await view.show({ range: "-1,2" });
      await page.click(".settings summary");
      for (const id of ["#time-number", "#probe-x", "#range-low", "#token"]) {
        const before = await page.inputValue(id);
        await page.fill(id, "0.375");
        // An answer renders the page, as a change of its size does.
        await page.evaluate(() => dispatchEvent(new Event("resize")));
        await settled(page);
        expect([id, await page.inputValue(id)]).toEqual([id, "0.375"]);
        await page.fill(id, before);
        await page.press(id, "Tab");
      }
      await page.click(".settings summary");
      await page.fill("#time-number", "0.375");
      await page.press("#time-number", "Enter");
      await settled(page);
      expect(Number(view.query("time"))).toBe(0.375);
    });

    it("keeps a table whose methods are refused, each cell on its own", async () => {
      await refuseInBatches(page, 1);
      await view.show({ probe: view.middle.map((value, i) => (i === 0 ? Math.fround(0.9 * value) : value)).join(",") });
      const cells = await page.$$eval("td[data-probe]", (all) => all.map((cell) => cell.textContent ?? ""));
      expect(cells.filter((cell) => /^[-+−]?[\d.]/.test(cell)).length).toBeGreaterThan(3);
      // One method alone has no other that could be refused.
      const several = (await view.options("#values")).length > 1;
      expect((await page.locator('td[title="Not by this method."]').count()) > 0).toBe(several);
      expect(await page.locator(".probe [role=alert]").count()).toBe(0);
    });

    it("walks back and forward through views, names them, and keeps what applies in another dataset", async () => {
      await view.show();
      await page.evaluate(() => {
        const now = performance.now.bind(performance);
        const clock = { skipped: 0 };
        performance.now = () => now() + clock.skipped;
        Object.assign(globalThis, { skip: (ms: number) => Object.assign(clock, { skipped: clock.skipped + ms }) });
      });
      // Changes within a second belong to one entry of the history.
      const pause = () => page.evaluate(() => (globalThis as unknown as { skip: (ms: number) => void }).skip(1100));
      const choose = async (id: string, value: string) => {
        await pause();
        await page.selectOption(id, value);
        await settled(page);
      };
      await choose("#map", "magma");
      await choose("#field", "uy");
      expect(await page.title()).toMatch(/^Velocity y at /);
      const other = KINDS[(KINDS.indexOf(kind) + 1) % KINDS.length]?.name ?? "";
      await choose("#dataset", other);
      expect([await page.inputValue("#map"), await page.inputValue("#field")]).toEqual(["magma", "uy"]);
      expect(await page.title()).toContain(`· ${other} ·`);
      await page.goBack();
      await expect.poll(() => view.text("#facts-title")).toBe(`Dataset ${kind.name}`);
      await settled(page);
      await page.goBack();
      await expect.poll(() => page.inputValue("#field")).toBe("ux");
      expect(await page.inputValue("#map")).toBe("magma");
      await page.goBack();
      await expect.poll(() => page.inputValue("#map")).toBe("viridis");
      await page.goForward();
      await expect.poll(() => page.inputValue("#map")).toBe("magma");
      await settled(page);
      expect(await page.title()).toContain(`· ${kind.name} ·`);
    });

    it("keeps its heap flat over a hundred changes with 3-D open", async () => {
      await view.show({ scene: "true", ...(kind.flat ? {} : { surface: "speed", volume: 32 }) });
      await page.waitForSelector(kind.flat ? '#scene[data-planes="1"]' : "#scene[data-triangles]");
      const client = await page.context().newCDPSession(page);
      const heap = async () => {
        await client.send("HeapProfiler.collectGarbage");
        return (await client.send("Runtime.getHeapUsage")).usedSize;
      };
      // Each position, on a plane each time, is a new one, so that each change asks the service.
      const [, , z] = view.facts.axes;
      const [low, length] = kind.flat ? [0, view.facts.times.stored.at(-1) as number] : [z.first, z.length];
      const input = kind.flat ? "#time-number" : "#at-number";
      let turn = 0;
      const change = async (count: number) => {
        for (let i = 0; i < count; i++) {
          const arrived = page.waitForResponse((response) => response.url().includes("/slice?"));
          await page.fill(input, String(Math.fround(low + length * (0.05 + 0.9 * ((turn++ * 0.618034 + 0.1) % 1)))));
          await page.press(input, "Enter");
          await arrived;
        }
      };
      await change(20);
      const before = await heap();
      await change(100);
      expect((await heap()) - before).toBeLessThan(4 * 1024 * 1024);
    }, 180_000);
  });
});
