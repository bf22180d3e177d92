/** Prepares the HDF5 library of this thread, turns its failures into DataErrors, and lends memory inside it to reads. */
import { fileURLToPath } from "node:url";
import { h5wasm, Module } from "h5wasm/node";
import { base_url } from "h5wasm-plugins";
import { DataError } from "../../errors.js";
import type { RawValues, Stored } from "./stored.js";

const STDERR = 2;
/** Views of elements by their bytes. */
type View = new (memory: ArrayBufferLike, start: number, count: number) => RawValues;
const FLOATS = new Map<number, View>([
  [4, Float32Array],
  [8, Float64Array],
]);
const INTEGERS = new Map<number, View>([
  [1, Int8Array],
  [2, Int16Array],
  [4, Int32Array],
]);
const COUNTS = new Map<number, View>([
  [1, Uint8Array],
  [2, Uint16Array],
  [4, Uint32Array],
]);
const CHARACTER_DEVICE = 0o020666;

/** Filters that HDF5 itself does not have; the library loads the one that a chunk asks for. */
const PLUGINS = fileURLToPath(`${base_url}/plugins`);

/** A stream of the library's own file system, as far as it is touched here. */
interface WritableStream {
  node: { mode: number };
  stream_ops: { write(stream: unknown, buffer: Int8Array, offset: number, length: number): number };
}

/** The HDF5 library of this thread: loaded once, with what it printed about the latest failure. */
class Library {
  static #ofThread: Library | null = null;
  #loading: Promise<void> | null = null;
  #diagnostics = "";

  static get ofThread(): Library {
    Library.#ofThread ??= new Library();
    return Library.#ofThread;
  }

  load(): Promise<void> {
    this.#loading ??= h5wasm.ready.then(() => {
      Module.activate_throwing_error_handler();
      Module.insert_plugin_search_path(PLUGINS, 0);
      this.#collectDiagnostics();
    });
    return this.#loading;
  }

  /** HDF5 prints what went wrong to its standard error: kept as the cause of the DataError instead. */
  #collectDiagnostics(): void {
    const stream = (Module.FS as unknown as { getStream(fd: number): WritableStream }).getStream(STDERR);
    stream.node = { mode: CHARACTER_DEVICE };
    stream.stream_ops = {
      write: (_stream, buffer, offset, length) => {
        if (this.#diagnostics.length < 4096)
          this.#diagnostics += Buffer.from(buffer.buffer, buffer.byteOffset + offset, length).toString("latin1");
        return length;
      },
    };
  }

  checked(what: () => string, call: () => number | bigint): number | bigint {
    Module.deactivate_throwing_error_handler();
    this.#diagnostics = "";
    try {
      const status = call();
      if (status < 0) throw new Error(this.#diagnostics);
      return status;
    } catch (cause) {
      if (isEnd(cause)) throw cause;
      throw new DataError(what(), cause);
    } finally {
      Module.activate_throwing_error_handler();
    }
  }
}

/**
 * Prepares the HDF5 library of this thread. Call it and wait before anything else of this folder; further calls are free.
 * The throwing error handler is on from then on: without it a missing file opens as empty.
 */
export function loadHdf5(): Promise<void> {
  return Library.ofThread.load();
}

/**
 * Runs a call that reports failure by a negative status, with the throwing handler off.
 * Throwing from inside HDF5 leaves its stack and its handles behind: about 1800 failed reads end the library of the
 * thread (decision record 0010). The two calls that a service repeats, open and read, therefore come through here.
 */
export function checked(what: () => string, call: () => number | bigint): number | bigint {
  return Library.ofThread.checked(what, call);
}

/** Whether an error is the end of the library in this thread, which has to be replaced then: no call works any more. */
function isEnd(error: unknown): boolean {
  return error instanceof Error && error.constructor.name === "RuntimeError";
}

/** Runs a call that throws on failure. */
export function attempt<T>(what: string, call: () => T): T {
  try {
    return call();
  } catch (cause) {
    if (cause instanceof DataError || isEnd(cause)) throw cause;
    throw new DataError(what, cause);
  }
}

/** Memory inside the HDF5 library that reads go to, and room for a stored chunk; each grows to the largest read and is kept. */
export class ReadBuffer {
  #room = Buffer.alloc(0);
  #pointer = 0;
  #capacity = 0;

  /** Address of at least `bytes` bytes. What was read before is lost when it has to grow. */
  reserve(bytes: number): number {
    if (bytes > this.#capacity) {
      this.free();
      this.#pointer = Module._malloc(bytes);
      if (this.#pointer === 0) throw new DataError(`Reading needs ${bytes} bytes that the HDF5 library cannot get.`);
      this.#capacity = bytes;
    }
    return this.#pointer;
  }

  /** The first `count` values as they were read; valid until the next read of this thread. */
  values({ element, size, signed }: Stored, count: number): RawValues {
    const kinds = element === "float" ? FLOATS : signed ? INTEGERS : COUNTS;
    const Kind = kinds.get(size);
    if (Kind === undefined) throw new DataError(`Elements of type ${element} and ${size} bytes cannot be read.`);
    return new Kind(Module.HEAPU8.buffer, this.#pointer, count);
  }

  /** The first `count` bytes; valid until the next call of the library, which may move its memory. */
  bytes(count: number): Uint8Array {
    return new Uint8Array(Module.HEAPU8.buffer, this.#pointer, count);
  }

  /** Room for a stored chunk, outside of the library; what was in it before is lost. */
  room(bytes: number): Buffer {
    if (this.#room.length < bytes) this.#room = Buffer.allocUnsafeSlow(bytes);
    return this.#room;
  }

  free(): void {
    this.#room = Buffer.alloc(0);
    if (this.#pointer !== 0) Module._free(this.#pointer);
    this.#pointer = 0;
    this.#capacity = 0;
  }
}
