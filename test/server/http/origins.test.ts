/** Pages of other origins, and names that are made to mean this machine. */
import { afterEach, describe, expect, it } from "vitest";
import { apiPlugin } from "../../../src/server/ask/plugin.js";
import { jhtdbPlugin } from "../../../src/server/jhtdb/plugin.js";
import { exchange, rawPost, statusOf } from "../../support/raw-http.js";
import { call, envelope, nullOp, startService, type TestService } from "../../support/soap-service.js";

let service: TestService;
afterEach(() => service.stop());

/** The status of a small request that names the service so. */
async function askBy(host: string): Promise<number> {
  const head = `GET /healthz HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
  return statusOf(await exchange(service.port, head));
}

const post = (headers: Record<string, string>) => call(service, "1.1", nullOp(), headers);

describe("a service on loopback", () => {
  it.each(["localhost", "LOCALHOST:8080", "127.0.0.1", "127.1.2.3:1", "[::1]:80", "fields.localhost"])(
    "answers by the name %s",
    async (host) => {
      service = await startService();
      expect(await askBy(host)).toBe(200);
    },
  );

  it.each([
    "evil.example.org",
    "127.0.0.1.evil.example.org",
    "localhost.evil.example.org:80",
    "192.0.2.1",
    "0.0.0.0",
    "",
  ])("answers with 421 by the name %j", async (host) => {
    service = await startService();
    expect(await askBy(host)).toBe(421);
  });

  it("says by which setting it may be asked by another name", async () => {
    service = await startService();
    const answer = await exchange(
      service.port,
      "GET /api HTTP/1.1\r\nHost: evil.example.org\r\nConnection: close\r\n\r\n",
    );
    expect(answer.text).toContain("This service does not answer to that host name; ALLOWED_HOSTS can add it");
  });

  it("refuses a foreign name before it reads or runs anything", async () => {
    service = await startService();
    const request = rawPost("1.1", envelope("1.1", nullOp())).replace("Host: 127.0.0.1", "Host: evil.example.org");
    expect(statusOf(await exchange(service.port, request))).toBe(421);
    expect(service.engine.queries).toHaveLength(0);
  });

  it("answers by the names of BASE_URL and ALLOWED_HOSTS", async () => {
    service = await startService({
      BASE_URL: "https://fields.example.org/x",
      ALLOWED_HOSTS: "one.example, two.example",
    });
    for (const host of ["fields.example.org", "one.example:80", "TWO.example"]) expect(await askBy(host)).toBe(200);
    expect(await askBy("three.example")).toBe(421);
  });
});

it("answers by any name where it does not listen on loopback", async () => {
  service = await startService({ HOST: "0.0.0.0", ANONYMOUS: "true" });
  expect(await askBy("fields.example.org")).toBe(200);
});

describe("a POST from a web page", () => {
  it("is refused by a foreign origin, and runs nothing", async () => {
    service = await startService();
    for (const origin of ["https://evil.example.org", "null", `http://127.0.0.1:${service.port + 1}`, "x"]) {
      expect((await post({ origin })).status).toBe(403);
    }
    expect(service.engine.queries).toHaveLength(0);
  });

  it("is served from the service's own page, by its public address too", async () => {
    service = await startService({ BASE_URL: "https://fields.example.org" });
    expect((await post({ origin: new URL(service.url).origin })).status).toBe(200);
    expect((await post({ origin: "https://fields.example.org" })).status).toBe(200);
    expect((await post({})).headers.get("access-control-allow-origin")).toBeNull();
  });

  it("is served from an origin of CORS_ORIGINS, which may ask first and read the answer", async () => {
    service = await startService({ CORS_ORIGINS: "https://lab.example.org/, https://other.example" });
    const origin = "https://lab.example.org";
    const asked = await fetch(service.url, {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": "content-type" },
    });
    expect(asked.status).toBe(204);
    expect(asked.headers.get("access-control-allow-origin")).toBe(origin);
    expect(asked.headers.get("access-control-allow-headers")).toContain("Content-Type");
    const answer = await post({ origin });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("access-control-allow-origin")).toBe(origin);
    expect(answer.headers.get("vary")).toContain("Origin");
    expect((await post({ origin: "https://evil.example.org" })).status).toBe(403);
  });
});

describe("a GET of numbers by a web page", () => {
  const PLUGINS = [apiPlugin, jhtdbPlugin];
  /** Not `fetch`, which says by itself how a request came about. */
  const read = async (headers: Record<string, string>, path = "/api/datasets"): Promise<string> => {
    const lines = Object.entries({ host: "127.0.0.1", connection: "close", ...headers });
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
    return (await exchange(service.port, `GET ${path} HTTP/1.1\r\n${head}\r\n`)).text;
  };
  const embedded = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image" };

  it("is refused to pages of other sites, on loopback", async () => {
    service = await startService({}, {}, { plugins: PLUGINS });
    for (const site of ["cross-site", "same-site"])
      for (const path of ["/api/datasets", "/turbulence-svc/jhtdb_config.json"])
        expect(await read({ ...embedded, "sec-fetch-site": site }, path)).toMatch(/^HTTP\/1.1 403/);
    const framed = { ...embedded, "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" };
    expect(await read(framed)).toMatch(/^HTTP\/1.1 403/);
  });

  it("is served to the service's own page, to a link that is opened, and to programs", async () => {
    service = await startService({ CORS_ORIGINS: "https://lab.example.org" }, {}, { plugins: PLUGINS });
    const opened = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
    const listed = { ...embedded, "sec-fetch-mode": "cors", origin: "https://lab.example.org" };
    for (const headers of [{ "sec-fetch-site": "same-origin" }, { "sec-fetch-site": "none" }, opened, listed, {}]) {
      const answer = await read(headers);
      expect(answer).toMatch(/^HTTP\/1.1 200/);
      expect(answer).toContain("cross-origin-resource-policy: same-origin");
    }
  });

  it("is served to any page if the service does not listen on loopback", async () => {
    service = await startService({ HOST: "0.0.0.0", ANONYMOUS: "true" }, {}, { plugins: PLUGINS });
    expect(await read(embedded)).toMatch(/^HTTP\/1.1 200/);
  });
});
