/** The client against our SOAP server on a real socket, with an engine whose answers can be told apart. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { pino } from "pino";
import { afterEach, describe, expect, expectTypeOf, it } from "vitest";
import {
  type Answer,
  type CallOptions,
  ClientError,
  type ConnectOptions,
  connect,
  type FieldClient,
  type Points,
  type RequestOf,
} from "../../src/client/index.js";
import type { Evaluation, Query } from "../../src/engine/contract/query.js";
import { createApp } from "../../src/server/http/app.js";
import { type Auth, OPEN_AUTH } from "../../src/server/http/auth.js";
import { soapPlugin } from "../../src/server/soap/route.js";
import { loadConfig } from "../../src/shared/config.js";
import { AuthError, BusyError, LimitError } from "../../src/shared/errors.js";
import { type GRADIENT_METHODS, OLDER_OPERATIONS, type OperationName, RECORDS } from "../../src/shared/operations.js";
import { FakeEngine, fakeValue } from "../support/fake-engine.js";

const VERSIONS = ["1.1", "1.2"] as const;
const HOLED = Object.assign(new Array(3), { 0: 1, 2: 3 });
const SCALARS = {
  dataset: "isotropic32",
  time: 0.1,
  filterlength: 1,
  nlayers: 2,
  StartTime: 0,
  EndTime: 1,
  dt: 0.1,
  nt: 3,
  Tp: 0.5,
  spatialInterpolation: "Lag4",
  temporalInterpolation: "PCHIP",
};

let app: FastifyInstance | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});

async function serve(engine: FakeEngine, settings: Record<string, string> = {}, auth: Auth = OPEN_AUTH) {
  const config = loadConfig({ BASE_URL: "http://public.example", ...settings }, {});
  app = await createApp({ config, engine, auth, logger: pino({ level: "silent" }), plugins: [soapPlugin] });
  return app.listen({ host: "127.0.0.1", port: 0 });
}

async function open(engine: FakeEngine, options: ConnectOptions = {}, settings: Record<string, string> = {}) {
  return connect(await serve(engine, settings), options);
}

function call(client: FieldClient, name: OperationName, points: Float32Array, options?: CallOptions): Promise<Answer> {
  const row = OLDER_OPERATIONS.find((operation) => operation.name === name);
  const members = row?.request.map(({ name: member }) => [member, (SCALARS as Record<string, unknown>)[member]]) ?? [];
  const request = {
    ...Object.fromEntries(members),
    points,
    ...(row && hasVelocities(row.name) && { InitialV: points }),
  };
  return (client[name as keyof FieldClient] as unknown as (request: object, options?: CallOptions) => Promise<Answer>)(
    request,
    options,
  );
}

type Untyped = Readonly<Record<string, (...given: unknown[]) => Promise<object>>>;
const hasVelocities = (name: OperationName) => name === "GetPositionInertialParticle";
const line = (count: number) => Float32Array.from({ length: 3 * count }, (_, i) => Math.floor(i / 3) + (i % 3) / 4);
const rejection = async (promise: Promise<unknown>): Promise<ClientError> => {
  const error = await promise.then(
    () => new Error("no error"),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ClientError);
  return error as ClientError;
};

describe.each(VERSIONS)("client, SOAP %s", (version) => {
  it.each(OLDER_OPERATIONS.map(({ name, result }) => [name, result] as const))(
    "calls %s with 0, 1 and 7 points",
    async (name, result) => {
      const engine = new FakeEngine();
      const client = await open(engine, { version, pointsPerRequest: 3 });
      const components = RECORDS[result];
      for (const count of [0, 1, 7]) {
        const points = line(count);
        const answer = await call(client, name, points);
        const records = name.startsWith("GetBoxFilter") ? 9 : 1;
        const expected = Array.from({ length: count * records }, (_, item) =>
          components.map((_, c) => {
            const x = points[3 * Math.floor(item / records)] as number;
            return name === "NullOp" ? points[3 * item + c] : fakeValue(name, x, item % records, c);
          }),
        ).flat();
        expect(Array.from(answer.values)).toEqual(expected);
        expect(answer).toMatchObject({ record: result, components, recordsPerPoint: records });
      }
      expect(engine.queries.length).toBe(1 + 1 + 3);
      const row = OLDER_OPERATIONS.find((operation) => operation.name === name);
      for (const { name: member, type } of row?.request ?? []) {
        if (member === "authToken" || type.startsWith("ArrayOf")) continue;
        const value = (SCALARS as Record<string, unknown>)[member];
        const got = engine.queries[0]?.[member as keyof Query];
        expect(got).toBe(typeof value === "number" ? Math.fround(value) : value);
      }
    },
  );

  it("takes points as triples, and coordinates of every magnitude and sign unchanged", async () => {
    const client = await open(new FakeEngine(), { version });
    const triples = [
      [0.1, -0, 1e-45],
      [3.4028234663852886e38, -16777217, 2.5],
    ] as const;
    const { values } = await client.NullOp({ points: triples });
    triples.flat().forEach((value, i) => {
      expect(Object.is(values[i], Math.fround(value))).toBe(true);
    });
  });

  it("takes rows that are typed arrays, as they are when the call is made", async () => {
    const client = await open(new FakeEngine(), { version, pointsPerRequest: 1, concurrency: 1 });
    const expected = await client.NullOp({ points: line(3) });
    const rows = [0, 3, 6].map((at) => line(3).subarray(at, at + 3));
    for (const points of [line(3), rows as unknown as Points]) {
      const call = client.NullOp({ points });
      for (const part of [points].flat()) (part as Float32Array).fill(7);
      expect(await call).toEqual(expected);
    }
  });

  it("reads infinities and NaN", async () => {
    class Extremes extends FakeEngine {
      override start(query: Query, control: { readonly deadlineMs?: number }): Evaluation {
        const evaluation = super.start(query, control);
        const finish = async () => {
          const result = await evaluation.finish();
          result.values[0]?.set([Infinity, -Infinity, Number.NaN]);
          return result;
        };
        return { ...evaluation, finish };
      }
    }
    const client = await open(new Extremes(), { version });
    expect(Array.from((await call(client, "GetVelocity", line(1))).values)).toEqual([Infinity, -Infinity, Number.NaN]);
  });

  it("reports faults with code, member, limit and request", async () => {
    const client = await open(new FakeEngine({ points: 2 }), { version, pointsPerRequest: 2 });
    const unknown = { time: 0, spatialInterpolation: "Lag4", temporalInterpolation: "None", points: line(1) } as const;
    const error = await rejection(client.GetVelocity({ ...unknown, dataset: "<none>" }));
    expect(error).toMatchObject({ code: "UnknownDataset", member: "dataset", message: "Invalid set name: <none>" });
    expect(error.detail.requestId).toMatch(/\S/);
    expect(error.detail.status).toBe(version === "1.1" ? 500 : 400);
    expect(await rejection(client.GetVelocity({ ...unknown, dataset: "x".repeat(5000) }))).toMatchObject({
      code: "LimitExceeded",
      limit: "xml.textChars",
    });
  });

  it("counts points within the caller's array, whatever the parts", async () => {
    const client = await open(new FakeEngine(), { version, pointsPerRequest: 3, concurrency: 1 });
    const points = line(10);
    points[3 * 7 + 1] = Number.NaN;
    const error = await rejection(client.NullOp({ points }));
    expect(error).toMatchObject({ code: "OutOfRange", member: "points[7].y" });
    expect(error.message).toContain("points[7].y");
  });
});

describe("client", () => {
  it("has types that follow the table", () => {
    type Gradient = RequestOf<"GetVelocityGradient">;
    expectTypeOf<Gradient["spatialInterpolation"]>().toEqualTypeOf<(typeof GRADIENT_METHODS)[number]>();
    expectTypeOf<Gradient["time"]>().toBeNumber();
    expectTypeOf<Gradient["points"]>().toEqualTypeOf<Points | undefined>();
    expectTypeOf<keyof RequestOf<"NullOp">>().toEqualTypeOf<"authToken" | "points">();
    expectTypeOf<Answer<"GetVelocityAndPressure">["components"]>().toEqualTypeOf<readonly ["x", "y", "z", "p"]>();
  });

  it("sends what the service's limits allow", async () => {
    const engine = new FakeEngine({ points: 10 });
    const client = await open(engine, { pointsPerRequest: 1000, concurrency: 2 });
    const points = line(100);
    expect((await client.NullOp({ points })).values).toEqual(points);
  });

  it("sends less when the body is refused before it is read", async () => {
    const client = await open(new FakeEngine(), { pointsPerRequest: 5000 }, { HTTP_BODY_BYTES: "20000" });
    const points = line(2000);
    expect((await client.NullOp({ points })).values).toEqual(points);
  });

  it("waits and tries again when the service is busy", async () => {
    class BusyOnce extends FakeEngine {
      override start(query: Query, control: { readonly deadlineMs?: number }): Evaluation {
        this.failure = this.queries.length === 0 ? new BusyError("Busy.", 1) : null;
        return super.start(query, control);
      }
    }
    const engine = new BusyOnce();
    const client = await open(engine);
    expect((await client.NullOp({ points: line(1) })).values).toEqual(line(1));
    expect(engine.queries.length).toBe(2);
  });

  it("sends its token with every request, unless the request names one", async () => {
    const seen: (string | null)[] = [];
    const auth: Auth = {
      ...OPEN_AUTH,
      authorise(token) {
        seen.push(token);
        if (token === "bad") throw new AuthError("Invalid identification token.");
        if (token === "small") return { id: "small", points: 2, countFurtherQuery: () => undefined, release() {} };
        return { id: null, points: 0, countFurtherQuery: () => undefined, release() {} };
      },
    };
    const url = await serve(new FakeEngine(), {}, auth);
    const client = await connect(url, { token: "good" });
    await client.NullOp({ points: line(1) });
    expect(await rejection(client.NullOp({ authToken: "bad" }))).toMatchObject({ code: "AuthenticationFailed" });
    await (await connect(url)).NullOp({});
    expect(seen).toEqual(["good", "bad", null]);
    const small = await connect(url, { token: "small" });
    expect((await small.NullOp({ points: line(9) })).values).toEqual(line(9));
  });

  it("runs as many requests at once as its token may", async () => {
    let running = 0;
    const auth: Auth = {
      ...OPEN_AUTH,
      authorise() {
        if (running === 1) throw new LimitError("token.concurrent", "This token may run 1 requests at a time.");
        running++;
        return { id: "one", points: 0, countFurtherQuery: () => undefined, release: () => running-- };
      },
    };
    const client = await connect(await serve(new FakeEngine(), {}, auth), { pointsPerRequest: 10, concurrency: 4 });
    expect((await client.NullOp({ points: line(200) })).values).toEqual(line(200));
  });

  it("reports progress to the end", async () => {
    const client = await open(new FakeEngine(), { pointsPerRequest: 2, concurrency: 2 });
    const seen: number[] = [];
    await call(client, "GetVelocity", line(5), { onProgress: (done, total) => seen.push(done / total) });
    expect(seen.length).toBe(3);
    expect(seen.at(-1)).toBe(1);
  });

  it("stops what is under way when it is told to", async () => {
    const engine = new FakeEngine();
    const release = engine.closeGate();
    const client = await open(engine);
    const control = new AbortController();
    const reason = new Error("enough");
    const running = client.NullOp({ points: line(1) }, { signal: control.signal });
    while (engine.queries.length === 0) await new Promise((resolve) => setImmediate(resolve));
    control.abort(reason);
    await expect(running).rejects.toBe(reason);
    while (engine.aborted === 0) await new Promise((resolve) => setImmediate(resolve));
    release();
  });

  it("stops while it waits for a busy service, with the reason it is given", async () => {
    const engine = new FakeEngine();
    engine.failure = new BusyError("Busy.", 60);
    const url = await serve(engine);
    const client = await connect(url);
    const control = new AbortController();
    const reason = new Error("enough");
    const running = client.NullOp({ points: line(1) }, { signal: control.signal });
    while (engine.queries.length === 0) await new Promise((resolve) => setImmediate(resolve));
    // The refusal is on its way: by the time other exchanges are over it has arrived.
    for (let n = 0; n < 10; n++) await (await fetch(`${url}/healthz`)).text();
    control.abort(reason);
    await expect(running).rejects.toBe(reason);
    expect(engine.queries.length).toBe(1);
  });

  it("takes the endpoint itself as address", async () => {
    const url = await serve(new FakeEngine());
    const client = await connect(`${url}/service/turbulence.asmx?wsdl`);
    expect((await client.NullOp({ points: line(2) })).values).toEqual(line(2));
  });

  it.each([
    ["a point of two numbers", "NullOp", { points: [[1, 2]] }, "points"],
    ["a point without a number", "NullOp", { points: [[0.1, null, 0.2]] }, "points"],
    ["numbers that are no triples", "NullOp", { points: Float32Array.of(1, 2) }, "points"],
    ["a list without a number", "GetData_Python", { points: [[0.1], [null], [0.2]] }, "points"],
    ["holes in points", "NullOp", { points: [HOLED, HOLED, HOLED] }, "points"],
    ["a hole in place of a point", "NullOp", { points: HOLED.map(() => [1, 2, 3]) }, "points"],
    ["a number in place of a point", "NullOp", { points: [1, 2, 3] }, "points"],
    ["a hole in lists", "GetData_Python", { points: HOLED.map(() => [1]) }, "points"],
    ["bytes", "NullOp", { points: Buffer.from(line(1).buffer) }, "points"],
    ["integers of 64 bits", "NullOp", { points: BigInt64Array.of(1n, 2n, 3n) }, "points"],
    ["points that are undefined", "NullOp", { points: undefined }, "points"],
    ["velocities of no points", "GetPositionInertialParticle", { points: line(2), InitialV: [] }, "InitialV"],
    ["velocities of other points", "GetPositionInertialParticle", { points: line(2), InitialV: line(3) }, "InitialV"],
    ["a member of no operation", "GetVelocity", { points: line(1), Initialv: line(1) }, "Initialv"],
    ["a symbol for a number", "GetVelocity", { points: line(1), time: Symbol("t") }, "time"],
    ["an array for a number", "GetVelocity", { points: line(1), time: Float32Array.of(1, 2) }, "time"],
    ["a map for a text", "GetVelocity", { points: line(1), dataset: new Map() }, "dataset"],
    ["a member of another one", "GetVelocity", { points: line(1), nt: 3 }, "nt"],
  ])("refuses %s", async (_, name, request, member) => {
    const client = (await open(new FakeEngine())) as unknown as Untyped;
    expect(await rejection(client[name]?.(request) as Promise<object>)).toMatchObject({
      code: "InvalidRequest",
      member,
    });
  });

  it("joins no parts of two versions of a dataset", async () => {
    class Replaced extends FakeEngine {
      override find() {
        return { digest: `${this.queries.length > 2}`, assumed: [], files: [] } as never;
      }
    }
    const client = await open(new Replaced(), { pointsPerRequest: 2, concurrency: 1 });
    expect((await call(client, "GetVelocity", line(4))).values).toHaveLength(12);
    const message = "isotropic32 was replaced while it was asked: ask again.";
    expect(await rejection(call(client, "GetVelocity", line(8)))).toMatchObject({ code: "DatasetReplaced", message });
  });

  it("has no number in a question that JSON would drop", async () => {
    const client = (await open(new FakeEngine())) as unknown as Untyped;
    for (const given of [
      Number.NaN,
      [0, Number.POSITIVE_INFINITY],
      { random: 3, seed: Number.NaN },
      [[1, undefined, 2]],
      () => 1,
      Symbol("1"),
      1n,
      line(2),
      new DataView(new ArrayBuffer(8)),
      [Float64Array.of(1, Number.NaN)],
    ])
      for (const ask of [client.values?.("a", { points: given }), client.submit?.("a", "values", { points: given })])
        expect(await rejection(ask as Promise<object>)).toMatchObject({ code: "InvalidRequest", member: "points" });
  });

  it("refuses options that would never end or never begin", async () => {
    for (const options of [{ pointsPerRequest: 0 }, { pointsPerRequest: 2.5 }, { concurrency: 0 }]) {
      await expect(connect("http://127.0.0.1:9", options)).rejects.toThrow(RangeError);
    }
  });

  it("says when there is no service at the address", async () => {
    expect(await rejection(connect("no address"))).toMatchObject({ code: "Network" });
    const url = await serve(new FakeEngine());
    expect(await rejection(connect(`${url}/elsewhere`))).toMatchObject({ code: "Network" });
    await app?.close();
    expect(await rejection(connect(url))).toMatchObject({ code: "Network" });
  });

  it.each([
    ["another length", "<NullOpResult/>"],
    ["an empty number", "<NullOpResult><Point3><x></x><y>1</y><z>2</z></Point3></NullOpResult>"],
    ["a damaged number", "<NullOpResult><Point3><x>abc</x><y>1</y><z>2</z></Point3></NullOpResult>"],
    ["a missing number", "<NullOpResult><Point3><y>1</y><z>2</z></Point3></NullOpResult>"],
  ])("does not believe an answer of %s", async (_, result) => {
    const wsdl = await (await fetch(`${await serve(new FakeEngine())}/service/turbulence.asmx?wsdl`)).text();
    const server = createServer((request, response) => {
      const body =
        '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>' +
        `<NullOpResponse xmlns="http://turbulence.pha.jhu.edu/">${result}</NullOpResponse></soap:Body></soap:Envelope>`;
      request
        .resume()
        .on("end", () => response.setHeader("content-type", "text/xml").end(request.method === "GET" ? wsdl : body));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const client = await connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
      expect(await rejection(client.NullOp({ points: line(1) }))).toMatchObject({ code: "Protocol" });
      for (const ask of [() => client.ask("values", "a", {}, "f32"), () => client.values("a", {}), () => client.jobs()])
        expect((await rejection(ask())).message).toMatch(/^The answer is text\/xml instead of application\//);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
