/** Refusals that several kinds of tasks share. */
import { CancelledError, RequestError } from "../../shared/errors.js";

/** Throws CancelledError if the flag of a task is set; otherwise false, so that kernels which poll it go on. */
export function throwIfCancelled(cancel: Int32Array): false {
  if (Atomics.load(cancel, 0) !== 0) throw new CancelledError();
  return false;
}

/** Makes a kernel for a grid. Throws RequestError (Unsupported) with `text` if an axis has too few nodes for it. */
export function makeForGrid<T>(text: string, member: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw error instanceof RangeError ? new RequestError("Unsupported", text, { member }) : error;
  }
}
