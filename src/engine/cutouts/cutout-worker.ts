/** Entry of the cutout thread: writes one file at a time. */
import { parentPort } from "node:worker_threads";
import { BusyError, DataError } from "../../shared/errors.js";
import { isFullDisk, reasonOf } from "../../shared/system.js";
import { connectToStores } from "../../storage/remote/store-connection.js";
import { writeCutout } from "../../storage/tools/cutout.js";
import { writeGridFile, writeTableFile } from "../../storage/tools/grid-file.js";
import { writeTrajectoryFile } from "../../storage/tools/trajectory-file.js";
import type { CutoutOutcome, FileToWrite } from "./cutout-thread.js";

connectToStores(parentPort);

/** Writes one file. What is wrong with the data is an outcome; any other error is a defect and is thrown. */
export async function write(task: FileToWrite): Promise<CutoutOutcome> {
  try {
    if ("grid" in task) await writeGridFile(task.path, task.grid);
    else if ("table" in task) await writeTableFile(task.path, task.table);
    else if ("recorded" in task) {
      const { paths, starts, of, about } = task.recorded;
      await writeTrajectoryFile(task.path, paths, starts, of, about);
    } else await writeCutout(task.dataset, task.selection, task.path);
    return null;
  } catch (error) {
    if (isFullDisk(error)) return { full: reasonOf(error) };
    if (error instanceof DataError) return { unreadable: error.message, context: error.context };
    if (error instanceof BusyError) return { busy: error.message, retryAfter: error.context.retryAfter };
    throw error;
  }
}
