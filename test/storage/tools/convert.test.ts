/** Conversion: same values, bounded reads, resumable; and the cutout, read back. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { openDataset } from "../../../src/storage/bricks/brick-reader.js";
import { digestFile } from "../../../src/storage/catalog/manifest.js";
import { type Dataset, fieldNames, type Triple } from "../../../src/storage/dataset/dataset.js";
import type { Filter } from "../../../src/storage/hdf5/writer.js";
import { OpenBytes } from "../../../src/storage/hdf5-bytes/open-bytes.js";
import { openFile } from "../../../src/storage/open-file.js";
import { convert, planBoxes } from "../../../src/storage/tools/convert.js";
import { writeCutout } from "../../../src/storage/tools/cutout.js";
import { descriptor, FRAMES, NODES, parentOf, writeDescriptor, writeField, writeHdf5 } from "../../support/cubes.js";
import { openConfirmed, openProposed } from "../../support/open-confirmed.js";
import { PRODUCERS } from "../../support/producers.js";
import { firstDifference, readNodes } from "../../support/read-nodes.js";
import { folderIn, scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();
const CHUNK_BYTES = 2 ** 26;

const noProgress = () => {};

function expectSame(one: Dataset, other: Dataset): void {
  expect(other.axes).toEqual(one.axes);
  expect(other.time).toEqual(one.time);
  expect(Object.keys(other.fields)).toEqual(Object.keys(one.fields));
  const [a, b] = [openDataset(one), openDataset(other)];
  for (const field of fieldNames(one))
    for (let frame = 0; frame < one.time.count; frame++)
      expect(firstDifference(readNodes(other, b, field, frame), readNodes(one, a, field, frame))).toBeNull();
  a.close();
  b.close();
}

async function bareFile(name: string): Promise<string> {
  const entry = PRODUCERS.find((candidate) => candidate.name === name);
  if (entry === undefined) throw new Error(`no producer file ${name}`);
  const folder = join(SCRATCH, "bare");
  mkdirSync(folder, { recursive: true });
  const path = await writeHdf5(join(folder, `${name}.h5`), entry.write, entry.finish !== undefined);
  entry.finish?.(path);
  return path;
}

describe("convert", () => {
  it.each<[string, Filter]>([
    ["well", "none"],
    ["uchannel", "gzip"],
    ["VAR0", "fletcher32"],
    ["generic-scaled", "fletcher32"],
  ])("keeps every node, coordinate and time of %s, with filter %s", async (name, filter) => {
    const source = openConfirmed(await bareFile(name), CHUNK_BYTES);
    const folder = join(SCRATCH, `converted-${name}`);
    const fractions: number[] = [];
    const { files } = await convert(source, { folder, name: "converted", chunk: 5, filter }, (f) => fractions.push(f));
    expect(fractions).toEqual(fractions.toSorted((a, b) => a - b));
    expect(fractions.at(-1)).toBe(1);
    const converted = openConfirmed(folder, CHUNK_BYTES);
    expectSame(source, converted);
    expect(converted.name).toBe("converted");
    const { files: sums } = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));
    expect(Object.keys(sums)).toHaveLength(files);
    for (const [file, sum] of Object.entries(sums)) expect(await digestFile(join(folder, file))).toEqual(sum);
    expect(readdirSync(folder).filter((file) => /partial|conversion/.test(file))).toEqual([]);
  });

  it("keeps forcing, guards, units and what else a descriptor says", async () => {
    const folder = folderIn(SCRATCH, "full");
    await writeHdf5(join(folder, "u.h5"), (file) => {
      writeField(file, "/u", { dimensions: ["t", "c", "z", "y", "x"], type: "<d" });
      const { group } = parentOf(file, "/modes/none");
      group.create_dataset({ name: "wavenumber", data: Int32Array.of(0, 1, 0, 1, 0, 0), shape: [2, 3] });
      const values = Float64Array.from({ length: FRAMES * 12 }, (_, i) => Math.sin(i));
      group.create_dataset({ name: "coefficient", data: values, shape: [FRAMES, 2, 3, 2] });
    });
    const members = {
      title: "everything",
      time: { origin: -1, step: 0.5, count: FRAMES, guardBefore: 1 },
      fields: { velocity: { file: "u.h5", path: "/u", dimensions: ["t", "c", "z", "y", "x"] } },
      forcing: { kind: "modes", file: "u.h5", path: "/modes" },
      dnsStep: 0.005,
      frameVelocity: [0.45, 0, 0],
      units: { length: "m" },
      source: "a test",
    };
    writeDescriptor(folder, descriptor("full", members));
    const source = openConfirmed(folder, CHUNK_BYTES);
    const target = join(SCRATCH, "full-converted");
    await convert(source, { folder: target, name: "full", chunk: 64, filter: "none" }, noProgress);
    const converted = openConfirmed(target, CHUNK_BYTES);
    expectSame(source, converted);
    const { title, forcing, dnsStep, frameVelocity, units } = converted;
    expect({ title, forcing, dnsStep, frameVelocity, units }).toEqual({
      title: "everything",
      forcing: source.forcing,
      dnsStep: 0.005,
      frameVelocity: [0.45, 0, 0],
      units: { length: "m" },
    });
  });

  it("resumes where it was interrupted, and ends with the same bytes", async () => {
    const source = openConfirmed(await bareFile("well"), CHUNK_BYTES);
    const options = { name: "resumed", chunk: 6, filter: "gzip" } as const;
    const whole = join(SCRATCH, "whole");
    await convert(source, { ...options, folder: whole }, noProgress);

    const folder = join(SCRATCH, "interrupted");
    const interruption = new Error("interrupted");
    const stop = (fraction: number) => {
      if (fraction > 0.5) throw interruption;
    };
    await expect(convert(source, { ...options, folder }, stop)).rejects.toBe(interruption);
    expect(existsSync(join(folder, "dataset.json"))).toBe(false);
    const complete = readdirSync(folder).filter((file) => file.endsWith(".h5"));
    expect(complete).toHaveLength(7);
    const times = complete.map((file) => statSync(join(folder, file)).mtimeMs);
    // What a killed process leaves behind: half a file under its provisional name.
    writeFileSync(
      join(folder, "temperature_00002.h5.partial"),
      readFileSync(join(folder, complete[0] as string)).subarray(0, 999),
    );

    const other = { ...options, folder, chunk: 7 };
    await expect(convert(source, other, noProgress)).rejects.toThrow(/other files, or with other answers or options/);
    const { kept } = await convert(source, { ...options, folder }, noProgress);
    expect(kept).toBe(7);
    expect(complete.map((file) => statSync(join(folder, file)).mtimeMs)).toEqual(times);
    expect(readdirSync(folder).toSorted()).toEqual(readdirSync(whole).toSorted());
    for (const file of readdirSync(whole))
      expect(readFileSync(join(folder, file))).toEqual(readFileSync(join(whole, file)));
  });

  it("does not resume under other answers to what the source leaves open", async () => {
    const path = await writeHdf5(join(SCRATCH, "bare", "open.h5"), (file) => {
      for (const [c, name] of ["u", "v", "w"].entries())
        writeField(file, name, { dimensions: ["z", "y", "x"], lengths: { x: 8, y: 8, z: 8 }, value: ({ x }) => c + x });
    });
    const answers = { spacing: [1, 1, 1], origin: [0, 0, 0], periodic: [], walls: [] };
    const read = (dims: string[]) => openConfirmed(path, CHUNK_BYTES, { ...answers, dims });
    const options = { folder: join(SCRATCH, "reordered"), name: "reordered", chunk: 8, filter: "none" } as const;
    const interruption = new Error("interrupted");
    const stop = () => {
      throw interruption;
    };
    await expect(convert(read(["z", "y", "x"]), options, stop)).rejects.toBe(interruption);
    await expect(convert(read(["x", "y", "z"]), options, noProgress)).rejects.toThrow(/with other answers or options/);
    await convert(read(["z", "y", "x"]), options, noProgress);
  });

  it("rewrites chunks that are too large to be served", async () => {
    const path = join(SCRATCH, "bare", "large.h5");
    await writeHdf5(path, (file) => {
      writeField(file, "/velocity", { dimensions: ["z", "y", "x", "c"], chunks: [11, 10, 12, 3], filter: "gzip" });
    });
    const bound = 4 * 5 ** 3 * 3;
    expect(() => openProposed(path, bound)).toThrow(/chunks of 15840 bytes.*fieldprobe convert rewrites it/);
    const folder = join(SCRATCH, "large");
    const source = openProposed(path, CHUNK_BYTES);
    await convert(source, { folder, name: "small", chunk: 5, filter: "gzip" }, noProgress);
    expectSame(source, openConfirmed(folder, bound));
  });

  it("never writes into a dataset or a folder of other things", async () => {
    const source = openConfirmed(await bareFile("well"), CHUNK_BYTES);
    const folder = folderIn(SCRATCH, "occupied");
    writeFileSync(join(folder, "thesis.tex"), "");
    const options = { folder, name: "a", chunk: 64, filter: "none" } as const;
    await expect(convert(source, options, noProgress)).rejects.toThrow(/is not empty/);
    rmSync(join(folder, "thesis.tex"));
    writeFileSync(join(folder, "dataset.json"), "");
    await expect(convert(source, options, noProgress)).rejects.toThrow(/holds a dataset already/);
  });

  it("reads a contiguous file once, a slab at a time", async () => {
    const n = 96;
    const path = join(SCRATCH, "bare", "contiguous.h5");
    mkdirSync(join(SCRATCH, "bare"), { recursive: true });
    await writeHdf5(path, (file) => {
      const data = Float32Array.from({ length: 3 * n ** 3 }, (_, i) => i);
      file.create_dataset({ name: "velocity", data, shape: [n, n, n, 3] });
    });
    const reads: number[] = [];
    const { readValues } = OpenBytes.prototype;
    const spy = vi.spyOn(OpenBytes.prototype, "readValues").mockImplementation(function (
      this: OpenBytes,
      bytes,
      address,
    ) {
      reads.push(bytes.length);
      readValues.call(this, bytes, address);
    });
    onTestFinished(() => spy.mockRestore());
    const source = openProposed(path, CHUNK_BYTES);
    expect(reads).toEqual([]);
    const folder = join(SCRATCH, "contiguous");
    const { bytesRead } = await convert(source, { folder, name: "c", chunk: 16, filter: "none" }, noProgress);
    expect(bytesRead).toBe(12 * n ** 3);
    expect(reads.reduce((sum, bytes) => sum + bytes, 0)).toBe(12 * n ** 3);
    expect(Math.max(...reads)).toBeLessThanOrEqual(8 * 2 ** 20);
  });

  it("plans slabs of whole chunks that cover every node once, within 8 MiB", () => {
    for (const nodes of [
      [564, 564, 564],
      [2048, 512, 96],
      [10, 7, 3],
    ] as Triple[]) {
      const edge = nodes.map((n) => Math.min(n, 64)) as unknown as Triple;
      const slabs = planBoxes(nodes, edge, 3);
      let covered = 0;
      for (const { first, count } of slabs) {
        covered += count[0] * count[1] * count[2];
        expect(12 * count[0] * count[1] * count[2]).toBeLessThanOrEqual(8 * 2 ** 20);
        for (const axis of [0, 1, 2] as const) {
          expect(first[axis] % edge[axis]).toBe(0);
          expect(first[axis] + count[axis]).toBeLessThanOrEqual(nodes[axis]);
        }
      }
      expect(covered).toBe(nodes[0] * nodes[1] * nodes[2]);
      expect(new Set(slabs.map(({ first }) => first.join())).size).toBe(slabs.length);
    }
  });
});

describe("cutout", () => {
  it("has the layout of the 2019 service, and holds the nodes that were asked for", async () => {
    const source = openConfirmed(await bareFile("uchannel"), CHUNK_BYTES);
    const path = join(SCRATCH, "cut.h5");
    const box = { first: [2, 3, 4], count: [5, 4, 3] } as const;
    const units = { length: "m", time: "s", velocity: "m/s" };
    await writeCutout({ ...source, units }, { fields: ["velocity"], frames: [0], box }, path);
    const file = openFile(path);
    const stated = ["xcoor", "time", "Velocity_0001"].map((name) => file.attributes(`/${name}`).get("units"));
    expect(stated).toEqual(Object.values(units));
    expect(file.scales("/Velocity_0001").flat()).toEqual(["/zcoor", "/ycoor", "/xcoor", "/values"]);
    file.close();
    const cutout = openConfirmed(path, CHUNK_BYTES);
    expect(cutout.axes.map(({ nodes }) => nodes)).toEqual([5, 4, 3]);
    expect(cutout.axes[0]).toMatchObject({ origin: 0.5, spacing: 0.25, periodic: false });
    expect(cutout.axes[1].coordinates).toEqual(source.axes[1].coordinates?.slice(3, 7));
    const expected = new Float32Array(5 * 4 * 3 * 3);
    const open = openDataset(source);
    open.readNodes("velocity", 0, box, expected);
    open.close();
    const reader = openDataset(cutout);
    expect(firstDifference(readNodes(cutout, reader, "velocity", 0), expected)).toBeNull();
    reader.close();
    const xmf = readFileSync(join(SCRATCH, "cut.xmf"), "utf8");
    expect(xmf).toContain('<Topology TopologyType="3DRectMesh" Dimensions="3 4 5"/>');
    expect(xmf).toContain('Dimensions="3 4 5 3">cut.h5:/Velocity_0001</DataItem>');
    for (const [axis, n] of Object.entries({ x: 5, y: 4, z: 3 }))
      expect(xmf).toContain(`Precision="8" Dimensions="${n}">cut.h5:/${axis}coor</DataItem>`);
  });

  it("takes all nodes of the test grid from its own frames", async () => {
    const source = openConfirmed(await bareFile("well"), CHUNK_BYTES);
    const path = join(SCRATCH, "late.h5");
    const box = { first: [0, 0, 0], count: [NODES.x, NODES.y, NODES.z] } as const;
    await writeCutout(source, { fields: ["pressure"], frames: [1, 2], box }, path);
    const cutout = openConfirmed(path, CHUNK_BYTES);
    await writeCutout(source, { fields: ["pressure"], frames: [1], box }, join(SCRATCH, "plain"));
    expect(readFileSync(join(SCRATCH, "plain"), "latin1")).toMatch(/^.HDF/);
    expect(cutout.time).toMatchObject({ count: 2, origin: 1, step: 0.5 });
    const [a, b] = [openDataset(cutout), openDataset(source)];
    for (const frame of [0, 1])
      expect(
        firstDifference(readNodes(cutout, a, "pressure", frame), readNodes(source, b, "pressure", frame + 1)),
      ).toBeNull();
    a.close();
    b.close();
  });
});
