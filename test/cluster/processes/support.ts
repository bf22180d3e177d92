/** A cluster for tests: nats-server from the system, workers as processes, the gateway's engine in the test or as a process. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { delimiter } from "node:path";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { expect, vi } from "vitest";
import { openGateway as connectGateway } from "../../../src/cluster/gateway/open.js";
import { loadConfig } from "../../../src/config.js";
import { openEngine } from "../../../src/engine/engine.js";
import type { Engine } from "../../../src/engine/query.js";

const BIN = fileURLToPath(new URL("../../../bin/fieldprobe.js", import.meta.url));
export const SHIPPED = fileURLToPath(new URL("../../../data", import.meta.url));
const CACHE_BYTES = String(128 * 1024 * 1024);

/** Why these tests cannot run here, or null. */
export function missing(): string | null {
  const found = spawnSync("nats-server", ["--version"]);
  return found.error ? "nats-server is not installed (Debian: apt-get install nats-server)" : null;
}

/** A process under test. */
export interface Running {
  readonly child: ChildProcess;
  /** Everything it has written to stderr. */
  log(): string;
  /** Sends a signal and waits for the end; the exit code, or null when the signal ended it. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts a process and waits for a line on stdout or stderr. */
export async function start(
  command: string,
  args: readonly string[],
  ready: RegExp,
  env: Readonly<Record<string, string>> = {},
): Promise<Running & { readonly line: string }> {
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  const line = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      text += chunk.toString();
      const match = ready.exec(text);
      if (match) resolve(match[1] ?? match[0]);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`${command} ended with ${code}: ${text}`)));
  });
  return {
    child,
    line,
    log: () => text,
    async end(signal = "SIGKILL") {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      const ended = once(child, "exit") as Promise<[number | null]>;
      child.kill(signal);
      const [code] = await ended;
      return code;
    },
  };
}

/** A port of the loopback interface that nobody uses. */
export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

/** A message server on a free port of an address. */
export async function startNats(
  args: readonly string[] = [],
  host = "127.0.0.1",
  env: Readonly<Record<string, string>> = {},
): Promise<Running & { readonly url: string; readonly port: number }> {
  const port = await freePort();
  const running = await start("nats-server", ["-a", host, "-p", String(port), ...args], /Server is ready/, env);
  return { ...running, port, url: `nats://${host}:${port}` };
}

export interface ClusterOptions {
  readonly url: string;
  readonly data?: readonly string[];
  readonly threads?: number;
  readonly settings?: Readonly<Record<string, string>>;
  /** Command that the process is started by. */
  readonly within?: readonly string[];
}

function settingsOf({ url, data = [], threads = 1, settings = {} }: ClusterOptions): Record<string, string> {
  return {
    NATS: url,
    DATA: [SHIPPED, ...data].join(delimiter),
    WORKERS: String(threads),
    CACHE_BYTES,
    LOG_LEVEL: "warn",
    ...settings,
  };
}

function environment(settings: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [`FIELDPROBE_${name}`, value]));
}

/** A worker process that takes batches. */
export function startWorker(name: string, options: ClusterOptions): Promise<Running> {
  const env = environment({ ...settingsOf(options), NODE: name });
  const [command = process.execPath, ...args] = [...(options.within ?? []), process.execPath, BIN, "worker"];
  return start(command, args, /takes batches/, env);
}

/** A gateway as a process; `line` is its address. */
export function startGateway(options: ClusterOptions): Promise<Running & { readonly line: string }> {
  const env = environment({ ...settingsOf(options), ROLE: "gateway", PORT: "0", EVENTS_DB: ":memory:" });
  return start(process.execPath, [BIN, "serve"], /listening on (\S+)/, env);
}

/** The engine of a gateway in this process, once it has heard of so many nodes. */
export async function openGateway(nodes: number, options: ClusterOptions): Promise<Engine> {
  const config = loadConfig({ ...settingsOf(options), ROLE: "gateway" }, {});
  const log = pino({ level: "silent" });
  const engine = await openEngine(config, log, await connectGateway(config, log));
  await heard(engine, nodes);
  return engine;
}

/** Waits until a gateway knows exactly so many nodes. */
export async function heard(engine: Engine, nodes: number): Promise<void> {
  await vi.waitFor(() => expect(engine.status().peers.length).toBe(nodes), { timeout: 20_000 });
}

/** The engine without a cluster. */
export function openAlone(data: readonly string[] = [], threads = 1): Promise<Engine> {
  const config = loadConfig({ DATA: [SHIPPED, ...data].join(delimiter), WORKERS: String(threads), CACHE_BYTES }, {});
  return openEngine(config, pino({ level: "silent" }));
}
