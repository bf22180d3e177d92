/** A cluster on this machine for a bench: message server and workers as processes, the gateway's engine in this one. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { openGateway as connectGateway } from "../dist/cluster/gateway/open.js";
import { loadConfig } from "../dist/config.js";
import { openEngine } from "../dist/engine/engine.js";
import type { Engine } from "../dist/engine/query.js";

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
/** As the shipped manifests start the server. */
const SERVER = { GOGC: "800", GOMEMLIMIT: "512MiB" };
const READY_MS = 20_000;

/** Why there can be no cluster here, or null. */
export function missingServer(): string | null {
  return spawnSync("nats-server", ["--version"]).error ? "nats-server is not installed" : null;
}

/** A message server and workers of one thread. */
export interface Cluster {
  readonly url: string;
  /** By name. */
  readonly workers: ReadonlyMap<string, ChildProcess>;
  /** Milliseconds of processor time that the processes have had. */
  cpu(): number;
  close(): void;
}

/** Starts a program and waits for what it says when it is ready. */
async function start(
  program: string,
  words: readonly string[],
  ready: string,
  env: NodeJS.ProcessEnv,
): Promise<ChildProcess> {
  const child = spawn(program, words, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
  let text = "";
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      text += chunk.toString();
      if (text.includes(ready)) resolve();
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("error", reject);
    child.once("exit", () => reject(new Error(`${program} ended: ${text}`)));
  });
  return child;
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

export async function startCluster(names: readonly string[]): Promise<Cluster> {
  const port = await freePort();
  const url = `nats://127.0.0.1:${port}`;
  const children: ChildProcess[] = [];
  const workers = new Map<string, ChildProcess>();
  const close = (): void => {
    for (const child of children) child.kill("SIGKILL");
  };
  try {
    children.push(await start("nats-server", ["-a", "127.0.0.1", "-p", String(port)], "Server is ready", SERVER));
    for (const name of names) {
      const settings = { FIELDPROBE_NATS: url, FIELDPROBE_NODE: name, FIELDPROBE_DATA: at("../data") };
      const env = { ...settings, FIELDPROBE_WORKERS: "1", FIELDPROBE_LOG_LEVEL: "warn" };
      const worker = await start(process.execPath, [at("../bin/fieldprobe.js"), "worker"], "takes batches", env);
      children.push(worker);
      workers.set(name, worker);
    }
  } catch (error) {
    close();
    throw error;
  }
  return { url, workers, cpu: () => children.reduce((sum, child) => sum + cpuOf(child.pid as number), 0), close };
}

/** Processor time of the threads of a process, to the nanosecond. */
function cpuOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const times = threads.map((id) => Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, "utf8").split(" ")[0]));
  return times.reduce((sum, time) => sum + time, 0) / 1e6;
}

/** The engine of a gateway that knows all workers. */
export async function openGateway(
  { url, workers }: Cluster,
  settings: Readonly<Record<string, string>>,
): Promise<Engine> {
  const config = loadConfig({ ROLE: "gateway", NATS: url, DATA: at("../data"), ...settings }, {});
  const log = pino({ level: "warn" });
  const engine = await openEngine(config, log, await connectGateway(config, log));
  const until = performance.now() + READY_MS;
  while (engine.status().peers.length < workers.size) {
    if (performance.now() > until) throw new Error("the workers are not heard");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return engine;
}
