/** Times of a zone: wall texts, instants, dates and offsets. */
import { Temporal } from "temporal-polyfill";
import type { StoredEvent } from "../model/entities.js";

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const WALL = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?$/;
const OFFSET = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:\d{2})$/;

/** A real calendar date spelled `YYYY-MM-DD`. */
export function isDay(text: string): boolean {
  return DAY.test(text) && succeeds(() => Temporal.PlainDate.from(text, { overflow: "reject" }));
}

/** `YYYY-MM-DDTHH:MM[:SS]`, with or without an offset, that names a real time of day. */
export function isTime(text: string): boolean {
  if (WALL.test(text)) return succeeds(() => Temporal.PlainDateTime.from(text, { overflow: "reject" }));
  return OFFSET.test(text) && succeeds(() => Temporal.Instant.from(text));
}

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
 * A wall time in an autumn overlap is its first passing; one in a spring gap has the offset before (RFC 5545 3.3.5).
 */
export function momentOf(text: string, zone: string): Temporal.ZonedDateTime {
  if (!WALL.test(text)) return Temporal.Instant.from(text).toZonedDateTimeISO(zone);
  return Temporal.PlainDateTime.from(text).toZonedDateTime(zone, { disambiguation: "compatible" });
}

export function epochSeconds(moment: Temporal.ZonedDateTime): number {
  return Math.floor(moment.epochMilliseconds / 1000);
}

export function momentAt(seconds: number, zone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(seconds * 1000).toZonedDateTimeISO(zone);
}

export function offsetAt(seconds: number, zone: string): number {
  return Math.round(momentAt(seconds, zone).offsetNanoseconds / 1e9);
}

/** Not always 00:00: some zones change their offset at midnight. */
export function startOfDay(day: string, zone: string): number {
  return epochSeconds(Temporal.PlainDate.from(day).toZonedDateTime(zone));
}

export function addDays(day: string, days: number): string {
  return Temporal.PlainDate.from(day).add({ days }).toString();
}

export function daysBetween(from: string, to: string): number {
  return Temporal.PlainDate.from(from).until(Temporal.PlainDate.from(to), { largestUnit: "days" }).days;
}

export function dayAt(seconds: number, zone: string): string {
  return momentAt(seconds, zone).toPlainDate().toString();
}

function dayToUtc(day: string): number {
  return Date.parse(`${day}T00:00:00Z`) / 1000;
}

export function utcToDay(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 10);
}

/** Original start of a text of an event; all-day: 00:00 UTC of the day. */
export function startOf(text: string, { allDay, zone }: { readonly allDay: boolean; readonly zone: string }): number {
  return allDay ? dayToUtc(text) : epochSeconds(momentOf(text, zone));
}

/** Names of the instances that have their own, by original start. */
export function instanceNames(event: StoredEvent): ReadonlyMap<number, string> {
  const named = event.overrides.flatMap(({ original, name }) =>
    name === undefined ? [] : [[original, name] as const],
  );
  return new Map(named.map(([original, name]) => [startOf(original, event), name]));
}

/** `YYYY-MM-DDTHH:MM:SS`, without a zone lookup. */
export function localText(seconds: number, offset: number): string {
  return new Date((seconds + offset) * 1000).toISOString().slice(0, 19);
}

/** `±HH:MM`; seconds, which zones had before 1972, are cut off. */
export function offsetText(offset: number): string {
  const minutes = Math.trunc(Math.abs(offset) / 60);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${offset < 0 ? "-" : "+"}${two(Math.trunc(minutes / 60))}:${two(minutes % 60)}`;
}
