/**
 * What was never written is a DataError, not zeros, in every kind of chunk index that is read; and so is a damaged
 * index.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { File, type Dataset as H5Dataset } from "h5wasm/node";
import { describe, expect, it } from "vitest";
import { DataError } from "../../../src/shared/errors.js";
import { openDataset } from "../../../src/storage/bricks/brick-reader.js";
import { scanFolders } from "../../../src/storage/catalog/scan-folders.js";
import type { Dataset } from "../../../src/storage/dataset/dataset.js";
import { openHdf5 } from "../../../src/storage/hdf5/file.js";
import { readLayout } from "../../../src/storage/hdf5-bytes/chunk-index.js";
import { Structure } from "../../../src/storage/hdf5-bytes/structure.js";
import {
  type Dimension,
  descriptor,
  fill,
  NODES,
  nodeValue,
  writeDescriptor,
  writeField,
  writeHdf5,
} from "../../support/cubes.js";
import { onlyDataset } from "../../support/only-dataset.js";
import { takeValues } from "../../support/patched-files.js";
import { fc } from "../../support/property.js";
import { folderIn, scratchFolder } from "../../support/scratch.js";

const SCRATCH = scratchFolder();
const ORDER: Dimension[] = ["t", "z", "y", "x"];
const FRAME = [1, NODES.z, NODES.y, NODES.x];
const FRAMES = 2;
/** Layers of the second frame that are written; not on a border of the chunks. */
const WRITTEN = 5;
/** More chunks than a node of the tree holds, and in frames of single nodes more than a page of the array. */
const CHUNKS = { few: [1, NODES.z, NODES.y, NODES.x], many: [1, 2, 3, 4], most: [1, 1, 1, 1] };
const MEMBERS = { fields: { pressure: { file: "p.h5", path: "/p", dimensions: ORDER } } };

function scan(folder: string, frames = FRAMES): Dataset {
  writeDescriptor(folder, descriptor("gaps", { ...MEMBERS, time: { step: 1, count: frames } }));
  return onlyDataset(folder);
}

/** The first frame whole, of the second one the first layers; the leading dimensions have no bound. */
function writePart(file: File, chunks: number[], unbounded = 0): void {
  const values = (frame: number) => Float32Array.from(fill(ORDER, FRAME, (index) => nodeValue({ ...index, t: frame })));
  const shape = [FRAMES, ...FRAME.slice(1)];
  const maxshape = shape.map((length, d) => (d < unbounded ? null : length));
  file.create_dataset({ name: "p", data: values(0), shape: FRAME, maxshape, chunks, dtype: "<f" });
  const dataset = file.get("p") as H5Dataset;
  dataset.resize(shape);
  const layer = NODES.y * NODES.x;
  dataset.write_slice([[1, 2], [0, WRITTEN], [], []], values(1).subarray(0, WRITTEN * layer));
}

async function partlyWritten(
  format: "earliest" | "latest",
  chunks: number[],
  unbounded: number,
  name: string,
): Promise<Dataset> {
  const folder = folderIn(SCRATCH, name);
  const path = join(folder, "p.h5");
  const file = new File(path, "w", { libver: [format, "latest"] });
  writePart(file, chunks, unbounded);
  file.close();
  return scan(folder);
}

const FORMATS = [
  ["earliest", 0],
  ["latest", 0],
  ["latest", 1],
  ["latest", 2],
] as const;
const CASES = FORMATS.flatMap(([format, unbounded]) =>
  Object.entries(CHUNKS).map(([many, chunks]) => ({ format, unbounded, many, chunks })),
);
const TITLE =
  "answers what is written and nothing else, $format format, $unbounded dimensions without bounds, $many chunks";

describe("readNodes", () => {
  it.each(CASES)(TITLE, async ({ format, unbounded, many, chunks }) => {
    const dataset = await partlyWritten(format, chunks, unbounded, `${format}-${unbounded}-${many}`);
    const open = openDataset(dataset);
    const depth = chunks[1] as number;
    /**
     * Layers that stand in chunks of which at least one layer is written: the rest of such a chunk is zeros by its
     * writer.
     */
    const known = Math.min(NODES.z, Math.ceil(WRITTEN / depth) * depth);
    const run = (nodes: number) =>
      fc
        .integer({ min: 0, max: nodes - 1 })
        .chain((first) => fc.tuple(fc.constant(first), fc.integer({ min: 1, max: nodes - first })));
    fc.assert(
      fc.property(run(NODES.x), run(NODES.y), run(NODES.z), fc.constantFrom(0, 1), (x, y, z, frame) => {
        const box = { first: [x[0], y[0], z[0]], count: [x[1], y[1], z[1]] } as const;
        const out = new Float32Array(x[1] * y[1] * z[1]);
        const read = () => open.readNodes("pressure", frame, box, out);
        if (frame === 1 && z[0] + z[1] > known) {
          expect(read).toThrow(DataError);
          return;
        }
        read();
        for (let i = 0; i < out.length; i++) {
          const at = {
            x: x[0] + (i % x[1]),
            y: y[0] + (Math.floor(i / x[1]) % y[1]),
            z: z[0] + Math.floor(i / x[1] / y[1]),
          };
          const value = frame === 1 && at.z >= WRITTEN ? 0 : nodeValue({ ...at, t: frame, c: 0 });
          if (out[i] !== value) throw new Error(`${JSON.stringify(at)} is ${out[i]}, not ${value}`);
        }
      }),
      { numRuns: 200 },
    );
    open.close();
  });

  it("refuses contiguous values that were never written, of a frame beside others", async () => {
    const folder = folderIn(SCRATCH, "contiguous");
    const dimensions: Dimension[] = ["z", "y", "x"];
    const bytes = 4 * NODES.z * NODES.y * NODES.x;
    for (const frame of [0, 1]) {
      const path = join(folder, `p_${frame}.h5`);
      await writeHdf5(path, (file) => writeField(file, "/p", { dimensions }), true);
      const file = openHdf5(path);
      const { contiguous } = file.placement("/p");
      file.close();
      if (frame === 1) takeValues(path, contiguous as number, bytes);
    }
    const fields = { pressure: { file: "p_{step:01d}.h5", path: "/p", dimensions } };
    writeDescriptor(folder, descriptor("gaps", { fields, time: { step: 1, count: 2 } }));
    const open = openDataset(onlyDataset(folder));
    const read = (frame: number) =>
      open.readNodes("pressure", frame, { first: [0, 0, 0], count: [1, 1, 1] }, new Float32Array(1));
    read(0);
    expect(() => read(1)).toThrow(DataError);
    open.close();
  });

  it("takes what was never written for nothing where _FillValue says so", async () => {
    const folder = folderIn(SCRATCH, "nothing");
    await writeHdf5(join(folder, "p.h5"), (file) => {
      writePart(file, CHUNKS.many);
      (file.get("p") as H5Dataset).create_attribute("_FillValue", 0, [], "<f");
    });
    const open = openDataset(scan(folder));
    const out = new Float32Array(NODES.z);
    open.readNodes("pressure", 1, { first: [1, 2, 0], count: [1, 1, NODES.z] }, out);
    const column = Array.from(out, (_, z) => (z < WRITTEN ? nodeValue({ x: 1, y: 2, z, t: 1, c: 0 }) : Number.NaN));
    expect([...out]).toEqual(column);
    open.close();
  });
});

describe("a damaged description", () => {
  /** A checked cube in the earliest format, where only the chunks have checksums. */
  async function write(name: string): Promise<string> {
    const folder = folderIn(SCRATCH, name);
    const chunks = [1, 6, 5, 12];
    const checked = { dimensions: ORDER, lengths: { t: FRAMES }, chunks, filter: "fletcher32" } as const;
    return writeHdf5(join(folder, "p.h5"), (file) => writeField(file, "/p", checked), true);
  }

  it("never gives another number, whichever byte of the chunk index it is in", async () => {
    const path = await write("index");
    const whole = readFileSync(path);
    // The tree of the root group has type 0, that of the chunks type 1.
    const start = whole.indexOf(Buffer.from("TREE\x01", "latin1"));
    const used = 24 + whole.readUInt16LE(start + 6) * 56 + 48;
    const values = new Float32Array(NODES.z * NODES.y * NODES.x);
    const outcomes = new Set<string>();
    for (let at = start; at < start + used; at += 3) {
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] as number) ^ 0x55;
      writeFileSync(path, bytes);
      const open = openDataset(scan(join(path, "..")));
      for (let frame = 0; frame < FRAMES; frame++) {
        const outcome = attempt(() =>
          open.readNodes("pressure", frame, { first: [0, 0, 0], count: [NODES.x, NODES.y, NODES.z] }, values),
        );
        outcomes.add(outcome);
        if (outcome === "read")
          expect(fill(ORDER, FRAME, (index) => nodeValue({ ...index, t: frame }))).toEqual(Float64Array.from(values));
      }
      open.close();
    }
    expect([...outcomes].sort()).toEqual(["DataError", "read"]);
  });

  it("is a problem of its file alone when a length in it is beyond all bounds", async () => {
    const path = await write("header");
    const h5 = new File(path, "a");
    for (const name of ["a", "b", "c"]) (h5.get("p") as H5Dataset).create_attribute(name, "-".repeat(200));
    h5.close();
    const opened = new Structure(path);
    const CONTINUATION = 0x10;
    const { messages } = opened.object("/p").header;
    const { start } = messages.find(({ type }) => type === CONTINUATION) as { start: number };
    opened.close();
    const bytes = readFileSync(path);
    // The body is an address and a length; the library here takes the lower half of either.
    bytes.writeUInt32LE(7, start + 12);
    writeFileSync(path, bytes);
    await write("whole");
    for (const name of ["header", "whole"])
      writeDescriptor(join(SCRATCH, name), descriptor(name, { ...MEMBERS, time: { step: 1, count: FRAMES } }));
    const folders = [join(SCRATCH, "header"), join(SCRATCH, "whole")];
    const { datasets, problems } = scanFolders(folders, { chunkBytes: 2 ** 26 });
    expect(datasets.map(({ name }) => name)).toEqual(["whole"]);
    expect(problems.map(({ message }) => message)).toEqual([expect.stringMatching(/header at \d+ is too long/)]);
  });
});

function attempt(read: () => void): string {
  try {
    read();
    return "read";
  } catch (error) {
    return (error as Error).constructor.name;
  }
}

describe("the layout message", () => {
  /** Version, dimensions, class, then from 8 on lengths of 4 bytes, and of compact values their number. */
  const early = (rank: number, kind: number, ...words: number[]) => {
    const message = new DataView(new ArrayBuffer(8 + 4 * words.length));
    for (const [at, byte] of [1, rank, kind].entries()) message.setUint8(at, byte);
    for (const [at, word] of words.entries()) message.setUint32(8 + 4 * at, word, true);
    return message;
  };

  it("has its compact values inside of it", () => {
    // Version 3, compact, 4 of 4 bytes, and 5 of 4.
    const message = (bytes: number) => new DataView(Uint8Array.of(3, 0, bytes, 0, 1, 2, 3, 4).buffer);
    expect(readLayout(message(4), 100, 1)).toMatchObject({ address: 104, bytes: 4 });
    expect(() => readLayout(message(5), 100, 1)).toThrow("its values reach beyond their message");
    expect(readLayout(early(1, 0, 1, 4, 7), 100, 1)).toMatchObject({ address: 116, bytes: 4 });
    expect(() => readLayout(early(1, 0, 1, 5, 7), 100, 1)).toThrow("its values reach beyond their message");
  });

  it.each([1, 2])(
    "of version %i has the dimensions of its dataset, or one more for the bytes of an element",
    (version) => {
      const contiguous = (rank: number) => {
        const message = early(rank, 1, 2048, 0, 4, 4, 4, 4);
        message.setUint8(0, version);
        return message;
      };
      for (const rank of [3, 4]) expect(readLayout(contiguous(rank), 0, 3)).toMatchObject({ address: 2048 });
      for (const rank of [2, 5])
        expect(() => readLayout(contiguous(rank), 0, 3)).toThrow(`its layout has ${rank - 1} dimensions, not 3`);
      const chunked = (rank: number) => early(rank, 2, 2048, 0, 4, 4, 4, 4);
      expect(readLayout(chunked(4), 0, 3)).toMatchObject({ chunks: [4, 4, 4] });
      expect(() => readLayout(chunked(3), 0, 3)).toThrow("its layout has 2 dimensions, not 3");
    },
  );
});
