/**
 * Loads the HDF5 library of this thread. It writes files, and its plugins undo filters that `storage/hdf5-bytes` does
 * not undo. It never opens a foreign file.
 */
import { fileURLToPath } from "node:url";
import { h5wasm, Module } from "h5wasm/node";
import { base_url } from "h5wasm-plugins";
import { DataError } from "../../errors.js";
import { FILTER_NAMES, type StoredFilter } from "../hdf5-bytes/filters.js";
import { CHUNK_NAME, chunkFile } from "./chunk-file.js";
import { LibraryMemory } from "./library-memory.js";

const STDERR = 2;
const CHARACTER_DEVICE = 0o020666;
const REGULAR_FILE = 0o100444;
/** A device that no file system has: the library tells open files apart by device and inode. */
const DEVICE = 0x7fffffff;
/** The path under which the library opens the file in memory. */
const CHUNK_PATH = "/chunk.h5";
/** Filters that HDF5 itself does not have; the library loads the one that a chunk asks for. */
const PLUGINS = fileURLToPath(`${base_url}/plugins`);
const MOST_DIAGNOSTICS = 4096;

/** A stream of the library's own file system, as far as it is used here. */
interface LibraryStream {
  readonly path?: string;
  readonly fd: number;
  position: number;
  node: object;
  stream_ops: object;
}

/** The library's own file system, as far as it is used here. */
interface FileSystem {
  readonly streams: readonly (LibraryStream | null)[];
  open(path: string, flags: number, mode: number): LibraryStream;
  stat(path: string, ...rest: unknown[]): object;
  fstat(descriptor: number): object;
  getStream(descriptor: number): LibraryStream;
  createStream(stream: Omit<LibraryStream, "fd"> & { flags: number; seekable: boolean }): LibraryStream;
  closeStream(descriptor: number): void;
}

/** The HDF5 library of this thread, loaded once. */
class Library {
  static #ofThread: Library | null = null;
  #loading: Promise<void> | null = null;
  /** What the library printed about the last failure. */
  #diagnostics = "";
  /** The content of the file in memory. */
  #content: Buffer = Buffer.alloc(0);
  #inodes = 0;
  /** Plugins that have been loaded, and the memory of the library when it had loaded these. */
  #plugins = 0;
  #kept: { readonly plugins: number; readonly memory: LibraryMemory } | null = null;
  /** Memory inside the library that chunks are read to. */
  #pointer = 0;
  #capacity = 0;

  static get ofThread(): Library {
    Library.#ofThread ??= new Library();
    return Library.#ofThread;
  }

  load(): Promise<void> {
    this.#loading ??= h5wasm.ready.then(() => {
      Module.activate_throwing_error_handler();
      Module.insert_plugin_search_path(PLUGINS, 0);
      this.#enter(Module.FS as unknown as FileSystem);
      (Module as unknown as { onAbort(reason: unknown): never }).onAbort = (reason) => {
        throw new LibraryEnd(String(reason));
      };
      this.#keep();
    });
    return this.#loading;
  }

  /** Has the library open the file in memory, and collects what it prints instead of the process. */
  #enter(system: FileSystem): void {
    const { open, stat, fstat } = system;
    const status = () => {
      const [time, { length: size }] = [new Date(0), this.#content];
      const others = { nlink: 1, uid: 0, gid: 0, rdev: 0, blksize: 4096, blocks: Math.ceil(size / 512) };
      return {
        dev: DEVICE,
        ino: this.#inodes,
        mode: REGULAR_FILE,
        size,
        ...others,
        atime: time,
        mtime: time,
        ctime: time,
      };
    };
    system.open = (path, flags, mode) => {
      if (path.startsWith(PLUGINS) && path.endsWith(".so")) this.#plugins++;
      if (path !== CHUNK_PATH) return open(path, flags, mode);
      const node = { id: ++this.#inodes, mode: REGULAR_FILE, node_ops: {}, path };
      const stream_ops = {
        read: (_: unknown, memory: Int8Array, at: number, length: number, position: number) =>
          this.#content.copy(Buffer.from(memory.buffer, memory.byteOffset + at, length), 0, position),
        llseek: ({ position }: LibraryStream, offset: number, whence: number) =>
          offset + (whence === 1 ? position : whence === 2 ? this.#content.length : 0),
      };
      return system.createStream({ path, flags, node, stream_ops, position: 0, seekable: true });
    };
    system.stat = (path, ...rest) => (path === CHUNK_PATH ? status() : stat(path, ...rest));
    system.fstat = (descriptor) => (system.getStream(descriptor).path === CHUNK_PATH ? status() : fstat(descriptor));
    const errors = system.getStream(STDERR);
    errors.node = { mode: CHARACTER_DEVICE };
    errors.stream_ops = {
      write: (_: unknown, memory: Int8Array, at: number, length: number) => {
        if (this.#diagnostics.length < MOST_DIAGNOSTICS)
          this.#diagnostics += Buffer.from(memory.buffer, memory.byteOffset + at, length).toString("latin1");
        return length;
      },
    };
  }

  /**
   * Undoes a filter of a chunk by its plugin.
   *
   * @param length bytes that the chunk then has
   * @returns memory of the library, valid until its next call
   * @throws DataError when the plugin cannot undo it; whatever ended the library if it cannot begin anew
   */
  undo(filter: StoredFilter, chunk: Uint8Array, length: number): Uint8Array {
    this.#diagnostics = "";
    this.#content = chunkFile(filter, chunk, length);
    // Thrown from inside, an error would leave handles behind: a status says the same.
    Module.deactivate_throwing_error_handler();
    try {
      return keepingStack(() => this.#read(length));
    } catch (cause) {
      if (isEnd(cause)) this.#beginAnew(cause);
      const name = FILTER_NAMES.get(filter.id) ?? `filter ${filter.id}`;
      throw new DataError(`${name} cannot be undone`, new Error(this.#diagnostics, { cause }));
    } finally {
      Module.activate_throwing_error_handler();
      if (this.#kept !== null && this.#kept.plugins !== this.#plugins) this.#keep();
    }
  }

  #read(length: number): Uint8Array {
    if (length > this.#capacity) {
      if (this.#pointer !== 0) Module._free(this.#pointer);
      this.#pointer = Module._malloc(length);
      this.#capacity = this.#pointer === 0 ? 0 : length;
      if (this.#pointer === 0) throw new DataError(`the HDF5 library has no ${length} bytes`);
    }
    const file = Module.open(CHUNK_PATH, Module.H5F_ACC_RDONLY, false, -1, -1);
    if (file < 0) throw new Error("the file in memory does not open");
    try {
      const status = Module.get_dataset_data(file, CHUNK_NAME, [BigInt(length)], [0n], [1n], BigInt(this.#pointer));
      if (status < 0) throw new Error("the chunk is not read");
    } finally {
      Module.close_file(file);
    }
    return new Uint8Array(Module.HEAPU8.buffer, this.#pointer, length);
  }

  /** Keeps the memory of the library as it is, with the plugins that it has loaded. */
  #keep(): void {
    this.#kept = { plugins: this.#plugins, memory: new LibraryMemory(Module.HEAPU8) };
  }

  /**
   * Sets the library back to what was kept: a chunk has ended it, after which no call works.
   * @throws the cause if it has loaded a plugin in the same call, which cannot be undone
   */
  #beginAnew(cause: unknown): void {
    if (this.#kept?.plugins !== this.#plugins) this.#kept = null;
    if (this.#kept === null) throw cause;
    const system = Module.FS as unknown as FileSystem;
    for (const stream of system.streams) if (stream?.path === CHUNK_PATH) system.closeStream(stream.fd);
    this.#kept.memory.restore(Module.HEAPU8);
    [this.#pointer, this.#capacity] = [0, 0];
  }
}

/** Says that the library has given up. */
class LibraryEnd extends Error {}

/** Whether an error is the end of the library: it gave up, left its memory, or called itself without end. */
function isEnd(error: unknown): boolean {
  if (error instanceof LibraryEnd) return true;
  return error instanceof Error && (error.constructor.name === "RuntimeError" || /call stack size/.test(error.message));
}

/** The function of the library's module by which `keepingStack` is called from there. */
const GUARD = "_fieldprobeGuard";

/** The part of the library's module that calls functions with the library's stack saved before and restored after. */
interface Caller {
  [GUARD]: () => void;
  ccall(name: string, returns: null, types: readonly string[], values: readonly string[]): void;
}

/**
 * Runs a call; if it throws, the stack of the library is what it was before. An error thrown from inside the library
 * leaves its frames behind, and some hundreds of them end it (decision record 0010). `ccall` saves the stack for an
 * argument that is a text, and restores it when the function returns, here a function that never throws.
 */
function keepingStack<T>(call: () => T): T {
  let outcome: { readonly value: T } | { readonly error: unknown } | null = null;
  const caller = Module as unknown as Caller;
  caller[GUARD] = () => {
    try {
      outcome = { value: call() };
    } catch (error) {
      outcome = { error };
    }
  };
  caller.ccall(GUARD.slice(1), null, ["string"], ["-"]);
  const { value, error } = outcome as unknown as { value: T; error?: unknown };
  if (outcome !== null && "error" in outcome) throw error;
  return value;
}

/** Prepares the HDF5 library of this thread: call it and wait before anything is read or written. */
export function loadHdf5(): Promise<void> {
  return Library.ofThread.load();
}

/** Undoes a filter of a chunk as `UndoFilter` says. */
export function undoByPlugin(filter: StoredFilter, chunk: Uint8Array, length: number): Uint8Array {
  return Library.ofThread.undo(filter, chunk, length);
}
