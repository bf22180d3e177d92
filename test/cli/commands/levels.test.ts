/** `fieldprobe levels` goes on after kill -9, and ends with the same bytes as a run without. */
import { execFile, spawn } from "node:child_process";
import { cpSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { scratchFolder } from "../../support/scratch.js";
import { SHIPPED_DATA } from "../../support/service.js";

const BIN = fileURLToPath(new URL("../../../bin/fieldprobe.js", import.meta.url));
const SCRATCH = scratchFolder();
/** Three starts of a process, and the disk that keeps every frame, on a machine that does other things too. */
const LONG_MS = 180_000;

/** Runs the command; killed with its first line of progress if that is asked. */
function levels(folder: string, isKilled: boolean): Promise<{ readonly out: string; readonly signal: string | null }> {
  const child = spawn(process.execPath, [BIN, "levels", folder], {
    env: { PATH: process.env.PATH, FIELDPROBE_STATE: join(SCRATCH, "state") },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr.on("data", () => isKilled && child.kill("SIGKILL"));
  return new Promise((resolve) => child.once("close", (_, signal) => resolve({ out, signal })));
}

/** Names and bytes of the files of a store. */
function contents(folder: string): Map<string, string> {
  const store = join(folder, `${"isotropic32"}.levels`);
  const names = readdirSync(store, { recursive: true, encoding: "utf8" }).sort();
  const files = names.filter((name) => statSync(join(store, name)).isFile());
  return new Map(files.map((name) => [name, readFileSync(join(store, name), "base64")]));
}

it(
  "goes on after kill -9, and makes the same store",
  async () => {
    const [killed, whole] = ["killed", "whole"].map((name) => join(SCRATCH, name)) as [string, string];
    for (const folder of [killed, whole]) cpSync(SHIPPED_DATA, folder, { recursive: true, preserveTimestamps: true });
    expect((await levels(killed, true)).signal).toBe("SIGKILL");
    const begun = contents(killed);
    expect([begun.size > 0, begun.has("1/zarr.json")]).toEqual([true, false]);
    const again = await levels(killed, false);
    expect(again.out).toBe("isotropic32: levels of velocity, pressure: 16 x 16 x 16, 8 x 8 x 8\n");
    expect((await levels(whole, false)).out).toBe(again.out);
    expect(contents(killed)).toEqual(contents(whole));
  },
  LONG_MS,
);

it(
  "makes levels of what it has converted",
  async () => {
    const [source, target] = [join(SCRATCH, "whole"), join(SCRATCH, "converted", "isotropic32")];
    const env = { PATH: process.env.PATH, FIELDPROBE_STATE: join(SCRATCH, "state") };
    const words = [BIN, "convert", source, target, "--chunk", "16", "--levels"];
    const { stdout } = await promisify(execFile)(process.execPath, words, { env });
    expect(stdout.split("\n").at(-2)).toBe("isotropic32: levels of velocity, pressure: 16 x 16 x 16, 8 x 8 x 8");
    // The values are the same, and so are their means.
    const means = (folder: string) => [...contents(folder)].filter(([name]) => /^\d\/\w+\/c\//.test(name));
    expect(means(target).length).toBeGreaterThan(0);
    expect(means(target)).toEqual(means(source));
  },
  LONG_MS,
);
