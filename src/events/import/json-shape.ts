/** The shape of an importable JSON file; what a value means beside its shape is checked in `import-json.ts`. */
import { z } from "zod";
import { AUDIENCES, audienceMask } from "../model/entities.js";
import { isDay, isTime, isZone } from "../time/zone.js";

const id = z.int().min(1).max(999_999_999_999_999);
const ids = z.array(id).default([]);
/** The parser of addresses passes over blanks and line breaks, which would end a line of a calendar file. */
const address = z
  .url({ protocol: /^https?$/, error: "must be an http or https address" })
  .regex(/^\S+$/, "must have no blanks and line breaks");
const line = z.string().trim().min(1);
const day = z.string().refine(isDay, "must be a date such as 2026-10-22");
const time = z.string().refine(isTime, "must be a time such as 2026-10-22T16:00:00");
const text = z.string().nullish();
const slug = z.string().regex(/^[^\s/?#]+$/, "must be one segment of an address");

const start = z
  .strictObject({
    date: day.optional(),
    dateTime: time.optional(),
    zone: z.string().refine(isZone, "must be an IANA zone").optional(),
  })
  .refine((at) => (at.date === undefined) !== (at.dateTime === undefined), "must have one of date and dateTime");
const end = z
  .strictObject({ date: day.optional(), dateTime: time.optional() })
  .refine((at) => (at.date === undefined) !== (at.dateTime === undefined), "must have one of date and dateTime");

const moment = z.string().refine((value) => isDay(value) || isTime(value), "must be a date or a time");

const override = z.strictObject({
  original: moment,
  start: end.nullish(),
  end: end.nullish(),
  cancelled: z.boolean().default(false),
});

const image = z.strictObject({
  id,
  type: z.literal("file").optional(),
  name: line,
  mime_type: z.string().regex(/^[\w.+-]+\/[\w.+-]+$/, "must be a media type"),
  alt_text: text,
  caption: text,
  credit: text,
  sizes: z.record(z.string().regex(/^[a-z][a-z0-9_-]*$/), address),
});

const term = z.strictObject({
  id,
  name: line,
  slug: slug.optional(),
  weight: z.int().default(0),
  url: address.nullish(),
});
const branch = term.extend({ parent: id.nullish() });
const place = branch.extend({
  address: text,
  city: text,
  state: text,
  zipcode: text,
  latitude: z.number().min(-90).max(90).nullish(),
  longitude: z.number().min(-180).max(180).nullish(),
});

const source = z.string().regex(/^[^\s,]+$/, "must be a name without spaces and commas");
const primary = source.refine((name) => name !== "all", "must not be all, which stands for every source");

const event = z.strictObject({
  id,
  name: line,
  slug: slug.optional(),
  excerpt: z.string().default(""),
  description: z.string().default(""),
  alt_name: z.string().default(""),
  supplemental_location_info: z.string().default(""),
  registration_required: z.boolean().optional(),
  url: address.nullish(),
  short_url: address.nullish(),
  open_to: z
    .array(z.string())
    .default([])
    .refine((names) => typeof audienceMask(names) === "number", `must be of ${AUDIENCES.join(", ")}`),
  publish_date: z.int().nullish(),
  source: primary.nullish(),
  published: z.boolean().default(true),
  start,
  end: end.nullish(),
  rrule: z.string().nullish(),
  rdate: z.array(moment).default([]),
  exdate: z.array(moment).default([]),
  overrides: z.array(override).default([]),
  event_categories: ids,
  divisions: ids,
  locations: ids,
  tags: ids,
  channels: ids,
  image_thumbnail: image.nullish(),
});

/** The whole file with its events unread, so that a fault in one leaves the others to be checked. */
export const FILE = z.strictObject({
  zone: z.string().refine(isZone, "must be an IANA zone").optional(),
  site: address.transform((url) => url.replace(/\/+$/, "")).optional(),
  primarySource: primary.optional(),
  terms: z
    .strictObject({
      channels: z.array(branch).default([]),
      divisions: z.array(term).default([]),
      event_categories: z.array(branch).default([]),
      locations: z.array(place).default([]),
      tags: z.array(term).default([]),
    })
    .prefault({}),
  events: z.array(z.unknown()).default([]),
});

export const EVENT = event;
export type JsonFile = z.output<typeof FILE>;
export type JsonEvent = z.output<typeof EVENT>;
export type JsonPlace = z.output<typeof place>;
