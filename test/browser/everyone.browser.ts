/** Everyone can use the page: by keyboard, at any zoom, in both themes, below any path; and it loads fast. */
import { readdirSync, readFileSync } from "node:fs";
import { createServer, request as httpRequest, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { RunningService } from "../../src/main.js";
import { findChromium } from "./find-chromium.js";
import { readOutOf } from "./pictures.js";
import { expectClean, openPage, settled, useStage } from "./stage.js";

const reason = findChromium() === undefined ? " (skipped: no Chromium; set FIELDPROBE_CHROMIUM)" : "";
const BUILT = fileURLToPath(new URL("../../dist/web", import.meta.url));
const AXE = readFileSync(new URL("../../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

interface Axe {
  run(): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }>;
}

/** A proxy that serves the service below a path. */
function prefixed(service: RunningService, prefix: string): Promise<Server> {
  const server = createServer((incoming, outgoing) => {
    if (!incoming.url?.startsWith(prefix)) {
      outgoing.writeHead(404).end();
      return;
    }
    const path = incoming.url.slice(prefix.length - 1);
    const onward = httpRequest(
      new URL(path, service.url),
      { method: incoming.method, headers: incoming.headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(outgoing);
      },
    );
    incoming.pipe(onward);
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

describe("what is sent", () => {
  const packed = (name: string) => gzipSync(readFileSync(`${BUILT}/${name}`), { level: 9 }).length;
  const assets = readdirSync(`${BUILT}/assets`)
    .filter((name) => !name.endsWith(".gz"))
    .map((name) => `assets/${name}`);

  it("is at most 120 KiB at first and 150 KiB more for 3-D", () => {
    // What the document names comes at first; the rest is fetched when it is needed.
    const document_ = readFileSync(`${BUILT}/index.html`, "utf8");
    const first = ["index.html", ...assets.filter((name) => document_.includes(name))];
    const scene = assets.filter((name) => /\/(?:scene|surface-worker)-.*\.js$/.test(name));
    expect(scene).toHaveLength(2);
    expect(first.some((name) => scene.includes(name))).toBe(false);
    const sum = (names: readonly string[]) => names.reduce((bytes, name) => bytes + packed(name), 0);
    expect(sum(first)).toBeLessThanOrEqual(120 * 1024);
    expect(sum(scene)).toBeLessThanOrEqual(150 * 1024);
  });
});

describe.skipIf(reason !== "")(`everyone${reason}`, () => {
  const stage = useStage();

  it.each([
    ["isotropic32", "light", 320, "&launched=true&count=4&steps=5&surface=Q&volume=32&box=1,3,1,3,1,3"],
    ["isotropic32", "dark", 1280, "&launched=true&count=4&steps=5&layout=three"],
    ["walled", "dark", 320, "&curves=probes&pins=1,0.5,2,3,-0.5,4"],
    ["planar", "light", 1280, "&overlay=streamlines&compare=time&otherTime=1"],
    ["perforated", "light", 320, "&curves=methods&field=ux"],
  ] as const)("axe-core finds nothing on %s in the %s theme at %i px", async (dataset, theme, width, more) => {
    const watched = await openPage(
      stage.browser,
      `${stage.service.url}/?dataset=${dataset}&theme=${theme}&scene=true${more}`,
      { viewport: { width, height: 800 } },
    );
    const { page } = watched;
    await page.waitForSelector("#scene[data-planes]");
    if (more.includes("launched")) await page.waitForSelector("#scene[data-longest-segment]");
    if (more.includes("surface")) await page.waitForSelector("#scene[data-triangles]");
    await page.evaluate(() => {
      for (const box of document.querySelectorAll("details")) box.open = true;
    });
    await settled(page);
    await page.evaluate(AXE);
    const expectNothing = async () => {
      const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: Axe }).axe.run());
      const found = violations.map(({ id, nodes }) => [id, nodes.map((node) => `${node.html} ${node.failureSummary}`)]);
      expect(found).toEqual([]);
    };
    await expectNothing();
    // On a narrow page the controls lie over the panels.
    if (width < 960) {
      await page.click("#fold");
      await page.waitForSelector("#panel-probe");
      await expectNothing();
    }
    expectClean(watched);
    await page.context().close();
  });

  it.each(["/api/docs", "/service/turbulence.asmx"])("axe-core finds nothing on %s", async (path) => {
    const page = await (await stage.browser.newContext({ bypassCSP: true })).newPage();
    await page.goto(stage.service.url + path);
    await page.evaluate(AXE);
    const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: Axe }).axe.run());
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
    await page.context().close();
  });

  it("fits 320 by 256 px: 1280 by 1024 at 400 % zoom", async () => {
    const watched = await openPage(stage.browser, `${stage.service.url}/?launched=true&count=4&steps=5`, {
      viewport: { width: 320, height: 256 },
    });
    const { page } = watched;
    await page.waitForSelector("#scene");
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(overflow).toBe(0);
    expectClean(watched);
    await page.context().close();
  });

  it("does everything by keyboard", async () => {
    const watched = await openPage(stage.browser, `${stage.service.url}/?count=4&steps=10&nodes=32`);
    const { page } = watched;
    const reached = new Set<string>();
    const unlabelled: string[] = [];
    for (let stop = 0; stop < 170; stop++) {
      await page.keyboard.press("Tab");
      const { id, name, visible } = await page.evaluate(() => {
        const element = document.activeElement as HTMLElement;
        const box = element.getBoundingClientRect();
        const label = element.getAttribute("aria-label") ?? element.textContent?.trim() ?? "";
        return {
          id: element.id,
          name: `${element.tagName} ${label}`.slice(0, 60),
          visible: box.width > 0 && box.height > 0,
        };
      });
      if (id !== "") reached.add(id);
      if (!visible) unlabelled.push(name);
    }
    expect(unlabelled).toEqual([]);
    const controls = await page.$$eval(
      "main button:enabled[id], main input:enabled[id], main select:enabled[id], main canvas[tabindex]",
      (all) => all.map((element) => element.id),
    );
    expect(controls.filter((id) => !reached.has(id))).toEqual([]);

    const query = () => new URL(page.url()).searchParams;
    await page.click(".settings summary");
    await page.focus("#slice");
    const value = async () => (await readOutOf(page))[0] as number;
    const start = await value();
    await page.keyboard.press("ArrowRight");
    await expect.poll(value).toBeGreaterThan(start);
    await page.keyboard.press("Home");
    await expect.poll(value).toBeCloseTo(Math.PI / 32, 5);
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await expect.poll(() => query().get("probe")).toMatch(/^0\.0981/);
    await page.keyboard.press("+");
    await expect.poll(() => query().get("window")).not.toBeNull();
    await page.keyboard.press("0");
    await expect.poll(() => query().get("window")).toBeNull();
    for (const [id, key, name] of [
      ["field", "ArrowDown", "field"],
      ["axis", "ArrowUp", "axis"],
      ["at", "ArrowRight", "at"],
      ["timeline", "ArrowRight", "time"],
      ["values", "ArrowDown", "values"],
      ["derivatives", "ArrowUp", "derivatives"],
      ["temporal", "ArrowDown", "temporal"],
      ["map", "ArrowDown", "map"],
      ["nodes", "ArrowDown", "nodes"],
      ["scaling", "ArrowDown", "scaling"],
      ["overlay", "ArrowDown", "overlay"],
      ["curves", "ArrowDown", "curves"],
      ["line", "ArrowDown", "line"],
      ["seeds", "ArrowUp", "seeds"],
      ["tracker", "ArrowDown", "tracker"],
      ["subject", "ArrowDown", "subject"],
      ["language", "ArrowDown", "language"],
      ["theme", "ArrowDown", "theme"],
    ] as const) {
      await page.focus(`#${id}`);
      await page.keyboard.press(key);
      await expect.poll(() => query().get(name), { message: name }).not.toBeNull();
      await settled(page);
    }
    await page.getByRole("button", { name: "Launch" }).focus();
    await page.keyboard.press("Enter");
    await page.waitForSelector("#forget-particles");
    await page.keyboard.press("3");
    await page.waitForSelector("#scene[data-longest-segment]");
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("scene");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("-");
    await expect.poll(() => query().get("camera")).not.toBeNull();
    await page.focus("#copy-link");
    await page.keyboard.press("Space");
    await expect.poll(() => page.textContent("#notice")).toMatch(/copied/);
    const names = await page.$$eval("#dataset option", (options) =>
      options.map((one) => (one as HTMLOptionElement).value),
    );
    const next = names[names.indexOf("isotropic32") + 1];
    expect(next).toBeDefined();
    await page.focus("#dataset");
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => query().get("dataset")).toBe(next);
    await settled(page);
    expectClean(watched);
    await page.context().close();
  });

  it("works below a path of another server", async () => {
    const proxy = await prefixed(stage.service, "/tools/flow/");
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/tools/flow/`;
    const watched = await openPage(stage.browser, `${url}?launched=true&count=4&steps=5`);
    const { page, requests } = watched;
    await page.waitForSelector("#scene[data-longest-segment]");
    expect(requests.every((address) => address.startsWith(url))).toBe(true);
    await page.click("#call-box summary");
    expect(await page.textContent("#call")).toContain(`fieldprobe.connect("${url.slice(0, -1)}")`);
    expectClean(watched);
    await page.context().close();
    proxy.closeAllConnections();
    proxy.close();
  });

  it("is sent with its policy, its types and its caching", async () => {
    const page = await fetch(`${stage.service.url}/`);
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).not.toContain("unsafe");
    expect(page.headers.get("cache-control")).toBe("no-cache");
    const paths = [...(await page.text()).matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map((match) => match[1] as string);
    expect(paths.length).toBeGreaterThanOrEqual(3);
    for (const path of paths) {
      const asset = await fetch(`${stage.service.url}/${path}`, { headers: { "accept-encoding": "gzip" } });
      expect(asset.headers.get("cache-control")).toMatch(/immutable/);
      expect(asset.headers.get("content-type")).toMatch(/javascript|css|svg/);
      const bytes = (await asset.arrayBuffer()).byteLength;
      expect(asset.headers.get("content-encoding")).toBe(bytes < 1024 ? null : "gzip");
      expect(asset.headers.get("vary")).toMatch(/accept-encoding/i);
    }
  });
});
