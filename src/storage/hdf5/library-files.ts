/**
 * `LibraryFiles` stands between the HDF5 library and the file system: the library opens the file that a call names, and
 * no other that the content of a file names.
 */
import { constants } from "node:os";
import { resolve } from "node:path";
import { FieldprobeError } from "../../errors.js";
import type { RangedFile } from "../hdf5-bytes/bytes.js";

/** A stream of the library's own file system, as far as it is used here. */
interface LibraryStream {
  readonly fd: number;
  position: number;
  /** Number by which the library tells open files apart; of those that are opened here. */
  inode?: number;
  readonly ranged?: RangedFile | undefined;
  /** Places of the heap collections that have been looked at; of those that are opened here. */
  heaps?: Set<number>;
}

/** What the library asks of the status of a file. */
interface Status {
  dev: number;
  ino: number;
}

/** The library's own file system, as far as it is used here. */
export interface FileSystem {
  readonly ErrnoError: new (code: number) => Error;
  readonly streams: readonly (LibraryStream | null)[];
  open(path: string, flags: number, mode: number): LibraryStream;
  close(stream: LibraryStream): void;
  closeStream(descriptor: number): void;
  read(stream: LibraryStream, memory: Int8Array, at: number, length: number, position?: number): number;
  stat(path: string, dontFollow?: boolean): unknown;
  fstat(descriptor: number): Status;
  createStream(stream: object): LibraryStream;
  getStreamChecked(descriptor: number): LibraryStream;
}

const REGULAR_FILE = 0o100444;
/**
 * A device that no file system has. The library keeps one state for all handles of an inode of a device, so that a
 * handle from before a file was rewritten in place would answer for one opened after it: each opening gets an inode of
 * its own.
 */
const DEVICE = 0x7fffffff;
/** The library's number of the error "no such file". */
const NO_ENTRY = 44;
/** Beginning of the files to which the library writes the text of an error before it throws it. */
const TEXT_FILE = "/tmp/tmpfile_";
const PLUGIN_NAME = ".so";
const MOST_TEXT_BYTES = 65_536;
/** Each text takes memory of the library that is never freed, so that only this many are taken. */
const MOST_TEXTS = 1_000;

/** The files of the library of one thread. */
export class LibraryFiles {
  /** How often a plugin has been opened. */
  plugins = 0;
  readonly #system: FileSystem;
  readonly #plugins: string;
  /** Ranged files by the paths under which the library opens them. */
  readonly #ranged = new Map<string, RangedFile>();
  #inodes = 0;
  /** The path that the call opens; null: it opens none; undefined outside of calls, when files are written. */
  #permitted: string | null | undefined;
  #opened: LibraryStream | null = null;
  /** Whether what is read now is structure of a file, not values. */
  #isStructure = true;
  readonly #texts: LibraryStream[] = [];
  /** Number of texts taken so far. */
  #taken = 0;
  readonly #failed: (error: FieldprobeError) => void;

  /**
   * @param plugins folder from which the library may load files at any time
   * @param failed  receives the reason why a ranged file cannot be read; the library itself only says that it cannot
   */
  constructor(system: FileSystem, plugins: string, failed: (error: FieldprobeError) => void) {
    this.#system = system;
    this.#plugins = plugins;
    this.#failed = failed;
    const { open, read, stat, fstat } = system;
    system.open = (path, flags, mode) => {
      if (path.startsWith(TEXT_FILE)) return this.#openText(path, flags);
      if (path.startsWith(this.#plugins) && path.endsWith(PLUGIN_NAME)) this.plugins++;
      if (!this.#mayOpen(path)) throw new system.ErrnoError(NO_ENTRY);
      const ranged = this.#ranged.get(path);
      const stream = ranged === undefined ? open(path, flags, mode) : this.#openRanged(path, flags, ranged);
      stream.inode = ++this.#inodes;
      stream.heaps = new Set();
      this.#opened = stream;
      return stream;
    };
    system.read = (stream, memory, at, length, position) => {
      const start = position ?? stream.position;
      const count = read(stream, memory, at, length, position);
      if (stream.heaps === undefined || !this.#isStructure) return count;
      const bytes = Buffer.from(memory.buffer, memory.byteOffset + at, count);
      const readAt = (room: Buffer, place: number) => read(stream, bytesOf(room), 0, room.length, place);
      for (const place of collectionsIn(bytes)) {
        if (stream.heaps.has(start + place)) continue;
        if (!isWholeCollection(readAt, start + place)) throw new system.ErrnoError(constants.errno.EIO);
        stream.heaps.add(start + place);
      }
      return count;
    };
    system.stat = (path, ...rest) => {
      const ranged = this.#ranged.get(path);
      return ranged === undefined ? stat(path, ...rest) : statusOf(ranged, 0);
    };
    system.fstat = (descriptor) => {
      const { ranged, inode } = system.getStreamChecked(descriptor);
      if (inode === undefined) return fstat(descriptor);
      if (ranged !== undefined) return statusOf(ranged, inode);
      return Object.assign(fstat(descriptor), { dev: DEVICE, ino: inode });
    };
  }

  /** Runs a call that opens no file but plugins, or by `opening` this one. */
  during<T>(call: () => T, opening: string | null = null): T {
    const before = this.#permitted;
    this.#permitted = opening;
    try {
      return call();
    } finally {
      this.#permitted = before;
      for (const stream of this.#texts.splice(0)) this.#system.closeStream(stream.fd);
    }
  }

  /**
   * Runs a call that opens a file.
   *
   * @returns its result, and a function that closes what the library has not closed of it: where a call has ended in an
   *          error thrown through the library, it keeps handles of the file
   */
  opening<T>(
    place: string | RangedFile,
    call: (path: string) => T,
  ): { readonly result: T; readonly release: () => void } {
    const path = typeof place === "string" ? resolve(place) : `/ranged/${this.#inodes}`;
    if (typeof place !== "string") this.#ranged.set(path, place);
    this.#opened = null;
    try {
      const result = this.during(() => call(path), path);
      const opened = this.#opened as LibraryStream | null;
      return { result, release: () => this.#release(opened) };
    } finally {
      this.#ranged.delete(path);
      this.#opened = null;
    }
  }

  /** Runs a call that reads values of a file. */
  readingValues<T>(call: () => T): T {
    this.#isStructure = false;
    try {
      return call();
    } finally {
      this.#isStructure = true;
    }
  }

  /** Closes every file that the library has open. */
  closeAll(): void {
    for (const stream of this.#system.streams) if (stream?.inode !== undefined) this.#release(stream);
  }

  #release(stream: LibraryStream | null): void {
    if (stream === null || this.#system.streams[stream.fd] !== stream) return;
    if (stream.ranged === undefined) this.#system.close(stream);
    else this.#system.closeStream(stream.fd);
  }

  #mayOpen(path: string): boolean {
    return this.#permitted === undefined || path === this.#permitted || path.startsWith(this.#plugins);
  }

  #openRanged(path: string, flags: number, ranged: RangedFile): LibraryStream {
    const stream_ops = {
      read: (_: unknown, memory: Int8Array, at: number, length: number, position: number) => {
        try {
          return ranged.read(new Uint8Array(memory.buffer, memory.byteOffset + at, length), position);
        } catch (error) {
          if (!(error instanceof FieldprobeError)) throw error;
          this.#failed(error);
          throw new this.#system.ErrnoError(constants.errno.EIO);
        }
      },
      llseek: seekIn(() => ranged.size),
    };
    return this.#create({ ranged, path, flags, stream_ops });
  }

  /** Opens memory instead of the file for the text of an error; after MOST_TEXTS it throws the error here instead. */
  #openText(path: string, flags: number): LibraryStream {
    if (this.#permitted !== undefined && ++this.#taken > MOST_TEXTS)
      throw new Error("the HDF5 library reports an error");
    const text = Buffer.alloc(MOST_TEXT_BYTES);
    let length = 0;
    const bytes = (memory: Int8Array, at: number, count: number) =>
      Buffer.from(memory.buffer, memory.byteOffset + at, count);
    const stream_ops = {
      read: (_: unknown, memory: Int8Array, at: number, count: number, position: number) =>
        text.copy(bytes(memory, at, count), 0, position, Math.min(length, position + count)),
      write: (_: unknown, memory: Int8Array, at: number, count: number, position: number) => {
        const written = bytes(memory, at, count).copy(text, Math.min(position, text.length));
        length = Math.max(length, Math.min(text.length, position + written));
        return count;
      },
      llseek: seekIn(() => length),
    };
    const stream = this.#create({ path, flags, stream_ops });
    this.#texts.push(stream);
    return stream;
  }

  #create(members: Pick<LibraryStream, "ranged"> & { path: string; flags: number; stream_ops: object }): LibraryStream {
    const node = { id: this.#inodes, mode: REGULAR_FILE, node_ops: {}, path: members.path };
    return this.#system.createStream({ ...members, node, position: 0, seekable: true });
  }
}

const COLLECTION = Buffer.from("GCOL\x01\0\0\0", "latin1");
const OBJECT_HEAD = 16;

/** The places at which collections of the global heap begin. */
function* collectionsIn(bytes: Buffer): Generator<number> {
  for (let at = bytes.indexOf(COLLECTION); at >= 0; at = bytes.indexOf(COLLECTION, at + 1)) yield at;
}

/**
 * Whether the objects of a collection of the global heap lie in it, one behind the other: the library looks for the
 * end of some others for ever.
 *
 * Source: HDF5 file format specification 4.0, section III.E.
 */
function isWholeCollection(read: (room: Buffer, position: number) => number, start: number): boolean {
  const head = Buffer.alloc(OBJECT_HEAD);
  if (read(head, start) < OBJECT_HEAD) return false;
  const end = start + Number(head.readBigUInt64LE(8));
  for (let at = start + OBJECT_HEAD; at + OBJECT_HEAD <= end; ) {
    if (read(head, at) < OBJECT_HEAD) return false;
    const bytes = Number(head.readBigUInt64LE(8));
    // Free space counts its head, and every object begins at a multiple of 8.
    const length = head.readUInt16LE(0) === 0 ? bytes : OBJECT_HEAD + 8 * Math.ceil(bytes / 8);
    if (length < OBJECT_HEAD || at + length > end) return false;
    at += length;
  }
  return true;
}

function bytesOf({ buffer, byteOffset, length }: Buffer): Int8Array {
  return new Int8Array(buffer, byteOffset, length);
}

/** Moves the position in a stream of so many bytes. */
function seekIn(size: () => number) {
  return ({ position }: LibraryStream, offset: number, whence: number): number =>
    offset + (whence === 1 ? position : whence === 2 ? size() : 0);
}

/** The library's view of a ranged file. */
function statusOf({ size, newestMs }: RangedFile, ino: number) {
  const time = new Date(newestMs);
  const others = { nlink: 1, uid: 0, gid: 0, rdev: 0, blksize: 4096, blocks: Math.ceil(size / 512) };
  return { dev: DEVICE, ino, mode: REGULAR_FILE, size, ...others, atime: time, mtime: time, ctime: time };
}
