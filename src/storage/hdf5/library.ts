/**
 * Prepares the HDF5 library of this thread, turns its failures into DataErrors, and lends memory inside it to reads.
 */
import { constants } from "node:os";
import { fileURLToPath } from "node:url";
import { h5wasm, Module } from "h5wasm/node";
import { base_url } from "h5wasm-plugins";
import { DataError, FieldprobeError } from "../../errors.js";
import type { RangedFile } from "./bytes.js";
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

/** A stream of a ranged file. */
interface RangedStream {
  position: number;
  readonly ranged?: RangedFile;
  readonly inode?: number;
}

/** The library's own file system, as far as ranged files need it. */
interface FileSystem {
  readonly ErrnoError: new (code: number) => Error;
  open(path: string, flags: number, mode: number): unknown;
  stat(path: string, dontFollow?: boolean): unknown;
  fstat(descriptor: number): unknown;
  createStream(stream: object): unknown;
  getStreamChecked(descriptor: number): RangedStream;
}

const REGULAR_FILE = 0o100444;
/** A device that no file system has: ranged files are told from others by it, and from each other by their inodes. */
const RANGED_DEVICE = 0x7fffffff;

/** The HDF5 library of this thread: loaded once, with what it printed about the latest failure. */
class Library {
  static #ofThread: Library | null = null;
  #loading: Promise<void> | null = null;
  #diagnostics = "";
  /** Ranged files by the paths under which the library opens them. */
  readonly #ranged = new Map<string, { readonly file: RangedFile; readonly inode: number }>();
  #inodes = 0;
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
      this.#openRanged(Module.FS as unknown as FileSystem);
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

  /** Lets the library open ranged files and ask for their size; all that it does with others stays as it is. */
  #openRanged(files: FileSystem): void {
    const { open, stat, fstat } = files;
    files.open = (path, flags, mode) => {
      const known = this.#ranged.get(path);
      if (known === undefined) return open(path, flags, mode);
      const { file: ranged, inode } = known;
      const node = { id: inode, mode: REGULAR_FILE, node_ops: {}, path };
      const stream_ops = {
        read: (_: unknown, memory: Int8Array, at: number, length: number, position: number) => {
          try {
            return ranged.read(new Uint8Array(memory.buffer, memory.byteOffset + at, length), position);
          } catch (error) {
            if (!(error instanceof FieldprobeError)) throw error;
            this.#failure ??= error;
            throw new files.ErrnoError(constants.errno.EIO);
          }
        },
        llseek: ({ position }: RangedStream, offset: number, whence: number) =>
          offset + (whence === 1 ? position : whence === 2 ? ranged.size : 0),
      };
      return files.createStream({ ranged, inode, path, flags, node, position: 0, seekable: true, stream_ops });
    };
    files.stat = (path, ...rest) => {
      const known = this.#ranged.get(path);
      return known === undefined ? stat(path, ...rest) : statusOf(known.file, known.inode);
    };
    files.fstat = (descriptor) => {
      const { ranged, inode } = files.getStreamChecked(descriptor);
      return ranged === undefined || inode === undefined ? fstat(descriptor) : statusOf(ranged, inode);
    };
  }

  openRanged(file: RangedFile, what: () => string): bigint {
    const inode = ++this.#inodes;
    const path = `/ranged/${inode}`;
    this.#ranged.set(path, { file, inode });
    try {
      return this.checked(what, () => Module.open(path, Module.H5F_ACC_RDONLY, false, -1, -1)) as bigint;
    } finally {
      this.#ranged.delete(path);
    }
  }

  /** Runs a call; where it fails because a ranged file could not be read, the reason of that is thrown. */
  attempt<T>(what: () => string, call: () => T): T {
    const before = this.#failure;
    this.#failure = null;
    try {
      const result = call();
      this.#throwFailure();
      return result;
    } catch (cause) {
      if (isEnd(cause)) throw cause;
      this.#throwFailure();
      throw cause instanceof FieldprobeError ? cause : new DataError(what(), cause);
    } finally {
      this.#failure = before;
    }
  }

  #throwFailure(): void {
    if (this.#failure !== null) throw this.#failure;
  }

  checked(what: () => string, call: () => number | bigint): number | bigint {
    Module.deactivate_throwing_error_handler();
    this.#diagnostics = "";
    try {
      return this.attempt(what, () => {
        const status = call();
        if (status < 0) throw new Error(this.#diagnostics);
        return status;
      });
    } finally {
      Module.activate_throwing_error_handler();
    }
  }
}

/** The library's view of a ranged file. */
function statusOf({ size, newestMs }: RangedFile, ino: number) {
  const time = new Date(newestMs);
  const others = { nlink: 1, uid: 0, gid: 0, rdev: 0, blksize: 4096, blocks: Math.ceil(size / 512) };
  return { dev: RANGED_DEVICE, ino, mode: REGULAR_FILE, size, ...others, atime: time, mtime: time, ctime: time };
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

/** Whether an error is the end of the library in this thread, which has to be replaced then: no call works any more. */
function isEnd(error: unknown): boolean {
  return error instanceof Error && error.constructor.name === "RuntimeError";
}

/** Runs a call that throws on failure. */
export function attempt<T>(what: string, call: () => T): T {
  return Library.ofThread.attempt(() => what, call);
}

/** Opens a ranged file in the library. @returns its handle */
export function openRanged(file: RangedFile, what: () => string): bigint {
  return Library.ofThread.openRanged(file, what);
}

/**
 * Memory inside the HDF5 library that reads go to, and room for a stored chunk; each grows to the largest read and is
 * kept.
 */
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
