/** Imports one file: it is read whole and stored in one transaction, or not at all. */
import { readFileSync } from "node:fs";
import type { StoreConnection } from "../../sqlite.js";
import { reasonOf } from "../../system-error.js";
import { ImportError } from "../model/calendar.js";
import { type Configured, importSettings } from "../store/site-settings.js";
import { clearStore, writeCalendar } from "../store/write-calendar.js";
import { readIcs } from "./ics.js";
import { readJson } from "./json.js";

/**
 * @param replace empties the store first, in the same transaction
 * @returns the number of events stored
 * @throws ImportError with every problem of the file; the store is then as it was
 */
export function importFile(db: StoreConnection, file: string, configured: Configured, replace = false): number {
  const text = readText(file);
  const kind = /\.(json|ics)$/i.exec(file)?.[1]?.toLowerCase();
  if (kind === undefined) throw new ImportError(file, [{ place: "name", reason: "must end in .json or .ics" }]);
  return db.transaction("write", () => {
    if (replace) clearStore(db);
    const { calendar, problems } = read(db, kind, text, configured);
    const stored = calendar ? writeCalendar(db, calendar, importSettings(db, calendar.head, configured), problems) : 0;
    if (problems.length > 0) throw new ImportError(file, problems);
    return stored;
  });
}

function readText(file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    const unreadable = error instanceof TypeError ? "is not UTF-8" : `cannot be read: ${reasonOf(error)}`;
    throw new ImportError(file, [{ place: "(file)", reason: unreadable }]);
  }
}

function read(db: StoreConnection, kind: string, text: string, configured: Configured) {
  if (kind === "ics") {
    const { calendar, problems } = readIcs(text, importSettings(db, {}, configured).zone);
    return { calendar, problems };
  }
  return readJson(text, (zone) => importSettings(db, zone === undefined ? {} : { zone }, configured).zone);
}
