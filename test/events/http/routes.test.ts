/** The cases of the contract over a real socket, one row each, with its fixture and clock. */
import { readFileSync } from "node:fs";
import { parseTemplate } from "url-template";
import { afterAll, describe, expect, it } from "vitest";
import { fc } from "../../support/property.js";
import { EXAMPLE_NOW, type Json, seconds, serve, walk } from "../support.js";

const events = await serve();
afterAll(() => events.close());

const ids = ({ _embedded }: Json) => _embedded.events.map((event: Json) => event.id);

describe("the example of the contract", () => {
  it("is answered member by member", async () => {
    const expected = JSON.parse(readFileSync(new URL("fixtures/example-page.json", import.meta.url), "utf8"));
    const { json, text } = await events.get("/events?page=2&per_page=2");
    expect(json).toEqual(expected);
    expect(text).toBe(JSON.stringify(expected));
  });

  it("shows an event with its instances", async () => {
    const { json } = await events.get("/events/4101");
    expect(json._embedded.event_instances.map(({ id, type, url }: Json) => [id, type, url])).toEqual([
      [
        "4101-20261022T200000Z",
        "event_instance",
        "https://events.example.edu/events/2026/10/22/turbulence-reading-group",
      ],
      [
        "4101-20261029T200000Z",
        "event_instance",
        "https://events.example.edu/events/2026/10/29/turbulence-reading-group",
      ],
      [
        "4101-20261105T210000Z",
        "event_instance",
        "https://events.example.edu/events/2026/11/05/turbulence-reading-group",
      ],
    ]);
    expect(json.start).toEqual({ dateTime: "2026-10-22T16:00:00-04:00", timestamp: 1792699200 });
    expect(json.end).toEqual({ dateTime: "2026-10-22T17:00:00-04:00", timestamp: 1792702800 });
    expect([json.start_date, json.start_time, json.end_date, json.end_time]).toEqual([
      "2026-10-22",
      "16:00",
      "2026-10-22",
      "17:00",
    ]);
    expect(json).not.toHaveProperty("instance_id");
    expect(json._embedded.event_instances[2].start).toEqual({
      dateTime: "2026-11-05T16:00:00-05:00",
      timestamp: 1793912400,
    });
  });

  it("shows a category", async () => {
    expect((await events.get("/event_categories/33")).json).toEqual({
      _embedded: {},
      _links: { self: { href: "/event_categories/33" } },
      id: 33,
      type: "event_category",
      name: "Reading Group",
      slug: "reading-group",
      parent: { id: 30, name: "Seminars", slug: "seminars" },
      url: { events: "https://events.example.edu/category/reading-group" },
    });
  });

  it("has a template that leads to a member", async () => {
    const { json } = await events.get("/events");
    expect(json._links.find.templated).toBe(true);
    expect((await events.get(parseTemplate(json._links.find.href).expand({ id: 4102 }))).json.id).toBe(4102);
  });
});

describe("collections", () => {
  it("GET /events: four instances in order, five to a page", async () => {
    const { json } = await events.get("/events");
    expect(ids(json)).toEqual([4101, 4101, 4102, 4101]);
    expect(json).toMatchObject({ page: 1, per_page: 5, return_count: 4, total_available: 4 });
    expect(Object.keys(json._links)).toEqual(["find", "self"]);
  });

  it("cuts per_page to 100, in links as well", async () => {
    const { status, json } = await events.get("/events?per_page=500");
    expect([status, json.per_page]).toEqual([200, 100]);
    expect(json._links.self.href).toBe("/events?page=1&per_page=100");
  });

  it("answers a page past the end with nothing and the way back", async () => {
    const { status, json } = await events.get("/events?page=9");
    expect([status, json.return_count, json.total_available]).toEqual([200, 0, 4]);
    expect(json._embedded.events).toEqual([]);
    expect(json._links.prev.href).toBe("/events?page=1");
    expect(json._links.next).toBeUndefined();
    const none = await events.get("/events?page=9&ids=999999");
    expect(none.json._links.prev).toBeUndefined();
  });

  it.each(["1000000000", "9007199254740992", "9".repeat(400)])("says that page %s is too far", async (page) => {
    const { status, json } = await events.get(`/events?page=${page}`);
    expect([status, json.details]).toEqual([400, [{ parameter: "page", reason: "must be 999999999 or less" }]]);
  });

  it.each(["page=0", "page=a", "per_page=0", "page=1&page=2", "page=&page=2", "page=1.5", "per_page=-1"])(
    "refuses ?%s",
    async (query) => {
      expect((await events.get(`/events?${query}`)).status).toBe(400);
    },
  );

  it("single_events=false lists events with their instances", async () => {
    const { json } = await events.get("/events?single_events=false");
    expect(json.total_available).toBe(2);
    expect(ids(json)).toEqual([4101, 4102]);
    expect(json._embedded.events.map((event: Json) => event._embedded.event_instances.length)).toEqual([3, 1]);
    const one = await events.get("/events?single_events=false&date=2026-11-05");
    expect(ids(one.json)).toEqual([4101]);
    expect(one.json._embedded.events[0].start_date).toBe("2026-10-22");
    for (const spelling of ["0", "FALSE", "False"]) {
      expect((await events.get(`/events?single_events=${spelling}`)).json.total_available).toBe(2);
    }
  });

  it("finds all-day events on their last day, and by their first", async () => {
    expect(ids((await events.get("/events?date=2026-10-31")).json)).toEqual([4102]);
    expect(ids((await events.get("/events?start_date=2026-10-31")).json)).toEqual([]);
    expect(ids((await events.get("/events?start_date=2026-10-30")).json)).toEqual([4102]);
    expect(ids((await events.get("/events?date=2026-10-31,2026-11-05")).json)).toEqual([4102, 4101]);
    expect(ids((await events.get("/events?date=2026-11-01")).json)).toEqual([]);
  });

  it.each(
    [
      "date=2026-02-30 date=2026-10-31,2026-10-30 date=2026-10-01, date=2026-10-01,2026-10-02,2026-10-03 date=20261020",
      "date=2026-2-3 date=2000-01-01,2026-01-01 start_date=2026-10-01,2026-10-02 open_to=alumni order_by=color|asc",
      "order_by=id|up order_by=list order_by=score single_events=maybe type=future source=other ids=a tags=1,b",
      "ids=1234567890123456 include_subterms=x",
    ].flatMap((line) => line.split(" ")),
  )("refuses ?%s", async (query) => {
    const { status, json } = await events.get(`/events?${query}`);
    expect([status, json.code, json.details[0].parameter]).toEqual([400, "invalid_parameter", query.split("=")[0]]);
  });

  it("takes faulty for faculty, alone or beside it", async () => {
    const strip = ({ _links, ...rest }: Json) => rest;
    const faulty = await events.get("/events?open_to=faulty");
    const faculty = await events.get("/events?open_to=FACULTY");
    expect(strip(faulty.json)).toEqual(strip(faculty.json));
    expect(faulty.json.total_available).toBe(4);
    expect(faulty.json._links.self.href).toBe("/events?open_to=faulty&page=1");
    expect((await events.get("/events?open_to=faulty,Faculty")).json.total_available).toBe(4);
  });

  it("orders by place in ids, both ways", async () => {
    const path = "/events?ids=4102,4101&single_events=false&order_by=list";
    expect(ids((await events.get(path)).json)).toEqual([4102, 4101]);
    expect(ids((await events.get(`${path}|DESC`)).json)).toEqual([4101, 4102]);
    expect(ids((await events.get("/events?order_by=id%7Cdesc&single_events=false")).json)).toEqual([4102, 4101]);
    expect(ids((await events.get("/events?order_by=name&single_events=false")).json)).toEqual([4102, 4101]);
  });

  it("finds nothing for unknown ids, which are no fault", async () => {
    for (const query of ["ids=999999", "tags=999999", "tags=33"]) {
      const { status, json } = await events.get(`/events?${query}`);
      expect([status, json.total_available]).toEqual([200, 0]);
    }
  });

  it("widens a term by its children when asked to", async () => {
    expect(ids((await events.get("/events?locations=50")).json)).toEqual([]);
    expect(ids((await events.get("/events?locations=50&include_subterms=50")).json)).toEqual([4101, 4101, 4101]);
    expect(ids((await events.get("/events?locations=50&include_subterms=52")).json)).toEqual([]);
    expect(ids((await events.get("/event_categories/30/events?include_subterms=30")).json)).toEqual([4101, 4101, 4101]);
    expect(ids((await events.get("/event_categories/30/events")).json)).toEqual([]);
    expect(ids((await events.get("/events?locations=52&event_categories=31")).json)).toEqual([]);
  });

  it("answers subcollections, and 404 for what is not there", async () => {
    const { status, json } = await events.get("/events/4102/tags");
    expect([status, json.total_available, json._links.find.href]).toEqual([200, 0, "/tags/{id}"]);
    expect((await events.get("/events/4101/event_categories")).json._embedded.event_categories[0].id).toBe(33);
    const people = await events.get("/events/4102/people");
    expect([people.status, people.json.details[0].allowed.length]).toEqual([404, 5]);
    const asked =
      "/events/1/tags /events/abc /events/1 /event_categories/1,2/events /tags/33 /events/4101/tags/81 /events/1234567890123456";
    for (const path of asked.split(" ")) {
      const answer = await events.get(path);
      expect([path, answer.status, answer.json.message]).toEqual([path, 404, "Not found."]);
    }
    expect((await events.get("/events/0004101")).json.id).toBe(4101);
  });

  it("lists the five vocabularies with their filters and orders", async () => {
    const categories = (query: string) =>
      walk(events, `/event_categories?${query}`, "event_categories").then(({ items }) =>
        items.map(({ id }: Json) => id),
      );
    expect(await categories("")).toEqual([31, 33, 30]);
    expect(await categories("order_by=name|desc")).toEqual([30, 33, 31]);
    expect(await categories("order_by=weight,id|desc&per_page=1")).toEqual([33, 31, 30]);
    expect(await categories("slug=seminars,open-house")).toEqual([31, 30]);
    expect(await categories("ids=33,30&order_by=list")).toEqual([33, 30]);
    expect(await categories("excluded_ids=33")).toEqual([31, 30]);
    expect((await events.get("/event_categories?order_by=list")).status).toBe(400);
    expect((await events.get("/locations/52")).json).toMatchObject({
      parent: { id: 50 },
      city: "Springfield",
      latitude: 39.33,
    });
    expect((await events.get("/locations/50")).json).toMatchObject({ parent: null, city: null, longitude: null });
    expect((await events.get("/divisions/7")).json).not.toHaveProperty("parent");
    expect((await events.get("/channels")).json._embedded.channels).toEqual([]);
    expect((await events.get("/tags/81/events")).json.total_available).toBe(3);
    expect((await events.get("/tags/999/events")).status).toBe(404);
  });

  it("keeps what counted as given in links, sorted, and nothing else", async () => {
    const query =
      "per_page=1&tags=81,&locations=%2052&callback=&v=1&_=5&key=secret&ids=,,&order_by=id|asc&x=1&date=2026-10-01,2026-12-01";
    const { json, headers } = await events.get(`/events?${query}`);
    const base = "/events?date=2026-10-01,2026-12-01&locations=%2052&order_by=id%7Casc";
    expect(json._links.self.href).toBe(`${base}&page=1&per_page=1&tags=81,`);
    expect(json._links.next.href).toBe(`${base}&page=2&per_page=1&tags=81,`);
    expect(headers.get("link")).toBe(`<${base}&page=2&per_page=1&tags=81,>; rel="next"`);
    expect(headers.get("x-total-count")).toBe("3");
    const back = await events.get(`${json._links.next.href}`);
    expect(back.headers.get("link")).toMatch(/rel="next", <.*>; rel="prev"$/);
  });

  it("reports every fault at once, and its code when there is one kind", async () => {
    const { json } = await events.get("/events?page=0&order_by=color|asc&type=x&callback=a(b)&v=7");
    expect(json).toMatchObject({
      error: true,
      statusCode: 400,
      code: "invalid_parameter",
      message: "Invalid query parameters.",
    });
    expect(json.details.map((detail: Json) => detail.parameter).sort()).toEqual([
      "callback",
      "order_by",
      "page",
      "type",
      "v",
    ]);
    expect(json.details).toContainEqual({ parameter: "page", reason: "must be an integer of 1 or more" });
    expect(json.details).toContainEqual({
      parameter: "order_by",
      reason: "unknown field",
      allowed: ["end_date", "id", "list", "name", "publish_date", "start_date"],
    });
    const code = async (query: string) => (await events.get(`/events?${query}`)).json.code;
    const many = Array.from({ length: 201 }, (_, n) => n + 1).join(",");
    expect(await code("page=1&page=2")).toBe("duplicate_parameter");
    expect(await code(`ids=${many}`)).toBe("too_many_values");
    expect(await code(`order_by=id,name,start_date,end_date,publish_date,list&ids=4101`)).toBe("too_many_values");
    expect(await code("v=2")).toBe("unsupported_version");
    expect(await code("callback=a(b)")).toBe("invalid_callback");
    expect((await events.get(`/events?ids=${many.replace("201", "200,,")}`)).status).toBe(200);
    expect((await events.get("/events?x=1&x=2")).status).toBe(200);
    expect((await events.get("/events/4101?type=x&page=0")).status).toBe(200);
    expect((await events.get("/events/4101?v=3")).json.code).toBe("unsupported_version");
  });
});

describe("any request", () => {
  const names = [
    "page per_page ids tags date start_date open_to order_by source type v key callback single_events include_subterms",
    "x id",
  ].flatMap((line) => line.split(" "));
  const value = fc.oneof(
    fc.string({ unit: "binary", maxLength: 20 }),
    fc.string({ unit: fc.constantFrom(..."0123456789,-|adescnT: %+\u0000"), maxLength: 24 }),
    fc.constantFrom(
      "all",
      "upcoming,past",
      "4101",
      "2026-10-30",
      "0001-01-01,0002-01-01",
      "9999-12-31",
      "-271821-04-20",
      "id|desc",
      "true",
      "9".repeat(30),
    ),
  );
  const paths =
    "/events /events/4101 /events/4101/tags /event_categories /tags/81/events /events.ics /events/4102.ics /events/%00".split(
      " ",
    );
  const query = fc.array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 5 });

  it("is answered or refused, never failed", async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), query, fc.boolean(), async (path, pairs, encoded) => {
        const text = pairs.map(([name, given]) => {
          return `${name}=${encoded ? encodeURIComponent(given) : encodeURI(given).replaceAll("#", "%23")}`;
        });
        const { status, json } = await events.get(`${path}?${text.join("&")}`);
        expect([200, 308, 400, 404]).toContain(status);
        if (status === 400 && json) expect(json.details.length).toBeGreaterThan(0);
      }),
      { numRuns: 250 },
    );
  });
});

describe("time", () => {
  it("moves an all-day event from upcoming to past at local midnight", async () => {
    const listed = async (type: string) => ids((await events.get(`/events?type=${type}&ids=4102`)).json);
    events.setClock(seconds("2026-10-31T23:59:00-04:00"));
    expect([await listed("upcoming"), await listed("past"), await listed("current")]).toEqual([[4102], [], [4102]]);
    events.setClock(seconds("2026-11-01T00:01:00-04:00"));
    expect([await listed("upcoming"), await listed("past"), await listed("current")]).toEqual([[], [4102], []]);
    events.setClock(EXAMPLE_NOW);
  });

  it("counts a timed event as current from its first second to its last", async () => {
    const at = async (instant: string) => {
      events.setClock(seconds(instant));
      const path = (type: string) => `/events?ids=4101&date=2026-10-22&type=${type}`;
      const seen = await Promise.all(["upcoming", "current", "past"].map((type) => events.get(path(type))));
      return seen.map(({ json }) => json.total_available).join("");
    };
    expect(await at("2026-10-22T19:59:59Z")).toBe("100");
    expect(await at("2026-10-22T20:00:00Z")).toBe("110");
    expect(await at("2026-10-22T20:59:59Z")).toBe("110");
    expect(await at("2026-10-22T21:00:00Z")).toBe("001");
    events.setClock(seconds("2026-10-30T12:00:00Z"));
    for (const type of ["upcoming", "past"]) {
      expect(ids((await events.get(`/events?single_events=false&ids=4101&type=${type}`)).json)).toEqual([4101]);
    }
    expect((await events.get("/events/4101")).json.start_date).toBe("2026-11-05");
    events.setClock(seconds("2027-01-01T00:00:00Z"));
    expect((await events.get("/events/4101")).json.start_date).toBe("2026-11-05");
    expect((await events.get("/events?type=past,current")).json.total_available).toBe(4);
    events.setClock(EXAMPLE_NOW);
  });

  it("hides an event until its publication", async () => {
    events.setClock(1790859599);
    expect((await events.get("/events/4101")).status).toBe(404);
    expect((await events.get("/events?type=all")).json.total_available).toBe(0);
    expect((await events.get("/events/4101/tags")).status).toBe(404);
    events.setClock(1790859600);
    expect((await events.get("/events/4101")).status).toBe(200);
    expect((await events.get("/events?type=all")).json.total_available).toBe(4);
    events.setClock(EXAMPLE_NOW);
  });
});
