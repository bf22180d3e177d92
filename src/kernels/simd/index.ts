/**
 * Offers the SIMD module through the interfaces of the plain kernels; everything it touches is in one shared memory.
 */
import { sortByBrick as sortPlainly } from "../brick-order.js";
import type { IntervalSums } from "../filter/interval-sums.js";
import type { Accelerator } from "../index.js";
import { createSimdIntervalSums, SUMS_BYTES } from "./interval-sums.js";
import { createSimdScheme } from "./schemes.js";
import { createScratch, imageOfGrid, SCHEME_BYTES } from "./scratch.js";
import { instantiate, type WasmBytes, type WasmMemory } from "./webassembly.js";

export { compileModule, createSharedMemory, type WasmBytes, type WasmMemory } from "./webassembly.js";

/** Scratch that each thread brings along. */
export const SCRATCH_BYTES = SCHEME_BYTES + SUMS_BYTES;

/** The kernels of the module, for one thread. */
export interface SimdAccelerator extends Accelerator {
  /**
   * Null when an axis is not periodic, and for Laplacians of gradients. All that `evaluate` is given must be views of
   * the memory, and `cover` is fast when `marks` and `list` are.
   */
  readonly scheme: Accelerator["scheme"];
  /** As the plain one; every array must be a view of the memory. Tabulated axes are sorted by the plain one. */
  readonly sortByBrick: typeof sortPlainly;
  /** As the plain ones, fast for data in the memory. */
  readonly intervalSums: IntervalSums;
}

/** Instantiates the module for one thread; threads may share the memory, each with its own scratch. */
export function instantiateSimd(
  wasm: WasmBytes | object,
  memory: WasmMemory,
  scratch: { readonly offset: number; readonly bytes: number },
): SimdAccelerator {
  if (scratch.bytes < SCRATCH_BYTES || scratch.offset % 16 !== 0)
    throw new RangeError(`scratch: ${SCRATCH_BYTES} bytes at a multiple of 16 are needed`);
  const module = instantiate(wasm, memory);
  const records = createScratch(memory, scratch.offset);
  return {
    scheme(request, plain) {
      if (!request.axes.every(({ periodic }) => periodic)) return null;
      const scheme = createSimdScheme(module, records, request);
      if (scheme === null) return null;
      return {
        ...scheme,
        cover(bricking, positions, first, count, marks, list, length) {
          const chosen = marks.buffer === memory.buffer && list.buffer === memory.buffer ? scheme : plain;
          return chosen.cover(bricking, positions, first, count, marks, list, length);
        },
      };
    },
    intervalSums: createSimdIntervalSums(module, memory, scratch.offset + SCHEME_BYTES),
    sortByBrick(axes, tables, positions, count, keys, indices, sorted) {
      if (axes.some(({ coordinates }) => coordinates !== null)) {
        sortPlainly(axes, tables, positions, count, keys, indices, sorted);
        return;
      }
      records.writeScheme(imageOfGrid(axes));
      module.sortByBrick(
        records.axes,
        tables.x.byteOffset,
        tables.y.byteOffset,
        tables.z.byteOffset,
        positions.byteOffset,
        count,
        keys.byteOffset,
        indices.byteOffset,
        sorted?.byteOffset ?? 0,
        records.work,
      );
    },
  };
}
