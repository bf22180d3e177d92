/** The SIMD module with the interfaces of the plain kernels; everything that it touches is in one shared memory. */
import type { Accelerator } from "../index.js";
import { createSimdScheme } from "./schemes.js";
import { createScratch, SCHEME_BYTES } from "./scratch.js";
import { instantiate, type WasmBytes, type WasmMemory } from "./webassembly.js";

export { compileModule, createSharedMemory, type WasmBytes, type WasmMemory } from "./webassembly.js";

/** Scratch that each thread brings along. */
export const SCRATCH_BYTES = SCHEME_BYTES;

/**
 * Instantiates the module for one thread; threads may share the memory, each with its own scratch. Its schemes are null
 * when an axis is not periodic, and for Laplacians of gradients; all that `evaluate` is given must be views of the
 * memory.
 */
export function instantiateSimd(
  wasm: WasmBytes | object,
  memory: WasmMemory,
  scratch: { readonly offset: number; readonly bytes: number },
): Accelerator {
  if (scratch.bytes < SCRATCH_BYTES || scratch.offset % 16 !== 0)
    throw new RangeError(`scratch: ${SCRATCH_BYTES} bytes at a multiple of 16 are needed`);
  const module = instantiate(wasm, memory);
  const records = createScratch(memory, scratch.offset);
  return {
    scheme(request, plain) {
      if (!request.axes.every(({ periodic }) => periodic)) return null;
      const scheme = createSimdScheme(module, records, request);
      return scheme === null ? null : { ...scheme, listBricks: plain.listBricks };
    },
  };
}
