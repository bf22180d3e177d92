/** Opens a file or store by what it is. */
import { H5File } from "./hdf5/file.js";
import type { StoredFile } from "./stored-file.js";

/** Opens the file or store at a path. @throws DataError when it is neither readable nor of a known format */
export function openFile(path: string): StoredFile {
  return new H5File(path);
}
