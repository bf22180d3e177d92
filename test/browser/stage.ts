/** The page on a real service in a real browser, watched for everything that must not happen. */
import { existsSync, readFileSync } from "node:fs";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { PNG } from "pngjs";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import type { RunningService } from "../../src/main.js";
import { ask as askOf } from "../server/ask/ask.js";
import { serveTestData } from "../support/service.js";
import { writeDatasets } from "./datasets.js";

/** Software WebGL, so that the page draws without a graphics card. */
const WITH_WEBGL = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"];
const WITHOUT_WEBGL = ["--no-sandbox", "--disable-gpu", "--disable-3d-apis"];
const AXE = readFileSync(new URL("../../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Path of the browser: FIELDPROBE_CHROMIUM where it is set, else where Debian and others put it. */
const findChromium = () => [process.env.FIELDPROBE_CHROMIUM ?? "", ...PLACES].find((path) => existsSync(path));

/** Why the tests of a group are skipped, for their title; empty if they run. */
export const reason = findChromium() === undefined ? " (skipped: no Chromium; set FIELDPROBE_CHROMIUM)" : "";

export type Faults = Readonly<Record<"violations" | "errors" | "foreign", string[]>>;

export interface Watched {
  readonly page: Page;
  readonly faults: Faults;
  readonly requests: string[];
}

export async function launch(webgl = true): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error("no Chromium was found");
  return chromium.launch({ executablePath, args: webgl ? WITH_WEBGL : WITHOUT_WEBGL });
}

/** The service and a browser for the tests of one group, from its first test to its last; with STATE it has jobs. */
export function useStage(settings: Readonly<Record<string, string>> = {}): {
  readonly service: RunningService;
  readonly browser: Browser;
} {
  const stage = {} as { service: RunningService; browser: Browser };
  beforeAll(async () => {
    stage.service = await serveTestData(await writeDatasets(), settings, settings.STATE === undefined);
    stage.browser = await launch();
  });
  afterEach(async () => {
    for (const context of stage.browser.contexts()) await context.close();
  });
  afterAll(async () => {
    await stage.browser?.close();
    await stage.service?.close();
  });
  return stage;
}

/** Waits until everything that is shown has arrived and is drawn. */
export async function settled(page: Page): Promise<void> {
  await page.waitForFunction(() => "stage" in globalThis);
  await page.evaluate(() => (globalThis as unknown as { stage: { settled(): Promise<void> } }).stage.settled());
}

/** A page that reports policy violations, console errors and requests to other origins. */
export async function openPage(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Watched> {
  const context = await browser.newContext({
    viewport: { width: 1000, height: 720 },
    reducedMotion: "reduce",
    ...options,
  });
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: new URL(url).origin });
  const page = await context.newPage();
  const faults: Faults = { violations: [], errors: [], foreign: [] };
  const requests: string[] = [];
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
    if (!/^(?:blob|data):/.test(request.url()) && new URL(request.url()).origin !== new URL(url).origin) {
      faults.foreign.push(request.url());
    }
  });
  await page.goto(url);
  await settled(page);
  return { page, faults, requests };
}

/** Fails if the page has done anything it must not do. */
export function expectClean({ faults }: Pick<Watched, "faults">): void {
  expect(faults).toEqual({ violations: [], errors: [], foreign: [] });
}

export async function findingsOf(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }> };
    };
    const { violations } = await axe.run();
    return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`);
  });
}

/** The canvases of the stage over each other, read off screen: the compositor rounds what lies over them. */
export async function pictureOf(page: Page, canvases = ".stage > canvas, .ink canvas"): Promise<PNG> {
  const address = await page.evaluate((names) => {
    const all = [...document.querySelectorAll<HTMLCanvasElement>(names)];
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [all[0]?.width ?? 0, all[0]?.height ?? 0];
    for (const one of all) copy.getContext("2d")?.drawImage(one, one.offsetLeft, one.offsetTop);
    return copy.toDataURL();
  }, canvases);
  return pngIn(address);
}

export const pngIn = (address: string): PNG => PNG.sync.read(Buffer.from(address.split(",")[1] as string, "base64"));

/** Red, green and blue of a row of a picture from one column to another. */
export const rowIn = ({ data, width }: PNG, row: number, from: number, to: number): number[] =>
  [...data.subarray(4 * (row * width + from), 4 * (row * width + to))].filter((_, i) => i % 4 < 3);

export const ask = async <T>(service: RunningService, question: object): Promise<T> =>
  (await askOf(service, question)).json() as Promise<T>;

export async function valueAt({ url }: RunningService, set: string, query: Record<string, string>): Promise<number> {
  const answer = await fetch(`${url}/api/datasets/${set}/values?${new URLSearchParams(query)}`);
  return ((await answer.json()) as { rows: number[][] }).rows[0]?.[3] as number;
}

export const numberIn = (text: string | null): number => Number((text ?? "").replace("−", "-"));
export const close = (shown: number, right: number): void =>
  expect(Math.abs(shown - right), `${shown}, not ${right}`).toBeLessThan(6e-4 * Math.abs(right) + 1e-9);

export async function shared(page: Page, title: string): Promise<Record<string, unknown>> {
  await page.click(".bar .share");
  await page.click(`.sheet .chips button:text-is("${title}")`);
  await page.waitForSelector(`.sheet .chips button[aria-pressed=true]:text-is("${title}")`);
  const text = (await page.textContent('.code pre[aria-label="curl"]')) as string;
  await page.click('.sheet header button[aria-label="Close"]');
  await page.waitForSelector(".sheet", { state: "detached" });
  return JSON.parse(/--json '(.*)' /.exec(text)?.[1] as string) as Record<string, unknown>;
}
