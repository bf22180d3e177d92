/** Connects to one SQLite file with prepared statements; the only importer of libsql hides its peculiarities. */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import Libsql from "libsql";
import { DataError } from "../../errors.js";
import { reasonOf } from "../../system-error.js";

/** A value of a row. */
export type Cell = number | string | null;
/** The values of a row, in the order of its columns. */
export type Row = readonly Cell[];

/** A connection to a store file. */
export interface Connection {
  /** All rows of a statement, each an array of cells in the order of its columns. */
  all(sql: string, cells?: readonly Cell[]): Row[];
  first(sql: string, cells?: readonly Cell[]): Row | undefined;
  run(sql: string, cells?: readonly Cell[]): void;
  exec(sql: string): void;
  /** Runs `work` on one snapshot of the data; all of it is kept or, when it throws, nothing. */
  transaction<T>(kind: "read" | "write", work: () => T): T;
  close(): void;
}

/** Statements kept prepared; the texts are few, as lists travel as one JSON cell. */
const PREPARED = 500;

/** Time a writer waits for another process that writes, milliseconds. */
const BUSY_MS = 10_000;

/**
 * Opens a store file, creating it and its folder when missing.
 *
 * @param mode "read" refuses every write by `PRAGMA query_only`, since libsql ignores better-sqlite3's `readonly`
 * @throws DataError in one line when the file cannot be opened or is no database
 */
export function openConnection(file: string, mode: "read" | "write"): Connection {
  try {
    mkdirSync(dirname(file), { recursive: true });
    const database = new Libsql(file);
    database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
    database.exec("PRAGMA journal_mode = WAL");
    database.exec("PRAGMA synchronous = NORMAL");
    database.exec("PRAGMA foreign_keys = ON");
    if (mode === "read") database.exec("PRAGMA query_only = ON");
    return connection(database, mode);
  } catch (error) {
    const text = `events: cannot open the store ${file}: ${reasonOf(error)} (FIELDPROBE_STATE names its folder)`;
    throw new DataError(text, error);
  }
}

function connection(database: Libsql.Database, mode: "read" | "write"): Connection {
  const prepared = new Map<string, Libsql.Statement>();
  const statement = (sql: string): Libsql.Statement => {
    const known = prepared.get(sql);
    if (known) return known;
    if (prepared.size >= PREPARED) prepared.clear();
    const fresh = database.prepare(sql);
    prepared.set(sql, fresh);
    return fresh;
  };
  const all = (sql: string, cells: readonly Cell[] = []) => statement(sql).raw().all(cells) as Row[];
  return {
    all,
    first: (sql, cells) => all(sql, cells)[0],
    run: (sql, cells = []) => void statement(sql).run(cells),
    exec: (sql) => void database.exec(sql),
    transaction(kind, work) {
      database.exec(kind === "write" ? "BEGIN IMMEDIATE" : "BEGIN");
      try {
        const result = work();
        database.exec("COMMIT");
        return result;
      } catch (error) {
        if (database.inTransaction) database.exec("ROLLBACK");
        throw error;
      }
    },
    close() {
      // libsql keeps the file open while statements wait to be collected, so the log is not folded in by closing alone.
      if (mode === "read") database.exec("PRAGMA busy_timeout = 0");
      database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      prepared.clear();
      database.close();
    },
  };
}
