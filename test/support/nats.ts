/** Starts NATS servers for tests; without the program `nats-server`, tests that need one are skipped, and say so. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll } from "vitest";

/** Why tests are skipped; null if the program is there. */
export const NO_NATS: string | null = (() => {
  try {
    execFileSync("nats-server", ["--version"], { stdio: "ignore" });
    return null;
  } catch {
    return "there is no nats-server (Debian: apt-get install nats-server)";
  }
})();

if (NO_NATS !== null) process.stderr.write(`tests of clusters are skipped: ${NO_NATS}\n`);

export interface NatsServer {
  readonly url: string;
  readonly child: ChildProcess;
  end(): Promise<void>;
}

/** Starts a server. @param args further ones, such as `-c FILE`; with `-p PORT` it gets that port */
export async function startNats(args: readonly string[] = []): Promise<NatsServer> {
  const child = spawn("nats-server", ["-a", "127.0.0.1", "-p", "-1", ...args], { stdio: ["ignore", "ignore", "pipe"] });
  // A worker that is ended early runs no hooks.
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  child.once("exit", () => process.off("exit", kill));
  let text = "";
  const port = await new Promise<string>((resolve, reject) => {
    child.stderr.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const found = /client connections on \S+:(\d+)/.exec(text)?.[1];
      if (found !== undefined && text.includes("Server is ready")) resolve(found);
    });
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`nats-server ended with ${code}: ${text}`)));
  });
  const end = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  return { url: `nats://127.0.0.1:${port}`, child, end };
}

export function useNatsServers(): (args?: readonly string[]) => Promise<NatsServer> {
  const started: NatsServer[] = [];
  afterAll(async () => {
    for (const server of started) await server.end();
  });
  return async (args) => {
    const server = await startNats(args);
    started.push(server);
    return server;
  };
}
