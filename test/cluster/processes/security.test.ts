/** The shipped configurations of NATS: keys, permissions, TLS and routes, on real servers. */
import { connect, nkeyAuthenticator, type PermissionViolationError } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectNats } from "../../../src/cluster/wire/nats.js";
import type { Engine } from "../../../src/engine/query.js";
import { runQuery } from "../../support/run-query.js";
import { randomPoints, VELOCITY } from "./queries.js";
import { makeSecrets, noCertificates, type Secrets, shipped } from "./secrets.js";
import { freePort, heard, missing, openAlone, openGateway, type Running, start, startWorker } from "./support.js";

const reason = missing() ?? noCertificates();

describe.skipIf(reason !== null)(`deploy/nats.conf${reason ? `: skipped, ${reason}` : ""}`, () => {
  let secrets: Secrets;
  let url: string;
  let server: Running;

  beforeAll(async () => {
    secrets = makeSecrets();
    const port = await freePort();
    url = `tls://127.0.0.1:${port}`;
    const args = ["-c", shipped("nats.conf"), "-a", "127.0.0.1", "-p", String(port)];
    server = await start("nats-server", args, /Server is ready/, secrets.env);
  });
  afterAll(async () => {
    await server?.end();
    secrets?.remove();
  });

  const as = (role: "gateway" | "worker" | "status") =>
    connect({
      servers: url,
      authenticator: nkeyAuthenticator(secrets.key(role).seed),
      tls: { caFile: secrets.path("ca.pem") },
      inboxPrefix: role === "gateway" ? "_FPG" : "_FPX",
      reconnect: false,
    });

  it("carries queries between a gateway and a worker", { timeout: 60_000 }, async () => {
    const { settings } = secrets;
    const worker = await startWorker("w1", { url, settings: settings("worker") });
    const engines: Engine[] = [await openAlone(), await openGateway(1, { url, settings: settings("gateway") })];
    const query = {
      operation: "GetVelocityHessian",
      dataset: "isotropic32",
      time: 0.31,
      spatialInterpolation: "Fd4Lag4",
      temporalInterpolation: "PCHIP",
    } as const;
    const [expected, found] = await Promise.all(
      engines.map((engine) => runQuery(engine, query, randomPoints(50_000, 3))),
    );
    expect(found).toEqual(expected);
    for (const engine of engines) await engine.close(1000);
    const status = await start(
      process.execPath,
      [
        "bin/fieldprobe.js",
        "cluster",
        "status",
        "--nats",
        url,
        "--nats-ca",
        secrets.path("ca.pem"),
        "--nats-nkey",
        secrets.key("status").file,
      ],
      /^w1 +ready/m,
    );
    await status.end();
    expect(await worker.end("SIGTERM")).toBe(0);
  });

  it("refuses an unknown key, and is refused where its authority is unknown", async () => {
    const settings = { servers: [url], name: "test", inboxPrefix: "_FPG" };
    const trusted = { ...settings, ca: secrets.path("ca.pem") };
    await expect(connectNats({ ...trusted, nkey: secrets.key("unknown").file })).rejects.toThrow(/[Aa]uthorization/);
    await expect(connectNats({ ...trusted, nkey: null })).rejects.toThrow(/[Aa]uthorization|nonce|NKEY|nkey/);
    const stranger = { ...settings, nkey: secrets.key("gateway").file, ca: secrets.path("other-ca.pem") };
    await expect(connectNats(stranger)).rejects.toThrow(/certificate/);
  });

  it.each([
    ["worker", "publish", "fp.v1.n.w1.eval", false],
    ["worker", "publish", "fp.v1.any.isotropic32", false],
    ["worker", "publish", "fp.v1.n.w1.ctl", false],
    ["worker", "publish", "_FPG.x.1", false],
    ["worker", "publish", "fp.v1.hb.w1", true],
    ["worker", "subscribe", "fp.v1.hb.*", false],
    ["worker", "subscribe", "_FPG.>", false],
    ["worker", "subscribe", "fp.v1.n.w1.eval", true],
    ["gateway", "publish", "fp.v1.n.w1.eval", true],
    ["gateway", "publish", "fp.v1.hb.w1", false],
    ["gateway", "subscribe", "fp.v1.n.w1.eval", false],
    ["status", "publish", "fp.v1.n.w1.eval", false],
    ["status", "subscribe", "fp.v1.hb.*", true],
    ["status", "subscribe", "_FPG.>", false],
  ] as const)("a %s may %s %s: %s", async (role, verb, subject, allowed) => {
    const connection = await as(role);
    const violations: string[] = [];
    const watching = (async () => {
      for await (const status of connection.status()) {
        if (status.type !== "error") continue;
        const { operation, subject: denied } = status.error as PermissionViolationError;
        violations.push(`${operation} ${denied}`);
      }
    })();
    if (verb === "publish") connection.publish(subject, "x");
    else connection.subscribe(subject, { callback: () => {} });
    await connection.flush();
    await connection.flush();
    await connection.close();
    await watching;
    const name = verb === "publish" ? "publish" : "subscription";
    expect(violations).toEqual(allowed ? [] : [`${name} ${subject}`]);
  });
});

describe.skipIf(reason !== null)(`deploy/nats-cluster.conf${reason ? `: skipped, ${reason}` : ""}`, () => {
  const POINTS = randomPoints(20_000, 21);
  const running: Running[] = [];
  const engines: Engine[] = [];
  let secrets: Secrets;

  beforeAll(() => {
    secrets = makeSecrets();
  });
  afterAll(async () => {
    for (const engine of engines) await engine.close(1000);
    for (const one of running.toReversed()) await one.end();
    secrets?.remove();
  });

  it("joins three servers; one of them killed, and then another, fails no query", { timeout: 90_000 }, async () => {
    const routes = [await freePort(), await freePort(), await freePort()];
    const route = (port: number): string => `nats-route://route:routes@127.0.0.1:${port}`;
    const urls: string[] = [];
    for (const [i, port] of routes.entries()) {
      const own = await freePort();
      urls.push(`tls://127.0.0.1:${own}`);
      const ports = ["-a", "127.0.0.1", "-p", String(own), "-m", String(await freePort())];
      const others = ["--cluster", route(port), "--routes", routes.map(route).join(",")];
      const args = ["-c", shipped("nats-cluster.conf"), "-n", `s${i}`, ...ports, ...others];
      running.push(await start("nats-server", args, /Server is ready/, secrets.env));
    }
    // Each process knows one server and learns of the others from it.
    const [first, second, third] = urls as [string, string, string];
    const servers = running.slice();
    running.push(await startWorker("w1", { url: first, settings: secrets.settings("worker") }));
    running.push(await startWorker("w2", { url: second, settings: secrets.settings("worker") }));
    const alone = await openAlone();
    engines.push(alone);
    const gateway = await openGateway(2, { url: third, settings: secrets.settings("gateway") });
    engines.push(gateway);
    const expected = await runQuery(alone, VELOCITY, POINTS);
    let asked = 0;
    let stop = false;
    const asking = Promise.all(
      Array.from({ length: 3 }, async () => {
        for (; !stop; asked++) expect(await runQuery(gateway, VELOCITY, POINTS)).toEqual(expected);
      }),
    );
    const more = async (): Promise<void> => {
      const before = asked;
      await Promise.race([expect.poll(() => asked, { timeout: 20_000 }).toBeGreaterThan(before + 10), asking]);
    };
    await more();
    // The server of a worker, then that of the gateway.
    for (const server of [servers[1], servers[2]]) {
      await server?.end("SIGKILL");
      await more();
    }
    stop = true;
    await asking;
    await heard(gateway, 2);
  });
});
