/** The OpenAPI document, and live answers held against it. */
import { Ajv, type ValidateFunction } from "ajv";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Json, SAMPLE, type Served, seconds, serve } from "../support.js";

let events: Served;
let document: Json;
let ajv: Ajv;
beforeAll(async () => {
  events = await serve({ files: [SAMPLE], now: seconds("2026-11-10T17:00:00Z") });
  document = (await events.get("/openapi.json")).json;
  ajv = new Ajv({ strict: false, allErrors: true });
  ajv.addSchema(document, "openapi");
});
afterAll(() => events.close());

function validator(template: string, status: number, type: string): ValidateFunction {
  const schema = document.paths[template]?.get?.responses?.[status]?.content?.[type]?.schema;
  expect(schema, `${template} ${status} ${type}`).toBeDefined();
  const pointer = ["paths", template, "get", "responses", String(status), "content", type, "schema"]
    .map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1")))
    .join("/");
  return ajv.compile({ $ref: `openapi#/${pointer}` });
}

async function check(template: string, path: string, headers: Record<string, string> = {}): Promise<Json> {
  const answer = await events.get(path, headers);
  const type = (answer.headers.get("content-type") ?? "").split(";")[0] ?? "";
  const validate = validator(template, answer.status, type);
  const valid = validate(answer.json);
  expect(validate.errors ?? [], path).toEqual([]);
  expect(valid).toBe(true);
  return answer.json;
}

const VOCABULARIES = ["channels", "divisions", "event_categories", "locations", "tags"];

describe("the document", () => {
  it("is OpenAPI 3.0 and describes every public route and no other", () => {
    expect(document.openapi).toMatch(/^3\.0\./);
    const paths = Object.keys(document.paths).sort();
    const expected = [
      "/events",
      "/events.ics",
      "/events/{id}",
      ...VOCABULARIES.flatMap((name) => [`/events/{id}/${name}`, `/${name}`, `/${name}/{id}`, `/${name}/{id}/events`]),
    ];
    expect(paths).toEqual(expected.sort());
    for (const path of paths) expect(Object.keys(document.paths[path])).toEqual(["get"]);
  });

  it("has a page for people that loads by plain HTTP and fetches nothing from elsewhere", async () => {
    const page = await events.get("/docs/");
    const policy = page.headers.get("content-security-policy") ?? "";
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/upgrade-insecure-requests|https?:|swagger\.io/);
    expect(page.text).not.toMatch(/(?:src|href)="https?:/);
  });

  it("has no reference that leads nowhere, and nothing that 3.0 does not know", () => {
    const text = JSON.stringify(document);
    const names = Object.keys(document.components.schemas);
    const references = [...text.matchAll(/"\$ref":"([^"]*)"/g)].map((match) => match[1] ?? "");
    expect(references.length).toBeGreaterThan(50);
    for (const reference of references) expect(names).toContain(reference.replace("#/components/schemas/", ""));
    expect(text).not.toMatch(/"type":"null"|"type":\[|"const":|"patternProperties":/);
    const operations = Object.values<Json>(document.paths).map(({ get }) => get);
    for (const { parameters = [] } of operations) {
      for (const parameter of parameters) expect(parameter.schema ?? parameter.content).toBeDefined();
    }
    expect(text).toContain("For days that have passed add type=all");
    expect(document.components.schemas.Event.properties.start_time.deprecated).toBe(true);
    expect(document.components.schemas.Event.properties.short_url.deprecated).toBe(true);
  });

  it("is shown to people", async () => {
    const page = await events.get("/docs");
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(page.text).toContain("<h1>Events API</h1>");
    expect(page.text).not.toContain("<script");
  });
});

describe("live answers", () => {
  it("are as described", async () => {
    for (const query of [
      "",
      "?single_events=false&per_page=100&type=all&source=all",
      "?type=past&per_page=100",
      "?ids=9",
      "?page=2&per_page=3",
    ]) {
      await check("/events", `/events${query}`);
      await check("/events", `/events${query}`, { accept: "application/hal+json" });
    }
    for (let id = 4101; id <= 4138; id++) {
      await check("/events/{id}", `/events/${id}`);
      await check("/events/{id}", `/events/${id}`, { accept: "application/ld+json" });
      for (const name of VOCABULARIES) await check(`/events/{id}/${name}`, `/events/${id}/${name}`);
    }
    for (const name of VOCABULARIES) {
      const { _embedded } = await check(`/${name}`, `/${name}?per_page=100`);
      expect(_embedded[name].length).toBeGreaterThan(3);
      for (const { id } of _embedded[name]) {
        await check(`/${name}/{id}`, `/${name}/${id}`);
        await check(`/${name}/{id}/events`, `/${name}/${id}/events?open_to=staff,everyone,students`);
      }
    }
  });

  it("are as described when they are errors", async () => {
    for (const accept of ["application/json", "application/problem+json"]) {
      await check("/events", "/events?page=0&order_by=x|y&type=a", { accept });
      await check("/events/{id}", "/events/1", { accept });
      await check("/tags/{id}/events", "/tags/1/events", { accept });
      await check("/events/{id}/tags", "/events/1/tags", { accept });
    }
  });

  it("would be told apart from wrong ones", () => {
    const validate = validator("/events", 200, "application/json");
    expect(validate({ page: 1 })).toBe(false);
    expect(validate({ _embedded: { events: [{}] }, _links: {}, page: 0 })).toBe(false);
  });
});
