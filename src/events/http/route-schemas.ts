/** Schemas of routes: parameters with their meaning, responses by status and media type. */
import { PROBLEM_TYPE } from "../../server/http/problem.js";
import { AUDIENCES, VOCABULARIES, type Vocabulary } from "../model/entities.js";
import { EVENT_ORDERS, EVENT_TYPES, TERM_ORDERS } from "../model/event-query.js";
import { MAX_PER_PAGE, PER_PAGE } from "./read-query.js";
import { ref, termSchemaName } from "./response-schemas.js";

const text = (description: string) => ({ type: "string", description });
const ids = (what: string) => text(`Ids of ${what}, separated by commas.`);

export const EVERYWHERE = {
  callback: text("Name of a function: the answer is a script that calls it (JSONP)."),
  v: { type: "string", enum: ["0", "1"], description: "Version; all are alike." },
  key: text("API key, if the operator asks for one; also taken as the header X-API-Key."),
};

const PAGING = {
  page: { type: "integer", minimum: 1, default: 1 },
  per_page: { type: "integer", minimum: 1, default: PER_PAGE, description: `Cut to ${MAX_PER_PAGE}.` },
};

const orderText = (fields: readonly string[], byDefault: string) =>
  text(`Pairs FIELD|ORDER, separated by commas; fields ${fields.join(", ")}; orders asc, desc. Default ${byDefault}.`);

export const EVENT_QUERY = {
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

export const TERM_QUERY = {
  ...PAGING,
  ids: ids("terms"),
  excluded_ids: ids("terms to leave out"),
  slug: text("Slugs, separated by commas."),
  order_by: orderText(TERM_ORDERS, "name|asc"),
  ...EVERYWHERE,
};

const ID = { type: "object", properties: { id: { type: "integer", minimum: 1 } }, required: ["id"] };
const SCRIPT = { "text/javascript": { schema: { type: "string" } } };
const FAILED = {
  description: "See `code` and `details`.",
  content: { "application/json": { schema: ref("Error") }, [PROBLEM_TYPE]: { schema: ref("Problem") } },
};

/** Content of an answer in JSON. */
function json(name: string) {
  const schema = ref(name);
  return { "application/json": { schema }, "application/hal+json": { schema }, ...SCRIPT };
}

/** @param hasId the path has an id */
export function routeSchema(summary: string, tag: string, query: object, content: object, hasId = false): object {
  const statuses = [400, 401, ...(hasId ? [404] : []), 414, 429];
  return {
    summary,
    tags: [tag],
    querystring: { type: "object", properties: query },
    ...(hasId ? { params: ID } : {}),
    response: {
      200: { description: "Found.", content },
      ...Object.fromEntries(statuses.map((status) => [status, FAILED])),
    },
  };
}

export const EVENT_PAGE = json("EventCollection");
export const EVENT = {
  ...json("Event"),
  "application/ld+json": { schema: { type: "object", additionalProperties: true } },
};
export const termPage = (row: Vocabulary) => json(`${termSchemaName(row)}Collection`);
export const term = (row: Vocabulary) => json(termSchemaName(row));

export function calendarSchema(): object {
  const calendar = { description: "iCalendar.", content: { "text/calendar": { schema: { type: "string" } } } };
  const failed = Object.fromEntries([400, 401, 404, 414, 429].map((status) => [status, FAILED]));
  const { page: _page, per_page: _perPage, callback: _callback, ...filters } = EVENT_QUERY;
  return {
    summary: "Events as iCalendar, at most 1000 components.",
    tags: ["events"],
    querystring: { type: "object", properties: filters },
    response: { 200: calendar, ...failed },
  };
}
