/** The schema of the store is a list of migrations; `user_version` counts those that a file has seen. */
import { DataError } from "../../errors.js";
import type { StoreConnection } from "../../sqlite.js";

/**
 * `event.document` holds the record as JSON; orders and filters read the other columns. The index
 * `instance_by_date` covers a page of the default order with all its filters, so that a page reads no other row.
 * `start_date` is the local date of the start. `publish_ts` is null for events that are not published.
 */
const MIGRATIONS = [
  `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE term (
    id INTEGER PRIMARY KEY, vocabulary TEXT NOT NULL, name TEXT NOT NULL, slug TEXT NOT NULL,
    parent INTEGER REFERENCES term (id) DEFERRABLE INITIALLY DEFERRED, weight INTEGER NOT NULL, url TEXT NOT NULL,
    address TEXT
  );
  CREATE TABLE event (
    id INTEGER PRIMARY KEY, name_key TEXT NOT NULL, publish_ts INTEGER, source TEXT NOT NULL, audience INTEGER NOT NULL,
    recurring INTEGER NOT NULL, document TEXT NOT NULL
  );
  CREATE INDEX event_by_publication ON event (publish_ts);
  CREATE INDEX event_by_name ON event (name_key);
  CREATE INDEX event_by_source ON event (source);
  CREATE TABLE event_term (
    term_id INTEGER NOT NULL REFERENCES term (id) DEFERRABLE INITIALLY DEFERRED,
    event_id INTEGER NOT NULL REFERENCES event (id) ON DELETE CASCADE,
    PRIMARY KEY (term_id, event_id)
  ) WITHOUT ROWID;
  CREATE INDEX event_term_by_event ON event_term (event_id);
  CREATE TABLE instance (
    event_id INTEGER NOT NULL REFERENCES event (id) ON DELETE CASCADE,
    original INTEGER NOT NULL, start_key INTEGER NOT NULL, end_ts INTEGER NOT NULL, over_ts INTEGER NOT NULL,
    start_offset INTEGER NOT NULL, end_offset INTEGER NOT NULL,
    source TEXT NOT NULL, audience INTEGER NOT NULL, publish_ts INTEGER,
    PRIMARY KEY (event_id, original)
  ) WITHOUT ROWID;
  CREATE INDEX instance_by_start ON instance (
    start_key, event_id, original, over_ts, source, audience, publish_ts, end_ts, start_offset, end_offset
  );
  CREATE INDEX instance_by_event ON instance (event_id, start_key, original, over_ts);
  CREATE INDEX instance_by_over ON instance (over_ts);
  CREATE TABLE uid (uid TEXT PRIMARY KEY, event_id INTEGER NOT NULL UNIQUE) WITHOUT ROWID;
  `,
  `
  ALTER TABLE instance ADD COLUMN start_date TEXT
    GENERATED ALWAYS AS (date((start_key >> 1) + start_offset, 'unixepoch')) VIRTUAL;
  DROP INDEX instance_by_start;
  CREATE INDEX instance_by_start ON instance (start_key);
  CREATE INDEX instance_by_date ON instance (
    start_date, event_id, start_key, original, over_ts, source, audience, publish_ts, end_ts, start_offset, end_offset
  );
  `,
];

/**
 * Brings a store to the schema of this program, one transaction per step.
 *
 * @throws DataError when the file was written by a newer program
 */
export function migrate(db: StoreConnection): void {
  const version = () => Number(db.first("PRAGMA user_version")?.[0] ?? 0);
  if (version() > MIGRATIONS.length) {
    throw new DataError(`events: the store has schema ${version()}, this program knows ${MIGRATIONS.length}`);
  }
  for (let step = version(); step < MIGRATIONS.length; step++) {
    db.transaction("write", () => {
      if (version() !== step) return;
      db.exec(MIGRATIONS[step] as string);
      db.exec(`PRAGMA user_version = ${step + 1}`);
    });
  }
}
