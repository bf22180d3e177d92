/** Calendar files: components, the zones they use, folded lines. */
import ICAL from "ical.js";
import type { StoredEvent } from "../model/entities.js";
import { epochSeconds, momentOf } from "../time/zone.js";
import { type JCal, vtimezone } from "./vtimezone.js";

/** ical.js folds one octet later in continuation lines, and 75 is the most (RFC 5545 3.1). */
const FOLD = 74;
const AHEAD_SECONDS = 10 * 366 * 86_400;

export interface CalendarFile {
  readonly name: string;
  readonly components: Iterable<JCal>;
  /** Their zones are described. */
  readonly events: readonly StoredEvent[];
  readonly first: number;
  readonly now: number;
}

/** Text in parts, each made when it is requested. */
export function* calendarParts({ name, components, events, first, now }: CalendarFile): Generator<string> {
  const properties = [
    ["version", {}, "text", "2.0"],
    ["prodid", {}, "text", "-//fieldprobe//events//EN"],
    ["calscale", {}, "text", "GREGORIAN"],
    ["name", {}, "text", name],
    ["refresh-interval", {}, "duration", "PT1H"],
  ];
  const [head, tail] = textOf(["vcalendar", properties, []]).split(/\r\n(?=END:VCALENDAR)/);
  yield `${head}\r\n`;
  for (const component of zonesOf(events, first, now)) yield `${textOf(component)}\r\n`;
  for (const component of components) yield `${textOf(component)}\r\n`;
  yield `${tail}\r\n`;
}

function textOf(component: JCal): string {
  ICAL.foldLength = FOLD;
  return ICAL.stringify.component(component, ICAL.design.icalendar);
}

function zonesOf(events: readonly StoredEvent[], first: number, now: number): JCal[] {
  const earliest = new Map<string, number>();
  for (const event of events) {
    if (event.allDay || event.zone === "UTC") continue;
    const start = Math.min(first, epochSeconds(momentOf(event.start, event.zone)));
    earliest.set(event.zone, Math.min(earliest.get(event.zone) ?? start, start));
  }
  return [...earliest].map(([zone, start]) => vtimezone(zone, start, now + AHEAD_SECONDS));
}
