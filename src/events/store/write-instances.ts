/** The only writer of instances: an event's rows are dropped and made anew from its record. */

import { type EventRecord, overAt, startKey } from "../model/records.js";
import { expand } from "../time/expand.js";
import type { Horizon } from "../time/horizon.js";
import type { Connection } from "./database.js";

const INSERT = `INSERT INTO instance
  (event_id, original, start_key, end_ts, over_ts, start_offset, end_offset, source, audience, publish_ts)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** @returns the number of instances kept; @throws Error when the event's rule cannot be expanded */
export function writeInstances(db: Connection, event: EventRecord, siteZone: string, horizon: Horizon): number {
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
