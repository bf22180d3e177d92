/** A batch answers each of its queries as the query alone is answered, and a wrong one does not spoil the others. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { digestToken, watchTokens } from "../../../src/server/http/auth.js";
import { scratchFolder } from "../../support/scratch.js";
import { analyticEngine } from "./analysis/analytic-engine.js";
import { serveApi } from "./serve-api.js";

let app: FastifyInstance;
beforeAll(async () => {
  app = await serveApi(analyticEngine());
});
afterAll(() => app.close());

const OPTIONS = { spatialInterpolation: "Lag4", temporalInterpolation: "PCHIP" };
const POINTS = [
  [0.1, 0.2, 0.3],
  [1e-7, -0.5, 3],
];

function post(url: string, payload: unknown) {
  const text = typeof payload === "string" ? payload : JSON.stringify(payload);
  return app.inject({ method: "POST", url, payload: text, headers: { "content-type": "application/json" } });
}

it("answers several operations, methods and times as they are answered alone", async () => {
  const queries = [
    { dataset: "lopsided", operation: "GetVelocity", time: 0.5, ...OPTIONS, points: POINTS },
    { dataset: "tilted", operation: "GetVelocityAndPressure", time: [0, 0.25, 1], ...OPTIONS, points: POINTS },
    {
      points: POINTS,
      time: 0,
      dataset: "lopsided",
      operation: "GetVelocityGradient",
      ...OPTIONS,
      spatialInterpolation: "Fd4Lag4",
    },
  ];
  const response = await post("/api/batch", { queries });
  expect(response.statusCode).toBe(200);
  const { results } = response.json() as { results: unknown[] };
  for (const [i, { dataset, operation, ...body }] of queries.entries()) {
    const alone = await post(`/api/datasets/${dataset}/${operation}`, body);
    expect(results[i]).toEqual(alone.json());
  }
});

it("reads every number from its own text, rounded once", async () => {
  const text = "1.00000017881393432617187499"; // just below the midpoint of two float32 values
  const body = `{"time":0,"spatialInterpolation":"Lag4","temporalInterpolation":"PCHIP","points":[[${text},0,0]]`;
  const batch = await post(
    "/api/batch",
    `{"queries":[{"dataset":"lopsided","operation":"GetVelocity",${body.slice(1)}}]}`,
  );
  const alone = await post("/api/datasets/lopsided/GetVelocity", `${body}}`);
  expect(batch.json().results[0].values).toEqual(alone.json().values);
});

it("gives each query its own problem", async () => {
  const good = { dataset: "lopsided", operation: "GetVelocity", time: 0, ...OPTIONS, points: POINTS };
  const response = await post("/api/batch", {
    queries: [
      { ...good, operation: "GetNothing" },
      { ...good, dataset: "nowhere" },
      { ...good, time: "now" },
      { ...good, colour: 'red{["}' },
      { ...good, points: [[1, 2]] },
      good,
    ],
  });
  const { results } = response.json() as {
    results: { problem?: { member?: string; code: string }; values?: unknown }[];
  };
  expect(results.slice(0, 5).map(({ problem }) => problem?.code)).toEqual([
    "InvalidRequest",
    "UnknownDataset",
    "InvalidRequest",
    "InvalidRequest",
    "InvalidRequest",
  ]);
  expect(results.map(({ problem }) => problem?.member)).toEqual([
    "operation",
    "dataset",
    "time",
    "colour",
    "points[0]",
    undefined,
  ]);
  expect(results[5]?.values).toHaveLength(2);
});

/** A query of a known operation with more text in it. */
const named = (more: string): string => `{"operation":"GetVelocity","dataset":"lopsided"${more}}`;

it("finds the members of a query in any place and spelling", async () => {
  const text =
    ' { "queries" : [ {"points":[[1,2,3]], "\\u006fperation" : "Get\\u0056elocity","time":0,' +
    '"spatialInterpolation":"Lag4", "temporalInterpolation":"PCHIP","dataset":"lopsided" } , ' +
    '{"a":{"operation":"GetVelocity","dataset":"lopsided"},"b":"}]\\"{["},{"operation":["GetVelocity"]},' +
    `${named(',"dataset":"tilted"')} ] } `;
  const { results } = (await post("/api/batch", text)).json() as {
    results: { problem?: { member: string; detail: string }; values?: unknown }[];
  };
  expect(results[0]?.values).toHaveLength(1);
  expect(results.slice(1).map(({ problem }) => problem?.member)).toEqual(["operation", "operation", "dataset"]);
  expect(results[3]?.problem?.detail).toBe("A member is given twice.");
});

it.each([
  ["lists within lists", `{"queries":[{"a":${"[".repeat(2e6)}${"]".repeat(2e6)}}]}`],
  ["many objects", `{"queries":[{"a":[${'{"b":{}},'.repeat(4e5)}0]}]}`],
  ["the text of a query", `{"queries":[${named(`,"time":0,"points":[[0,0,"${"0".repeat(4e6)}"]]`)}]}`],
  ["many queries", `{"queries":[${"{},".repeat(1e6)}{}]}`],
])("takes turns with others while it reads megabytes of %s", async (_what, text) => {
  // A clock that goes on by a millisecond whenever it is read.
  let now = performance.now();
  const clock = vi.spyOn(performance, "now").mockImplementation(() => {
    now += 1;
    return now;
  });
  let turns = 0;
  let waiting = true;
  const count = (): void => {
    turns++;
    if (waiting) setImmediate(count);
  };
  setImmediate(count);
  try {
    await post("/api/batch", text);
  } finally {
    waiting = false;
    clock.mockRestore();
  }
  expect(turns).toBeGreaterThan(30);
});

it.each([
  ["no JSON", "{", "not a JSON document"],
  ["no list", '{"queries":{}}', "list"],
  ["other members", '{"queries":[],"more":1}', "nothing else"],
  ["no query", '{"queries":[]}', "1 to 64"],
  ["too many", `{"queries":[${new Array(65).fill("{}").join(",")}]}`, "1 to 64"],
  ["a query that is a number", '{"queries":[1]}', "object"],
  ["a query that is a string", '{"queries":["{}"]}', "object"],
  ["another first member", '{"more":1,"queries":[{}]}', "nothing else"],
  ["two lists", '{"queries":[{}],"queries":[{}]}', "nothing else"],
  ["a name that is none", '{"queries":[{"\\x":1}]}', "not a JSON document"],
  ["a query that is cut off", '{"queries":[{"time":0', "not a JSON document"],
  ["brackets that do not match", `{"queries":[${named(',"time":[0}')}]}`, "not a JSON document"],
  ["a malformed query", `{"queries":[${named(',"time":0,,')}]}`, "not a JSON document"],
  ["lists within lists", `{"queries":[{"a":${"[".repeat(1e6)}]}`, "not a JSON document"],
])("refuses a body with %s", async (_what, text, message) => {
  const response = await post("/api/batch", text);
  expect([response.statusCode, response.json().member]).toEqual([400, "queries"]);
  expect(response.json().detail).toContain(message);
});

it("releases what its queries hold, and lets no slot leak", async () => {
  const engine = analyticEngine();
  const other = await serveApi(engine);
  const good = { dataset: "lopsided", operation: "GetVelocity", time: 0, ...OPTIONS, points: POINTS };
  const queries = [good, { ...good, colour: "red" }, { ...good, time: [0, 0.5] }];
  await other.inject({
    method: "POST",
    url: "/api/batch",
    payload: JSON.stringify({ queries }),
    headers: { "content-type": "application/json" },
  });
  await expect.poll(() => engine.log.released).toBe(3);
  expect(engine.log.started).toHaveLength(4);
  expect(engine.log.aborted).toBeGreaterThan(0);
  await other.close();
});

it("counts the points of all its queries together against the limit", async () => {
  const small = await serveApi(analyticEngine(), { settings: { QUERY_POINTS: "5" } });
  const query = { dataset: "lopsided", operation: "GetVelocity", time: [0, 0.25], ...OPTIONS, points: POINTS };
  const response = await small.inject({ method: "POST", url: "/api/batch", payload: { queries: [query, query] } });
  const [first, second] = response.json().results as { shape?: number[]; problem?: { limit: string } }[];
  expect(first?.shape).toEqual([2, 2, 3]);
  expect(second?.problem?.limit).toBe("query.points");
  await small.close();
});

it("adds up the nodes of its searches against the limit of the token", async () => {
  const file = join(scratchFolder(), "tokens.json");
  const tokens = [{ name: "small", sha256: digestToken("small-token-of-many-letters"), limit: 20 }];
  writeFileSync(file, JSON.stringify({ version: 1, tokens }));
  const log = { info: () => undefined, error: () => undefined };
  const auth = watchTokens(file, false, { "token.concurrent": 0, "token.perMinute": 0 }, log);
  const engine = analyticEngine();
  const start = engine.start.bind(engine);
  engine.start = (...given) => Object.assign(start(...given), { nodes: 8 });
  const guarded = await serveApi(engine, { auth });
  const search = { dataset: "lopsided", operation: "GetThreshold", field: "u", time: 0, threshold: 0, ...OPTIONS };
  const box = { x_start: 1, y_start: 1, z_start: 1, x_end: 2, y_end: 2, z_end: 2 };
  const response = await guarded.inject({
    method: "POST",
    url: "/api/batch",
    payload: { queries: new Array(3).fill({ ...search, ...box, temporalInterpolation: undefined }) },
    headers: { authorization: "Bearer small-token-of-many-letters" },
  });
  const { results } = response.json() as { results: { problem?: { detail: string } }[] };
  expect(results.map(({ problem }) => problem?.detail)).toEqual([
    undefined,
    undefined,
    "Request size too large (8 > 4)",
  ]);
  await guarded.close();
});

it("counts each of its queries against the rate of the token", async () => {
  const folder = scratchFolder();
  const file = join(folder, "tokens.json");
  const rated = "rated-token-of-many-letters";
  const tokens = [{ name: "rated", sha256: digestToken(rated), limit: 0, perMinute: 5 }];
  writeFileSync(file, JSON.stringify({ version: 1, tokens }));
  const log = { info: () => undefined, error: () => undefined };
  const auth = watchTokens(file, false, { "token.concurrent": 0, "token.perMinute": 0 }, log, { now: () => 0 });
  const guarded = await serveApi(analyticEngine(), { auth });
  const codes = async (queries: readonly object[]) => {
    const response = await guarded.inject({
      method: "POST",
      url: "/api/batch",
      payload: { queries },
      headers: { authorization: `Bearer ${rated}` },
    });
    const { results } = response.json() as { results: { problem?: { code: string } }[] };
    return results.map(({ problem }) => problem?.code ?? "answered");
  };
  const value = { dataset: "lopsided", operation: "GetVelocity", time: 0, ...OPTIONS, points: POINTS };
  expect(await codes(new Array(8).fill(value))).toEqual([
    ...new Array(5).fill("answered"),
    ...new Array(3).fill("RateLimited"),
  ]);
  await guarded.close();
});

it("does not crowd out small requests by many small queries", async () => {
  let goOn: () => void = () => undefined;
  const engine = analyticEngine({
    wait: new Promise((resolve) => {
      goOn = resolve;
    }),
  });
  const busy = await serveApi(engine, { settings: { ENGINE_INFLIGHT: "2" } });
  const value = { dataset: "lopsided", operation: "GetVelocity", time: 0, ...OPTIONS };
  const points = new Array(200).fill([0.123456, 0.234567, 0.345678]);
  const headers = { "content-type": "application/json" };
  const ask = (url: string, payload: object) => busy.inject({ method: "POST", url, payload, headers });
  const batch = { queries: new Array(40).fill({ ...value, points }) };
  const batches = [ask("/api/batch", batch), ask("/api/batch", batch)];
  await expect.poll(() => engine.log.started.length).toBe(2);
  const small = ask(`/api/datasets/lopsided/GetVelocity?time=0&${new URLSearchParams(OPTIONS)}`, { points: POINTS });
  await expect.poll(() => engine.log.started.length).toBe(3);
  goOn();
  expect((await small).statusCode).toBe(200);
  for (const answer of await Promise.all(batches)) expect(answer.statusCode).toBe(200);
  await busy.close();
});

describe("calls beside the operations", () => {
  const AT = { dataset: "lopsided", field: "uy", time: 0.25, nodes: "4,3" };
  const PLANE = { ...AT, operation: "slice", axis: "z", at: 0.5 };
  const BOX = { ...AT, operation: "volume", field: "p", nodes: "4,3,2" };
  const WRONG = { ...PLANE, at: "here" };
  const VELOCITY = { dataset: "tilted", operation: "GetVelocity", time: 0.5, ...OPTIONS, points: POINTS };

  const floatsOf = (bytes: Buffer) => Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(4 * i));
  /** What a slice or a volume answers at its own address. */
  async function alone({ dataset, operation, ...query }: Record<string, string | number>) {
    const text = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
    const { headers, rawPayload } = await app.inject({ url: `/api/datasets/${dataset}/${operation}?${text}` });
    const list = (name: string) => String(headers[`fieldprobe-${name}`]).split(",").map(Number);
    return { shape: list("shape"), origin: list("origin"), range: list("range"), values: floatsOf(rawPayload) };
  }

  it("answers planes and boxes as their own addresses do, among points, with a problem for the wrong one", async () => {
    const { results } = (await post("/api/batch", { queries: [PLANE, WRONG, BOX, VELOCITY] })).json();
    for (const [i, query] of [
      [0, PLANE],
      [2, BOX],
    ] as const) {
      const wanted = await alone(query);
      expect(results[i].values.flat(2).map(Math.fround)).toEqual(wanted.values);
      expect(results[i].shape).toEqual(wanted.shape);
      expect(results[i].axes.map((axis: { origin: number }) => axis.origin)).toEqual(wanted.origin);
      expect(results[i].range.map(Math.fround)).toEqual(wanted.range.map(Math.fround));
    }
    expect(results[1].problem).toMatchObject({ code: "InvalidRequest", member: "at" });
    expect(results[3].values).toHaveLength(2);
  });

  it("answers as one line of JSON with the float32 of all results behind it", async () => {
    const response = await app.inject({
      method: "POST",
      url: "/api/batch",
      payload: JSON.stringify({ queries: [PLANE, WRONG, VELOCITY, BOX] }),
      headers: { "content-type": "application/json", accept: "application/octet-stream" },
    });
    expect(response.headers["content-type"]).toBe("application/octet-stream");
    const bytes = response.rawPayload;
    const begin = bytes.indexOf(10) + 1;
    expect(begin % 4).toBe(0);
    const { results } = JSON.parse(bytes.toString("utf8", 0, begin));
    expect(results.map((result: { numbers: number }) => result.numbers)).toEqual([12, 0, 6, 24]);
    expect(results[1].problem.member).toBe("at");
    const values = floatsOf(bytes.subarray(begin));
    const [plane, box] = [await alone(PLANE), await alone(BOX)];
    const { results: texts } = (await post("/api/batch", { queries: [VELOCITY] })).json();
    expect(values).toEqual([...plane.values, ...texts[0].values.flat().map(Math.fround), ...box.values]);
  });

  it.each([
    ["an unknown member", { ...PLANE, colour: "red" }, "colour"],
    ["the range of a picture", { ...PLANE, range: "0,1" }, "range"],
    ["a list as a text", { ...PLANE, field: ["p"] }, "field"],
    ["another axis", { ...PLANE, axis: "w" }, "axis"],
    ["a plane without a field", { ...PLANE, field: undefined }, "field"],
    ["an unknown dataset", { ...PLANE, dataset: "nowhere" }, "dataset"],
    ["a query of many bytes", { ...PLANE, field: "p".repeat(70_000) }, "queries"],
  ])("names the member of %s", async (_what, query, member) => {
    const { results } = (await post("/api/batch", { queries: [query, PLANE] })).json();
    expect(results[0].problem.member).toBe(member);
    expect(results[1].values).toHaveLength(3);
  });

  it("counts the samples of all planes against the limit on points", async () => {
    const small = await serveApi(analyticEngine(), { settings: { QUERY_POINTS: "20" } });
    const payload = JSON.stringify({ queries: [PLANE, PLANE] });
    const response = await small.inject({
      ...{ method: "POST", url: "/api/batch", payload, headers: { "content-type": "application/json" } },
    });
    const { results } = response.json();
    expect([results[0].shape, results[1].problem.limit]).toEqual([[3, 4], "query.points"]);
    await small.close();
  });
});
