/** `writeWhole` writes a file whole or not at all. */
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { reasonOf } from "../../shared/system.js";

/** Writes a file, or replaces it, in one step. @throws Error in one line that names it */
export function writeWhole(path: string, content: string | Uint8Array): void {
  const partial = `${path}.${process.pid}.partial`;
  try {
    writeFileSync(partial, content, { flag: "wx" });
    renameSync(partial, path);
  } catch (error) {
    rmSync(partial, { force: true });
    throw new Error(`${path} cannot be written: ${reasonOf(error)}`);
  }
}
