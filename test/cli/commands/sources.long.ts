/** Commands that read an HDF5 file behind HTTP: they end by themselves and share the cache on disk. */
import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { fill, nodeValue, stateGrid, writeField, writeHdf5 } from "../../support/cubes.js";
import { useObjectServer } from "../../support/object-server.js";
import { readArray } from "../../support/read-zarr.js";
import { fieldprobe, stdoutOf } from "../../support/run-command.js";
import { useS3Bucket } from "../../support/s3-server.js";
import { scratchFolder } from "../../support/scratch.js";

const BIN = fileURLToPath(new URL("../../../bin/fieldprobe.js", import.meta.url));
const folder = scratchFolder();
const cache = join(folder, "cache");
const near = join(folder, "near", "flow.h5");
const server = useObjectServer();
// The thread that reads stores keeps the variables of its start.
const bucket = useS3Bucket(join(folder, "s3"));

const query = (data: string) => {
  const asked = ["--time", "0", "--method", "Lag4", "--points", "p.csv"];
  return stdoutOf("values", "flow", "p", "--data", data, ...asked);
};

let known: Promise<string> | null = null;
function local(): Promise<string> {
  known ??= query("near");
  return known;
}

let address = "";
const before = process.cwd();
beforeAll(async () => {
  process.chdir(folder);
  vi.stubEnv("HOME", folder);
  vi.stubEnv("FIELDPROBE_CACHE_DIR", cache);
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

afterAll(() => {
  process.chdir(before);
  vi.unstubAllEnvs();
});

describe("commands on an HDF5 file at an address", () => {
  it("answer as on the local file, from the cache of another process, and from the host where the cache is damaged", async () => {
    const expected = await local();
    const before = server.requests;
    expect(await query(address)).toBe(expected);
    const first = server.requests - before;
    expect(await query(address)).toBe(expected);
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
    expect(await query(address)).toBe(expected);
    expect(server.requests - before - first - second).toBeGreaterThan(second);
  });

  it("explain the file, and describe it for a folder", async () => {
    expect(await stdoutOf("inspect", address)).toMatch(/flow\.h5: fieldprobe, dataset name flow/);
    await stdoutOf("inspect", address, "--yes", "--descriptors", "described");
    const { fields } = JSON.parse(readFileSync(join(folder, "described", "flow.json"), "utf8"));
    expect(fields.pressure.file).toBe(address);
  });
});

describe("commands on a bucket", () => {
  const cut = join(folder, "cut.f32");
  beforeAll(async () => {
    await bucket.put("runs", new Map([["flow.h5", readFileSync(near)]]));
    await bucket.put(
      "bad",
      new Map([
        ["flow.h5", readFileSync(near)],
        ["cut.h5", readFileSync(near).subarray(0, 3000)],
      ]),
    );
  });

  it("lead from a folder in it to a first query, and to a store beside it", async () => {
    const expected = await local();
    expect(await query("s3://cubes/runs")).toBe(expected);
    expect(await stdoutOf("convert", "s3://cubes/runs/flow.h5", "s3://cubes/out/flow.zarr")).toMatch(
      /flow in s3:.* 1 object,/,
    );
    expect(await query("s3://cubes/out/flow.zarr")).toBe(expected);
  });

  it("check a folder of files and stores", async () => {
    const failed = await fieldprobe("check", "s3://cubes/bad");
    expect(failed.stdout).toMatch(/^s3:\/\/cubes\/bad\/cut\.h5: /m);
    expect(failed.stdout).toMatch(/^flow \(s3:\/\/cubes\/bad\/flow\.h5\)$/m);
  });

  it("show all datasets of a prefix, also if there is one, and what keeps one from being read", async () => {
    expect(await stdoutOf("inspect", "s3://cubes/runs/")).toMatch(/^flow\.h5: fieldprobe, dataset name flow$/m);
    const failed = await fieldprobe("inspect", "s3://cubes/bad");
    expect(failed.stdout).toMatch(/^flow\.h5: fieldprobe, dataset name flow$/m);
    expect(failed.stderr).toMatch(/^fieldprobe: [^\n]*cut\.h5[^\n]* \(exit code 1\)\n$/);
    const written = await fieldprobe("inspect", "s3://cubes/bad", "--descriptors", "x");
    expect(written.stderr).toContain("s3://cubes/bad holds 2 datasets; name one, e.g. s3://cubes/bad/cut.h5");
    const malformed = await fieldprobe("inspect", "s3://cubes/50%");
    expect(malformed.stderr).toBe(
      "fieldprobe: s3://cubes/50%: a % must begin a character such as %20; write %25 for the sign itself\n",
    );
  });

  it("confirm a file of a bucket in the folder of descriptors of the state, and answer as on the local file", async () => {
    const state = join(folder, "state");
    vi.stubEnv("FIELDPROBE_STATE", state);
    const write = (notes: number) =>
      writeHdf5(join(folder, "bare.h5"), (file) => {
        if (notes > 0) file.create_attribute("notes", notes);
        writeField(file, "p", { dimensions: ["z", "y", "x"], chunks: [4, 10, 5], filter: "gzip" });
      });
    await bucket.put("bare", new Map([["flow.h5", readFileSync(await write(0))]]));
    const source = "s3://cubes/bare/flow.h5";
    const answers = ["--dims", "z,y,x", "--spacing", "1", "--origin", "0", "--periodic", "none", "--walls", "none"];
    const { stderr: open } = await fieldprobe("inspect", source, "--yes");
    expect(open).toContain("fieldprobe: --yes: 4 lines are open or red: --dims, --length, --periodic, --origin\n");
    const { stderr } = await fieldprobe("inspect", source, ...answers, "--yes");
    const confirmation = join(state, "descriptors", "flow.json");
    expect(stderr).toContain(`wrote ${confirmation}\n`);
    expect(JSON.parse(readFileSync(confirmation, "utf8")).fields.pressure.file).toBe(source);
    for (const place of [source, "s3://cubes/bare"]) expect(await query(place)).toBe(await local());
    await bucket.put("bare", new Map([["flow.h5", readFileSync(await write(1))]]));
    const log = (await fieldprobe("values", source, "p", "--points", "p.csv")).stderr;
    const [typed = ""] = /(?<=: fieldprobe )inspect .* --same/.exec(log) ?? [];
    expect(await fieldprobe(...typed.split(" "))).toMatchObject({ status: 0, stderr: `wrote ${confirmation}\n` });
    for (const place of [source, "s3://cubes/bare"]) expect(await query(place)).toBe(await local());
    // A local file that is named alone, and has the same name, is not in its way.
    expect(await stdoutOf("values", near, "p", "--time", "0", "--method", "Lag4", "--points", "p.csv")).toBe(
      await local(),
    );
    vi.stubEnv("FIELDPROBE_STATE", join(folder, "no-state"));
    expect((await fieldprobe("values", source, "p", "--points", "p.csv")).stderr).toContain(
      `needs a look: fieldprobe inspect ${source}`,
    );
    const words = ["values", source, "p", "--time", "0", "--method", "Lag4", "--points", "p.csv"];
    expect(await stdoutOf(...words, ...answers, "--yes")).toBe(await local());
    expect(existsSync(join(folder, "no-state", "descriptors"))).toBe(false);
  });

  it("cut a box out of a file, in a bucket and on a web server, byte by byte that of the local file", async () => {
    const cutOut = async (source: string) => {
      await stdoutOf("nodes", source, "p", "--i", "1:7", "--k", "2:9", "--time", "0", "--out", cut);
      return readFileSync(cut);
    };
    const local = await cutOut(join("near", "flow.h5"));
    expect((await cutOut("s3://cubes/runs/flow.h5")).equals(local)).toBe(true);
    expect((await cutOut(`${server.url}/runs/flow.h5`)).equals(local)).toBe(true);
  });
});

/** Fills the disk of a command whose cache lies in a folder: `$0` is the folder, `$@` the command. */
const FULL = [
  ["a bound of the system for each file", 'ulimit -f 1; exec "$@"', [], true],
  ["a full disk", 'mount -t tmpfs -o size=4k none "$0" && exec "$@"', ["unshare", "-rm"], mayMount()],
] as const;

/** Whether this machine lets anybody mount a file system of his own, for one command. */
function mayMount(): boolean {
  return spawnSync("unshare", ["-rm", "mount", "-t", "tmpfs", "none", folder]).status === 0;
}

describe.each(FULL)("%s", (_, script, before, isPossible) => {
  it.runIf(isPossible)("takes the cache away and no value, and one line says so", async () => {
    const full = join(folder, "full");
    mkdirSync(full, { recursive: true });
    const words = ["values", address, "p", "--time", "0", "--method", "Lag4", "--points", "p.csv"];
    const command = [...before, "sh", "-c", script, full, process.execPath, BIN, ...words];
    const env = { ...process.env, FIELDPROBE_CACHE_DIR: full };
    const { stdout, stderr } = await promisify(execFile)(command[0] as string, command.slice(1), { cwd: folder, env });
    expect(stdout).toBe(await local());
    expect(stderr.split("\n").filter((line) => line.includes("keeps nothing for now"))).toHaveLength(1);
    expect(stderr).toMatch(
      /the cache in .* keeps nothing for now: (no space is left on the device|the system allows no file)/,
    );
  });
});

describe("a conversion that the system lets write no further", () => {
  it("ends with one line, and goes on when there is room", async () => {
    const target = join(folder, "full.zarr");
    const convert = [BIN, "convert", join("near", "flow.h5"), target, "--chunk", "4"];
    const command = ["-c", FULL[0][1], "sh", process.execPath, ...convert];
    const failure = (await promisify(execFile)("sh", command, { cwd: folder }).catch((error: unknown) => error)) as {
      stderr: string;
      code: number;
    };
    expect(failure.code).not.toBe(0);
    expect(failure.stderr.trim().split("\n").at(-1)).toMatch(
      /cannot be written: the system allows no file of that size/,
    );
    expect(existsSync(join(target, "zarr.json"))).toBe(false);
    expect(readdirSync(target, { recursive: true, encoding: "utf8" }).join()).not.toMatch(/partial/);
    await stdoutOf("convert", join("near", "flow.h5"), target, "--chunk", "4");
    const { shape, values } = readArray(target, "pressure");
    expect(values).toEqual(fill(["t", "z", "y", "x"], shape, nodeValue));
  });
});
