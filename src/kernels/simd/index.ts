/** The SIMD module behind the same interfaces as the plain kernels; everything it touches lies in one shared memory. */

import { orderByBrick as orderPlainly } from "../brick-order.js";
import { DERIVATIVE_METHODS } from "../derivative.js";
import type { BoxAverage } from "../filter/box-average.js";
import { type Accelerator, createScheme } from "../index.js";
import { VALUE_ORDERS } from "../interpolate.js";
import { POINT_KERNELS } from "../table.js";
import { AVERAGE_BYTES, createSimdAverage } from "./average.js";
import type { Module } from "./module.js";
import { createRecords, imageOfGrid, RECORDS_BYTES } from "./records.js";
import { nodalScheme, tensorScheme } from "./schemes.js";
import { instantiate, type WasmBytes, type WasmMemory } from "./webassembly.js";

export { createSharedMemory, type WasmBytes, type WasmMemory } from "./webassembly.js";

/** Scratch that each thread brings along. */
export const SCRATCH_BYTES = RECORDS_BYTES + AVERAGE_BYTES;

/** The kernels of the module, for one thread. */
export interface SimdAccelerator extends Accelerator {
  /**
   * As `createScheme`; null when an axis is not periodic. All that `evaluate` is given must be views of the memory, and
   * `cover` is fast when `marks` and `list` are.
   */
  readonly scheme: Accelerator["scheme"];
  /** As the plain one; every array must be a view of the memory. Tabulated axes are sorted by the plain one. */
  readonly orderByBrick: typeof orderPlainly;
  /** As the plain one, fast for data in the memory. */
  readonly boxAverage: BoxAverage;
}

/** Instantiates the module for one thread; threads may share the memory, each with scratch of its own. */
export function instantiateSimd(
  wasm: WasmBytes | object,
  memory: WasmMemory,
  scratch: { readonly offset: number; readonly bytes: number },
): SimdAccelerator {
  if (scratch.bytes < SCRATCH_BYTES || scratch.offset % 16 !== 0)
    throw new RangeError(`scratch: ${SCRATCH_BYTES} bytes at a multiple of 16 are needed`);
  const module = instantiate(wasm, memory) as unknown as Module;
  const records = createRecords(memory, scratch.offset);
  return {
    scheme(kernel, method, axes, options) {
      const target = POINT_KERNELS.get(kernel);
      const difference = DERIVATIVE_METHODS.get(method);
      const nodes = target?.quantity === "value" ? VALUE_ORDERS.get(method) : difference?.base;
      if (target === undefined || nodes === undefined || !axes.every(({ periodic }) => periodic)) return null;
      const scheme =
        nodes === 1
          ? nodalScheme(module, records, axes, target, difference?.order ?? 4, options.fd8Legacy)
          : tensorScheme(module, records, axes, target, nodes);
      const plain = createScheme(kernel, method, axes, options);
      return {
        ...scheme,
        cover(bricking, positions, first, count, marks, list, length) {
          const chosen = marks.buffer === memory.buffer && list.buffer === memory.buffer ? scheme : plain;
          return chosen.cover(bricking, positions, first, count, marks, list, length);
        },
      };
    },
    boxAverage: createSimdAverage(module, memory, scratch.offset + RECORDS_BYTES),
    orderByBrick(axes, tables, positions, count, keys, order, sorted) {
      if (axes.some(({ coordinates }) => coordinates !== null)) {
        orderPlainly(axes, tables, positions, count, keys, order, sorted);
        return;
      }
      records.writeScheme(imageOfGrid(axes));
      module.orderByBrick(
        records.axes,
        tables.x.byteOffset,
        tables.y.byteOffset,
        tables.z.byteOffset,
        positions.byteOffset,
        count,
        keys.byteOffset,
        order.byteOffset,
        sorted?.byteOffset ?? 0,
        records.work,
      );
    },
  };
}
