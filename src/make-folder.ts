/** `makeFolder` makes a folder and those above it, and fails where Node's recursive way never ends. */
import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder and those above it; `mkdirSync` with `recursive` never ends where a file system refuses folders as
 * /proc does.
 *
 * @param mode permissions of folders that are made
 * @throws the error of the operating system
 */
export function makeFolder(path: string, mode = 0o777): void {
  if (existsSync(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path), mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process may have made it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
