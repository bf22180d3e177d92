/**
 * Every kind of chunk index, as h5py writes it: exactly the chunks that exist are seen, and a damaged index is an
 * error.
 */
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { DataError } from "../../../../src/shared/errors.js";
import { openDataset, type StoredBricks } from "../../../../src/storage/bricks/brick-reader.js";
import type { ChunkIndex } from "../../../../src/storage/dataset/stored.js";
import { openHdf5 } from "../../../../src/storage/hdf5/file.js";
import "../../../support/hdf5-library.js";
import {
  CHUNK_FILES,
  type ChunkFile,
  chunkFile,
  chunkStart,
  contentOf,
  type Four,
  scanned,
  storedValue,
  unpack,
  writtenChunks,
} from "../../../support/chunk-files.js";
import { lookup3 } from "../../../support/hostile-files.js";
import { generator } from "../../../support/run-query.js";
import { scratchFolder } from "../../../support/scratch.js";

const SCRATCH = scratchFolder();
const ONE = [1, 1, 1, 1];
const INDEXED = ["array", "array-filtered", "array-turned", "array-pages", "tree", "tree-filtered", "tree-deep"];

/** The chunks of which the index does not say what is expected. */
function mistaken(file: ChunkFile, index: ChunkIndex | null, expected: readonly boolean[]): number[] {
  return [...expected.keys()].filter((number) => {
    const gap = index?.unwritten({ offset: chunkStart(file, number), count: ONE }) ?? null;
    if (gap !== null && gap.join() !== chunkStart(file, number).join()) throw new Error(`${number} is named ${gap}`);
    return (gap === null) !== expected[number];
  });
}

function withIndex<T>(path: string, use: (index: ChunkIndex | null) => T): T {
  const file = openHdf5(path);
  try {
    return use(file.chunkIndex("/p"));
  } finally {
    file.close();
  }
}

/** Reads a chunk; values that are not those that were written are an error that no reader may throw. */
function readChunk(file: ChunkFile, open: StoredBricks, number: number): "read" | DataError {
  const start = chunkStart(file, number);
  const [nt, nz, ny, nx] = file.chunks.map((edge, d) =>
    Math.min(edge, (file.shape[d] as number) - (start[d] as number)),
  );
  const [t, z, y, x] = start;
  const count = [nx, ny, nz] as unknown as [number, number, number];
  const out = new Float32Array(count[0] * count[1] * count[2]);
  for (let frame = t; frame < t + (nt as number); frame++) {
    try {
      open.readNodes("pressure", frame, { first: [x, y, z], count }, out);
    } catch (error) {
      if (error instanceof DataError) return error;
      throw error;
    }
    for (let i = 0; i < out.length; i++) {
      const row = Math.floor(i / count[0]);
      const at: Four = [frame, z + Math.floor(row / count[1]), y + (row % count[1]), x + (i % count[0])];
      if (out[i] !== storedValue(file, at)) throw new Error(`${file.name}: ${at} is ${out[i]}`);
    }
  }
  return "read";
}

describe.each(CHUNK_FILES)("$name", (file) => {
  it("has exactly the chunks that HDF5 says it has", () => {
    const path = unpack(file, join(SCRATCH, file.name));
    expect(withIndex(path, (index) => mistaken(file, index, writtenChunks(file)))).toEqual([]);
  });

  it("answers what exists and refuses the rest", () => {
    const all = writtenChunks(file);
    const random = generator(5);
    const numbers = new Set(
      file.written.flatMap(([first, length]) => [first - 1, first, first + length - 1, first + length]),
    );
    for (let i = 0; i < 50; i++) numbers.add(Math.floor(random() * all.length));
    const folder = join(SCRATCH, file.name);
    if (file.name.endsWith("-empty")) {
      expect(scanned(folder)).toBeNull();
      return;
    }
    const open = openDataset(scanned(folder) as NonNullable<ReturnType<typeof scanned>>);
    for (const number of numbers) {
      if (all[number] === undefined) continue;
      // HDF5 cannot tell a chunk that has its place from the start from one that was written.
      if (file.name === "implicit" && !isWritten(file, open, number)) continue;
      const outcome = readChunk(file, open, number);
      if (all[number]) expect(outcome, `chunk ${number}`).toBe("read");
      else
        expect((outcome as DataError).cause).toMatchObject({
          message: `${join(folder, "p.h5")}: /p was never written at ${chunkStart(file, number).join(", ")}.`,
        });
    }
    open.close();
  });
});

function isWritten(file: ChunkFile, open: StoredBricks, number: number): boolean {
  const [t, z, y, x] = chunkStart(file, number);
  const out = new Float32Array(1);
  open.readNodes("pressure", t, { first: [x, y, z], count: [1, 1, 1] }, out);
  return out[0] !== 0;
}

it("looks no further into an extensible array than HDF5 does, up to the last chunk that its header has", () => {
  const file = chunkFile("array-whole");
  const path = unpack(file, join(SCRATCH, "used"));
  const content = contentOf(file);
  const USED = 44;
  const HEADER_BYTES = 68;
  const header = content.indexOf("EAHD");
  content.writeUInt32LE(150, header + USED);
  content.writeUInt32LE(lookup3(content, header, header + HEADER_BYTES), header + HEADER_BYTES);
  writeFileSync(path, content);
  const expected = writtenChunks(file).map((_, number) => number < 150);
  expect(withIndex(path, (index) => mistaken(file, index, expected))).toEqual([]);
});

describe.each(INDEXED.map(chunkFile))("damage to the index of $name", (file) => {
  const whole = contentOf(file);
  const all = writtenChunks(file);
  const random = generator(7);
  /** Some chunks from everywhere, written and not. */
  const sample = Array.from({ length: 12 }, () => Math.floor(random() * all.length)).concat(
    file.written.slice(0, 200).flatMap(([first], i) => (i % 20 === 0 ? [first] : [])),
  );
  /** Bytes of the first and of the last piece of each kind, by their places after its signature. */
  const places = ["EAHD", "EAIB", "EASB", "EADB", "BTHD", "BTIN", "BTLF"]
    .flatMap((signature) => [whole.indexOf(signature), whole.lastIndexOf(signature)])
    .filter((index, i, found) => index >= 0 && found.indexOf(index) === i)
    .flatMap((index) => [5, 6, 7, 9, 12, 17, 25, 44, 61, 90].map((at) => index + at));
  const damages: [string, Iterable<Buffer>][] = [
    ["changed bytes", changed(whole, places)],
    ["an early end", Array.from({ length: 30 }, (_, i) => whole.subarray(0, Math.ceil((whole.length * i) / 30)))],
  ];

  it.each(damages)("%s: no answer but the right one or an error that names file and dataset", (what, contents) => {
    const path = unpack(file, join(SCRATCH, `${file.name} ${what}`));
    for (const content of contents) {
      writeFileSync(path, content);
      try {
        withIndex(path, (index) => {
          for (const number of sample) index?.unwritten({ offset: chunkStart(file, number), count: ONE });
        });
      } catch (error) {
        expect(error).toBeInstanceOf(DataError);
        expect((error as DataError).message.startsWith(path)).toBe(true);
      }
      const dataset = scanned(dirname(path));
      if (dataset === null) continue;
      const open = openDataset(dataset);
      for (const number of sample)
        if (readChunk(file, open, number) === "read") expect(all[number], `chunk ${number}`).toBe(true);
      open.close();
    }
  });
});

function* changed(whole: Buffer, places: readonly number[]): Iterable<Buffer> {
  for (const [i, at] of places.entries()) {
    if (at >= whole.length) continue;
    const bytes = Buffer.from(whole);
    bytes[at] = (bytes[at] as number) ^ (i % 2 === 0 ? 0xff : 0x02);
    yield bytes;
  }
}
