/** A NATS server for clusters of benches. */
import { type ChildProcess, spawn } from "node:child_process";

/** Starts a server on a free port of this machine, and adds it to `children`; its address. */
export async function startNats(children: ChildProcess[]): Promise<string> {
  const child = spawn("nats-server", ["-a", "127.0.0.1", "-p", "-1"], { stdio: ["ignore", "ignore", "pipe"] });
  children.push(child);
  let text = "";
  return await new Promise<string>((resolve, reject) => {
    child.once("error", () => reject(new Error("a cluster needs nats-server (Debian: apt-get install nats-server)")));
    child.stderr.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const port = /client connections on \S+:(\d+)/.exec(text)?.[1];
      if (port !== undefined) resolve(`nats://127.0.0.1:${port}`);
    });
  });
}
