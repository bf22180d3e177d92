/** Servers as processes: programs that print the port they listen on. */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export interface Server {
  readonly name: string;
  readonly process: ChildProcess;
  readonly pid: number;
  readonly port: number;
  /** The end of its process, in words; empty while it runs. */
  end(): string;
}

/** Starts a program and takes the port from the first line that has one at its end. */
export async function start(
  name: string,
  program: string,
  words: readonly string[],
  input = "",
  env: NodeJS.ProcessEnv = process.env,
): Promise<Server> {
  const child = spawn(program, words, { stdio: ["pipe", "pipe", "ignore"], env });
  let end = "";
  child.once("exit", (code, signal) => {
    end = `it ended with ${signal ?? `code ${code}`}`;
  });
  // A program that ends before it has read its input says why by its end.
  child.stdin.on("error", () => undefined).end(input);
  for await (const line of createInterface({ input: child.stdout })) {
    const port = /(\d+)$/.exec(line)?.[1];
    if (port === undefined) continue;
    // Log lines continue, and a full pipe would block the process.
    setImmediate(() => child.stdout.resume());
    return { name, process: child, pid: child.pid as number, port: Number(port), end: () => end };
  }
  throw new Error(`${name} did not start`);
}

/** Starts this service on the shipped or other data, with a number of worker threads; absent: its default. */
export function startOurs(folder: string, workers?: number, data = at("../data/isotropic32")): Promise<Server> {
  const settings = {
    ...(workers === undefined ? {} : { FIELDPROBE_WORKERS: String(workers) }),
    FIELDPROBE_PORT: "0",
    FIELDPROBE_STATE: folder,
    FIELDPROBE_DATA: data,
  };
  return start("fieldprobe", process.execPath, [at("../bin/fieldprobe.js"), "serve"], "", {
    ...process.env,
    ...settings,
  });
}
