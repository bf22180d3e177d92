/** `npm run bench:one-point`: CPU of a SOAP request for one point against `peers/bare-fastify.ts`, in turns. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inTurn } from "./alternate.js";
import { ratioRow, readOptions, report, summarise } from "./row.js";
import { type Server, start, startOurs } from "./server-process.js";
import { velocity } from "./service.bench.js";
import { nullOpRequest, open, threadSeconds } from "./soap-load.js";

const REQUESTS = 3_000;

/** CPU microseconds of a request, of all threads. */
async function cost({ pid, port }: Server, requests: number): Promise<number> {
  const request = nullOpRequest(1, "GetVelocity", velocity("Lag4", "None"));
  const connection = await open(port);
  const before = threadSeconds(pid).all;
  for (let i = 0; i < requests; i++) await connection.ask(request);
  const seconds = threadSeconds(pid).all - before;
  connection.close();
  return (1e6 * seconds) / requests;
}

const options = readOptions();
const folder = mkdtempSync(join(tmpdir(), "fieldprobe-bench-"));
const servers: Server[] = [];
try {
  servers.push(await startOurs(folder));
  const bare = fileURLToPath(new URL("peers/bare-fastify.js", import.meta.url));
  servers.push(await start("bare fastify", process.execPath, [bare]));
  const requests = options.quick ? REQUESTS / 3 : REQUESTS;
  const turns = servers.map((server) => () => cost(server, requests));
  // The compiler works until then.
  for (const server of servers) await cost(server, 10 * requests);
  const samples = await inTurn(turns, options.quick ? 3 : 7);
  const about = { bench: "soap", case: "GetVelocity Lag4", params: { points: 1, connections: 1 } };
  const unit = "us CPU a request";
  const rows = servers.map(({ name }, i) => ({ ...about, backend: name, unit, ...summarise(samples[i] as number[]) }));
  const [ours, theirs] = samples as [number[], number[]];
  report([...rows, ratioRow({ ...about, unit: "times bare fastify" }, ours, theirs)], options);
} finally {
  for (const server of servers) server.process.kill();
  rmSync(folder, { recursive: true, force: true });
}
