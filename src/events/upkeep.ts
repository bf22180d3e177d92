/** Maintains the store: its schema, the sample on the first start, and today's horizon. */

import { builtFile } from "../built-file.js";
import { DataError } from "../errors.js";
import { OneThread } from "../one-thread.js";
import { isStoreFailure, openConnection } from "../sqlite.js";
import { importFile } from "./import/import-file.js";
import { type Extension, extendHorizon } from "./store/instances.js";
import { migrate } from "./store/migrations.js";
import { type Configured, importSettings } from "./store/site-settings.js";

/** Parameters of one upkeep. */
export interface UpkeepTask {
  /** Store file. */
  readonly file: string;
  /** Imported when the store has no event; null: nothing is. */
  readonly sample: string | null;
  readonly configured: Configured;
}

/** Counts of one upkeep. */
export interface Upkeep {
  /** Events of the sample that were imported. */
  readonly imported: number;
  readonly extension: Extension;
}

/**
 * Does the upkeep in this thread.
 *
 * @throws DataError or ImportError; the store is then as after the last step that was done
 */
export function maintain({ file, sample, configured }: UpkeepTask): Upkeep {
  const db = openConnection(file, "write");
  try {
    migrate(db);
    const empty = db.first("SELECT 1 FROM event LIMIT 1") === undefined;
    const imported = empty && sample !== null ? importFile(db, sample, configured) : 0;
    const { now, zone } = importSettings(db, {}, configured);
    return { imported, extension: db.transaction("write", () => extendHorizon(db, now, zone)) };
  } catch (error) {
    // An error of libsql would lose its message on the way to another thread.
    if (!isStoreFailure(error)) throw error;
    throw new DataError(`the store ${file}: ${error.message}`, error);
  } finally {
    db.close();
  }
}

const ENTRY = builtFile(new URL("./worker.js", import.meta.url));

/**
 * Does the upkeep in a worker thread, so that recurrence never blocks the thread that answers requests. Resolves once
 * the thread has ended, because the process must not end while native code closes the store.
 *
 * @throws DataError with the reason, fit for the operator
 */
export async function maintainInThread(task: UpkeepTask): Promise<Upkeep> {
  const thread = new OneThread({ filename: ENTRY, name: "maintain", makes: "the upkeep of events" });
  try {
    return await thread.run<Upkeep>(task);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new DataError(`events: ${reason.replace(/^events: /, "")}`);
  } finally {
    await thread.close();
  }
}
