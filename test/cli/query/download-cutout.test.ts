/**
 * `fieldprobe cutout --url`: files from a running service hold the published numbers, and nothing is left of a failed
 * one.
 */
import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CutoutSelection, downloadCutout } from "../../../src/cli/query/download-cutout.js";
import type { RunningService } from "../../../src/main.js";
import { openDataset } from "../../../src/storage/bricks/brick-reader.js";
import { openSource } from "../../../src/storage/catalog/source.js";
import { loadHdf5 } from "../../../src/storage/hdf5/library.js";
import { readNodes } from "../../support/read-nodes.js";
import { scratchFolder } from "../../support/scratch.js";
import { serveTestData } from "../../support/service.js";

const folder = scratchFolder();
let service: RunningService;
beforeAll(async () => {
  await loadHdf5();
  service = await serveTestData();
});
afterAll(() => service.close());

/** The velocity at nodes 1 to 2, 1 to 2, 1 of the stored frame of time 0.4, as published. */
const PUBLISHED = [
  0.11659112, -0.19505672, -0.6774256, 0.10323346, -0.23880164, -0.70956296, 0.12884392, -0.16881731, -0.726673,
  0.08667458, -0.21954058, -0.761243,
].map(Math.fround);
/** The third of the times that are answered; one frame before them is stored. */
const FRAME = { first: 4, last: 4 };
const BOX = { x: { first: 1, last: 2 }, y: { first: 1, last: 2 }, z: { first: 1, last: 1 } };

function download(file: string, wanted: CutoutSelection, url = service.url): Promise<readonly number[] | null> {
  return downloadCutout({ url, token: undefined, dataset: "isotropic32" }, wanted, join(folder, file));
}
const numbersOf = (bytes: Buffer): number[] =>
  Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(4 * i));

describe("downloadCutout", () => {
  it("takes all stored frames of an HDF5 file, guards included, if none are named", async () => {
    const node = { first: 1, last: 1 };
    await download("frames.h5", { ...{ x: node, y: node, z: node }, field: ["pressure"] });
    expect(openSource(join(folder, "frames.h5"), 2 ** 24, { periodic: [] }).time.count).toBe(15);
  });

  it("writes bare float32 and NumPy files", async () => {
    const wanted = { ...BOX, frames: FRAME, field: ["velocity"] };
    expect(await download("u.raw", wanted)).toEqual([1, 2, 2, 3]);
    const raw = readFileSync(join(folder, "u.raw"));
    expect(numbersOf(raw)).toEqual(PUBLISHED);
    expect(await download("u.npy", wanted)).toEqual([1, 2, 2, 3]);
    const npy = readFileSync(join(folder, "u.npy"));
    expect(npy.toString("latin1", 1, 6)).toBe("NUMPY");
    expect(npy.subarray(10 + npy.readUInt16LE(8)).equals(raw)).toBe(true);
  });

  it("writes each of two downloads to one place in full", async () => {
    const whole = { frames: FRAME, field: ["velocity"] };
    await Promise.all([download("twice.raw", whole), download("twice.raw", { ...whole, ...BOX })]);
    const { length } = readFileSync(join(folder, "twice.raw"));
    expect([4 * 3 * 32 ** 3, 4 * PUBLISHED.length]).toContain(length);
    expect(readdirSync(folder).filter((name) => name.includes(".part"))).toEqual([]);
  });

  it("takes every so many nodes, and means", async () => {
    const wanted = { frames: FRAME, field: ["pressure"] };
    expect(await download("all.raw", wanted)).toEqual([32, 32, 32, 1]);
    expect(await download("some.raw", { ...wanted, step: [16, 8, 31] })).toEqual([2, 4, 2, 1]);
    const all = numbersOf(readFileSync(join(folder, "all.raw")));
    const some = numbersOf(readFileSync(join(folder, "some.raw")));
    expect(some[1 + 2 * (3 + 4 * 1)]).toBe(all[16 + 32 * (24 + 32 * 31)]);
    const one = { ...wanted, ...{ x: { first: 5, last: 5 }, y: { first: 6, last: 6 }, z: { first: 7, last: 7 } } };
    await download("mean.raw", { ...one, filterNodes: 3 });
    let sum = 0;
    for (const k of [5, 6, 7])
      for (const j of [4, 5, 6]) for (const i of [3, 4, 5]) sum += all[i + 32 * (j + 32 * k)] as number;
    expect(numbersOf(readFileSync(join(folder, "mean.raw")))[0]).toBeCloseTo(sum / 27, 6);
  });

  it("writes HDF5 with an XDMF that names the file as it is called here", async () => {
    expect(await download("box.h5", { ...BOX, frames: FRAME })).toBeNull();
    const dataset = openSource(join(folder, "box.h5"), 2 ** 24, { periodic: [] });
    expect(Object.keys(dataset.fields).toSorted()).toEqual(["pressure", "velocity"]);
    const open = openDataset(dataset);
    expect([...readNodes(dataset, open, "velocity", 0)]).toEqual(PUBLISHED);
    open.close();
    const xdmf = readFileSync(join(folder, "box.xmf"), "utf8");
    expect(xdmf).toContain(">box.h5:/Velocity_0004</DataItem>");
    expect(xdmf).not.toContain(">isotropic32-");
  });

  it.each([
    ["several fields", "a.npy", {}, /holds one field: --field names it, one of velocity,/],
    ["several frames", "a.npy", { field: ["velocity"] }, /holds one frame: --frames names it/],
    [
      "a frame before the first time",
      "a.npy",
      { field: ["velocity"], frames: { first: 1, last: 1 } },
      /takes frames 2 to/,
    ],
    ["strides in HDF5", "a.h5", { step: [2, 2, 2] }, /--step and --filter-nodes are for \.npy and \.raw/],
    ["a field that is not stored", "a.raw", { field: ["density"], frames: FRAME }, /Invalid field specified/],
    ["nodes beyond the grid", "a.h5", { x: { first: 1, last: 33 } }, /x 1 to 33: there are 32 nodes/],
  ] as const)("refuses %s in one line and leaves nothing", async (_, file, wanted, text) => {
    const error = (await download(file, wanted).catch((thrown: unknown) => thrown)) as Error;
    expect(error.message).toMatch(text);
    expect(error.message).not.toContain("\n");
    expect(readdirSync(folder).filter((name) => name.startsWith("a."))).toEqual([]);
  });

  it("leaves nothing of an answer that is cut short", async () => {
    const about = await (await fetch(`${service.url}/api/datasets/isotropic32`)).text();
    const server = createServer((request, response) => {
      if (!request.url?.includes("cutout")) return response.end(about);
      response.setHeader("fieldprobe-shape", "1,1,2,3").end(Buffer.alloc(8));
      return undefined;
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const short = download("short.raw", { frames: FRAME, field: ["velocity"] }, `http://127.0.0.1:${port}`);
    await expect(short).rejects.toThrow(/8 bytes instead of 24/);
    server.close();
    expect(existsSync(join(folder, "short.raw"))).toBe(false);
  });

  it("is what fieldprobe cutout --url calls", async () => {
    const program = new URL("../../../bin/fieldprobe.js", import.meta.url).pathname;
    const call = (...words: string[]) => promisify(execFile)(process.execPath, [program, "cutout", ...words]);
    const file = join(folder, "called.npy");
    const box = ["--x", "1:2", "--y", "1:2", "--z", "1", "--frames", "4", "--field", "velocity", "--url", service.url];
    expect((await call("isotropic32", file, ...box)).stdout).toBe(`${file}: float32, 1 x 2 x 2 x 3\n`);
    expect(readFileSync(file).equals(readFileSync(join(folder, "u.npy")))).toBe(true);
    await expect(call("isotropic32", join(folder, "local.npy"))).rejects.toThrow(/\.npy needs --url/);
  });
});
