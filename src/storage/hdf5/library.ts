/**
 * The HDF5 library of this thread, whose plugins undo filters. It opens no foreign file: chunks are read from a file in
 * its own memory.
 */
import { readFileSync } from "node:fs";
import { base_url } from "h5wasm-plugins";
import { DataError } from "../../shared/errors.js";
import { FILTER_NAMES, LibraryNeeded, type StoredFilter } from "../hdf5-bytes/filters.js";
import { CHUNK_NAME, chunkFile } from "./chunk-file.js";
import { LibraryMemory } from "./library-memory.js";

const STDOUT = 1;
const STDERR = 2;
/** A folder and a file in the library's file system: its plugins, and its output. */
const PLUGINS = "/plugins";
const ERRORS = "/errors";
/** The last filter that is built into the library. */
const LZF = 32000;
const PLUGIN_NAMES: ReadonlyMap<number, string> = new Map([
  ...[...FILTER_NAMES].filter(([id]) => id > LZF),
  [32008, "bshuf"],
]);
const MAX_DIAGNOSTICS = 4096;
const MAX_DESCRIPTORS = 4096;

interface FileSystem {
  mkdir(path: string): void;
  writeFile(path: string, bytes: Uint8Array, options?: { canOwn: boolean }): void;
  readFile(path: string): Uint8Array;
  truncate(path: string, length: number): void;
  unlink(path: string): void;
  open(path: string, flags: string): object;
  getStream(descriptor: number): object | null | undefined;
  close(stream: object): void;
}

type LibraryModule = typeof import("h5wasm")["Module"];

class Library {
  static #loading: Promise<Library> | null = null;
  static #ofThread: Library | null = null;
  readonly #module: LibraryModule;
  readonly #system: FileSystem;
  /** Filters whose plugins are loaded, and the library's memory after loading them. */
  readonly #plugins = new Set<number>();
  #kept: { readonly plugins: number; readonly memory: LibraryMemory } | null = null;
  #files = 0;
  #pointer = 0;
  #capacity = 0;

  /** @throws LibraryNeeded until `load` has resolved */
  static get ofThread(): Library {
    if (Library.#ofThread === null) throw new LibraryNeeded();
    return Library.#ofThread;
  }

  /** Loads the module on demand: it takes half the time in which a worker thread starts, and few datasets need it. */
  static async load(): Promise<void> {
    Library.#loading ??= import("h5wasm").then(async ({ ready }) => new Library(await ready));
    Library.#ofThread = await Library.#loading;
  }

  constructor(module: LibraryModule) {
    this.#module = module;
    this.#system = module.FS as unknown as FileSystem;
    this.#system.mkdir(PLUGINS);
    module.insert_plugin_search_path(PLUGINS, 0);
    // As in POSIX, the next file that is opened gets the lowest free descriptor. Some plugins print to stdout.
    for (const descriptor of [STDOUT, STDERR]) {
      this.#system.close(this.#system.getStream(descriptor) as object);
      this.#system.open(ERRORS, "a");
    }
    (module as unknown as { onAbort(reason: unknown): never }).onAbort = (reason) => {
      throw new LibraryEnd(String(reason));
    };
    // An error thrown from inside would leak handles; a status says the same.
    module.deactivate_throwing_error_handler();
    this.#keep();
  }

  /**
   * Undoes a filter of a chunk by its plugin.
   * @param length bytes of the result
   * @returns memory of the library, valid until its next call
   * @throws DataError when the plugin fails; the error that ended the library if it cannot restart
   */
  undo(filter: StoredFilter, chunk: Uint8Array, length: number): Uint8Array {
    this.#install(filter.id);
    // The library identifies files by their inodes, and may keep open a file that it could not read.
    const path = `/${++this.#files}.h5`;
    this.#system.writeFile(path, chunkFile(filter, chunk, length), { canOwn: true });
    try {
      return keepingStack(this.#module, () => this.#read(path, length));
    } catch (cause) {
      const printed = Buffer.from(this.#system.readFile(ERRORS)).toString("latin1", 0, MAX_DIAGNOSTICS);
      this.#system.truncate(ERRORS, 0);
      if (isEnd(cause)) this.#beginAnew(cause);
      const name = FILTER_NAMES.get(filter.id) ?? `filter ${filter.id}`;
      throw new DataError(`${name} cannot be undone`, new Error(printed, { cause }));
    } finally {
      this.#system.unlink(path);
      if (this.#kept !== null && this.#kept.plugins !== this.#plugins.size) this.#keep();
    }
  }

  #install(id: number): void {
    const name = PLUGIN_NAMES.get(id);
    if (name === undefined || this.#plugins.has(id)) return;
    const file = `libH5Z${name}.so`;
    this.#system.writeFile(`${PLUGINS}/${file}`, readFileSync(new URL(`${base_url}/plugins/${file}`)));
    this.#plugins.add(id);
  }

  #read(path: string, length: number): Uint8Array {
    if (length > this.#capacity) {
      if (this.#pointer !== 0) this.#module._free(this.#pointer);
      this.#pointer = this.#module._malloc(length);
      this.#capacity = this.#pointer === 0 ? 0 : length;
      if (this.#pointer === 0) throw new DataError(`the HDF5 library has no ${length} bytes`);
    }
    const file = this.#module.open(path, this.#module.H5F_ACC_RDONLY, false, -1, -1);
    // No descriptors are left after so many unreadable chunks.
    if (file < 0) throw new LibraryEnd("the file in memory does not open");
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
    this.#kept = { plugins: this.#plugins.size, memory: new LibraryMemory(this.#module.HEAPU8) };
  }

  /** Restores the library after a chunk has ended it. Throws the cause if the same call loaded a plugin. */
  #beginAnew(cause: unknown): void {
    if (this.#kept?.plugins !== this.#plugins.size) this.#kept = null;
    if (this.#kept === null) throw cause;
    for (let descriptor = STDERR + 1; descriptor < MAX_DESCRIPTORS; descriptor++) {
      const left = this.#system.getStream(descriptor);
      if (left) this.#system.close(left);
    }
    this.#kept.memory.restore(this.#module.HEAPU8);
    [this.#pointer, this.#capacity] = [0, 0];
  }
}

class LibraryEnd extends Error {}

/** Whether an error means the end of the library: abort, access outside its memory, or endless recursion. */
function isEnd(error: unknown): boolean {
  if (error instanceof LibraryEnd) return true;
  return error instanceof Error && (error.constructor.name === "RuntimeError" || /call stack size/.test(error.message));
}

/** Name of the function in the library's module through which `keepingStack` is called. */
const GUARD = "_fieldprobeGuard";

/** The part of the library's module that calls functions with the stack saved before and restored after. */
interface Caller {
  [GUARD]: () => void;
  ccall(name: string, returns: null, types: readonly string[], values: readonly string[]): void;
}

/**
 * Runs a call and restores the library's stack if it throws: leftover frames would end the library after some hundreds
 * (docs/decisions/hdf5.md). `ccall` does so only for text arguments, so a text is passed.
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

export function loadHdf5(): Promise<void> {
  return Library.load();
}

/** @throws LibraryNeeded unless `loadHdf5` has resolved */
export function undoByPlugin(filter: StoredFilter, chunk: Uint8Array, length: number): Uint8Array {
  return Library.ofThread.undo(filter, chunk, length);
}
