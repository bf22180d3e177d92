/** A person sees the answers of the service: read-out, probe, address, exports, copied calls. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { PNG } from "pngjs";
import { describe, expect, it } from "vitest";
import { findChromium } from "./find-chromium.js";
import { readOutOf } from "./pictures.js";
import { askService, expectClean, openPage, settled, TEST_PANELS, useStage } from "./stage.js";

const reason = findChromium() === undefined ? " (skipped: no Chromium; set FIELDPROBE_CHROMIUM)" : "";

describe.skipIf(reason !== "")(`the page${reason}`, () => {
  const stage = useStage();

  const open = (query = "", options = {}) => openPage(stage.browser, `${stage.service.url}/${query}`, options);

  /** Coordinates and value as the read-out says them. */
  async function readOut(page: Page): Promise<{ point: number[]; value: number }> {
    const numbers = await readOutOf(page);
    return { point: numbers.slice(0, 3), value: numbers[3] as number };
  }

  it("shows the shipped turbulence and the facts about it", async () => {
    const watched = await open();
    const { page, requests } = watched;
    expect(await page.textContent("figcaption")).toMatch(/Vorticity magnitude at z = 3\.1416, t = 0/);
    expect(await page.textContent(".facts")).toContain("32 nodes from 0 to 6.0868, period 6.2832");
    expect(requests.some((url) => url.includes("scene"))).toBe(false);
    await page.selectOption("#dataset", "lopsided");
    await settled(page);
    expect(await page.textContent(".facts")).toContain("12 nodes from 0 to 11, period 12");
    expect(await page.textContent(".colour-bar .bar-name")).toMatch(/Vorticity magnitude, 1\/s/);
    expect(await page.title()).toMatch(/^Vorticity magnitude .* · lopsided · fieldprobe$/);
    expect(page.url()).toContain("dataset=lopsided");
    expectClean(watched);
    await page.context().close();
  });

  it("reads the probe itself at every time, not the sample beside it", async () => {
    const watched = await open("?dataset=lopsided&field=ux&nodes=32&values=Lag4");
    const { page } = watched;
    const subject = async () => (await page.textContent("#slice-readout .subject"))?.trim();
    await expect.poll(subject).toBe("Probe");
    const before = await readOut(page);
    await page.click("#time-on");
    await expect.poll(async () => (await readOut(page)).value).not.toBe(before.value);
    await expect.poll(subject).toBe("Probe");
    const { point, value } = await readOut(page);
    expect(point).toEqual(before.point);
    const parameters = {
      time: Number(new URL(page.url()).searchParams.get("time")),
      spatialInterpolation: "Lag4",
      temporalInterpolation: "PCHIP",
    };
    const [answer] = await askService(stage.service, "lopsided", "GetVelocity", parameters, point);
    expect(Math.fround(value)).toBe(answer);
    expectClean(watched);
    await page.context().close();
  });

  it.each([
    ["x", 1],
    ["y", 2],
    ["z", 0],
  ])("reads out what the service answers across %s, the picture upright", async (axis, component) => {
    const field = ["ux", "uy", "uz"][component] as string;
    const watched = await open(
      `?dataset=lopsided&axis=${axis}&at=3.25&time=0.7&field=${field}&nodes=32&values=Lag4&map=viridis&scaling=picture`,
    );
    const { page, calls } = watched;
    const box = await page.locator("#slice").boundingBox();
    if (box === null) throw new Error("no slice");
    const asked = calls.find((url) => url.includes("/slice?")) ?? "";
    const picture = PNG.sync.read(
      Buffer.from(await (await fetch(`${asked}&map=viridis`, { headers: { accept: "image/png" } })).arrayBuffer()),
    );
    const before: number[][] = [];
    for (const [across, down] of [
      [0.1, 0.15],
      [0.9, 0.15],
      [0.35, 0.8],
    ] as const) {
      await page.mouse.move(box.x + across * box.width, box.y + down * box.height);
      const { point, value } = await readOut(page);
      const parameters = { time: 0.7, spatialInterpolation: "Lag4", temporalInterpolation: "PCHIP" };
      const answer = await askService(stage.service, "lopsided", "GetVelocity", parameters, point);
      expect(Math.fround(value)).toBe(answer[component]);
      before.push(point);
      await page.mouse.move(box.x + 0.55 * box.width, box.y + 0.45 * box.height);
      const shown = await page.$eval(
        "#slice",
        (element, [x, y]) => {
          const canvas = element as HTMLCanvasElement;
          const context = canvas.getContext("2d") as CanvasRenderingContext2D;
          const place = [Math.round((x as number) * canvas.width), Math.round((y as number) * canvas.height)] as const;
          return [...context.getImageData(...place, 1, 1).data];
        },
        [across, down],
      );
      const [column, row] = [Math.floor(across * picture.width), Math.floor(down * picture.height)];
      const pixel = 4 * (row * picture.width + column);
      const lengths = { x: 12, y: 10, z: 11 } as Record<string, number>;
      const [first, second] = ["x", "y", "z"].filter((name) => name !== axis) as [string, string];
      const part = (name: string) => (point["xyz".indexOf(name)] as number) / (lengths[name] as number);
      expect(part(first)).toBeCloseTo((column + 0.5) / picture.width, 5);
      expect(part(second)).toBeCloseTo(1 - (row + 0.5) / picture.height, 5);
      expect(shown.slice(0, 3)).toEqual([...picture.data.subarray(pixel, pixel + 3)]);
    }
    const [columns, rows] = [0, 1, 2].filter((index) => "xyz"[index] !== axis) as [number, number];
    const [upperLeft, upperRight, lower] = before as [number[], number[], number[]];
    expect(upperLeft[columns] as number).toBeLessThan(upperRight[columns] as number);
    expect(upperLeft[rows]).toBe(upperRight[rows]);
    expect(lower[rows] as number).toBeLessThan(upperLeft[rows] as number);
    expectClean(watched);
    await page.context().close();
  });

  it("probes where it is clicked, with the numbers of the service for every method", async () => {
    const watched = await open("?axis=y&at=1.5&time=0.33&field=Q");
    const { page } = watched;
    const box = await page.locator("#slice").boundingBox();
    if (box === null) throw new Error("no slice");
    await page.mouse.click(box.x + 0.2 * box.width, box.y + 0.3 * box.height);
    await settled(page);
    const { point, value } = await readOut(page);
    for (const [i, axis] of ["x", "y", "z"].entries()) {
      expect(Math.fround(Number(await page.inputValue(`#probe-${axis}`)))).toBe(Math.fround(point[i] as number));
    }
    const ask = (operation: string, spatialInterpolation: string) =>
      askService(
        stage.service,
        "isotropic32",
        operation,
        { time: 0.33, spatialInterpolation, temporalInterpolation: "PCHIP" },
        point,
      );
    const text = (name: string, method: string) =>
      page
        .getAttribute(`td[data-probe="${name}"][data-method="${method}"]`, "title")
        .then(async (title) =>
          Math.fround(Number(title ?? (await page.textContent(`td[data-probe="${name}"][data-method="${method}"]`)))),
        );
    for (const method of ["None", "Lag4", "Lag6", "Lag8"]) {
      expect(await text("p", method)).toBe((await ask("GetVelocityAndPressure", method))[3]);
    }
    for (const method of ["None_Fd4", "None_Fd6", "None_Fd8", "Fd4Lag4"]) {
      expect(await text("duxdy", method)).toBe((await ask("GetVelocityGradient", method))[1]);
      expect(await text("d2pdydz", method)).toBe((await ask("GetPressureHessian", method))[4]);
      expect(await text("d2uzdzdz", method)).toBe((await ask("GetVelocityHessian", method))[17]);
    }
    expect(Math.fround(Number((await page.textContent('dd[data-probe="Q"]'))?.trim()))).toBe(Math.fround(value));
    expectClean(watched);
    await page.context().close();
  });

  it("draws the profile and the series of the service, with their tables", async () => {
    const watched = await open("?field=p&probe=1,2,3&line=y&time=0.5");
    const { page } = watched;
    for (const id of ["profile", "series"]) {
      await page.click(`#${id}-table summary`);
      await page.waitForSelector(`#${id}-table tbody tr`);
      const rows = await page.$$eval(`#${id}-table tbody tr`, (all) =>
        all.map((row) => [...row.children].map((cell) => Number(cell.textContent))),
      );
      expect(rows.length).toBeGreaterThan(80);
      for (const row of [rows[0], rows[40], rows.at(-1)] as [number, number][]) {
        const point = id === "profile" ? [1, row[0], 3] : [1, 2, 3];
        const time = id === "profile" ? 0.5 : row[0];
        const parameters = { time, spatialInterpolation: "Lag6", temporalInterpolation: "PCHIP" };
        const answer = await askService(stage.service, "isotropic32", "GetVelocityAndPressure", parameters, point);
        expect(Math.fround(row[1])).toBe(answer[3]);
      }
      expect(await page.getAttribute(`#${id}`, "aria-label")).toMatch(/values from/);
    }
    expectClean(watched);
    await page.context().close();
  });

  it("keeps the whole view in the address", async () => {
    const query =
      "?dataset=isotropic32&field=Q&axis=y&time=0.4&values=Lag4&derivatives=None_Fd6&temporal=None&nodes=64&map=magma" +
      "&range=0.5,4&window=0.25,0.75,0.5,1.5&probe=1,2,3&line=z&seeds=line&count=9&tracker=GetPositionInertialParticle&dt=0.05" +
      "&steps=12&every=2&tp=0.3&scene=true&launched=true&start=0.2&drawing=rays&named=mine&contours=1,2&notes=1,2,3,a%2520note%253B&brush=Q,1,4&level=2&shape=symmetric&scaling=picture&click=lines&part=plane&frames=all&profileAxis=x&condition=ux&structure=Q&above=3&opacity=40&scenePlanes=false&logDensity=true&places=1,2,3,2,2,2&analysis=energy&camera=1.5,0.25,1&subject=profile&language=shell&theme=dark&at=1.25" +
      `&open=${TEST_PANELS}`;
    const watched = await open(query);
    const { page } = watched;
    await page.waitForSelector("#scene");
    await settled(page);
    const state = () =>
      page.$$eval("input, select, #record-time, #slice-readout, figcaption, #call", (all) =>
        all.map((element) => [element.id, (element as HTMLInputElement).value ?? element.textContent?.trim()]),
      );
    const first = await state();
    expect(new Map(new URL(page.url()).searchParams)).toEqual(new Map(new URLSearchParams(query)));
    expect(await page.textContent("#notice")).toBe("");
    await page.click("#copy-link");
    const link = await page.evaluate(() => navigator.clipboard.readText());
    const other = await openPage(stage.browser, link);
    await other.page.waitForSelector("#scene");
    await settled(other.page);
    expect(
      await other.page.$$eval("input, select, #record-time, #slice-readout, figcaption, #call", (all) =>
        all.map((element) => [element.id, (element as HTMLInputElement).value ?? element.textContent?.trim()]),
      ),
    ).toEqual(first);
    await other.page.focus("#scene");
    await other.page.keyboard.press("ArrowLeft");
    await expect.poll(() => new URL(other.page.url()).searchParams.get("camera")).not.toBe("1.5,0.25,1");
    expectClean(watched);
    expectClean(other);
    await page.context().close();
    await other.page.context().close();
  });

  it("falls back with a notice where the address is bad", async () => {
    const watched = await open("?dataset=nothing&field=temperature&axis=w&time=99&probe=1,2&__proto__=1&values=Lag8");
    const { page } = watched;
    expect(await page.textContent("#notice")).toMatch(
      /\(dataset=nothing, field=temperature, axis=w, time=99, probe=1,2\)/,
    );
    expect(await page.inputValue("#values")).toBe("Lag8");
    expect(await page.inputValue("#time-number")).toBe("0");
    expectClean(watched);
    await page.context().close();
  });

  it("never lets a stale answer win", async () => {
    const watched = await open("?field=ux");
    const { page } = watched;
    const held: (() => void)[] = [];
    await page.route(/slice\?.*at=1&/, async (route) => {
      const response = await route.fetch();
      await new Promise<void>((resolve) => held.push(resolve));
      await route.fulfill({ response }).catch(() => undefined);
    });
    await page.fill("#at-number", "1");
    await page.press("#at-number", "Enter");
    await expect.poll(() => held.length).toBe(1);
    await page.fill("#at-number", "2");
    await page.press("#at-number", "Enter");
    await expect.poll(async () => (await readOut(page)).point[2]).toBe(2);
    await settled(page);
    const before = await readOut(page);
    for (const release of held) release();
    await page.waitForLoadState("networkidle");
    expect(await readOut(page)).toEqual(before);
    const parameters = { time: 0, spatialInterpolation: "Lag6", temporalInterpolation: "PCHIP" };
    const answer = await askService(stage.service, "isotropic32", "GetVelocity", parameters, before.point);
    expect(Math.fround(before.value)).toBe(answer[0]);
    expectClean(watched);
    await page.context().close();
  });

  it("shows the dataset that was chosen last, however late the others come", async () => {
    const watched = await open();
    const { page } = watched;
    const held: (() => void)[] = [];
    await page.route(/api\/datasets\/lopsided$/, async (route) => {
      const response = await route.fetch();
      await new Promise<void>((resolve) => held.push(resolve));
      await route.fulfill({ response }).catch(() => undefined);
    });
    await page.selectOption("#dataset", "lopsided");
    await expect.poll(() => held.length).toBe(1);
    const chosen = page.waitForResponse(/api\/datasets\/isotropic32$/);
    await page.selectOption("#dataset", "isotropic32");
    await chosen;
    const answered = page.waitForResponse(/api\/datasets\/lopsided$/);
    for (const release of held) release();
    await answered;
    await settled(page);
    expect(await page.textContent("#facts-title")).toBe("Dataset isotropic32");
    expect(page.url()).toContain("dataset=isotropic32");
    expectClean(watched);
    await page.context().close();
  });

  it("offers to try again where the service does not answer at the start", async () => {
    const context = await stage.browser.newContext();
    const page = await context.newPage();
    await page.route(/api\/datasets$/, (route) => route.abort());
    await page.goto(stage.service.url);
    await expect.poll(() => page.textContent("[role=alert]")).toContain("The service is not answering");
    await page.unroute(/api\/datasets$/);
    await page.click("text=Try again");
    await page.waitForSelector("#slice-readout [data-value]");
    await context.close();
  });

  it("says what went wrong and tries again on request", async () => {
    const watched = await open();
    const { page } = watched;
    await page.route(/slice\?.*at=1&/, (route) => route.abort());
    await page.fill("#at-number", "1");
    await page.press("#at-number", "Enter");
    const alert = page.locator(".slice [role=alert]");
    await expect.poll(() => alert.textContent()).toBe("The service cannot be reached.");
    await page.unroute(/slice\?.*at=1&/);
    await page.getByRole("button", { name: "Try again: the slice" }).click();
    await expect.poll(async () => (await readOut(page)).point[2]).toBe(1);
    expect(await alert.count()).toBe(0);
    await page.context().close();
  });

  it("shows progress of what takes long, and stops on request", async () => {
    const watched = await open();
    const { page } = watched;
    await page.route(/slice\?.*at=1&/, () => undefined);
    await page.fill("#at-number", "1");
    await page.press("#at-number", "Enter");
    const cancel = page.getByRole("button", { name: "Cancel the slice" });
    await cancel.waitFor();
    expect(await page.locator(".slow progress").count()).toBe(1);
    await cancel.click();
    expect(await page.locator(".slice [role=alert]").textContent()).toBe("Cancelled.");
    await page.fill("#at-number", "2");
    await page.press("#at-number", "Enter");
    await expect.poll(() => page.locator(".slice [role=alert]").count()).toBe(0);
    expectClean(watched);
    await page.context().close();
  });

  it("copies calls that answer what is shown", async () => {
    const watched = await open("?subject=profile&field=uz&probe=1,2,3&line=x&time=0.5");
    const { page } = watched;
    const copied = async (language: string) => {
      await page.selectOption("#language", language);
      await page.click("#copy-call");
      await expect.poll(() => page.textContent(".request [role=status]")).toBe("Copied.");
      return page.evaluate(() => navigator.clipboard.readText());
    };
    await page.click("#profile-table summary");
    await page.waitForSelector("#profile-table tbody tr");
    const shown = await page.$$eval("#profile-table tbody tr", (all) =>
      all.map((row) => Number(row.lastElementChild?.textContent)),
    );
    const curl = await copied("curl");
    const { stdout } = await promisify(execFile)("bash", ["-c", curl], { encoding: "utf8" });
    const answer = JSON.parse(stdout) as { rows: number[][] };
    expect(answer.rows.map((row) => row[5])).toEqual(shown);
    const envelope = await copied("soap");
    const [, address = "", action = ""] = /POST (\S+)[\s\S]*SOAPAction: (\S+)/.exec(envelope) ?? [];
    const response = await fetch(address, {
      method: "POST",
      body: envelope,
      headers: { "content-type": "text/xml; charset=utf-8", soapaction: action },
    });
    const z = [...(await response.text()).matchAll(/<z>([^<]+)<\/z>/g)].map((match) => Number(match[1]));
    expect(z).toEqual(shown);
    for (const [language, pattern] of [
      ["python", /ds\.values\("u", points/],
      ["shell", /npx fieldprobe values \S+ u /],
    ] as const) {
      const text = await copied(language);
      expect(text).toMatch(pattern);
      expect(text).toContain("6.2831855");
    }
    expectClean(watched);
    await page.context().close();
  });

  it.each(["slice", "probe", "profile", "series", "particles"])(
    "saves %s as CSV and JSON with the same numbers",
    async (subject) => {
      const watched = await open(`?subject=${subject}&launched=true&count=4&steps=20&nodes=32`);
      const { page } = watched;
      await page.waitForSelector("#scene");
      const save = async (button: string) => {
        const [download] = await Promise.all([page.waitForEvent("download"), page.click(button)]);
        return readFileSync(await download.path(), "utf8");
      };
      const [head = "", ...rows] = (await save("#save-csv")).trimEnd().split("\r\n");
      const json = JSON.parse(await save("#save-json")) as {
        columns: string[];
        values: unknown[][];
        requests: unknown[];
      };
      expect(json.columns).toEqual(head.split(","));
      const quoted = (cell: string) => (/[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
      expect(json.values.map((row) => row.map((cell) => quoted(String(cell))).join(","))).toEqual(rows);
      expect(rows.length).toBeGreaterThan(20);
      expect(json.requests.length).toBeGreaterThan(0);
      expectClean(watched);
      await page.context().close();
    },
  );

  it("keeps a token in memory only", async () => {
    const watched = await open();
    const { page } = watched;
    const asked = page.waitForRequest((request) => request.headers().authorization === "Bearer secret-token");
    await page.click(".settings summary");
    await page.fill("#token", "secret-token");
    await page.press("#token", "Tab");
    await asked;
    await settled(page);
    const kept = await page.evaluate(() => [
      location.href,
      document.cookie,
      JSON.stringify({ ...localStorage, ...sessionStorage }),
    ]);
    expect(kept.join(" ")).not.toContain("secret-token");
    await page.reload();
    expect(await page.inputValue("#token")).toBe("");
    expectClean(watched);
    await page.context().close();
  });
});
