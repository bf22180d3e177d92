/** Times and lengths of iCalendar properties. */
import ICAL from "ical.js";
import { addDays, daysBetween, epochSeconds, isDay, isTime, isZone, momentOf } from "../time/zone.js";

/** Text on the wall of `zone`, or a day. */
export interface IcsTime {
  readonly text: string;
  readonly zone: string;
  readonly allDay: boolean;
}

/** IANA name of a TZID, which some programs prefix or describe only in the VTIMEZONE. */
function ianaZone(tzid: string, locations: ReadonlyMap<string, string>): string | null {
  const parts = tzid.split("/");
  const candidates = [tzid, locations.get(tzid) ?? "", parts.slice(-3).join("/"), parts.slice(-2).join("/")];
  return candidates.find((name) => name !== "" && isZone(name)) ?? null;
}

/** @throws Error with a reason fit for the person who imports */
export function timesOf(property: ICAL.Property, floating: string, locations: ReadonlyMap<string, string>): IcsTime[] {
  const tzid = property.getFirstParameter("tzid");
  const zone = tzid ? ianaZone(tzid, locations) : floating;
  if (zone === null) throw new Error(`TZID ${tzid} is not an IANA zone`);
  const jcal = property.toJSON() as readonly unknown[];
  return jcal.slice(3).map((value) => {
    if (typeof value !== "string") throw new Error("periods are not supported");
    const utc = value.endsWith("Z");
    const text = utc ? value.slice(0, -1) : value;
    if (!isDay(text) && !isTime(text)) throw new Error("is neither a date nor a time");
    return { text, zone: utc ? "UTC" : zone, allDay: isDay(text) };
  });
}

/** A time as text for an event of `zone`: its wall time, else an instant. */
export function textFor(time: IcsTime, zone: string): string {
  if (time.allDay || time.zone === zone) return time.text;
  return momentOf(time.text, time.zone).toInstant().toString({ smallestUnit: "second" });
}

export function lengthTo(start: IcsTime, end: IcsTime): { days: number; seconds: number } {
  if (start.allDay !== end.allDay) throw new Error("must be a date if DTSTART is one, and a time if it is one");
  const days = start.allDay ? Math.max(daysBetween(start.text, end.text), end.text === start.text ? 1 : 0) : 0;
  const seconds = start.allDay
    ? 0
    : epochSeconds(momentOf(end.text, end.zone)) - epochSeconds(momentOf(start.text, start.zone));
  if (seconds < 0 || (start.allDay && days < 1)) throw new Error("must not be before DTSTART");
  return { days, seconds };
}

/** Days are nominal (the same wall time some days later), the rest is exact (RFC 5545 3.3.6). */
export function lengthFrom(text: string, allDay: boolean): { days: number; seconds: number } {
  const duration = ICAL.Duration.fromString(text);
  const days = duration.weeks * 7 + duration.days;
  const seconds = duration.hours * 3600 + duration.minutes * 60 + duration.seconds;
  if (duration.isNegative) throw new Error("must not be negative");
  if (!allDay) return { days, seconds };
  if (seconds % 86_400 !== 0 || days + seconds === 0) throw new Error("must be of whole days, as DTSTART is a date");
  return { days: days + seconds / 86_400, seconds: 0 };
}

export function lastDay(first: string, days: number): string {
  return addDays(first, days - 1);
}
