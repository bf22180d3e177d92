/** Commands that read an HDF5 file behind HTTP: they end by themselves, and share what was fetched through the cache on disk. */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { stateGrid, writeField, writeHdf5 } from "../../support/cubes.js";
import { useObjectServer } from "../../support/object-server.js";
import { scratchFolder } from "../../support/scratch.js";

const BIN = fileURLToPath(new URL("../../../bin/fieldprobe.js", import.meta.url));
const folder = scratchFolder();
const cache = join(folder, "cache");
const server = useObjectServer();

/** Runs a command in the folder, with the cache. @returns its standard output */
async function run(words: readonly string[]): Promise<string> {
  const env = { ...process.env, FIELDPROBE_CACHE_DIR: cache };
  return (await promisify(execFile)(process.execPath, [BIN, ...words], { cwd: folder, env })).stdout;
}

const query = (data: string) =>
  run([
    "query",
    "GetPressure",
    "--data",
    data,
    "--dataset",
    "flow",
    "--time",
    "0",
    "--method",
    "Lag4",
    "--points",
    "p.csv",
  ]);

describe("commands on an HDF5 file at an address", () => {
  let address = "";
  beforeAll(async () => {
    await writeHdf5(join(folder, "flow.h5"), (file) => {
      stateGrid(file);
      file.create_attribute("periodic", [0, 0, 0]);
      file.create_attribute("time", 0);
      writeField(file, "p", { dimensions: ["z", "y", "x"], chunks: [4, 10, 5], filter: "gzip" });
    });
    writeFileSync(join(folder, "p.csv"), "4,4,4\n5.5,4.25,4.75\n");
    await server.put("runs", new Map([["flow.h5", readFileSync(join(folder, "flow.h5"))]]));
    address = `${server.url}/runs/flow.h5`;
  });

  it("answer as on the local file, from the cache of another process, and from the host where the cache is damaged", async () => {
    const local = await query(".");
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
