/** Evaluation of batches on the main thread by the code of the worker threads, on bricks that are in the cache. */
import { readFile } from "node:fs/promises";
import { compileModule, instantiateSimd, type WasmMemory } from "../../kernels/simd/index.js";
import { builtFile } from "../../shared/build.js";
import { NotCached } from "../../storage/bricks/cache.js";
import { CachedBricks } from "../../storage/bricks/cached-bricks.js";
import type { Dataset } from "../../storage/dataset/dataset.js";
import type { MemoryLayout } from "../contract/memory.js";
import type { BatchTask } from "../contract/task.js";
import { evaluateBatch } from "../worker/batch.js";
import { OpenDatasets } from "../worker/open-dataset.js";
import { Sampler } from "../worker/sampler.js";

const MODULE = builtFile(new URL("../../kernels/simd/kernels.wasm", import.meta.url));

/** The memory that the evaluator shares with the worker threads, and settings of schemes. */
export interface InlineSetup {
  readonly memory: WasmMemory;
  readonly layout: MemoryLayout;
  readonly fd8Legacy: boolean;
}

export interface InlineEvaluator {
  /** Evaluates a batch and fills its `out`. Returns false if bricks would have to be read or waited for. */
  evaluate(task: BatchTask): boolean;
}

/** Makes the evaluator; the module is compiled on other threads meanwhile. */
export async function openInlineEvaluator({ memory, layout, fd8Legacy }: InlineSetup): Promise<InlineEvaluator> {
  const module = await compileModule(await readFile(MODULE));
  const buffer = memory.buffer as SharedArrayBuffer;
  const bricks = new CachedBricks(buffer, layout.cache, layout.inlineIndex);
  const accelerate = (scratch: { offset: number; bytes: number }) => instantiateSimd(module, memory, scratch);
  const sampler = new Sampler(buffer, layout, layout.inlineIndex, accelerate, bricks);
  const datasets = new OpenDatasets<Dataset>({ fd8Legacy, accelerator: sampler.accelerator }, (one) => one, null);
  const never = (): boolean => false;
  return {
    evaluate(task) {
      try {
        evaluateBatch(task, datasets.of(task), sampler, never);
        return true;
      } catch (error) {
        if (error instanceof NotCached) return false;
        throw error;
      }
    },
  };
}
