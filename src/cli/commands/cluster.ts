/** `fieldprobe cluster` lists the workers of a running cluster. */
import { setTimeout as sleep } from "node:timers/promises";
import { Command } from "commander";
import { place, shares } from "../../cluster/gateway/placement.js";
import { decodeHeartbeat, HEARTBEAT_MS, type Heartbeat } from "../../cluster/wire/heartbeat.js";
import { connectNats } from "../../cluster/wire/nats.js";
import { SUBJECTS } from "../../cluster/wire/subjects.js";
import type { Config } from "../../config.js";
import { MisuseError } from "../input/arguments.js";
import { addSettings, configOf } from "../input/settings.js";

/** Heartbeats waited for. */
const BEATS = 2.2;
const MIB = 1024 * 1024;

export function clusterCommand(): Command {
  const command = new Command("cluster");
  command.addCommand(statusCommand());
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

/** Collects the last heartbeat of each peer. */
async function listen({ cluster: { nats, nkey, ca } }: Config): Promise<Heartbeat[]> {
  if (nats === null) throw new MisuseError("cluster status needs --nats");
  const transport = await connectNats({ servers: nats, nkey, ca, name: "cluster status", inboxPrefix: "_FPS" });
  const peers = new Map<string, Heartbeat>();
  transport.subscribe(SUBJECTS.heartbeats, ({ data }) => {
    const heartbeat = decodeHeartbeat(data);
    if (heartbeat) peers.set(heartbeat.node, heartbeat);
  });
  await sleep(BEATS * HEARTBEAT_MS);
  await transport.close();
  return [...peers.values()].sort((a, b) => (a.node < b.node ? -1 : 1));
}

/** Prints one line per peer, with padded columns. */
export function statusTable(peers: readonly Heartbeat[], replicas: number): string {
  const placement = place(
    peers.flatMap(({ node, draining }) => (draining ? [] : [node])),
    replicas,
  );
  const slots = shares(placement);
  const rows = peers.map(({ node, draining, threads, queued, running, cache, datasets }) => {
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
