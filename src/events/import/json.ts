/** A JSON file to a calendar: shape, kinds of time and lengths checked, every problem with its JSON path. */
import type { z } from "zod";
import type { Calendar, ImportProblem, NewEvent, NewTerm } from "../model/calendar.js";
import { audienceMask, EVERYONE, type ImageFile, type Override, VOCABULARIES } from "../model/entities.js";
import { slugOf } from "../model/names.js";
import { normaliseRule } from "../time/rule.js";
import { daysBetween, epochSeconds, isDay, momentOf } from "../time/zone.js";
import { EVENT, FILE, type JsonEvent, type JsonFile, type JsonPlace } from "./json-shape.js";

/**
 * @param text    the content of the file
 * @param zoneFor the site zone, given the one in the file's head
 */
export function readJson(
  text: string,
  zoneFor: (head: string | undefined) => string,
): { calendar: Calendar | null; problems: ImportProblem[] } {
  const problems: ImportProblem[] = [];
  const file = parseFile(text, problems);
  if (file === null) return { calendar: null, problems };
  const zone = zoneFor(file.zone);
  const events: NewEvent[] = [];
  for (const [position, value] of file.events.entries()) {
    const place = `events[${position}]`;
    const parsed = EVENT.safeParse(value);
    if (parsed.success) events.push(...convert(parsed.data, place, zone, problems));
    else problems.push(...issues(parsed.error, place));
  }
  const head = {
    ...(file.zone === undefined ? {} : { zone: file.zone }),
    ...(file.site === undefined ? {} : { site: file.site }),
    ...(file.primarySource === undefined ? {} : { primarySource: file.primarySource }),
  };
  return { calendar: { head, terms: termsOf(file), events, removed: [] }, problems };
}

function parseFile(text: string, problems: ImportProblem[]): JsonFile | null {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    const message = (error as Error).message;
    const position = Number(/position (\d+)/.exec(message)?.[1] ?? text.length);
    const line = text.slice(0, position).split("\n").length;
    problems.push({ place: `line ${line}`, reason: "not JSON: a value, a comma or a bracket is wrong here" });
    return null;
  }
  const parsed = FILE.safeParse(value);
  if (parsed.success) return parsed.data;
  problems.push(...issues(parsed.error, ""));
  return null;
}

function issues(error: z.ZodError, base: string): ImportProblem[] {
  return error.issues.map((issue) => ({
    place: issue.path.reduce<string>((path, key) => join(path, key), base) || "(file)",
    reason: issue.message.endsWith("received undefined") ? "is missing" : issue.message,
  }));
}

function join(path: string, key: PropertyKey): string {
  if (typeof key === "number") return `${path}[${key}]`;
  return path === "" ? String(key) : `${path}.${String(key)}`;
}

function termsOf(file: JsonFile): NewTerm[] {
  return VOCABULARIES.flatMap(({ name }) =>
    file.terms[name].map((term, position) => {
      const place = term as JsonPlace;
      const address = {
        address: place.address ?? null,
        city: place.city ?? null,
        state: place.state ?? null,
        zipcode: place.zipcode ?? null,
        latitude: place.latitude ?? null,
        longitude: place.longitude ?? null,
      };
      return {
        id: term.id,
        vocabulary: name,
        name: term.name,
        slug: term.slug ?? slugOf(term.name),
        parent: place.parent ?? null,
        weight: term.weight,
        url: term.url ?? null,
        address: name === "locations" ? address : null,
        place: `terms.${name}[${position}]`,
      };
    }),
  );
}

/** Checks what the shape leaves open; an event with problems is left out of the result. */
function convert(event: JsonEvent, place: string, siteZone: string, problems: ImportProblem[]): NewEvent[] {
  const before = problems.length;
  const report = (member: string, reason: string) => problems.push({ place: `${place}.${member}`, reason });
  const zone = event.start.zone ?? siteZone;
  const allDay = event.start.date !== undefined;
  const start = event.start.date ?? event.start.dateTime ?? "";
  const length = lengthOf(start, event.end ?? null, allDay, zone, (reason) => report("end", reason));
  for (const member of ["rdate", "exdate"] as const) {
    for (const [n, text] of event[member].entries()) {
      if (isDay(text) !== allDay) report(`${member}[${n}]`, kindReason(allDay));
    }
  }
  const overrides = event.overrides.map((override, n) =>
    convertOverride(override, allDay, zone, (member, reason) => report(`overrides[${n}]${member}`, reason)),
  );
  let rrule: string | null = null;
  try {
    if (event.rrule) rrule = normaliseRule(event.rrule, start, zone, allDay);
  } catch (error) {
    report("rrule", (error as Error).message);
  }
  if (problems.length > before) return [];
  const { event_categories, divisions, locations, tags, channels } = event;
  return [
    {
      identity: { id: event.id },
      place,
      name: event.name,
      slug: event.slug ?? slugOf(event.name),
      excerpt: event.excerpt,
      url: event.url ?? null,
      shortUrl: event.short_url ?? null,
      audience: openTo(event.open_to),
      publishDate: event.publish_date ?? null,
      source: event.source ?? null,
      published: event.published,
      zone,
      allDay,
      start,
      ...length,
      rrule,
      rdate: event.rdate,
      exdate: event.exdate,
      overrides,
      terms: { event_categories, divisions, locations, tags, channels },
      image: imageOf(event),
      extras: {
        ...(event.description ? { description: event.description } : {}),
        ...(event.alt_name ? { alt_name: event.alt_name } : {}),
        ...(event.supplemental_location_info ? { supplemental_location_info: event.supplemental_location_info } : {}),
        ...(event.registration_required === undefined ? {} : { registration_required: event.registration_required }),
      },
    },
  ];
}

function kindReason(allDay: boolean): string {
  return allDay ? "must be a date, as the event lasts all day" : "must be a time, as the event has one";
}

/** An empty list is open to everyone, and everyone includes the other three. */
function openTo(names: readonly string[]): number {
  const mask = Number(audienceMask(names));
  return mask === 0 || mask % 2 === 1 ? EVERYONE : mask;
}

type Bound = { readonly date?: string | undefined; readonly dateTime?: string | undefined } | null | undefined;

function lengthOf(start: string, end: Bound, allDay: boolean, zone: string, report: (reason: string) => void) {
  if (!end) return { days: allDay ? 1 : 0, seconds: 0 };
  if ((end.date !== undefined) !== allDay) {
    report(kindReason(allDay));
    return { days: 0, seconds: 0 };
  }
  const days = end.date === undefined ? 0 : daysBetween(start, end.date) + 1;
  const seconds =
    end.dateTime === undefined ? 0 : epochSeconds(momentOf(end.dateTime, zone)) - epochSeconds(momentOf(start, zone));
  if (days < 0 || (allDay && days === 0) || seconds < 0) report("must not be before the start");
  return { days, seconds };
}

function convertOverride(
  override: JsonEvent["overrides"][number],
  allDay: boolean,
  zone: string,
  report: (member: string, reason: string) => void,
): Override {
  if (isDay(override.original) !== allDay) report(".original", kindReason(allDay));
  const pick = (bound: Bound, member: string): string | null => {
    if (!bound) return null;
    if ((bound.date !== undefined) !== allDay) report(`.${member}`, kindReason(allDay));
    return bound.date ?? bound.dateTime ?? null;
  };
  const start = pick(override.start, "start");
  const end = pick(override.end, "end");
  const first = start ?? override.original;
  if (end !== null && isDay(end) === isDay(first)) {
    const bound = allDay ? { date: end } : { dateTime: end };
    lengthOf(first, bound, allDay, zone, (reason) => report(".end", reason));
  }
  return { original: override.original, start, end, cancelled: override.cancelled };
}

function imageOf(event: JsonEvent): ImageFile | null {
  const image = event.image_thumbnail;
  if (!image) return null;
  const { id, name, mime_type, sizes } = image;
  return {
    id,
    name,
    mime_type,
    alt_text: image.alt_text ?? null,
    caption: image.caption ?? null,
    credit: image.credit ?? null,
    sizes,
  };
}
