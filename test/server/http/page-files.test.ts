/** The files of the page tell how long they may be kept, and the site of the documents is at `/docs`. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Fastify from "fastify";
import { afterAll, describe, expect, it } from "vitest";
import { addSite, cachingOf } from "../../../src/server/http/page-files.js";
import { scratchFolder } from "../../support/scratch.js";

it("keeps only what has a hash in its name, wherever the service is installed", () => {
  const folder = join("/srv", "assets", "fieldprobe", "dist", "web");
  expect(cachingOf(join(folder, "index.html"), folder)).toBe("no-cache");
  expect(cachingOf(join(folder, "assets", "index-BCgRqQUP.js"), folder)).toMatch(/immutable/);
});

describe("the site of the documents", async () => {
  const site = join(scratchFolder(), "site");
  mkdirSync(join(site, "assets"), { recursive: true });
  writeFileSync(join(site, "scripts.json"), '["sha256-abc="]');
  writeFileSync(join(site, "index.html"), '<a href="/docs/jobs.html">jobs</a>');
  writeFileSync(join(site, "assets", "app.1.js"), 'const base = "/docs/";');
  writeFileSync(join(site, "assets", "font.1.woff2"), Buffer.from('"/docs/'));
  const [plain, below] = [Fastify(), Fastify()];
  await plain.register(async (scope) => addSite(scope, { baseUrl: null }, site));
  await below.register(async (scope) => addSite(scope, { baseUrl: "https://a.org/b/" }, site));
  afterAll(() => Promise.all([plain.close(), below.close()]));

  it("is sent as it was built, and allows its own scripts only", async () => {
    const page = await plain.inject("/docs/");
    expect([page.statusCode, page.body]).toEqual([200, '<a href="/docs/jobs.html">jobs</a>']);
    expect(page.headers["content-security-policy"]).toContain("script-src 'self' 'sha256-abc=';");
    expect((await plain.inject("/docs")).headers.location).toBe("/docs/");
    expect((await plain.inject("/docs/assets/app.1.js")).headers["cache-control"]).toMatch(/immutable/);
    expect((await plain.inject("/docs/index")).body).toBe(page.body);
    expect((await plain.inject("/docs/nothing.html")).statusCode).toBe(404);
    expect((await plain.inject("/docs/../page-files.ts")).statusCode).toBe(404);
  });

  it("has its links below the path of BASE_URL", async () => {
    expect((await below.inject("/docs/")).body).toBe('<a href="/b/docs/jobs.html">jobs</a>');
    expect((await below.inject("/docs/assets/app.1.js")).body).toBe('const base = "/b/docs/";');
    expect((await below.inject("/docs/assets/font.1.woff2")).body).toBe('"/docs/');
    expect((await below.inject("/docs")).headers.location).toBe("/b/docs/");
    expect((await below.inject("/docs/nothing.html")).statusCode).toBe(404);
  });
});
