/** Opens HDF5 files by the byte reader, with plugins of the library for filters that it does not undo itself. */
import type { FilePlace } from "../hdf5-bytes/bytes.js";
import { Hdf5File } from "../hdf5-bytes/hdf5-file.js";
import { undoByPlugin } from "./library.js";

/**
 * Opens a file, whose chunks throw LibraryNeeded if a plugin is needed and `loadHdf5` has not resolved.
 *
 * @param place path of the file, or the file if it is read by ranges
 * @param room  of ROOM_BYTES, used until the file is closed
 * @throws DataError when it does not open
 */
export function openHdf5(place: FilePlace, room?: Buffer): Hdf5File {
  return new Hdf5File(place, undoByPlugin, room);
}
