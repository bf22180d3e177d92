/** Lists the stored events as lines of text. */

import type { StoreConnection } from "../../sqlite.js";
import type { StoredEvent } from "../model/entities.js";
import { localText, offsetAt } from "../time/zone.js";
import { readStored } from "./site-settings.js";

const SQL = `
  SELECT e.document, count(i.original),
    coalesce(min(CASE WHEN i.over_ts > ? THEN i.start_key END), max(i.start_key)) >> 1
  FROM event e LEFT JOIN instance i ON i.event_id = e.id GROUP BY e.id ORDER BY e.id`;

/** One line per event: id, start of the first upcoming instance or else of the last, number of instances, name. */
export function listEvents(db: StoreConnection, now: number): string[] {
  const zone = readStored(db).get("instanceZone") ?? "UTC";
  return db.all(SQL, [now]).map(([document, count, start]) => {
    const event = JSON.parse(String(document)) as StoredEvent;
    const wall = localText(Number(start), offsetAt(Number(start), zone));
    const when = event.allDay ? `${wall.slice(0, 10)}      ` : wall.slice(0, 16).replace("T", " ");
    const hidden = event.published ? "" : "  (not published)";
    return `${String(event.id).padStart(10)}  ${when}  ${String(count).padStart(4)}  ${event.name}${hidden}`;
  });
}
