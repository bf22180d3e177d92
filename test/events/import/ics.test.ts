/** Import of iCalendar files, and the way back out and in again. */
import ICAL from "ical.js";
import { describe, expect, it } from "vitest";
import type { StoredEvent } from "../../../src/events/model/entities.js";
import { sorted } from "../../../src/events/store/stored-calendar.js";
import { expand, horizonAt } from "../../../src/events/time/expand.js";
import { type Json, problemsIn, SAMPLE, seconds, serve, useEmptyCalendar, walk } from "../support.js";

const NOW = seconds("2026-10-20T12:00:00Z");
const CONFIGURED = { now: NOW, zone: "America/New_York", site: "https://e.example", source: null, fallbackSite: "" };

const store = useEmptyCalendar();

const calendar = (...lines: string[]) =>
  ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:test", ...lines, "END:VCALENDAR", ""].join("\r\n");
const event = (...lines: string[]) => ["BEGIN:VEVENT", "DTSTAMP:20260901T000000Z", ...lines, "END:VEVENT"];

const bring = (...lines: string[]) => problemsIn(store, "a.ics", calendar(...lines), CONFIGURED);

const all = (): StoredEvent[] => sorted(store.stored.events);
/** Starts of all instances, and their lengths in hours. */
const starts = () =>
  all()
    .flatMap((event) => expand(event, CONFIGURED.zone, horizonAt(NOW, CONFIGURED.zone)))
    .map(({ start, end }) => [new Date(start * 1000).toISOString().slice(0, 16), (end - start) / 3600]);

describe("an iCalendar file", () => {
  it("has a problem of a line for each value that is not of its kind", () => {
    const faulty = event("UID:a", "DTSTART:20261022T160000", "DURATION:PTnullM");
    expect(bring(...faulty)).toEqual([["line 8", 'DURATION invalid duration value: Invalid number "null" before "M"']]);
    const text = event("UID:a", "DTSTART:20261022T160000", "SUMMARY;VALUE=DURATION:PTnullM");
    expect(bring(...text)).toEqual([["line 4", 'invalid duration value: Invalid number "null" before "M"']]);
  });

  it("becomes events with terms by name", () => {
    const description = `${"ß😀".repeat(150)}`;
    expect(
      bring(
        ...event(
          "UID:a",
          "DTSTART;TZID=Europe/Berlin:20261022T160000",
          "DTEND;TZID=Europe/Berlin:20261022T173000",
          "SUMMARY:Talk\\, long",
          `DESCRIPTION:${description}`,
          "CATEGORIES:Seminars,Open House",
          "CATEGORIES:seminars",
          "LOCATION:Room 1",
          "URL:https://x.example/talk",
          "CREATED:20260801T000000Z",
          "BEGIN:VALARM",
          "ACTION:DISPLAY",
          "TRIGGER:-PT15M",
          "END:VALARM",
        ),
        ...event("UID:b", "DTSTART;VALUE=DATE:20261030", "DTEND;VALUE=DATE:20261101", "SUMMARY:Days", "CLASS:PRIVATE"),
        ...event("UID:c", "DTSTART:20261022T160000", "SUMMARY:Floating"),
      ),
    ).toEqual([]);
    const [a, b, c] = all();
    expect(a).toMatchObject({
      name: "Talk, long",
      url: "https://x.example/talk",
      zone: "Europe/Berlin",
      publishDate: seconds("2026-08-01T00:00:00Z"),
      audience: 15,
      source: "main",
    });
    expect([...(a?.excerpt ?? "")]).toHaveLength(200);
    expect(a?.extras.description).toBe(description);
    expect(sorted(store.stored.terms).map(({ vocabulary, name }) => [vocabulary, name])).toEqual([
      ["event_categories", "Seminars"],
      ["event_categories", "Open House"],
      ["locations", "Room 1"],
    ]);
    expect(b).toMatchObject({
      allDay: true,
      days: 2,
      published: false,
      publishDate: seconds("2026-09-01T00:00:00Z"),
      url: "https://e.example/events/2026/10/30/days",
    });
    expect(c?.zone).toBe("America/New_York");
    expect(starts()).toEqual([
      ["2026-10-22T14:00", 1.5],
      ["2026-10-30T04:00", 48],
      ["2026-10-22T20:00", 0],
    ]);
  });

  it("keeps the id of a UID for good, and removes what is cancelled", () => {
    bring(...event("UID:a", "DTSTART:20261022T160000Z"), ...event("UID:b", "DTSTART:20261023T160000Z"));
    const ids = all().map(({ id }) => id);
    expect(ids).toEqual([1_000_000_000, 1_000_000_001]);
    bring(
      ...event("UID:a", "DTSTART:20261022T160000Z", "STATUS:CANCELLED"),
      ...event("UID:c", "DTSTART:20261022T160000Z"),
    );
    expect(all().map(({ id }) => id)).toEqual([1_000_000_001, 1_000_000_002]);
    bring(...event("UID:a", "DTSTART:20261024T160000Z", "SUMMARY:Back"));
    expect(all().find(({ name }) => name === "Back")?.id).toBe(1_000_000_000);
  });

  it("applies rules, dates, moved and cancelled instances", () => {
    const series = event(
      "UID:a",
      "DTSTART;TZID=America/New_York:20261022T160000",
      "DURATION:PT2H",
      "RRULE:FREQ=WEEKLY;COUNT=5",
      "EXDATE;TZID=America/New_York:20261029T160000",
      "EXDATE;VALUE=DATE:20261105",
      "RDATE:20261101T150000Z",
    );
    const moved = event(
      "UID:a",
      "RECURRENCE-ID:20261112T210000Z",
      "DTSTART:20261113T210000Z",
      "DTEND:20261113T213000Z",
    );
    const gone = event(
      "UID:a",
      "RECURRENCE-ID;TZID=America/New_York:20261119T160000",
      "DTSTART:20261119T210000Z",
      "STATUS:CANCELLED",
    );
    expect(bring(...series, ...moved, ...gone)).toEqual([]);
    expect(starts()).toEqual([
      ["2026-10-22T20:00", 2],
      ["2026-11-01T15:00", 2],
      ["2026-11-13T21:00", 0.5],
    ]);
  });

  it("keeps the SUMMARY of a moved instance, in every form of the answer", async () => {
    const series = event(
      "UID:a",
      "DTSTART:20261022T160000Z",
      "DURATION:PT1H",
      "RRULE:FREQ=WEEKLY;COUNT=3",
      "SUMMARY:Talk",
    );
    const guest = event(
      "UID:a",
      "RECURRENCE-ID:20261029T160000Z",
      "DTSTART:20261029T170000Z",
      "DTEND:20261029T180000Z",
      'SUMMARY:Talk "by" a guest',
    );
    const same = event("UID:a", "RECURRENCE-ID:20261105T160000Z", "DTSTART:20261105T170000Z", "SUMMARY:Talk");
    const file = store.file("talk.ics", calendar(...series, ...guest, ...same));
    const served = await serve({ files: [file], now: NOW });
    const names = ["Talk", 'Talk "by" a guest', "Talk"];
    const own = names.map((name) => (name === "Talk" ? undefined : name));
    const shown = async (order: string) =>
      (await walk(served, `/events?order_by=${order}`)).items.map(({ name }) => name);
    expect(await shown("start_date")).toEqual(names);
    expect(await shown("name|desc")).toEqual(['Talk "by" a guest', "Talk", "Talk"]);
    const [whole] = (await walk(served, "/events?single_events=false")).items;
    expect(whole.name).toBe("Talk");
    expect(whole._embedded.event_instances.map(({ name }: Json) => name)).toEqual(own);
    const linked = await served.get(`/events/${whole.id}`, { accept: "application/ld+json" });
    expect(linked.json.subEvent.map(({ name }: Json) => name)).toEqual(names);
    const summaries = async (path: string) =>
      [...(await served.get(path)).text.matchAll(/^SUMMARY:(.*?)\r$/gm)].map(([, text]) => text);
    expect(await summaries("/events.ics")).toEqual(names);
    expect(await summaries(`/events/${whole.id}.ics`)).toEqual(["Talk", 'Talk "by" a guest', "Talk"]);
    await served.close();
  });

  it("counts days of a DURATION on the wall, and an instance without its series as an event", () => {
    expect(
      bring(
        ...event("UID:a", "DTSTART;TZID=America/New_York:20261031T120000", "DURATION:P1DT1H"),
        ...event("UID:z", "RECURRENCE-ID:20261101T100000Z", "DTSTART:20261101T100000Z", "SUMMARY:Alone"),
      ),
    ).toEqual([]);
    expect(starts()).toEqual([
      ["2026-10-31T16:00", 26],
      ["2026-11-01T10:00", 0],
    ]);
  });

  it("finds the zone of a TZID by its VTIMEZONE or its end", () => {
    const zone = [
      "BEGIN:VTIMEZONE",
      "TZID:Eastern",
      "X-LIC-LOCATION:America/New_York",
      "BEGIN:STANDARD",
      "DTSTART:19700101T000000",
      "TZOFFSETFROM:-0500",
      "TZOFFSETTO:-0500",
      "END:STANDARD",
      "END:VTIMEZONE",
    ];
    expect(
      bring(
        ...zone,
        ...event("UID:a", "DTSTART;TZID=Eastern:20261022T160000"),
        ...event("UID:b", "DTSTART;TZID=/x.example/Europe/Berlin:20261022T160000"),
      ),
    ).toEqual([]);
    expect(all().map((one) => one.zone)).toEqual(["America/New_York", "Europe/Berlin"]);
  });

  it.each<[string, string[], string, RegExp]>([
    ["no UID", event("DTSTART:20261022T160000Z"), "line 4", /UID/],
    ["no DTSTART", event("UID:a"), "line 4", /DTSTART/],
    ["an unknown zone", event("UID:a", "DTSTART;TZID=Mars:20261022T160000"), "line 7", /Mars/],
    ["a date that is none", event("UID:a", "DTSTART:20261322T160000"), "line 7", /DTSTART|no date/],
    [
      "an end of another kind",
      event("UID:a", "DTSTART:20261022T160000Z", "DTEND;VALUE=DATE:20261023"),
      "line 8",
      /DTEND/,
    ],
    [
      "an end before the start",
      event("UID:a", "DTSTART:20261022T160000Z", "DTEND:20261022T150000Z"),
      "line 8",
      /before/,
    ],
    ["a part of a day", event("UID:a", "DTSTART;VALUE=DATE:20261022", "DURATION:PT1H"), "line 8", /whole days/],
    [
      "a bad rule",
      event("UID:a", "DTSTART:20261022T160000Z", "RRULE:FREQ=DAILY;BYMONTHDAY=77"),
      "line 8",
      /RRULE|property/,
    ],
    [
      "a period",
      event("UID:a", "DTSTART:20261022T160000Z", "RDATE;VALUE=PERIOD:20261023T160000Z/PT1H"),
      "line 8",
      /periods/,
    ],
    ["a line that is no property", event("UID:a", "DTSTART:20261022T160000Z", "SUMMARY"), "line 8", /property/],
    [
      "a range",
      [
        ...event("UID:a", "DTSTART:20261022T160000Z", "RRULE:FREQ=DAILY;COUNT=3"),
        ...event("UID:a", "RECURRENCE-ID;RANGE=THISANDFUTURE:20261023T160000Z", "DTSTART:20261023T170000Z"),
      ],
      "line 13",
      /RANGE/,
    ],
    [
      "a stray override",
      [
        ...event("UID:a", "DTSTART:20261022T160000Z"),
        ...event("UID:a", "RECURRENCE-ID:20261023T160000Z", "DTSTART:20261023T170000Z"),
      ],
      "line 4",
      /not an instance/,
    ],
    [
      "a UID twice",
      [...event("UID:a", "DTSTART:20261022T160000Z"), ...event("UID:a", "DTSTART:20261023T160000Z")],
      "line 9",
      /line 4/,
    ],
    ["an open component", ["BEGIN:VEVENT", "UID:a"], "line 6", /END/],
  ])("is refused for %s, with the line", (_, lines, place, reason) => {
    const found = bring(...lines);
    expect(
      found.some(([at, why]) => at === place && reason.test(why)),
      JSON.stringify(found),
    ).toBe(true);
    expect(all()).toEqual([]);
  });

  it("is refused when it is something else", () => {
    const file = store.file("b.ics", "hello");
    expect(() => store.bring(file, CONFIGURED)).toThrow(/not iCalendar/);
  });
});

describe("a calendar that is downloaded", () => {
  it("brings the same instances back, with and without rules", async () => {
    const original = await serve({ files: [SAMPLE], now: NOW });
    const everything = "type=all&source=all&open_to=everyone,faculty,staff,students";
    const instances = async (served: typeof original, query: string) => {
      const { items } = await walk(served, `/events?${query}&per_page=100&order_by=start_date,name`);
      return items.map((object: Json) => [
        object.name,
        object.start,
        object.end,
        object._embedded.event_categories?.map((term: Json) => term.name).sort(),
      ]);
    };
    const series = await original.get(`/events.ics?${everything}&single_events=false`);
    const flat = await original.get(`/events.ics?${everything}&date=2026-10-20,2026-12-31`);
    expect(series.headers.get("content-type")).toBe("text/calendar; charset=utf-8");
    const again = await serve({ files: [store.file("series.ics", series.text)], now: NOW });
    // The file has no head: its walls carry their zones, and only all-day events follow the site's.
    expect(await instances(again, "type=all")).not.toHaveLength(0);
    const ours = (await instances(original, everything))
      .map((row) => JSON.stringify([row[0], (row[1] as Json).timestamp ?? (row[1] as Json).date, row[3]]))
      .sort();
    const theirs = (await instances(again, "type=all"))
      .map((row) => JSON.stringify([row[0], (row[1] as Json).timestamp ?? (row[1] as Json).date, row[3]]))
      .sort();
    expect(theirs).toEqual(ours);
    const single = await serve({ files: [store.file("flat.ics", flat.text)], now: NOW });
    const wanted = await instances(original, `${everything}&date=2026-10-20,2026-12-31`);
    expect((await instances(single, "type=all")).length).toBe(wanted.length);
    await Promise.all([original.close(), again.close(), single.close()]);
  });

  it("gives each instance the address that it has everywhere, also where two share a day", async () => {
    const url = "https://a.org/2026/11/02/talk";
    const start = { dateTime: "2026-11-02T09:00:00" };
    const event = { id: 7, name: "Talk", url, start, rrule: "FREQ=DAILY;BYHOUR=9,15;COUNT=3" };
    const served = await serve({ files: [store.file("twice.json", { events: [event] })], now: NOW });
    const whole = (await served.get("/events/7")).json as Json;
    const parsed = new ICAL.Component(ICAL.parse((await served.get("/events.ics")).text));
    const addresses = parsed.getAllSubcomponents("vevent").map((one) => one.getFirstPropertyValue("url"));
    expect(addresses).toEqual(whole._embedded.event_instances.map((instance: Json) => instance.url));
    expect(addresses.slice(0, 2)).toEqual([`${url}?at=0900`, `${url}?at=1500`]);
    await served.close();
  });

  it("keeps to the form: CRLF, 75 octets, zones described as they are", async () => {
    const served = await serve({ files: [SAMPLE], now: NOW });
    const { text } = await served.get("/events.ics?single_events=false&type=all&source=all");
    expect(text.replaceAll("\r\n", "")).not.toMatch(/[\r\n]/);
    const lines = text.split("\r\n");
    expect(Math.max(...lines.map((line) => Buffer.byteLength(line)))).toBeLessThanOrEqual(75);
    expect(lines.some((line) => line.startsWith(" "))).toBe(true);
    const parsed = new ICAL.Component(ICAL.parse(text));
    expect(parsed.getFirstPropertyValue("name")).toBe("Events of events.example.edu");
    expect(text).toContain("REFRESH-INTERVAL;VALUE=DURATION:PT1H");
    expect(text).toMatch(/IMAGE;[^:]*VALUE=URI/);
    expect(parsed.getAllSubcomponents("vevent").map((one) => one.getFirstPropertyValue("uid"))).toContain(
      "4101@events.example.edu",
    );
    for (const component of parsed.getAllSubcomponents("vtimezone")) {
      const zone = new ICAL.Timezone(component);
      const name = new Intl.DateTimeFormat("en", { timeZone: zone.tzid, timeZoneName: "longOffset" });
      for (let day = NOW; day < NOW + 900 * 86_400; day += 86_400) {
        const offset = /GMT(?:([+-])(\d{2}):(\d{2}))?/.exec(name.format(new Date(day * 1000)));
        const expected = offset?.[1]
          ? Number(`${offset[1]}1`) * (Number(offset[2]) * 3600 + Number(offset[3]) * 60)
          : 0;
        const wall = new Date((day + expected) * 1000).toISOString().slice(0, 19);
        expect([zone.tzid, wall, zone.utcOffset(ICAL.Time.fromDateTimeString(wall))]).toEqual([
          zone.tzid,
          wall,
          expected,
        ]);
      }
    }
    expect(
      parsed
        .getAllSubcomponents("vtimezone")
        .map((one) => one.getFirstPropertyValue("tzid"))
        .sort(),
    ).toEqual(["America/New_York", "Europe/Berlin"]);
    await served.close();
  });

  it("has at most 1000 components, no pages, and one event by its id", async () => {
    const served = await serve({ files: [SAMPLE], now: NOW });
    const many = await served.get("/events.ics?type=all&open_to=staff,everyone&page=0&callback=cb");
    expect(many.text.match(/BEGIN:VEVENT/g)).toHaveLength(1000);
    const one = await served.get("/events/4101.ics");
    expect(one.text).toContain("RRULE:FREQ=WEEKLY;BYDAY=TH");
    expect(one.text.match(/BEGIN:VEVENT/g)).toHaveLength(2);
    expect((await served.get("/events/4101.ics", { "if-none-match": one.headers.get("etag") ?? "" })).status).toBe(304);
    expect((await served.get("/events/4139.ics")).status).toBe(404);
    expect((await served.get("/events/x.ics")).status).toBe(404);
    expect((await served.get("/events.ics?type=x")).status).toBe(400);
    await served.close();
  });
});
