/** Opens HDF5 files with the byte reader, and with plugins of the library for other filters. */
import type { FilePlace } from "../hdf5-bytes/bytes.js";
import { Hdf5File } from "../hdf5-bytes/hdf5-file.js";
import { undoByPlugin } from "./library.js";

/**
 * @param room of ROOM_BYTES, used until the file is closed
 * @throws DataError when it does not open; later LibraryNeeded, while `loadHdf5` has not resolved
 */
export function openHdf5(place: FilePlace, room?: Buffer, below?: string): Hdf5File {
  return new Hdf5File(place, undoByPlugin, room, below);
}
