/** Import of JSON files: defaults, every problem with its path, all or nothing. */
import { describe, expect, it } from "vitest";
import { ImportError } from "../../../src/events/model/calendar.js";
import type { StoredEvent } from "../../../src/events/model/entities.js";
import { listEvents } from "../../../src/events/store/list-events.js";
import { expand, horizonAt } from "../../../src/events/time/expand.js";
import { EXAMPLE, EXAMPLE_NOW, problemsIn, SAMPLE, useEmptyCalendar } from "../support.js";

const CONFIGURED = { now: EXAMPLE_NOW, zone: null, site: null, source: null, fallbackSite: "http://127.0.0.1:8080" };

const store = useEmptyCalendar();

const problems = (content: string | object, name = "a.json") => problemsIn(store, name, content, CONFIGURED);

function contents(): string {
  const { settings, terms, events, uids } = store.stored;
  return JSON.stringify([settings, [...terms], [...events], [...uids]]);
}

function firstStart(id: number): number | undefined {
  const { zone = "UTC" } = store.stored.settings;
  return expand(stored(id), zone, horizonAt(EXAMPLE_NOW, zone))[0]?.start;
}

const stored = (id: number): StoredEvent => store.stored.events.get(id) as StoredEvent;

const timed = (members: object = {}) => ({ id: 1, name: "A", start: { dateTime: "2026-11-01T10:00:00" }, ...members });
const allDay = (members: object = {}) => ({ id: 1, name: "A", start: { date: "2026-11-01" }, ...members });

describe("a JSON file", () => {
  it("gets defaults for what it leaves out", () => {
    expect(problems({ site: "https://e.example/", events: [timed({ name: "Café & Crème" })] })).toEqual([]);
    expect(stored(1)).toMatchObject({
      slug: "cafe-creme",
      url: "https://e.example/events/2026/11/01/cafe-creme",
      shortUrl: "https://e.example/e/1",
      audience: 15,
      publishDate: EXAMPLE_NOW,
      source: "main",
      published: true,
      zone: "UTC",
      days: 0,
      seconds: 0,
    });
  });

  it("takes a zone of the end that is the start's, and no other", () => {
    const zone = "Europe/Berlin";
    const times = (end: string) => ({
      start: { dateTime: "2026-11-01T10:00:00", zone },
      end: { dateTime: "2026-11-01T11:00:00", zone: end },
    });
    expect(problems({ events: [timed(times(zone))] })).toEqual([]);
    expect(stored(1)).toMatchObject({ zone, days: 0, seconds: 3600 });
    expect(problems({ events: [timed(times("Asia/Tokyo"))] })).toEqual([
      ["events[0].end.zone", "must be that of the start, Europe/Berlin: it governs the whole event"],
    ]);
    const alone = { end: { dateTime: "2026-11-01T11:00:00", zone: "Asia/Tokyo" } };
    expect(problems({ zone: "Asia/Tokyo", events: [timed(alone)] })).toEqual([]);
    expect(problems({ zone: "UTC", events: [timed(alone)] })).toHaveLength(1);
  });

  it("dates the address by the site's day, and reads walls in the zone of the start", () => {
    const start = { dateTime: "2026-11-01T23:30:00", zone: "Europe/Berlin" };
    expect(problems({ zone: "Asia/Tokyo", events: [timed({ start })] })).toEqual([]);
    expect(stored(1).url).toBe("http://127.0.0.1:8080/events/2026/11/02/a");
    expect(firstStart(1)).toBe(Date.parse("2026-11-01T22:30:00Z") / 1000);
  });

  it.each<[string, string | object, string, RegExp]>([
    ["no JSON", '{\n"events": [\n{,}\n]}', "line 3", /not JSON/],
    ["no object", "[]", "(file)", /object/],
    ["an unknown member", { events: [], colour: 1 }, "(file)", /colour/],
    ["an unknown zone", { zone: "Mars/Base" }, "zone", /IANA/],
    ["no name", { events: [{ id: 1, start: { date: "2026-11-01" } }] }, "events[0].name", /is missing/],
    ["an id that is none", { events: [timed(), timed({ id: 1.5 })] }, "events[1].id", /int/],
    ["a date that is none", { events: [allDay({ start: { date: "2026-02-30" } })] }, "events[0].start.date", /date/],
    [
      "two kinds of start",
      { events: [timed({ start: { date: "2026-11-01", dateTime: "2026-11-01T10:00:00" } })] },
      "events[0].start",
      /one of/,
    ],
    ["an end of another kind", { events: [timed({ end: { date: "2026-11-02" } })] }, "events[0].end", /time/],
    [
      "an end before the start",
      { events: [timed({ end: { dateTime: "2026-11-01T09:59:59" } })] },
      "events[0].end",
      /before/,
    ],
    [
      "an all-day end before the start",
      { events: [allDay({ end: { date: "2026-10-31" } })] },
      "events[0].end",
      /before/,
    ],
    ["a bad rule", { events: [timed({ rrule: "FREQ=OFTEN" })] }, "events[0].rrule", /FREQ/],
    ["a rule beyond all bounds", { events: [timed({ rrule: "FREQ=SECONDLY;COUNT=20000" })] }, "events[0]", /expanded/],
    ["a date among times", { events: [timed({ exdate: ["2026-11-08"] })] }, "events[0].exdate[0]", /time/],
    [
      "a move to all day",
      { events: [timed({ overrides: [{ original: "2026-11-01T10:00:00", start: { date: "2026-11-02" } }] })] },
      "events[0].overrides[0].start",
      /time/,
    ],
    [
      "a stray override",
      { events: [timed({ overrides: [{ original: "2026-11-02T10:00:00", cancelled: true }] })] },
      "events[0]",
      /not an instance/,
    ],
    ["only excluded instances", { events: [timed({ exdate: ["2026-11-01T10:00:00"] })] }, "events[0]", /no instance/],
    ["an unknown audience", { events: [timed({ open_to: ["alumni"] })] }, "events[0].open_to", /everyone/],
    ["an unknown term", { events: [timed({ tags: [5] })] }, "events[0].tags[0]", /no such term/],
    [
      "a term of another vocabulary",
      { terms: { divisions: [{ id: 5, name: "D" }] }, events: [timed({ tags: [5] })] },
      "events[0].tags[0]",
      /no such term/,
    ],
    ["an id used twice", { events: [timed(), timed()] }, "events[1]", /events\[0\]/],
    [
      "a term id used twice",
      { terms: { tags: [{ id: 5, name: "T" }], divisions: [{ id: 5, name: "D" }] } },
      "terms.tags[0]",
      /divisions/,
    ],
    [
      "an unknown parent",
      { terms: { channels: [{ id: 5, name: "T", parent: 6 }] } },
      "terms.channels[0].parent",
      /channels/,
    ],
    [
      "a parent in a flat vocabulary",
      { terms: { tags: [{ id: 5, name: "T", parent: 5 }] } },
      "terms.tags[0]",
      /parent/,
    ],
    [
      "a circle of parents",
      {
        terms: {
          channels: [
            { id: 5, name: "T", parent: 6 },
            { id: 6, name: "U", parent: 5 },
          ],
        },
      },
      "terms.channels[1].parent",
      /ancestor/,
    ],
    ["a source called all", { events: [timed({ source: "all" })] }, "events[0].source", /all/],
    ["an address of two lines", { events: [timed({ url: "https://a.org/\r\nX: 1" })] }, "events[0].url", /line breaks/],
    ["a script for an address", { events: [timed({ url: "javascript:alert(1)" })] }, "events[0].url", /http/],
  ])("is refused for %s", (_, content, place, reason) => {
    const before = contents();
    const found = problems(content);
    expect(
      found.some(([at, why]) => at === place && reason.test(why)),
      JSON.stringify(found),
    ).toBe(true);
    expect(contents()).toBe(before);
  });

  it("lists the problems of all its events together", () => {
    const found = problems({
      events: [timed({ rrule: "FREQ=X" }), allDay({ id: 2, tags: [9] }), { id: 3 }, timed({ id: 4, colour: 1 })],
    });
    expect(new Set(found.map(([place]) => place.slice(0, 9)))).toEqual(
      new Set(["events[0]", "events[1]", "events[2]", "events[3]"]),
    );
  });

  it("changes nothing when any event is bad, and replaces by id when all are good", () => {
    store.bring(EXAMPLE, CONFIGURED);
    const before = contents();
    expect(problems({ events: [timed({ id: 4102 }), timed({ id: 5, rrule: "X" })] })).toHaveLength(1);
    expect(contents()).toBe(before);
    expect(problems({ events: [timed({ id: 4102, name: "New" })] })).toEqual([]);
    expect(stored(4102).name).toBe("New");
    expect(store.stored.events.size).toBe(2);
    expect(Object.values(stored(4102).terms).flat()).toEqual([]);
  });

  it("gives the same calendar when it is imported twice", () => {
    store.bring(SAMPLE, CONFIGURED);
    const once = contents();
    store.bring(SAMPLE, CONFIGURED);
    expect(contents()).toBe(once);
  });

  it("drops what there was with replace, unless the file is bad", () => {
    store.bring(EXAMPLE, CONFIGURED);
    const before = contents();
    const bad = store.file("bad.json", { events: [timed({ rrule: "X" })] });
    expect(() => store.bring(bad, CONFIGURED, true)).toThrow(ImportError);
    expect(contents()).toBe(before);
    store.bring(store.file("good.json", { events: [timed()] }), CONFIGURED, true);
    expect(listEvents(store.stored, null, EXAMPLE_NOW)).toEqual(["         1  2026-11-01 10:00     1  A"]);
    expect(store.stored.terms.size).toBe(0);
  });

  it("makes all instances anew when a file names another zone", () => {
    problems({ zone: "America/New_York", events: [allDay()] });
    problems({ zone: "Asia/Tokyo", events: [timed({ id: 2 })] });
    expect(firstStart(1)).toBe(Date.parse("2026-10-31T15:00:00Z") / 1000);
  });

  it("is refused by its name or its bytes", () => {
    expect(problems("{}", "a.txt")[0]?.[1]).toMatch(/\.json or \.ics/);
    expect(() => store.bring(store.path("missing.json"), CONFIGURED)).toThrow(
      /cannot be read: no such file or folder$/,
    );
    expect(problems('{"events":[{"id":1}]}')).toContainEqual(["events[0].name", "is missing"]);
  });
});
