/** Writes one calendar into the store inside the transaction of the caller; no other code writes terms and events. */

import { isStoreFailure, type StoreConnection } from "../../sqlite.js";
import type { Calendar, ImportProblem, NewEvent } from "../model/calendar.js";
import type { StoredEvent, VocabularyName } from "../model/entities.js";
import { nameKey } from "../model/name-keys.js";
import { strayOverrides } from "../time/expand.js";
import { horizonAt } from "../time/horizon.js";
import { momentOf } from "../time/zone.js";
import { extendHorizon, writeInstances } from "./instances.js";
import { type ImportSettings, writeStored } from "./site-settings.js";
import { nextId, TermBook } from "./term-book.js";

/**
 * Stores a calendar. Its terms and events replace those of the same id; events that the file cancels are deleted.
 *
 * @param problems receives the problems that the store finds; the caller rolls back if there are any
 * @returns the number of events stored
 */
export function writeCalendar(
  db: StoreConnection,
  calendar: Calendar,
  settings: ImportSettings,
  problems: ImportProblem[],
): number {
  for (const name of ["zone", "site", "primarySource"] as const) {
    const value = calendar.head[name];
    if (value !== undefined) writeStored(db, name, value);
  }
  extendHorizon(db, settings.now, settings.zone);
  const terms = new TermBook(db, settings.site);
  for (const term of calendar.terms) terms.add(term, problems);
  terms.checkParents(calendar.terms, problems);
  for (const uid of calendar.removed) {
    db.run("DELETE FROM event WHERE id = (SELECT event_id FROM uid WHERE uid = ?)", [uid]);
  }
  const seen = new Map<number, string>();
  for (const event of calendar.events) {
    const record = resolve(db, event, terms, settings, problems);
    const earlier = seen.get(record.id);
    if (earlier !== undefined) problems.push({ place: event.place, reason: `has the id of ${earlier}` });
    seen.set(record.id, event.place);
    writeEvent(db, record);
    for (const reason of expandEvent(db, record, settings)) problems.push({ place: event.place, reason });
  }
  return calendar.events.length;
}

/** Writes the instances of an event; returns the problems of its series. */
function expandEvent(db: StoreConnection, record: StoredEvent, { zone, now }: ImportSettings): string[] {
  try {
    const stray = strayOverrides(record).map((text) => `override of ${text}, which is not an instance of the event`);
    const count = writeInstances(db, record, zone, horizonAt(now, zone));
    return count > 0 ? stray : [...stray, "has no instance: all are excluded or cancelled"];
  } catch (error) {
    if (isStoreFailure(error)) throw error;
    return [`rrule cannot be expanded: ${(error as Error).message}`];
  }
}

/** Fills in what the file left open: id, addresses, publication, source, term ids. */
function resolve(
  db: StoreConnection,
  event: NewEvent,
  terms: TermBook,
  settings: ImportSettings,
  problems: ImportProblem[],
): StoredEvent {
  const { identity, place, ...rest } = event;
  const id = "id" in identity ? identity.id : idOfUid(db, identity.uid);
  const day = event.allDay
    ? event.start
    : momentOf(event.start, event.zone).withTimeZone(settings.zone).toPlainDate().toString();
  const termIds = (home: VocabularyName): number[] => {
    const found = event.terms[home].map((reference, position) => {
      const term = terms.find(reference, home);
      if (term === null) problems.push({ place: `${place}.${home}[${position}]`, reason: "no such term" });
      return term;
    });
    return [...new Set(found.filter((term) => term !== null))].sort((a, b) => a - b);
  };
  return {
    ...rest,
    id,
    url: event.url ?? `${settings.site}/events/${day.replaceAll("-", "/")}/${encodeURIComponent(event.slug)}`,
    shortUrl: event.shortUrl ?? `${settings.site}/e/${id}`,
    publishDate: event.publishDate ?? settings.now,
    source: event.source ?? settings.source,
    terms: {
      channels: termIds("channels"),
      divisions: termIds("divisions"),
      event_categories: termIds("event_categories"),
      locations: termIds("locations"),
      tags: termIds("tags"),
    },
  };
}

/** The id of a UID, which is the same as long as the store exists, even after its event has been deleted. */
function idOfUid(db: StoreConnection, uid: string): number {
  const known = db.first("SELECT event_id FROM uid WHERE uid = ?", [uid]);
  if (known) return Number(known[0]);
  const last = Number(db.first("SELECT max(event_id) FROM uid")?.[0] ?? 0);
  const id = nextId(last, (taken) => db.first("SELECT 1 FROM event WHERE id = ?", [taken]) !== undefined);
  db.run("INSERT INTO uid (uid, event_id) VALUES (?, ?)", [uid, id]);
  return id;
}

function writeEvent(db: StoreConnection, event: StoredEvent): void {
  db.run("DELETE FROM event WHERE id = ?", [event.id]);
  const publish = event.published ? event.publishDate : null;
  const recurring = event.rrule !== null || event.rdate.length > 0 ? 1 : 0;
  db.run(
    "INSERT INTO event (id, name_key, publish_ts, source, audience, recurring, document) VALUES (?, ?, ?, ?, ?, ?, ?)",
    [event.id, nameKey(event.name), publish, event.source, event.audience, recurring, JSON.stringify(event)],
  );
  for (const term of Object.values(event.terms).flat()) {
    db.run("INSERT INTO event_term (term_id, event_id) VALUES (?, ?)", [term, event.id]);
  }
}

/** Empties the store except for the ids of UIDs. */
export function clearStore(db: StoreConnection): void {
  for (const table of ["instance", "event_term", "event", "term", "meta"]) db.exec(`DELETE FROM ${table}`);
}
