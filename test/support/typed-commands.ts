/** Runs the commands of a document as a reader types them: its blocks of `sh`, one after another, in a shell. */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { pino } from "pino";
import { startService } from "../../src/main.js";
import { loadConfig } from "../../src/shared/config.js";
import { SHOWN } from "./examples.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

/**
 * The text of a document and what its commands print, run in `folder` beside a service with the included data; null
 * without curl. @throws if a command fails
 */
export async function typeCommands(document: string, folder: string): Promise<{ text: string; stdout: string } | null> {
  if ((await run("curl", ["--version"]).catch(() => null)) === null) return null;
  const settings = {
    PORT: "0",
    WORKERS: "2",
    CACHE_BYTES: `${64 * 2 ** 20}`,
    DATA: join(ROOT, "data/isotropic32"),
    EVENTS: "off",
  };
  const config = loadConfig({ ...settings, STATE: join(folder, "state") }, {});
  const service = await startService(config, pino({ level: "warn" }));
  try {
    const text = readFileSync(join(ROOT, document), "utf8");
    const blocks = [...text.matchAll(/```sh\n([^`]*)```/g)].map(([, block]) => block as string);
    const script = blocks.join("\n").replaceAll(SHOWN, service.url).replaceAll("npx fieldprobe", '"$NODE" "$BIN"');
    const file = join(folder, "commands.sh");
    writeFileSync(file, script);
    const env = { ...process.env, NODE: process.execPath, BIN: join(ROOT, "bin/fieldprobe.js") };
    const { stdout } = await run("bash", ["-euo", "pipefail", file], { cwd: folder, env });
    return { text, stdout };
  } finally {
    await service.close();
  }
}
