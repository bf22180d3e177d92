/**
 * Connections to an SQLite file with prepared statements. No other file imports libsql, whose peculiarities are hidden
 * here.
 */
import { closeSync, existsSync, openSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import type Libsql from "libsql";
import { DataError } from "./errors.js";
import { makeFolder, reasonOf } from "./system.js";

/** A value of a row. */
export type SqlValue = number | string | null;
/** The values of a row, in the order of its columns. */
export type SqlRow = readonly SqlValue[];

/** A connection to a store file. */
export interface StoreConnection {
  /** Returns all rows of a statement. */
  all(sql: string, cells?: readonly SqlValue[]): SqlRow[];
  first(sql: string, cells?: readonly SqlValue[]): SqlRow | undefined;
  run(sql: string, cells?: readonly SqlValue[]): void;
  exec(sql: string): void;
  /** Runs `work` in one transaction: all its changes are kept or, if it throws, none. */
  transaction<T>(kind: "read" | "write", work: () => T): T;
  close(): void;
}

/** Most prepared statements that are kept. There are few, as a list is bound as one JSON value. */
const PREPARED = 500;

const load = createRequire(import.meta.url);

/**
 * Loads the library when the first store is opened: the field service does not wait for it. To learn which C library
 * there is, it asks for a report of the process, which would look up the name of the peer of every connection, one
 * after the other, while nothing else is served.
 */
function loadLibrary(): typeof Libsql {
  const report = process.report as { excludeNetwork?: boolean };
  const { excludeNetwork = false } = report;
  report.excludeNetwork = true;
  try {
    return load("libsql") as typeof Libsql;
  } finally {
    report.excludeNetwork = excludeNetwork;
  }
}

/** Milliseconds for which each mode waits for another process that has locked the file; a reader blocks its thread. */
const BUSY_MS = { read: 20, write: 10_000 } as const;

/**
 * Opens a store file, creating it and its folder when missing.
 *
 * @param mode "read" refuses every write by `PRAGMA query_only`, since libsql ignores better-sqlite3's `readonly`
 * @param user what the store is for, which errors name
 * @throws DataError in one line when the file cannot be opened or is not a database
 */
export function openConnection(file: string, mode: "read" | "write", user = "events"): StoreConnection {
  let database: Libsql.Database | null = null;
  try {
    makeFolder(dirname(file));
    database = new (loadLibrary())(file);
    database.exec(`PRAGMA busy_timeout = ${BUSY_MS[mode]}`);
    database.exec("PRAGMA journal_mode = WAL");
    database.exec("PRAGMA synchronous = NORMAL");
    database.exec("PRAGMA foreign_keys = ON");
    // Large sorts of readers would fail on a full disk.
    if (mode === "read") database.exec("PRAGMA temp_store = MEMORY");
    if (mode === "read") database.exec("PRAGMA query_only = ON");
    return connection(database, mode);
  } catch (error) {
    database?.close();
    const text = `${user}: cannot open the store ${file}: ${reasonFor(file, error)} (FIELDPROBE_STATE names its folder)`;
    throw new DataError(text, error);
  }
}

/** The reason why a file cannot be opened, or made, in the words of the system: the library has a number only. */
function reasonFor(file: string, error: unknown): string {
  try {
    const isNew = !existsSync(file);
    closeSync(openSync(file, isNew ? "wx" : "r+"));
    if (isNew) rmSync(file);
  } catch (refusal) {
    return reasonOf(refusal);
  }
  return reasonOf(error);
}

function connection(database: Libsql.Database, mode: "read" | "write"): StoreConnection {
  const prepared = new Map<string, Libsql.Statement>();
  const statement = (sql: string): Libsql.Statement => {
    const known = prepared.get(sql);
    if (known) return known;
    if (prepared.size >= PREPARED) prepared.clear();
    const fresh = database.prepare(sql);
    prepared.set(sql, fresh);
    return fresh;
  };
  const all = (sql: string, cells: readonly SqlValue[] = []) => statement(sql).raw().all(cells) as SqlRow[];
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
      if (mode === "read") database.exec("PRAGMA busy_timeout = 0");
      try {
        foldLog(database);
      } finally {
        prepared.clear();
        database.close();
      }
    },
  };
}

/**
 * Writes the log (WAL) back into the file, and removes it if this is the last connection. Closing alone does not, as
 * libsql keeps the file open until its statements are garbage-collected. If the disk or another connection prevents
 * it, the next connection does it.
 */
function foldLog(database: Libsql.Database): void {
  try {
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    database.exec("PRAGMA busy_timeout = 0");
    database.exec("PRAGMA query_only = OFF");
    database.exec("PRAGMA journal_mode = DELETE");
  } catch (error) {
    if (!isStoreFailure(error)) throw error;
  }
}

/** Codes of SQLite for defects of this program. */
const DEFECTS = /^SQLITE_(ERROR|MISUSE|RANGE|MISMATCH|CONSTRAINT)/;

/** Whether an error comes from the store: damaged, locked, on a full disk, without file descriptors. */
export function isStoreFailure(error: unknown): error is { readonly code: string; readonly message: string } {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === "string" && code.startsWith("SQLITE_") && !DEFECTS.test(code);
}
