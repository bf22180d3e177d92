/** The page on a real service in a real browser, watched for everything that must not happen. */
import { type Browser, type BrowserContextOptions, chromium, type Page, type Request } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import type { RunningService } from "../../src/main.js";
import { serveTestData } from "../support/service.js";
import { writeDatasets } from "./datasets.js";
import { findChromium } from "./find-chromium.js";

/** Software WebGL, so that the 3-D view works without a graphics card. */
const WITH_WEBGL = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"];
const WITHOUT_WEBGL = ["--no-sandbox", "--disable-gpu", "--disable-3d-apis"];

/** The faults of a watched page so far. */
export interface Faults {
  readonly violations: string[];
  readonly errors: string[];
  readonly strangers: string[];
}

export interface Watched {
  readonly page: Page;
  readonly faults: Faults;
  /** Addresses asked for, in order. */
  readonly requests: string[];
  /** The same with the planes, boxes and flow maps of batches at addresses of their own. */
  readonly calls: string[];
}

/** Requests of a page that have no answer yet. */
const unanswered = new WeakMap<Page, Set<Request>>();

function countRequests(page: Page): void {
  const open = new Set<Request>();
  unanswered.set(page, open);
  page.on("request", (request) => open.add(request));
  for (const event of ["requestfinished", "requestfailed"] as const) {
    page.on(event as "requestfinished", (request) => void open.delete(request));
  }
}

export async function launch(webgl = true): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error("no Chromium was found");
  return chromium.launch({ executablePath, args: webgl ? WITH_WEBGL : WITHOUT_WEBGL });
}

/** The service and a browser for the tests of one group; they are there from its first test to its last. */
export function useStage(): { readonly service: RunningService; readonly browser: Browser } {
  const stage = {} as { service: RunningService; browser: Browser };
  beforeAll(async () => {
    stage.service = await serveTestData(await writeDatasets());
    stage.browser = await launch();
  });
  afterAll(async () => {
    await stage.browser?.close();
    await stage.service?.close();
  });
  return stage;
}

/** The panels that tests open beside the picture: those that ask for no more than a batch. */
export const TEST_PANELS = "probe,profile,series,particles,export,points,cutout,views,jobs,facts";

/** The address of a request; those of the calls of a batch whose members fit a query string. */
export function callsOf(request: Request): string[] {
  if (!request.url().endsWith("/api/batch")) return [request.url()];
  const { queries } = request.postDataJSON() as { queries: Record<string, unknown>[] };
  return queries.flatMap(({ dataset, operation, ...members }) => {
    if (Object.hasOwn(members, "points")) return [];
    const query = new URLSearchParams(Object.entries(members).map(([name, value]) => [name, String(value)]));
    const own = operation === "slice" || operation === "volume" ? `?${query}` : "";
    return [new URL(`datasets/${dataset}/${operation}${own}`, request.url()).href];
  });
}

/** Opens every group of controls. */
async function openControls(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const group of document.querySelectorAll<HTMLDetailsElement>("form.controls details")) group.open = true;
  });
}

/** A page with panels and controls open, on the small flow if the address names no dataset. */
export function openPage(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Watched> {
  const address = new URL(url);
  if (!address.searchParams.has("dataset")) address.searchParams.set("dataset", "isotropic32");
  if (!address.searchParams.has("open")) address.searchParams.set("open", TEST_PANELS);
  return openBare(browser, address.href.replaceAll("%2C", ","), options);
}

/** A page as it is, that reports policy violations, console errors and requests to other origins. */
export async function openBare(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: new URL(url).origin });
  const page = await context.newPage();
  countRequests(page);
  const faults: Faults = { violations: [], errors: [], strangers: [] };
  const requests: string[] = [];
  const calls: string[] = [];
  await page.exposeFunction("reportViolation", (text: string) => void faults.violations.push(text));
  await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) => {
      const report = (globalThis as unknown as { reportViolation: (text: string) => void }).reportViolation;
      report(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`);
    });
  });
  page.on("console", (message) => {
    if (message.type() === "error") faults.errors.push(message.text());
  });
  page.on("pageerror", (error) => faults.errors.push(error.message));
  page.on("request", (request) => {
    requests.push(request.url());
    calls.push(...callsOf(request));
    if (!/^(?:blob|data):/.test(request.url()) && new URL(request.url()).origin !== new URL(url).origin) {
      faults.strangers.push(request.url());
    }
  });
  await page.goto(url);
  await settled(page);
  if (new URL(url).searchParams.has("open")) {
    if ((options.viewport?.width ?? 1280) < 960) await page.click("#fold");
    await openControls(page);
  }
  return { page, faults, requests, calls };
}

/** Refuses one of the queries of every batch that has more than one, as a service without the method does. */
export async function refuseInBatches(page: Page, index: number): Promise<void> {
  await page.route(/api\/batch$/, async (route) => {
    const response = await route.fetch();
    const body = await response.body();
    const begin = body.indexOf("\n") + 1;
    const { results } = JSON.parse(body.toString("utf8", 0, begin)) as { results: { numbers: number }[] };
    if (results.length < 2) return route.fulfill({ response });
    const from = results.slice(0, index).reduce((sum, { numbers }) => sum + 4 * numbers, begin);
    const to = from + 4 * (results[index]?.numbers ?? 0);
    const problem = { code: "Unsupported", detail: "Not by this method." };
    const heads = results.map((result, i) => (i === index ? { problem, numbers: 0 } : result));
    const line = Buffer.from(JSON.stringify({ results: heads }));
    const end = Buffer.from(`${" ".repeat(3 - (line.length % 4))}\n`);
    const { "content-length": _, ...headers } = response.headers();
    return route.fulfill({ headers, body: Buffer.concat([line, end, body.subarray(begin, from), body.subarray(to)]) });
  });
}

/** Waits until the slice has been read, every request is answered, and what was answered is drawn. */
export async function settled(page: Page): Promise<void> {
  await page.waitForSelector("#slice-readout [data-value]");
  const frames = () =>
    page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  for (;;) {
    await frames();
    const open = unanswered.get(page) ?? new Set();
    if (open.size === 0) return;
    const [first] = open;
    const response = await first?.response().catch(() => null);
    await response?.finished().catch(() => null);
  }
}

/** Fails if the page has done anything it must not do. */
export function expectClean({ faults }: Watched): void {
  expect(faults).toEqual({ violations: [], errors: [], strangers: [] });
}

/** Values of an operation at one point, from the service directly. */
export async function askService(
  service: RunningService,
  dataset: string,
  operation: string,
  parameters: object,
  point: readonly number[],
): Promise<number[]> {
  const response = await fetch(`${service.url}/api/datasets/${dataset}/${operation}`, {
    method: "POST",
    body: JSON.stringify({ ...parameters, points: [point] }),
    headers: { "content-type": "application/json", accept: "application/octet-stream" },
  });
  if (!response.ok) throw new Error(await response.text());
  return [...new Float32Array(await response.arrayBuffer())];
}

/** Records of an operation at many points in a row, from the service directly. */
export async function askMany(
  service: RunningService,
  dataset: string,
  operation: string,
  parameters: object,
  points: readonly (readonly number[])[],
): Promise<number[]> {
  const response = await fetch(`${service.url}/api/datasets/${dataset}/${operation}`, {
    method: "POST",
    body: JSON.stringify({ temporalInterpolation: "PCHIP", ...parameters, points }),
    headers: { "content-type": "application/json", accept: "application/octet-stream" },
  });
  if (!response.ok) throw new Error(await response.text());
  return [...new Float32Array(await response.arrayBuffer())];
}
