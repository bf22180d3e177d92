/** Upkeep of a store: schema, sample on first start, horizon of today. */

import { importFile } from "./import/import-file.js";
import { openConnection } from "./store/database.js";
import { type Extension, extendHorizon } from "./store/extend.js";
import { type Configured, importSettings } from "./store/import-settings.js";
import { migrate } from "./store/migrations.js";

export interface Task {
  readonly file: string;
  /** Imported when the store has no event; null: nothing is. */
  readonly sample: string | null;
  readonly configured: Configured;
}

export interface Upkeep {
  /** Events of the sample that were imported. */
  readonly imported: number;
  readonly extension: Extension;
}

/** @throws DataError or ImportError; the store is then as after the last step that was done */
export function maintain({ file, sample, configured }: Task): Upkeep {
  const db = openConnection(file, "write");
  try {
    migrate(db);
    const empty = db.first("SELECT 1 FROM event LIMIT 1") === undefined;
    const imported = empty && sample !== null ? importFile(db, sample, configured) : 0;
    const { now, zone } = importSettings(db, {}, configured);
    return { imported, extension: extendHorizon(db, now, zone) };
  } finally {
    db.close();
  }
}
