/**
 * Loads the HDF5 library of this thread. It writes files, and its plugins undo filters that `storage/hdf5-bytes` does
 * not undo. It never opens a foreign file.
 */
import { fileURLToPath } from "node:url";
import { base_url } from "h5wasm-plugins";
import { DataError } from "../../shared/errors.js";
import { FILTER_NAMES, LibraryNeeded, type StoredFilter } from "../hdf5-bytes/filters.js";
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

/** The module of the library. */
type LibraryModule = typeof import("h5wasm/node")["Module"];

/** The HDF5 library of this thread, loaded once. */
class Library {
  static #loading: Promise<Library> | null = null;
  static #ofThread: Library | null = null;
  readonly #module: LibraryModule;
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

  /** @throws LibraryNeeded until `load` has resolved */
  static get ofThread(): Library {
    if (Library.#ofThread === null) throw new LibraryNeeded();
    return Library.#ofThread;
  }

  /** Loads the module on demand: it takes half the time in which a worker thread starts, and few datasets need it. */
  static async load(): Promise<void> {
    Library.#loading ??= import("h5wasm/node").then(async (library) => {
      await library.ready;
      return new Library(library.Module);
    });
    Library.#ofThread = await Library.#loading;
  }

  constructor(module: LibraryModule) {
    this.#module = module;
    module.activate_throwing_error_handler();
    module.insert_plugin_search_path(PLUGINS, 0);
    this.#enter(module.FS as unknown as FileSystem);
    (module as unknown as { onAbort(reason: unknown): never }).onAbort = (reason) => {
      throw new LibraryEnd(String(reason));
    };
    this.#keep();
  }

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
    this.#module.deactivate_throwing_error_handler();
    try {
      return keepingStack(this.#module, () => this.#read(length));
    } catch (cause) {
      if (isEnd(cause)) this.#beginAnew(cause);
      const name = FILTER_NAMES.get(filter.id) ?? `filter ${filter.id}`;
      throw new DataError(`${name} cannot be undone`, new Error(this.#diagnostics, { cause }));
    } finally {
      this.#module.activate_throwing_error_handler();
      if (this.#kept !== null && this.#kept.plugins !== this.#plugins) this.#keep();
    }
  }

  #read(length: number): Uint8Array {
    if (length > this.#capacity) {
      if (this.#pointer !== 0) this.#module._free(this.#pointer);
      this.#pointer = this.#module._malloc(length);
      this.#capacity = this.#pointer === 0 ? 0 : length;
      if (this.#pointer === 0) throw new DataError(`the HDF5 library has no ${length} bytes`);
    }
    const file = this.#module.open(CHUNK_PATH, this.#module.H5F_ACC_RDONLY, false, -1, -1);
    if (file < 0) throw new Error("the file in memory does not open");
    try {
      const status = this.#module.get_dataset_data(
        file,
        CHUNK_NAME,
        [BigInt(length)],
        [0n],
        [1n],
        BigInt(this.#pointer),
      );
      if (status < 0) throw new Error("the chunk is not read");
    } finally {
      this.#module.close_file(file);
    }
    return new Uint8Array(this.#module.HEAPU8.buffer, this.#pointer, length);
  }

  #keep(): void {
    this.#kept = { plugins: this.#plugins, memory: new LibraryMemory(this.#module.HEAPU8) };
  }

  /**
   * Sets the library back to what was kept: a chunk has ended it, after which no call works.
   * @throws the cause if it has loaded a plugin in the same call, which cannot be undone
   */
  #beginAnew(cause: unknown): void {
    if (this.#kept?.plugins !== this.#plugins) this.#kept = null;
    if (this.#kept === null) throw cause;
    const system = this.#module.FS as unknown as FileSystem;
    for (const stream of system.streams) if (stream?.path === CHUNK_PATH) system.closeStream(stream.fd);
    this.#kept.memory.restore(this.#module.HEAPU8);
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
 * leaves its frames behind, and some hundreds of them end it (docs/decisions/hdf5.md). `ccall` saves the stack for an
 * argument that is a text, and restores it when the function returns, here a function that never throws.
 */
function keepingStack<T>(module: LibraryModule, call: () => T): T {
  let outcome: { readonly value: T } | { readonly error: unknown } | null = null;
  const caller = module as unknown as Caller;
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

/** Loads the HDF5 library of this thread, once: call it and wait before anything is written. */
export function loadHdf5(): Promise<void> {
  return Library.load();
}

/** Undoes a filter of a chunk as `UndoFilter` says. @throws LibraryNeeded unless `loadHdf5` has resolved */
export function undoByPlugin(filter: StoredFilter, chunk: Uint8Array, length: number): Uint8Array {
  return Library.ofThread.undo(filter, chunk, length);
}
