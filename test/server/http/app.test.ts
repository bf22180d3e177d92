/** The fastify instance: interfaces beside SOAP, exposure, HTTPS, the log. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { connect, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { describe, expect, it, vi } from "vitest";
import { apiPlugin } from "../../../src/server/ask/plugin.js";
import { createApp } from "../../../src/server/http/app.js";
import { checkExposure } from "../../../src/server/http/auth.js";
import { soapPlugin } from "../../../src/server/soap/route.js";
import { ConfigError, loadConfig } from "../../../src/shared/config.js";
import { FakeEngine } from "../../support/fake-engine.js";
import { expectFault } from "../../support/faults.js";
import { exchange, rawPost, statusOf } from "../../support/raw-http.js";
import {
  call,
  envelope,
  expectAlive,
  nullOp,
  PATH,
  startService,
  TYPES,
  useService,
} from "../../support/soap-service.js";

const fixture = (name: string): string => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));

/** Requests that the HTTP parser or Node answers before any route, and their statuses. */
const UNPARSED: readonly (readonly [string, number, string])[] = [
  ["no HTTP", 400, "BAD\r\n\r\n"],
  ["no host", 400, "GET /healthz HTTP/1.1\r\n\r\n"],
  ["long headers", 431, `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Fill: ${"a".repeat(20_000)}\r\n\r\n`],
  ["headers that never end", 408, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"],
  [
    "a long chunk extension",
    413,
    `${rawPost("1.1", "").replace(/Content-Length: 0\r\n/, "Transfer-Encoding: chunked\r\n")}1;${"a".repeat(20_000)}\r\n`,
  ],
  ["an unknown expectation", 417, "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: tea\r\n\r\n"],
];

describe("answers before any route", () => {
  const service = useService({ HTTP_HEADERS_TIMEOUT_MS: "300" });

  it.each(UNPARSED)("are of type nosniff and name no software: %s", async (_case, status, bytes) => {
    const answer = await exchange(service.port, bytes);
    expect(statusOf(answer)).toBe(status);
    expect(answer.closed).toBe(true);
    expect(answer.text).toMatch(/^x-content-type-options: nosniff\r$/im);
    expect(answer.text).not.toMatch(/^(server|x-powered-by|via):/im);
  });
});

describe("an idle connection", () => {
  const service = useService({ HTTP_HEADERS_TIMEOUT_MS: "300" });
  const ASK = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
  const answered = async () => {
    const accepted = once(service.app.server, "connection") as Promise<[Socket]>;
    const caller = connect(service.port, "127.0.0.1");
    const [socket] = await accepted;
    caller.write(ASK);
    await once(caller, "data");
    return { caller, socket };
  };

  /**
   * As when the event loop was held up for longer than an idle connection is kept: the timer of the connection runs
   * before what has arrived on it meanwhile. It is called in a timer for the same order.
   */
  it("is not ended if a request has arrived on it", async () => {
    const { caller, socket } = await answered();
    setTimeout(() => {
      caller.write(ASK);
      socket.emit("timeout");
    });
    expect(String(await once(caller, "data"))).toMatch(/^HTTP\/1.1 200/);
    socket.emit("timeout");
    await once(caller, "close");
  });

  it("gets 408 for a head that has begun and does not end", async () => {
    const { caller, socket } = await answered();
    caller.write("GET /he");
    await vi.waitFor(() => expect(socket.bytesRead).toBe(ASK.length + 7));
    socket.emit("timeout");
    expect(String(await once(caller, "data"))).toMatch(/^HTTP\/1.1 408/);
    await once(caller, "close");
  });
});

describe("createApp", () => {
  it("keeps parsers, hooks and error handlers of further interfaces apart from SOAP's", async () => {
    const service = await startService(
      {},
      {},
      {
        plugins: [
          (app) => {
            app.addContentTypeParser("text/xml", { parseAs: "string" }, (_request, _body, done) =>
              done(null, "parsed"),
            );
            app.setErrorHandler((_error, _request, reply) => reply.code(418).send({ own: true }));
            app.addHook("preHandler", (_request, reply, done) => {
              reply.header("x-own", "1");
              done();
            });
            app.post("/own", (request) => ({ body: request.body }));
            app.get("/fails", () => {
              throw new Error("secret");
            });
          },
        ],
      },
    );
    const base = new URL(service.url).origin;
    const own = (type: string) =>
      fetch(`${base}/own`, { method: "POST", headers: { "content-type": type }, body: '{"a":1}' });
    expect(await (await own("application/json")).json()).toEqual({ body: { a: 1 } });
    expect(await (await own("text/xml")).json()).toEqual({ body: "parsed" });
    expect(await (await fetch(`${base}/fails`)).json()).toEqual({ own: true });
    const answer = await call(service, "1.1", nullOp());
    expect(answer.headers.get("x-own")).toBeNull();
    expectFault(await call(service, "1.2", "<a/>"), "1.2", "Caller", "UnknownOperation");
    await expectAlive(service);
    await service.stop();
  });

  it("leaves names that cannot be decoded, and very long ones, to the interface they are asked of", async () => {
    const service = await startService(
      {},
      {},
      {
        plugins: [
          (app) => {
            app.get<{ Params: { name: string } }>("/names/:name", (request, reply) =>
              reply.code(404).send({ unknown: request.params.name }),
            );
          },
        ],
      },
    );
    const base = new URL(service.url).origin;
    for (const name of ["%zz", "%ff", "a%", "n".repeat(5000)]) {
      const answer = await fetch(`${base}/names/${name}`);
      expect([answer.status, await answer.json()]).toEqual([404, { unknown: name }]);
    }
    const lost = await fetch(`${base}/elsewhere/%zz?%zz`);
    expect([lost.status, await lost.text()]).toEqual([404, "There is nothing at this address.\n"]);
    expect(lost.headers.get("x-content-type-options")).toBe("nosniff");
    expect(lost.headers.get("x-request-id")).not.toBeNull();
    await service.stop();
  });

  it("writes one line per request with its id, operation, points and outcome", async () => {
    const service = await startService();
    const answer = await call(service, "1.2", nullOp());
    await expect.poll(() => service.logs.length).toBeGreaterThan(1);
    const lines = service.logs.map((line) => JSON.parse(line)).filter(({ path }) => path === PATH);
    expect(lines).toEqual([
      expect.objectContaining({
        reqId: answer.headers.get("x-request-id"),
        interface: "soap 1.2",
        operation: "NullOp",
        points: 1,
        outcome: "ok",
        status: 200,
        token: null,
        ms: expect.any(Number),
      }),
    ]);
    await service.stop();
  });

  it("serves HTTPS", async () => {
    const config = loadConfig({ TLS_CERT: fixture("cert.pem"), TLS_KEY: fixture("key.pem") }, {});
    const app = await createApp({
      config,
      engine: new FakeEngine(),
      logger: pino({ level: "silent" }),
      plugins: [soapPlugin],
    });
    const url = await app.listen({ port: 0, host: "127.0.0.1" });
    expect(url).toMatch(/^https:/);
    const text = await new Promise<string>((resolve, reject) => {
      const sent = request(
        `${url}${PATH}`,
        { method: "POST", ca: readFileSync(fixture("cert.pem")), headers: { "content-type": TYPES["1.1"] } },
        (response) => {
          let all = "";
          response.setEncoding("utf8").on("data", (part) => {
            all += part;
          });
          response.on("end", () => resolve(all));
        },
      );
      sent.on("error", reject).end(envelope("1.1", nullOp()));
    });
    expect(text).toContain("<NullOpResult><Vector3><x>1.5</x>");
    await app.close();
  });
});

describe("checkExposure (L17)", () => {
  const check = (settings: Record<string, string>) => () => checkExposure(loadConfig(settings, {}));
  it.each([
    [{}],
    [{ HOST: "127.9.9.9" }],
    [{ HOST: "::1" }],
    [{ HOST: "localhost" }],
    [{ HOST: "0.0.0.0", ANONYMOUS: "true" }],
    [{ HOST: "0.0.0.0", TOKENS: "tokens.json" }],
  ])("%j may start", (settings) => {
    expect(check(settings)).not.toThrow();
  });
  it.each([
    [{ HOST: "0.0.0.0" }],
    [{ HOST: "::" }],
    [{ HOST: "192.0.2.1", ANONYMOUS: "false" }],
    [{ HOST: "127.0.0.1.example.org" }],
  ])("%j may not", (settings) => {
    expect(check(settings)).toThrow(ConfigError);
  });
});

describe("the access log", () => {
  const line = async (settings: Record<string, string>, path = "/healthz") => {
    const lines: string[] = [];
    const app = await createApp({
      config: loadConfig(settings, {}),
      engine: new FakeEngine({}),
      logger: pino({ level: "info" }, { write: (text: string) => lines.push(text) }),
      plugins: [apiPlugin],
    });
    const url = await app.listen({ host: "127.0.0.1", port: 0 });
    await fetch(url + path, { headers: { "x-forwarded-for": "203.0.113.7, 127.0.0.1" } });
    await app.close();
    return lines.map((text) => JSON.parse(text)).find(({ method }) => method === "GET");
  };

  it("names the caller by the socket, or by a trusted proxy", async () => {
    expect(await line({})).toMatchObject({ client: "127.0.0.1", dataset: null, queueMs: 0 });
    expect(await line({ TRUST_PROXY: "loopback" })).toMatchObject({ client: "203.0.113.7" });
    expect((await line({})).bytes).toBeGreaterThan(50);
    expect(await line({}, "/api/datasets/none/values")).toMatchObject({ status: 404, dataset: "none" });
  });

  it("says how long an answer was computed and written, and counts it before the figures are read", async () => {
    const service = await startService();
    const answer = await fetch(service.url, {
      method: "POST",
      headers: { "content-type": TYPES["1.1"] },
      body: envelope("1.1", nullOp()),
    });
    await answer.text();
    const figures = await (await fetch(new URL("/metrics", service.url))).text();
    expect(figures).toMatch(/^fieldprobe_requests_total\{.*operation="NullOp",outcome="ok"\} 1$/m);
    await service.stop();
    const { queueMs, computeMs, encodeMs, ms } = JSON.parse(service.logs.find((text) => text.includes("NullOp")) ?? "");
    expect(queueMs).toBe(0);
    expect(computeMs).toBeGreaterThanOrEqual(0);
    expect(encodeMs).toBeGreaterThan(0);
    expect(computeMs + encodeMs).toBeLessThanOrEqual(ms + 0.02);
  });
});

it("gives requests ids that tell nothing of one another", async () => {
  const service = await startService();
  const ids = new Set<string>();
  for (let i = 0; i < 20; i++) {
    const id = (await fetch(new URL("/healthz", service.url))).headers.get("x-request-id") as string;
    expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    ids.add(id.slice(0, 8));
  }
  expect(ids.size).toBe(20);
  await service.stop();
});
