/** `fieldprobe cluster` asks the processes of a cluster for their state. */
import { randomUUID } from "node:crypto";
import { Command } from "commander";
import { pino } from "pino";
import { readCluster } from "../../cluster/keys.js";
import { Peers } from "../../cluster/peers.js";
import type { PeerReport } from "../../cluster/piece.js";
import { digestBuild } from "../../engine/contract/build-digest.js";
import { reasonOf } from "../../system-error.js";
import { MisuseError } from "../input/arguments.js";
import { addSettings, configOf } from "../input/settings.js";

const ANSWER_MS = 2_000;
const MIB = 1024 * 1024;

export function clusterCommand(): Command {
  const command = new Command("cluster");
  command.addCommand(statusCommand());
  return command;
}

function statusCommand(): Command {
  const command = new Command("status").description(
    "list the processes of a cluster: version, load, cache; fails unless all answer and run the same code",
  );
  return addSettings(command, ["PEERS", "PEER_CERT", "PEER_KEY", "PEER_CA"]).action(async () => {
    const config = configOf(command);
    if (config.cluster.peers === null) throw new MisuseError("cluster status needs --peers");
    const { keys, names } = readCluster(config.cluster);
    const self = { id: randomUUID(), build: digestBuild() };
    const peers = new Peers(names, keys, self, pino({ level: "silent" }));
    const heard = await Promise.all(
      peers.list.map(async (peer): Promise<[string, PeerReport | string]> => {
        const answer = peers.statusOf(peer, AbortSignal.timeout(ANSWER_MS)).catch((error: unknown) => reasonOf(error));
        return [peer.name, await answer];
      }),
    );
    peers.close();
    process.stdout.write(statusTable(heard));
    const builds = new Set(heard.map(([, status]) => (typeof status === "string" ? null : status.build)));
    if (builds.size > 1 || builds.has(null)) throw new Error("not all processes answer and run the same code");
  });
}

/** Prints one line per process, with padded columns. */
export function statusTable(heard: readonly (readonly [string, PeerReport | string])[]): string {
  const rows = heard.map(([name, status]) => {
    if (typeof status === "string") return [name, `lost: ${status}`];
    const { version, build, draining, running, threads, queued, cache, datasets } = status;
    const used = `${Math.round(cache.used / MIB)}/${Math.round(cache.bytes / MIB)}`;
    const state = draining ? "draining" : "ready";
    return [name, state, `${version} ${build.slice(0, 8)}`, `${running}/${threads}`, `${queued}`, used, `${datasets}`];
  });
  const head = ["peer", "state", "version", "busy", "queued", "cache MiB", "datasets"];
  const widths = head.map((_, i) => Math.max(...[head, ...rows].map((row) => row[i]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    `${row
      .map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i] as number)))
      .join("  ")
      .trimEnd()}\n`;
  return [head, ...rows].map(line).join("");
}
