/** Everyone can use the page: by keyboard, at any zoom, on both stages, below any path; and it loads fast. */
import { readdirSync, readFileSync } from "node:fs";
import { createServer, request as httpRequest, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { RunningService } from "../../src/main.js";
import { expectClean, findingsOf, openPage, reason, settled, useStage } from "./stage.js";

const BUILT = fileURLToPath(new URL("../../dist/web", import.meta.url));

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
  it("is at most 140 KiB at first, charts and files apart", () => {
    // What the document and its style sheet name comes at first; the rest is fetched on demand.
    const packed = (name: string) => gzipSync(readFileSync(`${BUILT}/${name}`), { level: 9 }).length;
    const assets = readdirSync(`${BUILT}/assets`).filter((name) => !name.endsWith(".gz"));
    const document_ = readFileSync(`${BUILT}/index.html`, "utf8");
    const named = assets.filter((name) => document_.includes(name));
    const styles = named
      .filter((name) => name.endsWith(".css"))
      .map((name) => readFileSync(`${BUILT}/assets/${name}`, "utf8"));
    const fonts = assets.filter((name) => styles.some((text) => text.includes(name)));
    expect(fonts).toHaveLength(2);
    const first = ["index.html", ...[...named, ...fonts].map((name) => `assets/${name}`)];
    expect(first.reduce((bytes, name) => bytes + packed(name), 0)).toBeLessThanOrEqual(140 * 1024);
  });
});

describe.skipIf(reason !== "")(`everyone${reason}`, () => {
  const stage = useStage();
  const view = (name: string, more: string) => `${stage.service.url}/view/${name}?view.flow=off&${more}`;

  it.each([
    ["isotropic32", 320, "view.show=four&view.stage=light"],
    ["walled", 390, "view.show=slice:z"],
    ["perforated", 1280, "view.show=compare&b.method=Lag4&view.stage=light"],
    ["isotropic32", 1280, "view.show=3d"],
  ])("axe-core finds nothing on %s at %i px with %s", async (name, width, more) => {
    // 320 by 256 are 1280 by 1024 at a zoom of 400 %.
    const viewport = { width, height: width === 320 ? 256 : 844 };
    const { page, faults } = await openPage(stage.browser, view(name, more), { viewport });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    expect.soft(await findingsOf(page)).toEqual([]);
    for (const scheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.keyboard.press("Control+k");
      expect.soft(await findingsOf(page), `Find, ${scheme}`).toEqual([]);
      await page.keyboard.press("Escape");
      expect.soft(await findingsOf(page), scheme).toEqual([]);
    }
    expectClean({ faults });
  });

  it.each(["/api/docs", "/service/turbulence.asmx"])("axe-core finds nothing on %s", async (path) => {
    const page = await (await stage.browser.newContext({ bypassCSP: true })).newPage();
    await page.goto(stage.service.url + path);
    expect(await findingsOf(page)).toEqual([]);
  });

  it("is used by keyboard", async () => {
    const { page, faults } = await openPage(stage.browser, view("isotropic32", "x=2&y=3&z=1&time=1&view.show=slice:z"));
    const member = (name: string) => new URL(page.url()).searchParams.get(name);
    const stops = new Set<string>();
    const hidden: string[] = [];
    for (let stop = 0; stop < 60; stop++) {
      await page.keyboard.press("Tab");
      const [name, isSeen] = await page.evaluate(() => {
        const element = document.activeElement as HTMLElement;
        const { width, height } = element.getBoundingClientRect();
        const label = element.getAttribute("aria-label") ?? element.textContent?.trim();
        return [`${element.tagName} ${label}`, width > 0 && height > 0] as const;
      });
      stops.add(name);
      if (!isSeen) hidden.push(name);
    }
    expect(hidden).toEqual([]);
    for (const name of ["BUTTON Share", "BUTTON Export", "MAIN Views", "INPUT Time", "BUTTON Look"])
      expect([...stops].join("; ")).toContain(name);
    await page.focus(".stage");
    const press = async (key: string) => {
      await page.keyboard.press(key);
      await settled(page);
    };
    const spacing = (2 * Math.PI) / 32;
    await press("Control+z");
    await press("ArrowRight");
    expect(Number(member("x"))).toBeCloseTo(2 + spacing, 5);
    await press("Shift+ArrowUp");
    expect(Number(member("y"))).toBeCloseTo((3 + 10 * spacing) % (2 * Math.PI), 5);
    await press("]");
    expect(Number(member("z"))).toBeCloseTo(1 + spacing, 5);
    await press("x");
    expect(member("view.show")).toBe("slice:x");
    await press("Control+z");
    expect(member("view.show")).toBe("slice:z");
    const time = member("time");
    await press(".");
    expect(member("time")).not.toBe(time);
    await press("p");
    expect(member("view.pins")).not.toBeNull();
    await press("3");
    expect(member("view.show") ?? "four").toBe("four");
    await press("4");
    expect(member("b.method")).toBe("M1Q4");
    expectClean({ faults });
  });

  it("works below a path of another server", async () => {
    const proxy = await prefixed(stage.service, "/tools/flow/");
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/tools/flow/`;
    for (const address of [url, `${url}view/walled?view.flow=off`]) {
      const watched = await openPage(stage.browser, address);
      const { page, requests } = watched;
      expect(page.url()).toContain("/tools/flow/view/");
      expect(requests.filter((one) => !one.startsWith(url) && !/^(?:blob|data):/.test(one))).toEqual([]);
      expectClean(watched);
    }
    proxy.closeAllConnections();
    proxy.close();
  });

  it.each(["/", "/view/isotropic32"])("%s is sent with its policy, its types and its caching", async (path) => {
    const page = await fetch(stage.service.url + path);
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).not.toContain("unsafe");
    expect(page.headers.get("cache-control")).toBe("no-cache");
    expect(page.headers.get("content-type")).toContain("text/html");
    const paths = [...(await page.text()).matchAll(/(?:src|href)="(\.[^"]+)"/g)].map((match) => match[1] as string);
    expect(paths.length).toBeGreaterThanOrEqual(3);
    for (const one of paths) {
      const asset = await fetch(new URL(one, page.url), { headers: { "accept-encoding": "gzip" } });
      expect(asset.status, one).toBe(200);
      if (!one.includes("/assets/")) continue;
      expect(asset.headers.get("cache-control")).toMatch(/immutable/);
      expect(asset.headers.get("content-type")).toMatch(/javascript|css|svg/);
      const bytes = (await asset.arrayBuffer()).byteLength;
      expect(asset.headers.get("content-encoding")).toBe(bytes < 1024 ? null : "gzip");
      expect(asset.headers.get("vary")).toMatch(/accept-encoding/i);
    }
  });
});
