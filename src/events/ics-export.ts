/** Calendars to download: components, the zones they use, and the text with its lines folded. */
import ICAL from "ical.js";
import type { EventRecord } from "./model.js";
import { type JCal, vtimezone } from "./vtimezone.js";
import { epochSeconds, momentOf } from "./zone.js";

/** Octets after which ical.js folds; its continuation lines carry one more, and 75 is the most (RFC 5545 3.1). */
const FOLD = 74;
const AHEAD_SECONDS = 10 * 366 * 86_400;

export interface CalendarFile {
  readonly name: string;
  readonly components: readonly JCal[];
  /** The events of the components; their zones are described. */
  readonly events: readonly EventRecord[];
  /** Earliest start of an instance, epoch seconds. */
  readonly first: number;
  readonly now: number;
}

export function renderCalendar({ name, components, events, first, now }: CalendarFile): string {
  const earliest = new Map<string, number>();
  for (const event of events) {
    if (event.allDay || event.zone === "UTC") continue;
    const start = Math.min(first, epochSeconds(momentOf(event.start, event.zone)));
    earliest.set(event.zone, Math.min(earliest.get(event.zone) ?? start, start));
  }
  const zones = [...earliest].map(([zone, start]) => vtimezone(zone, start, now + AHEAD_SECONDS));
  const properties = [
    ["version", {}, "text", "2.0"],
    ["prodid", {}, "text", "-//fieldprobe//events//EN"],
    ["calscale", {}, "text", "GREGORIAN"],
    ["name", {}, "text", name],
    ["refresh-interval", {}, "duration", "PT1H"],
  ];
  ICAL.foldLength = FOLD;
  return `${ICAL.stringify(["vcalendar", properties, [...zones, ...components]])}\r\n`;
}
