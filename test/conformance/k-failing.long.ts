/** Group K of the conformance rules: failing well. R114 to R118 and R121 need the real engine: `test/chaos/`. */
import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { expectFault } from "../support/faults.js";
import { HOSTILE } from "../support/hostile.js";
import { exchange, rawPost } from "../support/raw-http.js";
import {
  call,
  envelope,
  expectAlive,
  expectIdle,
  getVelocity,
  items,
  nullOp,
  startService,
  useService,
  VERSIONS,
} from "../support/soap-service.js";

const REPEATS = 20;
const service = useService({
  HTTP_HEADERS_TIMEOUT_MS: "200",
  HTTP_REQUEST_TIMEOUT_MS: "200",
  HTTP_KEEP_ALIVE_TIMEOUT_MS: "200",
  HTTP_BODY_BYTES: "1000000",
});

const connections = (): Promise<number> =>
  new Promise((resolve) => service.app.server.getConnections((_error, count) => resolve(count)));

describe.each(VERSIONS)("SOAP %s", (version) => {
  it.each(HOSTILE.filter(({ slow }) => !slow).map((one) => [one.title, one] as const))(
    `R120: %s, ${REPEATS} times`,
    async (_title, { run }) => {
      for (let i = 0; i < REPEATS; i++) await run(service.port, version);
      await expectAlive(service);
      await expectIdle(service);
      expect(service.engine.open).toBe(0);
    },
  );

  it.each(HOSTILE.filter(({ slow }) => slow).map((one) => [one.title, one] as const))(
    `R15, R120: %s, ${REPEATS} side by side`,
    async (_title, { run }) => {
      await Promise.all(Array.from({ length: REPEATS }, () => run(service.port, version)));
      await expectAlive(service);
      await expectIdle(service);
    },
  );

  it("R120: no socket is left", async () => {
    await expect.poll(connections, { timeout: 10_000 }).toBe(0);
  });

  it("R112: the query of a caller who leaves is aborted, others are not disturbed", async () => {
    const open = service.engine.closeGate();
    const before = { queries: service.engine.queries.length, aborted: service.engine.aborted };
    const socket = connect({ port: service.port, host: "127.0.0.1" });
    socket.write(rawPost(version, envelope(version, nullOp())));
    const other = call(service, version, nullOp());
    while (service.engine.queries.length < before.queries + 2) await new Promise((resolve) => setImmediate(resolve));
    socket.destroy();
    while (service.engine.aborted === before.aborted) await new Promise((resolve) => setImmediate(resolve));
    open();
    service.engine.gate = null;
    expect((await other).status).toBe(200);
    expect(service.engine.aborted).toBe(before.aborted + 1);
  });

  it("R112: a caller who leaves while sending", async () => {
    const before = service.engine.aborted;
    const socket = connect({ port: service.port, host: "127.0.0.1" });
    socket.write(rawPost(version, envelope(version, nullOp(items([[1, 2, 3]]).repeat(100)))).slice(0, -3000), () =>
      socket.destroy(),
    );
    while (service.engine.aborted === before) await new Promise((resolve) => setImmediate(resolve));
    await expectAlive(service);
  });

  it("R113: a deadline that passes gives Deadline, and the slot is free again", async () => {
    const short = await startService({ QUERY_DEADLINE_MS: "50", ENGINE_INFLIGHT: "1" });
    short.engine.gate = new Promise(() => undefined);
    expectFault(await call(short, version, getVelocity()), version, "Server", "Deadline");
    short.engine.gate = null;
    await expectAlive(short);
    await short.stop();
  });
});

describe("health", () => {
  const status = async (path: string): Promise<number> => (await fetch(new URL(path, service.url))).status;

  it("R119, L5: ready only while the engine is, healthy while the process lives", async () => {
    expect([await status("/healthz"), await status("/readyz")]).toEqual([200, 200]);
    service.engine.ready = false;
    expect([await status("/healthz"), await status("/readyz")]).toEqual([200, 503]);
    service.engine.ready = true;
  });

  it("R117, R119: while shutting down nothing new is taken and what runs is finished", async () => {
    const own = await startService();
    const open = own.engine.closeGate();
    const running = call(own, "1.1", nullOp());
    while (own.engine.queries.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const stopped = own.stop();
    const refused = async (): Promise<boolean> =>
      fetch(new URL("/readyz", own.url)).then(
        ({ status }) => status === 503,
        () => true,
      );
    while (!(await refused())) await new Promise((resolve) => setImmediate(resolve));
    open();
    const answer = await running;
    expect(answer.status).toBe(200);
    await stopped;
    await expect(fetch(own.url)).rejects.toThrow();
  });

  it("R117: a connection that is kept alive ends with the answer under way, not when it has been idle for long", async () => {
    const own = await startService({ HTTP_KEEP_ALIVE_TIMEOUT_MS: "600000" });
    const open = own.engine.closeGate();
    const running = exchange(own.port, rawPost("1.1", envelope("1.1", nullOp())));
    await expect.poll(() => own.engine.queries.length).toBe(1);
    const stopped = own.stop();
    await expect.poll(() => own.app.server.listening).toBe(false);
    open();
    const answer = await running;
    expect(answer.text).toContain("</soap:Envelope>");
    expect(answer.closed).toBe(true);
    await stopped;
  });

  it("R117, R19: what still comes over an open connection at a shutdown is refused in plain text", async () => {
    const own = await startService();
    const open = own.engine.closeGate();
    const request = rawPost("1.1", envelope("1.1", nullOp()));
    let more: () => void = () => undefined;
    const running = exchange(own.port, (socket) => {
      socket.write(request);
      more = () => socket.write(request);
    });
    await expect.poll(() => own.engine.queries.length).toBe(1);
    const stopped = own.stop();
    await expect.poll(() => own.app.server.listening).toBe(false);
    const seen = once(own.app.server, "request");
    more();
    await seen;
    open();
    const { text } = await running;
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 503"]);
    const refusal = text.slice(text.lastIndexOf("HTTP/1.1 503"));
    expect(refusal).toMatch(/^content-type: text\/plain; charset=utf-8\r$/im);
    expect(refusal).toMatch(/^x-content-type-options: nosniff\r$/im);
    expect(refusal).toMatch(/^retry-after: 1\r$/im);
    expect(refusal).toMatch(/^connection: close\r$/im);
    expect(own.engine.queries).toHaveLength(1);
    await stopped;
  });

  it("exports what it counts", async () => {
    const text = await (await fetch(new URL("/metrics", service.url))).text();
    for (const name of [
      "requests_total",
      "points_total",
      "request_seconds_bucket",
      "read_bytes_total",
      "cache_hits_total",
      "batches_queued",
      "longest_turn_seconds",
    ]) {
      expect(text).toMatch(new RegExp(`^fieldprobe_${name}`, "m"));
    }
    const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", type]) => [name, type] as const);
    expect(types.filter(([name, type]) => (type === "counter") !== name.endsWith("_total"))).toEqual([]);
    expect(types.length).toBeGreaterThan(20);
    expect(Number(/^fieldprobe_longest_turn_seconds (\S+)/m.exec(text)?.[1])).toBeLessThan(0.05);
  });
});
