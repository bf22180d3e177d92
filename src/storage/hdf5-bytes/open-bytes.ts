/**
 * An open HDF5 file, read by address. Metadata are read in blocks, which are kept for a while.
 *
 * Source: HDF5 file format specification 4.0, section II (superblock).
 */
import { DataError } from "../../shared/errors.js";
import type { FileStamp } from "../dataset/dataset.js";
import { addressAt, dataStart, type FilePlace, type OpenPlace, openPlace, type ReadBytes, unsigned } from "./bytes.js";
import { checkSum } from "./checksum.js";

const BLOCK_BYTES = 8_192;
/** Most blocks that are kept: 2 MiB. */
const BLOCKS_KEPT = 256;
/** Memory for the first blocks of a file, reused from file to file: new pages cost more than reading. */
export const ROOM_BYTES = 5 * BLOCK_BYTES;
/** Bytes of the longest superblock, and of one of version 2 or 3 with its checksum. */
const SUPERBLOCK_BYTES = 96;
const LATER_SUPERBLOCK = 48;
/** The version of superblocks whose marks count, and the marks of a file that is being written. */
const MARKED = 3;
const WRITTEN_TO = 0x05;

/**
 * Offsets in a superblock by version: sizes, marks, base address, driver or extension, end of the file, header of the
 * root group.
 */
const SUPERBLOCKS = [
  { sizes: 13, marks: 20, base: 24, other: 48, end: 40, root: 64 },
  { sizes: 13, marks: 20, base: 28, other: 52, end: 44, root: 68 },
  { sizes: 9, marks: 11, base: 12, other: 20, end: 28, root: 36 },
  { sizes: 9, marks: 11, base: 12, other: 20, end: 28, root: 36 },
];

/** Reason against a member of a family of files, or the metadata or values of a split file. */
export const ONE_OF_SEVERAL =
  "it is one of several files that a driver of HDF5 wrote together: h5repart joins those of a family";

export class OpenBytes {
  readonly path: string;
  /** The stamp of the file when it was opened; null for a remote one. */
  readonly stamp: FileStamp | null;
  /** Offset of the HDF5 data in the file, after its user block. */
  readonly start: number;
  readonly root: number;
  /** Address of the header of the superblock's extension; null if there is none. */
  readonly extension: number | null;
  readonly #file: OpenPlace;
  /** Whether blocks are cached here; a remote file has its own cache. */
  readonly #keeps: boolean;
  /** End of the file as stated by itself, from the start of the HDF5 data: nothing after it is read. */
  #end: number;
  readonly #blocks = new Map<number, Buffer>();
  #left: Buffer;

  /**
   * @param room of ROOM_BYTES, used until the file is closed
   * @throws DataError for another file, one cut short or being written, or addresses of other than 8 bytes
   */
  constructor(place: FilePlace, room: Buffer = Buffer.alloc(0)) {
    this.#file = openPlace(place);
    this.#left = room;
    const { path, size, stamp } = this.#file;
    this.path = path;
    this.stamp = stamp;
    this.#keeps = stamp !== null;
    this.#end = size;
    try {
      const start = dataStart(this.#file);
      if (start === null) throw new DataError("it is not an HDF5 file");
      this.start = start;
      this.#end = size - start;
      const { end, root, extension } = this.#superblock();
      if (end > this.#end) throw new DataError(`it is cut short: it has ${this.#end} of ${end} bytes`);
      this.#end = end;
      this.root = root;
      this.extension = extension;
    } catch (error) {
      this.close();
      throw error;
    }
  }

  #superblock(): { readonly end: number; readonly root: number; readonly extension: number | null } {
    const block = this.read(0, Math.min(SUPERBLOCK_BYTES, this.#end));
    const version = block.getUint8(8);
    const at = SUPERBLOCKS[version];
    if (at === undefined) throw new DataError(`it has a superblock of version ${version}, which is not read`);
    const isLater = version >= 2;
    if (isLater) checkSum(this.read(0, LATER_SUPERBLOCK));
    const [addresses, lengths] = [block.getUint8(at.sizes), block.getUint8(at.sizes + 1)];
    if (addresses !== 8 || lengths !== 8)
      throw new DataError(`it has addresses of ${addresses} bytes and lengths of ${lengths}, not 8 (H5Pset_sizes)`);
    if (version === MARKED && (block.getUint8(at.marks) & WRITTEN_TO) !== 0)
      throw new DataError(
        `its writer did not close it: \`h5clear -s ${this.path}\`, once nothing writes to it any more`,
      );
    const other = addressAt(block, at.other);
    if (!isLater && other !== null) throw new DataError(ONE_OF_SEVERAL);
    // The library counts from the superblock, wherever the data was meant to begin.
    const end = unsigned(block, at.end) - unsigned(block, at.base);
    return { end, root: unsigned(block, at.root), extension: isLater ? other : null };
  }

  get end(): number {
    return this.#end;
  }

  readonly read: ReadBytes = (address, length, room) => {
    if (!(address >= 0 && length >= 0 && address + length <= this.#end))
      throw new DataError(beyond(address, length, this.#end));
    if (room !== undefined || !this.#keeps || length > BLOCK_BYTES) {
      const bytes = (room ?? Buffer.allocUnsafeSlow(length)).subarray(0, length);
      this.#fill(bytes, address);
      return new DataView(bytes.buffer, bytes.byteOffset, length);
    }
    const start = address - (address % BLOCK_BYTES);
    let block = this.#blocks.get(start);
    if (block === undefined || address + length > start + block.length) {
      block = this.#take(Math.min(this.#end - start, Math.max(address + length - start, BLOCK_BYTES)));
      this.#fill(block, start);
      if (this.#blocks.size === BLOCKS_KEPT) this.#blocks.delete(this.#blocks.keys().next().value as number);
      this.#blocks.set(start, block);
    }
    return new DataView(block.buffer, block.byteOffset + address - start, length);
  };

  readValues(bytes: Uint8Array, address: number): void {
    if (!(address >= 0 && address + bytes.length <= this.#end)) throw new DataError("the file ends inside its values");
    this.#fill(bytes, address);
  }

  #fill(bytes: Uint8Array, address: number): void {
    if (this.#file.read(bytes, this.start + address) < bytes.length)
      throw new DataError(beyond(address, bytes.length, this.#end));
  }

  #take(bytes: number): Buffer {
    if (bytes > this.#left.length) return Buffer.allocUnsafeSlow(bytes);
    const taken = this.#left.subarray(0, bytes);
    this.#left = this.#left.subarray(bytes);
    return taken;
  }

  close(): void {
    this.#file.close();
  }
}

/** The message that bytes are not in a file; impossible numbers are not shown. */
function beyond(address: number, length: number, end: number): string {
  const isPossible = [address, length].every((number) => Number.isSafeInteger(number) && number >= 0);
  return isPossible
    ? `the file ends at ${end}, before ${length} bytes at ${address}`
    : "an address or a length in the file is impossible";
}
