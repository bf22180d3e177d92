/** Other programs as contestants: processes that answer one line per pass. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** A running peer. */
export interface Peer {
  /** Runs a case over the first `points` points; nanoseconds per point, and the velocity at the first of them. */
  pass(name: string, order: "random" | "sorted", points: number): Promise<{ time: number; first: readonly number[] }>;
  /** Reads one line that was not asked for. */
  line(): Promise<string>;
  close(): Promise<void>;
}

/** Starts a program that reads requests and writes answers line by line. */
export function startPeer(program: string, args: readonly string[]): Peer {
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
  const gone = once(child, "exit");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async (): Promise<string> => {
    const next = await lines.next();
    if (next.done) throw new Error(`${program} ${args[0] ?? ""} ended early`);
    return next.value;
  };
  return {
    line,
    async pass(name, order, points) {
      child.stdin.write(`${name} ${order} ${points}\n`);
      const [seconds, ...first] = (await line()).split(" ").map(Number);
      return { time: (1e9 * (seconds as number)) / points, first };
    },
    async close() {
      child.stdin.end();
      await gone;
    },
  };
}

/** First line of what `program --version` says, or null when there is no such program. */
export function versionOf(program: string): string | null {
  try {
    const text = execFileSync(program, ["--version"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    return text.split("\n")[0] ?? "";
  } catch {
    return null;
  }
}
