/** Which pages of events are left to the render thread, where the number of their items is known. */
import { expect, it } from "vitest";
import { takesLong } from "../../../src/events/http/event-page.js";
import { QueryString } from "../../../src/events/http/query-string.js";
import { readEventQuery } from "../../../src/events/http/read-query.js";
import type { Resources } from "../../../src/events/http/resources.js";
import type { StoreView } from "../../../src/events/store/store.js";

function isLeft(search: string, counted = true): boolean {
  const parameters = new QueryString(search);
  const sources = { primarySource: "main", sources: ["main", "other"] };
  const query = readEventQuery(parameters, { strict: false, paged: true, pathTerm: null, ...sources });
  parameters.check();
  const wanted = { query, address: () => "", key: "", totalKey: "" };
  return takesLong({ isCounted: () => counted } as unknown as Resources, {} as StoreView, wanted);
}

it.each(["", "page=2", "per_page=100&page=101", "per_page=1&page=10001", "type=all", "date=2026-10-01,2026-12-31"])(
  "makes a near page that one index has in order on the event loop: ?%s",
  (search) => {
    expect(isLeft(search)).toBe(false);
    expect(isLeft(search, false)).toBe(true);
  },
);

it.each([
  "per_page=100&page=102",
  "per_page=1&page=10002",
  "page=999999999",
  "single_events=false",
  "order_by=name",
  "order_by=id,start_date",
  "ids=1",
  "excluded_ids=1",
  "tags=1",
  "event_categories=1",
  "source=all",
  "source=main,other",
  "open_to=staff",
])("leaves a page that is far, or for which the store is searched, to the thread: ?%s", (search) => {
  expect(isLeft(search)).toBe(true);
});
