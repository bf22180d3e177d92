/** Connections that break lose no answer: the client sends the part again, a bounded number of times, and says so. */
import { once } from "node:events";
import { createServer, connect as dial, type Server, type Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ClientError, connect } from "../../src/client/index.js";
import { createApp } from "../../src/server/http/app.js";
import { soapPlugin } from "../../src/server/soap/route.js";
import { loadConfig } from "../../src/shared/config.js";
import { FakeEngine, fakeValue } from "../support/fake-engine.js";

const ASKED = {
  dataset: "isotropic32",
  time: 0.1,
  spatialInterpolation: "Lag4",
  temporalInterpolation: "PCHIP",
} as const;
const TOTAL = 3000;
const points = Float32Array.from({ length: 3 * TOTAL }, (_, i) => (i % 7) / 2);

let app: FastifyInstance;
let proxy: Server;
let url: string;
/** Bytes of answers that the proxy lets through on a connection, by its number; null for all of them. */
let through: (connection: number) => number | null;
let connections: number;
const open = new Set<Socket>();

beforeEach(async () => {
  app = await createApp({
    config: loadConfig({}, {}),
    engine: new FakeEngine(),
    logger: pino({ level: "silent" }),
    plugins: [soapPlugin],
  });
  const port = Number(new URL(await app.listen({ port: 0, host: "127.0.0.1" })).port);
  connections = 0;
  through = () => null;
  proxy = createServer((client) => {
    const connection = connections++;
    const service = dial(port, "127.0.0.1");
    let passed = 0;
    for (const socket of [client, service]) open.add(socket.on("error", () => undefined));
    client.on("data", (bytes) => service.write(bytes)).on("close", () => service.destroy());
    service.on("data", (bytes: Buffer) => {
      passed += bytes.length;
      const limit = through(connection);
      client.write(limit === null ? bytes : bytes.subarray(0, Math.max(0, bytes.length - (passed - limit))));
      if (limit !== null && passed >= limit) client.resetAndDestroy();
    });
    service.on("close", () => client.end());
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  url = `http://127.0.0.1:${(proxy.address() as { port: number }).port}`;
});
afterEach(async () => {
  for (const socket of open) socket.destroy();
  open.clear();
  proxy.close();
  await app.close();
});

const whole = (values: Float32Array): void => {
  expect(values).toHaveLength(3 * TOTAL);
  const expected = Float32Array.from(values, (_, i) =>
    fakeValue("GetVelocity", points[i - (i % 3)] as number, 0, i % 3),
  );
  expect(values).toEqual(expected);
};

describe("the typed client", () => {
  it("gets every part whole if connections are cut before, inside or after the head of an answer", async () => {
    through = (connection) => [null, 0, 40, 2000, null, 300][connection] ?? null;
    const client = await connect(url, { pointsPerRequest: 500 });
    whole((await client.GetVelocity({ ...ASKED, points })).values);
    expect(connections).toBeGreaterThan(3);
  });

  it("asks again on a new connection if the kept one is reset when it is used again", async () => {
    const client = await connect(url);
    const kept = connections;
    through = (connection) => (connection < kept ? 0 : null);
    whole((await client.GetVelocity({ ...ASKED, points })).values);
    expect(connections).toBeGreaterThan(kept);
  });

  it("loads the description again", async () => {
    through = (connection) => (connection < 2 ? 100 : null);
    await expect(connect(url)).resolves.toBeDefined();
  });

  it("gives up after six attempts, and says what was tried and how far it came", async () => {
    let isGone = false;
    through = () => (isGone ? 0 : null);
    const client = await connect(url, { pointsPerRequest: 500, concurrency: 1 });
    const onProgress = (done: number): void => {
      isGone = done === 1000;
    };
    const error = await client.GetVelocity({ ...ASKED, points }, { onProgress }).catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(ClientError);
    expect((error as ClientError).code).toBe("Network");
    expect((error as ClientError).message).toMatch(/\(6 attempts in \d+\.\d s\) after 1000 of 3000 points$/);
  });
});
