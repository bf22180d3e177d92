/**
 * How much memory a step of tracking allocates: a batch as a worker runs it, in this thread, whose heap can be watched.
 */
import { readFileSync } from "node:fs";
import { type HeapProfiler, Session } from "node:inspector/promises";
import { fileURLToPath } from "node:url";
import { type BatchMessage, copyDataset, readDataset } from "../dist/engine/contract/dataset-copy.js";
import { memoryLayout } from "../dist/engine/contract/memory.js";
import type { Query } from "../dist/engine/contract/query.js";
import { evaluateBatch } from "../dist/engine/worker/batch.js";
import { OpenDatasets } from "../dist/engine/worker/open-dataset.js";
import { Sampler } from "../dist/engine/worker/sampler.js";
import { createSharedMemory, instantiateSimd } from "../dist/kernels/simd/index.js";
import { openDataset } from "../dist/storage/bricks/brick-reader.js";
import { BrickCache } from "../dist/storage/bricks/cache.js";
import { scanFolders } from "../dist/storage/catalog/scan-folders.js";
import { loadHdf5 } from "../dist/storage/hdf5/library.js";
import { inTurn } from "./alternate.js";

const DATA = fileURLToPath(new URL("../data/isotropic32", import.meta.url));
const MODULE = new URL("../dist/kernels/simd/kernels.wasm", import.meta.url);
const MIB = 2 ** 20;

/** Mean distance of two sampled allocations. */
const INTERVAL = 1024;
/** Batches before anything is counted: until code is optimised, every number that it computes is an object. */
const WARM_UP = 20;
/** Batches of a round. */
const BATCHES = 5;

/**
 * Bytes of objects, also short-lived ones, that a step allocates, one number a round, by the sampling of the heap
 * profiler: what batches of `nt` steps allocate more than batches of half as many, so that what a batch needs once does
 * not count.
 *
 * @param query     GetPosition with an even `nt`
 * @param positions sets of particles, which take turns; numbers for each of them
 */
export async function bytesPerStep(
  query: Query,
  positions: readonly Float32Array[],
  rounds: number,
): Promise<number[][]> {
  await loadHdf5();
  const [dataset] = scanFolders([DATA], { chunkBytes: 64 * MIB }).datasets;
  if (!dataset) throw new Error(`there is no dataset in ${DATA}`);
  const layout = memoryLayout(1, 64 * MIB);
  const memory = createSharedMemory(layout.bytes);
  const buffer = memory.buffer as ArrayBufferLike as SharedArrayBuffer;
  new BrickCache(buffer, layout.cache, -1).initialise();
  const sampler = new Sampler(buffer, layout, 0, (scratch) => instantiateSimd(readFileSync(MODULE), memory, scratch));
  const datasets = new OpenDatasets({ fd8Legacy: false, accelerator: sampler.accelerator }, readDataset, openDataset);
  const copy = copyDataset(dataset);
  const most = query.nt as number;
  const run = (triples: Float32Array, steps: number): void => {
    const count = triples.length / 3;
    const task: BatchMessage = {
      kind: "batch",
      query: { ...query, nt: steps },
      fields: ["velocity"],
      dataset: copy,
      source: 1,
      first: 0,
      points: [{ triples, count }],
      velocities: [],
      count,
      steps,
      step: query.dt as number,
      last: query.dt as number,
      itemsPerPoint: 1,
      out: new Float32Array(3 * count),
      places: null,
      cancel: new Int32Array(new SharedArrayBuffer(4)),
      work: count,
    };
    evaluateBatch(task, datasets.of(task), sampler, () => false);
  };
  const session = new Session();
  session.connect();
  const allocated = async (triples: Float32Array, steps: number): Promise<number> => {
    await session.post("HeapProfiler.startSampling", {
      samplingInterval: INTERVAL,
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true,
    });
    for (let batch = 0; batch < BATCHES; batch++) run(triples, steps);
    return bytesIn((await session.post("HeapProfiler.stopSampling")).profile.head);
  };
  for (let batch = 0; batch < WARM_UP; batch++) for (const triples of positions) run(triples, most);
  const half = most / 2;
  const runs = positions.map((triples) => async () => {
    const more = await allocated(triples, most);
    return (more - (await allocated(triples, half))) / (BATCHES * (most - half));
  });
  const figures = await inTurn<number>(runs, rounds);
  session.disconnect();
  return figures;
}

function bytesIn({ selfSize, children }: HeapProfiler.SamplingHeapProfileNode): number {
  return children.reduce((sum, child) => sum + bytesIn(child), selfSize);
}
