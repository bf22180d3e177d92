/** Pictures are true: on every kind of dataset, what is drawn, labelled and said is what `/api` answers. */
import { readFileSync } from "node:fs";
import { PNG } from "pngjs";
import { describe, expect, it } from "vitest";
import { findChromium } from "./find-chromium.js";
import { coloursAt, lastSlice } from "./pictures.js";
import { expectClean, openPage, refuseInBatches, settled, useStage, type Watched } from "./stage.js";

const reason = findChromium() === undefined ? " (skipped: no Chromium; set FIELDPROBE_CHROMIUM)" : "";

describe.skipIf(reason !== "")(`looking${reason}`, () => {
  const stage = useStage();
  const open = (query = "", options = {}) => openPage(stage.browser, `${stage.service.url}/${query}`, options);
  const close = async (watched: Watched) => {
    expectClean(watched);
    await watched.page.context().close();
  };

  it.each([
    ["isotropic32", "z", "ux"],
    ["walled", "z", "ux"],
    ["planar", "z", "uy"],
    ["perforated", "z", "ux"],
    ["pressed", "z", "gradpressure"],
  ])(
    "draws %s across %s as the service has it, pixel by pixel, at its true proportions",
    async (dataset, axis, field) => {
      const watched = await open(
        `?dataset=${dataset}&axis=${axis}&field=${field}&map=viridis&nodes=64&probe=0,0,0&scaling=picture`,
      );
      const { page } = watched;
      const { url, shape, spacing } = await lastSlice(watched);
      const [rows, columns] = shape as [number, number];
      const box = await page.locator("#slice").boundingBox();
      if (box === null) throw new Error("no slice");
      const proportion = (columns * (spacing[1] as number)) / (rows * (spacing[0] as number));
      expect(Math.abs(box.width / box.height / proportion - 1)).toBeLessThan(1.5 / Math.min(box.width, box.height));
      expect(box.height).toBeLessThan(900);
      const range = await page.$$eval("#range-low, #range-high", (all) =>
        all.map((input) => (input as HTMLInputElement).value),
      );
      expect(range).toHaveLength(2);
      const picture = PNG.sync.read(
        Buffer.from(await (await fetch(`${url}&map=viridis`, { headers: { accept: "image/png" } })).arrayBuffer()),
      );
      const cells = Array.from({ length: 60 }, (_, i) => [(i * 37) % columns, (i * 17) % rows] as const).filter(
        ([column, row]) => column > 3 && row > 3 && column < columns - 4 && row < rows - 4,
      );
      const shown = await coloursAt(
        page,
        "#slice",
        cells.map(([column, row]) => [(column + 0.5) / columns, 1 - (row + 0.5) / rows]),
      );
      let compared = 0;
      for (const [i, [column, row]] of cells.entries()) {
        const at = 4 * ((rows - 1 - row) * columns + column);
        if (picture.data[at + 3] === 0) {
          const [red, green, blue] = shown[i] as [number, number, number];
          expect(Math.max(red, green, blue) - Math.min(red, green, blue)).toBeLessThan(3);
          continue;
        }
        compared++;
        expect([column, row, ...(shown[i]?.slice(0, 3) ?? [])]).toEqual([
          column,
          row,
          ...picture.data.subarray(at, at + 3),
        ]);
      }
      expect(compared).toBeGreaterThan(5);
      await close(watched);
    },
  );

  it("leaves gaps in curves where data are missing, in label and table too", async () => {
    const watched = await open("?dataset=perforated&field=ux&probe=3,1,5&line=x&values=None&map=viridis");
    const { page } = watched;
    expect(await page.getAttribute("#profile", "aria-label")).toMatch(/from -?[\d.]+ to -?[\d.]+, \d+ without data$/);
    await page.click("#profile-table summary");
    await page.waitForSelector("#profile-table tbody tr");
    const rows = await page.$$eval("#profile-table tbody tr", (all) =>
      all.map((row) => row.lastElementChild?.textContent),
    );
    expect(rows.filter((text) => text === "no data").length).toBeGreaterThan(50);
    expect(rows.join(" ")).not.toMatch(/NaN|INF/);
    expect(await page.textContent(".gap-legend")).toContain("no data");
    // Nothing of the curve's colour may be drawn between the two ends of the gap.
    const drawn = await page.$eval("#profile canvas", (element) => {
      const canvas = element as HTMLCanvasElement;
      const { data, width, height } = (canvas.getContext("2d") as CanvasRenderingContext2D).getImageData(
        0,
        0,
        canvas.width,
        canvas.height,
      );
      const columns = new Set<number>();
      for (let i = 0; i < data.length; i += 4) {
        const [red = 0, , blue = 0, alpha = 0] = data.subarray(i, i + 4);
        if (alpha > 200 && blue - red > 80) columns.add(Math.floor(i / 4) % width);
      }
      return { columns: [...columns].sort((a, b) => a - b), width, height };
    });
    const widest = Math.max(...drawn.columns.slice(1).map((column, i) => column - (drawn.columns[i] as number)));
    expect(widest).toBeGreaterThan(0.2 * drawn.width);
    await page.fill("#probe-x", "9");
    await page.press("#probe-x", "Enter");
    await expect.poll(() => page.getAttribute("#series", "aria-label")).toMatch(/places without data/);
    await close(watched);
  });

  it("reads units of rates right and keeps a table whose methods are refused", async () => {
    const watched = await open("?dataset=walled");
    const { page } = watched;
    expect(await page.textContent(".colour-bar .bar-name")).toBe("Vorticity magnitude, U_b/h");
    expect(await page.textContent('dd[data-probe="Q"]')).toMatch(/U_b²\/h²$/);
    await page.selectOption("#dataset", "planar");
    await settled(page);
    const methods = await page.$$eval("#values option", (all) =>
      all.map((option) => (option as HTMLOptionElement).value),
    );
    expect(methods).toEqual(["None"]);
    await page.waitForSelector('td[data-probe="p"]');
    expect(await page.textContent('td[data-probe="p"]')).toMatch(/^-?[\d.e-]+$/);
    await refuseInBatches(page, 0);
    await page.selectOption("#dataset", "isotropic32");
    await settled(page);
    await page.waitForSelector('td[title="Not by this method."]');
    expect(await page.$$eval("td[data-probe]", (all) => all.length)).toBeGreaterThan(100);
    await close(watched);
  });

  it("cuts the nodes of the window out as a file", async () => {
    const watched = await open("?dataset=walled&axis=z&window=5,10,-1,0&field=ux");
    const { page } = watched;
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#cutout-h5")]);
    expect(download.suggestedFilename()).toBe("walled-11-20_1-9_1-12-t1-1.h5");
    expect(
      readFileSync(await download.path())
        .subarray(1, 4)
        .toString(),
    ).toBe("HDF");
    await page.selectOption("#cutout-depth", "plane");
    const [plane] = await Promise.all([page.waitForEvent("download"), page.click("#cutout-xmf")]);
    expect(plane.suggestedFilename()).toBe("walled-11-20_1-9_7-7-t1-1.xmf");
    expect(readFileSync(await plane.path(), "utf8")).toContain("walled-11-20_1-9_7-7-t1-1.h5:/Velocity_0001");
    await close(watched);
  });
});
