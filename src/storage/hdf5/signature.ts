/** How HDF5 files begin, and in words why one does not open. */
import { closeSync, openSync, readSync } from "node:fs";
import { reasonOf } from "../../system-error.js";

const SIGNATURE = Buffer.from("\x89HDF\r\n\x1a\n", "latin1");

/** The first bytes of a file, as many as the signature has where there are so many. @throws what the system refuses */
function headOf(path: string): Buffer {
  const head = Buffer.alloc(SIGNATURE.length);
  const file = openSync(path, "r");
  try {
    return head.subarray(0, readSync(file, head, 0, head.length, 0));
  } finally {
    closeSync(file);
  }
}

/** Whether a file can be read and begins as HDF5 files do. */
export function isHdf5(path: string): boolean {
  try {
    return headOf(path).equals(SIGNATURE);
  } catch {
    return false;
  }
}

/** Why the library did not open a file. */
export function whyNotHdf5(path: string): string {
  try {
    const head = headOf(path);
    if (head.length === 0) return "it is empty";
    return head.equals(SIGNATURE) ? "it is damaged or cut short" : "it does not begin like one";
  } catch (error) {
    return reasonOf(error);
  }
}
