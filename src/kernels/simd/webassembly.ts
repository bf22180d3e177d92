/** The few WebAssembly declarations used here; the libraries of this project have neither DOM nor Node types. */

/** A memory that several threads share. */
export interface WasmMemory {
  readonly buffer: ArrayBufferLike;
}

/** Bytes of a module. */
export type WasmBytes = Uint8Array | ArrayBufferLike;

interface Instance {
  readonly exports: Readonly<Record<string, unknown>>;
}

interface Global {
  readonly WebAssembly: {
    readonly Memory: new (limits: { initial: number; maximum: number; shared: true }) => WasmMemory;
    readonly Module: new (bytes: WasmBytes) => object;
    readonly Instance: new (module: object, imports: { env: { memory: WasmMemory } }) => Instance;
  };
}

const { WebAssembly } = globalThis as unknown as Global;

/** Bytes of a page, and pages of the largest memory that the module can be given (4 GiB). */
const PAGE_BYTES = 65_536;
const MAXIMUM_PAGES = 65_536;

/** A memory of at least `bytes` bytes, all zero, fit for the module; pages that nobody touches cost nothing. */
export function createSharedMemory(bytes: number): WasmMemory {
  const initial = Math.ceil(bytes / PAGE_BYTES);
  return new WebAssembly.Memory({ initial, maximum: MAXIMUM_PAGES, shared: true });
}

/** Instantiates a module, given as its bytes or already compiled, over a memory. */
export function instantiate(wasm: WasmBytes | object, memory: WasmMemory): Instance["exports"] {
  const module = wasm instanceof WebAssembly.Module ? wasm : new WebAssembly.Module(wasm as WasmBytes);
  return new WebAssembly.Instance(module, { env: { memory } }).exports;
}
