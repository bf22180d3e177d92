/** Reads the store for requests: each sees one snapshot, and nothing that is cached outlives the data it came from. */

import { openConnection, type SqlRow, type StoreConnection } from "../../sqlite.js";
import type { EventInstance, StoredEvent } from "../model/entities.js";
import type { EventQuery } from "../model/event-query.js";
import { loadSnapshot, type Snapshot } from "./snapshot.js";
import { countSql, INSTANCE_COLUMNS, pageSql } from "./sql.js";

/**
 * An interval in which no answer changes: nothing begins, ends or is published, and the data is the same. Anything
 * computed within it is valid, to the second, for all of it.
 */
export interface Interval {
  readonly snapshot: Snapshot;
  /** Epoch seconds: first second, and the first after it. */
  readonly from: number;
  readonly until: number;
}

/** One snapshot of the store at one time. */
export interface StoreView {
  readonly now: number;
  readonly snapshot: Snapshot;
  readonly interval: Interval;
  /** Instances of one page; with `single` false the shown instance of each event. */
  page(query: EventQuery): EventInstance[];
  count(query: EventQuery): number;
  /** A published event, or null. */
  event(id: number): StoredEvent | null;
  events(ids: readonly number[]): StoredEvent[];
  /** Every instance of an event, ascending. */
  instances(id: number): EventInstance[];
  /** The number of them. */
  instanceCount(id: number): number;
}

/** A store that is open for reading. */
export interface Store {
  /** Runs `work` on one snapshot of the data at a time given in epoch seconds. */
  view<T>(now: number, work: (view: StoreView) => T): T;
  close(): void;
}

/** Opens a migrated store for reading. */
export function openStore(file: string): Store {
  const db = openConnection(file, "read");
  let version = -1;
  let generation = 0;
  let interval: Interval | null = null;
  const refresh = (now: number): Interval => {
    const current = Number(db.first("PRAGMA data_version")?.[0]);
    if (interval && current === version && now >= interval.from && now < interval.until) return interval;
    const changed = interval === null || current !== version;
    if (changed) generation += 1;
    const snapshot = changed || interval === null ? loadSnapshot(db, generation) : interval.snapshot;
    version = current;
    interval = { snapshot, from: now, until: nextChange(db, now) };
    return interval;
  };
  return {
    view: (now, work) => db.transaction("read", () => work(viewOf(db, refresh(now), now))),
    close: () => db.close(),
  };
}

/** First second after `now` at which an instance begins or is over or an event is published; three index look-ups. */
function nextChange(db: StoreConnection, now: number): number {
  const [begins, over, publication] = [
    db.first("SELECT start_key >> 1 FROM instance WHERE start_key >= ? ORDER BY start_key LIMIT 1", [2 * (now + 1)]),
    db.first("SELECT over_ts FROM instance WHERE over_ts > ? ORDER BY over_ts LIMIT 1", [now]),
    db.first("SELECT publish_ts FROM event WHERE publish_ts > ? ORDER BY publish_ts LIMIT 1", [now]),
  ].map((row) => (row ? Number(row[0]) : Number.POSITIVE_INFINITY)) as [number, number, number];
  return Math.min(begins, over, publication);
}

function viewOf(db: StoreConnection, interval: Interval, now: number): StoreView {
  const { snapshot } = interval;
  return {
    now,
    snapshot,
    interval,
    page(query) {
      const { text, cells } = pageSql(query, snapshot, now);
      return db.all(text, cells).map(instanceOf);
    },
    count(query) {
      const { text, cells } = countSql(query, snapshot, now);
      return Number(db.first(text, cells)?.[0]);
    },
    event(id) {
      const row = db.first("SELECT document FROM event WHERE id = ? AND publish_ts <= ?", [id, now]);
      return row ? (JSON.parse(String(row[0])) as StoredEvent) : null;
    },
    events(ids) {
      if (ids.length === 0) return [];
      const sql = "SELECT document FROM event WHERE id IN (SELECT value FROM json_each(?))";
      return db.all(sql, [JSON.stringify(ids)]).map(([document]) => JSON.parse(String(document)) as StoredEvent);
    },
    instanceCount: (id) => Number(db.first("SELECT count(*) FROM instance WHERE event_id = ?", [id])?.[0]),
    instances(id) {
      const sql = `SELECT ${INSTANCE_COLUMNS} FROM instance i WHERE i.event_id = ? ORDER BY i.start_key, i.original`;
      return db.all(sql, [id]).map(instanceOf);
    },
  };
}

function instanceOf(row: SqlRow): EventInstance {
  const [eventId, original, key, end, startOffset, endOffset] = row as readonly [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const start = Math.floor(key / 2);
  return { eventId, original, start, end, allDay: key === 2 * start, startOffset, endOffset };
}
