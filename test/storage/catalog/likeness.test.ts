/** Files that are like others in one folder: each has the outcome that it has alone, and few are described. */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { type File, h5wasm } from "h5wasm/node";
import { beforeAll, describe, expect, it, vi } from "vitest";
import * as recognition from "../../../src/storage/catalog/layouts/recognise.js";
import * as observed from "../../../src/storage/catalog/observed-file.js";
import type { FolderScan } from "../../../src/storage/catalog/scan.js";
import { scanFolders } from "../../../src/storage/catalog/scan-folders.js";
import { loadHdf5 } from "../../../src/storage/hdf5/library.js";
import { scratchFolder } from "../../support/scratch.js";

vi.mock(import("../../../src/storage/catalog/layouts/recognise.js"), { spy: true });
vi.mock(import("../../../src/storage/catalog/observed-file.js"), { spy: true });
const described = vi.mocked(recognition.recogniseOpen);
const OPTIONS = { chunkBytes: 2 ** 26 };

/** What differs between the files of the folder. */
interface Differences {
  readonly nodes?: number;
  readonly order?: string;
  readonly spacing?: number;
  readonly seed?: number;
  /** An attribute before the fields moves them to other addresses. */
  readonly comment?: string;
  readonly attributes?: Readonly<Record<string, string | number | number[]>>;
  readonly time?: number[];
  readonly fields?: readonly string[];
}

function write(path: string, given: Differences): void {
  const { nodes = 4, order = "zyx", spacing = 0.5, seed = 1, attributes = {}, fields = ["u", "v", "w", "p"] } = given;
  const file: File = new h5wasm.File(path, "w");
  file.create_attribute("axis_order", order);
  file.create_attribute("periodic", "xyz");
  for (const [name, value] of Object.entries(attributes)) file.create_attribute(name, value);
  if (given.comment !== undefined) file.create_attribute("written_by", given.comment);
  const shape = [nodes, nodes, nodes];
  for (const axis of ["x", "y", "z"]) {
    const data = Float64Array.from({ length: nodes }, (_, i) => i * spacing);
    file.create_dataset({ name: axis, data, shape: [nodes] });
  }
  if (given.time !== undefined)
    file.create_dataset({ name: "time", data: Float64Array.from(given.time), shape: [given.time.length] });
  for (const name of fields) {
    const data = Float32Array.from({ length: nodes ** 3 }, (_, i) => Math.sin(i * seed));
    file.create_dataset({ name, data, shape });
  }
  file.close();
}

/** Files of a folder by name; those of one letter differ from the first of it in nothing that is a description. */
const FILES: Readonly<Record<string, Differences>> = {
  a00: { attributes: { time: 0 } },
  a01: { attributes: { time: 0.25 }, seed: 2 },
  a02: { attributes: { time: -0 }, seed: 3 },
  a03: { attributes: { time: -7.5e-3 }, seed: 4 },
  b00: { attributes: { time: 1, run: 17, author: "one" } },
  b01: { attributes: { time: 2, run: 18, author: "two" }, seed: 2 },
  c00: { time: [3] },
  c01: { time: [4], seed: 5 },
  d00: { attributes: { time: 1 }, comment: "x".repeat(100) },
  d01: { attributes: { time: 1 }, comment: "y".repeat(9000) },
  e00: { attributes: { time: Number.NaN } },
  f00: { attributes: { time: "late" } },
  g00: { attributes: { time: [1, 2] } },
  h00: { time: [1, 2] },
  i00: { attributes: { time: 0 }, order: "xyz" },
  j00: { attributes: { time: 0 }, spacing: 0.25 },
  k00: { attributes: { time: 0 }, nodes: 5 },
  l00: { attributes: { time: 0 }, fields: ["u", "v", "w"] },
  m00: { attributes: { time: 0, title: "m00.h5", dataset: "m00.h5" } },
  n00: { attributes: { time: 0 }, fields: ["u", "v"] },
  n01: { attributes: { time: 0 }, fields: ["u", "v"] },
  o00: { attributes: { time: 0, dt: 0.5 } },
  p00: { attributes: { t: 5, time: 6 } },
};

/** A scan without what differs between copies of a file in two folders: their places, times and inodes. */
function comparable({ datasets, problems }: FolderScan): unknown {
  return {
    datasets: datasets.map(({ digest: _, location, files, fields, ...dataset }) => ({
      ...dataset,
      location: basename(location),
      files: files.map(({ path, bytes }) => ({ path: basename(path), bytes })),
      fields: Object.entries(fields).map(([name, { parts, ...field }]) => [
        name,
        { ...field, parts: parts.map(({ file, ...part }) => ({ ...part, file: basename(file) })) },
      ]),
    })),
    problems: problems.map(({ location, message }) => ({
      location: basename(location),
      message: message.replaceAll(dirname(location), ""),
    })),
  };
}

describe("files in one folder", () => {
  const folder = scratchFolder();

  beforeAll(async () => {
    await loadHdf5();
    for (const [name, given] of Object.entries(FILES)) write(join(folder, `${name}.h5`), given);
  });

  it("have the outcomes that they have alone", () => {
    for (const names of [Object.keys(FILES), Object.keys(FILES).reverse()]) {
      const data = scratchFolder();
      // A scan goes by names: the numbers make it meet them in this order.
      const all = names.map((name, at) => {
        const other = `${String(at).padStart(2, "0")}${name}.h5`;
        copyFileSync(join(folder, `${name}.h5`), join(data, other));
        return other;
      });
      const together = scanFolders([data], OPTIONS);
      const alone = all.map((name) => {
        const own = join(scratchFolder(), "own");
        mkdirSync(own);
        copyFileSync(join(data, name), join(own, name));
        return scanFolders([own], OPTIONS);
      });
      expect(comparable(together)).toEqual(
        comparable({
          ...together,
          datasets: alone.flatMap(({ datasets }) => datasets),
          problems: alone.flatMap(({ problems }) => problems),
        }),
      );
      expect(together.datasets.length).toBeGreaterThan(10);
    }
  });

  it("are described once where they differ in values, times, and what nobody asks for", () => {
    described.mockClear();
    const { datasets } = scanFolders([folder], OPTIONS);
    const again = described.mock.calls.map(([file]) => basename(file.path, ".h5"));
    expect(again).toContain("a00");
    expect(again.filter((name) => !name.endsWith("00"))).toEqual([]);
    const times = new Map(datasets.map(({ name, time }) => [name, time.origin]));
    expect([times.get("a01"), times.get("a03"), times.get("b01"), times.get("c01")]).toEqual([0.25, -7.5e-3, 2, 4]);
    expect(times.get("a02")).toBe(0);
    for (const { files, location, title, fields } of datasets) {
      expect(files.map(({ path }) => path)).toEqual([location]);
      expect(title).toBe(basename(location));
      for (const { parts } of Object.values(fields)) for (const { file } of parts) expect(file).toBe(location);
    }
  });

  /** What changes in copies of a file: bytes of it are replaced, wherever they are, or written at an address. */
  type Change = readonly [from: Buffer | number, to: Buffer];

  /** Scans a folder with a file twice, a third time with other numbers that nobody asks for, and changed ones. */
  function scanCopies(whole: Buffer, changes: readonly (readonly Change[])[]): FolderScan {
    const data = scratchFolder();
    for (const [i, change] of [[], [], ...changes].entries()) {
      const bytes = Buffer.from(whole);
      for (const [from, to] of change) {
        const first = typeof from === "number" ? from : bytes.indexOf(from);
        for (let at = first; at >= 0; at = typeof from === "number" ? -1 : bytes.indexOf(from)) to.copy(bytes, at);
      }
      writeFileSync(join(data, `f${i}.h5`), bytes);
    }
    return scanFolders([data], OPTIONS);
  }

  const read = (name: string) => gunzipSync(readFileSync(fileURLToPath(new URL(name, import.meta.url))));

  it("are known by the bytes that their answers rest on, whatever their times, and refused if damaged", () => {
    const asked = vi.mocked(observed.isLike).mockClear();
    // Written by h5py 3: headers of version 1, with times of change.
    const old = read("old-headers.h5.gz");
    const [time, run, spacing] = [8, 8, 8].map((bytes) => Buffer.alloc(bytes)) as [Buffer, Buffer, Buffer];
    time.writeDoubleLE(1.2345);
    run.writeBigInt64LE(1717171717n);
    spacing.writeDoubleLE(0.5);
    const number = (value: number) => Buffer.from(Float64Array.of(value).buffer);
    const stamp = old.indexOf(Buffer.from([0x12, 0, 8, 0])) + 12;
    const found = scanCopies(old, [
      [[time, number(2.5)]],
      [
        [run, number(3)],
        [stamp, Buffer.from([1, 2, 3, 4])],
      ],
      [[spacing, number(0.75)]],
    ]);
    expect(new Set(found.problems.map(({ location }) => basename(location)))).toEqual(new Set(["f4.h5"]));
    expect(found.datasets.map(({ time: { origin } }) => origin)).toEqual([1.2345, 1.2345, 2.5, 1.2345]);
    // The second file, the bytes of the first, and the one that differs in more.
    expect(asked.mock.calls.map(([file]) => basename(file.path))).toEqual(["f1.h5", "f0.h5", "f4.h5"]);

    // Written for its newest version: headers with checksums, of which the last is that of a dataset.
    const later = read("new-headers.h5.gz");
    const damaged = scanCopies(later, [[[later.lastIndexOf("OHDR") + 6, Buffer.from([1, 2, 3, 4])]]]);
    expect(damaged.datasets.map(({ name }) => name)).toEqual(["f0", "f1"]);
    expect(damaged.problems.map(({ location }) => basename(location))).toEqual(["f2.h5"]);
  });

  it("differ in an attribute of a group that has two paths, by one of which it is asked for", () => {
    // Written by h5py 3: /alias and /flow are one group.
    const number = (value: number) => Buffer.from(Float64Array.of(value).buffer);
    const { datasets } = scanCopies(read("linked-group.h5.gz"), [[[number(0.1234), number(0.25)]]]);
    expect(datasets.map(({ axes }) => axes.map(({ spacing }) => spacing))).toEqual([
      [0.1234, 0.1234, 0.1234],
      [0.1234, 0.1234, 0.1234],
      [0.25, 0.25, 0.25],
    ]);
  });

  it("do without the first of them if it is gone when the second one is like it", () => {
    const data = scratchFolder();
    const whole = read("old-headers.h5.gz");
    for (const name of ["f0", "f1", "f2"]) writeFileSync(join(data, `${name}.h5`), whole);
    const { isLike } = observed;
    vi.mocked(isLike).mockImplementationOnce((...asked) => {
      rmSync(join(data, "f0.h5"));
      return isLike(...asked);
    });
    const { datasets, problems } = scanFolders([data], OPTIONS);
    expect(problems).toEqual([]);
    expect(datasets.map(({ name }) => name)).toEqual(["f0", "f1", "f2"]);
  });
});
