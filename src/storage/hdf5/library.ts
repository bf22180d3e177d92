/**
 * Prepares the HDF5 library of this thread, turns its failures into DataErrors, and lends memory inside it to reads.
 */
import { fileURLToPath } from "node:url";
import { h5wasm, Module } from "h5wasm/node";
import { base_url } from "h5wasm-plugins";
import { DataError, FieldprobeError } from "../../errors.js";
import type { RawValues, Stored } from "../file/stored.js";
import type { ValueBuffer } from "../file/stored-file.js";
import type { FilePlace } from "../hdf5-bytes/bytes.js";
import { type FileSystem, LibraryFiles } from "./library-files.js";
import { LibraryMemory } from "./library-memory.js";

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
  #files: LibraryFiles | null = null;
  /** The memory of the library as it was when it had loaded what it has loaded, and the number of plugins then. */
  #memory: LibraryMemory | null = null;
  #plugins = 0;
  /** Counts how often the library has begun anew: handles and memory of an earlier one are none any more. */
  generation = 0;
  /** The reason why a ranged file could not be read; the library itself only says that it could not. */
  #failure: FieldprobeError | null = null;

  static get ofThread(): Library {
    Library.#ofThread ??= new Library();
    return Library.#ofThread;
  }

  load(): Promise<void> {
    this.#loading ??= h5wasm.ready.then(() => {
      Module.activate_throwing_error_handler();
      Module.insert_plugin_search_path(PLUGINS, 0);
      this.#collectDiagnostics();
      this.#files = new LibraryFiles(Module.FS as unknown as FileSystem, PLUGINS, (error) => {
        this.#failure ??= error;
      });
      (Module as unknown as { onAbort(reason: unknown): never }).onAbort = (reason) => {
        throw new LibraryEnd(String(reason));
      };
      this.#memory = new LibraryMemory(Module.HEAPU8);
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

  /** Opens a file. @returns its handle, and a function that closes it */
  open(place: FilePlace, what: () => string): LibraryHandle {
    const { result: id, release } = this.#ready.opening(place, (path) =>
      this.checked(what, () => Module.open(path, Module.H5F_ACC_RDONLY, false, -1, -1), path),
    );
    const { generation } = this;
    const close = (): void => {
      if (generation !== this.generation) return;
      this.attempt(what, () => Module.close_file(id as bigint));
      release();
    };
    return { id: id as bigint, generation, close };
  }

  /** Runs a call that reads values. */
  readingValues<T>(call: () => T): T {
    return this.#ready.readingValues(call);
  }

  get #ready(): LibraryFiles {
    if (this.#files === null) throw new Error("the HDF5 library is not loaded");
    return this.#files;
  }

  /** Runs a call; where it fails because a ranged file could not be read, the reason of that is thrown. */
  attempt<T>(what: () => string, call: () => T, opening: string | null = null): T {
    const before = this.#failure;
    this.#failure = null;
    try {
      const result = this.#ready.during(() => keepingStack(call), opening);
      this.#throwFailure();
      return result;
    } catch (cause) {
      if (isEnd(cause)) this.#beginAnew(cause);
      this.#throwFailure();
      throw cause instanceof FieldprobeError ? cause : new DataError(what(), cause);
    } finally {
      this.#failure = before;
      this.#keepPlugins();
    }
  }

  /** Keeps the memory again where plugins have been loaded, which stay. */
  #keepPlugins(): void {
    if (this.#memory === null || this.#plugins === this.#ready.plugins) return;
    this.#plugins = this.#ready.plugins;
    this.#memory = new LibraryMemory(Module.HEAPU8);
  }

  /**
   * Makes the library what it was when it was loaded: a file has brought it to an end, after which no call works.
   * @throws the cause where that is not possible, because it has loaded a plugin in the same call
   */
  #beginAnew(cause: unknown): void {
    if (this.#plugins !== this.#ready.plugins) this.#memory = null;
    if (this.#memory === null) throw cause;
    this.#ready.closeAll();
    this.#memory.restore(Module.HEAPU8);
    this.generation++;
  }

  #throwFailure(): void {
    if (this.#failure !== null) throw this.#failure;
  }

  checked(what: () => string, call: () => number | bigint, opening: string | null = null): number | bigint {
    Module.deactivate_throwing_error_handler();
    this.#diagnostics = "";
    try {
      return this.attempt(
        what,
        () => {
          const status = call();
          if (status < 0) throw new Error(this.#diagnostics);
          return status;
        },
        opening,
      );
    } finally {
      Module.activate_throwing_error_handler();
    }
  }
}

/** A file that is open in the library. */
export interface LibraryHandle {
  readonly id: bigint;
  /** The generation of the library that has it open. */
  readonly generation: number;
  readonly close: () => void;
}

/** How often the library of this thread has begun anew. */
export function libraryGeneration(): number {
  return Library.ofThread.generation;
}

/** Says that the library has given up. */
class LibraryEnd extends Error {}

/** The function of the library's module by which `keepingStack` is called from there. */
const GUARD = "_fieldprobeGuard";

/** The part of the library's module that calls functions with the library's stack saved before and restored after. */
interface Caller {
  [GUARD]: () => void;
  ccall(name: string, returns: null, types: readonly string[], values: readonly string[]): void;
}

/**
 * Runs a call; where it throws, the stack of the library is what it was before. An error that is thrown from inside
 * the library leaves its frames behind, and some hundreds of them end it (decision record 0010). `ccall` saves the
 * stack where an argument is a text, and restores it when the function returns, here a function that never throws.
 */
function keepingStack<T>(call: () => T): T {
  let outcome: { readonly value: T } | { readonly error: unknown } | null = null;
  const caller = Module as unknown as Caller;
  const outer = caller[GUARD];
  caller[GUARD] = () => {
    try {
      outcome = { value: call() };
    } catch (error) {
      outcome = { error };
    }
  };
  caller.ccall(GUARD.slice(1), null, ["string"], ["-"]);
  caller[GUARD] = outer;
  const { value, error } = outcome as unknown as { value: T; error?: unknown };
  if (outcome !== null && "error" in outcome) throw error;
  return value;
}

/**
 * Prepares the HDF5 library of this thread. Call it and wait before anything else of this folder; further calls are
 * free. The throwing error handler is on from then on: without it a missing file opens as empty.
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

/** Whether an error is the end of the library: it gave up, left its memory, or called itself without end. */
function isEnd(error: unknown): boolean {
  if (error instanceof LibraryEnd) return true;
  return error instanceof Error && (error.constructor.name === "RuntimeError" || /call stack size/.test(error.message));
}

/** Runs a call that reads values of a dataset to memory. */
export function readValues(what: () => string, call: () => number | bigint): void {
  Library.ofThread.readingValues(() => checked(what, call));
}

/** Runs a call that throws on failure. */
export function attempt<T>(what: string, call: () => T): T {
  return Library.ofThread.attempt(() => what, call);
}

/** Opens a file in the library. @param what says what failed @returns its handle, and a function that closes it */
export function openInLibrary(place: FilePlace, what: () => string): LibraryHandle {
  return Library.ofThread.open(place, what);
}

/**
 * Memory inside the HDF5 library that reads go to, and room for a stored chunk; each grows to the largest read and is
 * kept.
 */
export class ReadBuffer implements ValueBuffer {
  #room = Buffer.alloc(0);
  #pointer = 0;
  #capacity = 0;
  #generation = 0;

  reserve(bytes: number): number {
    if (bytes > this.#capacity || this.#generation !== libraryGeneration()) {
      this.free();
      this.#generation = libraryGeneration();
      this.#pointer = Module._malloc(bytes);
      if (this.#pointer === 0) throw new DataError(`Reading needs ${bytes} bytes that the HDF5 library cannot get.`);
      this.#capacity = bytes;
    }
    return this.#pointer;
  }

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

  room(bytes: number): Buffer {
    if (this.#room.length < bytes) this.#room = Buffer.allocUnsafeSlow(bytes);
    return this.#room;
  }

  free(): void {
    this.#room = Buffer.alloc(0);
    if (this.#pointer !== 0 && this.#generation === libraryGeneration()) Module._free(this.#pointer);
    this.#pointer = 0;
    this.#capacity = 0;
  }
}
