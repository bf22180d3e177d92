/** The first example of docs/cluster.md, on a port of NATS that no other server has: it runs, and its last line ends it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { freeAddresses } from "../../support/free-addresses.js";
import { NO_NATS } from "../../support/nats.js";
import { fieldprobe } from "../../support/run-command.js";
import { folderIn, scratchFolder } from "../../support/scratch.js";
import { SHIPPED_DATA } from "../../support/service.js";

const ROOT = new URL("../../../", import.meta.url);

it.skipIf(NO_NATS !== null)("two processes find each other, and end by SIGTERM", { timeout: 120_000 }, async () => {
  const text = readFileSync(new URL("docs/cluster.md", ROOT), "utf8");
  const [, lines = ""] = /^```\napt-get install nats-server && (.*?)^```/ms.exec(text) ?? [];
  const [, end = ""] = /`(kill [%\d ]+)`/.exec(text) ?? [];
  const ports = (await freeAddresses(3)).map((address) => address.split(":")[1] as string);
  const [nats, ...own] = ports as [string, string, string];
  const example = ["4222", "8081", "8082"].reduce((all, port, i) => all.replaceAll(port, ports[i] as string), lines);
  const folder = scratchFolder();
  symlinkSync(fileURLToPath(new URL("bin/fieldprobe.js", ROOT)), join(folderIn(folder, "bin"), "fieldprobe"));
  const env = {
    PATH: `${join(folder, "bin")}:${process.env.PATH}`,
    FIELDPROBE_DATA: SHIPPED_DATA,
    FIELDPROBE_WORKERS: "1",
  };
  const shell = spawn("bash", ["-m"], { cwd: folder, env, stdio: ["pipe", "ignore", "ignore"] });
  shell.stdin.write(`trap 'kill $(jobs -p)' EXIT\n${example.replace("-a 127.0.0.1 &", `-a 127.0.0.1 -p ${nats} &`)}`);
  const ended = once(shell, "exit");
  try {
    const status = () => fieldprobe("cluster", "status", "--nats", `nats://127.0.0.1:${nats}`);
    const shared = expect.poll(async () => (await status()).stdout, { timeout: 90_000, interval: 500 });
    await shared.toMatch(/^shared by \S+, \S+: isotropic32$/m);
    shell.stdin.write(`${end}\nwait %2 && wait %3; exit\n`);
    expect(await ended).toEqual([0, null]);
  } finally {
    shell.stdin.end();
  }
  for (const port of own) await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow();
});
