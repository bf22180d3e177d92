/** Compares the Zarr view, read by dask, with the same chunks as files behind nginx; times one point of the package. */
import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { writeCube } from "../dist/tools/generate/cube.js";
import { inTurn } from "./alternate.js";
import { freeAddresses } from "./free-addresses.js";
import { type BenchOptions, type Row, ratioRow, summarise } from "./row.js";
import { start } from "./server-process.js";

const run = promisify(execFile);
const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const PYTHON = "/usr/bin/python3";
const NODES = 256;

/** Prints the seconds that dask takes for the mean of all velocities, by as many threads as there are cores. */
const DASK = `
import sys, time, dask.array
velocity = dask.array.from_zarr(sys.argv[1], component="velocity")
since = time.perf_counter()
velocity.sum().compute(scheduler="threads")
print(time.perf_counter() - since)
`;

/** Prints the milliseconds of a cubic point each, after the first one. */
const POINT = `
import sys, time, fieldprobe
ds = fieldprobe.connect(sys.argv[1])["cube"]
x = [1.0, 2.0, 3.0]
ds.velocity(x, t=0, method="Lag4", time="None")
since = time.perf_counter()
for _ in range(20):
    ds.velocity(x, t=0, method="Lag4", time="None")
print((time.perf_counter() - since) / 20 * 1000)
`;

const NGINX = (folder: string, port: number): string => `
${process.getuid?.() === 0 ? "user root;" : ""} worker_processes auto; daemon off; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
events { worker_connections 256; }
http {
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000; default_type application/octet-stream;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fcgi;
  uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  server { listen 127.0.0.1:${port}; root ${folder}/www; }
}`;

/** Rows `zarr`; none, with the reason, if Debian's dask, zarr or nginx are not here. */
export async function benchZarrView({ quick }: BenchOptions): Promise<Row[]> {
  try {
    await run(PYTHON, ["-c", "import dask.array, zarr, fsspec, aiohttp"]);
    await run("nginx", ["-v"]);
  } catch (error) {
    console.log(`zarr: skipped, ${error instanceof Error ? error.message.split("\n")[0] : error}`);
    return [];
  }
  const folder = mkdtempSync(join(tmpdir(), "fieldprobe-bench-"));
  const cube = { kind: "abc", nodes: [NODES, NODES, NODES], steps: 1, chunk: [64, 64, 64], filter: "none" } as const;
  await writeCube({ ...cube, seed: 1, name: "cube", folder: join(folder, "data") }, () => undefined);
  const settings = {
    FIELDPROBE_PORT: "0",
    FIELDPROBE_STATE: folder,
    FIELDPROBE_DATA: join(folder, "data"),
    FIELDPROBE_CACHE_BYTES: String(2 ** 30),
    FIELDPROBE_LOG_LEVEL: "warn",
  };
  const env = { ...process.env, ...settings };
  const ours = await start("fieldprobe", process.execPath, [at("../bin/fieldprobe.js"), "serve"], "", env);
  const url = `http://127.0.0.1:${ours.port}`;
  const nginx = await startNginx(folder);
  try {
    await copyStore(`${url}/zarr/cube`, join(folder, "www", "cube"));
    const seconds = (store: string) => async () => Number((await run(PYTHON, ["-c", DASK, store])).stdout);
    const readers = [seconds(`${url}/zarr/cube`), seconds(`${nginx.url}/cube`)];
    for (const read of readers) await read();
    const [view = [], files = []] = await inTurn<number>(readers, quick ? 5 : 15);
    const params = { nodes: NODES, chunk: 64 };
    const row = { bench: "zarr", case: "dask, velocity", unit: "s", params };
    const point = async () => {
      const words = { env: { ...process.env, PYTHONPATH: at("../python/src") } };
      return Number((await run(PYTHON, ["-c", POINT, url], words)).stdout);
    };
    const [points = []] = await inTurn<number>([point], quick ? 3 : 7);
    return [
      { ...row, backend: "fieldprobe", ...summarise(view) },
      { ...row, backend: "nginx", ...summarise(files) },
      ratioRow({ ...row, unit: "of the rate of files behind nginx" }, files, view),
      { bench: "zarr", case: "a cubic point", unit: "ms", params, backend: "fieldprobe", ...summarise(points) },
    ];
  } finally {
    ours.process.kill();
    nginx.process.kill();
    await delay(300);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function startNginx(folder: string) {
  const [address] = await freeAddresses(1);
  const port = Number(String(address).split(":").at(-1));
  mkdirSync(join(folder, "www"), { recursive: true });
  writeFileSync(join(folder, "nginx.conf"), NGINX(folder, port));
  const child = spawn("nginx", ["-c", join(folder, "nginx.conf")], { stdio: "ignore" });
  return { process: child, url: `http://127.0.0.1:${port}` };
}

/** Copies metadata and velocities of a view into files. */
async function copyStore(store: string, folder: string): Promise<void> {
  const chunks = NODES / 64;
  const keys = [".zgroup", "velocity/.zarray", "velocity/.zattrs"];
  for (let i = 0; i < chunks ** 3; i++) {
    const place = [Math.floor(i / chunks ** 2), Math.floor(i / chunks) % chunks, i % chunks];
    keys.push(`velocity/0.${place.join(".")}.0`);
  }
  for (const key of keys) {
    const answer = await fetch(`${store}/${key}`);
    if (!answer.ok) throw new Error(`${key}: status ${answer.status}`);
    const file = join(folder, key);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, Buffer.from(await answer.arrayBuffer()));
  }
}
