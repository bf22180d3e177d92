/** Commands that read an HDF5 file behind HTTP: they end by themselves, and share what was fetched through the cache on disk. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { AwsClient } from "aws4fetch";
import { beforeAll, describe, expect, it } from "vitest";
import { stateGrid, writeField, writeHdf5 } from "../../support/cubes.js";
import { useObjectServer } from "../../support/object-server.js";
import { scratchFolder } from "../../support/scratch.js";

const BIN = fileURLToPath(new URL("../../../bin/fieldprobe.js", import.meta.url));
const folder = scratchFolder();
const cache = join(folder, "cache");
const near = join(folder, "near", "flow.h5");
const server = useObjectServer();

/** Runs a command in the folder, with the cache. @returns its standard output */
async function run(words: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<string> {
  const env = { ...process.env, FIELDPROBE_CACHE_DIR: cache, ...more };
  return (await promisify(execFile)(process.execPath, [BIN, ...words], { cwd: folder, env })).stdout;
}

const query = (data: string, env: Readonly<Record<string, string>> = {}) => {
  const asked = ["--dataset", "flow", "--time", "0", "--method", "Lag4", "--points", "p.csv"];
  return run(["query", "GetPressure", "--data", data, ...asked], env);
};

describe("commands on an HDF5 file at an address", () => {
  let address = "";
  beforeAll(async () => {
    mkdirSync(dirname(near));
    await writeHdf5(near, (file) => {
      stateGrid(file);
      file.create_attribute("periodic", [0, 0, 0]);
      file.create_attribute("time", 0);
      writeField(file, "p", { dimensions: ["z", "y", "x"], chunks: [4, 10, 5], filter: "gzip" });
    });
    writeFileSync(join(folder, "p.csv"), "4,4,4\n5.5,4.25,4.75\n");
    await server.put("runs", new Map([["flow.h5", readFileSync(near)]]));
    address = `${server.url}/runs/flow.h5`;
  });

  it("answer as on the local file, from the cache of another process, and from the host where the cache is damaged", async () => {
    const local = await query("near");
    const before = server.requests;
    expect(await query(address)).toBe(local);
    const first = server.requests - before;
    expect(await query(address)).toBe(local);
    const second = server.requests - before - first;
    // Only the version is asked for.
    expect(second).toBeLessThan(first);
    for (const name of readdirSync(cache, { recursive: true, encoding: "utf8" })) {
      const path = join(cache, name);
      if (!statSync(path).isFile()) continue;
      const bytes = readFileSync(path);
      bytes[bytes.length - 9] = (bytes[bytes.length - 9] as number) ^ 0x40;
      writeFileSync(path, bytes);
    }
    expect(await query(address)).toBe(local);
    expect(server.requests - before - first - second).toBeGreaterThan(second);
  });

  it("explain the file, and describe it for a folder", async () => {
    expect(await run(["inspect", address])).toMatch(/flow\.h5: generic, dataset name flow/);
    await run(["inspect", address, "--write", "described"]);
    const { fields } = JSON.parse(readFileSync(join(folder, "described", "dataset.json"), "utf8"));
    expect(fields.pressure.file).toBe(address);
  });
});

describe("commands on a bucket", () => {
  it("lead from a file in it to a first query, and to a store beside it", async () => {
    const workerData = { directory: join(folder, "s3"), bucket: "cubes" };
    const worker = new Worker(new URL("../../support/s3-server.mjs", import.meta.url), { workerData });
    const [port] = (await once(worker, "message")) as [number];
    const keys = { AWS_ACCESS_KEY_ID: "S3RVER", AWS_SECRET_ACCESS_KEY: "S3RVER" };
    const env = { ...keys, AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`, HOME: folder };
    const client = new AwsClient({
      accessKeyId: "S3RVER",
      secretAccessKey: "S3RVER",
      region: "us-east-1",
      service: "s3",
    });
    const body = new Uint8Array(readFileSync(near));
    await client.fetch(`${env.AWS_ENDPOINT_URL}/cubes/runs/flow.h5`, { method: "PUT", body });
    const local = await query("near");
    expect(await query("s3://cubes/runs/flow.h5", env)).toBe(local);
    expect(await run(["convert", "s3://cubes/runs/flow.h5", "s3://cubes/out/flow.zarr"], env)).toMatch(
      /flow in s3:.* 1 object,/,
    );
    expect(await query("s3://cubes/out/flow.zarr", env)).toBe(local);
    await worker.terminate();
  });
});
