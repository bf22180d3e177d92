/**
 * Conversion into Zarr 3: the same values and the same dataset, for other readers too, and resumed by what is there.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { get, open, root } from "zarrita";
import { STORE_DEFAULTS } from "../../../src/shared/store-settings.js";
import type { Dataset } from "../../../src/storage/dataset/dataset.js";
import { objectTarget } from "../../../src/storage/remote/objects/object-target.js";
import { convertToZarr, type ZarrOptions } from "../../../src/storage/tools/convert-zarr.js";
import { descriptor, FRAMES, fill, NODES, nodeValue } from "../../support/cubes.js";
import { onlyDataset } from "../../support/only-dataset.js";
import { openConfirmed } from "../../support/open-confirmed.js";
import { decodes, readArray, readDocument } from "../../support/read-zarr.js";
import { folderIn, scratchFolder } from "../../support/scratch.js";
import { writeZarr } from "../../support/zarr.js";
import { array, expectNodes, TABLES } from "../zarr/numbered-cube.js";

const SCRATCH = scratchFolder();
const DATA = fileURLToPath(new URL("../../../data/isotropic32", import.meta.url));
const MOST = 1 << 28;
const PLAN = { name: "out", chunk: 4, shard: 8, compression: "none" } as const satisfies ZarrOptions;

function numbered(): Dataset {
  const arrays = { velocity: array(["t", "z", "y", "x", "c"]), p: array(["t", "z", "y", "x"]), ...TABLES };
  return openConfirmed(writeZarr(join(SCRATCH, "numbered.zarr"), { version: 3, arrays }), MOST);
}

const convertTo = (name: string, dataset: Dataset, options: ZarrOptions) =>
  convertToZarr(dataset, objectTarget(join(SCRATCH, name), STORE_DEFAULTS), options, () => {});

/** Compares a store with the numbered cube, as the specification of Zarr 3 says that it is read. */
function expectSpecified(folder: string): void {
  for (const [path, c] of [
    ["velocity", ["component"]],
    ["pressure", []],
  ] as const) {
    const { shape, dimensions, values } = readArray(folder, path);
    expect(dimensions).toEqual(["time", "z", "y", "x", ...c]);
    expect(shape).toEqual([FRAMES, NODES.z, NODES.y, NODES.x, ...c.map(() => 3)]);
    expect(values).toEqual(fill(["t", "z", "y", "x", "c"], [...shape, 1].slice(0, 5), nodeValue));
  }
  for (const [axis, length] of Object.entries({ ...NODES, time: FRAMES }))
    expect(readArray(folder, axis).values).toEqual(Float64Array.from({ length }, (_, index) => index));
  const { consolidated_metadata: consolidated } = readDocument(folder, "") as {
    consolidated_metadata: { metadata: Record<string, unknown> };
  };
  for (const [path, document] of Object.entries(consolidated.metadata))
    expect(readDocument(folder, path)).toEqual(document);
}

function contentsOf(name: string): Map<string, string> {
  const folder = join(SCRATCH, name);
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  return new Map(
    files
      .filter((file) => statSync(join(folder, file)).isFile())
      .map((file) => [file, readFileSync(join(folder, file), "base64")]),
  );
}

it.each([
  ["numbered", ["cube", "blocks"]],
  ["copy", []],
])("keeps the aliases of a dataset under its own name alone: %s", async (name, aliases) => {
  const dataset = { ...numbered(), aliases: ["cube", "blocks"] };
  await convertTo(`aliases-${name}.zarr`, dataset, { ...PLAN, name });
  expect(openConfirmed(join(SCRATCH, `aliases-${name}.zarr`), MOST)).toMatchObject({ name, aliases });
});

describe("a conversion into a store", () => {
  it.each([
    [8, "none"],
    [8, "zstd"],
    [0, "gzip"],
    [64, "none"],
  ] as const)("keeps every value: shards of %d, %s", async (shard, compression) => {
    const name = `${shard}-${compression}.zarr`;
    await convertTo(name, numbered(), { ...PLAN, shard, compression });
    const again = openConfirmed(join(SCRATCH, name), MOST);
    expectNodes(again, "velocity", 3);
    expectNodes(again, "pressure", 1);
    if (decodes(compression)) expectSpecified(join(SCRATCH, name));
  });

  it("keeps everything else that is known of a dataset", async () => {
    const source = openConfirmed(DATA, MOST);
    await convertTo("whole.zarr", source, { ...PLAN, chunk: 16, shard: 32 });
    const { axes, time, forcing, units, dnsStep, frameVelocity, assumed } = openConfirmed(
      join(SCRATCH, "whole.zarr"),
      MOST,
    );
    const { axes: a, time: t, forcing: f, units: u, dnsStep: d, frameVelocity: v, assumed: g } = source;
    expect([axes, time, forcing, units, dnsStep, frameVelocity, assumed]).toEqual([a, t, f, u, d, v, g]);
  });

  it("keeps walls, and what becomes of particles at open faces", async () => {
    const walls = [
      [true, false],
      [false, false],
      [true, true],
    ] as const;
    await convertTo("walls.zarr", { ...numbered(), walls, openFaces: "stop" }, PLAN);
    expect(openConfirmed(join(SCRATCH, "walls.zarr"), MOST)).toMatchObject({ walls, openFaces: "stop" });
  });

  it("keeps the edges of cells", async () => {
    const source = numbered();
    const [x, y, z] = source.axes;
    const edges = Float64Array.from({ length: z.nodes + 1 }, (_, i) => z.origin + (i - 0.5) * z.spacing);
    await convertTo("edges.zarr", { ...source, axes: [x, y, { ...z, periodic: false, edges }] }, PLAN);
    expect(openConfirmed(join(SCRATCH, "edges.zarr"), MOST).axes[2].edges).toEqual(edges);
  });

  it("is served under the name that it was given, also from a folder of another name", async () => {
    await convertTo("folder.zarr", numbered(), { ...PLAN, name: "given" });
    expect(openConfirmed(join(SCRATCH, "folder.zarr"), MOST).name).toBe("given");
    const home = folderIn(SCRATCH, "served");
    renameSync(join(SCRATCH, "folder.zarr"), join(home, "folder.zarr"));
    expect(onlyDataset(home).name).toBe("given");
  });

  it("is read by the library zarrita alone, with its coordinates", async () => {
    await convertTo("other.zarr", numbered(), { ...PLAN, compression: "gzip" });
    const read = async (key: string) => {
      const path = join(SCRATCH, "other.zarr", key);
      return existsSync(path) ? new Uint8Array(readFileSync(path)) : undefined;
    };
    const store = {
      get: read,
      getRange: async (key: string, range: { offset: number; length: number } | { suffixLength: number }) => {
        const bytes = await read(key);
        if ("suffixLength" in range) return bytes?.subarray(bytes.length - range.suffixLength);
        return bytes?.subarray(range.offset, range.offset + range.length);
      },
    };
    const at = (path: string) =>
      open(root(store as never).resolve(path), { kind: "array" }).then((found) => get(found));
    const shape = [FRAMES, NODES.z, NODES.y, NODES.x, 3];
    const velocity = await at("velocity");
    expect(velocity.shape).toEqual(shape);
    expect(velocity.data).toEqual(Float32Array.from(fill(["t", "z", "y", "x", "c"], shape, nodeValue)));
    expect((await at("x")).data).toEqual(Float64Array.from({ length: NODES.x }, (_, index) => index));
    expect((await at("time")).data).toEqual(Float64Array.of(0, 1, 2));
  });

  // Debian's zarr reads version 2 only; where there is one of version 3, it and xarray read the store.
  it.runIf(pythonReadsThird())("is read by xarray", async () => {
    await convertTo("python.zarr", numbered(), { ...PLAN, compression: "zstd" });
    const script = `import xarray; d = xarray.open_zarr("${join(SCRATCH, "python.zarr")}"); print(float(d.velocity[2, 3, 4, 5, 1]), d.velocity.dims)`;
    const printed = execFileSync("/usr/bin/python3", ["-c", script], { encoding: "utf8" });
    expect(printed).toContain(`${nodeValue({ t: 2, z: 3, y: 4, x: 5, c: 1 })}`);
  });
});

it("refuses shards that are too large to be made", async () => {
  const dataset = numbered();
  const axes = dataset.axes.map((axis) => ({ ...axis, nodes: 512 })) as unknown as Dataset["axes"];
  const options = { ...PLAN, chunk: 64, shard: 512 };
  await expect(convertTo("large.zarr", { ...dataset, axes }, options)).rejects.toThrow(
    /a shard of velocity would have/,
  );
  expect(existsSync(join(SCRATCH, "large.zarr"))).toBe(false);
});

it.each(["other.h5", "s3://other/flow.h5"])("describes nothing outside of the store: %s", async (file) => {
  const pressure = { file, path: "/p", dimensions: ["z", "y", "x"] };
  const attributes = { fieldprobe_descriptor: JSON.stringify(descriptor("out", { fields: { pressure } })) };
  const store = writeZarr(join(SCRATCH, "out.zarr"), { version: 3, arrays: { p: array(["z", "y", "x"]) }, attributes });
  expect(() => openConfirmed(store, MOST)).toThrow(/names another file/);
});

describe("an interrupted conversion", () => {
  it("keeps what is whole, and writes again what is missing or damaged", async () => {
    const dataset = numbered();
    await convertTo("full.zarr", dataset, PLAN);
    let left = 30;
    const stop = () => {
      if (--left === 0) throw new Error("interrupted");
    };
    const target = objectTarget(join(SCRATCH, "cut.zarr"), STORE_DEFAULTS);
    await expect(convertToZarr(dataset, target, PLAN, stop)).rejects.toThrow("interrupted");
    const key = (n: number) => join(SCRATCH, "cut.zarr", `velocity/c/0/0/0/${n}/0`);
    const damaged = readFileSync(key(0));
    damaged[100] = (damaged[100] as number) ^ 1;
    writeFileSync(key(0), damaged);
    writeFileSync(key(1), readFileSync(key(1)).subarray(0, 500));
    rmSync(join(SCRATCH, "cut.zarr", "velocity/c/1"), { recursive: true });
    const { kept, files } = await convertToZarr(dataset, target, PLAN, () => {});
    // Eight shards for each of three frames and two fields; 30 were there, two are damaged, eight are gone.
    expect([kept, files]).toEqual([20, 48]);
    expect(contentsOf("cut.zarr")).toEqual(contentsOf("full.zarr"));
  });

  it("is completed where only its plan is left to remove", async () => {
    const dataset = numbered();
    await convertTo("late.zarr", dataset, PLAN);
    const contents = contentsOf("late.zarr");
    const late = objectTarget(join(SCRATCH, "late.zarr"), STORE_DEFAULTS);
    const stop = () => {
      throw new Error("interrupted");
    };
    const early = objectTarget(join(SCRATCH, "early.zarr"), STORE_DEFAULTS);
    await expect(convertToZarr(dataset, early, PLAN, stop)).rejects.toThrow("interrupted");
    await late.write("conversion.json", Buffer.from((await early.read("conversion.json")) as Uint8Array));
    expect((await convertToZarr(dataset, late, PLAN, () => {})).kept).toBe(48);
    expect(contentsOf("late.zarr")).toEqual(contents);
  });

  it("leaves no root document that the disk has before everything else", async () => {
    const plain = objectTarget(join(SCRATCH, "order.zarr"), STORE_DEFAULTS);
    const settled = new Set<string>();
    let before: string[] = [];
    const target = {
      location: plain.location,
      isEmpty: () => plain.isEmpty(),
      read: (key: string) => plain.read(key),
      remove: (key: string) => plain.remove(key),
      write: (key: string, bytes: Uint8Array) => {
        if (key === "zarr.json") before = [...settled].sort();
        return plain.write(key, bytes);
      },
      flush: async (keys: readonly string[]) => {
        await plain.flush(keys);
        for (const key of keys) settled.add(key);
      },
    };
    await convertToZarr(numbered(), target, PLAN, () => {});
    const there = [...contentsOf("order.zarr").keys()].filter((key) => key !== "zarr.json");
    expect(before).toEqual([...there, "conversion.json"].sort());
    expect(settled).toContain("zarr.json");
    await expect(plain.flush(["velocity/c/9/9/9/9/0"])).rejects.toThrow(/velocity.c.9.9.9.9.0 cannot be written/);
  });

  it("is not continued with other options, nor in a folder that holds anything else", async () => {
    const dataset = numbered();
    const target = objectTarget(join(SCRATCH, "mine.zarr"), STORE_DEFAULTS);
    const stop = () => {
      throw new Error("interrupted");
    };
    await expect(convertToZarr(dataset, target, PLAN, stop)).rejects.toThrow("interrupted");
    await expect(convertTo("mine.zarr", dataset, { ...PLAN, chunk: 2 })).rejects.toThrow(/other answers or options/);
    mkdirSync(join(SCRATCH, "theirs.zarr"));
    writeFileSync(join(SCRATCH, "theirs.zarr", "notes.txt"), "");
    await expect(convertTo("theirs.zarr", dataset, PLAN)).rejects.toThrow(/is not empty/);
  });
});

function pythonReadsThird(): boolean {
  try {
    const script = "import xarray, zarr; print(zarr.__version__)";
    return (
      Number.parseInt(execFileSync("/usr/bin/python3", ["-c", script], { encoding: "utf8", stdio: "pipe" }), 10) >= 3
    );
  } catch {
    return false;
  }
}
