/**
 * Opens HDF5 files: the byte reader reads them, and the library only the values behind filters that it has plugins for.
 */
import { Module } from "h5wasm/node";
import type { Hyperslab } from "../file/stored.js";
import type { ValueBuffer } from "../file/stored-file.js";
import { type FilePlace, pathOf, whyNotHdf5 } from "../hdf5-bytes/bytes.js";
import { type ForeignValues, Hdf5File } from "../hdf5-bytes/hdf5-file.js";
import { type LibraryHandle, libraryGeneration, openInLibrary, ReadBuffer, readValues } from "./library.js";

/**
 * Opens a file; `loadHdf5` comes first.
 *
 * @param place path of the file, or the file where it is read by ranges
 * @param room  of ROOM_BYTES, used until the file is closed
 * @throws DataError when it does not open
 */
export function openHdf5(place: FilePlace, room?: Buffer): Hdf5File {
  return new Hdf5File(place, new LibraryValues(place), room);
}

/** Reads values by the library, in which it opens the file when they are first asked for. */
class LibraryValues implements ForeignValues {
  readonly #place: FilePlace;
  #handle: LibraryHandle | null = null;

  constructor(place: FilePlace) {
    this.#place = place;
  }

  /** The library's handle; another one if the library has begun anew since the file was opened. */
  get #id(): bigint {
    if (this.#handle?.generation !== libraryGeneration()) {
      const why = () => `${pathOf(this.#place)} does not open as an HDF5 file: ${whyNotHdf5(this.#place)}.`;
      this.#handle = openInLibrary(this.#place, why);
    }
    return (this.#handle as LibraryHandle).id;
  }

  buffer(): ValueBuffer {
    return new ReadBuffer();
  }

  read(path: string, { offset, count }: Hyperslab, pointer: number): void {
    const id = this.#id;
    const [counts, offsets, steps] = [count.map(BigInt), offset.map(BigInt), count.map(() => 1n)];
    readValues(
      () => `${pathOf(this.#place)}: reading ${path} failed.`,
      () => Module.get_dataset_data(id, path, counts, offsets, steps, BigInt(pointer)),
    );
  }

  close(): void {
    this.#handle?.close();
    this.#handle = null;
  }
}
