/** The render thread gives the same answers and leaves the event loop to others. */
import { createHash } from "node:crypto";
import { mkdirSync, rmdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EventsError } from "../../../src/events/http/events-error.js";
import { wrapJsonp } from "../../../src/events/http/jsonp.js";
import { RenderThread } from "../../../src/events/http/render-thread.js";
import type { Interval } from "../../../src/events/store/store.js";
import { EVENTS_SETTINGS, load, SAMPLE, type Served, scratch, seconds, serve } from "../support.js";

const NOW = seconds("2026-11-10T17:00:00Z");

let plain: Served;
let threaded: Served;
beforeAll(async () => {
  plain = await serve({ files: [SAMPLE], now: NOW });
  threaded = await serve({ files: [SAMPLE], now: NOW, threaded: true });
});
afterAll(async () => {
  await plain.close();
  await threaded.close();
});

describe("answers", () => {
  it.each([
    "/events",
    "/events?page=2",
    "/events?single_events=false&per_page=100",
    "/events?single_events=false&order_by=name|desc&type=all&page=2",
    "/events?order_by=end_date|desc&per_page=50",
    "/events?single_events=0&callback=show",
    "/event_categories/31/events?single_events=false",
    "/events.ics",
    "/events.ics?single_events=false&type=all",
    "/events?single_events=false&page=999",
    "/events?single_events=false&source=nowhere",
    "/event_categories/999/events?single_events=false",
  ])("of %s are the same as without a thread, asked once and again", async (path) => {
    const expected = await plain.get(path);
    for (let turn = 0; turn < 2; turn++) {
      const answer = await threaded.get(path);
      expect([answer.status, answer.text]).toEqual([expected.status, expected.text]);
      for (const name of ["etag", "x-total-count", "link", "content-type", "content-length"]) {
        expect(answer.headers.get(name), name).toBe(expected.headers.get(name));
      }
    }
  });

  it("follow the data and the clock", async () => {
    const own = await serve({ threaded: true });
    const total = async () => (await own.get("/events?single_events=false")).json.total_available;
    expect(await total()).toBe(2);
    own.setClock(seconds("2026-11-02T12:00:00Z"));
    expect(await total()).toBe(1);
    load(own.db, [SAMPLE], seconds("2026-11-02T12:00:00Z"));
    expect(await total()).toBeGreaterThan(10);
    await own.close();
  });
});

describe("a series of 2000 instances", () => {
  const folder = scratch();
  afterAll(() => folder.remove());

  it("is the same from the thread in every form, and as a script that is wrapped as it is sent", async () => {
    const rule = {
      start: { dateTime: "2026-11-11T00:00:00" },
      rrule: "FREQ=HOURLY",
      excerpt: "<\u2028\u00e9\ud83d\ude00>",
    };
    const events = Array.from({ length: 5 }, (_, n) => ({ id: n + 1, name: `Watch ${n}`, ...rule }));
    const files = [folder.file("dense.json", { events })];
    const [here, there] = [await serve({ files, now: NOW }), await serve({ files, now: NOW, threaded: true })];
    const all = "/events?single_events=false&per_page=100";
    const paths = ["/events/1", "/events/1?callback=f", "/events/1.ics", "/events/9", "/events?page=9999", all];
    for (const path of paths) {
      const [expected, answer] = [await here.get(path), await there.get(path)];
      expect([path, answer.status, answer.text]).toEqual([path, expected.status, expected.text]);
      expect(answer.headers.get("etag")).toBe(expected.headers.get("etag"));
    }
    const accept = "application/ld+json";
    expect((await there.get("/events/1", { accept })).text).toBe((await here.get("/events/1", { accept })).text);
    const plain = await there.get(all);
    const script = await there.get(`${all}&callback=a.b`);
    expect(plain.text.length).toBeGreaterThan(1 << 20);
    expect(script.text).toBe(wrapJsonp("a.b", plain.text));
    const tag = script.headers.get("etag") as string;
    expect(tag).not.toBe(plain.headers.get("etag"));
    expect((await there.get(`${all}&callback=a.b`, { "if-none-match": tag })).status).toBe(304);
    expect((await there.get(`${all}&callback=a.c`)).headers.get("etag")).not.toBe(tag);
    await here.close();
    await there.close();
  });
});

describe("a thread without a store", () => {
  const folder = scratch();
  const series = { start: { dateTime: "2026-11-11T00:00:00" }, rrule: "FREQ=HOURLY;COUNT=300" };
  const few = { start: { dateTime: "2026-11-12T00:00:00" }, rrule: "FREQ=DAILY;COUNT=3" };
  const events = Array.from({ length: 40 }, (_, n) => ({ id: n + 1, name: `Watch ${n}`, ...series }));
  let served: Served;
  beforeAll(async () => {
    const file = folder.file("dense.json", { events: [...events, { id: 99, name: "Few", ...few }] });
    served = await serve({ files: [file], now: NOW, threaded: `${folder.path}/dense.json` });
  });
  afterAll(async () => {
    await served.close();
    folder.remove();
  });

  // 503: only the thread makes these, so that the event loop does not.
  it.each([
    ["/events", 503],
    ["/events?single_events=false&per_page=100", 503],
    ["/events?order_by=name", 503],
    ["/events?per_page=100&page=110", 503],
    ["/events?include=1,2,3", 503],
    ["/events/1", 503],
    ["/events.ics", 503],
    ["/events/99", 200],
    ["/event_categories", 200],
  ])("makes no %s: %d", async (path, status) => {
    expect((await served.get(path)).status).toBe(status);
  });
});

describe("the thread", () => {
  const folder = scratch();
  afterAll(() => folder.remove());
  const settings = { ...EVENTS_SETTINGS, cacheBytes: 0 };
  const ask = { vocabulary: null, id: null, strict: false };
  const task = { form: "events" as const, ask, search: "single_events=false", now: NOW };
  const interval = {} as Interval;

  it("leaves the event loop to others while it works", async () => {
    const db = `${folder.path}/dense.db`;
    const event = (id: number) => ({
      id,
      name: `Watch ${id}`,
      start: { dateTime: "2026-11-01T00:00:00" },
      rrule: "FREQ=HOURLY",
    });
    load(db, [folder.file("dense.json", { events: Array.from({ length: 12 }, (_, n) => event(n + 1)) })], NOW);
    const thread = new RenderThread({ db, settings, prefix: "" });
    let turns = 0;
    let waiting = true;
    const count = () => {
      turns += 1;
      if (waiting) setImmediate(count);
    };
    setImmediate(count);
    const page = await thread.make(interval, "a", { ...task, search: "single_events=false&per_page=100" });
    waiting = false;
    expect(page.body.length).toBeGreaterThan(5_000_000);
    expect(page.tag).toBe(`"${createHash("sha1").update(page.body).digest("base64url")}"`);
    expect(turns).toBeGreaterThan(100);
    await thread.close();
  });

  it("makes a page once for all who ask for it at the same time, and refuses what it cannot keep waiting", async () => {
    const thread = new RenderThread({ db: threaded.db, settings, prefix: "" });
    const first = thread.make(interval, "a", task);
    expect(thread.make(interval, "a", task)).toBe(first);
    expect(thread.make({} as Interval, "a", task)).not.toBe(first);
    const many = await Promise.allSettled(Array.from({ length: 80 }, (_, n) => thread.make(interval, `${n}`, task)));
    const refused = many.filter((one) => one.status === "rejected").map(({ reason }) => reason as EventsError);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.every((error) => error instanceof EventsError && error.status === 503)).toBe(true);
    expect(many.length - refused.length).toBeGreaterThanOrEqual(60);
    await thread.close();
  });

  it("opens a store with the first page for which it can", async () => {
    const file = `${folder.path}/later.db`;
    mkdirSync(file);
    const thread = new RenderThread({ db: file, settings, prefix: "" });
    await expect(thread.make(interval, "a", task)).rejects.toMatchObject({
      status: 503,
      cause: expect.stringContaining("cannot open the store"),
    });
    rmdirSync(file);
    load(file, [SAMPLE], NOW);
    expect((await thread.make(interval, "a", task)).headers["x-total-count"]).toMatch(/^[1-9]/);
    await thread.close();
  });
});
