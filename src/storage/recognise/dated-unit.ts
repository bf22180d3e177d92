/** Times in a unit since a date, in the calendars of CF. */
import { unitOf } from "../dataset/units.js";

export interface DatedUnit {
  readonly unit: string;
  readonly seconds: number;
  /** Seconds from the year 0 of the calendar to the date. */
  readonly start: number;
  readonly calendar: string;
}

const SINCE =
  /^\s*(\w+)\s+since\s+(\d{1,4})-(\d{1,2})-(\d{1,2})(?:[T\s]+(\d{1,2})(?::(\d{1,2})(?::(\d{1,2}(?:\.\d*)?))?)?)?\s*(?:Z|UTC|([+-])(\d{1,2}):?(\d{2})?)?\s*$/i;

/** Days from the year 0 to the first day of a month, by calendar. Source: CF conventions 1.11, section 4.4.1. */
const DAYS: Readonly<Record<string, (year: number, month: number) => number>> = {
  gregorian: gregorianDays,
  noleap: (year, month) => 365 * year + monthDays(month, 28),
  all_leap: (year, month) => 366 * year + monthDays(month, 29),
  "360_day": (year, month) => 360 * year + 30 * (month - 1),
};
const ALIASES: Readonly<Record<string, string>> = {
  "": "gregorian",
  standard: "gregorian",
  proleptic_gregorian: "gregorian",
  "365_day": "noleap",
  "366_day": "all_leap",
};

function monthDays(month: number, february: number): number {
  return [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30].slice(0, month - 1).reduce((sum, days) => sum + days, 0);
}

function gregorianDays(year: number, month: number): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, 1);
  return date.getTime() / 86_400_000;
}

/** What the attributes `units` and `calendar` of a table of times say; null if they name no date, or are not known. */
export function datedUnitOf(units: string, calendar: string): DatedUnit | null {
  const [, unit = "", ...parts] = SINCE.exec(units) ?? [];
  const known = unitOf(unit);
  if (unit === "" || known === null || known.powers !== unitOf("s")?.powers) return null;
  const [year, month, day, hour, minute, second] = parts.slice(0, 6).map((part) => Number(part ?? 0)) as number[];
  const [sign, hours, minutes] = parts.slice(6);
  const zone = (sign === "-" ? -1 : 1) * (3600 * Number(hours ?? 0) + 60 * Number(minutes ?? 0));
  const name = calendar.trim().toLowerCase();
  const days = DAYS[ALIASES[name] ?? name]?.(year as number, month as number);
  // The standard calendar is another one before the change of 1582.
  if (days === undefined || ((year as number) < 1583 && name !== "proleptic_gregorian" && !/\d|leap/.test(name)))
    return null;
  const start = 86_400 * (days + (day as number) - 1) + 3600 * (hour as number) + 60 * (minute as number);
  return { unit, seconds: known.factor, start: start + (second as number) - zone, calendar: ALIASES[name] ?? name };
}
