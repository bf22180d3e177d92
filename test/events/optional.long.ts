/** The events are an optional plug-in: nothing about them stops the field service, and reading again is reported. */
import { spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type RunningService, startService } from "../../src/main.js";
import { digestToken } from "../../src/server/http/auth.js";
import { loadConfig } from "../../src/shared/config.js";
import { startProgram } from "../support/program.js";
import { fieldprobe } from "../support/run-command.js";
import { EXAMPLE, load, scratch } from "./support.js";

const fixture = (name: string) => fileURLToPath(new URL(`../server/http/fixtures/${name}`, import.meta.url));
const BIN = fileURLToPath(new URL("../../bin/fieldprobe.js", import.meta.url));
const NOW = "2026-10-20T12:00:00Z";

let folder: ReturnType<typeof scratch>;
let running: RunningService | null = null;
let lines: { level: number; msg: string }[] = [];
beforeEach(() => {
  folder = scratch();
  lines = [];
});
afterEach(async () => {
  await running?.close();
  running = null;
  folder.remove();
});

const SETTINGS = {
  PORT: "0",
  WORKERS: "1",
  CACHE_BYTES: `${64 * 1024 * 1024}`,
  EVENTS_NOW: NOW,
  // While a test waits for another process, nobody notices that a connection has been closed.
  HTTP_KEEP_ALIVE_TIMEOUT_MS: "60000",
};

async function start(settings: Readonly<Record<string, string>> = {}): Promise<RunningService> {
  const log = pino({ level: "info" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  running = await startService(loadConfig({ ...SETTINGS, STATE: folder.path, ...settings }, {}), log);
  return running;
}

const text = async (url: string, path: string) => (await fetch(url + path)).text();
const status = async (url: string, path: string) => (await fetch(url + path)).status;
const said = () => lines.map(({ msg }) => msg);

async function velocity(url: string, token?: string): Promise<number> {
  const answer = await fetch(`${url}/api/datasets/isotropic32/values`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(token ? { authorization: `Bearer ${token}` } : {}) },
    body: JSON.stringify({ time: 0.1, method: "Lag4", points: [[1, 2, 3]] }),
  });
  return answer.status;
}

describe("the field service", () => {
  it("is served before the events are read, and without them", async () => {
    writeFileSync(join(folder.path, "events.json"), "x".repeat(9000));
    const { url, optionalOpened } = await start();
    expect(await velocity(url)).toBe(200);
    expect(await text(url, "/readyz")).toMatch(/^ready\nfields: ready\nevents: (opening|unavailable)\n$/);
    await optionalOpened;
    expect(await text(url, "/readyz")).toBe("ready\nfields: ready\nevents: unavailable\n");
    expect([await status(url, "/readyz"), await status(url, "/events")]).toEqual([200, 503]);
    expect(await velocity(url)).toBe(200);
    expect(said()).toContain("the events cannot be read: /events answers 503, fields are still served");
  });

  it("serves no events where they are turned off, and makes no calendar", async () => {
    const { url } = await start({ EVENTS: "off" });
    expect([await status(url, "/events"), await status(url, "/tags"), await velocity(url)]).toEqual([404, 404, 200]);
    expect(await text(url, "/readyz")).toBe("ready\nfields: ready\n");
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it("leaves nothing but the calendar after a clean stop, long pages and imports included", {
    timeout: 60_000,
  }, async () => {
    const service = await start();
    await service.optionalOpened;
    expect(await text(service.url, "/readyz")).toBe("ready\nfields: ready\nevents: ready\n");
    expect(await status(service.url, "/events?single_events=false&order_by=name")).toBe(200);
    const calendar = join(folder.path, "events.json");
    expect((await fieldprobe("events", "import", EXAMPLE, "--file", calendar)).status).toBe(0);
    expect(await status(service.url, "/events")).toBe(200);
    expect(await service.close()).toBe(true);
    expect(readdirSync(folder.path)).toEqual(["events.json"]);
  });
});

describe("a thread of the events that is stuck", () => {
  it("neither keeps fields from being served nor the service from stopping", { timeout: 60_000 }, async () => {
    // Worker threads of piscina hang where the folder of the calendar is made.
    const state = JSON.stringify(folder.path);
    const stall = `
      import fs from "node:fs";
      import { syncBuiltinESMExports } from "node:module";
      import { isMainThread } from "node:worker_threads";
      const { statSync } = fs;
      if (!isMainThread) fs.statSync = (path, options) => {
        if (path === ${state}) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
        return statSync(path, options);
      };
      syncBuiltinESMExports();`;
    const settings = { ...SETTINGS, STATE: folder.path, SHUTDOWN_GRACE_MS: "100" };
    const program = await startProgram(settings, ["--import", `data:text/javascript,${encodeURIComponent(stall)}`]);
    expect(await velocity(program.url)).toBe(200);
    expect(await text(program.url, "/readyz")).toBe("ready\nfields: ready\nevents: opening\n");
    expect(await status(program.url, "/events")).toBe(503);
    await program.stop("SIGTERM");
    expect(program.log()).toContain("a thread does not end: killing the process");
  });
});

describe("reading again", () => {
  it("reads a calendar that has been mended", async () => {
    const file = join(folder.path, "events.json");
    writeFileSync(file, "x".repeat(9000));
    const service = await start();
    await service.optionalOpened;
    rmSync(file);
    load(file, [EXAMPLE]);
    await service.reload();
    expect(await status(service.url, "/events/4101")).toBe(200);
    expect(said()).toContain("the events are available again");
  });

  it("takes changed tokens at once, and says whether they have changed", async () => {
    const tokens = folder.file("tokens.json", { version: 1, tokens: [] });
    const service = await start({ EVENTS: "off", TOKENS: tokens });
    expect(await velocity(service.url, "new")).toBe(401);
    await service.reload();
    expect(said()).toContain("the token file is unchanged");
    const entry = { name: "new", sha256: digestToken("new"), limit: 0 };
    folder.file("tokens.json", { version: 1, tokens: [entry] });
    await service.reload();
    expect(said()).toContain("the token file has changed and is in effect");
    expect(await velocity(service.url, "new")).toBe(200);
    folder.file("tokens.json", "{");
    await service.reload();
    expect(said()).toContain("the token file cannot be used; the last good set stays");
    expect(await velocity(service.url, "new")).toBe(200);
    const id = digestToken("new").slice(0, 8);
    const metrics = await text(service.url, "/metrics");
    expect(metrics).toContain(`fieldprobe_token_requests_total{token="${id}",outcome="ok"} 2`);
    expect(metrics).toContain(`fieldprobe_token_requests_total{token="unknown",outcome="AuthenticationFailed"} 1`);
    expect(metrics).toContain(`fieldprobe_token_points_total{token="${id}"} 2`);
  });

  it("hands a new certificate to new connections, and keeps the last good one", async () => {
    const [cert, key] = ["cert.pem", "key.pem"].map((name) => {
      copyFileSync(fixture(name), join(folder.path, name));
      return join(folder.path, name);
    }) as [string, string];
    const service = await start({ EVENTS: "off", TLS_CERT: cert, TLS_KEY: key });
    const { port } = new URL(service.url);
    const served = async () => {
      const socket = connectTls({ port: Number(port), host: "127.0.0.1", rejectUnauthorized: false });
      await once(socket, "secureConnect");
      const { raw } = socket.getPeerCertificate();
      socket.destroy();
      return raw;
    };
    const first = await served();
    await service.reload();
    expect(said()).toContain("the TLS files are unchanged");
    const { privateKey } = generateKeyPairSync("ed25519");
    writeFileSync(key, privateKey.export({ type: "pkcs8", format: "pem" }));
    await service.reload();
    expect(said()).toContain("the TLS files cannot be used; the last good pair stays");
    expect((await served()).equals(first)).toBe(true);
    copyFileSync(fixture("other-cert.pem"), cert);
    copyFileSync(fixture("other-key.pem"), key);
    await service.reload();
    expect(said()).toContain("the TLS files have changed and are in effect for new connections");
    expect((await served()).equals(first)).toBe(false);
  });
});

describe("too few file descriptors", () => {
  it.each([160])("(%d) end neither the field service nor the events", { timeout: 60_000 }, async (files) => {
    load(join(folder.path, "events.json"), [EXAMPLE]);
    const given = Object.entries({ ...SETTINGS, STATE: folder.path, EVENTS_NOW: NOW });
    const env = {
      PATH: process.env.PATH,
      TMPDIR: process.env.TMPDIR,
      ...Object.fromEntries(given.map(([k, v]) => [`FIELDPROBE_${k}`, v])),
    };
    const limited = `ulimit -n ${files}; exec "${process.execPath}" "${BIN}" serve`;
    const child = spawn("sh", ["-c", limited], { env, stdio: ["ignore", "pipe", "pipe"] });
    let errors = "";
    child.stderr.on("data", (piece: Buffer) => {
      errors += piece.toString();
    });
    const [line] = (await Promise.race([
      once(child.stdout, "data"),
      once(child, "exit").then(() => Promise.reject(new Error(errors))),
    ])) as [Buffer];
    const url = (/http:\S+/.exec(line.toString()) as RegExpExecArray)[0];
    const soon = { timeout: 30_000 };
    await expect.poll(() => text(url, "/readyz"), soon).toContain("events: ready");
    const { port } = new URL(url);
    const sockets: Socket[] = Array.from({ length: 300 }, () => connect(Number(port), "127.0.0.1"));
    for (const socket of sockets) socket.on("error", () => undefined);
    await expect.poll(() => sockets.filter((socket) => !socket.connecting).length, soon).toBe(300);
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => velocity(url).catch(String), soon).toBe(200);
    const page = () => status(url, "/events?single_events=false&order_by=name").catch(String);
    await expect.poll(page, soon).toBe(200);
    child.kill("SIGTERM");
    const [code] = (await once(child, "exit")) as [number];
    expect(errors).toContain("the limit of open files allows fewer connections than http.connections");
    expect([code, errors]).toEqual([0, expect.not.stringContaining("an error outside any request")]);
    expect(readFileSync(join(folder.path, "events.json")).length).toBeGreaterThan(0);
  });
});
