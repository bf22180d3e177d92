/** Stored events as lines of text. */
import { shownInstance } from "../model/entities.js";
import { localText } from "../time/zone.js";
import { EventIndex } from "./event-index.js";
import { expandCalendar } from "./expand-calendar.js";
import { type StoredCalendar, sorted } from "./stored-calendar.js";

/** One line per event: id, start of the first upcoming instance or else of the last, number of instances, name. */
export function listEvents(stored: StoredCalendar, siteZone: string | null, now: number): string[] {
  const index = new EventIndex(expandCalendar(stored, siteZone, now).calendar);
  return sorted(stored.events).map((event) => {
    const instances = index.instances(event.id);
    const shown = shownInstance(instances, now);
    const wall = localText(shown?.start ?? 0, shown?.startOffset ?? 0);
    const when = event.allDay ? `${wall.slice(0, 10)}      ` : wall.slice(0, 16).replace("T", " ");
    const hidden = event.published ? "" : "  (not published)";
    const count = String(instances.length).padStart(4);
    return `${String(event.id).padStart(10)}  ${when}  ${count}  ${event.name}${hidden}`;
  });
}
