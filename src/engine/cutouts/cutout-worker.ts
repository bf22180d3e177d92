/** The entry of the cutout thread writes one file at a time. */

import { parentPort } from "node:worker_threads";
import { BusyError, DataError } from "../../errors.js";
import { shareStoresOf } from "../../storage/thread/store-connection.js";
import { writeCutout } from "../../storage/tools/cutout.js";
import type { CutoutFile, CutoutOutcome } from "./cutout-thread.js";

shareStoresOf(parentPort);

/** Writes one file. What is wrong with the data is an outcome; any other error is a defect and is thrown. */
export async function write({ dataset, selection, path }: CutoutFile): Promise<CutoutOutcome> {
  try {
    await writeCutout(dataset, selection, path, () => undefined);
    return null;
  } catch (error) {
    if (error instanceof DataError) return { unreadable: error.message };
    if (error instanceof BusyError) return { busy: error.message };
    throw error;
  }
}
