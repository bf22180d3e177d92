/** `fieldprobe cluster`: what a running cluster does, and what one would do. */
import { setTimeout as sleep } from "node:timers/promises";
import { Command, Option } from "commander";
import { place, shares } from "../../cluster/gateway/placement.js";
import { placementFigures, type SimulationOptions, simulateTail } from "../../cluster/simulate.js";
import { decodeHeartbeat, HEARTBEAT_MS, type Heartbeat } from "../../cluster/wire/heartbeat.js";
import { connectNats } from "../../cluster/wire/nats.js";
import { SUBJECTS } from "../../cluster/wire/subjects.js";
import type { Config } from "../../config.js";
import { MisuseError } from "../input/misuse.js";
import { addSettings, configOf } from "../input/settings.js";

/** Heartbeats waited for. */
const BEATS = 2.2;
const MIB = 1024 * 1024;

export function clusterCommand(): Command {
  const command = new Command("cluster").description("look at a cluster, or simulate one");
  command.addCommand(statusCommand());
  command.addCommand(simulateCommand());
  return command;
}

function statusCommand(): Command {
  const command = new Command("status")
    .description("list the workers that are heard within two seconds: load, cache, shards, datasets")
    .option("--expect <name>", "fail unless this worker is heard and takes batches");
  return addSettings(command, ["NATS", "NATS_NKEY", "NATS_CA", "REPLICAS"]).action(async () => {
    const config = configOf(command);
    const heard = await listen(config);
    process.stdout.write(statusTable(heard, config.cluster.replicas));
    const { expect } = command.opts<{ expect?: string }>();
    if (expect === undefined) return;
    const found = heard.find(({ node }) => node === expect);
    if (!found || found.draining) throw new Error(`worker ${expect} is ${found ? "draining" : "not heard"}`);
  });
}

/** The last heartbeat of each node that is heard. */
async function listen({ cluster: { nats, nkey, ca } }: Config): Promise<Heartbeat[]> {
  if (nats === null) throw new MisuseError("cluster status needs --nats");
  const transport = await connectNats({ servers: nats, nkey, ca, name: "cluster status", inboxPrefix: "_FPS" });
  const nodes = new Map<string, Heartbeat>();
  transport.subscribe(SUBJECTS.heartbeats, ({ data }) => {
    const heartbeat = decodeHeartbeat(data);
    if (heartbeat) nodes.set(heartbeat.node, heartbeat);
  });
  await sleep(BEATS * HEARTBEAT_MS);
  await transport.close();
  return [...nodes.values()].sort((a, b) => (a.node < b.node ? -1 : 1));
}

/** One line a node, columns padded. */
export function statusTable(nodes: readonly Heartbeat[], replicas: number): string {
  const placement = place(
    nodes.flatMap(({ node, draining }) => (draining ? [] : [node])),
    replicas,
  );
  const slots = shares(placement);
  const rows = nodes.map(({ node, draining, threads, queued, running, cache, datasets }) => {
    const asked = cache.hits + cache.misses;
    return [
      node,
      draining ? "draining" : "ready",
      `${running}/${threads}`,
      `${queued}`,
      `${Math.round(cache.used / MIB)}/${Math.round(cache.capacity / MIB)}`,
      asked === 0 ? "-" : `${Math.round((100 * cache.hits) / asked)} %`,
      `${slots.get(node) ?? 0}`,
      datasets.map(([name, generation]) => `${name}@${generation.slice(0, 8)}`).join(" "),
    ];
  });
  const head = ["node", "state", "busy", "queued", "cache MiB", "hits", "shards", "datasets"];
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => (row[i] as string).length)));
  return [head, ...rows]
    .map(
      (row) =>
        `${row
          .map((cell, i) => cell.padEnd(widths[i] as number))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}

function simulateCommand(): Command {
  const number = (flags: string, help: string, fallback: number): Option =>
    new Option(flags, help).default(fallback).argParser((text) => {
      const value = Number(text);
      if (text.trim() === "" || !Number.isFinite(value) || value < 0)
        throw new MisuseError(`${flags}: not a number: ${text}`);
      return value;
    });
  const options = [
    number("--nodes <number>", "workers", 128),
    number("--threads <number>", "threads of a worker", 16),
    number("--replicas <number>", "workers that hold a shard", 2),
    number("--load <share>", "share of the threads' time that is needed; 0: one query at a time", 0.8),
    number("--queries <number>", "queries", 20_000),
    number("--batches <number>", "batches of a query", 31),
    number("--batch-ms <ms>", "time of a batch on a thread", 10),
    number("--gateway-ms <ms>", "time of a batch in the gateway; 0: as many gateways as it takes", 0),
    number("--slow <share>", "share of batches that are slow", 0.01),
    number("--slow-factor <times>", "how much slower", 10),
    number("--hedge-ms <ms>", "time after which a second worker gets a batch; 0: never", 30),
    number("--hedge-share <share>", "largest share of batches sent twice", 0.05),
    number("--seed <number>", "seed of the random numbers", 1),
  ];
  const command = new Command("simulate").description("placement and response times of a cluster by a model of it");
  for (const option of options) command.addOption(option);
  command.addOption(
    new Option("--choice <rule>", "among the holders of a shard").choices(["least", "random"]).default("least"),
  );
  return command.action(() => {
    const given = command.opts<Omit<SimulationOptions, "hedgeMs"> & { hedgeMs: number }>();
    checkSimulation(given);
    const { maxToMean, moved } = placementFigures(given.nodes, given.replicas);
    const tail = simulateTail({ ...given, hedgeMs: given.hedgeMs === 0 ? null : given.hedgeMs });
    const percent = (share: number): string => `${(100 * share).toFixed(2)} %`;
    const ms = (time: number): string => `${time.toFixed(1)} ms`;
    process.stdout.write(
      [
        ["shards, most on a worker / mean", maxToMean.toFixed(3)],
        ["copies moved when one worker is lost", percent(moved)],
        ["query p50", ms(tail.p50)],
        ["query p99", ms(tail.p99)],
        ["query p99.9", ms(tail.p999)],
        ["batches sent twice", percent(tail.hedged)],
      ]
        .map(([name, value]) => `${(name as string).padEnd(40)}${value}\n`)
        .join(""),
    );
  });
}

function checkSimulation(options: Omit<SimulationOptions, "hedgeMs">): void {
  for (const name of ["nodes", "threads", "replicas", "queries", "batches"] as const) {
    if (!Number.isInteger(options[name]) || options[name] < 1)
      throw new MisuseError(`${name} must be a whole number from 1 on`);
  }
  if (options.nodes < 2) throw new MisuseError("nodes must be 2 or more: one of them is lost");
  if (options.load >= 1) throw new MisuseError("load must be below 1: queues grow without end");
}
