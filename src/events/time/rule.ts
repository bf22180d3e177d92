/** Recurrence rules: checked, normalised for the store, opened for expansion. */
import { RRuleTemporal } from "rrule-temporal";
import { Temporal } from "temporal-polyfill";
import { epochSeconds, isDay, momentAt, momentOf } from "./zone.js";

/** Parts that are no lists of numbers. */
const PARTS = ["FREQ", "UNTIL", "COUNT", "INTERVAL", "BYDAY", "WKST"];

/** RFC 5545 3.3.10: lowest and highest magnitude, and whether a sign is allowed. */
const NUMBERS: ReadonlyMap<string, readonly [number, number, boolean]> = new Map([
  ["BYSECOND", [0, 59, false]],
  ["BYMINUTE", [0, 59, false]],
  ["BYHOUR", [0, 23, false]],
  ["BYMONTHDAY", [1, 31, true]],
  ["BYYEARDAY", [1, 366, true]],
  ["BYWEEKNO", [1, 53, true]],
  ["BYMONTH", [1, 12, false]],
  ["BYSETPOS", [1, 366, true]],
]);

function seriesStart(start: string, zone: string, allDay: boolean): Temporal.ZonedDateTime {
  return allDay ? Temporal.PlainDate.from(start).toZonedDateTime("UTC") : momentOf(start, zone);
}

/**
 * Checks an RRULE value. An UNTIL without zone is a wall time of the event, a date as UNTIL of a timed event includes
 * that day, and a time as UNTIL of an all-day event includes its day. @throws Error with a reason fit for the person
 * who imports
 */
export function normaliseRule(text: string, start: string, zone: string, allDay: boolean): string {
  const seen = new Map<string, string>();
  for (const part of text.trim().toUpperCase().split(";")) {
    const [name = "", value = "", ...more] = part.split("=");
    const bounds = NUMBERS.get(name);
    const isPart = bounds !== undefined || PARTS.includes(name);
    if (!isPart || value === "" || more.length > 0) throw new Error(`"${part}" is not a rule part`);
    if (seen.has(name)) throw new Error(`${name} appears twice`);
    if (bounds) checkNumbers(name, value, bounds);
    seen.set(name, value);
  }
  const until = seen.get("UNTIL");
  if (until !== undefined) seen.set("UNTIL", normaliseUntil(until, zone, allDay));
  const rule = [...seen].map(([name, value]) => `${name}=${value}`).join(";");
  const dtstart = seriesStart(start, zone, allDay);
  new RRuleTemporal({ rruleString: `RRULE:${withTimedUntil(rule)}`, dtstart, strict: true });
  return rule;
}

/** The library takes UNTIL as a time for a start with a time. */
function withTimedUntil(rule: string): string {
  return rule.replace(/(UNTIL=\d{8})(?=;|$)/, "$1T000000Z");
}

function checkNumbers(name: string, value: string, [low, high, signed]: readonly [number, number, boolean]): void {
  for (const item of value.split(",")) {
    const magnitude = Number(item.replace(signed ? /^[+-]/ : "", ""));
    if (!/^[+-]?\d{1,3}$/.test(item) || !(magnitude >= low && magnitude <= high)) {
      throw new Error(`${name} takes whole numbers from ${low} to ${high}${signed ? ", also negative" : ""}`);
    }
  }
}

function normaliseUntil(text: string, zone: string, allDay: boolean): string {
  const match = /^(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})(Z?))?$/.exec(text);
  const day = match ? `${match[1]}-${match[2]}-${match[3]}` : "";
  if (!match || !isDay(day)) throw new Error("UNTIL must be a date or a time such as 20261231T235959Z");
  const [hour, minute, second, utc] = match.slice(4);
  if (hour === undefined) return allDay ? text : utcText(momentOf(`${day}T23:59:59`, zone));
  const wall = `${day}T${hour}:${minute}:${second}`;
  const moment = momentOf(utc ? `${wall}Z` : wall, zone);
  return allDay ? moment.toPlainDate().toString().replaceAll("-", "") : utcText(moment);
}

function utcText(moment: Temporal.ZonedDateTime): string {
  return `${moment.toInstant().toString({ smallestUnit: "second" }).replace(/[-:]/g, "")}`;
}

/** A wall time of the start that its day skips still governs the later days. */
export function openRule(rule: string, start: string, zone: string, allDay: boolean): RRuleTemporal {
  const dtstart = seriesStart(start, zone, allDay);
  const wall = /T(\d{2}):(\d{2})(?::(\d{2}))?$/.exec(start);
  const skipped = wall !== null && (dtstart.hour !== Number(wall[1]) || dtstart.minute !== Number(wall[2]));
  const time =
    skipped && !/FREQ=(HOURLY|MINUTELY|SECONDLY)/.test(rule) ? pinTime(rule, Number(wall[1]), Number(wall[2])) : rule;
  return new RRuleTemporal({
    rruleString: `RRULE:${withTimedUntil(time)}`,
    dtstart,
    // All-day rules count plain days.
    tzid: allDay ? "UTC" : zone,
    temporal: Temporal,
    includeDtstart: true,
  });
}

function pinTime(rule: string, hour: number, minute: number): string {
  const hours = rule.includes("BYHOUR=") ? "" : `;BYHOUR=${hour}`;
  return `${rule}${hours}${rule.includes("BYMINUTE=") ? "" : `;BYMINUTE=${minute}`}`;
}

/** Both instants included, epoch seconds. */
export function occurrencesBetween(rule: RRuleTemporal, from: number, to: number): number[] {
  return rule.between(momentAt(from, "UTC"), momentAt(to, "UTC"), true).map(epochSeconds);
}
