/** The program as it ships, in a process of its own. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const BIN = fileURLToPath(new URL("../../bin/fieldprobe.js", import.meta.url));

export interface Program {
  readonly pid: number;
  readonly url: string;
  readonly port: number;
  /** The text that it has written to stderr so far. */
  log(): string;
  /** Resolves with its exit code (null: ended by a signal). */
  readonly ended: Promise<number | null>;
  stop(signal: NodeJS.Signals): Promise<number | null>;
}

/**
 * Starts `fieldprobe serve` and waits until it listens.
 * @param settings by variable name without FIELDPROBE_
 * @param nodeOptions for the Node process, e.g. a module to load first
 * @param variables   others of its environment
 * @param words       files that it is to serve, and flags
 */
export async function startProgram(
  settings: Readonly<Record<string, string>>,
  nodeOptions: readonly string[] = [],
  variables: Readonly<Record<string, string>> = {},
  words: readonly string[] = [],
): Promise<Program> {
  const named = Object.entries({ PORT: "0", ...settings }).map(([name, value]) => [`FIELDPROBE_${name}`, value]);
  const child = spawn(process.execPath, [...nodeOptions, BIN, "serve", ...words], {
    env: { PATH: process.env.PATH, TMPDIR: process.env.TMPDIR, ...variables, ...Object.fromEntries(named) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    log += text;
  });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const url = await new Promise<string>((resolve, reject) => {
    let out = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text;
      const listening = /^fieldprobe listening on (\S+)$/m.exec(out)?.[1];
      if (listening !== undefined) resolve(listening);
    });
    void ended.then((code) => reject(new Error(`fieldprobe ended with ${code}: ${log}`)));
  });
  return {
    pid: child.pid as number,
    url,
    port: Number(new URL(url).port),
    log: () => log,
    ended,
    stop: (signal) => {
      child.kill(signal);
      return ended;
    },
  };
}
