/**
 * Queries over HTTP to the processes of a cluster behind haproxy, and to plain replicas behind one that sends all
 * queries of a time to one of them, so that each caches its own frames. Both are asked in turn.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Services, startServices } from "./cluster-processes.js";
import { freeAddresses } from "./free-addresses.js";
import { open } from "./soap-load.js";

/** Points of a query, and queries of a round, each over a connection of its own that asks again when it is answered. */
const KINDS = {
  small: { points: 1, queries: 384, connections: 16 },
  large: { points: 100_000, queries: 8, connections: 4 },
  /** Too few points to be divided among processes that can cache the data: each process reads all of it. */
  fill: { points: 50_000, queries: 12, connections: 1 },
} as const;
/** Where the data is, what is asked, and whether of all times in turn or of one. */
export const REPLICA_CASES = [
  ["small, in cache", "small", true, "all"],
  ["small, beyond the cache", "small", false, "all"],
  ["large, beyond the cache", "large", false, "all"],
  ["large, beyond the cache, one time", "large", false, "one"],
] as const;
const PERIOD = 2 * Math.PI;

/** What is measured. */
export interface ReplicaOptions {
  /** A folder with the dataset. */
  readonly data: string;
  readonly dataset: string;
  /** The times of its frames, and its bytes. */
  readonly times: readonly number[];
  readonly bytes: number;
  readonly processes: number;
  /** Rounds before those that are measured: caches fill. */
  readonly warmUp: number;
  readonly rounds: number;
  readonly random: () => number;
  /** For configurations. */
  readonly folder: string;
}

/** Of one case, by round: processor time of a query and queries a second of replicas over those of the cluster. */
export interface ReplicaFigures {
  readonly name: (typeof REPLICA_CASES)[number][0];
  readonly clusterMs: readonly number[];
  readonly cpu: readonly number[];
  readonly rate: readonly number[];
}

/** Starts haproxy in front of processes, and adds it to `children`; its port. */
async function balance(rule: string, { services, children }: Services, folder: string): Promise<number> {
  const [address = ""] = await freeAddresses(1);
  const servers = services.map(({ port }, i) => `  server p${i} 127.0.0.1:${port}`);
  const lines = ["defaults", "  mode http", "  timeout connect 5s", "  timeout client 1h", "  timeout server 1h"];
  lines.push("listen processes", `  bind ${address}`, `  balance ${rule}`, ...servers, "");
  const file = join(folder, `haproxy-${address.replace(":", "-")}.cfg`);
  writeFileSync(file, lines.join("\n"));
  const child = spawn("haproxy", ["-q", "-db", "-f", file], { stdio: ["ignore", "inherit", "inherit"] });
  await once(child, "spawn").catch(() => {
    throw new Error("replicas need haproxy (Debian: apt-get install haproxy)");
  });
  children.push(child);
  const isReady = (): Promise<boolean> =>
    fetch(`http://${address}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`haproxy ended with exit code ${child.exitCode}`);
    await new Promise((next) => setTimeout(next, 20));
  }
  return Number(address.split(":")[1]);
}

/** Asks both for each of `REPLICA_CASES`. */
export async function compareReplicas(options: ReplicaOptions): Promise<ReplicaFigures[]> {
  const { data, bytes, processes, folder, rounds, warmUp, times } = options;
  const figures: ReplicaFigures[] = [];
  for (const isCached of [true, false]) {
    const cacheBytes = Math.ceil(isCached ? 2 * bytes : bytes / 4);
    const common = { processes, threads: 1, cacheBytes, data };
    const started: Services[] = [];
    try {
      started.push(await startServices(common));
      started.push(await startServices({ ...common, apart: true }));
      const [cluster, replicas] = started as [Services, Services];
      const sides = [
        { side: cluster, port: await balance("leastconn", cluster, folder) },
        { side: replicas, port: await balance("url_param time", replicas, folder) },
      ] as const;
      for (const { services } of isCached ? started : [])
        for (const { port } of services) await load(cluster, port, options, times, "fill");
      for (const [name, kind, , which] of REPLICA_CASES.filter(([, , cached]) => cached === isCached)) {
        const found: { cpu: number; ms: number }[][] = [[], []];
        for (let round = -warmUp; round < rounds; round++)
          for (const i of round % 2 === 0 ? [0, 1] : [1, 0]) {
            const { side, port } = sides[i as 0 | 1];
            const asked = which === "all" ? times : [times[0] as number];
            // Small queries alone would take long to fill the caches.
            const loaded = round < -warmUp / 2 && !isCached ? "large" : kind;
            const spent = await load(side, port, options, asked, loaded);
            if (round >= 0) found[i]?.push(spent);
          }
        const [ours, theirs] = found as [(typeof found)[number], (typeof found)[number]];
        const ratio = (one: "cpu" | "ms"): number[] => ours.map((each, i) => (theirs[i]?.[one] ?? 0) / each[one]);
        figures.push({
          name,
          clusterMs: ours.map(({ cpu }) => cpu),
          cpu: ratio("cpu"),
          rate: ratio("ms").map((r) => 1 / r),
        });
      }
    } finally {
      for (const { stop } of started) stop();
    }
  }
  return figures;
}

/** Milliseconds of processor time of a query, and of the whole round. */
async function load(
  side: Services,
  port: number,
  { dataset, random }: ReplicaOptions,
  times: readonly number[],
  kind: keyof typeof KINDS,
): Promise<{ cpu: number; ms: number }> {
  const { points, queries, connections } = KINDS[kind];
  const first = Math.floor(random() * times.length);
  const requests = Array.from({ length: queries }, (_, i) => {
    const body = Buffer.from(Float32Array.from({ length: 3 * points }, () => PERIOD * random()).buffer);
    const time = times[(i + first) % times.length];
    const path = `/api/datasets/${dataset}/GetVelocity?time=${time}&spatialInterpolation=Lag8&temporalInterpolation=None`;
    const type = "application/octet-stream";
    const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: ${type}\r\nAccept: ${type}\r\n`;
    return Buffer.concat([Buffer.from(`${head}Content-Length: ${body.length}\r\n\r\n`), body]);
  });
  const waiting = requests.values();
  const opened = await Promise.all(Array.from({ length: connections }, () => open(port)));
  const [before, start] = [side.cpu(), performance.now()];
  await Promise.all(
    opened.map(async (connection) => {
      for (const request of waiting) await connection.ask(request);
    }),
  );
  const ms = performance.now() - start;
  // Answers are whole before the threads that made them have settled.
  await new Promise((resolve) => setTimeout(resolve, 30));
  for (const connection of opened) connection.close();
  return { cpu: (side.cpu() - before) / queries, ms };
}
