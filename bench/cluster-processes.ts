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
import { type Config, loadConfig } from "../dist/config.js";
import { openEngine } from "../dist/engine/engine.js";
import type { Engine } from "../dist/engine/query.js";
import { freeAddresses } from "./free-addresses.js";

const BIN = fileURLToPath(new URL("../bin/fieldprobe.js", import.meta.url));
const READY_MS = 30_000;

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
  /** Addresses of the services beside it, for HTTP. */
  readonly urls: readonly string[];
  /** Milliseconds of processor time that all processes have had. */
  cpu(): number;
  /** Milliseconds of processor time of all processes while something runs, without those of reading it. */
  spent(run: () => Promise<void>): Promise<number>;
  /** Bytes that each process has read from files. */
  bytesRead(): Promise<readonly number[]>;
  /** Bytes of bricks in the cache of each process. */
  bytesCached(): Promise<readonly number[]>;
  close(): Promise<void>;
}

/** Starts the processes and waits until all know each other. */
export async function openBenchCluster(options: ClusterOptions): Promise<BenchCluster> {
  const { processes } = options;
  const peers = processes === 1 ? [] : await freeAddresses(processes);
  const children: ChildProcess[] = [];
  try {
    const urls = await Promise.all(
      peers.slice(1).map(async (listen) => {
        const given = Object.entries({ ...settingsOf(options, peers, listen), PORT: "0", EVENTS: "off" });
        const env = Object.fromEntries(given.map(([name, value]) => [`FIELDPROBE_${name}`, value]));
        const child = spawn(process.execPath, [BIN, "serve"], {
          env: { ...process.env, ...env },
          stdio: ["ignore", "pipe", "inherit"],
        });
        children.push(child);
        const [line] = (await once(child.stdout, "data")) as [Buffer];
        return /http\S+/.exec(line.toString())?.[0] ?? "";
      }),
    );
    const engine = await openMember(loadConfig(settingsOf(options, peers, peers[0] ?? null), {}), peers.length);
    const metric = async (url: string, name: string): Promise<number> => {
      const text = await (await fetch(`${url}/metrics`)).text();
      return Number(new RegExp(`^fieldprobe_${name} (\\S+)`, "m").exec(text)?.[1]);
    };
    return {
      engine,
      urls,
      cpu: () => [process, ...children].reduce((sum, { pid }) => sum + cpuOf(pid as number), 0),
      spent: async (run) => {
        const others = (): number => children.reduce((sum, { pid }) => sum + cpuOf(pid as number), 0);
        // Reading the files of eight processes takes as long as a hundred small queries.
        const [before, ownBefore] = [others(), cpuOf(process.pid)];
        await run();
        const [own, after] = [cpuOf(process.pid), others()];
        return own - ownBefore + after - before;
      },
      bytesRead: async () => [
        engine.status().bytesRead,
        ...(await Promise.all(urls.map((url) => metric(url, "read_bytes_total")))),
      ],
      bytesCached: async () => [
        engine.status().cacheBytes,
        ...(await Promise.all(urls.map((url) => metric(url, "cache_bytes")))),
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
  peers: readonly string[],
  listen: string | null,
): Record<string, string> {
  const own = {
    DATA: data,
    WORKERS: String(threads),
    CACHE_BYTES: String(cacheBytes),
    LOG_LEVEL: "error",
    ...settings,
  };
  return listen === null ? own : { ...own, PEERS: peers.join(","), PEER_LISTEN: listen };
}

async function openMember(config: Config, processes: number): Promise<Engine> {
  const log = pino({ level: "error" });
  if (processes === 0) return openEngine(config, log);
  const cluster = new Cluster(config, log);
  const engine = await openEngine(config, log, undefined, cluster);
  await cluster.listen();
  const until = performance.now() + READY_MS;
  while (engine.status().peers.filter(({ usable }) => usable).length < processes - 1) {
    if (performance.now() > until) throw new Error("the processes do not know each other");
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
