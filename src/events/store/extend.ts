/** Horizon extension: the instances of every event made for today's horizon and the site zone. */

import type { EventRecord } from "../model/records.js";
import { horizonAt } from "../time/horizon.js";
import type { Connection } from "./database.js";
import { readMeta, writeMeta } from "./meta.js";
import { writeInstances } from "./write-instances.js";

export interface Extension {
  /** Events whose instances were made anew. */
  readonly events: number;
  /** Events that could not be expanded and keep the instances they had, with the reason. */
  readonly failed: readonly { readonly id: number; readonly reason: string }[];
}

/**
 * Moves the horizon to the day of `now`, in one transaction. Does nothing when the store is already there. One-time
 * events are left alone unless the zone changed, which moves the midnights of all-day events.
 */
export function extendHorizon(db: Connection, now: number, siteZone: string): Extension {
  return db.transaction("write", () => extendWithin(db, now, siteZone));
}

/** `extendHorizon` inside a transaction of the caller. */
export function extendWithin(db: Connection, now: number, siteZone: string): Extension {
  const meta = readMeta(db);
  const horizon = horizonAt(now, siteZone);
  const sameZone = meta.get("instanceZone") === siteZone;
  if (sameZone && meta.get("horizonFirst") === horizon.first) return { events: 0, failed: [] };
  const rows = db.all(`SELECT document FROM event ${sameZone ? "WHERE recurring = 1" : ""} ORDER BY id`);
  const failed: { id: number; reason: string }[] = [];
  for (const [document] of rows) {
    const event = JSON.parse(String(document)) as EventRecord;
    try {
      writeInstances(db, event, siteZone, horizon);
    } catch (error) {
      failed.push({ id: event.id, reason: (error as Error).message });
    }
  }
  writeMeta(db, "instanceZone", siteZone);
  writeMeta(db, "horizonFirst", horizon.first);
  return { events: rows.length - failed.length, failed };
}
