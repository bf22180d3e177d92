/** Converts times of a zone: wall texts to instants, instants to local dates and offsets. */
import { Temporal } from "temporal-polyfill";

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const WALL = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?$/;
const OFFSET = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:\d{2})$/;

/** True for a real calendar date spelled `YYYY-MM-DD`. */
export function isDay(text: string): boolean {
  return DAY.test(text) && succeeds(() => Temporal.PlainDate.from(text, { overflow: "reject" }));
}

/** True for `YYYY-MM-DDTHH:MM[:SS]`, with or without an offset, that names a real time of day. */
export function isTime(text: string): boolean {
  if (WALL.test(text)) return succeeds(() => Temporal.PlainDateTime.from(text, { overflow: "reject" }));
  return OFFSET.test(text) && succeeds(() => Temporal.Instant.from(text));
}

/** True for the name of an IANA zone. */
export function isZone(name: string): boolean {
  return !/^[+-]/.test(name) && succeeds(() => Temporal.PlainDate.from("2000-01-01").toZonedDateTime(name));
}

function succeeds(attempt: () => unknown): boolean {
  try {
    attempt();
    return true;
  } catch {
    return false;
  }
}

/**
 * The moment that a text denotes. A wall time in an autumn overlap is its first passing, one in a spring gap is read
 * with the offset before it (RFC 5545 3.3.5).
 */
export function momentOf(text: string, zone: string): Temporal.ZonedDateTime {
  if (!WALL.test(text)) return Temporal.Instant.from(text).toZonedDateTimeISO(zone);
  return Temporal.PlainDateTime.from(text).toZonedDateTime(zone, { disambiguation: "compatible" });
}

/** Epoch seconds of a moment, rounded down. */
export function epochSeconds(moment: Temporal.ZonedDateTime): number {
  return Math.floor(moment.epochMilliseconds / 1000);
}

/** The moment at epoch seconds, on the wall of a zone. */
export function momentAt(seconds: number, zone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(seconds * 1000).toZonedDateTimeISO(zone);
}

/** Offset of `zone` from UTC at an instant, seconds. */
export function offsetAt(seconds: number, zone: string): number {
  return Math.round(momentAt(seconds, zone).offsetNanoseconds / 1e9);
}

/** First second of a day in `zone` (not always 00:00: some zones change their offset at midnight). */
export function startOfDay(day: string, zone: string): number {
  return epochSeconds(Temporal.PlainDate.from(day).toZonedDateTime(zone));
}

/** The day a number of days later. */
export function addDays(day: string, days: number): string {
  return Temporal.PlainDate.from(day).add({ days }).toString();
}

/** Days from one date to another; negative when `to` is earlier. */
export function daysBetween(from: string, to: string): number {
  return Temporal.PlainDate.from(from).until(Temporal.PlainDate.from(to), { largestUnit: "days" }).days;
}

/** The date in `zone` at an instant. */
export function dayAt(seconds: number, zone: string): string {
  return momentAt(seconds, zone).toPlainDate().toString();
}

/** 00:00 UTC of a day, the form in which all-day originals are kept. */
function dayToUtc(day: string): number {
  return Date.parse(`${day}T00:00:00Z`) / 1000;
}

/** Inverse of `dayToUtc`. */
export function utcToDay(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 10);
}

/** The original start that a text of an event denotes: epoch seconds, for all-day events of 00:00 UTC of the day. */
export function startOf(text: string, { allDay, zone }: { readonly allDay: boolean; readonly zone: string }): number {
  return allDay ? dayToUtc(text) : epochSeconds(momentOf(text, zone));
}

/** Local `YYYY-MM-DDTHH:MM:SS` of an instant whose offset is known; costs no zone lookup. */
export function localText(seconds: number, offset: number): string {
  return new Date((seconds + offset) * 1000).toISOString().slice(0, 19);
}

/** `±HH:MM`; zones had seconds in their offsets before 1972, which are cut off. */
export function offsetText(offset: number): string {
  const minutes = Math.trunc(Math.abs(offset) / 60);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${offset < 0 ? "-" : "+"}${two(Math.trunc(minutes / 60))}:${two(minutes % 60)}`;
}
