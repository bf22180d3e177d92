/** Writes the instances of one event, or of all events when the horizon has moved. */

import { isStoreFailure, type StoreConnection } from "../../sqlite.js";
import { overAt, type StoredEvent, startKey } from "../model/entities.js";
import { expand } from "../time/expand.js";
import { type Horizon, horizonAt } from "../time/horizon.js";
import { readStored, writeStored } from "./site-settings.js";

const INSERT = `INSERT INTO instance
  (event_id, original, start_key, end_ts, over_ts, start_offset, end_offset, source, audience, publish_ts)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/**
 * Replaces the instances of an event by those that follow from its record.
 *
 * @returns the number of instances kept; @throws Error when the event's rule cannot be expanded
 */
export function writeInstances(db: StoreConnection, event: StoredEvent, siteZone: string, horizon: Horizon): number {
  const instances = expand(event, siteZone, horizon);
  const publish = event.published ? event.publishDate : null;
  db.run("DELETE FROM instance WHERE event_id = ?", [event.id]);
  for (const { original, start, end, allDay, startOffset, endOffset } of instances) {
    const key = startKey(start, allDay);
    const over = overAt(start, end);
    db.run(INSERT, [event.id, original, key, end, over, startOffset, endOffset, event.source, event.audience, publish]);
  }
  return instances.length;
}

/** The result of moving the horizon. */
export interface Extension {
  /** Events whose instances were made again. */
  readonly events: number;
  /** Events that could not be expanded and keep the instances they had, with the reason. */
  readonly failed: readonly { readonly id: number; readonly reason: string }[];
}

/**
 * Moves the horizon to the day of `now`, inside a transaction of the caller; does nothing when it is there already.
 * One-time events are left alone unless the zone changed, which moves the midnights of all-day events.
 */
export function extendHorizon(db: StoreConnection, now: number, siteZone: string): Extension {
  const stored = readStored(db);
  const horizon = horizonAt(now, siteZone);
  const sameZone = stored.get("instanceZone") === siteZone;
  if (sameZone && stored.get("horizonFirst") === horizon.first) return { events: 0, failed: [] };
  const rows = db.all(`SELECT document FROM event ${sameZone ? "WHERE recurring = 1" : ""} ORDER BY id`);
  const failed: { id: number; reason: string }[] = [];
  for (const [document] of rows) {
    const event = JSON.parse(String(document)) as StoredEvent;
    try {
      writeInstances(db, event, siteZone, horizon);
    } catch (error) {
      if (isStoreFailure(error)) throw error;
      failed.push({ id: event.id, reason: (error as Error).message });
    }
  }
  writeStored(db, "instanceZone", siteZone);
  writeStored(db, "horizonFirst", horizon.first);
  return { events: rows.length - failed.length, failed };
}
