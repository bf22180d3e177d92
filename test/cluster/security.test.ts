/** The shipped configuration of NATS: keys, permissions and TLS, on a real server. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { connect, nkeyAuthenticator, nkeys, type PermissionViolationError } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectNats } from "../../src/engine/cluster/nats.js";
import type { Engine } from "../../src/engine/query.js";
import { runQuery } from "../support/run-query.js";
import { randomPoints } from "./queries.js";
import { freePort, missing, openAlone, openGateway, type Running, start, startWorker } from "./support.js";

const DEPLOY = fileURLToPath(new URL("../../deploy", import.meta.url));
const reason = missing() ?? (spawnSync("openssl", ["version"]).error ? "openssl is not installed" : null);

/** A certificate for 127.0.0.1, signed by an authority of its own. */
function makeCertificates(folder: string): void {
  const openssl = (...args: string[]): void => {
    const { status, stderr } = spawnSync("openssl", args, { cwd: folder, encoding: "utf8" });
    if (status !== 0) throw new Error(stderr);
  };
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  for (const name of ["ca", "other-ca"])
    openssl(
      "req",
      "-x509",
      "-days",
      "2",
      ...key,
      "-keyout",
      `${name}-key.pem`,
      "-out",
      `${name}.pem`,
      "-subj",
      `/CN=${name}`,
    );
  openssl("req", ...key, "-keyout", "server-key.pem", "-out", "server.csr", "-subj", "/CN=nats");
  writeFileSync(join(folder, "names"), "subjectAltName=IP:127.0.0.1,DNS:localhost");
  const signing = ["-CA", "ca.pem", "-CAkey", "ca-key.pem", "-CAcreateserial", "-days", "2", "-extfile", "names"];
  openssl("x509", "-req", "-in", "server.csr", "-out", "server.pem", ...signing);
}

describe.skipIf(reason !== null)(`deploy/nats.conf${reason ? `: skipped, ${reason}` : ""}`, () => {
  const folder = mkdtempSync(join(tmpdir(), "nats-"));
  const path = (name: string): string => join(folder, name);
  const keys = new Map<string, { readonly seed: Uint8Array; readonly file: string; readonly id: string }>();
  let env: Record<string, string>;
  let url: string;
  let server: Running;

  beforeAll(async () => {
    makeCertificates(folder);
    for (const role of ["gateway", "worker", "status", "unknown"]) {
      const pair = nkeys.createUser();
      const seed = pair.getSeed();
      writeFileSync(path(`${role}.nk`), `${new TextDecoder().decode(seed)}\n`);
      keys.set(role, { seed, file: path(`${role}.nk`), id: pair.getPublicKey() });
    }
    const id = (role: string): string => keys.get(role)?.id as string;
    env = {
      FP_TLS_CERT: path("server.pem"),
      FP_TLS_KEY: path("server-key.pem"),
      FP_TLS_CA: path("ca.pem"),
      FP_GATEWAY_NKEY: id("gateway"),
      FP_WORKER_NKEY: id("worker"),
      FP_STATUS_NKEY: id("status"),
      FP_ROUTE_PASSWORD: "routes",
    };
    const port = await freePort();
    url = `tls://127.0.0.1:${port}`;
    const args = ["-c", join(DEPLOY, "nats.conf"), "-a", "127.0.0.1", "-p", String(port)];
    server = await start("nats-server", args, /Server is ready/, env);
  });
  afterAll(async () => {
    await server?.end();
    rmSync(folder, { recursive: true });
  });

  const as = (role: string, ca = "ca.pem") =>
    connect({
      servers: url,
      authenticator: nkeyAuthenticator(keys.get(role)?.seed as Uint8Array),
      tls: { caFile: path(ca) },
      inboxPrefix: role === "gateway" ? "_FPG" : "_FPX",
      reconnect: false,
    });

  it("is valid, also for three servers", () => {
    for (const file of ["nats.conf", "nats-cluster.conf"]) {
      const { status, stderr } = spawnSync("nats-server", ["-t", "-c", join(DEPLOY, file)], {
        env: { ...process.env, ...env },
        encoding: "utf8",
      });
      expect(`${file} ${status} ${stderr}`).toMatch(/ 0 .*configuration file .* is valid/);
    }
  });

  it("carries queries between a gateway and a worker", { timeout: 60_000 }, async () => {
    const settings = (role: string) => ({ NATS_NKEY: keys.get(role)?.file as string, NATS_CA: path("ca.pem") });
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
        path("ca.pem"),
        "--nats-nkey",
        keys.get("status")?.file as string,
      ],
      /^w1 +ready/m,
    );
    await status.end();
    expect(await worker.end("SIGTERM")).toBe(0);
  });

  it("refuses an unknown key, and is refused where its authority is unknown", async () => {
    const settings = { servers: [url], name: "test", inboxPrefix: "_FPG" };
    const trusted = { ...settings, ca: path("ca.pem") };
    await expect(connectNats({ ...trusted, nkey: keys.get("unknown")?.file as string })).rejects.toThrow(
      /[Aa]uthorization/,
    );
    await expect(connectNats({ ...trusted, nkey: null })).rejects.toThrow(/[Aa]uthorization|nonce|NKEY|nkey/);
    const stranger = { ...settings, nkey: keys.get("gateway")?.file as string, ca: path("other-ca.pem") };
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
