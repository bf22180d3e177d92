/** What people take away: figures, movies, files of numbers, named views and notes; and what welcomes them. */
import { readFileSync } from "node:fs";
import { inflateSync } from "node:zlib";
import { unzipSync } from "fflate";
import type { Page } from "playwright-core";
import { PNG } from "pngjs";
import { describe, expect, it } from "vitest";
import { findChromium } from "./find-chromium.js";
import { callsOf, expectClean, openBare, openPage, settled, useStage } from "./stage.js";

const reason = findChromium() === undefined ? " (skipped: no Chromium; set FIELDPROBE_CHROMIUM)" : "";

/** What the streams of a PDF hold, as text. */
function streamsOf(pdf: Buffer): string {
  const text = pdf.toString("latin1");
  const streams = text.matchAll(/\/Length (\d+) >>\nstream\n/g);
  return [...streams]
    .map(({ 0: head, 1: length, index }) =>
      inflateSync(pdf.subarray(index + head.length, index + head.length + Number(length))),
    )
    .map((bytes) => bytes.toString("latin1"))
    .join("\n");
}

/** Whether a picture has a square of so many pixels a side that are all as dark as ink. */
function hasDisc({ width, height, data }: PNG, side: number): boolean {
  const isInk = (x: number, y: number) => {
    const [r = 0, g = 0, b = 0] = data.subarray(4 * (y * width + x));
    return r < 45 && g < 50 && b < 60;
  };
  const cells = Array.from({ length: side * side }, (_, i) => [i % side, Math.floor(i / side)] as const);
  for (let y = 0; y + side <= height; y++)
    for (let x = 0; x + side <= width; x++) if (cells.every(([dx, dy]) => isInk(x + dx, y + dy))) return true;
  return false;
}

describe.skipIf(reason !== "")(`take away${reason}`, () => {
  const stage = useStage();
  const open = (query: string) =>
    openPage(stage.browser, `${stage.service.url}/?dataset=isotropic32&nodes=32&${query}`);

  async function save(page: Page, button: string): Promise<{ name: string; bytes: Buffer }> {
    const [download] = await Promise.all([page.waitForEvent("download", { timeout: 50_000 }), page.click(button)]);
    return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
  }

  it("saves planes together with the 3-D view at twice its resolution, as SVG, PNG and PDF", async () => {
    const watched = await open("layout=three&scene=true&notes=1,2,3.1415927,Here");
    const { page } = watched;
    await page.waitForSelector('#scene[data-planes="3"]');
    const scene = await page.locator("#scene").boundingBox();
    const svg = (await save(page, "#figure-svg")).bytes.toString("utf8");
    expect(svg.match(/<clipPath id="plane-\d"/g)).toHaveLength(3);
    for (const part of ["Vorticity magnitude", "CITATION.cff", "dataset=isotropic32", "digest"])
      expect(svg).toContain(part);
    const images = [...svg.matchAll(/base64,([^"]+)"/g)].map(([, data = ""]) =>
      PNG.sync.read(Buffer.from(data, "base64")),
    );
    const saved = images.find(({ width }) => Math.abs(width - 2 * (scene?.width ?? 0)) <= 2);
    if (saved === undefined) throw new Error("no 3-D view in the figure");
    // The grips of planes are discs of ink on the page, and no part of the figure.
    const onPage = PNG.sync.read(await page.locator("#scene").screenshot());
    expect([hasDisc(onPage, 5), hasDisc(saved, 10)]).toEqual([true, false]);
    const texts = [...svg.matchAll(/xml:space="preserve">([^<]*)</g)].map(([, text = ""]) => text.length);
    expect(Math.max(...texts)).toBeLessThan(260);
    const [, width = "0"] = /width="(\d+)"/.exec(svg) ?? [];
    expect(
      Math.abs(PNG.sync.read((await save(page, "#figure-png")).bytes).width - 2 * Number(width)),
    ).toBeLessThanOrEqual(2);
    const pdf = (await save(page, "#figure-pdf")).bytes;
    expect(pdf.subarray(0, 8).toString()).toBe("%PDF-1.4");
    expect(pdf.toString("latin1")).toMatch(
      /\/MediaBox \[0 0 [\d.]+ [\d.]+\][\s\S]*\/URI \(http[^)]*dataset=isotropic32[\s\S]*%%EOF\n$/,
    );
    const drawn = streamsOf(pdf);
    const title = Buffer.from("Vorticity magnitude at ").toString("hex");
    // Texts are texts, the cut planes lie in frames of lines, and their pictures are placed between them.
    expect(drawn).toContain(`<${title}`);
    expect(drawn).toMatch(/ m [\d.]+ [\d.]+ l\nS\n/);
    expect(drawn.match(/\/P\d+ Do/g)?.length).toBeGreaterThanOrEqual(4);
    const at = Number(/startxref\n(\d+)/.exec(pdf.toString("latin1"))?.[1]);
    expect(pdf.subarray(at, at + 4).toString()).toBe("xref");
    expectClean(watched);
    await page.context().close();
  });

  it("saves charts, and numbers as the service writes them", async () => {
    const watched = await open("subject=profile");
    const { page } = watched;
    const chart = (await save(page, "#figure-svg")).bytes.toString("utf8");
    const pdf = (await save(page, "#figure-pdf")).bytes;
    const [, curve = ""] = /<path d="([^"]+)"/.exec(chart) ?? [];
    const points = curve.slice(1).split("L");
    expect(points.length).toBeGreaterThan(100);
    expect(streamsOf(pdf)).toContain(`${points[0]} m\n${points[1]} l\n${points[2]} l`);
    expect(pdf.toString("latin1")).not.toContain("/Subtype /Image");
    for (const part of ["Line profile of vorticity", "<path d=", ">x<"]) expect(chart).toContain(part);
    expect((await save(page, "#save-npy")).bytes.subarray(1, 6).toString()).toBe("NUMPY");
    await page.selectOption("#subject", "slice");
    const npy = await save(page, "#save-npy");
    expect(npy.name).toMatch(/^isotropic32-vorticity-z.*\.npy$/);
    expect(npy.bytes.toString("latin1")).toContain("(32, 32)");
    expect((await save(page, "#save-nc")).bytes.subarray(1, 4).toString()).toBe("HDF");
    expectClean(watched);
    await page.context().close();
  });

  it("films all times as PNG files and as WebM, and stops when asked", async () => {
    const watched = await open("time=0.4");
    const { page } = watched;
    const { times } = await (await fetch(`${stage.service.url}/api/datasets/isotropic32`)).json();
    await page.selectOption("#movie-speed", "30");
    await page.selectOption("#movie-pictures", "2");
    const saved = await save(page, "#movie-zip");
    expect(saved.name).toContain(`-t${times.first}-${times.last}.zip`);
    const zip = unzipSync(new Uint8Array(saved.bytes));
    expect(Object.keys(zip)).toHaveLength(2 * times.stored.length - 1);
    await page.selectOption("#movie-pictures", "1");
    const pictures = Object.values(zip).map((bytes) => PNG.sync.read(Buffer.from(bytes)));
    expect(new Set(pictures.map(({ data }) => data.toString("base64"))).size).toBe(pictures.length);
    expect([...(await save(page, "#movie-webm")).bytes.subarray(0, 4)]).toEqual([0x1a, 0x45, 0xdf, 0xa3]);
    await expect.poll(() => new URL(page.url()).searchParams.get("time")).toBe("0.4");
    await page.click("#movie-zip");
    // A link made now would have the time of one of its pictures.
    expect([await page.isDisabled("#copy-link"), await page.isDisabled("#copy-call")]).toEqual([true, true]);
    await page.click("#movie-cancel");
    await expect.poll(() => page.locator("#movie-zip").count()).toBe(1);
    expect(await page.textContent(".request [role=status]")).toContain("Cancelled");
    expectClean(watched);
    await page.context().close();
  });

  it("keeps views by name in link and browser, and notes on the picture", async () => {
    const watched = await open("field=Q");
    const { page } = watched;
    await page.fill("#note-text", "A vortex; here");
    await page.click("#add-note");
    await page.fill("#view-name", "My vortex");
    await page.click("#keep-view");
    await settled(page);
    expect(new URL(page.url()).searchParams.get("named")).toBe("My vortex");
    expect(await page.title()).toContain("My vortex");
    await page.selectOption("#field", "p");
    await settled(page);
    await page.reload();
    await settled(page);
    await page.click('#kept-views button:text-is("My vortex")');
    await settled(page);
    expect(await page.inputValue("#field")).toBe("Q");
    expect(await page.textContent("#notes")).toContain("A vortex; here");
    await page.click('[aria-label="Forget the view My vortex"]');
    expect(await page.locator("#kept-views li").count()).toBe(0);
    expectClean(watched);
    await page.context().close();
  });

  it("leads through the flow in seven steps, and back to one's own view", async () => {
    const watched = await openBare(stage.browser, `${stage.service.url}/?dataset=lopsided&field=p`);
    const { page } = watched;
    await page.click("#tour");
    const titles = new Set<string>();
    for (let step = 1; step <= 7; step++) {
      await expect.poll(() => page.textContent("#tour-title")).toMatch(new RegExp(`^${step} of 7`));
      titles.add((await page.textContent("#tour-title")) ?? "");
      await settled(page);
      expect(await page.locator("[role=alert]").count()).toBe(0);
      if (step < 7) await page.click("#tour-next");
    }
    expect(titles.size).toBe(7);
    await page.click("#tour-return");
    await expect.poll(() => page.inputValue("#field")).toBe("p");
    expect(await page.locator("#tour-box").isVisible()).toBe(false);
    expectClean(watched);
    await page.context().close();
  });

  it("begins alive: finely sampled, with streaks, playing until it is touched; never for less motion", async () => {
    const calm = await openBare(stage.browser, `${stage.service.url}/`, { reducedMotion: "reduce" });
    expect(await calm.page.textContent("#time-play")).toContain("Play");
    expect(await calm.page.inputValue("#overlay")).toBe("none");
    await calm.page.context().close();
    const context = await stage.browser.newContext({ reducedMotion: "no-preference" });
    const page = await context.newPage();
    const requests: string[] = [];
    page.on("request", (request) => requests.push(...callsOf(request)));
    // It goes on asking for pictures, so it never settles.
    await page.goto(`${stage.service.url}/`);
    await page.waitForSelector("#slice-readout [data-value]");
    expect(requests.some((url) => url.includes("nodes=512%2C512"))).toBe(true);
    expect(await page.inputValue("#overlay")).toBe("streamlines");
    const history = await page.evaluate(() => window.history.length);
    await expect.poll(() => page.textContent("#play-time"), { timeout: 40_000 }).not.toBe("t = 0");
    await page.mouse.click(5, 5);
    await expect.poll(() => page.textContent("#time-play")).toContain("Play");
    expect(await page.evaluate(() => window.history.length)).toBe(history);
    await page.goto(`${stage.service.url}/`);
    await expect.poll(() => page.textContent("#time-play")).toContain("Pause");
    await page.keyboard.press(" ");
    await expect.poll(() => page.textContent("#time-play")).toContain("Play");
    await context.close();
  });

  it("drags planes in the 3-D view, draws volumes by rays, and goes across seams", async () => {
    const watched = await open("axis=x&scene=true&camera=0,0,2.2&surface=Q&drawing=rays&volume=32");
    const { page } = watched;
    await page.waitForSelector("#scene[data-rays]");
    expect(await page.getAttribute("#scene", "data-rays")).toBe(String(32 ** 3));
    expect(await page.textContent("#scene-note")).toMatch(
      /Volume at t = 0: Second invariant Q, clear within ±[\d.]+ \(/,
    );
    expect(await page.textContent("#scene-note")).not.toMatch(/Surface|volume lies/);
    expect((await page.textContent("#surface-note"))?.trim()).toBe("");
    // The paper is seen through values about zero, which most of the box has; vortices are purple, as in the bar.
    const drawn = await page.$eval("#scene", (element) => {
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [64, 64];
      const context = canvas.getContext("2d") as CanvasRenderingContext2D;
      context.drawImage(element as HTMLCanvasElement, 0, 0, 64, 64);
      const { data } = context.getImageData(16, 16, 32, 32);
      const pixels = Array.from({ length: 1024 }, (_, i) => [...data.subarray(4 * i, 4 * i + 3)]);
      const paper = pixels.filter((pixel) => Math.min(...pixel) > 235).length;
      return {
        paper,
        purple: pixels.filter(([red = 0, green = 0, blue = 0]) => blue > green + 20 && red > green).length,
      };
    });
    expect(drawn.paper).toBeGreaterThan(200);
    expect(drawn.purple).toBeGreaterThan(20);
    const box = await page.locator("#scene").boundingBox();
    if (box === null) throw new Error("no scene");
    // The grip of the plane x = pi: the middle of the upper edge of the front face, half a length in front.
    const up = 0.5 / ((2.2 - 0.5) * Math.tan((20 * Math.PI) / 180));
    const y = box.y + (box.height / 2) * (1 - up * Math.min(1, box.width / box.height));
    await page.mouse.move(box.x + box.width / 2, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 + 60, y, { steps: 3 });
    await page.mouse.up();
    await settled(page);
    expect(Number(new URL(page.url()).searchParams.get("at"))).toBeGreaterThan(3.4);
    expect(new URL(page.url()).searchParams.get("camera")).toBe("0,0,2.2");
    const bars = () => page.$$eval(".scene .bar-name", (all) => all.map((bar) => bar.textContent));
    expect(await bars()).toEqual(["Planes: Vorticity magnitude", expect.stringMatching(/^Volume: Second invariant Q/)]);
    await page.uncheck("#scene-planes");
    await expect.poll(() => page.getAttribute("#scene", "data-planes")).toBe("0");
    expect(await bars()).toEqual([expect.stringMatching(/^Volume: Second invariant Q/)]);
    await page.click("#close-scene");
    await settled(page);
    const plane = await page.locator("#slice").boundingBox();
    if (plane === null) throw new Error("no slice");
    await page.mouse.move(plane.x + 0.5 * plane.width, plane.y + 0.5 * plane.height);
    await page.mouse.down();
    await page.mouse.move(plane.x + 0.25 * plane.width, plane.y + 0.5 * plane.height, { steps: 3 });
    await page.mouse.up();
    await settled(page);
    const [left = 0, right = 0] = (new URL(page.url()).searchParams.get("window") ?? "").split(",").map(Number);
    expect([right - left, left]).toEqual([expect.closeTo(2 * Math.PI, 4), expect.closeTo(Math.PI / 2, 1)]);
    await page.mouse.click(plane.x + 0.9 * plane.width, plane.y + 0.5 * plane.height);
    await settled(page);
    const [, across = -1] = (new URL(page.url()).searchParams.get("probe") ?? "").split(",").map(Number);
    expect(across).toBeCloseTo(left + 0.9 * 2 * Math.PI - 2 * Math.PI, 0);
    expectClean(watched);
    await page.context().close();
  });
});
