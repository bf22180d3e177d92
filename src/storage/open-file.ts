/** Opens a file or store by its kind. */
import { isAddress } from "../shared/addresses.js";
import { statusOf } from "./dataset/files.js";
import type { StoredFile } from "./dataset/stored-file.js";
import { openHdf5 } from "./hdf5/file.js";
import { RemoteFile } from "./remote/ranged-file.js";
import { ZarrFile } from "./remote/zarr-file.js";
import { isReferences, isRemoteHdf5 } from "./zarr/kinds.js";

export interface KnownOfFile {
  /** Time of the newest object of the store when it was verified. */
  readonly newestMs?: number | undefined;
  /** Whether the settings or the command line name it: a store may then be in a private network. */
  readonly named?: boolean;
  readonly isFile?: boolean;
  /** Memory of ROOM_BYTES for the structure of a local file, used until the file is closed. */
  readonly room?: Buffer;
  readonly timeoutMs?: number;
  /** Folder of the sources of virtual datasets, by default the data folder. */
  readonly below?: string;
}

/**
 * Opens an HDF5 file or a Zarr store, in a folder or at an address.
 * @throws DataError when it is not readable, of no known format, or not the store that was verified; BusyError
 */
export function openFile(path: string, expected: KnownOfFile = {}): StoredFile {
  if (isRemoteHdf5(path)) return openHdf5(new RemoteFile(path, expected));
  const isZarr = isAddress(path) || isReferences(path) || (!expected.isFile && statusOf(path)?.isDirectory() === true);
  if (isZarr) return new ZarrFile(path, expected);
  return openHdf5(path, expected.room, expected.below);
}
