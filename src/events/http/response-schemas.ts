/** Declares the schemas of responses, from which the OpenAPI document is made. */
import { type TObject, type TSchema, Type } from "@sinclair/typebox";
import { AUDIENCES, VOCABULARIES, type Vocabulary } from "../model/entities.js";
import { EVENTS_ERROR_CODES } from "./events-error.js";

/** A schema that also admits null, as OpenAPI 3.0 writes it. */
function nullable(schema: TSchema): TSchema {
  return Type.Unsafe({ ...schema, nullable: true });
}

/** A reference to a schema of `SCHEMAS`, by the name it has in the document. */
function ref(id: string): TSchema {
  return Type.Unsafe({ $ref: `${id}#` });
}

const closed = { additionalProperties: false };
const id = Type.Integer({ minimum: 1 });
const day = Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$" });
const href = Type.Object({ href: Type.String() }, closed);
const selfLink = Type.Object({ self: href }, closed);
const deprecated = { deprecated: true };

const time = Type.Object(
  {
    date: Type.Optional(day),
    dateTime: Type.Optional(Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}[+-]\\d{2}:\\d{2}$" })),
    timestamp: Type.Optional(Type.Integer({ description: "Epoch seconds." })),
  },
  {
    ...closed,
    $id: "EventTime",
    description: "All-day: `date`, of an end the last day. Otherwise `dateTime` in the site zone, and `timestamp`.",
  },
);

const instance = Type.Object(
  {
    id: Type.String(),
    name: Type.Optional(Type.String({ description: "If it differs from that of the event." })),
    type: Type.Literal("event_instance"),
    url: Type.String(),
    start: ref("EventTime"),
    end: ref("EventTime"),
  },
  { ...closed, $id: "EventInstance" },
);

const file = Type.Object(
  {
    id,
    type: Type.Literal("file"),
    name: Type.String(),
    mime_type: Type.String(),
    alt_text: nullable(Type.String()),
    caption: nullable(Type.String()),
    credit: nullable(Type.String()),
    sizes: Type.Record(Type.String(), Type.String()),
  },
  { ...closed, $id: "File" },
);

const parent = Type.Object({ id, name: Type.String(), slug: Type.String() }, closed);
const place = {
  address: nullable(Type.String()),
  city: nullable(Type.String()),
  state: nullable(Type.String()),
  zipcode: nullable(Type.String()),
  latitude: nullable(Type.Number()),
  longitude: nullable(Type.Number()),
};

/** Name of a vocabulary's schema: `EventCategory`. */
export function termSchemaName({ type }: Vocabulary): string {
  return type.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function termSchema(row: Vocabulary): TObject {
  return Type.Object(
    {
      _embedded: Type.Optional(Type.Object({}, closed)),
      _links: selfLink,
      id,
      type: Type.Literal(row.type),
      name: Type.String(),
      slug: Type.String(),
      ...(row.tree ? { parent: nullable(parent) } : {}),
      url: Type.Union([Type.Object({ events: Type.String() }, closed), Type.String()]),
      ...(row.name === "locations" ? place : {}),
    },
    { ...closed, $id: termSchemaName(row) },
  );
}

const embeddedTerms = Object.fromEntries(
  VOCABULARIES.filter(({ name }) => name !== "channels").map((row) => [
    row.name,
    nullable(Type.Array(ref(termSchemaName(row)), { minItems: 1 })),
  ]),
);

const event = Type.Object(
  {
    _embedded: Type.Object(
      {
        ...embeddedTerms,
        image_thumbnail: nullable(Type.Array(ref("File"), { minItems: 1, maxItems: 1 })),
        event_instances: Type.Optional(
          Type.Array(ref("EventInstance"), { description: "Absent in a collection with `single_events=true`." }),
        ),
      },
      closed,
    ),
    _links: selfLink,
    id,
    instance_id: Type.Optional(Type.String({ description: "Only in a collection with `single_events=true`." })),
    type: Type.Literal("event"),
    name: Type.String(),
    slug: Type.String(),
    excerpt: Type.String(),
    url: Type.String(),
    short_url: Type.String(deprecated),
    open_to: Type.Array(Type.Unsafe<string>({ type: "string", enum: [...AUDIENCES] })),
    publish_date: Type.Integer({ description: "Epoch seconds." }),
    start: ref("EventTime"),
    end: ref("EventTime"),
    start_date: Type.Unsafe({ ...day, ...deprecated }),
    start_time: nullable(Type.String({ pattern: "^\\d{2}:\\d{2}$", ...deprecated })),
    end_date: Type.Unsafe({ ...day, ...deprecated }),
    end_time: nullable(Type.String({ pattern: "^\\d{2}:\\d{2}$", ...deprecated })),
    description: Type.Optional(Type.String()),
    alt_name: Type.Optional(Type.String()),
    supplemental_location_info: Type.Optional(Type.String()),
    registration_required: Type.Optional(Type.Boolean()),
  },
  { ...closed, $id: "Event" },
);

function envelope($id: string, name: string, item: string): TObject {
  const find = Type.Object({ href: Type.String(), templated: Type.Literal(true) }, closed);
  return Type.Object(
    {
      _embedded: Type.Object({ [name]: Type.Array(ref(item)) }, closed),
      _links: Type.Object({ find, self: href, next: Type.Optional(href), prev: Type.Optional(href) }, closed),
      page: Type.Integer({ minimum: 1 }),
      per_page: Type.Integer({ minimum: 1, maximum: 100 }),
      return_count: Type.Integer({ minimum: 0, maximum: 100 }),
      total_available: Type.Integer({ minimum: 0 }),
    },
    { ...closed, $id },
  );
}

const detail = Type.Object(
  {
    parameter: Type.Optional(Type.String()),
    reason: Type.String(),
    allowed: Type.Optional(Type.Array(Type.String())),
  },
  closed,
);
const code = Type.Unsafe<string>({ type: "string", enum: [...EVENTS_ERROR_CODES] });

const error = Type.Object(
  {
    error: Type.Literal(true),
    message: Type.String(),
    statusCode: Type.Integer(),
    code,
    details: Type.Array(detail),
  },
  { ...closed, $id: "Error" },
);

const problem = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    instance: Type.String(),
    code,
    errors: Type.Array(detail),
  },
  { ...closed, $id: "Problem" },
);

/** Every shared schema; `$id` is its name in the document. */
export const SCHEMAS: readonly TObject[] = [
  time,
  instance,
  file,
  ...VOCABULARIES.map(termSchema),
  event,
  envelope("EventCollection", "events", "Event"),
  ...VOCABULARIES.map((row) => envelope(`${termSchemaName(row)}Collection`, row.name, termSchemaName(row))),
  error,
  problem,
];
