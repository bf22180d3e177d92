/**
 * A cluster on this machine for a bench: processes of the whole service, and one member in this process, which is
 * asked.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { Cluster } from "../dist/cluster/cluster.js";
import type { Engine } from "../dist/engine/contract/query.js";
import { openEngine } from "../dist/engine/main/engine.js";
import { type Config, loadConfig } from "../dist/shared/config.js";
import { startNats } from "./nats-server.js";

const BIN = fileURLToPath(new URL("../bin/fieldprobe.js", import.meta.url));
const READY_MS = 30_000;
const DEAF = "the processes do not know each other";

/** The set-up of the processes. */
export interface ClusterOptions {
  readonly processes: number;
  readonly threads: number;
  readonly cacheBytes: number;
  readonly data: string;
  /** Further settings, such as keys. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** A cluster, or one process that works alone. */
export interface BenchCluster {
  readonly engine: Engine;
  /** Milliseconds of processor time that all processes have had. */
  cpu(): number;
  /** Milliseconds of processor time while something runs, without those of reading it. */
  spent(run: () => Promise<void>): Promise<Spent>;
  /** Bytes that each process has read from files. */
  bytesRead(): Promise<readonly number[]>;
  /** Bytes of bricks in the cache of each process. */
  bytesCached(): Promise<readonly number[]>;
  close(): Promise<void>;
}

/** Milliseconds of processor time. */
export interface Spent {
  readonly all: number;
  readonly asker: number;
  readonly natsServer: number;
}

/** A process of the whole service. */
export interface Service {
  readonly port: number;
  /** Milliseconds of processor time that it has had. */
  cpu(): number;
}

/** Processes that are asked over HTTP. */
export interface Services {
  readonly services: readonly Service[];
  /** These, the NATS server, and what a bench adds: stopped together. */
  readonly children: ChildProcess[];
  /** Milliseconds of processor time that all of `children` have had. */
  cpu(): number;
  stop(): void;
}

/** Starts processes that are asked over HTTP, as a cluster if there are several. */
export async function startServices(options: ClusterOptions): Promise<Services> {
  const { processes } = options;
  const children: ChildProcess[] = [];
  const stop = (): void => {
    for (const child of children) child.kill("SIGKILL");
  };
  try {
    const nats = processes === 1 ? null : await startNats(children);
    const first = children.length;
    const ports = await Promise.all(Array.from({ length: processes }, () => serve(options, nats, children)));
    const services = ports.map((port, i) => ({ port, cpu: () => cpuOf(children[first + i]?.pid as number) }));
    await Promise.all(ports.map((port) => seesPeers(port, processes - 1)));
    const cpu = (): number => children.reduce((sum, { pid }) => sum + cpuOf(pid as number), 0);
    return { services, children, cpu, stop };
  } catch (error) {
    stop();
    throw error;
  }
}

/** Waits until a process uses `count` peers. */
async function seesPeers(port: number, count: number): Promise<void> {
  const until = performance.now() + READY_MS;
  while (true) {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    if ((text.match(/^fieldprobe_peer_usable.* 1$/gm)?.length ?? 0) >= count) return;
    if (performance.now() > until) throw new Error(DEAF);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Starts a process on a free port, which is returned, and adds it to `children`. */
async function serve(options: ClusterOptions, nats: string | null, children: ChildProcess[]): Promise<number> {
  const given = Object.entries({ ...settingsOf(options, nats), PORT: "0", EVENTS: "off" });
  const env = Object.fromEntries(given.map(([name, value]) => [`FIELDPROBE_${name}`, value]));
  const child = spawn(process.execPath, [BIN, "serve"], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return Number(/http:..[^:]+:(\d+)/.exec(line.toString())?.[1]);
}

/** Starts the processes and waits until all know each other. */
export async function openBenchCluster(options: ClusterOptions): Promise<BenchCluster> {
  const { processes } = options;
  const children: ChildProcess[] = [];
  try {
    const nats = processes === 1 ? null : await startNats(children);
    const others = Array.from({ length: processes - 1 }, () => serve(options, nats, children));
    const ports = await Promise.all(others);
    const engine = await openMember(loadConfig(settingsOf(options, nats), {}), processes);
    const metric = async (port: number, name: string): Promise<number> => {
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      return Number(new RegExp(`^fieldprobe_${name} (\\S+)`, "m").exec(text)?.[1]);
    };
    return {
      engine,
      cpu: () => [process, ...children].reduce((sum, { pid }) => sum + cpuOf(pid as number), 0),
      spent: async (run) => {
        const others = (): number[] => children.map(({ pid }) => cpuOf(pid as number));
        // Reading the files of eight processes takes as long as a hundred small queries.
        const [before, ownBefore] = [others(), cpuOf(process.pid)];
        await run();
        const [own, after] = [cpuOf(process.pid), others()];
        const spent = after.map((ms, i) => ms - (before[i] as number));
        const asker = own - ownBefore;
        return { all: spent.reduce((sum, ms) => sum + ms, asker), asker, natsServer: spent[0] ?? 0 };
      },
      bytesRead: async () => [
        engine.status().bytesRead,
        ...(await Promise.all(ports.map((port) => metric(port, "read_bytes_total")))),
      ],
      bytesCached: async () => [
        engine.status().cacheBytes,
        ...(await Promise.all(ports.map((port) => metric(port, "cache_bytes")))),
      ],
      close: async () => {
        await engine.close(1000);
        for (const child of children) child.kill("SIGKILL");
      },
    };
  } catch (error) {
    for (const child of children) child.kill("SIGKILL");
    throw error;
  }
}

function settingsOf(
  { threads, cacheBytes, data, settings = {} }: ClusterOptions,
  nats: string | null,
): Record<string, string> {
  const own = {
    DATA: data,
    WORKERS: String(threads),
    CACHE_BYTES: String(cacheBytes),
    LOG_LEVEL: "error",
    ...settings,
  };
  return nats === null ? own : { ...own, NATS: nats };
}

async function openMember(config: Config, processes: number): Promise<Engine> {
  const log = pino({ level: "error" });
  if (processes === 1) return openEngine(config, log);
  const engine = await openEngine(config, log, undefined, new Cluster(config, log));
  const until = performance.now() + READY_MS;
  while (engine.status().peers.filter(({ usable }) => usable).length < processes - 1) {
    if (performance.now() > until) throw new Error(DEAF);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return engine;
}

/** Processor time of the threads of a process, to the nanosecond; those that ended in between count for nothing. */
function cpuOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const times = threads.map((id) => {
    try {
      return Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, "utf8").split(" ")[0]);
    } catch {
      return 0;
    }
  });
  return times.reduce((sum, time) => sum + time, 0) / 1e6;
}
