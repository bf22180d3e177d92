/** Schemas of responses, for the OpenAPI document. */
import { AUDIENCES, VOCABULARIES, type Vocabulary } from "../model/entities.js";
import { EVENTS_ERROR_CODES } from "./events-error.js";

type Schema = Readonly<Record<string, unknown>>;
type Members = Readonly<Record<string, Schema>>;

const text: Schema = { type: "string" };
const truth: Schema = { type: "boolean" };
const id: Schema = { minimum: 1, type: "integer" };
const day: Schema = { pattern: "^\\d{4}-\\d{2}-\\d{2}$", type: "string" };
const minute: Schema = { pattern: "^\\d{2}:\\d{2}$", deprecated: true, type: "string", nullable: true };
const deprecated = (schema: Schema): Schema => ({ ...schema, deprecated: true });
const nullable = (schema: Schema): Schema => ({ ...schema, nullable: true });
export const ref = (name: string): Schema => ({ $ref: `${name}#` });
const among = (names: readonly string[]): Schema => ({ type: "string", enum: [...names] });
const list = (items: Schema, options: Schema = {}): Schema => ({ ...options, type: "array", items });
const whole = (options: Schema): Schema => ({ ...options, type: "integer" });

/** An object; a name that ends in `?` may be absent. */
function shape(members: Members, options: Schema = {}): Schema {
  const required = Object.keys(members).filter((name) => !name.endsWith("?"));
  const properties = Object.fromEntries(
    Object.entries(members).map(([name, schema]) => [name.replace(/\?$/, ""), schema]),
  );
  return {
    additionalProperties: false,
    ...options,
    type: "object",
    ...(required.length === 0 ? {} : { required }),
    properties,
  };
}

const href = shape({ href: text });
const selfLink = shape({ self: href });
const named = { id, name: text, slug: text };

const time = shape(
  {
    "date?": day,
    "dateTime?": { pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}[+-]\\d{2}:\\d{2}$", type: "string" },
    "timestamp?": whole({ description: "Epoch seconds." }),
  },
  {
    $id: "EventTime",
    description: "All-day: `date`, of an end the last day. Otherwise `dateTime` in the site zone, and `timestamp`.",
  },
);
const times = { start: ref("EventTime"), end: ref("EventTime") };

const instance = shape(
  {
    id: text,
    "name?": { description: "If it differs from that of the event.", type: "string" },
    type: among(["event_instance"]),
    url: text,
    ...times,
  },
  { $id: "EventInstance" },
);

const captions = { alt_text: nullable(text), caption: nullable(text), credit: nullable(text) };
const sizes = { type: "object", additionalProperties: text };
const file = shape({ id, type: among(["file"]), name: text, mime_type: text, ...captions, sizes }, { $id: "File" });

const address = { address: nullable(text), city: nullable(text), state: nullable(text), zipcode: nullable(text) };
const position = { latitude: nullable({ type: "number" }), longitude: nullable({ type: "number" }) };

export function termSchemaName({ type }: Vocabulary): string {
  return type.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function termSchema(row: Vocabulary): Schema {
  const { id, ...texts } = named;
  const members = { "_embedded?": shape({}), _links: selfLink, id, type: among([row.type]), ...texts };
  const parent = row.tree ? { parent: nullable(shape(named)) } : {};
  const url = { anyOf: [shape({ events: text }), text] };
  const place = row.name === "locations" ? { ...address, ...position } : {};
  return shape({ ...members, ...parent, url, ...place }, { $id: termSchemaName(row) });
}

const embedded = {
  ...Object.fromEntries(
    VOCABULARIES.filter(({ name }) => name !== "channels").map((row) => [
      row.name,
      nullable(list(ref(termSchemaName(row)), { minItems: 1 })),
    ]),
  ),
  image_thumbnail: nullable(list(ref("File"), { minItems: 1, maxItems: 1 })),
  "event_instances?": list(ref("EventInstance"), {
    description: "Absent in a collection with `single_events=true`.",
  }),
};

const event = shape(
  {
    _embedded: shape(embedded),
    _links: selfLink,
    id,
    "instance_id?": { description: "Only in a collection with `single_events=true`.", type: "string" },
    type: among(["event"]),
    ...{ name: text, slug: text, excerpt: text, url: text, short_url: { deprecated: true, ...text } },
    open_to: list(among(AUDIENCES)),
    publish_date: whole({ description: "Epoch seconds." }),
    ...times,
    ...{ start_date: deprecated(day), start_time: minute, end_date: deprecated(day), end_time: minute },
    ...{ "description?": text, "alt_name?": text, "supplemental_location_info?": text },
    "registration_required?": truth,
  },
  { $id: "Event" },
);

function envelope($id: string, name: string, item: string): Schema {
  const find = shape({ href: text, templated: { type: "boolean", enum: [true] } });
  return shape(
    {
      _embedded: shape({ [name]: list(ref(item)) }),
      _links: shape({ find, self: href, "next?": href, "prev?": href }),
      page: whole({ minimum: 1 }),
      per_page: whole({ minimum: 1, maximum: 100 }),
      return_count: whole({ minimum: 0, maximum: 100 }),
      total_available: whole({ minimum: 0 }),
    },
    { $id },
  );
}

const details = list(shape({ "parameter?": text, reason: text, "allowed?": list(text) }));
const code = among(EVENTS_ERROR_CODES);
const failed = { type: "boolean", enum: [true] };
const error = shape({ error: failed, message: text, statusCode: whole({}), code, details }, { $id: "Error" });
const [status, detail] = [whole({}), text];
const problem = shape(
  { type: text, title: text, status, detail, instance: text, code, errors: details },
  { $id: "Problem" },
);

/** By `$id`, the name in the document. */
export const SCHEMAS: readonly Schema[] = [
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
