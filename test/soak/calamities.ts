/** What befalls a service in the long runs: its threads end, its disks are full, somebody imports events meanwhile. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

const BIN = fileURLToPath(new URL("../../bin/fieldprobe.js", import.meta.url));
const MIB = 2 ** 20;

/** States in which `mortalThreads` ends a thread. */
export const DEATHS = [
  "in a batch",
  "idle",
  "idle reader of stores",
  "parsing JSON",
  "writing a file",
  "readTriples",
  "writeRecords",
] as const;
export type Death = (typeof DEATHS)[number];

/** Options of Node with which the next worker thread that is in the state named by the file ends, and removes it. */
export function mortalThreads(trigger: string): string[] {
  const code = `
    import fs from "node:fs";
    import { isMainThread } from "node:worker_threads";
    const file = ${JSON.stringify(trigger)};
    const { existsSync, readFileSync, unlinkSync, writeSync } = fs;
    let next = 0;
    const die = (state) => {
      if (performance.now() < next) return;
      next = performance.now() + 5;
      if (!existsSync(file)) return;
      try {
        if (readFileSync(file, "utf8") !== state) return;
        unlinkSync(file);
      } catch { return; }
      process.exit(9);
    };
    if (!isMainThread) {
      const { load } = Atomics;
      const { parse } = JSON;
      const { Instance } = WebAssembly;
      Atomics.load = (array, index) => (die("in a batch"), load(array, index));
      JSON.parse = (...given) => (die("parsing JSON"), parse(...given));
      fs.writeSync = (...given) => (die("writing a file"), writeSync(...given));
      WebAssembly.Instance = class {
        constructor(...given) {
          this.exports = { ...new Instance(...given).exports };
          for (const name of ["readTriples", "writeRecords"]) {
            const call = this.exports[name];
            if (call !== undefined) this.exports[name] = (...numbers) => (die(name), call(...numbers));
          }
        }
      };
      const own = process.argv[1]?.endsWith("store-worker.js") ? "idle reader of stores" : "idle";
      setInterval(() => die(own), 20).unref();
    }`;
  return ["--import", `data:text/javascript,${encodeURIComponent(code)}`];
}

/** Makes a small file system that can be filled, until `unmountDisk`; null where mounting is not permitted. */
export function mountDisk(path: string, mib: number): string | null {
  mkdirSync(path, { recursive: true });
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${mib}m`, "tmpfs", path], { stdio: "ignore" });
    return path;
  } catch {
    process.stdout.write("no disk is filled: mounting is not permitted\n");
    return null;
  }
}

export function unmountDisk(disk: string): void {
  execFileSync("umount", [disk]);
}

/** Leaves no room on a disk of at most 64 MiB. */
export function fillDisk(disk: string): void {
  try {
    writeFileSync(join(disk, "filler"), Buffer.alloc(64 * MIB));
  } catch {}
}

export function freeDisk(disk: string): void {
  rmSync(join(disk, "filler"), { force: true });
}

/** Imports events by the command. @returns its exit code, and what it said on stderr */
export async function importEvents(
  file: string,
  settings: Readonly<Record<string, string>>,
): Promise<readonly [code: number, said: string]> {
  const child = spawn(process.execPath, [BIN, "events", "import", file], {
    env: { ...process.env, ...settings },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
  return [code as number, said];
}
