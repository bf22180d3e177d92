/** No damage to an HDF5 file brings a wrong value, an end of the library, or anything but one line of error. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { File, Dataset as Hdf5Dataset } from "h5wasm/node";
import { beforeAll, describe, expect, it } from "vitest";
import { DataError } from "../../../src/shared/errors.js";
import { openDataset } from "../../../src/storage/bricks/brick-reader.js";
import { scanFolders } from "../../../src/storage/catalog/scan-folders.js";
import type { Dataset } from "../../../src/storage/dataset/dataset.js";
import type { FolderScan } from "../../../src/storage/dataset/scan.js";
import { openHdf5 } from "../../../src/storage/hdf5/file.js";
import { Contents } from "../../../src/storage/recognise/layout.js";
import { unusedIn } from "../../../src/storage/recognise/seen.js";
import { chunkFile, contentOf, unpack } from "../../support/chunk-files.js";
import { fill, NODES, nodeValue, stateGrid, writeField, writeHdf5 } from "../../support/cubes.js";
import { DAMAGE_NAMES, damaged, lookup3, type Victim, victimOf, withSums } from "../../support/hostile-files.js";
import { firstDifference, readNodes } from "../../support/read-nodes.js";
import { generator } from "../../support/run-query.js";
import { folderIn, scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();
const CHUNKS = [4, 5, 6];
const VALUES = Float32Array.from(fill(["z", "y", "x"], [NODES.z, NODES.y, NODES.x], nodeValue));
const GZIP = { compression: 1, compression_opts: [1] };
let made = 0;

function writePressure(earliest: boolean, write: (file: File) => void = () => undefined): Promise<string> {
  return writeHdf5(
    join(SCRATCH, `${made++}.h5`),
    (file) => {
      stateGrid(file);
      writeField(file, "/pressure", { dimensions: ["z", "y", "x"], chunks: CHUNKS, filter: "fletcher32" });
      write(file);
    },
    earliest,
  );
}

function scanned(content: Buffer): { path: string; scan: FolderScan } {
  const folder = folderIn(SCRATCH, `folder${made++}`);
  const path = join(folder, "p.h5");
  writeFileSync(path, content);
  return { path, scan: scanFolders([folder], { chunkBytes: 2 ** 26 }) };
}

function expectOneLine(message: string): void {
  expect(message).toMatch(/^[^\n]{1,600}$/);
  expect(message).not.toMatch(/examination failed|RangeError|TypeError|DataView|typed array/);
}

/** Runs something that may fail with a DataError of one line only; null where it does. */
function orRefused<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof DataError)) throw error;
    expectOneLine(error.message);
    return null;
  }
}

/** The pressure of a file as it is served; null where it is refused. */
function servedPressure(content: Buffer): Float32Array | null {
  const { path, scan } = scanned(content);
  for (const { message } of scan.problems) expectOneLine(message);
  orRefused(() => {
    const file = openHdf5(path);
    try {
      unusedIn(new Contents(file, "hostile.h5", {}), null, null);
    } finally {
      file.close();
    }
  });
  const [dataset] = scan.datasets;
  if (dataset?.fields.pressure === undefined) return null;
  const open = openDataset(dataset);
  const values = orRefused(() => readNodes(dataset, open, "pressure", 0));
  open.close();
  return values;
}

describe.each([
  ["the latest format, where all bytes have checksums", false],
  ["the earliest format", true],
])("files of %s", (_, earliest) => {
  let victim: Victim;
  let neighbour: Buffer;
  beforeAll(async () => {
    neighbour = readFileSync(await writePressure(true));
    victim = victimOf(readFileSync(await writePressure(earliest)));
  });

  it.each(DAMAGE_NAMES)("%s: refused, or read as before", (name) => {
    const random = generator(20_261_123 + DAMAGE_NAMES.indexOf(name));
    for (let round = 0; round < 24; round++) {
      const changed = damaged(victim, name, random);
      const isMended = round % 3 === 2;
      const values = servedPressure(isMended ? withSums(victim, changed) : changed);
      // Without checksums that a structure has, a change of it may give other values: those the library gives as well.
      if (!earliest && !isMended && values !== null)
        expect(firstDifference(values, VALUES), `${name}, round ${round}`).toBeNull();
    }
    expect(firstDifference(servedPressure(neighbour) as Float32Array, VALUES)).toBeNull();
  });
});

it("two entries of a chunk index exchanged are refused, not read as each other's values", () => {
  const file = chunkFile("fixed-filtered");
  const folder = join(SCRATCH, "exchanged");
  const path = unpack(file, folder);
  const content = contentOf(file);
  // Both chunks of frame 1, the third and fourth of all.
  const entryBytes = content.readUInt8(content.indexOf("FAHD") + 6);
  const third = content.indexOf("FADB") + 14 + 2 * entryBytes;
  const kept = Buffer.from(content.subarray(third, third + entryBytes));
  content.copy(content, third, third + entryBytes, third + 2 * entryBytes);
  kept.copy(content, third + entryBytes);
  writeFileSync(path, content);
  const dataset = scanFolders([folder], { chunkBytes: 2 ** 26 }).datasets[0] as Dataset;
  const open = openDataset(dataset);
  expect(() => readNodes(dataset, open, "pressure", 1)).toThrow(DataError);
  open.close();
});

describe("attributes", () => {
  let content: Buffer;
  beforeAll(async () => {
    const path = await writePressure(true, (file) => {
      const pressure = file.get("pressure") as Hdf5Dataset;
      pressure.create_attribute("scale_factor", 2, [], "<d");
      pressure.create_attribute("units", "bar");
      file.create_attribute("note", ["some", "text"], [2], "S");
    });
    content = readFileSync(path);
  });

  it("that are damaged do not make the others of their object vanish, such as a scale", () => {
    const changed = Buffer.from(content);
    // The version and class of its type.
    changed[changed.lastIndexOf("units\0") + 8] = 0xff;
    expect(
      firstDifference(
        servedPressure(content) as Float32Array,
        VALUES.map((value) => 2 * value),
      ),
    ).toBeNull();
    expect(servedPressure(changed)).toBeNull();
  });

  it("in text are refused where the heap of the file has no end", () => {
    const changed = Buffer.from(content);
    // The first object becomes free space without a size, behind which the library looks for the next one for ever.
    changed.fill(0, changed.indexOf("GCOL") + 16, changed.indexOf("GCOL") + 32);
    const { path } = scanned(changed);
    const file = openHdf5(path);
    expect(() => file.attributes("/")).toThrow(DataError);
    file.close();
  });
});

describe("the library of a thread", () => {
  it.each([
    ["blosc", 32001, [0, 0, 0, 0, 5, 1, 1]],
    ["blosc2", 32026, []],
    ["bitshuffle", 32008, [0, 2]],
    ["szip", 4, [32, 8]],
    ["lz4", 32004, [0]],
    ["zstd", 32015, [3]],
  ] as const)("outlives damaged chunks behind %s, and reads others on", async (name, compression, options) => {
    const [shape, chunks] = [
      [16, 16, 16],
      [8, 16, 16],
    ];
    const data = Float32Array.from({ length: 4096 }, (_, i) => Math.floor(i / 7));
    const path = await writeHdf5(join(SCRATCH, `${name}.h5`), (file) => {
      const filter = { compression, compression_opts: [...options] };
      file.create_dataset({ name: "u", data, shape, chunks, dtype: "<f", ...filter });
    });
    const content = readFileSync(path);
    const valuesOf = (bytes: Buffer): Float64Array | null => {
      writeFileSync(path, bytes);
      const file = openHdf5(path);
      try {
        return orRefused(() => file.numbers("/u"));
      } finally {
        file.close();
      }
    };
    const file = openHdf5(path);
    const chunk = file.chunkIndex("/u")?.chunk([0, 0, 0]);
    file.close();
    const { address, bytes } = chunk as { address: number; bytes: number };
    const values = valuesOf(content);
    const random = generator(3);
    let refused = 0;
    for (let round = 0; round < 60; round++) {
      const changed = Buffer.from(content);
      for (let i = 0; i <= round % 4; i++) changed[address + Math.floor(random() * bytes)] = Math.floor(random() * 256);
      if (valuesOf(changed) === null) refused++;
    }
    expect(refused).toBeGreaterThan(0);
    expect(valuesOf(content)).toEqual(values);
  });
});

it("a file is refused where its end as it states it lies before its values", async () => {
  const content = readFileSync(await writePressure(true));
  const END_OF_FILE = 40;
  content.writeBigUInt64LE(BigInt(content.length - 3000), END_OF_FILE);
  expect(servedPressure(content)).toBeNull();
});

it("a file whose only field has no known order is refused in words", async () => {
  const path = await writeHdf5(join(SCRATCH, "only.h5"), (file) => {
    for (const name of ["x", "y", "z"]) file.create_dataset({ name, data: Float64Array.of(0, 1, 2, 3) });
    file.create_dataset({ name: "pressure", data: new Float32Array(5 * 6 * 7), shape: [5, 6, 7], dtype: "<f" });
  });
  expect(servedPressure(readFileSync(path))).toBeNull();
});

it("the checksums that the damage sets right are those of the HDF5 library", async () => {
  const { bytes, sums } = victimOf(readFileSync(await writePressure(false)));
  expect(sums.length).toBeGreaterThan(3);
  for (const [start, end] of sums) expect(lookup3(bytes, start, end)).toBe(bytes.readUInt32LE(end));
});

it("a table of more numbers than bytes are allowed is refused, however few bytes it takes", async () => {
  const path = await writeHdf5(join(SCRATCH, "wide.h5"), (file) => {
    const shape = [20_000_000];
    file.create_dataset({
      name: "x",
      data: new Int8Array(shape[0] as number),
      shape,
      dtype: "<b",
      chunks: shape,
      ...GZIP,
    });
  });
  const file = openHdf5(path);
  expect(() => file.numbers("/x")).toThrow(/too large for a table/);
  file.close();
});
