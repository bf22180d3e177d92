/** Instantiates the FFT module, over a memory of one thread or one that several threads share. */
import { createSharedMemory, instantiate, type WasmBytes, type WasmMemory } from "../simd/webassembly.js";

/** The functions of `assembly/`. Addresses are byte offsets in the memory. */
export type FftFunctions = Readonly<
  Record<
    "transformRows" | "takeRows" | "unpackRows" | "packRows" | "placeRows" | "multiply" | "copy" | "clear",
    (...parameters: number[]) => void
  >
>;

/** A memory that threads share, for the module of `fft-shared.wasm`. */
export type SharedFftMemory = WasmMemory;

/** A shared memory of at least `bytes` bytes, all zero. Throws RangeError beyond 4 GiB. */
export function createSharedFftMemory(bytes: number): SharedFftMemory {
  return createSharedMemory(bytes);
}

/** @param wasm `fft-shared.wasm` if the memory is shared, else `fft.wasm` */
export function instantiateFft(wasm: WasmBytes, memory: WasmMemory): FftFunctions {
  return instantiate<FftFunctions>(wasm, memory);
}
