/** Atomic write of a file. */
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { reasonOf } from "../../shared/system.js";

/** @throws Error in one line that names the file */
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
