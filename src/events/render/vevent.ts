/** Events and instances as VEVENT components. */
import ICAL from "ical.js";
import type { EventInstance, Override, StoredEvent, Terms } from "../model/entities.js";
import { addDays, epochSeconds, instanceNames, isDay, localText, momentOf, offsetAt, utcToDay } from "../time/zone.js";
import { localDay } from "./shown-time.js";
import type { JCal } from "./vtimezone.js";

type Property = unknown[];

export interface CalendarContext {
  readonly terms: Terms;
  readonly host: string;
}

/** One instance on its own. Instances of a series share the UID and differ by RECURRENCE-ID. */
export function instanceComponent(
  event: StoredEvent,
  instance: EventInstance,
  url: string,
  context: CalendarContext,
): JCal {
  const series = event.rrule !== null || event.rdate.length > 0;
  const original = event.allDay ? utcToDay(instance.original) : wallAt(instance.original, event.zone);
  const times = event.allDay
    ? [day("dtstart", localDay(instance)), day("dtend", localText(instance.end, instance.endOffset).slice(0, 10))]
    : [
        time("dtstart", wallAt(instance.start, event.zone), event),
        time("dtend", wallAt(instance.end, event.zone), event),
      ];
  const recurrence = series ? [at("recurrence-id", original, event)] : [];
  const name = instanceNames(event).get(instance.original) ?? event.name;
  return ["vevent", [...common({ ...event, name }, url, context), ...times, ...recurrence], []];
}

/** An event with its rule, and a component for each changed instance. Cancelled ones are excluded dates. */
export function seriesComponents(event: StoredEvent, context: CalendarContext): JCal[] {
  const rule = event.rrule === null ? [] : [["rrule", {}, "recur", ICAL.Recur.fromString(event.rrule).toJSON()]];
  const wall = (text: string) => wallOf(text, event);
  const gone = event.overrides.filter((override) => override.cancelled).map((override) => override.original);
  const excluded = [...event.exdate, ...gone].map((text) => at("exdate", wall(text), event));
  const added = event.rdate.map((text) => at("rdate", wall(text), event));
  const main: JCal = [
    "vevent",
    [
      ...common(event, event.url, context),
      at("dtstart", wall(event.start), event),
      length(event, event.start),
      ...rule,
      ...added,
      ...excluded,
    ],
    [],
  ];
  const changed = event.overrides.filter(
    ({ cancelled, start, end, name }) => !cancelled && (start ?? end ?? name ?? null) !== null,
  );
  return [main, ...changed.map((override) => changedComponent(event, override, context))];
}

function changedComponent(event: StoredEvent, override: Override, context: CalendarContext): JCal {
  const original = wallOf(override.original, event);
  const start = override.start === null ? original : wallOf(override.start, event);
  const end = override.end === null ? length(event, override.start ?? override.original) : endAt(override.end, event);
  const properties = [at("recurrence-id", original, event), at("dtstart", start, event), end];
  const named = { ...event, name: override.name ?? event.name };
  return ["vevent", [...common(named, event.url, context), ...properties], []];
}

function endAt(end: string, event: StoredEvent): Property {
  return event.allDay ? day("dtend", addDays(end, 1)) : at("dtend", wallOf(end, event), event);
}

/** DTEND of an exact length, DURATION of one in days on the wall. */
function length(event: StoredEvent, start: string): Property {
  if (event.allDay) return ["duration", {}, "duration", `P${event.days}D`];
  if (event.days > 0)
    return ["duration", {}, "duration", `P${event.days}D${event.seconds > 0 ? `T${event.seconds}S` : ""}`];
  const end = epochSeconds(momentOf(start, event.zone)) + event.seconds;
  return time("dtend", wallAt(end, event.zone), event);
}

function common(event: StoredEvent, url: string, { terms, host }: CalendarContext): Property[] {
  const stamp = `${localText(event.publishDate, 0)}Z`;
  const named = (ids: readonly number[]) => ids.flatMap((id) => terms.get(id) ?? []);
  const places = named(event.terms.locations);
  const categories = named(event.terms.event_categories).map(({ name }) => name);
  const description = event.extras.description ?? event.excerpt;
  const { latitude, longitude } = places[0]?.address ?? { latitude: null, longitude: null };
  return [
    ["uid", {}, "text", `${event.id}@${host}`],
    ["dtstamp", {}, "date-time", stamp],
    ["created", {}, "date-time", stamp],
    ["summary", {}, "text", event.name],
    ...(description === "" ? [] : [["description", {}, "text", description]]),
    ["url", {}, "uri", url],
    ...(places.length === 0 ? [] : [["location", {}, "text", places.map(({ name }) => name).join(", ")]]),
    ...(latitude === null || longitude === null ? [] : [["geo", {}, "float", [latitude, longitude]]]),
    ...(categories.length === 0 ? [] : [["categories", {}, "text", ...categories]]),
    ...images(event),
  ];
}

/** IMAGE (RFC 7986 5.10). */
function images({ image }: StoredEvent): Property[] {
  const url = image?.sizes.thumbnail ?? Object.values(image?.sizes ?? {})[0];
  return image && url ? [["image", { display: "THUMBNAIL", fmttype: image.mime_type }, "uri", url]] : [];
}

function at(name: string, wall: string, event: StoredEvent): Property {
  return event.allDay ? day(name, wall) : time(name, wall, event);
}

function day(name: string, date: string): Property {
  return [name, {}, "date", date];
}

function time(name: string, wall: string, { zone }: StoredEvent): Property {
  return zone === "UTC" ? [name, {}, "date-time", `${wall}Z`] : [name, { tzid: zone }, "date-time", wall];
}

function wallOf(text: string, event: StoredEvent): string {
  return isDay(text) ? text : wallAt(epochSeconds(momentOf(text, event.zone)), event.zone);
}

function wallAt(seconds: number, zone: string): string {
  return localText(seconds, offsetAt(seconds, zone));
}
