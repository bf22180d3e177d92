/** `fieldprobe cluster`: states of the processes of a cluster. */
import { setTimeout as delay } from "node:timers/promises";
import { Command } from "commander";
import { type Announcement, listenToMembers, requestAnnouncements } from "../../cluster/members.js";
import { shortList } from "../../shared/messages.js";
import { natsOptions, openNats, writeNkey } from "../../shared/nats.js";
import { MisuseError, pathArgument } from "../input/arguments.js";
import { addSettings, configOf } from "../input/settings.js";

const ANSWER_MS = 1_500;
const MIB = 1024 * 1024;
const named = (names: readonly string[]): string => shortList(names, 5, ", ");

export function clusterCommand(): Command {
  const command = new Command("cluster");
  command.addCommand(statusCommand());
  command
    .command("key")
    .description("make an NKEY by which processes prove to NATS servers who they are; print its public part")
    .argument("<file>", "file for its seed, which only its owner may read", pathArgument)
    .action(async (file: string) => void process.stdout.write(`${await writeNkey(file)}\n`));
  return command;
}

function statusCommand(): Command {
  const command = new Command("status").description(
    "list the processes of a cluster, and which datasets they share; fails unless they can share all that they have in common",
  );
  return addSettings(command, ["NATS", "NATS_CREDENTIALS", "NATS_CA", "NATS_CERT", "NATS_KEY"]).action(async () => {
    const options = natsOptions(configOf(command).nats);
    if (options === null) throw new MisuseError("cluster status needs --nats");
    const connection = await openNats(options);
    const heard = new Map<string, Announcement>();
    listenToMembers(connection, (said) => {
      if (said.generations !== null && said.state !== "gone") heard.set(said.id, said);
      if (said.state === "gone") heard.delete(said.id);
    });
    requestAnnouncements(connection);
    await delay(ANSWER_MS);
    await connection.close();
    const processes = [...heard.values()].sort((one, other) => (one.rank ?? 1000) - (other.rank ?? 1000));
    process.stdout.write(statusTable(processes));
    const { lines, problems } = comparison(processes);
    for (const line of [...lines, ...problems]) process.stdout.write(`${line}\n`);
    if (problems.length > 0) throw new Error(problems[0]);
  });
}

export function statusTable(processes: readonly Announcement[]): string {
  const rows = processes.map(({ name, rank, state, version, build, running, threads, queued, cache, datasets }) => {
    const used = `${Math.round(cache.used / MIB)}/${Math.round(cache.bytes / MIB)}`;
    const code = `${version} ${build.slice(0, 8)}`;
    return [name, `${rank ?? "-"}`, state, code, `${running}/${threads}`, `${queued}`, used, `${datasets}`];
  });
  const head = ["process", "rank", "state", "version", "busy", "queued", "cache MiB", "datasets"];
  const widths = head.map((_, i) => Math.max(...[head, ...rows].map((row) => row[i]?.length ?? 0)));
  const padded = (row: readonly string[]) => row.map((cell, i) => cell.padEnd(widths[i] as number)).join("  ");
  return [head, ...rows].map((row) => `${padded(row).trimEnd()}\n`).join("");
}

export function comparison(processes: readonly Announcement[]): { lines: string[]; problems: string[] } {
  if (processes.length === 0) return { lines: [], problems: ["no process answers"] };
  const holders = new Map<string, Map<string, string[]>>();
  for (const { name, generations } of processes)
    for (const [dataset, generation] of Object.entries(generations ?? {})) {
      const copies = holders.get(dataset) ?? new Map<string, string[]>();
      holders.set(dataset, copies.set(generation, [...(copies.get(generation) ?? []), name]));
    }
  const shared = new Map<string, string[]>();
  const problems: string[] = [];
  for (const [dataset, copies] of holders) {
    const all = [...copies.values()];
    for (const names of all.filter(({ length }) => length > 1 || copies.size === 1))
      shared.set(named(names), [...(shared.get(named(names)) ?? []), dataset]);
    if (copies.size > 1)
      problems.push(`${dataset} is not the same everywhere: ${all.map((names) => named(names)).join(" | ")}`);
  }
  if (new Set(processes.map(({ build }) => build)).size > 1)
    problems.unshift("not all processes run the same code with the same libraries");
  const requested = processes.reduce((sum, { pieces }) => sum + pieces.asked, 0);
  const refused = processes.reduce((sum, { pieces }) => sum + pieces.refused, 0);
  if (requested > 0 && refused >= requested) problems.push(`all ${requested} pieces of queries were refused`);
  const lines = [...shared].map(([names, datasets]) => `shared by ${names}: ${named(datasets)}`);
  for (const { name, unverified, datasets, generations } of processes) {
    const missing = datasets - Object.keys(generations ?? {}).length;
    if (missing > 0) lines.push(`${name} has not compared ${missing} of its datasets yet`);
    if (unverified && unverified.length > 0)
      lines.push(`unverified copy on ${name}: ${named(unverified)} (fieldprobe check compares all bytes)`);
  }
  return { lines, problems };
}
