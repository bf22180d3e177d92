/** Times how long a look at a prefix of a bucket with many objects takes, in a process of its own. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { type BenchOptions, type Row, summarise } from "./row.js";

const KEYS = 100_000;

const LOOK = fileURLToPath(new URL("./listing-look.js", import.meta.url));

/** Rows `sources`: milliseconds and memory of a look at 1e5 keys in pages of a thousand. */
export async function benchListing({ quick }: Pick<BenchOptions, "quick">): Promise<Row[]> {
  const server = new Worker(new URL("./listing-server-worker.js", import.meta.url), { workerData: KEYS });
  const [port] = (await once(server, "message")) as [number];
  const environment = {
    ...process.env,
    AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
    AWS_ACCESS_KEY_ID: "bench",
    AWS_SECRET_ACCESS_KEY: "bench",
  };
  const looks: [number, number][] = [];
  try {
    for (let round = 0; round < (quick ? 1 : 5); round++) {
      const { stdout } = await promisify(execFile)(process.execPath, [LOOK], { env: environment });
      looks.push(stdout.split(" ").map(Number) as [number, number]);
    }
  } finally {
    await server.terminate();
  }
  const row = { bench: "sources", case: "listing", backend: "fieldprobe", params: { keys: KEYS } } as const;
  return [
    { ...row, unit: "ms", ...summarise(looks.map(([milliseconds]) => milliseconds)) },
    { ...row, unit: "MiB", ...summarise(looks.map(([, mib]) => mib)) },
  ];
}
