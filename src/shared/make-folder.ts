/** `makeFolder` makes a folder and those above it, and fails where Node's recursive way never ends. */
import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder and those above it; `mkdirSync` with `recursive` never ends if a file system refuses folders as
 * /proc does.
 *
 * @param mode permissions of folders that are made
 * @throws the error of the operating system
 */
export function makeFolder(path: string, mode = 0o777): void {
  if (isFolder(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path), mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!isFolder(path)) throw error;
  }
}

/** Whether a folder is there; what cannot be looked at is none, and making it tells why. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
