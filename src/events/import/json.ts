/** Calendar of a JSON file, whose problems are all reported by path. */
import { z } from "zod";
import type { Calendar, ImportProblem, NewEvent, NewTerm } from "../model/calendar.js";
import { AUDIENCES, audienceMask, EVERYONE, type Extras, type Override, VOCABULARIES } from "../model/entities.js";
import { slugOf } from "../model/name-keys.js";
import { normaliseRule } from "../time/rule.js";
import { daysBetween, epochSeconds, isDay, isTime, isZone, momentOf } from "../time/zone.js";

/** Absent or null: null. */
const optional = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? null);

const id = z.int().min(1).max(999_999_999_999_999);
const ids = z.array(id).default([]);
/** A line break, which URL parsers ignore, would end a line of a calendar file. */
const address = z
  .url({ protocol: /^https?$/, error: "must be an http or https address" })
  .regex(/^\S+$/, "must have no blanks and line breaks");
const line = z.string().trim().min(1);
const zone = z.string().refine(isZone, "must be an IANA zone");
const slug = z.string().regex(/^[^\s/?#]+$/, "must be one segment of an address");
const source = z
  .string()
  .regex(/^[^\s,]+$/, "must be a name without spaces and commas")
  .refine((name) => name !== "all", "must not be all, which means every source");

const moment = z.string().refine((value) => isDay(value) || isTime(value), "must be a date or a time");
const boundShape = {
  date: z.string().refine(isDay, "must be a date such as 2026-10-22").optional(),
  dateTime: z.string().refine(isTime, "must be a time such as 2026-10-22T16:00:00").optional(),
};
const hasOneTime = ({ date, dateTime }: { date?: string | undefined; dateTime?: string | undefined }) =>
  (date === undefined) !== (dateTime === undefined);
const ONE_TIME = "must have one of date and dateTime";
const zoned = z
  .strictObject({ ...boundShape, zone: zone.optional() })
  .refine(hasOneTime, ONE_TIME)
  .transform((at) => ({ text: at.date ?? at.dateTime ?? "", zone: at.zone }));
const bound = z
  .strictObject(boundShape)
  .refine(hasOneTime, ONE_TIME)
  .transform((at) => at.date ?? at.dateTime ?? "");

const override = z.strictObject({
  original: moment,
  start: optional(bound),
  end: optional(bound),
  cancelled: z.boolean().default(false),
  name: line.optional(),
});

const image = z
  .strictObject({
    id,
    type: z.literal("file").optional(),
    name: line,
    mime_type: z.string().regex(/^[\w.+-]+\/[\w.+-]+$/, "must be a media type"),
    alt_text: optional(z.string()),
    caption: optional(z.string()),
    credit: optional(z.string()),
    sizes: z.record(z.string().regex(/^[a-z][a-z0-9_-]*$/), address),
  })
  .transform(({ type: _type, ...file }) => file);

/** An empty list is open to everyone, and everyone includes the others. */
const openTo = z
  .array(z.string())
  .default([])
  .refine((names) => typeof audienceMask(names) === "number", `must be of ${AUDIENCES.join(", ")}`)
  .transform((names) => {
    const mask = Number(audienceMask(names));
    return mask === 0 || mask % 2 === 1 ? EVERYONE : mask;
  });

const event = z.strictObject({
  id,
  name: line,
  slug: slug.optional(),
  excerpt: z.string().default(""),
  description: z.string().optional(),
  alt_name: z.string().optional(),
  supplemental_location_info: z.string().optional(),
  registration_required: z.boolean().optional(),
  url: optional(address),
  short_url: optional(address),
  open_to: openTo,
  publish_date: optional(z.int()),
  source: optional(source),
  published: z.boolean().default(true),
  start: zoned,
  end: optional(zoned),
  rrule: optional(z.string()),
  rdate: z.array(moment).default([]),
  exdate: z.array(moment).default([]),
  overrides: z.array(override).default([]),
  event_categories: ids,
  divisions: ids,
  locations: ids,
  tags: ids,
  channels: ids,
  image_thumbnail: optional(image),
});
type JsonEvent = z.output<typeof event>;

const term = z.strictObject({
  id,
  name: line,
  slug: slug.optional(),
  weight: z.int().default(0),
  url: optional(address),
});
const branch = term.extend({ parent: optional(id) });
const location = branch.extend({
  address: optional(z.string()),
  city: optional(z.string()),
  state: optional(z.string()),
  zipcode: optional(z.string()),
  latitude: optional(z.number().min(-90).max(90)),
  longitude: optional(z.number().min(-180).max(180)),
});
type JsonLocation = z.output<typeof location>;

/** The events are read one by one, so that a problem in one leaves the others to be checked. */
const file = z.strictObject({
  zone: zone.optional(),
  site: address.transform((url) => url.replace(/\/+$/, "")).optional(),
  primarySource: source.optional(),
  terms: z
    .strictObject({
      channels: z.array(branch).default([]),
      divisions: z.array(term).default([]),
      event_categories: z.array(branch).default([]),
      locations: z.array(location).default([]),
      tags: z.array(term).default([]),
    })
    .prefault({}),
  events: z.array(z.unknown()).default([]),
});
type JsonFile = z.output<typeof file>;

/** @param zoneFor the site zone, given the one in the file's head */
export function readJson(
  text: string,
  zoneFor: (head: string | undefined) => string,
): { calendar: Calendar | null; problems: ImportProblem[] } {
  const problems: ImportProblem[] = [];
  const read = parseFile(text, problems);
  if (read === null) return { calendar: null, problems };
  const { terms, events: unread, ...head } = read;
  const schema = eventSchema(zoneFor(head.zone));
  const events: NewEvent[] = [];
  for (const [position, value] of unread.entries()) {
    const place = `events[${position}]`;
    const parsed = schema.safeParse(value);
    if (parsed.success) events.push({ ...parsed.data, place });
    else problems.push(...problemsOf(parsed.error, place));
  }
  return { calendar: { head, terms: termsOf(terms), events, removed: [] }, problems };
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
  const parsed = file.safeParse(value);
  if (parsed.success) return parsed.data;
  problems.push(...problemsOf(parsed.error, ""));
  return null;
}

function problemsOf(error: z.ZodError, base: string): ImportProblem[] {
  return error.issues.map((issue) => ({
    place: issue.path.reduce<string>(joinPath, base) || "(file)",
    reason: issue.message.endsWith("received undefined") ? "is missing" : issue.message,
  }));
}

function joinPath(path: string, key: PropertyKey): string {
  if (typeof key === "number") return `${path}[${key}]`;
  return path === "" ? String(key) : `${path}.${String(key)}`;
}

function termsOf(terms: JsonFile["terms"]): NewTerm[] {
  return VOCABULARIES.flatMap(({ name: vocabulary }) =>
    terms[vocabulary].map((read, position) => {
      const { slug, parent = null, id, name, weight, url, ...address } = read as JsonLocation;
      const place = `terms.${vocabulary}[${position}]`;
      const located = vocabulary === "locations" ? address : null;
      return { id, vocabulary, name, slug: slug ?? slugOf(name), parent, weight, url, address: located, place };
    }),
  );
}

type ReportMember = (path: PropertyKey[], message: string) => void;

/** One event; checks across members need the zone of its times. */
function eventSchema(siteZone: string) {
  return event.transform((read, context): Omit<NewEvent, "place"> => {
    // Renamed or checked members, then terms, then extras; `same` is taken unchanged.
    const { id, slug, start, end, rrule, overrides, short_url, publish_date, open_to, image_thumbnail, ...more } = read;
    const { event_categories, divisions, locations, tags, channels, ...texts } = more;
    const { description, alt_name, supplemental_location_info, registration_required, ...same } = texts;
    const report: ReportMember = (path, message) => context.addIssue({ code: "custom", path, message });
    const wall = { zone: start.zone ?? siteZone, allDay: isDay(start.text) };
    if ((end?.zone ?? wall.zone) !== wall.zone) {
      report(["end", "zone"], `must be that of the start, ${wall.zone}: it governs the whole event`);
    }
    const length = lengthOf(start.text, end?.text ?? null, wall, (message) => report(["end"], message));
    checkKinds(read, wall.allDay, report);
    for (const [n, one] of overrides.entries())
      checkOverride(one, wall, (path, m) => report(["overrides", n, ...path], m));
    return {
      ...same,
      ...wall,
      ...length,
      identity: { id },
      slug: slug ?? slugOf(read.name),
      shortUrl: short_url,
      audience: open_to,
      publishDate: publish_date,
      start: start.text,
      rrule: ruleOf(rrule, start.text, wall, (message) => report(["rrule"], message)),
      overrides,
      terms: { event_categories, divisions, locations, tags, channels },
      image: image_thumbnail,
      extras: given({ description, alt_name, supplemental_location_info, registration_required }),
    };
  });
}

interface WallTime {
  readonly zone: string;
  readonly allDay: boolean;
}

function kindReason(allDay: boolean): string {
  return allDay ? "must be a date, as the event lasts all day" : "must be a time, as the event has one";
}

function checkKinds(read: JsonEvent, allDay: boolean, report: ReportMember): void {
  for (const member of ["rdate", "exdate"] as const) {
    for (const [n, text] of read[member].entries()) {
      if (isDay(text) !== allDay) report([member, n], kindReason(allDay));
    }
  }
}

function checkOverride({ original, start, end }: Override, wall: WallTime, report: ReportMember): void {
  const { allDay } = wall;
  for (const [member, text] of Object.entries({ original, start, end })) {
    if (text !== null && isDay(text) !== allDay) report([member], kindReason(allDay));
  }
  const first = start ?? original;
  if (end !== null && isDay(end) === allDay && isDay(first) === allDay) {
    lengthOf(first, end, wall, (message) => report(["end"], message));
  }
}

/** Calendar days of an all-day event, else exact seconds. */
function lengthOf(start: string, end: string | null, { zone, allDay }: WallTime, report: (message: string) => void) {
  if (end === null) return { days: allDay ? 1 : 0, seconds: 0 };
  if (isDay(end) !== allDay) {
    report(kindReason(allDay));
    return { days: 0, seconds: 0 };
  }
  const days = allDay ? daysBetween(start, end) + 1 : 0;
  const seconds = allDay ? 0 : epochSeconds(momentOf(end, zone)) - epochSeconds(momentOf(start, zone));
  if (days < (allDay ? 1 : 0) || seconds < 0) report("must not be before the start");
  return { days, seconds };
}

function ruleOf(text: string | null, start: string, { zone, allDay }: WallTime, report: (message: string) => void) {
  try {
    return text === null || text === "" ? null : normaliseRule(text, start, zone, allDay);
  } catch (error) {
    report((error as Error).message);
    return null;
  }
}

/** Members with a value that is not empty. */
function given(members: { readonly [Name in keyof Extras]: Extras[Name] | undefined }): Extras {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== ""));
}
