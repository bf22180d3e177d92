/** Bodies go out with methods, representations, tags, JSONP, keys and limits, below the prefix, beside neighbours. */
import { request as httpRequest } from "node:http";
import { runInNewContext } from "node:vm";
import Fastify from "fastify";
import { afterAll, describe, expect, it } from "vitest";
import { eventsInterface } from "../../../src/events/http/events-plugin.js";
import { isCallback, wrapJsonp } from "../../../src/events/http/jsonp.js";
import { isNamed } from "../../../src/server/http/validators.js";
import { EVENTS_SETTINGS, type Json, serve } from "../support.js";

const events = await serve();
afterAll(() => events.close());

/** A request that fetch would not send as it stands. */
function raw(method: string, path: string): Promise<{ status: number; body: string; allow: string | undefined }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(events.url);
    const request = httpRequest({ hostname, port, method, path }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (part) => {
        body += part;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body, allow: response.headers.allow }));
    });
    request.on("error", reject).end();
  });
}

describe("methods and paths", () => {
  it("answers HEAD as GET without a body", async () => {
    const get = await events.get("/events");
    const head = await events.get("/events", {}, "HEAD");
    expect([head.status, head.text]).toEqual([200, ""]);
    for (const name of ["etag", "content-type", "x-total-count", "content-length"]) {
      expect(head.headers.get(name)).toBe(get.headers.get(name));
    }
  });

  it.each(["POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND"])(
    "refuses %s on known paths with 405",
    async (method) => {
      const asked =
        "/events /events/ /events/4101 /events/1/tags /tags/81/events /events.ics /events/1.ics /openapi.json /docs";
      for (const path of asked.split(" ")) {
        const { status, allow, body } = await raw(method, path);
        expect([path, status, allow]).toEqual([path, 405, "GET, HEAD, OPTIONS"]);
        expect(JSON.parse(body).code).toBe("method_not_allowed");
      }
      for (const path of ["/events/abc", "/events/1/people", "/tags/1/tags"]) {
        expect([path, (await raw(method, `${path}?callback=cb`)).status]).toEqual([path, 404]);
      }
    },
  );

  it("refuses a body's content type before it looks at it", async () => {
    const response = await fetch(`${events.url}/events`, {
      method: "POST",
      body: "<a/>",
      headers: { "content-type": "text/xml" },
    });
    expect(response.status).toBe(405);
  });

  it("answers OPTIONS, with what a preflight needs when it is one", async () => {
    const plain = await events.get("/events/4101", {}, "OPTIONS");
    expect([plain.status, plain.headers.get("allow"), plain.text]).toEqual([204, "GET, HEAD, OPTIONS", ""]);
    expect(plain.headers.get("access-control-allow-methods")).toBeNull();
    const preflight = await events.get(
      "/events",
      { origin: "https://a.example", "access-control-request-method": "GET" },
      "OPTIONS",
    );
    expect(preflight.headers.get("access-control-allow-methods")).toBe("GET, HEAD, OPTIONS");
    expect(preflight.headers.get("access-control-allow-headers")).toContain("X-API-Key");
    expect(preflight.headers.get("access-control-allow-origin")).toBe("*");
  });

  it("ignores one slash at the end", async () => {
    const asked = "/events/ /events/4101/ /events/4101/tags/ /event_categories/ /event_categories/33/ /tags/81/events/";
    for (const path of asked.split(" ")) {
      expect([path, (await events.get(path)).status]).toEqual([path, 200]);
    }
    expect((await events.get("/events//")).status).toBe(404);
  });

  it("sends the holder of a loose id to the member", async () => {
    const moved = await events.get("/events?id=12&callback=cb&page=0");
    expect([moved.status, moved.headers.get("location")]).toEqual([308, "/events/12?callback=cb"]);
    expect((await events.get("/events/?id=4101")).headers.get("location")).toBe("/events/4101");
    expect((await events.get("/tags?id=081")).headers.get("location")).toBe("/tags/81");
    for (const path of ["/events?id=1,2", "/events?id=1&id=2", "/events?id=x"])
      expect((await events.get(path)).status).toBe(200);
  });

  it("keeps long targets and long segments to its own errors", async () => {
    const long = await raw("GET", `/events?x=${"a".repeat(8192)}`);
    expect([long.status, JSON.parse(long.body).code]).toEqual([414, "uri_too_long"]);
    const segment = await raw("GET", `/events/${"1".repeat(200)}`);
    expect([segment.status, JSON.parse(segment.body).code]).toEqual([404, "not_found"]);
    expect((await raw("GET", "/events/1/tags/2/3?callback=cb")).body).toMatch(/^\{"error":true/);
  });

  it("leaves other paths, parsers and error handlers of the instance alone", async () => {
    const shared = await serve({
      prepare(app) {
        app.addContentTypeParser("text/xml", { parseAs: "string" }, (_request, body, done) => done(null, body));
        app.post("/service", (request) => `got ${request.body}`);
        app.get("/broken", () => {
          throw new Error("elsewhere");
        });
        app.setNotFoundHandler((_request, reply) => reply.code(404).send("nothing here"));
      },
    });
    const answer = await fetch(`${shared.url}/service`, {
      method: "POST",
      body: "<a/>",
      headers: { "content-type": "text/xml" },
    });
    expect(await answer.text()).toBe("got <a/>");
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
    expect((await shared.get("/other")).text).toBe("nothing here");
    expect((await shared.get("/other", {}, "OPTIONS")).status).toBe(404);
    expect((await shared.get("/broken")).json.message).toBe("elsewhere");
    await shared.close();
  });
});

describe("representations", () => {
  it("sends HAL to those who prefer it, and JSON else", async () => {
    const type = async (accept: string) => (await events.get("/events", { accept })).headers.get("content-type");
    expect(await type("*/*")).toBe("application/json; charset=utf-8");
    expect(await type("application/hal+json")).toBe("application/hal+json; charset=utf-8");
    expect(await type("application/hal+json, application/json;q=0.9")).toBe("application/hal+json; charset=utf-8");
    expect(await type("application/hal+json;q=0.5, application/json")).toBe("application/json; charset=utf-8");
    expect(await type("text/html")).toBe("application/json; charset=utf-8");
    expect((await events.get("/events")).headers.get("vary")).toBe("Accept, Accept-Encoding");
  });

  it("sends problems to those who name them", async () => {
    const { status, headers, json } = await events.get("/events?page=0", { accept: "application/problem+json" });
    expect([status, headers.get("content-type")]).toEqual([400, "application/problem+json; charset=utf-8"]);
    expect(json).toMatchObject({ type: "about:blank", title: "Bad Request", status: 400, instance: "/events" });
    expect(json.errors[0].parameter).toBe("page");
    expect(headers.get("cache-control")).toBe("no-store");
  });

  it("sends one event as schema.org JSON-LD", async () => {
    const { headers, json } = await events.get("/events/4101", { accept: "application/ld+json" });
    expect(headers.get("content-type")).toBe("application/ld+json; charset=utf-8");
    expect(json).toMatchObject({
      "@context": "https://schema.org",
      "@type": "Event",
      startDate: "2026-10-22T16:00:00-04:00",
      location: {
        "@type": "Place",
        name: "Room 110",
        address: { addressLocality: "Springfield" },
        geo: { latitude: 39.33 },
      },
    });
    expect(json.subEvent.map((event: Json) => event.startDate)).toContain("2026-11-05T16:00:00-05:00");
    const days = await events.get("/events/4102", { accept: "application/ld+json" });
    expect([days.json.startDate, days.json.endDate]).toEqual(["2026-10-30", "2026-10-31"]);
  });

  it("answers a known tag with 304", async () => {
    const first = await events.get("/events");
    const tag = first.headers.get("etag") ?? "";
    expect(first.headers.get("cache-control")).toBe("public, max-age=60");
    for (const known of [tag, `W/${tag}`, `"x", ${tag}`, `"a,b" , W/${tag}`, "*"]) {
      const { status, text, headers } = await events.get("/events", { "if-none-match": known });
      expect([known, status, text, headers.get("etag")]).toEqual([known, 304, "", tag]);
    }
    for (const other of ['"x"', "", tag.replaceAll('"', "")]) {
      expect((await events.get("/events", { "if-none-match": other })).status).toBe(200);
    }
    expect((await events.get("/events?callback=cb")).headers.get("etag")).not.toBe(tag);
    expect((await events.get("/events?callback=cb2")).headers.get("etag")).not.toBe(
      (await events.get("/events?callback=cb")).headers.get("etag"),
    );
    expect(isNamed(undefined, tag)).toBe(false);
  });

  it("turns to a new tag when the answer changes, and not before", async () => {
    const tags = new Set<string | null>();
    for (const now of [1792699199, 1792699200, 1792702799, 1792702800]) {
      events.setClock(now);
      tags.add((await events.get("/events")).headers.get("etag"));
    }
    expect(tags.size).toBe(2);
    events.setClock(1792497600);
  });
});

describe("JSONP", () => {
  const HOSTILE = [
    ..."a(b) <script> alert(1)// a;b a..b .a a. a[b] a[0 a[123456] 1a new a.class this.x eval café a'b".split(" "),
    ...["a b", "a\u2028b", "a\n", "a".repeat(65), "a.b.c.d.e.f.g.h.i.j", `${"abcdefghijklmno.".repeat(8)}p.q`],
  ];

  it.each(HOSTILE)("refuses %j in plain JSON, without repeating it", async (name) => {
    const { status, headers, json, text } = await events.get(`/events?callback=${encodeURIComponent(name)}`);
    expect([status, json.code, headers.get("content-type")]).toEqual([
      400,
      "invalid_callback",
      "application/json; charset=utf-8",
    ]);
    expect(text.startsWith("{")).toBe(true);
    if (name.length > 5) expect(text).not.toContain(name);
  });

  it.each(["cb", "jQuery111_1", "angular.callbacks._0", "a[0].b", "$", "_"])("takes %s", async (name) => {
    expect(isCallback(name)).toBe(true);
    const { status, headers, text } = await events.get(`/events?callback=${encodeURIComponent(name)}`);
    expect([status, headers.get("content-type")]).toEqual([200, "text/javascript; charset=utf-8"]);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("cross-origin-resource-policy")).toBe("cross-origin");
    expect(text.startsWith(`/**/${name}({`) && text.endsWith("});")).toBe(true);
  });

  it("calls the function with the same data, whatever is in it", async () => {
    const calls: Json[] = [];
    runInNewContext((await events.get("/events?callback=cb")).text, { cb: (data: Json) => calls.push(data) });
    expect(JSON.stringify(calls[0])).toBe((await events.get("/events")).text);
    const nasty = { text: "</script><!-- \u2028 \u2029 <" };
    const script = [...wrapJsonp("cb", [JSON.stringify(nasty)])].join("");
    expect(script).not.toMatch(/[<\u2028\u2029]/);
    runInNewContext(script, { cb: (data: Json) => calls.push(data) });
    expect({ ...calls[1] }).toEqual(nasty);
  });

  it("wraps single resources and errors with their status, but no unknown path", async () => {
    expect((await events.get("/events/4101?callback=cb")).text).toMatch(/^\/\*\*\/cb\(\{/);
    const missing = await events.get("/events/999?callback=cb");
    expect([missing.status, missing.text.slice(0, 18)]).toEqual([404, '/**/cb({"error":tr']);
    expect((await events.get("/events?page=0&callback=cb")).text).toMatch(/^\/\*\*\/cb\(/);
    expect((await events.get("/events/1/people?callback=cb")).text).toMatch(/^\{/);
  });
});

describe("settings", () => {
  it("asks for a key when keys are configured, and tells nobody", async () => {
    const guarded = await serve({ keys: ["red", "blue"] });
    const status = async (path: string, headers = {}) => (await guarded.get(path, headers)).status;
    expect(await status("/events")).toBe(401);
    expect(await status("/events?key=green")).toBe(401);
    expect(await status("/events?key=red&key=red")).toBe(401);
    expect(await status("/events?page=0")).toBe(401);
    expect(await status("/events/abc")).toBe(404);
    expect(await status("/events", { "x-api-key": "blue" })).toBe(200);
    const wrapped = await guarded.get("/events?callback=cb");
    expect([wrapped.status, wrapped.text.slice(0, 7)]).toEqual([401, "/**/cb("]);
    const { json, headers, text } = await guarded.get("/events?key=red&per_page=1");
    expect(json._links.next.href).toBe("/events?page=2&per_page=1");
    expect(headers.get("cache-control")).toBe("private, max-age=60");
    expect(text).not.toContain("red&");
    await guarded.close();
  });

  it("limits the rate when told to, by address or key", async () => {
    const limited = await serve({ perMinute: 3, keys: ["red", "blue"] });
    const status = async (key: string) => (await limited.get(`/events?key=${key}`)).status;
    expect([await status("red"), await status("red"), await status("red")]).toEqual([200, 200, 200]);
    const refused = await limited.get("/events?key=red");
    expect([refused.status, refused.json.code]).toEqual([429, "rate_limited"]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await status("blue")).toBe(200);
    await limited.close();
  });

  it("mounts at a prefix and carries it in every link", async () => {
    const mounted = await serve({ prefix: "/calendar/v1" });
    const { json } = await mounted.get("/calendar/v1/events?page=2&per_page=1");
    const hrefs = [...JSON.stringify(json).matchAll(/"href":"([^"]*)"/g)].map((match) => match[1]);
    expect(hrefs.length).toBeGreaterThan(4);
    for (const href of hrefs) {
      expect(href).toMatch(/^\/calendar\/v1\//);
      if (!href?.includes("{")) expect((await mounted.get(href ?? "")).status).toBe(200);
    }
    expect((await mounted.get("/events")).status).toBe(404);
    expect((await mounted.get("/calendar/v1/events", {}, "PUT")).status).toBe(405);
    expect((await mounted.get("/calendar/v1/events?id=7")).headers.get("location")).toBe("/calendar/v1/events/7");
    expect((await mounted.get("/calendar/v1/openapi.json")).json.paths).toHaveProperty("/calendar/v1/events");
    expect((await mounted.get("/calendar/v1/docs")).status).toBe(200);
    await mounted.close();
  });

  it("shows a term's address bare when told to", async () => {
    const bare = await serve({ categoryUrl: "string" });
    expect((await bare.get("/event_categories/33")).json.url).toBe("https://events.example.edu/category/reading-group");
    await bare.close();
  });

  it("handles strictly on request", async () => {
    const strict = { prefer: "handling=strict" };
    const { status, json } = await events.get("/events?colour=1&per_page=101", strict);
    expect([status, json.details.map((detail: Json) => detail.parameter)]).toEqual([400, ["colour", "per_page"]]);
    expect((await events.get("/events?per_page=100&_=1&v=1&key=a&callback=cb", strict)).status).toBe(200);
    expect((await events.get("/event_categories?tags=1", strict)).status).toBe(400);
    expect((await events.get("/events?colour=1", { prefer: "respond-async, handling=lenient" })).status).toBe(200);
    expect((await events.get("/events?colour=1", { prefer: "respond-async, handling=strict" })).status).toBe(400);
  });

  it("tells nothing of its insides when it fails", async () => {
    const app = Fastify();
    const index = (): never => {
      throw new Error("/secret/path");
    };
    await app.register(eventsInterface({ index, clock: () => 0, config: EVENTS_SETTINGS }));
    const answer = await app.inject("/events");
    expect([answer.statusCode, answer.json()]).toEqual([
      500,
      { error: true, message: "Something went wrong here.", statusCode: 500, code: "internal", details: [] },
    ]);
    await app.close();
  });
});
