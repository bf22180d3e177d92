/** A cluster for tests: processes of the whole service, and one member of it in the test, whose engine is asked. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { delimiter } from "node:path";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { expect, vi } from "vitest";
import { Cluster } from "../../../src/cluster/cluster.js";
import type { Engine } from "../../../src/engine/contract/query.js";
import { openEngine } from "../../../src/engine/main/engine.js";
import { loadConfig } from "../../../src/shared/config.js";

const BIN = fileURLToPath(new URL("../../../bin/fieldprobe.js", import.meta.url));
export const SHIPPED = fileURLToPath(new URL("../../../data/isotropic32", import.meta.url));

export interface Running {
  readonly child: ChildProcess;
  readonly url: string;
  log(): string;
  /** Sends a signal and waits for the end; the exit code, or null when the signal ended it. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts a program and waits for a line on stdout or stderr; `url` is the first group of `ready`. */
export async function start(
  words: readonly [string, ...string[]],
  ready: RegExp,
  env: Readonly<Record<string, string>> = {},
): Promise<Running> {
  const [command, ...args] = words;
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  const url = await new Promise<string>((resolve, reject) => {
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
    url,
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

export interface Setup {
  /** Address of their NATS server; absent: a process alone. */
  readonly nats?: string;
  readonly data?: readonly string[];
  readonly cacheMiB?: number;
  readonly settings?: Readonly<Record<string, string>>;
}

function settingsOf({ nats, data = [], cacheMiB = 128, settings = {} }: Setup): Record<string, string> {
  return {
    ...(nats === undefined ? {} : { NATS: nats }),
    DATA: data.length > 0 ? data.join(delimiter) : SHIPPED,
    WORKERS: "1",
    CACHE_BYTES: String(cacheMiB * 1024 * 1024),
    LOG_LEVEL: "info",
    EVENTS: "off",
    ...settings,
  };
}

/** A process of a cluster. @param bin another build of the program @param more of its environment */
export function startPeer(
  setup: Setup,
  bin: string = BIN,
  more: Readonly<Record<string, string>> = {},
): Promise<Running> {
  return start([process.execPath, bin, "serve"], /listening on (\S+)/, { ...environment(setup), ...more });
}

export function startWithFullDisk(setup: Setup): ChildProcess {
  const full = openSync("/dev/full", "w");
  const env = { ...process.env, ...environment(setup) };
  const child = spawn(process.execPath, [BIN, "serve"], { env, stdio: ["ignore", full, full] });
  closeSync(full);
  return child;
}

function environment(setup: Setup): Record<string, string> {
  const given = Object.entries({ ...settingsOf(setup), PORT: "0" });
  return Object.fromEntries(given.map(([name, value]) => [`FIELDPROBE_${name}`, value]));
}

export async function openMember(setup: Setup): Promise<Engine> {
  const config = loadConfig(settingsOf(setup), {});
  const log = pino({ level: "silent" });
  return openEngine(config, log, undefined, new Cluster(config, log));
}

/** Waits until a member has so many usable peers, each of which shares all its datasets. */
export async function usable(engine: Engine, count: number, shared = engine.datasets().length): Promise<void> {
  const found = (): number => engine.status().peers.filter((peer) => peer.usable && peer.shared >= shared).length;
  await vi.waitFor(() => expect(found()).toBe(count), { timeout: 20_000, interval: 20 });
}

export function openAlone({ data = [], cacheMiB = 128 }: Partial<Setup> = {}): Promise<Engine> {
  const folders = data.length > 0 ? data.join(delimiter) : SHIPPED;
  const config = loadConfig({ DATA: folders, WORKERS: "1", CACHE_BYTES: String(cacheMiB * 1024 * 1024) }, {});
  return openEngine(config, pino({ level: "silent" }));
}
