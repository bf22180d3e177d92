/** The commands of docs/jobs.md run as printed, one after another, against a service. */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { pino } from "pino";
import { expect, it } from "vitest";
import { loadConfig } from "../../src/config.js";
import { startService } from "../../src/main.js";
import { SHOWN } from "../support/examples.js";
import { scratchFolder } from "../support/scratch.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const folder = scratchFolder();

it("docs/jobs.md runs as printed", { timeout: 60_000 }, async (context) => {
  const run = promisify(execFile);
  const curl = await run("curl", ["--version"]).catch(() => null);
  if (curl === null) return context.skip("curl is missing");
  const settings = { PORT: "0", WORKERS: "2", CACHE_BYTES: `${64 * 2 ** 20}`, DATA: join(ROOT, "data"), EVENTS: "off" };
  const config = loadConfig({ ...settings, STATE: join(folder, "state") }, {});
  const service = await startService(config, pino({ level: "warn" }));
  try {
    const text = readFileSync(join(ROOT, "docs/jobs.md"), "utf8");
    const blocks = [...text.matchAll(/```sh\n([^`]*)```/g)].map(([, block]) => block as string);
    const script = blocks.join("\n").replaceAll(SHOWN, service.url).replaceAll("npx fieldprobe", '"$NODE" "$BIN"');
    const file = join(folder, "jobs.sh");
    writeFileSync(file, script);
    const env = { ...process.env, NODE: process.execPath, BIN: join(ROOT, "bin/fieldprobe.js") };
    const { stdout } = await run("bash", ["-euo", "pipefail", file], { cwd: folder, env });
    expect(stdout).toContain("x,y,z\r\n");
    expect(stdout).toContain('"received":10,');
    expect(stdout).toContain('"complete":true,"received":24,"bytes":24,"points":2');
    expect(stdout).toContain('"points":5000');
    expect(stdout.match(/"state":"done"/g)?.length).toBeGreaterThanOrEqual(2);
    expect(readFileSync(join(folder, "pressure.npy")).length).toBe(132);
    const settingsNamed = [...text.matchAll(/`FIELDPROBE_(JOBS_\w+)`/g)].map(([, name]) => name);
    expect(settingsNamed.length).toBe(5);
  } finally {
    await service.close();
  }
});
