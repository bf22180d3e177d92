/** A thread that reads bricks of a dataset into shared memory, as worker threads do before they compute. */
import { parentPort, workerData } from "node:worker_threads";
import { openDataset } from "../dist/storage/bricks/brick-reader.js";
import { scanFolders } from "../dist/storage/catalog/scan-folders.js";
import { loadHdf5 } from "../dist/storage/hdf5/library.js";

const CHUNK_BYTES = 64 * 2 ** 20;

/** The data to read: velocities of frame 0. */
export interface BrickReaders {
  readonly folder: string;
  readonly dataset: string;
}

/** Bricks first, first + step, ..., counted around the dataset as often as it takes, below `end`. */
export interface BricksToRead {
  readonly first: number;
  readonly step: number;
  readonly end: number;
}

await loadHdf5();
const { folder, dataset: name } = workerData as BrickReaders;
const dataset = scanFolders([folder], { chunkBytes: CHUNK_BYTES }).datasets.find((one) => one.name === name);
const velocity = dataset?.fields.velocity;
if (!dataset || !velocity) throw new Error(`${folder} has no velocity of ${name}`);
const { edge, count } = velocity.bricking;
const bricks = count[0] * count[1] * count[2];
const brick = new Float32Array(new SharedArrayBuffer(12 * edge[0] * edge[1] * edge[2]));
const open = openDataset(dataset);

parentPort?.on("message", ({ first, step, end }: BricksToRead) => {
  for (let at = first; at < end; at += step) open.readBrick("velocity", 0, at % bricks, brick);
  parentPort?.postMessage(null);
});
parentPort?.postMessage({ bricks, brickBytes: brick.byteLength });
