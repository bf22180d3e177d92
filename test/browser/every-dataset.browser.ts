/**
 * Every instrument on every kind of dataset: what it draws and says is what `/api` answers, or the page says why it has
 * none.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { File, h5wasm } from "h5wasm/node";
import type { Page } from "playwright-core";
import { PNG } from "pngjs";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { COLOUR_STEPS, colourTable } from "../../src/shared/colour-map.js";
import { scratchFolder } from "../support/scratch.js";
import { type Answer, DatasetView, type Facts, finite, KINDS, numberOf, type Triple } from "./dataset-view.js";
import { findChromium } from "./find-chromium.js";
import { expectOverlays } from "./overlays.js";
import { coloursAt, ticks } from "./pictures.js";
import { askMany, callsOf, expectClean, settled, TEST_PANELS, useStage, type Watched } from "./stage.js";

const reason = findChromium() === undefined ? " (skipped: no Chromium; set FIELDPROBE_CHROMIUM)" : "";

/** Parts of the planes without holes, for overlays. */
const OVERLAY_WINDOWS: Readonly<Record<string, readonly [number, number, number, number]>> = {
  isotropic32: [1, 5, 1, 4],
  walled: [4, 10, -1, 1],
  planar: [2, 10, 1, 7],
  perforated: [0, 7.25, 3.25, 8.75],
};

const GRADIENT = ["duxdx", "duxdy", "duxdz", "duydx", "duydy", "duydz", "duzdx", "duzdy", "duzdz"];
const square = (list: readonly number[]) => list.reduce((sum, value) => sum + value * value, 0);
/** A velocity gradient with its parts under their names. */
const named = (values: readonly number[]) => Object.fromEntries(GRADIENT.map((name, i) => [name, values[i] as number]));
const curlOf = (values: readonly number[]): Triple => {
  const g = named(values) as Record<string, number>;
  return [
    (g.duzdy as number) - (g.duydz as number),
    (g.duxdz as number) - (g.duzdx as number),
    (g.duydx as number) - (g.duxdy as number),
  ];
};
const at = (values: readonly number[], i: number, j: number) => values[3 * i + j] as number;
const PAIRS = [0, 1, 2].flatMap((i) => [0, 1, 2].map((j) => [i, j] as const));
const strain = (g: readonly number[]) =>
  PAIRS.reduce((sum, [i, j]) => sum + 2 * ((at(g, i, j) + at(g, j, i)) / 2) ** 2, 0);
const determinant = (g: readonly number[]) =>
  [0, 1, 2].reduce((sum, k) => {
    const [a, b] = [(k + 1) % 3, (k + 2) % 3];
    return sum + at(g, 0, k) * (at(g, 1, a) * at(g, 2, b) - at(g, 1, b) * at(g, 2, a));
  }, 0);

/** Quantities by their own formulas: the operation behind each, and what follows from its record. */
const FORMULAS: Readonly<Record<string, readonly [string, (record: number[]) => number]>> = {
  ux: ["GetVelocity", (u) => u[0] as number],
  uz: ["GetVelocity", (u) => u[2] as number],
  p: ["GetVelocityAndPressure", (u) => u[3] as number],
  speed: ["GetVelocity", (u) => Math.sqrt(square(u))],
  vorticity: ["GetVelocityGradient", (g) => Math.sqrt(square(curlOf(g)))],
  wx: ["GetVelocityGradient", (g) => curlOf(g)[0]],
  wy: ["GetVelocityGradient", (g) => curlOf(g)[1]],
  wz: ["GetVelocityGradient", (g) => curlOf(g)[2]],
  enstrophy: ["GetVelocityGradient", (g) => square(curlOf(g)) / 2],
  strain: ["GetVelocityGradient", (g) => Math.sqrt(strain(g))],
  Q: ["GetVelocityGradient", (g) => PAIRS.reduce((sum, [i, j]) => sum - (at(g, i, j) * at(g, j, i)) / 2, 0)],
  R: ["GetVelocityGradient", (g) => -determinant(g)],
  divergence: ["GetVelocityGradient", (g) => at(g, 0, 0) + at(g, 1, 1) + at(g, 2, 2)],
  gradpressure: ["GetPressureGradient", (g) => Math.sqrt(square(g))],
  lapp: ["GetPressureHessian", (h) => (h[0] as number) + (h[3] as number) + (h[5] as number)],
  lapux: ["GetVelocityLaplacian", (l) => l[0] as number],
  fx: ["GetForce", (f) => f[0] as number],
  boxux: ["GetBoxFilterVelocity", (u) => u[0] as number],
  boxp: ["GetBoxFilterPressure", (p) => p[0] as number],
  sgsxy: ["GetBoxFilterSGSStress", (s) => s[3] as number],
  sgsenergy: ["GetBoxFilterSGSStress", (s) => ((s[0] as number) + (s[1] as number) + (s[2] as number)) / 2],
};

describe.skipIf(reason !== "")(`every dataset${reason}`, () => {
  const stage = useStage();

  describe.each(KINDS)("$name", (kind) => {
    let view: DatasetView;
    let watched: Watched;
    let page: Page;
    let facts: Facts;
    let middle: Triple;
    let corner: Triple;

    beforeAll(async () => {
      view = await DatasetView.open(stage, kind);
      ({ watched, page, facts, middle, corner } = view);
    });
    afterEach(async () => {
      await page.unrouteAll({ behavior: "ignoreErrors" });
      expectClean(watched);
    });
    afterAll(() => view.close());

    const show = (members: Readonly<Record<string, string | number>> = {}) => view.show(members);
    const query = (name: string) => view.query(name);
    const numbersIn = (name: string) => view.numbersIn(name);
    const text = (selector: string) => view.text(selector);
    const options = (selector: string) => view.options(selector);
    const ask = (operation: string, point: readonly number[], more: object = {}) => view.ask(operation, point, more);
    const boxOf = (selector: string) => view.boxOf(selector);
    const readOut = () => view.readOut();
    const slice = (given: Readonly<Record<string, string>> = {}) => view.slice(given);
    const tableOf = (id: string) => view.tableOf(id);
    /** The name of a column with its unit, if the dataset states that. */
    const column = (name: string, measure: string) => {
      const unit = facts.units[measure] ?? "1";
      return unit === "1" ? name : `${name} (${unit})`;
    };

    /** Cells of a picture, spread over all of it but the lower left corner, where the probe is. */
    function cellsOf({ rows, columns }: Answer): (readonly [number, number])[] {
      const all = Array.from({ length: 60 }, (_, i) => [(i * 37 + 5) % columns, (i * 17 + 3) % rows] as const);
      return all.filter(([column, row]) => column > 0 && row > 0 && (column > columns / 6 || row > rows / 3));
    }

    const centres = (answer: Answer) =>
      cellsOf(answer).map(([column, row]) => [answer.across(column), answer.down(row)] as const);

    /** Compares a picture with colours that follow from the values of the service; grey stands for a missing value. */
    async function expectColours(selector: string, answer: Answer, position: (value: number) => number): Promise<void> {
      const table = colourTable("viridis");
      const shown = await coloursAt(page, selector, centres(answer));
      for (const [i, [column, row]] of cellsOf(answer).entries()) {
        const value = answer.values[row * answer.columns + column] as number;
        const [red = 0, green = 0, blue = 0] = shown[i] ?? [];
        if (Number.isNaN(value)) {
          expect([column, row, Math.max(red, green, blue) - Math.min(red, green, blue) < 3]).toEqual([
            column,
            row,
            true,
          ]);
          continue;
        }
        const step = Math.max(0, Math.min(COLOUR_STEPS - 1, Math.round(position(value) * (COLOUR_STEPS - 1))));
        const away = [...table.subarray(3 * step, 3 * step + 3)].map((part, k) =>
          Math.abs(part - ([red, green, blue][k] ?? -9)),
        );
        expect([column, row, Math.max(...away) <= 3]).toEqual([column, row, true]);
      }
    }

    /** Compares a picture with the one that the service draws. */
    async function expectPicture(selector: string, answer: Answer, range: string): Promise<void> {
      const headers = { accept: "image/png" };
      const bytes = await (await fetch(`${answer.url}&map=viridis${range}`, { headers })).arrayBuffer();
      const picture = PNG.sync.read(Buffer.from(bytes));
      const shown = await coloursAt(page, selector, centres(answer));
      for (const [i, [column, row]] of cellsOf(answer).entries()) {
        const pixel = 4 * ((answer.rows - 1 - row) * answer.columns + column);
        const [red = 0, green = 0, blue = 0] = shown[i] ?? [];
        if (picture.data[pixel + 3] === 0)
          expect(Math.max(red, green, blue) - Math.min(red, green, blue)).toBeLessThan(3);
        else expect([column, row, red, green, blue]).toEqual([column, row, ...picture.data.subarray(pixel, pixel + 3)]);
      }
    }

    const extremes = (values: Float32Array): readonly [number, number] => {
      const numbers = finite(values);
      return [Math.min(...numbers), Math.max(...numbers)];
    };
    it("says in one sentence what is looked at, and begins with vorticity where there is any", async () => {
      expect(await page.getAttribute(".lead", "title")).toBe(facts.title);
      const lead = await text(".lead");
      // Signs are in place of letters and digits.
      const written = lead.replaceAll("²", "^2").replaceAll("³", "^3").replaceAll("×", "x");
      expect(written.replaceAll("Re_τ", "Re_tau").replaceAll("Re_λ", "Re_lambda")).toContain(facts.title || kind.name);
      const title = await text("#slice-title");
      expect(title).toMatch(kind.flat ? /^Velocity x at z = 0, t = 0/ : /^Vorticity magnitude at z = /);
      expect(await page.title()).toContain(`· ${kind.name} · fieldprobe`);
      const [low, , , top] = await page.$$eval("#toggle-scene", ([link]) => {
        const { y, bottom } = (link as Element).getBoundingClientRect();
        return [y, 0, 0, bottom];
      });
      expect([(low as number) >= 0, (top as number) < 900]).toEqual([true, true]);
      expect(await page.locator("[role=alert]").count()).toBe(0);
    });

    it("offers the methods that the service answers here, and no others", async () => {
      await show();
      const offered = await options("#values");
      expect(offered.length).toBeGreaterThan(0);
      const all = facts.operations.find(({ name }) => name === "GetVelocity")?.spatialInterpolation ?? [];
      for (const method of all) {
        const answered = await ask("GetVelocity", middle, { spatialInterpolation: method }).then(
          () => true,
          () => false,
        );
        expect([method, offered.includes(method)]).toEqual([method, answered]);
      }
      const derivatives = await page.locator("#derivatives").count();
      expect(derivatives).toBe(kind.flat ? 0 : 1);
      expect(await page.$$eval("td[title]:not([data-probe])", (all) => all.length)).toBe(0);
      expect(await page.$$eval('td[data-probe="p"]', (all) => all.length)).toBeGreaterThan(0);
    });

    it("draws the picture of the service with axes, units and a bar", async () => {
      await show();
      const answer = await slice({ field: "ux" });
      await expectPicture("#slice", answer, "");
      const unit = kind.lengthUnit === "" ? "" : ` (${kind.lengthUnit})`;
      const labels = await ticks(page);
      for (const name of ["x", "y"]) expect(labels.map((label) => label.text)).toContain(`${name}${unit}`);
      expect(await text(".slice .bar-name")).toBe(
        kind.speedUnit === "" ? "Velocity x" : `Velocity x, ${kind.speedUnit}`,
      );
      const bar = await boxOf(".slice .colour-bar image");
      const [low, high] = extremes(answer.values);
      const marks = await ticks(page, ".slice .colour-bar text");
      expect(marks.length).toBeGreaterThanOrEqual(2);
      for (const { text: mark, x } of marks) {
        const value = Number(mark.replace("−", "-"));
        expect(Math.abs(x - (bar.x + ((value - low) / (high - low)) * bar.width))).toBeLessThan(1.5);
      }
      expect(await page.locator(".slice .gap-legend").count()).toBe(kind.holes ? 1 : 0);
    });

    it("colours values over each range, and keeps a fixed one in time", async () => {
      for (const mode of ["symmetric", "percentile", "log", "fixed"] as const) {
        await show({ field: "speed", ...(mode === "fixed" ? { range: "0.2,0.9" } : { scaling: mode }) });
        const answer = await slice({ field: "speed" });
        const sorted = finite(answer.values).sort((a, b) => a - b);
        const high = sorted.at(-1) as number;
        const positive = sorted.filter((value) => value > 0);
        const part = (fraction: number) => sorted[Math.round(fraction * (sorted.length - 1))] as number;
        // An automatic range ends at round values, a little beyond the extremes.
        const round = mode === "symmetric" ? Number(await page.inputValue("#range-high")) : high;
        expect([round >= high * (1 - 1e-5), round < 1.15 * high]).toEqual([true, true]);
        const [from, to] = {
          symmetric: [-round, round],
          percentile: [part(0.01), part(0.99)],
          // Values below a ten-millionth of the largest are rounding of float32.
          log: [Math.max(positive[Math.round(0.01 * (positive.length - 1))] as number, 1e-7 * high), high],
          fixed: [0.2, 0.9],
        }[mode] as [number, number];
        await expectColours("#slice", answer, (value) =>
          mode === "log" ? Math.log(Math.max(value, from) / from) / Math.log(to / from) : (value - from) / (to - from),
        );
      }
      await page.fill("#time-number", "1");
      await page.press("#time-number", "Enter");
      await settled(page);
      const later = await slice({ field: "speed", time: "1" });
      await expectColours("#slice", later, (value) => (value - 0.2) / (0.9 - 0.2));
    });

    it("keeps one range over all times, centres both signs on white, and marks values beyond", async () => {
      await show({ field: "ux", scaling: "auto", map: "auto" });
      const first = extremes((await slice({ field: "ux" })).values);
      const [early, late] = [await page.inputValue("#range-low"), await page.inputValue("#range-high")];
      const last = facts.times.stored.at(-1) as number;
      await page.fill("#time-number", String(last));
      await page.press("#time-number", "Enter");
      await settled(page);
      const now = await slice({ field: "ux", time: String(last) });
      const [from, to] = extremes(now.values);
      const ends = async () => [await page.inputValue("#range-low"), await page.inputValue("#range-high")].map(Number);
      const [low = 0, high = 0] = await ends();
      expect([low, high]).toEqual([early, late].map(Number));
      // The range is that of nodes, which values between them may pass by a little.
      const slack = 0.05 * (high - low);
      expect(Math.min(from, first[0])).toBeGreaterThan(low - slack);
      expect(Math.max(to, first[1])).toBeLessThan(high + slack);
      const beyond = Number(from < low + 1e-4) + Number(to > high - 1e-4);
      expect(await page.locator(".slice .beyond").count()).toBeLessThanOrEqual(beyond);
      const bothSigns = low < 0 && high > 0;
      const table = colourTable(bothSigns ? "RdBu" : "viridis");
      const place = (value: number) =>
        bothSigns ? 0.5 + value / (2 * Math.max(-low, high)) : (value - low) / (high - low);
      const shown = await coloursAt(page, "#slice", centres(now));
      for (const [i, [column, row]] of cellsOf(now).entries()) {
        const value = now.values[row * now.columns + column] as number;
        if (Number.isNaN(value)) continue;
        const step = Math.round(Math.max(0, Math.min(1, place(value))) * (COLOUR_STEPS - 1));
        const away = [0, 1, 2].map((k) => Math.abs((table[3 * step + k] as number) - (shown[i]?.[k] as number)));
        expect([value, Math.max(...away) <= 6]).toEqual([value, true]);
      }
      const middleValue = (from + to) / 2;
      await show({
        field: "ux",
        range: `${Math.fround(middleValue)},${Math.fround(middleValue + 1e-3 * (to - from))}`,
      });
      expect(await page.locator(".slice .beyond").allTextContents()).toHaveLength(2);
      await page.fill("#range-low", String(to + 1));
      await page.press("#range-low", "Enter");
      expect(await text("#notice")).toContain("so they are swapped");
      await settled(page);
      await page.fill("#time-number", String(last + 5));
      await page.press("#time-number", "Enter");
      expect(await text("#notice")).toContain("the largest value, which is taken");
      await settled(page);
    });

    it("zooms about the pointer, samples anew, pans, boxes and comes back, with its buttons where they were", async () => {
      await show();
      const box = await boxOf("#slice");
      const buttons = () => page.$$eval(".buttons button", (all) => all.map((one) => one.getBoundingClientRect().y));
      const before = await buttons();
      const place = [box.x + 0.7 * box.width, box.y + 0.4 * box.height] as const;
      await page.mouse.move(...place);
      const under = (await readOut()).point;
      await page.mouse.wheel(0, -500);
      await expect.poll(() => query("window")).not.toBeNull();
      await settled(page);
      expect(await buttons()).toEqual(before);
      const [left = 0, right = 0, bottom = 0, top = 0] = numbersIn("window");
      // A frame wider than the plane shows more of one side: the part shown is told by its area.
      const whole = facts.axes[0].length * facts.axes[1].length;
      expect((right - left) * (top - bottom)).toBeLessThan(0.6 * whole);
      const frame = await boxOf("#slice");
      const there = left + ((place[0] - frame.x) / frame.width) * (right - left);
      expect(Math.abs(there - under[0])).toBeLessThan(facts.axes[0].length / 32);
      expect(Math.abs(frame.width / frame.height / ((right - left) / (top - bottom)) - 1)).toBeLessThan(0.03);
      await page.fill("#probe-x", String(left));
      await page.press("#probe-x", "Enter");
      await page.fill("#probe-y", String(bottom));
      await page.press("#probe-y", "Enter");
      await settled(page);
      const zoomed = await slice({ field: "ux" });
      const origin = (new URL(zoomed.url).searchParams.get("region.origin") ?? "").split(",").map(Number);
      expect(origin.map(Math.fround)).toEqual([left, bottom].map(Math.fround));
      await expectPicture("#slice", zoomed, "");
      await page.evaluate(() => scrollTo(0, 0));
      await page.mouse.move(...place);
      await page.mouse.down();
      await page.mouse.move(place[0] - 40, place[1], { steps: 3 });
      await page.mouse.up();
      await expect.poll(() => numbersIn("window")[0] as number).toBeGreaterThan(left);
      await settled(page);
      await page.dblclick("#slice");
      await expect.poll(() => query("window")).toBeNull();
      await settled(page);
      await page.keyboard.down("Shift");
      await page.mouse.move(box.x + 0.25 * box.width, box.y + 0.2 * box.height);
      await page.mouse.down();
      await page.mouse.move(box.x + 0.5 * box.width, box.y + 0.8 * box.height, { steps: 3 });
      await page.mouse.up();
      await page.keyboard.up("Shift");
      await expect.poll(() => query("window")).not.toBeNull();
      const boxed = numbersIn("window");
      // The box, and more of one side for the shape of the frame.
      const [across, up] = [facts.axes[0], facts.axes[1]];
      const ends = [0.25, 0.5].map((part) => across.first + part * across.length);
      const heights = [0.2, 0.8].map((part) => up.first + part * up.length);
      const slack = 0.02;
      expect(boxed[0]).toBeLessThan((ends[0] as number) + slack * across.length);
      expect(boxed[1]).toBeGreaterThan((ends[1] as number) - slack * across.length);
      expect(boxed[2]).toBeLessThan((heights[0] as number) + slack * up.length);
      expect(boxed[3]).toBeGreaterThan((heights[1] as number) - slack * up.length);
      const sizes = [(boxed[1] as number) - (boxed[0] as number), (boxed[3] as number) - (boxed[2] as number)];
      const tight = [0.25 * across.length, 0.6 * up.length];
      expect(sizes.some((size, i) => Math.abs(size / (tight[i] as number) - 1) < 0.1)).toBe(true);
      await page.getByRole("button", { name: "Whole plane" }).click();
      await expect.poll(() => query("window")).toBeNull();
      await settled(page);
    });

    it("samples a window node by node", async () => {
      // Across the walls the plane in the middle is one of nodes; its probe lies in its lower left corner, too.
      const across = kind.name === "walled" ? { axis: "y", probe: "0,0,0" } : { axis: "z" };
      await show({ values: "None", nodes: "grid", ...across });
      const answer = await slice({ field: "ux" });
      const nodes =
        kind.name === "walled"
          ? [facts.axes[0].nodes, facts.axes[2].nodes]
          : [facts.axes[0].nodes, facts.axes[1].nodes];
      expect([answer.columns, answer.rows]).toEqual(nodes);
      await expectPicture("#slice", answer, "");
      const box = await boxOf("#slice");
      await page.mouse.move(box.x + answer.across(5) * box.width, box.y + answer.down(2) * box.height);
      const { point, value } = await readOut();
      expect(point[0]).toBeCloseTo(facts.axes[0].first + 5 * facts.axes[0].spacing, 4);
      const [wanted] = await ask("GetVelocity", point, { spatialInterpolation: "None" });
      expect(Math.fround(value)).toBe(wanted);
    });

    it("draws profile and series with gaps where data are missing, and moves by clicks in them", async () => {
      await show({
        probe: [middle[0], facts.axes[1].first + 0.12 * facts.axes[1].length, middle[2]].join(","),
        line: "x",
      });
      for (const id of ["profile", "series"] as const) {
        const rows = await tableOf(id);
        expect(rows.length).toBeGreaterThan(8);
        const probe = numbersIn("probe");
        const places = rows.map(([x]) => Number(x));
        const wanted =
          id === "profile"
            ? await askMany(
                stage.service,
                kind.name,
                "GetVelocity",
                { time: 0, spatialInterpolation: kind.values },
                places.map((x) => [x, probe[1] as number, probe[2] as number]),
              )
            : await ask("GetVelocity", probe, { time: places });
        const values = places.map((_, i) => wanted[3 * i] as number);
        expect(rows.map(([, cell]) => numberOf(cell))).toEqual(values.map((value) => Math.fround(value)));
        const numbers = values.filter(Number.isFinite);
        const label = (await page.getAttribute(`#${id}`, "aria-label")) ?? "";
        expect(label).not.toMatch(/NaN|INF|Infinity/);
        if (id === "profile") expect(numbers.length < values.length).toBe(kind.holes);
        if (numbers.length < values.length && numbers.length > 0) {
          expect(label).toContain(`${values.length - numbers.length} without data`);
        }
        const [, low, high] = /values from (\S+) to ([^\s,]+)/.exec(label) ?? [];
        if (numbers.length > 0) {
          const slack = 1e-4 * Math.max(...numbers.map(Math.abs));
          expect(Math.abs(Number(low) - Math.min(...numbers))).toBeLessThan(slack);
          expect(Math.abs(Number(high) - Math.max(...numbers))).toBeLessThan(slack);
        }
        await page.click(`#${id}-table summary`);
      }
      const click = async (id: string) => {
        await page.locator(`#${id}`).scrollIntoViewIfNeeded();
        const { x, y, width, height } = await boxOf(`#${id} .u-over`);
        await page.mouse.click(x + 0.25 * width, y + 0.5 * height);
        await settled(page);
      };
      await click("profile");
      expect(Math.abs((numbersIn("probe")[0] as number) - 0.25 * facts.axes[0].length)).toBeLessThan(
        0.02 * facts.axes[0].length,
      );
      await click("series");
      const last = facts.times.stored.at(-1) as number;
      expect(Math.abs(Number(query("time")) - 0.25 * last)).toBeLessThan(0.03 * last);
    });

    it("sets curves of methods, times and probes beside one another", async () => {
      const names = (id: string) =>
        page.$$eval(`#${id} .u-series .u-label`, (all) => all.slice(1).map((label) => label.textContent ?? ""));
      const pin = [middle[0], middle[1], middle[2]].join(",");
      for (const curves of ["methods", "times", "probes"] as const) {
        await show({ curves, line: "y", ...(curves === "probes" ? { pins: pin } : {}) });
        const [head = [], rows] = [await names("profile"), await tableOf("profile")];
        const columns = rows[0]?.length ?? 0;
        expect(columns).toBeGreaterThan(curves === "methods" && kind.second === null ? 1 : 2);
        if (curves === "times") expect(head.length).toBe(Math.min(6, facts.times.stored.length));
        const [y, ...cells] = rows[Math.floor(rows.length / 3)] as [string, ...string[]];
        for (const [i, cell] of cells.entries()) {
          const name = head[i] ?? "";
          const start = curves === "probes" && i > 0 ? middle : corner;
          const more =
            curves === "methods" && cells.length > 1
              ? { spatialInterpolation: name }
              : curves === "times"
                ? { time: Number(name.replace("t = ", "")) }
                : {};
          const [wanted] = await ask("GetVelocity", [start[0], Number(y), start[2]], more);
          expect([name, numberOf(cell)]).toEqual([name, wanted]);
        }
        await page.click("#profile-table summary");
      }
    });

    it("says of picture, curves and 3-D what they show while others load, and after a failure", async () => {
      await show({ scene: "true", line: "x" });
      await page.waitForSelector("#scene[data-planes]");
      const said = async () => [await text("#slice-title"), await text("#profile-title"), await text("#scene-note")];
      const before = await said();
      const held: (() => void)[] = [];
      let holds = true;
      await page.route(/slice\?|api\/batch$/, async (route) => {
        if (holds) await new Promise<void>((resolve) => held.push(resolve));
        await route.continue();
      });
      await page.fill("#time-number", "0.5");
      await page.press("#time-number", "Enter");
      await expect.poll(() => held.length).toBeGreaterThanOrEqual(2);
      expect(await said()).toEqual(before);
      expect(await page.getAttribute("#profile", "aria-label")).toContain("t = 0:");
      holds = false;
      for (const release of held) release();
      await settled(page);
      await page.unroute(/slice\?|api\/batch$/);
      const after = await said();
      expect(after.map((line) => line.includes("t = 0.5"))).toEqual([true, true, true]);
      await page.route(/slice\?/, (route) =>
        route.fulfill({ status: 500, json: { code: "Internal", detail: "Broken." } }),
      );
      await page.fill("#time-number", "0.75");
      await page.press("#time-number", "Enter");
      await expect.poll(() => text(".slice [role=alert]")).toBe("Broken.");
      expect((await said())[0]).toBe(after[0]);
      expect((await said())[2]).toBe(after[2]);
      // A frame across another axis cannot hold the picture: nothing is said of that.
      if (!kind.flat) {
        await page.selectOption("#axis", "x");
        await expect.poll(() => text("#slice-title")).toContain("at x =");
        expect(await text("#slice-readout")).toBe("");
        await page.selectOption("#axis", "z");
        await expect.poll(() => text("#slice-title")).toBe(after[0]);
      }
      await page.unroute(/slice\?/);
      await page.getByRole("button", { name: "Try again: the slice" }).click();
      await expect.poll(() => text("#slice-title")).toContain("t = 0.75");
      watched.faults.errors.length = 0;
    });

    it("draws the probe hollow on a plane that does not hold it", async () => {
      const [across, up] = [facts.axes[0].length / 2, facts.axes[1].length * 0.75];
      const place = [[across / facts.axes[0].length, 0.25]] as const;
      const shown = { probe: [facts.axes[0].first + across, facts.axes[1].first + up, middle[2]].join(",") };
      await show(shown);
      const [on] = await coloursAt(page, "#slice", place);
      expect(on?.slice(0, 3)).toEqual([255, 255, 255]);
      if (kind.flat) {
        expect(await page.locator("#at").count()).toBe(0);
        expect(await text("form.controls")).toContain("At z = 0, the only plane");
        return;
      }
      await show({ ...shown, at: Math.fround(middle[2] * 0.8) });
      const [away] = await coloursAt(page, "#slice", place);
      expect(away?.slice(0, 3)).not.toEqual([255, 255, 255]);
    });

    it("plays and steps through the stored times, each picture that of its time", async () => {
      await show({ scaling: "picture" });
      const frames = facts.times.stored.map(Math.fround);
      await page.click("#time-on");
      await settled(page);
      expect(await text("#slice-title")).toContain(`t = ${Number((frames[1] as number).toPrecision(5))} `);
      await expectPicture("#slice", await slice({ field: "ux", time: String(frames[1]) }), "");
      await page.selectOption("#speed", "30");
      await page.click("#time-play");
      const seen = new Set<string>();
      await expect
        .poll(async () => seen.add(await text("#slice-title")).size, { interval: 15, timeout: 20_000 })
        .toBeGreaterThanOrEqual(frames.length);
      await page.click("#time-play");
      await settled(page);
      const time = Number(query("time") ?? 0);
      expect(frames).toContain(Math.fround(time));
      await expectPicture("#slice", await slice({ field: "ux", time: String(time) }), "");
    });

    it("keeps one clock while it plays: waits for what is missing, asks for nothing twice, and goes on by itself", async () => {
      // A sampling that no other test asks for, so that nothing is in the cache.
      await show({ field: "uy", nodes: 64, ...(kind.flat ? {} : { layout: "three", probe: middle.join(",") }) });
      const asked: string[] = [];
      const planes = /slice\?|api\/batch$/;
      await page.route(planes, (route) => {
        const slices = callsOf(route.request()).filter((url) => /slice\?/.test(url));
        if (slices.length === 0) return route.fallback();
        asked.push(...slices);
        return route.fulfill({ status: 500, json: { code: "Internal", detail: "Broken." } });
      });
      await page.selectOption("#speed", "30");
      await page.click("#time-play");
      await expect.poll(() => text("#play-waits")).toBe("Waiting for the next time: Broken.");
      expect(new Set(asked).size).toBe(asked.length);
      expect(await text("#slice-title")).toContain("t = 0 ");
      expect(await page.locator(".slice [role=alert]").count()).toBe(0);
      await page.evaluate(() => {
        const times = (selector: string) => /t = (\S+)/.exec(document.querySelector(selector)?.textContent ?? "")?.[1];
        const seen: string[][] = [];
        const look = () => {
          seen.push(["#slice-title", "#profile-title"].map((selector) => times(selector) ?? ""));
          requestAnimationFrame(look);
        };
        look();
        Object.assign(globalThis, { seen });
      });
      await page.unroute(planes);
      await expect.poll(() => text("#slice-title"), { timeout: 20_000 }).not.toContain("t = 0 ");
      await expect.poll(() => page.locator("#play-waits").count()).toBe(0);
      const seen = () => page.evaluate(() => (globalThis as unknown as { seen: string[][] }).seen);
      await expect
        .poll(async () => new Set((await seen()).map(([time]) => time)).size, { timeout: 20_000 })
        .toBeGreaterThan(Math.min(3, facts.times.stored.length - 1));
      await page.click("#time-play");
      await settled(page);
      const order = [...new Set((await seen()).map(([time]) => time))];
      for (const [picture = "", profile = ""] of await seen()) {
        const away = order.indexOf(picture) - order.indexOf(profile);
        expect([0, 1, 1 - order.length]).toContain(away);
      }
      watched.faults.errors.length = 0;
    });

    it("links three planes by one cross, in the picture and in 3-D, or offers one plane of data on a plane", async () => {
      await show({ layout: "three", scene: "true", probe: middle.join(",") });
      if (kind.flat) {
        expect(await page.locator("#layout").count()).toBe(0);
        expect(await page.locator("canvas.plane").count()).toBe(1);
        await page.waitForSelector('#scene[data-planes="1"]');
        return;
      }
      await page.waitForSelector('#scene[data-planes="3"]');
      const answers = await Promise.all(["x", "y", "z"].map((axis) => slice({ field: "ux", axis })));
      const all = answers.flatMap(({ values }) => finite(values));
      const [low, high] = [Math.min(...all), Math.max(...all)];
      const crossed = (answer: Answer) => {
        // The lines of the cross cover the middle column and row.
        const cells = cellsOf(answer).filter(
          ([column, row]) =>
            Math.abs(column + 0.5 - answer.columns / 2) > answer.columns / 8 &&
            Math.abs(row + 0.5 - answer.rows / 2) > answer.rows / 8,
        );
        return cells.map(([column, row]) => [(column + 0.5) / answer.columns, 1 - (row + 0.5) / answer.rows] as const);
      };
      const table = colourTable("viridis");
      for (const [i, axis] of ["x", "y", "z"].entries()) {
        const answer = answers[i] as Answer;
        const places = crossed(answer);
        const shown = await coloursAt(page, `#slice-${axis}`, places);
        for (const [k, [across, down]] of places.entries()) {
          const value = answer.values[
            Math.floor((1 - down) * answer.rows) * answer.columns + Math.floor(across * answer.columns)
          ] as number;
          if (Number.isNaN(value)) continue;
          const step = Math.round(((value - low) / (high - low)) * (COLOUR_STEPS - 1));
          const away = [...table.subarray(3 * step, 3 * step + 3)].map((part, c) =>
            Math.abs(part - (shown[k]?.[c] ?? -9)),
          );
          expect([axis, across, down, Math.max(...away) <= 3]).toEqual([axis, across, down, true]);
        }
      }
      await page.locator("#slice-y").scrollIntoViewIfNeeded();
      const box = await boxOf("#slice-y");
      await page.mouse.click(box.x + 0.25 * box.width, box.y + 0.25 * box.height);
      await settled(page);
      const probe = numbersIn("probe");
      expect(Math.abs((probe[0] as number) - (facts.axes[0].first + 0.25 * facts.axes[0].length))).toBeLessThan(
        facts.axes[0].length / 24,
      );
      expect(Math.abs((probe[1] as number) - middle[1])).toBeLessThan(1e-5);
      expect(Math.abs((probe[2] as number) - (facts.axes[2].first + 0.75 * facts.axes[2].length))).toBeLessThan(
        facts.axes[2].length / 12,
      );
    });

    it("cannot lose the camera", async () => {
      await show({ scene: "true", camera: "0,0,2.2" });
      await page.waitForSelector('#scene[data-planes="1"]');
      await page.focus("#scene");
      for (let i = 0; i < 20; i++) await page.keyboard.press("-");
      await expect.poll(() => Math.hypot(...numbersIn("camera"))).toBeLessThanOrEqual(6.001);
      await page.click("#reset-camera");
      await expect.poll(() => query("camera")).toBeNull();
      expect(await text(".scene .bar-name")).toContain("Planes: Velocity x");
    });

    it("draws an isosurface that encloses what it says, or says that a plane has none", async () => {
      const before = watched.calls.length;
      await show({ scene: "true", surface: "speed", tint: "p", volume: 32, enclosed: 20 });
      const volumes = () => watched.calls.slice(before).filter((url) => url.includes("/volume?"));
      if (kind.flat) {
        expect(await text("#no-surface")).toContain("these data lie on a plane");
        expect(volumes()).toEqual([]);
        return;
      }
      await expect.poll(() => text("#scene-note"), { timeout: 20_000 }).toContain("20 % of the volume lies above");
      const note = await text("#scene-note");
      const level = Number(/Speed \|u\| = (-?[\d.e-]+)/.exec(note)?.[1]);
      expect(note).toContain(kind.speedUnit);
      const url = volumes().find((address) => address.includes("field=speed")) ?? "";
      const values = finite(new Float32Array(await (await fetch(url)).arrayBuffer()));
      expect(Math.abs(values.filter((value) => value > level).length / values.length - 0.2)).toBeLessThan(0.01);
      expect(Number(await page.getAttribute("#scene", "data-triangles"))).toBeGreaterThan(20);
      expect(await page.$$eval(".scene .bar-name", (all) => all.map((bar) => bar.textContent ?? ""))).toEqual([
        expect.stringContaining("Planes: Velocity x"),
        expect.stringContaining("Surface: Pressure"),
      ]);
    });

    it("lays streaks along the velocity, and arrows in its direction", async () => {
      const window = OVERLAY_WINDOWS[kind.name] as readonly [number, number, number, number];
      await show({ window: window.join(","), field: "p", probe: [window[0], window[2], middle[2]].join(",") });
      await expectOverlays(page, window, async (places) => {
        const points = places.map(([x, y]) => [x, y, middle[2]]);
        return askMany(stage.service, kind.name, "GetVelocity", { time: 0, spatialInterpolation: kind.values }, points);
      });
    });

    it("offers every quantity with its formula and the number that follows from the record", async () => {
      await show();
      const offered = await options("#field");
      const filter = Number((5 * Math.max(...facts.axes.map(({ spacing }) => spacing))).toPrecision(4));
      const box = await boxOf("#slice");
      await page.mouse.move(box.x + 0.4 * box.width, box.y + 0.55 * box.height);
      const tried = Object.entries(FORMULAS).filter(([name]) => offered.includes(name));
      expect(tried.length).toBeGreaterThan(kind.flat ? 3 : 15);
      for (const [name, [operation, formula]] of tried) {
        await show({ field: name, derivatives: "None_Fd4", filter });
        const { point, value } = await readOut();
        const method = operation.includes("Filter")
          ? { filterlength: Math.fround(filter), nlayers: 1, spatialInterpolation: undefined }
          : /Gradient|Hessian|Laplacian/.test(operation)
            ? { spatialInterpolation: "None_Fd4" }
            : {};
        const wanted = formula(await ask(operation, point, method));
        const slack = 2e-5 * (1 + Math.abs(wanted));
        expect([name, Number.isNaN(value) ? Number.isNaN(wanted) : Math.abs(value - wanted) < slack]).toEqual([
          name,
          true,
        ]);
        expect(((await page.getAttribute("#slice-title span", "title")) ?? "").length).toBeGreaterThan(0);
      }
    });

    /** Shows one of the statistics; returns the call that was made, and what the service answers to it. */
    async function analysis(
      show: string,
    ): Promise<{ body: Record<string, unknown>; answer: { results: unknown; count: number } }> {
      await page.selectOption("#analysis", show);
      await settled(page);
      const [head = "", body = ""] = ((await page.textContent("#analysis-call")) ?? "").split("\n");
      const response = await fetch(`${stage.service.url}/${head.replace("POST ", "")}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
      });
      expect([show, response.status]).toEqual([show, 200]);
      return { body: JSON.parse(body), answer: (await response.json()) as never };
    }

    it("states moments, distribution, profiles, spectra and structures of the stored nodes by one call each", async () => {
      await show({ derivatives: kind.flat ? "None" : "None_Fd4" });
      const before = watched.requests.length;
      await page.click("#tab-statistics");
      await page.waitForSelector('[data-stat="mean"]');
      const analyses = watched.requests.slice(before).filter((url) => /\/(statistics|spectrum|structures)$/.test(url));
      expect(analyses).toHaveLength(1);
      const stat = async (name: string) =>
        Number.parseFloat((await text(`[data-stat="${name}"]`)).replaceAll("−", "-"));
      const { answer } = await analysis("distribution");
      const [moments, histogram, extremes] = answer.results as [
        { mean: number; variance: number; count: number; missing: number },
        { counts: number[] },
        { highest: { value: number; at: Triple }[] },
      ];
      const nodes = facts.axes.reduce((product, axis) => product * axis.nodes, 1);
      expect(moments.count + moments.missing).toBe(nodes);
      expect(histogram.counts.reduce((sum, count) => sum + count, 0)).toBe(moments.count);
      expect(moments.missing > 0).toBe(kind.holes);
      expect(await page.locator('[data-stat="missing"]').count()).toBe(kind.holes ? 1 : 0);
      for (const [name, wanted] of [
        ["mean", moments.mean],
        ["rms", Math.sqrt(moments.variance)],
        ["highest", (extremes.highest[0] as { value: number }).value],
      ] as const) {
        expect([name, Math.abs((await stat(name)) - wanted) < 1e-3 * (1e-3 + Math.abs(wanted))]).toEqual([name, true]);
      }
      expect(await text("#analysis-of")).toContain("all nodes of the volume");
      await page.selectOption("#analysis-part", "plane");
      await settled(page);
      expect(await text("#analysis-of")).toContain("nodes of the plane z =");
      expect(await stat("count")).toBe(nodes / facts.axes[2].nodes - (kind.holes ? 3 * (facts.axes[0].nodes - 8) : 0));
      await page.selectOption("#analysis-part", "frame");
      await settled(page);
      const [download] = await Promise.all([page.waitForEvent("download"), page.click("#csv-analysis")]);
      expect(
        readFileSync(await download.path(), "utf8")
          .trim()
          .split("\n").length,
      ).toBe(1 + histogram.counts.length);
      await page.click("#go-highest");
      await settled(page);
      // After many changes the address follows a little later.
      const there = async () =>
        (await ask("GetVelocity", numbersIn("probe"), { spatialInterpolation: "None", time: 0 }))[0];
      await expect.poll(there).toBeCloseTo((extremes.highest[0] as { value: number }).value, 5);

      const offered = await options("#analysis");
      const open = facts.axes.filter((axis) => !axis.periodic).length;
      expect(offered.includes("energy")).toBe(open < 2);
      expect(offered.includes("invariants")).toBe(!kind.flat);
      // The service refuses to transform frames with holes, in one line that the panel shows.
      const asked = offered.filter((name) => !kind.holes || !["energy", "spectrum"].includes(name));
      for (const name of asked.filter((name) => name !== "distribution")) {
        const { body, answer } = await analysis(name);
        expect([name, await page.locator(".statistics [role=alert]").count()]).toEqual([name, 0]);
        if (name === "profile") expect(body.over).toEqual(open === 0 || kind.flat ? ["x", "z"] : expect.any(Array));
        if (name === "invariants") expect(await page.locator("#joint #discriminant").count()).toBe(1);
        else if (name === "structures")
          expect(await page.locator("#structures tbody tr").count()).toBe(Math.min(12, answer.count));
        else expect(await page.locator("#analysis-plot canvas").count()).toBe(1);
        if (name !== "invariants" && name !== "increments") continue;
        const [figure] = await Promise.all([page.waitForEvent("download"), page.click("#chart-svg")]);
        const svg = readFileSync(await figure.path(), "utf8");
        expect([name, (svg.match(/<path d="M/g) ?? []).length > 1, svg.includes("Frame t = 0")]).toEqual([
          ...[name, true, true],
        ]);
      }
      if ((await page.locator("#go-structure-0").count()) > 0) await page.click("#go-structure-0");
      else expect(kind.name).toBe("walled");
      await settled(page);
      expect(Number(query("at") ?? middle[2])).toBeCloseTo(numbersIn("probe")[2] as number, 5);
      await page.click("#tab-statistics");
    });

    it("goes to the strongest vortex of the volume by one call, if there are any", async () => {
      await show(kind.flat ? {} : { field: "Q", derivatives: "None_Fd4" });
      expect(await page.locator("#strongest-vortex").count()).toBe(kind.flat ? 0 : 1);
      if (kind.flat) return;
      const wanted = await (
        await fetch(`${stage.service.url}/api/datasets/${kind.name}/statistics`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ time: 0, reduce: [{ extremes: "Q", count: 1 }] }),
        })
      ).json();
      const [{ at: place, value }] = wanted.results[0].highest;
      const before = watched.requests.length;
      await page.click("#strongest-vortex");
      await settled(page);
      const asked = watched.requests.slice(before).map((url) => new URL(url).pathname.split("/").at(-1));
      expect(asked.filter((name) => name === "statistics")).toEqual(["statistics"]);
      expect(asked.length).toBeLessThanOrEqual(4);
      await expect.poll(() => numbersIn("probe").map(Math.fround)).toEqual(place.map(Math.fround));
      const g = await ask("GetVelocityGradient", place, { spatialInterpolation: "None_Fd4" });
      const q = PAIRS.reduce((sum, [i, j]) => sum - (at(g, i, j) * at(g, j, i)) / 2, 0);
      expect(Math.abs(q - value)).toBeLessThan(1e-4 * (1 + Math.abs(value)));
      expect(await text("#notice")).toMatch(/^The strongest vortex at t = .*: Q = \S+ at \(/);
    });

    /** Saves and copies the picture of a difference: every file and every language names it and its two sides. */
    async function expectDifferenceSaved(name: string, values: Float32Array, sides: readonly string[]): Promise<void> {
      const saved = async (button: string) => {
        const [download] = await Promise.all([page.waitForEvent("download"), page.click(button)]);
        expect(download.suggestedFilename()).toContain(`-${name}-z`);
        return readFileSync(await download.path(), "utf8");
      };
      const [head = "", ...lines] = (await saved("#save-csv")).trim().split("\r\n");
      expect(head).toBe([...["x", "y", "z"].map((axis) => column(axis, "length")), column(name, "velocity")].join(","));
      expect(lines.map((line) => numberOf(line.split(",")[3] as string))).toEqual([...values]);
      const json = JSON.parse(await saved("#save-json"));
      expect(json.columns[3]).toBe(name);
      for (const [button, ends] of [
        ["#save-npy", "littleEndian"],
        ["#save-nc", "bigEndian"],
      ] as const) {
        const [download] = await Promise.all([page.waitForEvent("download"), page.click(button)]);
        expect(download.suggestedFilename()).toContain(`-${name}-z`);
        const bytes = readFileSync(await download.path());
        // The values are the last thing in both files.
        const begin = bytes.length - 4 * values.length;
        const number = (i: number) => (ends === "bigEndian" ? bytes.readFloatBE(i) : bytes.readFloatLE(i));
        const read = Array.from({ length: values.length }, (_, i) => number(begin + 4 * i));
        expect(read).toEqual([...values].map(Math.fround));
        if (button === "#save-nc") expect(bytes.toString("latin1")).toContain(name);
      }
      const wanted = sides.map((url) => {
        const { searchParams } = new URL(url);
        return [Math.fround(Number(searchParams.get("time"))), searchParams.get("method")];
      });
      expect(json.requests.length).toBe(2);
      for (const [i, { parameters }] of json.requests.entries()) {
        expect([Math.fround(parameters.time), parameters.spatialInterpolation]).toEqual(wanted[i]);
      }
      for (const language of await options("#language")) {
        await page.selectOption("#language", language);
        await page.evaluate(() => navigator.clipboard.writeText(""));
        await page.click("#copy-call");
        await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain(name);
        const copied = await page.evaluate(() => navigator.clipboard.readText());
        for (const [i, [, method]] of wanted.entries()) {
          expect(copied).toContain(`${i + 1} of 2, ${name} = 1 minus 2`);
          expect(copied).toContain(method);
        }
        expect(copied).not.toContain("image/png");
      }
    }

    it("draws, names, saves and copies differences of times and methods", async () => {
      for (const compare of ["time", "method"] as const) {
        if (compare === "method" && kind.second === null) {
          expect(await options("#compare")).not.toContain("method");
          continue;
        }
        await show({ compare, otherTime: 1, otherMethod: kind.second ?? "None" });
        const [a, b] = await Promise.all([
          slice({ field: "ux", method: kind.values, time: "0" }),
          slice(compare === "time" ? { field: "ux", time: "1" } : { field: "ux", method: kind.second ?? "" }),
        ]);
        const values = a.values.map((value, i) => value - (b.values[i] as number));
        const [low, high] = extremes(values);
        await expectColours("#slice", { ...a, values }, (value) => (value - low) / (high - low));
        const from = compare === "time" ? "t = 1" : (kind.second as string);
        const name = `ux-minus-${from.replace(" = ", "")}`;
        const heading =
          compare === "time"
            ? "Velocity x at t = 0 minus t = 1, z = "
            : `Difference of velocity x from ${from} at z = `;
        expect(await text("#slice-title")).toContain(heading);
        expect(await text(".slice .bar-name")).toContain(`Difference of velocity x from ${from}`);
        expect(await text("#slice-readout .value")).toContain(`Difference from ${from} `);
        await expectDifferenceSaved(name, values, [a.url, b.url]);
        const known = values.filter(Number.isFinite);
        const largest = known.reduce((most, value) => (Math.abs(value) > Math.abs(most) ? value : most), 0);
        const rms = Math.sqrt(known.reduce((sum, value) => sum + value * value, 0) / known.length);
        const [at, all] = [largest, rms].map((value) => String(Number(value.toPrecision(3))).replace("-", "−"));
        expect(await text("#difference-note")).toContain(`Largest difference ${at}`);
        await page.click("#tab-statistics");
        await page.waitForSelector("#difference-statistics");
        expect(await text("#difference-statistics")).toMatch(
          new RegExp(`^Difference in the picture: largest ${at}.* at \\(.*\\), rms ${all}\\b`),
        );
        await page.click("#tab-statistics");
      }
      await show({ field: "ux" });
      if (kind.second === null) return;
      await page.selectOption("#compare", "method");
      await settled(page);
      expect(await page.inputValue("#otherMethod")).not.toMatch(/^None/);
    });

    it("answers your own points, and cuts the nodes of the plane out as a file", async () => {
      await show();
      const points = [middle, middle.map((value, i) => (i === 2 ? value : Math.fround(0.3 * value + 0.1)))];
      await page.fill("#points-text", points.map((point) => point.join(", ")).join("\n"));
      await page.selectOption("#points-operation", "GetVelocityAndPressure");
      await page.click("#points-ask");
      await page.waitForSelector("#points-answer tbody tr:nth-child(2)");
      const cells = await page.$$eval("#points-answer tbody tr", (all) =>
        all.map((row) => [...row.children].map((cell) => cell.textContent?.trim() ?? "")),
      );
      for (const [i, point] of points.entries()) {
        expect(cells[i]?.slice(3).map(numberOf)).toEqual(await ask("GetVelocityAndPressure", point));
      }
      await page.selectOption("#cutout-depth", "plane");
      const [download] = await Promise.all([page.waitForEvent("download"), page.click("#cutout-h5")]);
      const frame = facts.times.guardBefore + 1;
      expect(download.suggestedFilename()).toMatch(/^\w+-1-\d+_1-\d+_(\d+)-\1-t\d+-\d+\.h5$/);
      expect(download.suggestedFilename()).toContain(`-t${frame}-${frame}.h5`);
      await h5wasm.ready;
      const path = join(scratchFolder(), download.suggestedFilename());
      writeFileSync(path, readFileSync(await download.path()));
      const file = new File(path, "r");
      const read = (name: string) => file.get(name) as { shape: number[]; value: Float32Array };
      const { shape, value } = read(`Velocity_${String(frame).padStart(4, "0")}`);
      expect(shape).toEqual([1, facts.axes[1].nodes, facts.axes[0].nodes, 3]);
      const [xs, ys, zs] = ["xcoor", "ycoor", "zcoor"].map((name) => read(name).value) as [
        Float32Array,
        Float32Array,
        Float32Array,
      ];
      for (const [j, i] of [
        [2, 3],
        [5, 9],
      ] as const) {
        const node = [xs[i] as number, ys[j] as number, zs[0] as number];
        const at = 3 * (j * facts.axes[0].nodes + i);
        expect([...value.subarray(at, at + 3)]).toEqual(
          await ask("GetVelocity", node, { spatialInterpolation: "None" }),
        );
      }
      file.close();
      const [xdmf] = await Promise.all([page.waitForEvent("download"), page.click("#cutout-xmf")]);
      expect(readFileSync(await xdmf.path(), "utf8")).toContain(`${download.suggestedFilename()}:/Velocity_`);
    });

    it("saves the picture with axes, bar, caption, digest and link, and the numbers with all that tells them", async () => {
      await show({ subject: "slice", language: "curl" });
      const answer = await slice({ field: "ux" });
      const save = async (id: string) => {
        const [download] = await Promise.all([page.waitForEvent("download"), page.click(id)]);
        return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
      };
      const place = `z${Number(middle[2].toPrecision(5))}-t0`;
      const svg = await save("#save-svg");
      expect(svg.name).toBe(`${kind.name}-ux-${place}.svg`);
      const drawing = svg.bytes.toString("utf8");
      const unit = kind.lengthUnit === "" ? "" : ` (${kind.lengthUnit})`;
      for (const part of [
        `>x${unit}<`,
        `>y${unit}<`,
        "Velocity x at z = ",
        facts.digest.slice(0, 16),
        `dataset=${kind.name}`,
      ]) {
        expect(drawing).toContain(part);
      }
      const [, encoded = ""] = /<image href="data:image\/png;base64,([^"]+)"/.exec(drawing) ?? [];
      const mine = PNG.sync.read(Buffer.from(encoded, "base64"));
      const headers = { accept: "image/png" };
      await page.click("#call-box summary");
      const call = await text("#call");
      const [, range = ""] = /&range=([-\d.e,]+)/.exec(call) ?? [];
      expect(call).toContain("&map=viridis");
      const own = await (await fetch(`${answer.url}&map=viridis&range=${range}`, { headers })).arrayBuffer();
      const picture = PNG.sync.read(Buffer.from(own));
      expect([mine.width, mine.height]).toEqual([answer.columns, answer.rows]);
      // Values at the border of two colours may be rounded to either.
      const other = mine.data.filter((byte, i) => Math.abs(byte - (picture.data[i] as number)) > 3);
      expect(other.length / mine.data.length).toBeLessThan(0.002);
      await page.click("#call-box summary");
      const png = PNG.sync.read((await save("#save-png")).bytes);
      expect(png.width).toBeGreaterThan(800);
      const csv = await save("#save-csv");
      expect(csv.name).toBe(`${kind.name}-ux-${place}.csv`);
      expect(csv.bytes.toString("utf8").trimEnd().split("\r\n")).toHaveLength(1 + answer.values.length);
      await show({ subject: "probe" });
      const probe = (await save("#save-csv")).bytes.toString("utf8").trimEnd().split("\r\n");
      const places = [...["x", "y", "z"].map((axis) => column(axis, "length")), column("time", "time")];
      expect(probe[0]).toBe(`operation,method,component,value,unit,${places.join(",")},formula,digest`);
      expect(probe.slice(1).every((line) => line.endsWith(facts.digest))).toBe(true);
    });

    it("follows particles to where the service says they go, and stops them where they leave", async () => {
      await show({ seeds: "grid", count: 9, steps: 5, dt: 0.1, scene: "true" });
      await page.click("text=Launch");
      await page.waitForSelector("#scene[data-longest-segment]");
      const last = await tableOf("particles");
      expect(await text("#scene-note")).toMatch(/^Planes at t = 0\.5\. Particles at t = 0\.5\./);
      const exits = (await page.locator("#exits").count()) === 0 ? "" : await text("#exits");
      await page.fill("#time-number", "0");
      await page.press("#time-number", "Enter");
      await settled(page);
      expect(await text("#scene-note")).toBe("Planes at t = 0. Particles at t = 0.");
      const seeds = (await tableOf("particles")).map((row) => row.slice(1, 4).map(Number));
      const parameters = {
        StartTime: 0,
        nt: 5,
        dt: Math.fround(0.1),
        spatialInterpolation: kind.values,
        temporalInterpolation: undefined,
      };
      const wanted = await askMany(stage.service, kind.name, "GetPosition?openFaces=stop", parameters, seeds);
      const times: number[] = [];
      for (const [i, [, x, y, z, exit]] of last.entries()) {
        const record = wanted.slice(4 * i, 4 * i + 4);
        for (const [c, cell] of [x, y, z].entries()) {
          const other = record[c] as number;
          const same = Number.isNaN(other)
            ? Number.isNaN(numberOf(cell))
            : Math.abs(numberOf(cell) - other) < 1e-5 * (1 + Math.abs(other));
          expect([i, c, same]).toEqual([i, c, true]);
        }
        const left = record[3] as number;
        if (Number.isNaN(left)) expect(["inside", undefined]).toContain(exit);
        else {
          expect(Number(exit)).toBeCloseTo(left, 4);
          times.push(left);
        }
      }
      // The velocity of the plane leads out of it; the other datasets are wide enough for half a unit of time.
      expect(times.length > 0).toBe(kind.flat);
      if (kind.flat) {
        expect(exits).toContain(`${times.length} of 9 particles have left the domain, the first at t = `);
        expect(exits).toContain("The data lie on a plane and the velocity leads out of it");
      } else if (exits !== "") expect(exits).toMatch(/^None of the 9 particles has left the domain by t = 0\.5/);
      await page.click("#close-scene");
      await show({ seeds: "grid", count: 9, steps: 5, dt: 0.1, launched: "true", time: 0.2 });
      await page.waitForSelector("#scene[data-longest-segment]");
      expect(await text("#scene-note")).toBe("Planes at t = 0.2. Particles at t = 0.2.");
      await page.click("#close-scene");
    });

    it("asks at most four requests for a click, in every combination of planes, overlays and panels", async () => {
      const all = `${TEST_PANELS},statistics`;
      const compared = { compare: "time", otherTime: facts.times.stored.at(-1) ?? 0 };
      const surface = { scene: "true", surface: "speed", tint: "p", volume: 32 };
      const overlaid = { overlay: "ftle", steps: 2, dt: 0.1 };
      const views: readonly Record<string, string | number>[] = [
        { ...overlaid, open: all },
        { ...compared, overlay: "streamlines", open: all },
        { brush: "ux,-1,1", ...compared, ...surface, ...overlaid, open: all },
        ...(kind.flat
          ? []
          : [
              { layout: "three", overlay: "arrows" },
              { layout: "three", overlay: "arrows", ...compared, open: all },
              { layout: "three", ...overlaid, ...compared, ...surface, open: all },
              { layout: "three", nodes: "grid", values: "None", brush: "ux,-1,1", ...compared, ...surface, open: all },
            ]),
      ];
      const counted: (readonly [string, number])[] = [];
      for (const view of views) {
        await show(view);
        const count = async (name: string, act: () => Promise<unknown>) => {
          const before = watched.requests.length;
          await act();
          await settled(page);
          const asked = watched.requests.slice(before).filter((url) => url.includes("/api/"));
          counted.push([`${JSON.stringify(view)} ${name}: ${asked.join(" ")}`, asked.length]);
        };
        await count("point", async () => {
          const box = await boxOf(view.layout === "three" ? "#slice-z" : "#slice");
          await page.mouse.click(box.x + 0.3 * box.width, box.y + 0.3 * box.height);
        });
        await count("time", () => page.click("#time-on"));
        await count("quantity", () => page.selectOption("#field", "speed"));
      }
      expect(counted.filter(([, asked]) => asked > 4)).toEqual([]);
      // Nothing of it is shown from memory: a click asks, and the other time is another plane.
      expect(counted.filter(([, asked]) => asked === 0)).toEqual([]);
      await show();
    }, 120_000);

    it("shows picture, bar and read-out on small screens", async () => {
      await show();
      await page.setViewportSize({ width: 1024, height: 768 });
      await settled(page);
      await page.evaluate(() => scrollTo(0, 0));
      for (const selector of ["#slice", "#slice-readout", ".slice .colour-bar"]) {
        const { y, height } = await boxOf(selector);
        expect([selector, y + height <= 768]).toEqual([selector, true]);
      }
      await page.setViewportSize({ width: 390, height: 844 });
      await settled(page);
      const [picture, panels] = [await boxOf("#slice"), await boxOf(".tabs")];
      expect([picture.y < panels.y, picture.y + picture.height < 844]).toEqual([true, true]);
      const wide = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect(wide).toBe(0);
      await page.setViewportSize({ width: 1280, height: 900 });
      await settled(page);
    });
  });
});
