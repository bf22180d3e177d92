/**
 * Declares the part of WebAssembly that is used here and instantiates the module; no library of this project has DOM
 * types.
 */

/** A memory that several threads share. */
export interface WasmMemory {
  readonly buffer: ArrayBufferLike;
}

/** Bytes of a module. */
export type WasmBytes = Uint8Array | ArrayBufferLike;

/**
 * The exports of the module, with the parameters of the functions of these names in `assembly/`. Addresses are byte
 * offsets in the memory, truth values 1 and 0; `work` is the work area of the calling thread.
 */
export type Module = Readonly<
  Record<
    "combinePacket" | "gatherPacket" | "nextPacket" | "nodal" | "spline" | "tensor" | "values",
    (...parameters: number[]) => number
  >
>;

interface Instance {
  readonly exports: object;
}

interface Global {
  readonly WebAssembly: {
    readonly Memory: new (limits: { initial: number; maximum: number; shared: true }) => WasmMemory;
    readonly Module: new (bytes: WasmBytes) => object;
    readonly compile: (bytes: WasmBytes) => Promise<object>;
    readonly Instance: new (module: object, imports: { env: { memory: WasmMemory } }) => Instance;
  };
}

const { WebAssembly } = globalThis as unknown as Global;

const PAGE_BYTES = 65_536;

/**
 * A memory of at least `bytes` bytes (4 GiB at most), all zero, fit for the module; pages that are not touched cost
 * nothing.
 */
export function createSharedMemory(bytes: number): WasmMemory {
  const pages = Math.ceil(bytes / PAGE_BYTES);
  return new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
}

/** Compiles a module on other threads. */
export function compileModule(wasm: WasmBytes): Promise<object> {
  return WebAssembly.compile(wasm);
}

/** Instantiates a module, given as its bytes or already compiled, over a memory. */
export function instantiate<T extends object = Module>(wasm: WasmBytes | object, memory: WasmMemory): T {
  const module = wasm instanceof WebAssembly.Module ? wasm : new WebAssembly.Module(wasm as WasmBytes);
  return new WebAssembly.Instance(module, { env: { memory } }).exports as T;
}
