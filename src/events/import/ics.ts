/** Calendar of an iCalendar file: one event per UID, its moved and cancelled instances as overrides. */
import type ICAL from "ical.js";
import type { Calendar, ImportProblem, NewEvent } from "../model/calendar.js";
import { EVERYONE, type Override } from "../model/entities.js";
import { slugOf } from "../model/name-keys.js";
import { normaliseRule } from "../time/rule.js";
import { epochSeconds, momentOf } from "../time/zone.js";
import { type Component, icsComponents } from "./ics-components.js";
import { type IcsTime, lastDay, lengthFrom, lengthTo, textFor, timesOf } from "./ics-times.js";

const EXCERPT = 200;

interface Occurrence {
  readonly component: Component;
  readonly uid: string;
  readonly start: IcsTime;
  readonly length: { readonly days: number; readonly seconds: number; readonly given: boolean };
  /** The instance that this component replaces; null: the component is the event itself. */
  readonly recurrence: IcsTime | null;
  readonly cancelled: boolean;
}

/** @param zone of the site, for times without one */
export function readIcs(text: string, zone: string): { calendar: Calendar; problems: ImportProblem[] } {
  const problems: ImportProblem[] = [];
  const components = icsComponents(text, problems);
  const locations = new Map<string, string>();
  for (const component of components.filter(({ name }) => name === "vtimezone")) {
    const read = (name: string): readonly string[] => whole(component, problems, () => [value(component.parsed, name)]);
    for (const zoneId of read("tzid")) locations.set(zoneId, read("x-lic-location")[0] ?? "");
  }
  const occurrences = components
    .filter((component) => component.name === "vevent")
    .flatMap((component) => whole(component, problems, () => readOccurrence(component, zone, locations, problems)));
  const masters = occurrences.filter((occurrence) => occurrence.recurrence === null);
  const cancelled = new Set(masters.filter((master) => master.cancelled).map((master) => master.uid));
  const known = new Set(masters.map((master) => master.uid));
  const events = masters
    .filter((master) => !master.cancelled)
    .flatMap((master) => {
      const replaced = occurrences.filter((other) => other.recurrence !== null && other.uid === master.uid);
      return whole(master.component, problems, () => eventOf(master, replaced, zone, locations, problems));
    });
  const orphans = occurrences.filter((one) => one.recurrence !== null && !known.has(one.uid) && !one.cancelled);
  for (const orphan of orphans)
    events.push(...whole(orphan.component, problems, () => eventOf(orphan, [], zone, locations, problems)));
  return { calendar: { head: {}, terms: [], events, removed: [...cancelled] }, problems };
}

function value(parsed: ICAL.Component, name: string): string {
  return String(parsed.getFirstPropertyValue(name) ?? "").trim();
}

/** Runs `read`; what it throws becomes a problem at the line of the property. */
function attempt<T>(
  component: Component,
  property: string,
  problems: ImportProblem[],
  read: () => T,
  nth = 0,
): T | undefined {
  try {
    return read();
  } catch (error) {
    const place = `line ${component.lineOf(property, nth)}`;
    problems.push({ place, reason: `${property.toUpperCase()} ${(error as Error).message}` });
    return undefined;
  }
}

/** Runs `read`; what the library throws becomes a problem of the component. */
function whole<T>(component: Component, problems: ImportProblem[], read: () => readonly T[]): readonly T[] {
  try {
    return read();
  } catch (error) {
    problems.push({ place: `line ${component.line}`, reason: (error as Error).message });
    return [];
  }
}

function readOccurrence(
  component: Component,
  zone: string,
  locations: ReadonlyMap<string, string>,
  problems: ImportProblem[],
): Occurrence[] {
  const { parsed } = component;
  const before = problems.length;
  const time = (name: string): IcsTime | null => {
    const property = parsed.getFirstProperty(name);
    if (!property) return null;
    return attempt(component, name, problems, () => timesOf(property, zone, locations)[0]) ?? null;
  };
  const uid = value(parsed, "uid");
  if (uid === "") problems.push({ place: `line ${component.line}`, reason: "UID is missing" });
  const start = time("dtstart");
  const end = time("dtend");
  const recurrence = time("recurrence-id");
  if (start === null) {
    if (problems.length === before) problems.push({ place: `line ${component.line}`, reason: "DTSTART is missing" });
    return [];
  }
  const duration = attempt(component, "duration", problems, () => value(parsed, "duration")) ?? "";
  const length =
    end !== null
      ? attempt(component, "dtend", problems, () => ({ ...lengthTo(start, end), given: true }))
      : duration !== ""
        ? attempt(component, "duration", problems, () => ({ ...lengthFrom(duration, start.allDay), given: true }))
        : { days: start.allDay ? 1 : 0, seconds: 0, given: false };
  if (parsed.getFirstProperty("recurrence-id")?.getFirstParameter("range")) {
    const place = `line ${component.lineOf("recurrence-id")}`;
    problems.push({ place, reason: "RECURRENCE-ID with RANGE is not supported" });
  }
  if (problems.length > before || !length) return [];
  const cancelled = value(parsed, "status").toUpperCase() === "CANCELLED";
  return [{ component, uid, start, length, recurrence, cancelled }];
}

/** The event of a component and its replaced instances; none if there is a problem. */
function eventOf(
  main: Occurrence,
  replaced: readonly Occurrence[],
  siteZone: string,
  locations: ReadonlyMap<string, string>,
  problems: ImportProblem[],
): NewEvent[] {
  const before = problems.length;
  const { component, start, recurrence, length, uid } = main;
  const series = seriesOf(main, replaced, siteZone, locations, problems);
  if (problems.length > before) return [];
  const stamp = component.parsed.getFirstProperty("created") ?? component.parsed.getFirstProperty("dtstamp");
  const published = stamp
    ? attempt(component, stamp.name, problems, () => timesOf(stamp, "UTC", locations)[0])
    : undefined;
  return [
    {
      ...textsOf(component.parsed),
      ...series,
      identity: { uid: recurrence ? `${uid} ${textFor(recurrence, "UTC")}` : uid },
      place: `line ${component.line}`,
      shortUrl: null,
      audience: EVERYONE,
      publishDate: published && !published.allDay ? epochSeconds(momentOf(published.text, published.zone)) : null,
      source: null,
      allDay: start.allDay,
      start: start.text,
      days: length.days,
      seconds: length.seconds,
      image: null,
    },
  ];
}

function seriesOf(
  { component, start, recurrence }: Occurrence,
  replaced: readonly Occurrence[],
  siteZone: string,
  locations: ReadonlyMap<string, string>,
  problems: ImportProblem[],
) {
  const { parsed } = component;
  const zone = start.allDay ? siteZone : start.zone;
  const dates = (name: string): string[] =>
    parsed.getAllProperties(name).flatMap((property, nth) => {
      const read = () => timesOf(property, siteZone, locations).map((time) => alike(time, start, zone));
      return attempt(component, name, problems, read, nth) ?? [];
    });
  const rule = value(parsed, "rrule");
  const read = () => (rule === "" || recurrence ? null : normaliseRule(rule, start.text, zone, start.allDay));
  const rrule = attempt(component, "rrule", problems, read) ?? null;
  const rdate = recurrence ? [] : dates("rdate");
  const exdate = recurrence ? [] : dates("exdate");
  const summary = value(parsed, "summary");
  const overrides = replaced.flatMap((one) => {
    const override = () => overrideOf(one, start, zone, summary);
    return attempt(one.component, "recurrence-id", problems, override) ?? [];
  });
  return { zone, rrule, rdate, exdate, overrides };
}

function textsOf(parsed: ICAL.Component) {
  const name = value(parsed, "summary") || "Untitled";
  const description = value(parsed, "description");
  const url = value(parsed, "url");
  const categories = parsed.getAllProperties("categories").flatMap((property) => property.getValues().map(String));
  const named = (names: readonly string[]) =>
    names
      .map((text) => text.trim())
      .filter(Boolean)
      .map((text) => ({ name: text }));
  return {
    name,
    slug: slugOf(name),
    excerpt: [...description].slice(0, EXCERPT).join(""),
    url: /^https?:\/\/\S+$/.test(url) ? url : null,
    published: (value(parsed, "class") || "PUBLIC").toUpperCase() === "PUBLIC",
    terms: {
      event_categories: named(categories),
      locations: named([value(parsed, "location")]),
      divisions: [],
      tags: [],
      channels: [],
    },
    extras: description === "" ? {} : { description },
  };
}

/** For an event with a time, many programs write only the date of an instance. */
function alike(time: IcsTime, start: IcsTime, zone: string): string {
  if (time.allDay && !start.allDay) return `${time.text}${start.text.slice(10)}`;
  if (!time.allDay && start.allDay) return time.text.slice(0, 10);
  return textFor(time, zone);
}

function overrideOf(one: Occurrence, start: IcsTime, zone: string, summary: string): Override {
  if (!one.recurrence) throw new Error("is missing");
  const original = alike(one.recurrence, start, zone);
  if (one.cancelled) return { original, start: null, end: null, cancelled: true };
  if (one.start.allDay !== start.allDay) throw new Error("must not change an all-day event into a timed one or back");
  const own = value(one.component.parsed, "summary");
  const first = textFor(one.start, zone);
  return {
    original,
    start: first,
    end: one.length.given ? endOf(one, first, zone) : null,
    cancelled: false,
    ...(own === "" || own === summary ? {} : { name: own }),
  };
}

function endOf({ start, length }: Occurrence, first: string, zone: string): string {
  if (start.allDay) return lastDay(first, length.days);
  const end = momentOf(first, zone).add({ days: length.days }).add({ seconds: length.seconds });
  return end.toInstant().toString({ smallestUnit: "second" });
}
