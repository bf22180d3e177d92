/** Reads the query from the parameters of a collection, with defaults. */
import { AUDIENCES, audienceMask, VOCABULARIES } from "../model/entities.js";
import {
  EVENT_ORDERS,
  EVENT_TYPES,
  type EventOrder,
  type EventQuery,
  type Ordering,
  TERM_ORDERS,
  type TermFilter,
  type TermOrder,
  type TermQuery,
} from "../model/event-query.js";
import { daysBetween, isDay } from "../time/zone.js";
import type { QueryString } from "./query-string.js";

const COMMON = ["page", "per_page", "ids", "excluded_ids", "order_by"];
/** Taken on every route and never repeated in links. */
export const UNLINKED = ["callback", "key", "v", "_"];

export const EVENT_PARAMETERS = [
  ...COMMON,
  ...VOCABULARIES.map(({ name }) => name),
  "date",
  "include_subterms",
  "open_to",
  "single_events",
  "source",
  "start_date",
  "type",
];
export const TERM_PARAMETERS = [...COMMON, "slug"];

export const PER_PAGE = 5;
export const MAX_PER_PAGE = 100;
const LONGEST_RANGE_DAYS = 3700;

const EVENT_ORDER: readonly Ordering<EventOrder>[] = [
  { field: "start_date", descending: false },
  { field: "id", descending: false },
];
const TERM_ORDER: readonly Ordering<TermOrder>[] = [{ field: "name", descending: false }];

export interface ReadOptions {
  readonly strict: boolean;
  /** False: the answer has no pages. */
  readonly paged: boolean;
  readonly sources: readonly string[];
  readonly primarySource: string;
  readonly pathTerm: TermFilter | null;
}

/** Faults stay in `parameters`. */
export function readEventQuery(parameters: QueryString, options: ReadOptions): EventQuery {
  const page = options.paged ? parameters.page() : 1;
  const perPage = options.paged ? parameters.perPage(PER_PAGE, MAX_PER_PAGE, options.strict) : PER_PAGE;
  const ids = parameters.ids("ids");
  const order = parameters.order(EVENT_ORDERS, EVENT_ORDER);
  const terms = VOCABULARIES.flatMap(({ name }): TermFilter[] => {
    const named = parameters.ids(name);
    return named === null ? [] : [{ vocabulary: name, ids: named }];
  });
  if (options.pathTerm) terms.push(options.pathTerm);
  const audiences = parameters.choices("open_to", AUDIENCES, { faulty: "faculty" }) ?? ["everyone"];
  return {
    page,
    perPage,
    ids,
    order,
    terms,
    single: readSingle(parameters),
    types: parameters.choices("type", EVENT_TYPES) ?? ["upcoming"],
    excludedIds: parameters.ids("excluded_ids") ?? [],
    includeSubterms: parameters.ids("include_subterms") ?? [],
    date: readRange(parameters),
    startDate: parameters.day("start_date"),
    audience: Number(audienceMask(audiences)),
    sources: readSources(parameters, options),
  };
}

export function readTermQuery(parameters: QueryString, strict: boolean): TermQuery {
  return {
    page: parameters.page(),
    perPage: parameters.perPage(PER_PAGE, MAX_PER_PAGE, strict),
    ids: parameters.ids("ids"),
    excludedIds: parameters.ids("excluded_ids") ?? [],
    slugs: parameters.list("slug"),
    order: parameters.order(TERM_ORDERS, TERM_ORDER),
  };
}

export function refuseUnknown(parameters: QueryString, known: readonly string[]): void {
  for (const name of parameters.names()) {
    if (!known.includes(name)) parameters.fault(name.slice(0, 64), "unknown parameter", [...known].sort());
  }
}

/** All versions of the interface are alike. */
export function checkVersion(parameters: QueryString): void {
  const version = parameters.text("v");
  if (version === null || version === "0" || version === "1") return;
  parameters.fault("v", "unsupported version", ["0", "1"], "unsupported_version");
}

function readSingle(parameters: QueryString): boolean {
  const text = parameters.text("single_events")?.trim().toLowerCase() ?? "true";
  if (text === "true" || text === "1") return true;
  if (text !== "false" && text !== "0")
    parameters.fault("single_events", "must be true or false", ["true", "false", "1", "0"]);
  return false;
}

function readRange(parameters: QueryString): readonly [string, string] | null {
  const text = parameters.text("date");
  if (text === null) return null;
  const days = text.split(",").map((part) => part.trim());
  const [first = "", last = first] = days;
  if (days.length > 2 || !isDay(first) || !isDay(last)) {
    parameters.fault("date", "must be a calendar date YYYY-MM-DD or two of them, joined by a comma");
    return null;
  }
  const span = daysBetween(first, last);
  if (span < 0) parameters.fault("date", "must not end before it begins");
  if (span > LONGEST_RANGE_DAYS) parameters.fault("date", `must span at most ${LONGEST_RANGE_DAYS} days`);
  return [first, last];
}

function readSources(parameters: QueryString, { sources, primarySource }: ReadOptions): readonly string[] | null {
  const items = parameters.list("source");
  if (items === null) return [primarySource];
  if (items.some((item) => item !== "all" && !sources.includes(item))) {
    parameters.fault("source", "unknown source", ["all", ...sources]);
  }
  return items.includes("all") ? null : items;
}
