/** Queries of the default order walk one index, and stores of the first schema are brought to it. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { importFile } from "../../../src/events/import/import-file.js";
import type { EventQuery } from "../../../src/events/model/event-query.js";
import { migrate } from "../../../src/events/store/migrations.js";
import { loadSnapshot } from "../../../src/events/store/snapshot.js";
import { pageSql } from "../../../src/events/store/sql.js";
import { openConnection, type StoreConnection } from "../../../src/sqlite.js";
import { EXAMPLE, EXAMPLE_NOW } from "../support.js";

let db: StoreConnection;
beforeEach(() => {
  db = openConnection(":memory:", "write");
  migrate(db);
});
afterEach(() => db.close());

const DEFAULT: EventQuery = {
  page: 1,
  perPage: 5,
  ids: null,
  order: [
    { field: "start_date", descending: false },
    { field: "id", descending: false },
  ],
  terms: [],
  single: true,
  types: ["upcoming"],
  excludedIds: [],
  includeSubterms: [],
  date: null,
  startDate: null,
  audience: 1,
  sources: ["main"],
};

it.each([
  ["upcoming", {}],
  ["current", { types: ["current"] as const }],
  ["all", { types: ["all"] as const }],
  ["of a range", { types: ["all"] as const, date: ["2026-10-01", "2026-12-31"] as const }],
  ["of a day", { types: ["all"] as const, startDate: "2026-11-12" }],
])("finds a page of events (%s) in the index of dates alone, without sorting", (_name, part) => {
  const { text, cells } = pageSql({ ...DEFAULT, ...part }, loadSnapshot(db, 0), EXAMPLE_NOW);
  const plan = db.all(`EXPLAIN QUERY PLAN ${text}`, cells).map((row) => String(row.at(-1)));
  expect(plan.filter((step) => step.includes(" i "))).toEqual([
    expect.stringMatching(/^(SEARCH|SCAN) i USING COVERING INDEX instance_by_date/),
  ]);
  expect(plan.join("\n")).not.toContain("ORDER BY");
});

it("brings a store of the first schema to the order by date", () => {
  const settings = { now: EXAMPLE_NOW, zone: null, site: null, source: null, fallbackSite: "http://127.0.0.1" };
  importFile(db, EXAMPLE, settings);
  const { text, cells } = pageSql(DEFAULT, loadSnapshot(db, 0), EXAMPLE_NOW);
  const page = db.all(text, cells);
  expect(page).toHaveLength(4);
  db.exec("DROP INDEX instance_by_date");
  db.exec("ALTER TABLE instance DROP COLUMN start_date");
  db.exec("DROP INDEX instance_by_start");
  db.exec(`CREATE INDEX instance_by_start ON instance (
    start_key, event_id, original, over_ts, source, audience, publish_ts, end_ts, start_offset, end_offset
  )`);
  db.exec("PRAGMA user_version = 1");
  migrate(db);
  expect(db.all(text, cells)).toEqual(page);
});
