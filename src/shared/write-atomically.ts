/** Atomic write of a file. */
import { randomUUID } from "node:crypto";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { reasonOf } from "./system.js";

/** @throws Error in one line that names the file */
export function writeAtomically(path: string, content: string | Uint8Array): void {
  // Process ids return after a restart, and threads share theirs.
  const partial = `${path}.${randomUUID()}.partial`;
  try {
    writeFileSync(partial, content, { flag: "wx" });
    renameSync(partial, path);
  } catch (error) {
    rmSync(partial, { force: true });
    throw new Error(`${path} cannot be written: ${reasonOf(error)}`);
  }
}
