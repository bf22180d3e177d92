/** The calendar on disk: one JSON file, replaced atomically by one process at a time. */
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { DataError } from "../../shared/errors.js";
import { openConnection } from "../../shared/sqlite.js";
import { makeFolder, reasonOf, withLock } from "../../shared/system.js";
import type { FileHead } from "../model/calendar.js";
import type { Address, StoredEvent, TaxonomyTerm } from "../model/entities.js";

/** Ids of UIDs stay for good. */
export interface StoredCalendar {
  readonly settings: FileHead;
  readonly terms: ReadonlyMap<number, TaxonomyTerm>;
  readonly events: ReadonlyMap<number, StoredEvent>;
  readonly uids: ReadonlyMap<string, number>;
}

/** File of a calendar, and the database of version 1.0 that is read while there is none. */
export interface CalendarPlace {
  readonly file: string;
  readonly db: string;
}

const EMPTY: StoredCalendar = { settings: {}, terms: new Map(), events: new Map(), uids: new Map() };
const VERSION = 1;
const SQLITE = "SQLite format 3\0";

/** Empty if there is none. Throws DataError. */
export function openCalendar({ file, db }: CalendarPlace): StoredCalendar {
  const found = [file, db].find((path) => existsSync(path));
  if (found === undefined) return EMPTY;
  return isDatabase(found) ? readDatabase(found) : readCalendar(found);
}

/** SQLite, "Database File Format", section 1.3. */
function isDatabase(path: string): boolean {
  try {
    return readFileSync(path).toString("latin1", 0, SQLITE.length) === SQLITE;
  } catch {
    return false;
  }
}

export function readCalendar(file: string): StoredCalendar {
  try {
    const { version, settings, terms, events, uids } = JSON.parse(readFileSync(file, "utf8"));
    if (version !== VERSION) throw new Error(`its version is ${version}, this program reads ${VERSION}`);
    return { settings, terms: byId<TaxonomyTerm>(terms), events: byId<StoredEvent>(events), uids: new Map(uids) };
  } catch (error) {
    throw new DataError(`events: ${file} cannot be read: ${reasonOf(error)}`, error);
  }
}

export function signatureOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false, bigint: true });
  return found === undefined ? "" : `${found.ino} ${found.size} ${found.mtimeNs}`;
}

/** Replaces the calendar by the result of `change`; keeps it if `change` throws. Throws DataError. */
export function changeCalendar(place: CalendarPlace, change: (stored: StoredCalendar) => StoredCalendar): void {
  try {
    makeFolder(dirname(place.file));
  } catch (error) {
    throw new DataError(`events: ${place.file} cannot be written: ${reasonOf(error)}`, error);
  }
  withLock(place.file, () => {
    if (existsSync(place.file) && isDatabase(place.file))
      throw new DataError(`events: ${place.file} is a database of version 1.0, which is only read; name another file`);
    const before = openCalendar(place);
    const after = change(before);
    if (after !== before || !existsSync(place.file)) writeCalendar(place.file, after);
  });
}

function writeCalendar(file: string, { settings, terms, events, uids }: StoredCalendar): void {
  const head = JSON.stringify({ version: VERSION, settings, terms: sorted(terms), uids: [...uids] }).slice(0, -1);
  // A line for each event, so that versions of the file can be compared.
  const lines = sorted(events).map((event) => JSON.stringify(event));
  const partial = `${file}.partial`;
  try {
    writeFileSync(partial, `${head},"events":[\n${lines.join(",\n")}\n]}\n`, { flush: true });
    renameSync(partial, file);
  } catch (error) {
    rmSync(partial, { force: true });
    throw new DataError(`events: ${file} cannot be written: ${reasonOf(error)}`, error);
  }
}

export function sorted<T extends { readonly id: number }>(values: ReadonlyMap<number, T>): T[] {
  return [...values.values()].sort((a, b) => a.id - b.id);
}

function byId<T extends { readonly id: number }>(values: readonly T[]): Map<number, T> {
  return new Map(values.map((value) => [value.id, value]));
}

/** Last schema of the databases of version 1.0. */
const SCHEMA = 2;

function readDatabase(file: string): StoredCalendar {
  const db = openConnection(file, "read");
  try {
    const schema = Number(db.first("PRAGMA user_version")?.[0]);
    if (schema > SCHEMA) throw new Error(`its schema is ${schema}, this program reads ${SCHEMA}`);
    if (schema === 0) return EMPTY;
    const terms = db.all("SELECT id, vocabulary, name, slug, parent, weight, url, address FROM term");
    const events = db.all("SELECT document FROM event").map(([text]) => JSON.parse(String(text)) as StoredEvent);
    const settings = db.all("SELECT name, value FROM meta WHERE name IN ('zone', 'site', 'primarySource')");
    return {
      settings: Object.fromEntries(settings),
      terms: byId(
        terms.map(([id, vocabulary, name, slug, parent, weight, url, address]) => ({
          ...({ id, vocabulary, name, slug, parent, weight, url } as Omit<TaxonomyTerm, "address">),
          address: address === null ? null : (JSON.parse(String(address)) as Address),
        })),
      ),
      events: byId(events),
      uids: new Map(db.all("SELECT uid, event_id FROM uid").map(([uid, id]) => [String(uid), Number(id)])),
    };
  } catch (error) {
    throw new DataError(`events: the database ${file} cannot be read: ${reasonOf(error)}`, error);
  } finally {
    db.close();
  }
}
