/** Pictures are true: on every kind of dataset, what is drawn, labelled and said is what `/api` answers. */
import { readFileSync } from "node:fs";
import { PNG } from "pngjs";
import { describe, expect, it } from "vitest";
import { findChromium } from "./find-chromium.js";
import { coloursAt, lastSlice, ticks } from "./pictures.js";
import { askService, expectClean, openPage, settled, useStage, type Watched } from "./stage.js";

const reason = findChromium() === undefined ? " (skipped: no Chromium; set FIELDPROBE_CHROMIUM)" : "";

const tickValue = (text: string) => Number(text.replace("−", "-"));

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
    ["pressed", "z", "gradp"],
  ])(
    "draws %s across %s as the service has it, pixel by pixel, at its true proportions",
    async (dataset, axis, field) => {
      const watched = await open(`?dataset=${dataset}&axis=${axis}&field=${field}&map=viridis&nodes=64&probe=0,0,0`);
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

  it.each([
    ["isotropic32", 0, 2 * Math.PI, 0, 2 * Math.PI],
    ["walled", 0, 8 * Math.PI, -1, 1],
    ["planar", 0, 12, 0, 8],
  ])(
    "labels %s where its samples are: edges, ticks and read-out agree to a tenth of a pixel",
    async (dataset, left, right, bottom, top) => {
      const watched = await open(`?dataset=${dataset}&axis=z&nodes=64`);
      const { page } = watched;
      const { origin, spacing, shape } = await lastSlice(watched);
      const box = await page.locator("#slice").boundingBox();
      if (box === null) throw new Error("no slice");
      const [rowOrigin = 0, columnOrigin = 0] = origin;
      const [rowSpacing = 0, columnSpacing = 0] = spacing;
      const [rows = 0, columns = 0] = shape;
      const pixel = (right - left) / box.width;
      expect(Math.abs(columnOrigin - columnSpacing / 2 - left)).toBeLessThan(0.1 * pixel);
      expect(Math.abs(columnOrigin + (columns - 0.5) * columnSpacing - right)).toBeLessThan(0.1 * pixel);
      expect(Math.abs(rowOrigin - rowSpacing / 2 - bottom)).toBeLessThan(0.1 * pixel);
      expect(Math.abs(rowOrigin + (rows - 0.5) * rowSpacing - top)).toBeLessThan(0.1 * pixel);
      const lines = await page.$$eval(".slice svg.axes line", (all) =>
        all.map((line) => line.getBoundingClientRect().x),
      );
      for (const { text, x, y } of await ticks(page)) {
        const value = tickValue(text);
        if (!Number.isFinite(value)) continue;
        if (y > box.y + box.height) {
          const at = box.x + ((value - left) / (right - left)) * box.width;
          expect(Math.min(...lines.map((line) => Math.abs(line + 0.5 - at)))).toBeLessThan(0.7);
          expect(Math.abs(x - at)).toBeLessThan(1);
        } else if (x < box.x) {
          expect(value).toBeGreaterThanOrEqual(bottom - 1e-9);
          expect(value).toBeLessThanOrEqual(top + 1e-9);
          expect(Math.abs(y - (box.y + ((top - value) / (top - bottom)) * box.height))).toBeLessThan(2);
        }
      }
      await page.mouse.move(box.x + box.width - 1, box.y + 1);
      const point = await page.$$eval("#slice-readout [data-axis]", (all) =>
        all.map((element) => Number(element.textContent)),
      );
      expect(point[0]).toBeCloseTo(right - columnSpacing / 2, 4);
      expect(point[1]).toBeCloseTo(top - rowSpacing / 2, 4);
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
    const methods = await page.$$eval("#values option", (all) => all.map((option) => option.textContent));
    expect(methods).toEqual(["None"]);
    await page.waitForSelector('td[data-probe="p"]');
    expect(await page.textContent('td[data-probe="p"]')).toMatch(/^-?[\d.e-]+$/);
    await page.route(/api\/batch$/, async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { results: unknown[] };
      body.results[0] = { problem: { code: "Unsupported", detail: "Not by this method." } };
      await route.fulfill({ response, json: body });
    });
    await page.selectOption("#dataset", "isotropic32");
    await settled(page);
    await page.waitForSelector('td[title="Not by this method."]');
    expect(await page.$$eval("td[data-probe]", (all) => all.length)).toBeGreaterThan(100);
    await close(watched);
  });

  it("zooms about the pointer and samples anew, node by node if wished, and comes back", async () => {
    const watched = await open("?field=ux&values=None&nodes=64&map=viridis");
    const { page } = watched;
    const box = await page.locator("#slice").boundingBox();
    if (box === null) throw new Error("no slice");
    const at = [box.x + 0.3 * box.width, box.y + 0.6 * box.height] as const;
    const point = () =>
      page.$$eval("#slice-readout [data-axis]", (all) => all.map((element) => Number(element.textContent)));
    await page.mouse.move(...at);
    const before = await point();
    await page.mouse.wheel(0, -600);
    const query = () => new URL(page.url()).searchParams;
    const windowOf = () => (query().get("window") ?? "").split(",").map(Number);
    await expect.poll(() => (windowOf()[1] as number) - (windowOf()[0] as number)).toBeLessThan(0.4 * 2 * Math.PI);
    await settled(page);
    const window = windowOf();
    const width = (window[1] as number) - (window[0] as number);
    expect(window[0] as number).toBeLessThan(before[0] as number);
    expect(window[1] as number).toBeGreaterThan(before[0] as number);
    const slice = await lastSlice(watched);
    expect((slice.spacing[1] as number) * (slice.shape[1] as number)).toBeCloseTo(width, 4);
    expect(slice.shape[1]).toBeGreaterThan(50);
    await page.mouse.move(at[0] + 1, at[1]);
    for (const i of [0, 1]) expect(Math.abs(((await point())[i] as number) - (before[i] as number))).toBeLessThan(0.12);
    await page.mouse.down();
    await page.mouse.move(at[0] - 60, at[1] + 30, { steps: 4 });
    await page.mouse.up();
    await settled(page);
    const panned = (query().get("window") ?? "").split(",").map(Number);
    expect(panned[0] as number).toBeGreaterThan(window[0] as number);
    expect(panned[2] as number).toBeGreaterThan(window[2] as number);
    await page.selectOption("#nodes", "grid");
    await settled(page);
    const grid = await lastSlice(watched);
    const h = (2 * Math.PI) / 32;
    expect(grid.spacing[1]).toBeCloseTo(h, 5);
    expect(((grid.origin[1] as number) / h) % 1).toBeCloseTo(Math.round(((grid.origin[1] as number) / h) % 1), 4);
    await page.locator("#slice").scrollIntoViewIfNeeded();
    await page.dblclick("#slice", { position: { x: 50, y: 50 } });
    await expect.poll(() => query().get("window")).toBeNull();
    const whole = await page.locator("#slice").boundingBox();
    if (whole === null) throw new Error("no slice");
    await page.keyboard.down("Shift");
    await page.mouse.move(whole.x + 0.25 * whole.width, whole.y + 0.25 * whole.height);
    await page.mouse.down();
    await page.mouse.move(whole.x + 0.5 * whole.width, whole.y + 0.5 * whole.height, { steps: 4 });
    await page.mouse.up();
    await page.keyboard.up("Shift");
    await expect.poll(() => query().get("window")).not.toBeNull();
    const boxed = (query().get("window") ?? "").split(",").map(Number);
    expect(boxed[0]).toBeCloseTo(0.25 * 2 * Math.PI, 1);
    expect(boxed[3]).toBeCloseTo(0.75 * 2 * Math.PI, 1);
    await close(watched);
  });

  it("plays the stored times in a loop from its cache, and keeps the time in the address", async () => {
    const watched = await open("?field=ux&nodes=32");
    const { page, requests } = watched;
    await page.selectOption("#speed", "30");
    const seen = new Set<string>();
    await page.click("#time-play");
    await expect
      .poll(
        async () => {
          seen.add((await page.textContent("#slice-title"))?.match(/t = [\d.e-]+/)?.[0] ?? "");
          return seen.size;
        },
        { timeout: 20_000, interval: 20 },
      )
      .toBeGreaterThanOrEqual(12);
    await page.click("#time-play");
    await settled(page);
    const count = requests.filter((url) => url.includes("/slice?")).length;
    expect(count).toBeLessThanOrEqual(13);
    await page.click("#time-on");
    await settled(page);
    expect(requests.filter((url) => url.includes("/slice?"))).toHaveLength(count);
    expect(await page.textContent("#play-time")).toContain(
      `t = ${Number(await page.inputValue("#time-number"))}`.slice(0, 6),
    );
    await close(watched);
  });

  it("links three planes by one cross, in the picture and in 3-D", async () => {
    const watched = await open("?layout=three&probe=1,2,3&nodes=32&scene=true");
    const { page } = watched;
    await page.waitForSelector('#scene[data-planes="3"]');
    const box = await page.locator("#slice-y").boundingBox();
    if (box === null) throw new Error("no plane");
    await page.mouse.click(box.x + 0.5 * box.width, box.y + 0.25 * box.height);
    await settled(page);
    const probe = new URL(page.url()).searchParams.get("probe")?.split(",").map(Number) ?? [];
    expect(probe[0]).toBeCloseTo(Math.PI, 0);
    expect(probe[1]).toBe(2);
    expect(probe[2]).toBeCloseTo(1.5 * Math.PI, 0);
    expect(await page.textContent(".linked")).toContain(`across x = ${Number((probe[0] as number).toPrecision(5))}`);
    await close(watched);
  });

  it("compares methods by difference and by curves", async () => {
    const watched = await open("?field=ux&values=Lag8&compare=method&otherMethod=None&nodes=32&curves=methods");
    const { page, requests } = watched;
    const asked = requests.filter((url) => url.includes("/slice?"));
    const [a, b] = await Promise.all(
      ["Lag8", "None"].map(async (method) => {
        const url = asked.find((address) => address.includes(`method=${method}`)) ?? "";
        return new Float32Array(await (await fetch(url)).arrayBuffer());
      }),
    );
    const box = await page.locator("#slice").boundingBox();
    if (box === null || a === undefined || b === undefined) throw new Error("no slice");
    await page.mouse.move(box.x + (5.5 / 32) * box.width, box.y + (1 - 7.5 / 32) * box.height);
    const shown = Number(await page.textContent("#slice-readout [data-value]"));
    expect(Math.fround(shown)).toBe(Math.fround((a[7 * 32 + 5] as number) - (b[7 * 32 + 5] as number)));
    expect(await page.textContent("#slice-title")).toMatch(/Difference of velocity x.*minus None in space/s);
    const names = await page.$$eval("#profile .u-series .u-label", (all) => all.map((label) => label.textContent));
    expect(names.slice(1)).toEqual(["Lag8", "None", "Lag4", "Lag6", "M1Q4", "M2Q8"]);
    await close(watched);
  });

  it("answers your own points, pasted and as a NumPy file", async () => {
    const watched = await open("?values=Lag4&time=0.5");
    const { page } = watched;
    await page.fill("#points-text", "x,y,z\n1,2,3\n4.5, 0.25, 6");
    await page.click("#points-ask");
    await page.waitForSelector("#points-answer tbody tr");
    const options = { time: 0.5, spatialInterpolation: "Lag4", temporalInterpolation: "PCHIP" };
    const wanted = await askService(stage.service, "isotropic32", "GetVelocity", options, [4.5, 0.25, 6]);
    const row = () =>
      page.$$eval("#points-answer tbody tr:last-child > *", (all) => all.map((cell) => Number(cell.textContent)));
    expect((await row()).slice(3).map(Math.fround)).toEqual(wanted);
    const header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 3), }".padEnd(117).concat("\n");
    const head = Buffer.concat([
      Buffer.from([0x93]),
      Buffer.from("NUMPY"),
      Buffer.from([1, 0, header.length, 0]),
      Buffer.from(header),
    ]);
    const data = Buffer.from(new Float64Array([4.5, 0.25, 6]).buffer);
    await page.setInputFiles("#points-file", {
      name: "points.npy",
      mimeType: "application/octet-stream",
      buffer: Buffer.concat([head, data]),
    });
    await expect.poll(() => page.textContent(".points")).toContain("1 points from points.npy");
    await page.click("#points-ask");
    await expect.poll(async () => (await page.$$("#points-answer tbody tr")).length).toBe(1);
    expect((await row()).slice(3).map(Math.fround)).toEqual(wanted);
    await page.fill("#points-text", "1,2,3\nno number");
    await page.click("#points-ask");
    await expect.poll(() => page.textContent(".points [role=alert]")).toContain("Line 2");
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

  it("walks back and forward through views, and keeps what applies in another dataset", async () => {
    const watched = await open("?field=Q&map=magma");
    const { page } = watched;
    const pause = () => page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 1100)));
    await pause();
    await page.selectOption("#axis", "x");
    await settled(page);
    await pause();
    await page.selectOption("#dataset", "lopsided");
    await settled(page);
    expect(await page.inputValue("#field")).toBe("Q");
    expect(await page.inputValue("#map")).toBe("magma");
    expect(await page.title()).toContain("lopsided");
    await page.goBack();
    await expect.poll(() => page.textContent("#facts-title")).toBe("Dataset isotropic32");
    await expect.poll(() => page.inputValue("#axis")).toBe("x");
    await page.goBack();
    await expect.poll(() => page.inputValue("#axis")).toBe("z");
    await page.goForward();
    await expect.poll(() => page.inputValue("#axis")).toBe("x");
    await settled(page);
    await close(watched);
  });

  it("says in one line that the service is gone, and comes back by itself", async () => {
    const watched = await open("?field=ux");
    const { page } = watched;
    await page.route(/\/api\//, (route) => route.abort());
    await page.selectOption("#field", "uy");
    await page.waitForSelector("#outage");
    await page.unroute(/\/api\//);
    await page.waitForSelector("#outage", { state: "detached", timeout: 20_000 });
    await expect.poll(() => page.textContent("#slice-title")).toContain("Velocity y");
    await page.context().close();
  });

  it("shows picture, bar and read-out on one screen of 1024 by 768, and the picture first on a phone", async () => {
    const small = await open("", { viewport: { width: 1024, height: 768 } });
    for (const selector of ["#slice", "#slice-readout", ".colour-bar"]) {
      const box = await small.page.locator(selector).first().boundingBox();
      expect([selector, (box?.y ?? 0) + (box?.height ?? 9999) <= 768]).toEqual([selector, true]);
    }
    await close(small);
    const phone = await open("", { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    const picture = await phone.page.locator("#slice").boundingBox();
    const form = await phone.page.locator("form.controls").boundingBox();
    expect(picture?.y ?? 9999).toBeLessThan(form?.y ?? 0);
    expect((picture?.y ?? 0) + (picture?.height ?? 9999)).toBeLessThan(844);
    expect(await phone.page.$eval("#slice", (canvas) => getComputedStyle(canvas).touchAction)).toBe("pan-x pan-y");
    expect(await phone.page.$eval("details.more", (box) => (box as HTMLDetailsElement).open)).toBe(false);
    await close(phone);
  });

  it("keeps its heap flat over a hundred changes with 3-D open", async () => {
    const watched = await open("?nodes=32&scene=true&surface=Q&volume=32");
    const { page } = watched;
    await page.waitForSelector("#scene[data-triangles]");
    const client = await page.context().newCDPSession(page);
    const heap = async () => {
      await client.send("HeapProfiler.collectGarbage");
      return (await client.send("Runtime.getHeapUsage")).usedSize;
    };
    let turn = 0;
    const change = async (count: number) => {
      for (let i = 0; i < count; i++) {
        // Each position is a new one, so that each change asks the service.
        const arrived = page.waitForResponse((response) => response.url().includes("/slice?"));
        await page.fill("#at-number", String(0.5 + 5 * ((turn++ * 0.618034 + 0.1) % 1)));
        await page.press("#at-number", "Enter");
        await arrived;
      }
    };
    await change(20);
    const before = await heap();
    await change(100);
    expect((await heap()) - before).toBeLessThan(4 * 1024 * 1024);
    await close(watched);
  }, 180_000);
});
