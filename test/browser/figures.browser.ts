/** Figures, meshes and data as files: vectors around one picture a pane, fonts embedded, samples of the service. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { inflateSync } from "node:zlib";
import { DOMParser } from "@xmldom/xmldom";
import type { Page } from "playwright-core";
import { PNG } from "pngjs";
import { describe, expect, it } from "vitest";
import { close, expectClean, findingsOf, openPage, pngIn, reason, rowIn, settled, useStage, valueAt } from "./stage.js";

const run = promisify(execFile);

async function saved(page: Page, button: string): Promise<string> {
  const [download] = await Promise.all([page.waitForEvent("download", { timeout: 400_000 }), page.click(button)]);
  return download.path();
}

/** What a browser plays of an MP4, and the number of its pictures. */
async function playedOf(page: Page, file: string) {
  const bytes = readFileSync(file);
  const played = await (await page.context().newPage()).evaluate(async (text) => {
    const video = Object.assign(document.createElement("video"), { src: `data:video/mp4;base64,${text}` });
    await new Promise((resolve) => video.addEventListener("loadeddata", resolve));
    return { seconds: video.duration, width: video.videoWidth, height: video.videoHeight };
  }, bytes.toString("base64"));
  return { ...played, count: bytes.readUInt32BE(bytes.indexOf("stsz") + 12) };
}

describe.skipIf(reason !== "")(`figures${reason}`, () => {
  const stage = useStage();
  const at = "x=2.6&y=3.6&z=3.125&time=1&view.flow=off";

  it("are vectors with one picture a pane, in SVG, PNG and PDF", async () => {
    const link = `${stage.service.url}/view/isotropic32?what=Q&view.brush=p+>=+0.1&${at}`;
    const { page, faults } = await openPage(stage.browser, link);
    await page.click(".bar .export");
    await page.waitForSelector(".preview svg");
    expect(await page.textContent(".sheet")).toContain("; region of p ≥ 0.1 and, faintly, surface of ");
    expect(await findingsOf(page)).toEqual([]);
    const svg = readFileSync(await saved(page, '.primary:text-is("SVG")'), "utf8");
    const document = new DOMParser().parseFromString(svg, "image/svg+xml");
    const texts = [...Array.from(document.getElementsByTagName("text"))].map((one) => one.textContent);
    expect(document.getElementsByTagName("image").length).toBe(6);
    for (const text of ["π", "x", "y", "z", "Q"]) expect(texts).toContain(text);
    expect(texts.filter((text) => /^xy +z = 3.125/.test(text ?? ""))).toHaveLength(1);
    expect(svg).toContain("@font-face");
    const png = PNG.sync.read(readFileSync(await saved(page, '.primary:text-is("PNG")')));
    expect(png.width).toBe(Math.round((178 / 25.4) * 300));
    expect([...png.data.subarray(0, 4)]).toEqual([255, 255, 255, 255]);
    // A file that is saved while another size is drawn has that size.
    const press = (name: string) => page.dispatchEvent(`.sheet button:text-is("${name}")`, "click");
    const [large] = await Promise.all([page.waitForEvent("download"), press("1080p"), press("PNG")]);
    expect(PNG.sync.read(readFileSync(await large.path())).width).toBe(1920);
    const pdf = await saved(page, '.primary:text-is("PDF")');
    const bytes = readFileSync(pdf);
    expect(bytes.subarray(0, 5).toString("latin1")).toBe("%PDF-");
    const fonts = await run("pdffonts", [pdf]).catch(() => null);
    if (fonts !== null) expect(fonts.stdout).toMatch(/Inter.*yes/);
    // Text is drawn as text: the pages have operators that show it, and the file holds a font program.
    const streams = [...bytes.toString("latin1").matchAll(/FlateDecode[^>]*>>\s*stream\r?\n([\s\S]*?)endstream/g)];
    const opened = streams.map(([, stream]) => {
      try {
        return inflateSync(Buffer.from(stream as string, "latin1")).toString("latin1");
      } catch {
        return "";
      }
    });
    expect(opened.some((text) => / Tj/.test(text) && / re\b| l\b/.test(text))).toBe(true);
    expect(bytes.toString("latin1")).toContain("/FontFile2");
    expectClean({ faults });
  });

  it("have the colours of the service's samples", async () => {
    const link = `${stage.service.url}/view/walls?what=u.x&view.show=slice:z&view.flow=off&view.range=u.x:0:1.5&view.map=cividis`;
    const { page, faults } = await openPage(stage.browser, link);
    await page.click(".bar .export");
    await page.waitForSelector(".preview svg image");
    const picture = pngIn((await page.getAttribute(".preview image", "href")) as string);
    const column = [0.25, 0.5, 0.75].map((part) => {
      const middle = picture.width >> 1;
      return rowIn(picture, Math.round(part * picture.height), middle, middle + 1);
    });
    // 1.5 (1 - y^2) is 1.5 in the middle, the last colour of cividis, and 1.125 half way to both walls.
    expect(column[1]).toEqual([253, 234, 69]);
    for (let c = 0; c < 3; c++)
      expect(Math.abs((column[0]?.[c] as number) - (column[2]?.[c] as number))).toBeLessThan(3);
    expectClean({ faults });
  });

  it("are movies of 1920 by 1080, which end with their dialog and leave the view as it was", async () => {
    const link = `${stage.service.url}/view/isotropic32?what=p&${at}&view.show=slice:z`;
    const { page } = await openPage(stage.browser, link);
    const before = page.url();
    await page.click(".bar .export");
    await page.click('.sheet .chips button:text-is("Movie")');
    await page.click('.chips button:text-is("Time")');
    const right = { width: 1920, height: 1080, seconds: 3, count: 12 };
    expect(await playedOf(page, await saved(page, '.primary:text-is("Record")'))).toEqual(right);
    await page.click('.primary:text-is("Record")');
    await page.keyboard.press("Escape");
    await page.waitForFunction((url) => location.href === url, before);
  });

  it("are turntables with every picture drawn", async () => {
    const link = `${stage.service.url}/view/isotropic32?what=p&${at}&view.show=3d&view.camera=40,20,3`;
    const { page, faults } = await openPage(stage.browser, link, { viewport: { width: 900, height: 400 } });
    await page.click(".bar .export");
    await page.click('.sheet .chips button:text-is("Movie")');
    const turned = await playedOf(page, await saved(page, '.primary:text-is("Record")'));
    expect(turned).toMatchObject({ seconds: 3, count: 90 });
    expectClean({ faults });
  });

  it("saves the surface as a mesh, and a box of nodes as the service has it", async () => {
    const { page, faults } = await openPage(stage.browser, `${stage.service.url}/view/isotropic32?what=Q&${at}`);
    await page.click(".bar .export");
    await page.click('.sheet .chips button:text-is("Data")');
    const glb = readFileSync(await saved(page, 'button:text-is("GLB")'));
    expect(glb.readUInt32LE(8)).toBe(glb.length);
    const scene = JSON.parse(glb.toString("utf8", 20, 20 + glb.readUInt32LE(12)));
    expect(scene.accessors[3].count).toBeGreaterThan(1000);
    expect(scene.asset.extras).toMatchObject({ dataset: "isotropic32", time: 1 });
    const vtp = readFileSync(await saved(page, 'button:text-is("VTP")'));
    const startOf = (name: string) => {
      const [, offset] = new RegExp(`Name="${name}"[^>]*offset="(\\d+)"`).exec(vtp.toString("latin1")) as string[];
      return vtp.indexOf('"raw">_') + 7 + Number(offset) + 4;
    };
    const points = [0, 8, 16].map((i) => vtp.readDoubleLE(startOf("Points") + i)).join();
    const right = await valueAt(stage.service, "isotropic32", { what: "norm(u)", time: "1", points });
    close(vtp.readFloatLE(startOf("norm.u.")), right);
    await page.fill('[aria-label="Nodes along x"]', "4:8");
    await page.fill('[aria-label="Nodes along y"]', "0:2");
    await page.fill('[aria-label="Nodes along z"]', "7");
    await page.press('[aria-label="Nodes along z"]', "Enter");
    await page.waitForSelector("text=4 × 2 × 1 nodes");
    const link = page.locator('section:has(h3:text-is("Box of stored nodes")) a:text-is("CSV")');
    const csv = await (await fetch((await link.getAttribute("href")) as string)).text();
    const rows = csv.trim().split(/\r?\n/);
    expect(rows).toHaveLength(9);
    const query = "what=Q&i=4&j=0&k=7&time=1";
    const { data } = await (await fetch(`${stage.service.url}/api/datasets/isotropic32/nodes?${query}`)).json();
    expect(Number(rows[1]?.split(",").at(-1))).toBe(data.Q);
    await settled(page);
    expectClean({ faults });
  });
});
