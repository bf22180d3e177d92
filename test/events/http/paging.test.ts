/** Following `next` over random filters finds each item once, and the items that a plain filter selects. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fc } from "../../support/property.js";
import { type Json, SAMPLE, type Served, seconds, serve, walk } from "../support.js";

const NOW = seconds("2026-11-10T17:00:00Z");
const CATEGORIES = [30, 31, 33, 34, 36, 37, 41, 44, 999];
const LOCATIONS = [50, 51, 52, 53, 54, 55, 56, 57];

let events: Served;
let all: Json[];
let sources: Map<number, string>;
let parents: Map<number, number | null>;
beforeAll(async () => {
  events = await serve({ files: [SAMPLE], now: NOW });
  const everything = "type=all&open_to=everyone,faculty,staff,students&per_page=100";
  all = (await walk(events, `/events?${everything}&source=all`)).items;
  const library = (await walk(events, `/events?${everything}&source=library`)).items;
  const fromLibrary = new Set(library.map(({ id }) => id));
  sources = new Map(all.map(({ id }) => [id, fromLibrary.has(id) ? "library" : "main"]));
  const terms = [
    ...(await walk(events, "/event_categories?per_page=100", "event_categories")).items,
    ...(await walk(events, "/locations?per_page=100", "locations")).items,
  ];
  parents = new Map(terms.map(({ id, parent }) => [id, parent?.id ?? null]));
});
afterAll(() => events.close());

interface Filter {
  readonly types: string[] | null;
  readonly audiences: string[] | null;
  readonly sources: string[] | null;
  readonly categories: number[] | null;
  readonly locations: number[] | null;
  readonly subterms: number[] | null;
  readonly excluded: number[] | null;
  readonly ids: number[] | null;
  readonly date: [string, string] | null;
  readonly startDate: string | null;
}

const some = <T>(values: readonly T[], most = 3) =>
  fc.option(fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: most }), { freq: 2 });
const day = fc
  .integer({ min: -400, max: 400 })
  .map((n) => new Date((NOW + n * 86_400) * 1000).toISOString().slice(0, 10));
const eventIds = Array.from({ length: 41 }, (_, n) => 4101 + n);

const filter: fc.Arbitrary<Filter> = fc.record({
  types: some(["upcoming", "past", "current", "all"]),
  audiences: some(["everyone", "faculty", "staff", "students"]),
  sources: some(["main", "library", "all"]),
  categories: some(CATEGORIES),
  locations: some(LOCATIONS),
  subterms: some([30, 36, 50, 51, 53]),
  excluded: some(eventIds, 5),
  ids: fc.option(fc.uniqueArray(fc.constantFrom(...eventIds), { minLength: 1, maxLength: 12 }), { freq: 2 }),
  date: fc.option(
    fc.tuple(day, day).map(([a, b]): [string, string] => (a < b ? [a, b] : [b, a])),
    { freq: 2 },
  ),
  startDate: fc.option(day, { freq: 2 }),
});

const orders = fc.option(
  fc.uniqueArray(
    fc.tuple(
      fc.constantFrom("start_date", "end_date", "id", "name", "publish_date"),
      fc.constantFrom("", "|asc", "|desc"),
    ),
    { minLength: 1, maxLength: 3, selector: ([field]) => field },
  ),
);

function query(chosen: Filter): string {
  const pairs: [string, unknown][] = [
    ["type", chosen.types],
    ["open_to", chosen.audiences],
    ["source", chosen.sources],
    ["event_categories", chosen.categories],
    ["locations", chosen.locations],
    ["include_subterms", chosen.subterms],
    ["excluded_ids", chosen.excluded],
    ["ids", chosen.ids],
    ["date", chosen.date],
    ["start_date", chosen.startDate],
  ];
  return pairs.flatMap(([name, value]) => (value === null ? [] : [`${name}=${String(value)}`])).join("&");
}

/** Epoch seconds that an object occupies, read from its public members: [first, first after it). */
function spanOf(object: Json): [number, number] {
  if (object.start.timestamp !== undefined) {
    return [object.start.timestamp, Math.max(object.end.timestamp, object.start.timestamp + 1)];
  }
  const midnight = (date: string, add: number) => {
    const noon = Date.parse(`${date}T12:00:00Z`) / 1000 + add * 86_400;
    const name = new Intl.DateTimeFormat("en", { timeZone: "America/New_York", timeZoneName: "longOffset" });
    const offset = Number(/GMT-(\d{2})/.exec(name.format(new Date((noon - 12 * 3600 + 4 * 3600) * 1000)))?.[1]);
    return noon - 12 * 3600 + offset * 3600;
  };
  return [midnight(object.start.date, 0), midnight(object.end.date, 1)];
}

/** The contract's filters, written down a second time over the objects themselves. */
function passes(object: Json, chosen: Filter): boolean {
  const [start, over] = spanOf(object);
  const types = chosen.types ?? ["upcoming"];
  const upcoming = over > NOW;
  const ofType =
    types.includes("all") ||
    (types.includes("upcoming") && upcoming) ||
    (types.includes("past") && !upcoming) ||
    (types.includes("current") && upcoming && start <= NOW);
  const inSources = chosen.sources ?? ["main"];
  const lastDate = object.start.date
    ? object.end_date
    : new Date((over - 1 + Number(object.end.dateTime.slice(-6, -3)) * 3600) * 1000).toISOString().slice(0, 10);
  const has = (name: string, wanted: number[] | null) =>
    wanted === null ||
    (object._embedded[name] ?? []).some(
      ({ id }: Json) =>
        wanted.includes(id) ||
        (chosen.subterms ?? []).some((term) => wanted.includes(term) && parents.get(id) === term),
    );
  return (
    ofType &&
    (chosen.audiences ?? ["everyone"]).some((audience) => object.open_to.includes(audience)) &&
    (inSources.includes("all") || inSources.includes(sources.get(object.id) ?? "")) &&
    has("event_categories", chosen.categories) &&
    has("locations", chosen.locations) &&
    !(chosen.excluded ?? []).includes(object.id) &&
    (chosen.ids === null || chosen.ids.includes(object.id)) &&
    (chosen.date === null || (object.start_date <= chosen.date[1] && lastDate >= chosen.date[0])) &&
    (chosen.startDate === null || object.start_date === chosen.startDate)
  );
}

describe("walking next", () => {
  it("finds every instance that passes once, whatever the order", async () => {
    await fc.assert(
      fc.asyncProperty(filter, orders, fc.integer({ min: 7, max: 100 }), async (chosen, order, perPage) => {
        const wanted = all.filter((object) => passes(object, chosen)).map(({ instance_id }) => instance_id);
        const by = order === null ? "" : `&order_by=${order.map((pair) => pair.join("")).join(",")}`;
        const size = wanted.length > 300 ? 100 : perPage;
        const { items, total } = await walk(events, `/events?${query(chosen)}&per_page=${size}${by}`);
        const found = items.map(({ instance_id }) => instance_id);
        expect(new Set(found).size).toBe(found.length);
        expect(found.slice().sort()).toEqual(wanted.slice().sort());
        expect(total).toBe(found.length);
      }),
      { numRuns: 50 },
    );
  });

  it("finds every event of which an instance passes once", async () => {
    await fc.assert(
      fc.asyncProperty(filter, orders, fc.integer({ min: 1, max: 9 }), async (chosen, order, perPage) => {
        const wanted = new Set(all.filter((object) => passes(object, chosen)).map(({ id }) => id));
        const by = order === null ? "" : `&order_by=${order.map((pair) => pair.join("")).join(",")}`;
        const { items, total } = await walk(
          events,
          `/events?${query(chosen)}&single_events=false&per_page=${perPage}${by}`,
        );
        const found = items.map(({ id }) => id);
        expect(found.slice().sort()).toEqual([...wanted].sort());
        expect(total).toBe(found.length);
      }),
      { numRuns: 30 },
    );
  });

  it("keeps the order it was asked for", async () => {
    const keys: Record<string, (object: Json) => number | string> = {
      start_date: (object) => object.start_date,
      end_date: (object) => object.end_date,
      id: (object) => object.id,
      name: (object) => object.name.normalize("NFC").toUpperCase().toLowerCase(),
      publish_date: (object) => object.publish_date,
    };
    for (const [field, key] of Object.entries(keys)) {
      for (const direction of ["asc", "desc"]) {
        const { items } = await walk(events, `/events?type=all&per_page=100&order_by=${field}|${direction}`);
        for (const [position, object] of items.entries()) {
          const next = items[position + 1];
          if (next === undefined) continue;
          const [a, b] = direction === "asc" ? [key(object), key(next)] : [key(next), key(object)];
          expect(a <= b).toBe(true);
          if (a === b) expect(spanOf(object)[0] <= spanOf(next)[0]).toBe(true);
        }
      }
    }
  });

  it("goes by date and then by id if no order is asked for, as the contract says", async () => {
    const { items } = await walk(events, "/events?type=all&per_page=100");
    const byContract = (a: Json, b: Json) =>
      a.start_date < b.start_date ? -1 : a.start_date > b.start_date ? 1 : a.id - b.id || spanOf(a)[0] - spanOf(b)[0];
    const names = (list: readonly Json[]) => list.map(({ instance_id }) => instance_id);
    expect(names(items)).toEqual(names([...items].sort(byContract)));
    const byInstant = [...items].sort((a, b) => spanOf(a)[0] - spanOf(b)[0]);
    expect(names(items)).not.toEqual(names(byInstant));
  });
});
