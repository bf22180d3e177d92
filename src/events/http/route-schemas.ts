/** Schemas of routes: parameters with their meaning, responses by status and media type. */
import { PROBLEM_TYPE } from "../../server/http/problem.js";
import { AUDIENCES, VOCABULARIES, type Vocabulary } from "../model/entities.js";
import { EVENT_ORDERS, EVENT_TYPES, TERM_ORDERS } from "../model/event-query.js";
import { MOST_PER_PAGE, PER_PAGE } from "./read-query.js";
import { termSchemaName } from "./response-schemas.js";

const text = (description: string) => ({ type: "string", description });
const ids = (what: string) => text(`Ids of ${what}, separated by commas.`);

const EVERYWHERE = {
  callback: text("Name of a function: the answer is a script that calls it (JSONP)."),
  v: { type: "string", enum: ["0", "1"], description: "Version; all are alike." },
  key: text("API key, if the operator asks for one; also taken as the header X-API-Key."),
};

const PAGING = {
  page: { type: "integer", minimum: 1, default: 1 },
  per_page: { type: "integer", minimum: 1, default: PER_PAGE, description: `Cut to ${MOST_PER_PAGE}.` },
};

const orderText = (fields: readonly string[], byDefault: string) =>
  text(`Pairs FIELD|ORDER, separated by commas; fields ${fields.join(", ")}; orders asc, desc. Default ${byDefault}.`);

const EVENT_QUERY = {
  ...PAGING,
  ids: ids("events"),
  excluded_ids: ids("events to leave out"),
  ...Object.fromEntries(VOCABULARIES.map(({ name }) => [name, ids(name.replace("_", " "))])),
  include_subterms: ids("terms in event_categories or locations whose children count as well"),
  date: text("Events on a day or in a range: YYYY-MM-DD[,YYYY-MM-DD]. For days that have passed add type=all."),
  start_date: text("Events that start on a day: YYYY-MM-DD. For days that have passed add type=all."),
  open_to: text(`Audiences, of ${AUDIENCES.join(", ")}; default everyone. faulty means faculty.`),
  order_by: orderText(EVENT_ORDERS, "start_date|asc,id|asc"),
  single_events: { type: "boolean", default: true, description: "One object per instance, or one per event." },
  source: text("Sources, or all; default the primary source."),
  type: text(`Of ${EVENT_TYPES.join(", ")}; several are a union. Default upcoming: not yet over.`),
  ...EVERYWHERE,
};

const TERM_QUERY = {
  ...PAGING,
  ids: ids("terms"),
  excluded_ids: ids("terms to leave out"),
  slug: text("Slugs, separated by commas."),
  order_by: orderText(TERM_ORDERS, "name|asc"),
  ...EVERYWHERE,
};

const idParameter = { type: "object", properties: { id: { type: "integer", minimum: 1 } }, required: ["id"] };

const ref = (name: string) => ({ schema: { $ref: `${name}#` } });

function errors(...statuses: readonly number[]) {
  const content = { "application/json": ref("Error"), [PROBLEM_TYPE]: ref("Problem") };
  return Object.fromEntries(statuses.map((status) => [status, { description: "See `code` and `details`.", content }]));
}

function answer(name: string, more: Readonly<Record<string, object>> = {}) {
  const script = { "text/javascript": { schema: { type: "string" } } };
  return {
    description: "Found.",
    content: { "application/json": ref(name), "application/hal+json": ref(name), ...script, ...more },
  };
}

const object = (properties: object) => ({ type: "object", properties });

export function eventsSchema(summary: string, byTerm = false): object {
  return {
    summary,
    tags: ["events"],
    querystring: object(EVENT_QUERY),
    ...(byTerm ? { params: idParameter } : {}),
    response: { 200: answer("EventCollection"), ...errors(400, 401, 414, 429), ...(byTerm ? errors(404) : {}) },
  };
}

export function eventSchema(): object {
  const linked = { "application/ld+json": { schema: { type: "object", additionalProperties: true } } };
  return {
    summary: "One event with all its instances.",
    tags: ["events"],
    params: idParameter,
    querystring: object(EVERYWHERE),
    response: { 200: answer("Event", linked), ...errors(400, 401, 404, 414, 429) },
  };
}

export function termsSchema(row: Vocabulary, ofEvent = false): object {
  const plural = row.name.replace("_", " ");
  return {
    summary: ofEvent ? `The ${plural} of an event.` : `All ${plural}.`,
    tags: [row.name],
    querystring: object(TERM_QUERY),
    ...(ofEvent ? { params: idParameter } : {}),
    response: {
      200: answer(`${termSchemaName(row)}Collection`),
      ...errors(400, 401, 414, 429),
      ...(ofEvent ? errors(404) : {}),
    },
  };
}

export function termSchema(row: Vocabulary): object {
  return {
    summary: `One ${row.type.replace("_", " ")}.`,
    tags: [row.name],
    params: idParameter,
    querystring: object(EVERYWHERE),
    response: { 200: answer(termSchemaName(row)), ...errors(400, 401, 404, 414, 429) },
  };
}

export function calendarSchema(): object {
  const calendar = { description: "iCalendar.", content: { "text/calendar": { schema: { type: "string" } } } };
  const { page: _page, per_page: _perPage, callback: _callback, ...filters } = EVENT_QUERY;
  return {
    summary: "Events as iCalendar, at most 1000 components.",
    tags: ["events"],
    querystring: object(filters),
    response: { 200: calendar, ...errors(400, 401, 404, 414, 429) },
  };
}
