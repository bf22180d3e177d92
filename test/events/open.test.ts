/** The life of the module: first start, later starts, changes, nights, faults of the operator, command line. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Fastify from "fastify";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { eventsSettings } from "../../src/events/http/events-settings.js";
import { EventsModule } from "../../src/events/open.js";
import { openCalendar } from "../../src/events/store/stored-calendar.js";
import { type Timer, untilTomorrow } from "../../src/events/time/clock.js";
import { loadConfig } from "../../src/shared/config.js";
import { openConnection } from "../../src/shared/sqlite.js";
import { fieldprobe } from "../support/run-command.js";
import { EXAMPLE, load, placeOf, SAMPLE, scratch, seconds } from "./support.js";

const DATABASE = fileURLToPath(new URL("fixtures/events-1.0.db", import.meta.url));
const CERTIFICATE = fileURLToPath(new URL("../server/http/fixtures/cert.pem", import.meta.url));

let folder: ReturnType<typeof scratch>;
beforeEach(() => {
  folder = scratch();
});
afterEach(() => folder.remove());

const log: string[] = [];
const errors: unknown[] = [];
const logger = {
  info: (_: object, message: string) => log.push(message),
  warn: (_: object, message: string) => log.push(message),
  error: ({ err }: { err?: unknown }, message: string) => {
    errors.push(err);
    log.push(message);
  },
};
const config = (settings: Record<string, string> = {}) =>
  loadConfig({ STATE: folder.path, EVENTS_NOW: "2026-10-20T12:00:00Z", ...settings }, {});

/** The module with its store open, or known to be unavailable. */
async function opened(settings: Record<string, string> = {}, timer?: Timer): Promise<EventsModule> {
  const events = new EventsModule(config(settings), logger, timer);
  await events.open();
  return events;
}

/** The module and its routes, before its store is opened. */
async function served(settings: Record<string, string> = {}, timer?: Timer) {
  const events = new EventsModule(config(settings), logger, timer);
  const app = Fastify();
  await app.register(events.plugin);
  return { events, app };
}

describe("opening", () => {
  it("names itself by an address when nobody else gives one", () => {
    expect(eventsSettings(config({ HOST: "::1", PORT: "9000" })).fallbackSite).toBe("http://[::1]:9000");
    const tls = { TLS_CERT: CERTIFICATE, TLS_KEY: CERTIFICATE, PORT: "9000" };
    expect(eventsSettings(config(tls)).fallbackSite).toBe("https://127.0.0.1:9000");
    expect(eventsSettings(config({ BASE_URL: "https://a.org/x" })).fallbackSite).toBe("https://a.org/x");
  });

  it("imports the sample on first start, and never again", async () => {
    log.length = 0;
    await opened().then((events) => events.close());
    expect(log).toEqual(["sample events imported"]);
    const file = join(folder.path, "events.json");
    const { events: stored } = openCalendar(placeOf(file));
    expect(stored.size).toBe(40);
    load(file, [folder.file("one.json", { events: [{ id: 1, name: "One", start: { date: "2026-12-24" } }] })]);
    const { events, app } = await served();
    await events.open();
    const answer = await app.inject("/events?type=all&single_events=false");
    expect(answer.json().total_available).toBeGreaterThan(1);
    expect((await app.inject("/events/1")).statusCode).toBe(200);
    await app.close();
    await events.close();
    expect(log).toEqual(["sample events imported"]);
  });

  it("imports no sample where other data is served", async () => {
    const events = await opened({ DATA: folder.path });
    const { state } = events;
    await events.close();
    expect([state, readdirSync(folder.path)]).toEqual(["ready", []]);
  });

  it("refuses a zone that does not exist before anything starts", () => {
    expect(() => config({ EVENTS_ZONE: "Mars/Base" })).toThrow(/FIELDPROBE_EVENTS_ZONE must be an IANA time zone/);
  });

  it("leaves nothing beside the calendar when it is closed", async () => {
    const { events, app } = await served();
    await events.open();
    expect((await app.inject("/events?single_events=false&type=all&order_by=name")).statusCode).toBe(200);
    await app.close();
    expect(readdirSync(folder.path)).toEqual(["events.json"]);
  });
});

describe("a state folder of version 1.0", () => {
  const terms = (body: string) => JSON.parse(body)._embedded.locations.map(({ name }: { name: string }) => name);

  it("is opened once with nothing lost, and its database stays for version 1.0", async () => {
    const database = join(folder.path, "events.db");
    copyFileSync(DATABASE, database);
    const { events, app } = await served();
    await events.open();
    const all = (await app.inject("/events?type=all&single_events=false&per_page=100")).json();
    expect(all._embedded.events.map(({ id }: { id: number }) => id)).toEqual([4101, 1000000000, 4102]);
    // The length counts days on the wall, across the end of summer time.
    const { start, end } = all._embedded.events[1]._embedded.event_instances[0];
    expect([start.dateTime, end.dateTime]).toEqual(["2026-10-22T10:00:00-04:00", "2026-10-23T12:00:00-04:00"]);
    expect(terms((await app.inject("/events/1000000000/locations")).body)).toEqual(["Hall"]);
    await app.close();
    expect(readdirSync(folder.path).sort()).toEqual(["events.db", "events.json"]);
    expect(openCalendar({ file: `${database}.none`, db: database }).events.size).toBe(3);
    rmSync(database);
    const again = await served();
    await again.events.open();
    expect((await again.app.inject("/events/4101")).statusCode).toBe(200);
    await again.app.close();
  });

  it("keeps the ids of UIDs where files are imported into it", () => {
    const place = { file: join(folder.path, "events.json"), db: join(folder.path, "events.db") };
    copyFileSync(DATABASE, place.db);
    expect([...openCalendar(place).uids]).toEqual([["talk@example", 1000000000]]);
    expect(openCalendar(place).settings).toEqual({
      zone: "America/New_York",
      site: "https://events.example.edu",
      primarySource: "main",
    });
  });
});

describe("a calendar that cannot be used", () => {
  const calendar = (content: string) => ({ EVENTS_FILE: folder.file("bad.json", content) });
  /** Damages that are there at the start, each with the reason that the log gives. */
  const damages: readonly (readonly [string, () => Record<string, string>, RegExp])[] = [
    [
      "a folder",
      () => {
        mkdirSync(join(folder.path, "taken.json"));
        return { EVENTS_FILE: "taken.json" };
      },
      /^DataError: events: [^\n]*taken\.json cannot be read: it is a folder$/,
    ],
    [
      "a place where there can be no folder",
      () => ({ STATE: join(folder.file("file", ""), "state") }),
      /events\.json cannot be written: there is a file where a folder is needed$/,
    ],
    ["no JSON", () => calendar("x"), /bad\.json cannot be read: [^\n]*$/],
    ["of a newer program", () => calendar('{"version":99}'), /its version is 99, this program reads 1$/],
    ["of other content", () => calendar('{"version":1,"settings":{},"terms":[],"events":[{"id":1}],"uids":[]}'), /./],
    [
      "a database that is none",
      () => ({ EVENTS_DB: folder.file("garbage.db", "x".repeat(5000)) }),
      /^DataError: events: /,
    ],
    [
      "a database that is damaged in the middle",
      () => {
        const bytes = readFileSync(DATABASE);
        writeFileSync(join(folder.path, "events.db"), bytes.fill(0x55, 4096));
        return {};
      },
      /^DataError: events: /,
    ],
    [
      "a database of a newer program",
      () => {
        const file = join(folder.path, "events.db");
        copyFileSync(DATABASE, file);
        const db = openConnection(file, "write");
        db.exec("PRAGMA user_version = 99");
        db.close();
        return {};
      },
      /events\.db cannot be read: its schema is 99, this program reads 2$/,
    ],
  ];

  it.each(damages)("%s: routes answer 503 with a problem, and say when to ask again", async (_name, damage, reason) => {
    errors.length = 0;
    const { events, app } = await served(damage());
    expect([events.state, (await app.inject("/events")).statusCode]).toEqual(["opening", 503]);
    await events.open();
    expect(events.state).toBe("unavailable");
    expect(errors.map(String)).toEqual([expect.stringMatching(reason)]);
    for (const url of ["/events", "/events/4101", "/tags", "/events.ics", "/events?single_events=false"]) {
      const answer = await app.inject({ url, headers: { accept: "application/problem+json" } });
      expect([url, answer.statusCode, answer.headers["content-type"]]).toEqual([
        url,
        503,
        "application/problem+json; charset=utf-8",
      ]);
      expect(answer.json()).toMatchObject({ code: "unavailable", status: 503 });
      expect(answer.headers["retry-after"]).toMatch(/^\d+$/);
      expect(answer.body).not.toContain(folder.path);
    }
    expect((await app.inject("/openapi.json")).statusCode).toBe(200);
    await app.close();
  });

  it("is tried again in a minute and by whoever asks, told once, and served when it has been mended", async () => {
    const waits: { work: () => void; ms: number }[] = [];
    errors.length = 0;
    const file = join(folder.path, "events.json");
    mkdirSync(file);
    const { events, app } = await served({}, (work, ms) => {
      waits.push({ work, ms });
      return () => undefined;
    });
    await events.open();
    await events.open();
    expect([events.state, errors.length, waits.map(({ ms }) => ms)]).toEqual(["unavailable", 1, [60_000, 60_000]]);
    rmdirSync(file);
    load(file, [EXAMPLE]);
    waits[0]?.work();
    await events.open();
    expect(events.state).toBe("ready");
    expect((await app.inject("/events")).json().total_available).toBe(4);
    await app.close();
  });

  it.each([
    ["is damaged", (file: string) => writeFileSync(file, "x")],
    ["is gone", (file: string) => renameSync(file, `${file}.old`)],
  ])("while it is served (%s) is told, and the one before it stays", async (_name, damage) => {
    errors.length = 0;
    log.length = 0;
    const file = join(folder.path, "events.json");
    load(file, [EXAMPLE]);
    const { events, app } = await served();
    await events.open();
    damage(file);
    await events.open();
    await events.open();
    expect((await app.inject("/events")).json().total_available).toBe(4);
    expect(log).toEqual(["the events cannot be read: those that were read before are still served"]);
    rmSync(file, { force: true });
    load(file, [SAMPLE]);
    await events.open();
    expect((await app.inject("/events")).json().total_available).toBeGreaterThan(4);
    expect(log.at(-1)).toBe("the events are available again");
    await app.close();
  });
});

describe("a calendar that changes", () => {
  it("is served as it is, soon after another process has imported something", async () => {
    const file = join(folder.path, "events.json");
    load(file, [EXAMPLE]);
    const { events, app } = await served();
    await events.open();
    expect((await app.inject("/events/7")).statusCode).toBe(404);
    const { etag } = (await app.inject("/events")).headers;
    load(file, [folder.file("more.json", { events: [{ id: 7, name: "New", start: { date: "2026-12-24" } }] })]);
    await expect.poll(async () => (await app.inject("/events/7")).statusCode, { timeout: 20_000 }).toBe(200);
    const answer = await app.inject("/events");
    expect([answer.json().total_available, answer.headers.etag === etag]).toEqual([5, false]);
    await app.close();
  });

  it("shows an event whose rule cannot be expanded by its first start", async () => {
    log.length = 0;
    const file = join(folder.path, "events.json");
    load(file, [folder.file("daily.json", { events: [{ id: 9, name: "Daily", start: { date: "2026-11-02" } }] })]);
    writeFileSync(file, readFileSync(file, "utf8").replace('"rrule":null', '"rrule":"FREQ=SECONDLY;COUNT=99999"'));
    const { events, app } = await served();
    await events.open();
    expect((await app.inject("/events/9")).json()._embedded.event_instances).toHaveLength(1);
    expect(log).toEqual(["event is shown without its rule"]);
    await app.close();
  });
});

describe("the horizon", () => {
  const rule = { id: 9, name: "Daily", start: { dateTime: "2026-10-01T10:00:00" }, rrule: "FREQ=DAILY" };

  it("is made again a minute after each local midnight", () => {
    const waits: number[] = [];
    let now = seconds("2026-10-31T22:00:00-04:00");
    for (let night = 0; night < 3; night++) {
      waits.push(untilTomorrow(now, "America/New_York"));
      now += waits.at(-1) ?? 0;
    }
    // The night of 1 November 2026 is an hour longer.
    expect(waits).toEqual([2 * 3600 + 60, 25 * 3600, 24 * 3600]);
  });

  it("moves with the day in the running module, whose ids stay", async () => {
    let now = Date.parse("2026-10-20T12:00:00Z");
    const timers: (() => void)[] = [];
    load(join(folder.path, "events.json"), [folder.file("daily.json", { events: [rule] })]);
    const events = new EventsModule(
      loadConfig({ STATE: folder.path }, {}),
      logger,
      (work) => {
        timers.push(work);
        return () => undefined;
      },
      () => now / 1000,
    );
    const app = Fastify();
    await app.register(events.plugin);
    await events.open();
    const ids = async (): Promise<string[]> =>
      (await app.inject("/events/9")).json()._embedded.event_instances.map(({ id }: { id: string }) => id);
    const before = await ids();
    now += 10 * 86_400_000;
    timers[0]?.();
    // Resolves once the work of the night is over.
    await events.open();
    const after = await ids();
    expect(after.length).toBe(before.length + 10);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(timers).toHaveLength(2);
    await app.close();
  });
});

describe("the command line", () => {
  const run = (...args: string[]) => fieldprobe("events", ...args);
  beforeEach(() => {
    vi.stubEnv("FIELDPROBE_STATE", folder.path);
    vi.stubEnv("FIELDPROBE_EVENTS_NOW", "2026-10-20T12:00:00Z");
  });
  afterEach(() => void vi.unstubAllEnvs());

  it("imports and lists", async () => {
    expect((await run("import", EXAMPLE)).stdout).toMatch(/: 2 events\n$/);
    expect((await run("list")).stdout.split("\n").slice(0, 2)).toEqual([
      "      4101  2026-10-22 16:00     3  Turbulence Reading Group",
      "      4102  2026-10-30           1  Campus Open Days",
    ]);
    const more = folder.file("more.json", {
      events: [{ id: 1, name: "Only", start: { date: "2026-12-24" }, published: false }],
    });
    expect((await run("import", more, "--replace")).status).toBe(0);
    expect((await run("list")).stdout).toBe("         1  2026-12-24           1  Only  (not published)\n");
    const other = join(folder.path, "other.json");
    expect((await run("import", EXAMPLE, more, "--file", other)).status).toBe(0);
    expect((await run("list", "--file", other)).stdout.trim().split("\n")).toHaveLength(3);
  });

  it("lists every problem and exits with 1, with 2 for misuse", async () => {
    const bad = folder.file("bad.json", { events: [{ id: 0 }, { id: 1, name: "A", start: { date: "x" } }] });
    const { status, stderr } = await run("import", bad);
    expect(status).toBe(1);
    expect(stderr).toMatch(/bad\.json: \d+ problems, nothing was imported/);
    expect(stderr).toMatch(/^ {2}events\[0\]\.id: /m);
    expect(stderr).toMatch(/^ {2}events\[1\]\.start\.date: /m);
    expect((await run("import")).status).toBe(2);
    expect((await run("export")).status).toBe(2);
  });

  it("takes --db as version 1.0 did, and leaves its databases alone", async () => {
    const named = join(folder.path, "named.db");
    expect((await run("import", EXAMPLE, "--db", named)).stdout).toMatch(/: 2 events\n$/);
    expect((await run("list", "--db", named)).stdout).toBe((await run("list", "--file", named)).stdout);
    expect(openCalendar({ file: join(folder.path, "none.json"), db: named }).events.size).toBe(2);
    expect((await run("list", "--db", named, "--file", named)).status).toBe(2);
    const old = join(folder.path, "old.db");
    copyFileSync(DATABASE, old);
    const { status, stderr } = await run("import", EXAMPLE, "--db", old);
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining("old.db is a database of version 1.0, which is only read"),
    ]);
    expect(readFileSync(old)).toEqual(readFileSync(DATABASE));
  });

  it("imports the files that are good, names those that are not, and drops what there was for a good one only", async () => {
    const bad = folder.file("bad.json", { events: [{ id: 1, name: "A", start: { date: "x" } }] });
    const none = join(folder.path, "none.ics");
    expect((await run("import", EXAMPLE)).status).toBe(0);
    const alone = await run("import", bad, "--replace");
    expect([alone.status, alone.stdout]).toEqual([1, ""]);
    expect((await run("list")).stdout.trim().split("\n")).toHaveLength(2);
    const good = folder.file("good.json", { events: [{ id: 7, name: "Good", start: { date: "2026-12-24" } }] });
    const both = await run("import", bad, good, none, "--replace");
    expect([both.status, both.stdout]).toEqual([1, `${good}: 1 event\n`]);
    expect(both.stderr.split("\n").filter((line) => !line.startsWith("  "))).toEqual([
      `fieldprobe: ${bad}: one problem, nothing was imported`,
      `${none}: one problem, nothing was imported`,
      "",
    ]);
    expect((await run("list")).stdout).toMatch(/^ +7 .*Good\n$/);
  });

  it("makes no calendar to list it", async () => {
    const path = join(folder.path, "none", "events.json");
    const { status, stderr } = await run("list", "--file", path);
    expect([status, stderr]).toEqual([
      2,
      `fieldprobe: ${path}: this file does not exist; fieldprobe events import creates it\n`,
    ]);
    expect(existsSync(join(folder.path, "none"))).toBe(false);
  });
});
