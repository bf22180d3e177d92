/** Opens a file or store by what it is. */
import { statusOf } from "./files.js";
import { H5File } from "./hdf5/file.js";
import type { StoredFile } from "./stored-file.js";
import { ZarrFile } from "./zarr/zarr-file.js";

/** Documents by which a folder is known as a Zarr store. */
const STORE_NAMES: readonly string[] = ["zarr.json", ".zgroup", ".zarray", ".zmetadata"];

/** Whether the folder with these names in it is a Zarr store. */
export function isStore(names: readonly string[]): boolean {
  return names.some((name) => STORE_NAMES.includes(name));
}

/**
 * Opens an HDF5 file, or the Zarr store in a folder.
 *
 * @param newestMs the newest object that a store had when it was verified
 * @throws DataError when it is not readable, of no known format, or not the store that was verified
 */
export function openFile(path: string, newestMs?: number): StoredFile {
  return statusOf(path)?.isDirectory() ? new ZarrFile(path, newestMs) : new H5File(path);
}
