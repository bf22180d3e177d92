/** Ids, times and addresses of instances as they are shown. */
import type { EventInstance } from "../model/entities.js";
import { addDays, localText, offsetText, utcToDay } from "../time/zone.js";

export interface ShownTime {
  readonly date?: string;
  readonly dateTime?: string;
  readonly timestamp?: number;
}

/** `{date}` of an all-day instance (end: the last day), else `{dateTime, timestamp}`. */
export function shownTime(instance: EventInstance, which: "start" | "end"): ShownTime {
  const [seconds, offset] =
    which === "start" ? [instance.start, instance.startOffset] : [instance.end, instance.endOffset];
  const local = localText(seconds, offset);
  if (!instance.allDay) return { dateTime: `${local}${offsetText(offset)}`, timestamp: seconds };
  return { date: which === "start" ? local.slice(0, 10) : addDays(local.slice(0, 10), -1) };
}

/** `YYYYMMDD`, or in UTC `YYYYMMDDTHHMMSSZ`. */
function originalText(instance: EventInstance): string {
  if (instance.allDay) return utcToDay(instance.original).replaceAll("-", "");
  return `${new Date(instance.original * 1000).toISOString().slice(0, 19).replace(/[-:]/g, "")}Z`;
}

export function instanceId(instance: EventInstance): string {
  return `${instance.eventId}-${originalText(instance)}`;
}

export function localDay(instance: EventInstance): string {
  return localText(instance.start, instance.startOffset).slice(0, 10);
}

function localMinute(instance: EventInstance): string {
  return localText(instance.start, instance.startOffset).slice(11, 16);
}

const DATED = /^(https?:\/\/[^/?#]+[^?#]*)\/\d{4}\/\d{2}\/\d{2}\/([^/?#]*)(\?[^#]*)?(#.*)?$/;

/**
 * Addresses of instances: the event's with the instance's date in its path, and `at=HHMM` if two share a date. An
 * address without a date belongs to another site and means every instance.
 */
export function instanceUrls(url: string, instances: readonly EventInstance[]): string[] {
  const match = DATED.exec(url);
  if (!match) return instances.map(() => url);
  const [, base = "", slug = "", query = "", fragment = ""] = match;
  const days = instances.map(localDay);
  const perDay = new Map<string, number>();
  for (const day of days) perDay.set(day, (perDay.get(day) ?? 0) + 1);
  return instances.map((instance, position) => {
    const day = days[position] ?? "";
    const at =
      (perDay.get(day) ?? 0) > 1 ? `${query === "" ? "?" : "&"}at=${localMinute(instance).replace(":", "")}` : "";
    return `${base}/${day.replaceAll("-", "/")}/${slug}${query}${at}${fragment}`;
  });
}
