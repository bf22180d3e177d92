/** A thread of the kernel bench: evaluates Lag8 velocities of its share of the points, every time it is told to. */
import { readFileSync } from "node:fs";
import { parentPort } from "node:worker_threads";
import { createScheme } from "../dist/kernels/index.js";
import { instantiateSimd, SCRATCH_BYTES, type WasmMemory } from "../dist/kernels/simd/index.js";
import type { Axes, BrickField, Scheme } from "../dist/kernels/types.js";

/** The work of one thread. */
export interface Share {
  readonly memory: WasmMemory;
  readonly scratch: number;
  readonly axes: Axes;
  readonly fields: readonly BrickField[];
  readonly positions: Float64Array;
  readonly first: number;
  readonly count: number;
  readonly out: Float64Array;
}

const wasm = readFileSync(new URL("../dist/kernels/simd/kernels.wasm", import.meta.url));
let scheme: Scheme | undefined;

parentPort?.on("message", ({ memory, scratch, axes, fields, positions, first, count, out }: Share) => {
  const place = { offset: scratch, bytes: SCRATCH_BYTES };
  scheme ??= createScheme("velocity", "Lag8", axes, { fd8Legacy: false }, instantiateSimd(wasm, memory, place));
  scheme.evaluate(fields, positions, first, count, out);
  parentPort?.postMessage(count);
});
