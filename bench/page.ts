/** The page in a real Chromium, first picture to isosurface: `npm run bench:page -- [--quick] [--json FILE]`. */
/// <reference lib="dom" />
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Browser, type CDPSession, chromium, type Page } from "playwright-core";
import { type Row, readOptions, report, summarise } from "./row.js";

const PROGRAM = fileURLToPath(new URL("../bin/fieldprobe.js", import.meta.url));
const BROWSERS = [process.env.FIELDPROBE_CHROMIUM ?? "", "/usr/bin/chromium", "/usr/bin/google-chrome"];
const ARGUMENTS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"];

/** A service with the shipped data on a free port. */
async function serve(): Promise<{ url: string; stop: () => void }> {
  const child = spawn(process.execPath, [PROGRAM, "serve", "--port", "0", "--log-level", "silent"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  for (;;) {
    const [part] = (await once(child.stdout, "data")) as [Buffer];
    text += part.toString();
    const url = /http:\/\/\S+/.exec(text)?.[0];
    if (url !== undefined) return { url, stop: () => child.kill() };
  }
}

/** Time from the request of the page to its first picture, and the bytes received until then. */
async function firstPicture(browser: Browser, url: string): Promise<{ ms: number; bytes: number }> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  const client = await page.context().newCDPSession(page);
  let bytes = 0;
  client.on("Network.loadingFinished", ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  await client.send("Network.enable");
  const started = performance.now();
  await page.goto(`${url}/?dataset=isotropic32`, { waitUntil: "commit" });
  await page.waitForSelector("#slice-readout [data-value]");
  const ms = performance.now() - started;
  await page.close();
  return { ms, bytes };
}

/** Time of the processor in the page's main thread so far, in milliseconds. */
async function cpuOf(client: CDPSession): Promise<number> {
  const { metrics } = await client.send("Performance.getMetrics");
  return 1000 * (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0);
}

async function openView(browser: Browser, url: string, query: string): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(`${url}/?${query}`);
  await page.waitForSelector("#slice-readout [data-value]");
  await page.waitForLoadState("networkidle");
  return page;
}

/** Pictures a second while time plays in a loop, once all frames are in the cache of the page. */
async function playedPictures(browser: Browser, url: string, nodes: number, seconds: number): Promise<number> {
  const page = await openView(browser, url, `nodes=${nodes}`);
  await page.selectOption("#speed", "30");
  await page.click("#time-play");
  const title = "#slice-title";
  const count = await page.evaluate(
    async ([selector, ms]) => {
      const target = document.querySelector(selector as string) as Element;
      await new Promise((resolve) => setTimeout(resolve, ms as number));
      let changes = 0;
      let last = target.textContent;
      const observer = new MutationObserver(() => {
        if (target.textContent !== last) changes++;
        last = target.textContent;
      });
      observer.observe(target, { characterData: true, subtree: true, childList: true });
      await new Promise((resolve) => setTimeout(resolve, ms as number));
      observer.disconnect();
      return changes;
    },
    [title, 1000 * seconds] as const,
  );
  await page.close();
  return count / seconds;
}

/** Pictures a second while the position of the plane is dragged, each one computed by the service. */
async function draggedPictures(browser: Browser, url: string, nodes: number, pictures: number): Promise<number> {
  const page = await openView(browser, url, `nodes=${nodes}`);
  const started = performance.now();
  for (let i = 0; i < pictures; i++) {
    const at = String(Math.fround(0.1 + (6 * i) / pictures));
    const arrived = page.waitForResponse((response) => response.url().includes("/slice?"));
    await page.fill("#at", at);
    await arrived;
  }
  const rate = (1000 * pictures) / (performance.now() - started);
  await page.close();
  return rate;
}

/** Processor time of one move of the pointer over the picture. */
async function pointerMove(browser: Browser, url: string, nodes: number, moves: number): Promise<number> {
  const page = await openView(browser, url, `nodes=${nodes}`);
  const client = await page.context().newCDPSession(page);
  await client.send("Performance.enable", { timeDomain: "threadTicks" });
  const box = await page.locator("#slice").boundingBox();
  if (box === null) throw new Error("there is no picture");
  await page.mouse.move(box.x + 5, box.y + 5);
  const before = await cpuOf(client);
  for (let i = 0; i < moves; i++) await page.mouse.move(box.x + 10 + (i % 300), box.y + 10 + ((7 * i) % 300));
  const after = await cpuOf(client);
  await page.close();
  return (after - before) / moves;
}

/** Processor time of the page's main thread in a second in which nothing happens. */
async function idle(browser: Browser, url: string, seconds: number): Promise<number> {
  const page = await openView(browser, url, "dataset=isotropic32");
  const client = await page.context().newCDPSession(page);
  await client.send("Performance.enable", { timeDomain: "threadTicks" });
  const before = await cpuOf(client);
  await page.waitForTimeout(1000 * seconds);
  const after = await cpuOf(client);
  await page.close();
  return (after - before) / seconds;
}

/** Time from the arrival of the volume to the isosurface, as the page states it. */
async function isosurface(browser: Browser, url: string, volume: number): Promise<number> {
  const page = await openView(browser, url, `scene=true&open=particles&surface=Q&volume=${volume}`);
  await page.waitForSelector("#scene[data-triangles]", { timeout: 120_000 });
  const note = (await page.textContent("#surface-note")) ?? "";
  await page.close();
  return Number(/in (\d+) ms/.exec(note)?.[1]);
}

async function measure(): Promise<void> {
  const options = readOptions();
  const executablePath = BROWSERS.find((path) => path !== "" && existsSync(path));
  if (executablePath === undefined) throw new Error("There is no Chromium; set FIELDPROBE_CHROMIUM to one.");
  const service = await serve();
  const browser = await chromium.launch({ executablePath, args: ARGUMENTS });
  const rows: Row[] = [];
  const add = async (name: string, unit: string, rounds: number, params: Row["params"], run: () => Promise<number>) => {
    const values: number[] = [];
    for (let round = 0; round < rounds; round++) values.push(await run());
    rows.push({ bench: "page", case: name, backend: "chromium", unit, params, ...summarise(values) });
  };
  try {
    const rounds = options.quick ? 3 : 7;
    await firstPicture(browser, service.url);
    await add("first picture", "ms", rounds, {}, async () => (await firstPicture(browser, service.url)).ms);
    await add("first picture", "bytes", 1, {}, async () => (await firstPicture(browser, service.url)).bytes);
    for (const nodes of [128, 256, 512]) {
      const params = { nodes };
      await add("play", "pictures/s", options.quick ? 1 : 3, params, () =>
        playedPictures(browser, service.url, nodes, 3),
      );
      await add("drag position", "pictures/s", options.quick ? 1 : 3, params, () =>
        draggedPictures(browser, service.url, nodes, 20),
      );
      await add("pointer move", "ms", rounds, params, () => pointerMove(browser, service.url, nodes, 60));
    }
    await add("idle", "ms/s", rounds, {}, () => idle(browser, service.url, 2));
    for (const volume of [64, 128]) {
      await add("isosurface", "ms", options.quick ? 1 : 3, { volume }, () => isosurface(browser, service.url, volume));
    }
  } finally {
    await browser.close();
    service.stop();
  }
  report(rows, options);
}

await measure();
