/** The page in a real Chromium, first picture to isosurface: `npm run bench:page -- [--quick] [--json FILE]`. */
/// <reference lib="dom" />
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { type Row, readOptions, report, summarise } from "./row.js";

const PROGRAM = fileURLToPath(new URL("../bin/fieldprobe.js", import.meta.url));
const SHIPPED = fileURLToPath(new URL("../data", import.meta.url));
const BROWSERS = [process.env.FIELDPROBE_CHROMIUM ?? "", "/usr/bin/chromium", "/usr/bin/google-chrome"];
/** Software WebGL: whoever has a graphics card sees more. */
const ARGUMENTS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"];
const SIZE = { width: 1440, height: 900 };

/** What the page offers to benches. */
interface Probe {
  settled(): Promise<void>;
  /** Pictures with another plane or surface than before whose commands the graphics card has finished. */
  readonly finished: number;
}
declare const stage: Probe;

/** Wall time and processor time of all processes of the browser, in milliseconds. */
interface Cost {
  readonly ms: number;
  readonly cpu: number;
}

/** A service with the shipped data and a box of 192 nodes a side, on a free port. */
async function serve(folder: string): Promise<{ url: string; stop: () => void }> {
  const large = join(folder, "waves192");
  const words = ["generate", "random", "--smooth", "--nodes", "192", "--name", "waves192", "--out", large];
  execFileSync(process.execPath, [PROGRAM, ...words], { stdio: "ignore" });
  const environment = { ...process.env, FIELDPROBE_DATA: [SHIPPED, large].join(delimiter) };
  const flags = ["--port", "0", "--log-level", "silent", "--state", join(folder, "state")];
  const child = spawn(process.execPath, [PROGRAM, "serve", ...flags], {
    stdio: ["ignore", "pipe", "inherit"],
    env: environment,
  });
  let text = "";
  for (;;) {
    const [part] = (await once(child.stdout, "data")) as [Buffer];
    text += part.toString();
    const url = /http:\/\/\S+/.exec(text)?.[0];
    if (url !== undefined) return { url, stop: () => child.kill() };
  }
}

async function cpuOf(browser: Browser): Promise<number> {
  const client = await browser.newBrowserCDPSession();
  const { processInfo } = await client.send("SystemInfo.getProcessInfo");
  await client.detach();
  return 1000 * processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0);
}

async function costOf(browser: Browser, run: () => Promise<void>): Promise<Cost> {
  const [started, before] = [performance.now(), await cpuOf(browser)];
  await run();
  return { ms: performance.now() - started, cpu: (await cpuOf(browser)) - before };
}

async function newPage(browser: Browser): Promise<Page> {
  return (await browser.newContext({ viewport: SIZE })).newPage();
}

async function openView(browser: Browser, address: string): Promise<Page> {
  const page = await newPage(browser);
  await page.goto(address);
  await page.waitForFunction(() => "stage" in globalThis);
  await page.evaluate(() => stage.settled());
  return page;
}

/** Bytes as sent of document, scripts, styles and fonts until everything is drawn. */
async function firstLoad(browser: Browser, url: string): Promise<number> {
  const page = await newPage(browser);
  const client = await page.context().newCDPSession(page);
  const own = new Set<string>();
  let bytes = 0;
  client.on("Network.requestWillBeSent", ({ requestId, type }) => {
    if (["Document", "Script", "Stylesheet", "Font"].includes(type ?? "")) own.add(requestId);
  });
  client.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    if (own.has(requestId)) bytes += encodedDataLength;
  });
  await client.send("Network.enable");
  await page.goto(url);
  await page.waitForFunction(() => "stage" in globalThis);
  await page.evaluate(() => stage.settled());
  await page.context().close();
  return bytes;
}

/** From the request of a page that the browser has never seen to its first picture, or until everything is drawn. */
async function opened(browser: Browser, address: string, whole: boolean): Promise<Cost> {
  const page = await newPage(browser);
  const cost = await costOf(browser, async () => {
    await page.goto(address, { waitUntil: "commit" });
    await page.waitForFunction(() => "stage" in globalThis && stage.finished > 0);
    if (whole) await page.evaluate(() => stage.settled());
  });
  await page.context().close();
  return cost;
}

/** Pictures shown while the crosshair is dragged by a hundred moves, 60 a second, until a second after the last. */
async function dragged(browser: Browser, address: string): Promise<{ pictures: number; cost: Cost }> {
  const page = await openView(browser, address);
  const client = await page.context().newCDPSession(page);
  const box = await page.locator(".stage").boundingBox();
  if (box === null) throw new Error("there is no stage");
  const at = (i: number) => ({ x: box.x + 60 + 1.6 * i, y: box.y + 60 + 1.2 * i });
  await page.mouse.move(at(0).x, at(0).y);
  await page.mouse.down();
  const before = await page.evaluate(() => stage.finished);
  let pictures = 0;
  const cost = await costOf(browser, async () => {
    const sent: Promise<unknown>[] = [];
    for (let i = 1; i <= 100; i++) {
      sent.push(client.send("Input.dispatchMouseEvent", { type: "mouseMoved", button: "left", buttons: 1, ...at(i) }));
      await new Promise((next) => setTimeout(next, 1000 / 60));
    }
    await Promise.all(sent);
    await page.evaluate(() => new Promise(requestAnimationFrame));
    pictures = (await page.evaluate(() => stage.finished)) - before;
  });
  await page.mouse.up();
  await page.context().close();
  return { pictures, cost };
}

/** Pictures a second while time plays, once all stored times have been shown. */
async function played(browser: Browser, address: string, seconds: number): Promise<{ rate: number; cpu: number }> {
  const page = await openView(browser, address);
  const faster = page.locator('button[aria-label$="speed of play"]');
  while (!(await faster.textContent())?.startsWith("16")) await faster.click();
  await page.click(".play");
  await page.waitForTimeout(2000 * seconds);
  const before = await page.evaluate(() => stage.finished);
  const cost = await costOf(browser, () => page.waitForTimeout(1000 * seconds));
  const pictures = (await page.evaluate(() => stage.finished)) - before;
  await page.context().close();
  return { rate: (1000 * pictures) / cost.ms, cpu: cost.cpu / cost.ms };
}

/** Processor time of the browser in a second in which nobody does anything. */
async function idle(browser: Browser, address: string, seconds: number): Promise<number> {
  const page = await openView(browser, address);
  const cost = await costOf(browser, () => page.waitForTimeout(1000 * seconds));
  await page.context().close();
  return cost.cpu / seconds;
}

async function measure(): Promise<void> {
  const options = readOptions();
  const executablePath = BROWSERS.find((path) => path !== "" && existsSync(path));
  if (executablePath === undefined) throw new Error("There is no Chromium; set FIELDPROBE_CHROMIUM to one.");
  const folder = mkdtempSync(join(tmpdir(), "fieldprobe-bench-page-"));
  const service = await serve(folder);
  const browser = await chromium.launch({ executablePath, args: ARGUMENTS });
  const rows: Row[] = [];
  const rounds = options.quick ? 1 : 5;
  const add = async (name: string, params: Row["params"], run: () => Promise<Readonly<Record<string, number>>>) => {
    const all: Record<string, number[]> = {};
    for (let round = 0; round < rounds; round++)
      for (const [unit, value] of Object.entries(await run())) all[unit] = [...(all[unit] ?? []), value];
    for (const [unit, values] of Object.entries(all))
      rows.push({ bench: "page", case: name, backend: "chromium", unit, params, ...summarise(values) });
  };
  const view = (name: string, more = "") => `${service.url}/view/${name}?${more}`;
  try {
    // Once unmeasured: the service is warm, the browser's cache is not.
    await opened(browser, service.url, true);
    await add("first load", {}, async () => ({ bytes: await firstLoad(browser, service.url) }));
    await add("first picture", { nodes: 64 }, async () => ({ ...(await opened(browser, service.url, false)) }));
    await add("everything drawn", { nodes: 64 }, async () => ({ ...(await opened(browser, service.url, true)) }));
    for (const [name, nodes] of [
      ["isotropic64", 64],
      ["waves192", 192],
    ] as const)
      await add("100 moves", { nodes }, async () => {
        const { pictures, cost } = await dragged(browser, view(name, "what=norm(omega)&view.show=four"));
        return { pictures, ...cost };
      });
    const seconds = options.quick ? 2 : 5;
    for (const show of ["slice:z", "3d"])
      await add("play", { show }, async () => {
        const { rate, cpu } = await played(browser, view("isotropic64", `view.show=${show}`), seconds);
        return { "pictures/s": rate, "cpu/s": cpu };
      });
    await add("isosurface", { nodes: 192 }, async () => ({
      ...(await opened(browser, view("waves192", "view.show=3d&view.flow=off"), true)),
    }));
    for (const flow of ["streaks", "off"])
      await add("idle", { flow }, async () => ({
        "ms/s": await idle(browser, view("isotropic64", `view.show=four&view.flow=${flow}`), 3),
      }));
  } finally {
    await browser.close();
    service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  report(rows, options);
}

await measure();
