/** Datasets, the description of the interface, its human page, and tokens. */
import { Ajv } from "ajv";
import { afterAll, describe, expect, it } from "vitest";
import { type Auth, OPEN_AUTH } from "../../../src/server/http/auth.js";
import { AuthError, LimitError } from "../../../src/shared/errors.js";
import { analyticEngine } from "./analysis/analytic-engine.js";
import { serveApi } from "./serve-api.js";

const app = await serveApi(analyticEngine());
afterAll(() => app.close());

const VELOCITY = { time: 0, what: "a = x", points: [[1, 0, 0]] };

it.each([
  ["datasets", null],
  ["datasets/tilted", null],
  ["datasets/nowhere", null],
  ["nowhere", null],
  ["openapi.json", null],
  ["datasets/tilted/values", VELOCITY],
  ["datasets/tilted/values", { time: 0 }],
  ["ask", [{ ...VELOCITY, call: "values", dataset: "tilted" }]],
])("ends the line of JSON from %s once, so that a terminal goes on in the next (%j)", async (path, payload) => {
  const post = payload === null ? {} : { method: "POST" as const, payload };
  const { body, headers } = await app.inject({ url: `/api/${path}`, ...post });
  expect(headers["content-type"]).toMatch(/json/);
  expect(body).toMatch(/[^\n]\n$/);
  expect(Number(headers["content-length"])).toBe(Buffer.byteLength(body));
  expect(() => JSON.parse(body)).not.toThrow();
});

describe("datasets", () => {
  it("lists them", async () => {
    const { datasets, namespace } = (await app.inject({ url: "/api/datasets" })).json();
    expect(namespace).toMatch(/\/$/);
    expect(datasets).toEqual([
      {
        name: "lopsided",
        title: "A field without symmetry",
        aliases: ["tilted"],
        nodes: [8, 6, 4],
        times: { count: 3, first: 0, last: 1 },
        fields: ["velocity", "pressure"],
      },
    ]);
  });

  it.each(["nowhere", "nowhere/grid", "nowhere/nodes?format=h5", "nowhere/values?points=1,2,3", "__proto__"])(
    "lists what there is for %s",
    async (path) => {
      const { status, code, detail } = (await app.inject({ url: `/api/datasets/${path}` })).json();
      const told = `Invalid set name: ${path.split("/")[0]} (available: lopsided)`;
      expect([status, code, detail]).toEqual([404, "UnknownDataset", told]);
    },
  );

  it("describes one, by alias and in any letter case", async () => {
    const body = (await app.inject({ url: "/api/datasets/TILTED" })).json();
    expect(body).toMatchObject({
      name: "lopsided",
      times: { stored: [0, 0.5, 1], guardBefore: 1, guardAfter: 1 },
      units: { length: "m", velocity: "m/s" },
      forcing: "none",
    });
    expect(body.axes[0]).toMatchObject({ name: "x", nodes: 8, first: 0, length: 2 * Math.PI, periodic: true });
    expect(body.axes[1]).toMatchObject({ name: "y", first: -1, last: 1, length: 2, periodic: false });
    const what = new Map(body.what.map((row: { name: string }) => [row.name, row]));
    expect(what.get("Q")).toEqual({ name: "Q", shape: "scalar", unit: "1/s²", formula: "-tr(A * A) / 2" });
    expect(what.get("u")).toMatchObject({ shape: "vector", unit: "m/s" });
    expect(["temperature", "tau"].map((name) => what.has(name))).toEqual([false, false]);
    expect(body.methods.slice(0, 4)).toEqual(["nearest", "Lag4", "Lag6", "M1Q4"]);
    expect(body.calls).toContainEqual({ name: "values", points: 2_000_000 });
  });
});

describe("description of the interface", () => {
  it("has at most 25 addresses, with schemas that compile", async () => {
    const document = (await app.inject({ url: "/api/openapi.json" })).json();
    expect(document.openapi).toMatch(/^3\./);
    const paths = Object.keys(document.paths);
    expect(paths.length).toBeLessThanOrEqual(25);
    const ajv = new Ajv({ strict: false, formats: { float: true, int32: true, binary: true } });
    for (const path of paths) {
      for (const method of Object.values(document.paths[path]) as {
        requestBody?: { content: Record<string, { schema: object }> };
      }[]) {
        for (const { schema } of Object.values(method.requestBody?.content ?? {})) ajv.compile(schema);
      }
    }
    const values = document.paths["/api/datasets/{name}/values"].post;
    expect(Object.keys(values.responses)).toEqual(expect.arrayContaining(["200", "4XX", "5XX"]));
  });

  it.each(["datasets/tilted/GetVelocity", "datasets/tilted/slice", "datasets/tilted/cutout.h5", "batch", "NullOp"])(
    "has nothing at the earlier address %s",
    async (path) => {
      const answer = await app.inject({ method: "POST", url: `/api/${path}`, payload: {} });
      expect(answer.json()).toMatchObject({ code: "UnknownOperation", detail: expect.stringContaining("/api/docs") });
    },
  );

  it("has a page for people that fetches nothing from elsewhere", async () => {
    const nothing = await app.inject({ url: "/api/docs/nothing.js" });
    expect(nothing.json()).toMatchObject({ status: 404, detail: expect.stringMatching(/^There is nothing at /) });
    const page = await app.inject({ url: "/api/docs/" });
    expect([page.statusCode, page.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
    expect(page.headers["content-security-policy"]).toContain("default-src 'none'");
    expect(page.body).not.toMatch(/(?:src|href)="https?:/);
  });
});

describe("tokens", () => {
  const guardedBy = (authorise: Auth["authorise"], settings = {}) =>
    serveApi(analyticEngine(), { auth: { authorise, reload: () => undefined, close: () => undefined }, settings });

  it("come as Bearer and are judged before the body", async () => {
    const seen: (string | null)[] = [];
    const guarded = await guardedBy((token) => {
      seen.push(token);
      if (token !== "good-token") throw new AuthError("Invalid identification token.");
      return OPEN_AUTH.authorise(token);
    });
    const ask = (authorization?: string) =>
      guarded.inject({
        method: "POST",
        url: "/api/ask",
        payload: '{"points":',
        headers: { "content-type": "application/json", ...(authorization === undefined ? {} : { authorization }) },
      });
    for (const header of [undefined, "Bearer unknown", "Basic Z29vZDo="]) {
      const response = await ask(header);
      expect([response.statusCode, response.json().code]).toEqual([401, "AuthenticationFailed"]);
      expect(response.headers["www-authenticate"]).toMatch(/^Bearer/);
      expect(response.body).not.toContain("unknown");
    }
    expect((await ask("bearer good-token")).json().code).toBe("InvalidRequest");
    expect(seen).toEqual([null, "unknown", "Basic Z29vZDo=", "good-token"]);
    await guarded.close();
  });

  it("change the points of a request in the catalogue, which everybody may read", async () => {
    let released = 0;
    const guarded = await guardedBy(
      (token) => {
        if (token !== "small") throw new AuthError("Invalid identification token.");
        return { id: "small", points: 1000, countFurtherQuery: () => undefined, release: () => void released++ };
      },
      { QUERY_POINTS: "5000" },
    );
    const pointsFor = async (headers: Record<string, string>) =>
      (await guarded.inject({ url: "/api/datasets", headers })).json().points;
    expect(await pointsFor({})).toBe(5000);
    expect(await pointsFor({ authorization: "Bearer small" })).toBe(1000);
    expect(await pointsFor({ authorization: "Bearer unknown" })).toBe(5000);
    expect(released).toBe(1);
    await guarded.close();
  });

  it("that run too many requests at once are told so by 429", async () => {
    const message = "This token may run 1 requests at a time.";
    const guarded = await guardedBy(() => {
      throw new LimitError("token.concurrent", message);
    });
    const response = await guarded.inject({ method: "POST", url: "/api/ask", payload: {} });
    expect(response.json()).toMatchObject({ status: 429, code: "LimitExceeded", limit: "token.concurrent" });
    expect([response.statusCode, response.json().detail]).toEqual([429, message]);
    await guarded.close();
  });
});
