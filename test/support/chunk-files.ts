/** The HDF5 files of test/storage/hdf5-bytes/chunks/fixtures, made by h5py, and what each of them holds. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { scanFolders } from "../../src/storage/catalog/scan-folders.js";
import type { Dataset } from "../../src/storage/dataset/dataset.js";
import { descriptor, writeDescriptor } from "./cubes.js";

const FIXTURES = fileURLToPath(new URL("../storage/hdf5-bytes/chunks/fixtures", import.meta.url));

export type Four = readonly [number, number, number, number];

/** One file: the dataset /p in the order t, z, y, x. */
export interface ChunkFile {
  readonly name: string;
  readonly shape: Four;
  readonly chunks: Four;
  /** Runs of chunks that exist: the first, counted in stored order, and how many. */
  readonly written: readonly (readonly [number, number])[];
}

export const CHUNK_FILES: readonly ChunkFile[] = JSON.parse(readFileSync(join(FIXTURES, "chunks.json"), "utf8"));

export function chunkFile(name: string): ChunkFile {
  return CHUNK_FILES.find((file) => file.name === name) as ChunkFile;
}

export function contentOf({ name }: ChunkFile): Buffer {
  return gunzipSync(readFileSync(join(FIXTURES, `${name}.h5.gz`)));
}

const PLACE = { file: "p.h5", path: "/p" };
const DIMENSIONS = ["t", "z", "y", "x"];

/** Puts a file into a folder of its own with a descriptor, in which it is pressure or each component of velocity. */
export function unpack(file: ChunkFile, folder: string, as: "pressure" | "velocity" = "pressure"): string {
  mkdirSync(folder);
  const path = join(folder, "p.h5");
  writeFileSync(path, contentOf(file));
  const [t, z, y, x] = file.shape;
  const axis = (nodes: number) => ({ nodes, origin: 0, spacing: 1, periodic: true });
  const axes = { x: axis(x), y: axis(y), z: axis(z) };
  const field = as === "pressure" ? PLACE : { components: [PLACE, PLACE, PLACE] };
  const fields = { [as]: { ...field, dimensions: DIMENSIONS } };
  writeDescriptor(folder, descriptor(file.name, { axes, fields, time: { step: 1, count: t } }));
  return path;
}

/** The dataset of a folder; null where the catalogue refuses it. */
export function scanned(folder: string): Dataset | null {
  return scanFolders([folder], { chunkBytes: 2 ** 26 }).datasets[0] ?? null;
}

/** Whether each chunk exists, in stored order. */
export function writtenChunks({ shape, chunks, written }: ChunkFile): boolean[] {
  const all = new Array<boolean>(counts(shape, chunks).reduce((product, n) => product * n, 1)).fill(false);
  for (const [first, length] of written) all.fill(true, first, first + length);
  return all;
}

export function chunkStart({ shape, chunks }: ChunkFile, number: number): Four {
  const start = [0, 0, 0, 0];
  let rest = number;
  for (const d of [3, 2, 1, 0]) {
    const n = counts(shape, chunks)[d] as number;
    start[d] = (rest % n) * (chunks[d] as number);
    rest = Math.floor(rest / n);
  }
  return start as unknown as Four;
}

export function storedValue({ shape }: ChunkFile, [t, z, y, x]: Four): number {
  return 1 + x + shape[3] * (y + shape[2] * (z + shape[1] * t));
}

function counts(shape: Four, chunks: Four): number[] {
  return shape.map((length, d) => Math.ceil(length / (chunks[d] as number)));
}
