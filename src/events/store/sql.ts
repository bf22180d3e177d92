/**
 * Writes event queries as SQL. A list is bound as one JSON value, so there are few different statements, which stay
 * prepared.
 *
 * A start key is twice the start in epoch seconds, plus one unless the event is all-day (`startKey`). Instances that
 * are not over are searched from `snapshot.longest` seconds back: none that began earlier can still be running. Every
 * bound on starts is stated for their dates too, by which the index is ordered.
 */

import type { SqlValue } from "../../sqlite.js";
import type { EventOrder, EventQuery, EventType, Ordering, TermFilter } from "../model/event-query.js";
import { addDays, dayAt, startOfDay } from "../time/zone.js";
import type { Snapshot } from "./snapshot.js";

/** A statement, or a part of one, with the values that it binds. */
export interface Sql {
  readonly text: string;
  readonly cells: readonly SqlValue[];
}

/** Vocabularies that `include_subterms` widens. */
const WIDENED: readonly string[] = ["event_categories", "locations"];

/** Columns of an instance row, in the order in which `store.ts` reads them. */
export const INSTANCE_COLUMNS = "i.event_id, i.original, i.start_key, i.end_ts, i.start_offset, i.end_offset";

class Conditions {
  readonly parts: string[] = [];
  readonly cells: SqlValue[] = [];

  add(part: string, ...cells: SqlValue[]): void {
    this.parts.push(part);
    this.cells.push(...cells);
  }
}

/** Writes the condition that an instance `i` must meet; `now` is in epoch seconds. */
function instanceFilter(query: EventQuery, snapshot: Snapshot, now: number): Sql {
  const where = new Conditions();
  where.add("i.publish_ts <= ?", now);
  where.add("(i.audience & ?) <> 0", query.audience);
  if (query.sources) where.add("i.source IN (SELECT value FROM json_each(?))", JSON.stringify(query.sources));
  addTypes(where, query.types, snapshot, now);
  if (query.date) {
    const from = startOfDay(query.date[0], snapshot.zone);
    const until = startOfDay(addDays(query.date[1], 1), snapshot.zone);
    where.add("i.start_key < ? AND i.start_date <= ?", 2 * until, query.date[1]);
    addRunning(where, from, snapshot);
  }
  if (query.startDate) where.add("i.start_date = ?", query.startDate);
  if (query.ids) where.add("i.event_id IN (SELECT value FROM json_each(?))", JSON.stringify(query.ids));
  if (query.excludedIds.length > 0) {
    where.add("i.event_id NOT IN (SELECT value FROM json_each(?))", JSON.stringify(query.excludedIds));
  }
  for (const filter of query.terms) {
    const ids = JSON.stringify(termsOf(filter, query.includeSubterms, snapshot));
    where.add("i.event_id IN (SELECT event_id FROM event_term WHERE term_id IN (SELECT value FROM json_each(?)))", ids);
  }
  return { text: where.parts.join(" AND "), cells: where.cells };
}

/** Adds the condition on time: `upcoming` includes the instances that are running, `past` has those that are over. */
function addTypes(where: Conditions, types: readonly EventType[], snapshot: Snapshot, now: number): void {
  if (types.includes("all") || (types.includes("upcoming") && types.includes("past"))) return;
  const begun = () => where.add("i.start_key < ? AND i.start_date <= ?", 2 * (now + 1), dayAt(now, snapshot.zone));
  if (types.includes("past") && types.includes("current")) begun();
  else if (types.includes("past")) where.add("i.over_ts <= ?", now);
  else {
    addRunning(where, now, snapshot);
    if (!types.includes("upcoming")) begun();
  }
}

/** Adds the condition that an instance is not over at a time, epoch seconds. */
function addRunning(where: Conditions, time: number, { longest, zone }: Snapshot): void {
  const first = time - longest;
  where.add("i.over_ts > ? AND i.start_key >= ? AND i.start_date >= ?", time, 2 * first, dayAt(first, zone));
}

/** The ids of a filter that are terms of its vocabulary, with the direct children of those to be widened. */
function termsOf(filter: TermFilter, includeSubterms: readonly number[], snapshot: Snapshot): number[] {
  const own = filter.ids.filter((id) => snapshot.terms.get(id)?.vocabulary === filter.vocabulary);
  if (!WIDENED.includes(filter.vocabulary)) return own;
  return own.flatMap((id) => [id, ...(includeSubterms.includes(id) ? (snapshot.children.get(id) ?? []) : [])]);
}

/** Dates as they are shown: the end of an instance that lasts all day is the midnight after its last day. */
const ORDER_COLUMNS: Readonly<Record<Exclude<EventOrder, "list">, string>> = {
  start_date: "i.start_date",
  end_date: "date(i.end_ts + i.end_offset - 86400 * (1 - (i.start_key & 1)), 'unixepoch')",
  id: "i.event_id",
  name: "e.name_key",
  publish_date: "i.publish_ts",
};

/** Writes an order without ties: if the caller's columns are equal, start, id and original start decide. */
function orderSql(order: readonly Ordering<EventOrder>[], ids: readonly number[] | null): Sql {
  const cells: SqlValue[] = [];
  const parts = order.map(({ field, descending }) => {
    if (field === "list") cells.push(JSON.stringify(ids));
    const column = field === "list" ? "(SELECT key FROM json_each(?) WHERE value = i.event_id)" : ORDER_COLUMNS[field];
    return `${column} ${descending ? "DESC" : "ASC"}`;
  });
  for (const column of ["i.start_key", "i.event_id", "i.original"]) {
    if (!parts.some((part) => part.startsWith(`${column} `))) parts.push(`${column} ASC`);
  }
  return { text: parts.join(", "), cells };
}

/**
 * The tables of instances `i`, with their events `e` if the order needs them. If it begins with the name, SQLite
 * walks the events by their index of names (CROSS JOIN keeps it to that order), and finds a page without sorting every
 * instance.
 */
function instanceSource(order: readonly Ordering<EventOrder>[]): string {
  if (order[0]?.field === "name") return "event e CROSS JOIN instance i ON i.event_id = e.id";
  return `instance i${joinFor(order)}`;
}

function joinFor(order: readonly Ordering<EventOrder>[]): string {
  return order.some(({ field }) => field === "name") ? " JOIN event e ON e.id = i.event_id" : "";
}

/**
 * The original start of the instance that represents an event: the first that is not over, else the last. It binds
 * `now` and the start key from which on instances may still be running.
 */
const SHOWN = `coalesce(
  (SELECT n.original FROM instance n WHERE n.event_id = m.event_id AND n.over_ts > ? AND n.start_key >= ?
   ORDER BY n.start_key, n.original LIMIT 1),
  (SELECT n.original FROM instance n WHERE n.event_id = m.event_id
   ORDER BY n.start_key DESC, n.original DESC LIMIT 1))`;

/** Selects the rows of a page: instances, or with `single_events=false` one instance for each event (`SHOWN`). */
export function pageSql(query: EventQuery, snapshot: Snapshot, now: number): Sql {
  const filter = instanceFilter(query, snapshot, now);
  const order = orderSql(query.order, query.ids);
  const from = query.single ? instanceSource(query.order) : `${matchedEvents(filter.text)}${joinFor(query.order)}`;
  const where = query.single ? ` WHERE ${filter.text}` : "";
  const cells = query.single ? filter.cells : [...filter.cells, now, 2 * (now - snapshot.longest)];
  return {
    text: `SELECT ${INSTANCE_COLUMNS} FROM ${from}${where} ORDER BY ${order.text} LIMIT ? OFFSET ?`,
    cells: [...cells, ...order.cells, query.perPage, (query.page - 1) * query.perPage],
  };
}

/**
 * The shown instance of each event that has an instance which passes the filter; it need not pass the filter itself.
 */
function matchedEvents(filter: string): string {
  const matched = `(SELECT DISTINCT i.event_id FROM instance i WHERE ${filter}) m`;
  return `${matched} JOIN instance i ON i.event_id = m.event_id AND i.original = ${SHOWN}`;
}

/** Counts the items of all pages. */
export function countSql(query: EventQuery, snapshot: Snapshot, now: number): Sql {
  const filter = instanceFilter(query, snapshot, now);
  const what = query.single ? "count(*)" : "count(DISTINCT i.event_id)";
  return { text: `SELECT ${what} FROM instance i WHERE ${filter.text}`, cells: filter.cells };
}
