/** Every operation of the table over HTTP: forms of request and answer, times, layers, and what is refused. */
import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine } from "../../../src/engine/contract/query.js";
import { BusyError, RequestError } from "../../../src/shared/errors.js";
import { OPERATIONS, type Operation, RECORDS } from "../../../src/shared/operations.js";
import { analyticEngine, closedForm } from "./analysis/analytic-engine.js";
import { serveApi } from "./serve-api.js";

const engine = analyticEngine();
let app: FastifyInstance;
beforeAll(async () => {
  app = await serveApi(engine);
});
afterAll(() => app.close());

const POINTS = [
  [0.1, 0.2, 0.3],
  [1.5, -0.25, 3],
  [-4, 0.5, 1e-7],
] as const;

/** A value for each parameter of the table. */
const GIVEN: Readonly<Record<string, string | number>> = {
  time: 0.1,
  StartTime: 0.1,
  EndTime: 0.3,
  Tp: 0.5,
  dt: 0.1,
  nt: 2,
  filterlength: 1,
  nlayers: 1,
  temporalInterpolation: "PCHIP",
};

function parametersFor(operation: Operation): Record<string, string | number> {
  const spatial = { spatialInterpolation: operation.spatial[0] ?? "None" };
  const all: Readonly<Record<string, string | number>> = { ...GIVEN, ...spatial };
  return Object.fromEntries(
    operation.request.filter((member) => member.name in all).map((member) => [member.name, all[member.name]]),
  ) as Record<string, string | number>;
}

function urlOf(operation: Operation): string {
  return operation.request.some((member) => member.name === "dataset")
    ? `/api/datasets/lopsided/${operation.name}`
    : `/api/${operation.name}`;
}

function expected(operation: Operation): number[] {
  const f = Math.fround;
  return POINTS.flatMap(([x, y, z]) =>
    RECORDS[operation.result].map((_, c) =>
      operation.name === "NullOp" ? f([x, y, z][c] as number) : closedForm(c, f(x), f(y), f(z), f(0.1)),
    ),
  );
}

function floatsOf(bytes: Buffer): number[] {
  return Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(4 * i));
}

function query(parameters: Record<string, string | number | readonly number[]>): string {
  return new URLSearchParams(
    Object.entries(parameters).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
}

describe.each(OPERATIONS.map((operation) => ({ operation: operation as Operation })))(
  "$operation.name",
  ({ operation }) => {
    const parameters = parametersFor(operation);
    const octets = operation.request.some((member) => member.name === "InitialV")
      ? { ...parameters, InitialV: "false" }
      : parameters;

    it("answers JSON with JSON that says what it is", async () => {
      const response = await app.inject({
        method: "POST",
        url: urlOf(operation),
        payload: { ...parameters, points: POINTS },
      });
      expect(response.statusCode).toBe(200);
      const body = response.json();
      expect(body.values.flat().map(Math.fround)).toEqual(expected(operation));
      expect(body).toMatchObject({
        version: expect.stringMatching(/^\d+\.\d+/),
        operation: operation.name,
        components: RECORDS[operation.result],
        shape: [3, RECORDS[operation.result].length],
      });
      if (urlOf(operation).includes("datasets")) {
        expect(body).toMatchObject({ dataset: "lopsided", manifest: "0".repeat(64) });
      }
      const tracking = operation.family === "track" ? ["openFaces", "integrator"] : [];
      expect(Object.keys(body.options)).toEqual([...Object.keys(parameters), ...tracking]);
    });

    it("answers float32 with float32, CSV with the same numbers", async () => {
      const payload = Buffer.from(Float32Array.from(POINTS.flat()).buffer);
      const ask = (accept: string) =>
        app.inject({
          method: "POST",
          url: `${urlOf(operation)}?${query(octets)}`,
          payload,
          headers: { "content-type": "application/octet-stream", accept },
        });
      const raw = await ask("application/octet-stream");
      expect(raw.statusCode).toBe(200);
      expect(raw.headers["fieldprobe-shape"]).toBe(`3,${RECORDS[operation.result].length}`);
      expect(raw.headers["content-length"]).toBe(String(raw.rawPayload.length));
      expect(floatsOf(raw.rawPayload)).toEqual(expected(operation));
      const csv = await ask("text/csv");
      const [head, ...rows] = csv.body.trimEnd().split("\r\n");
      expect(head).toBe(RECORDS[operation.result].join(","));
      expect(rows.flatMap((row) => row.split(",").map((text) => Math.fround(Number(text))))).toEqual(
        expected(operation),
      );
    });

    it("answers no points with no records", async () => {
      const response = await app.inject({
        method: "POST",
        url: urlOf(operation),
        payload: { ...parameters, points: [] },
      });
      expect(response.json()).toMatchObject({ shape: [0, RECORDS[operation.result].length], values: [] });
    });

    it.each(Object.keys(parameters))("names a missing %s", async (name) => {
      const { [name]: _, ...rest } = parameters;
      const response = await app.inject({
        method: "POST",
        url: urlOf(operation),
        payload: { ...rest, points: POINTS },
      });
      expect(response.statusCode).toBe(400);
      expect(response.json()).toMatchObject({ code: "InvalidRequest", member: name });
      const choices = name === "temporalInterpolation" ? /; it is one of None, PCHIP\.$/ : /is missing/;
      expect(response.json().detail).toMatch(choices);
    });
  },
);

const VELOCITY = "/api/datasets/lopsided/GetVelocity";
const COMMON = { spatialInterpolation: "Lag6", temporalInterpolation: "None" };

describe("several times and layers", () => {
  it("puts times first, in every form", async () => {
    const times = [0.5, 0, 0.25];
    const parameters = { ...COMMON, time: times };
    const values = times.map((time) =>
      POINTS.map((point) => {
        const [x, y, z] = point.map(Math.fround) as [number, number, number];
        return [0, 1, 2].map((c) => closedForm(c, x, y, z, time));
      }),
    );
    const json = await app.inject({ method: "POST", url: VELOCITY, payload: { ...parameters, points: POINTS } });
    expect(json.json().shape).toEqual([3, 3, 3]);
    expect(json.json().options.time).toEqual(times);
    expect(json.json().values.flat(2).map(Math.fround)).toEqual(values.flat(2));
    const csv = await app.inject({
      method: "POST",
      url: `${VELOCITY}?${query(parameters)}`,
      payload: { points: POINTS },
      headers: { accept: "text/csv" },
    });
    const rows = csv.body.trimEnd().split("\r\n");
    expect(rows[0]).toBe("time,x,y,z");
    expect(rows.slice(1).map((row) => Number(row.split(",")[0]))).toEqual([0.5, 0.5, 0.5, 0, 0, 0, 0.25, 0.25, 0.25]);
    const raw = await app.inject({
      method: "POST",
      url: `${VELOCITY}?${query(COMMON)}&time=0.5&time=0&time=0.25`,
      payload: Buffer.from(Float32Array.from(POINTS.flat()).buffer),
      headers: { "content-type": "application/octet-stream", accept: "application/octet-stream" },
    });
    expect(raw.headers["fieldprobe-shape"]).toBe("3,3,3");
    expect(floatsOf(raw.rawPayload)).toEqual(values.flat(2));
  });

  it("repeats times in CSV as they were written", async () => {
    const payload = { ...COMMON, time: [0.1, 0.3, 1e-7], points: [POINTS[0]] };
    const csv = await app.inject({ method: "POST", url: VELOCITY, payload, headers: { accept: "text/csv" } });
    const rows = csv.body.trimEnd().split("\r\n").slice(1);
    expect(rows.map((row) => row.split(",")[0])).toEqual(["0.1", "0.3", "1e-7"]);
  });

  it("end with the first time that fails, whose error is told", async () => {
    const inner = analyticEngine();
    const start: Engine["start"] = (query, control) => {
      const evaluation = inner.start(query, control);
      if (query.time !== 9) return evaluation;
      return { ...evaluation, finish: () => Promise.reject(new RequestError("OutOfRange", "Time 9 out of range.")) };
    };
    const failing = await serveApi({ ...inner, start });
    const time = Array.from({ length: 400 }, (_, i) => (i === 5 ? 9 : 0));
    const response = await failing.inject({
      method: "POST",
      url: VELOCITY,
      payload: { ...COMMON, time, points: POINTS },
    });
    expect(response.json()).toMatchObject({ status: 422, code: "OutOfRange", detail: "Time 9 out of range." });
    expect(inner.log.started.length).toBeLessThan(20);
    expect(inner.log.released).toBe(inner.log.answered);
    await failing.close();
  });

  it("gives the layers of a filter a dimension of their own", async () => {
    const response = await app.inject({
      method: "POST",
      url: "/api/datasets/lopsided/GetBoxFilterPressure",
      payload: { time: [0, 0.5], filterlength: 1, nlayers: 2, temporalInterpolation: "None", points: POINTS },
    });
    expect(response.json().shape).toEqual([2, 3, 9, 1]);
    expect(response.headers["fieldprobe-shape"]).toBe("2,3,9,1");
    expect(response.json().values[1][2]).toHaveLength(9);
  });

  it("records positions on the way of particles", async () => {
    const tracked = { StartTime: 0, dt: 0.1, nt: 7, spatialInterpolation: "Lag4", points: POINTS };
    const url = "/api/datasets/lopsided/trajectories?operation=GetPosition&every=3";
    const json = await app.inject({ method: "POST", url, payload: tracked });
    expect(json.json().shape).toEqual([3, 4, 3]);
    expect(json.json().times).toEqual([0, 1, 2, 3]);
    const csv = await app.inject({ method: "POST", url, payload: tracked, headers: { accept: "text/csv" } });
    const rows = csv.body.trimEnd().split("\r\n");
    expect(rows[0]).toBe("time,x,y,z");
    expect(rows.slice(1, 6).map((row) => row.split(",")[0])).toEqual(["0", "1", "2", "3", "0"]);
    expect(engine.log.started.at(-1)).toMatchObject({ operation: "GetPosition", recordEvery: 3, nt: 7 });
  });

  it("reads initial velocities from JSON and from six numbers a point", async () => {
    const parameters = { StartTime: 0, EndTime: 0.1, Tp: 0.5, spatialInterpolation: "Lag4" };
    const url = "/api/datasets/lopsided/GetPositionInertialParticle";
    const velocities = [
      [7, 8, 9],
      [0, 0, 20],
    ];
    const points = POINTS.slice(0, 2);
    const json = await app.inject({ method: "POST", url, payload: { InitialV: velocities, points, ...parameters } });
    const raw = await app.inject({
      method: "POST",
      url: `${url}?${query(parameters)}`,
      payload: Buffer.from(
        Float32Array.from(points.flatMap((point, i) => [...point, ...(velocities[i] as number[])])).buffer,
      ),
      headers: { "content-type": "application/octet-stream", accept: "application/octet-stream" },
    });
    expect(floatsOf(raw.rawPayload)).toEqual(json.json().values.flat().map(Math.fround));
    const [x, y, z] = (points[1] as readonly number[]).map(Math.fround) as [number, number, number];
    expect(json.json().values[1][0]).toBeCloseTo(closedForm(0, x, y, z, 0) + 20, 5);
  });
});

describe("refusals", () => {
  const ask = (payload: string | object, headers: Record<string, string> = {}, url = VELOCITY) =>
    app.inject({ method: "POST", url, payload, headers: { "content-type": "application/json", ...headers } });
  const good = { ...COMMON, time: 0, points: POINTS };

  it.each([
    ["text that is no JSON", "points", 400, {}],
    ["a cut-off body", '{"points":[[1,2,3]', 400, {}],
    ["two numbers to a point", { ...good, points: [[1, 2]] }, 400, { member: "points[0]" }],
    ["four numbers to a point", { ...good, points: [[1, 2, 3, 4]] }, 400, { member: "points[0]" }],
    ["numbers in place of points", { ...good, points: [1, 2, 3] }, 400, { member: "points[0]" }],
    ["objects in place of points", { ...good, points: [[1, 2, 3], { x: 1 }] }, 400, { member: "points[1]" }],
    ["text as a coordinate", { ...good, points: [[1, "2", 3]] }, 400, { member: "points[0].y" }],
    [
      "NaN as a coordinate",
      '{"points":[[1,NaN,3]]}',
      400,
      { member: "points[0].y", detail: "points[0].y must be a number, not NaN." },
    ],
    ["a leading zero", '{"points":[[01,2,3]]}', 400, { member: "points[0].x" }],
    ["what follows the object", `${JSON.stringify(good)} 1`, 400, {}],
    [
      "a coordinate beyond float32",
      {
        ...good,
        points: [
          [1, 2, 3],
          [1, 1e39, 3],
        ],
      },
      422,
      { code: "OutOfRange", member: "points[1].y" },
    ],
    ["a time beyond float32", { ...good, time: 1e39 }, 422, { code: "OutOfRange", member: "time" }],
    ["a member of another operation", { ...good, nlayers: 1 }, 400, { member: "nlayers" }],
    ["a member named like a property of objects", '{"__proto__":1}', 400, { member: "__proto__" }],
    ["a repeated member", '{"time":0,"time":1}', 400, { member: "time" }],
    ["a time in quotes", { ...good, time: "0" }, 400, { member: "time" }],
    ["an empty list of times", { ...good, time: [] }, 400, { member: "time" }],
    [
      "an option that does not exist",
      { ...good, spatialInterpolation: "lag6" },
      400,
      { member: "spatialInterpolation" },
    ],
  ])("refuses %s", async (_what, payload, status, about) => {
    const response = await ask(payload);
    expect(response.statusCode).toBe(status);
    expect(response.headers["content-type"]).toMatch("application/problem+json");
    expect(response.json()).toMatchObject({
      status,
      code: "InvalidRequest",
      requestId: response.headers["x-request-id"],
      ...about,
    });
    const after = await ask(good);
    expect(after.statusCode).toBe(200);
  });

  it("names the members and parameters that there are in place of one that there is not", async () => {
    const has = "it has time, spatialInterpolation, temporalInterpolation";
    const tracker = "/api/datasets/lopsided/GetPositionInertialParticle";
    const drag = "it has StartTime, EndTime, Tp, spatialInterpolation";
    const long = "x".repeat(5000);
    for (const [payload, url, detail] of [
      [{ ...good, nlayers: 1 }, VELOCITY, `GetVelocity has no member "nlayers"; ${has}, points.`],
      [{ nt: 1 }, tracker, `GetPositionInertialParticle has no member "nt"; ${drag}, points, InitialV.`],
      [{ time: 0 }, "/api/NullOp", `NullOp has no member "time"; it has points.`],
      [good, `${VELOCITY}?Time=0`, `GetVelocity has no parameter "Time"; ${has}, columns, pairing.`],
      [
        good,
        `${tracker}?points=0`,
        `GetPositionInertialParticle has no parameter "points"; ${drag}, openFaces, integrator, tolerance, columns, pairing, InitialV.`,
      ],
      [good, "/api/NullOp?time=0", `NullOp has no parameter "time"; it has none.`],
      [
        good,
        `${VELOCITY}?${long}=1`,
        `GetVelocity has no parameter "${"x".repeat(63)}\u2026"; ${has}, columns, pairing.`,
      ],
    ] as const) {
      expect((await ask(payload, {}, url)).json().detail).toBe(detail);
    }
  });

  it("refuses unknown datasets and operations with 404", async () => {
    const unknown = await ask(good, {}, "/api/datasets/nothing/GetVelocity");
    expect([unknown.statusCode, unknown.json().code]).toEqual([404, "UnknownDataset"]);
    const operation = await ask(good, {}, "/api/datasets/lopsided/GetEverything");
    expect([operation.statusCode, operation.json().code]).toEqual([404, "UnknownOperation"]);
  });

  it("tells a wrong method the right ones", async () => {
    for (const [method, url, allow] of [
      ["GET", VELOCITY, "POST"],
      ["GET", "/api/NullOp?x=1", "POST"],
      ["DELETE", "/api/datasets/lopsided", "GET, HEAD"],
    ] as const) {
      const response = await app.inject({ method, url });
      expect([response.statusCode, response.headers.allow, response.json().code]).toEqual([
        405,
        allow,
        "InvalidRequest",
      ]);
    }
  });

  it("refuses media types it does not read or write", async () => {
    const plain = await ask("x", { "content-type": "text/plain" });
    expect([plain.statusCode, plain.json().detail]).toEqual([
      415,
      "The Content-Type of a body is application/json or application/octet-stream.",
    ]);
    const response = await ask(good, { accept: "application/xml, image/*;q=0.5" });
    expect([response.statusCode, response.json().code]).toEqual([406, "InvalidRequest"]);
    expect(
      (await ask(good, { accept: "text/html, text/csv;q=0.2, application/json;q=0.1" })).headers["content-type"],
    ).toMatch("text/csv");
  });

  it("refuses a compressed body, which might pass for numbers", async () => {
    const response = await app.inject({
      method: "POST",
      url: `${VELOCITY}?${query({ ...COMMON, time: 0 })}`,
      payload: Buffer.alloc(24),
      headers: { "content-type": "application/octet-stream", "content-encoding": "gzip" },
    });
    expect([response.statusCode, response.headers["accept-encoding"]]).toEqual([415, "identity"]);
  });

  it("refuses half a point of float32", async () => {
    const response = await app.inject({
      method: "POST",
      url: `${VELOCITY}?${query({ ...COMMON, time: 0 })}`,
      payload: Buffer.alloc(13),
      headers: { "content-type": "application/octet-stream" },
    });
    expect(response.json()).toMatchObject({ code: "InvalidRequest" });
  });

  it("stops at the first point past the limit and names it", async () => {
    const small = await serveApi(analyticEngine({ points: 3 }));
    const points = [...POINTS, ...POINTS];
    const over = await small.inject({ method: "POST", url: VELOCITY, payload: { ...good, points } });
    expect([over.statusCode, over.json()]).toMatchObject([413, { code: "LimitExceeded", limit: "query.points" }]);
    const list = await small.inject({ method: "POST", url: VELOCITY, payload: { ...good, time: [0, 0.5] } });
    expect(list.json()).toMatchObject({ code: "LimitExceeded", limit: "query.points" });
    expect((await small.inject({ method: "POST", url: VELOCITY, payload: good })).statusCode).toBe(200);
    await small.close();
  });

  it("bounds the body", async () => {
    const small = await serveApi(analyticEngine(), { settings: { HTTP_BODY_BYTES: "200" } });
    const points = Array.from({ length: 40 }, () => POINTS[0]);
    const response = await small.inject({ method: "POST", url: VELOCITY, payload: { ...good, points } });
    expect(response.json()).toMatchObject({ status: 413, code: "LimitExceeded" });
    await small.close();
  });

  it("takes JSON up to 16 MiB, and names the form for more", async () => {
    const most = 16 * 1024 * 1024;
    const text = JSON.stringify(good);
    const headers = { "content-type": "application/json" };
    const askFor = (bytes: number) =>
      app.inject({ method: "POST", url: VELOCITY, payload: text.padEnd(bytes), headers });
    expect((await askFor(most)).json()).toEqual((await ask(good)).json());
    const refused = await askFor(most + 1);
    expect([refused.statusCode, refused.body]).toEqual([413, expect.stringContaining("application/octet-stream")]);
  });

  it("passes on what the engine says, with Retry-After", async () => {
    const busy = await serveApi(analyticEngine({ fail: new BusyError("All slots are taken.", 2) }));
    const response = await busy.inject({ method: "POST", url: VELOCITY, payload: good });
    expect([response.statusCode, response.headers["retry-after"]]).toEqual([503, "2"]);
    expect(response.json()).toMatchObject({ code: "Busy", detail: "All slots are taken." });
    await busy.close();
  });
});

it("gives every result back", () => {
  expect(engine.log.released).toBe(engine.log.answered);
});
