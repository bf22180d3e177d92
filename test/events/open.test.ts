/** The life of the module: first start, later starts, nightly extension, faults of the operator, command line. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Fastify from "fastify";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config.js";
import { eventsSettings } from "../../src/events/http/events-settings.js";
import { importFile } from "../../src/events/import/import-file.js";
import { EventsModule } from "../../src/events/open.js";
import { extendHorizon } from "../../src/events/store/instances.js";
import { migrate } from "../../src/events/store/migrations.js";
import { readStored } from "../../src/events/store/site-settings.js";
import { openStore } from "../../src/events/store/store.js";
import { nightly, type Timer } from "../../src/events/time/clock.js";
import { maintainInThread } from "../../src/events/upkeep.js";
import { isStoreFailure, openConnection } from "../../src/sqlite.js";
import { EXAMPLE, load, SAMPLE, scratch, seconds, serve, walk } from "./support.js";

const NOW = seconds("2026-10-20T12:00:00Z");
const CERTIFICATE = fileURLToPath(new URL("../server/http/fixtures/cert.pem", import.meta.url));
const BIN = fileURLToPath(new URL("../../bin/fieldprobe.js", import.meta.url));

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
    const db = openConnection(join(folder.path, "events.db"), "write");
    expect(db.first("SELECT count(*) FROM event")).toEqual([40]);
    db.run("DELETE FROM event WHERE id <> 4101");
    db.close();
    const { events, app } = await served();
    await events.open();
    const answer = await app.inject("/events?type=all&single_events=false");
    expect(answer.json().total_available).toBe(1);
    await app.close();
    await events.close();
  });

  it("imports no sample where other data is served", async () => {
    const events = await opened({ DATA: folder.path });
    const { state } = events;
    await events.close();
    expect(state).toBe("ready");
    const db = openConnection(join(folder.path, "events.db"), "read");
    expect(db.first("SELECT count(*) FROM event")).toEqual([0]);
    db.close();
  });

  it("refuses a zone that does not exist before anything starts", () => {
    expect(() => config({ EVENTS_ZONE: "Mars/Base" })).toThrow(/FIELDPROBE_EVENTS_ZONE must be an IANA time zone/);
  });

  it("leaves neither a log nor anything else beside the store when it is closed", async () => {
    const { events, app } = await served();
    await events.open();
    expect((await app.inject("/events?single_events=false&type=all&order_by=name")).statusCode).toBe(200);
    await app.close();
    expect(readdirSync(folder.path)).toEqual(["events.db"]);
  });
});

describe("a store that cannot be used", () => {
  /** Damages that are there at the start, each with the reason that the log gives. */
  const damages: readonly (readonly [string, () => Record<string, string>, RegExp])[] = [
    [
      "a folder",
      () => {
        mkdirSync(join(folder.path, "taken.db"));
        return { EVENTS_DB: "taken.db" };
      },
      /^DataError: events: cannot open the store [^\n]*taken\.db: it is a folder \(FIELDPROBE_STATE names its folder\)$/,
    ],
    [
      "a place where there can be no folder",
      () => ({ STATE: join(folder.file("file", ""), "state") }),
      /: there is a file where a folder is needed \(FIELDPROBE_STATE names its folder\)$/,
    ],
    [
      "a place in a file",
      () => ({ EVENTS_DB: join(folder.file("no-folder", ""), "events.db") }),
      /events\.db: there is a file where a folder is needed \(FIELDPROBE_STATE names its folder\)$/,
    ],
    [
      "in a folder that takes no files",
      () => ({ EVENTS_DB: "/proc/self/events.db" }),
      /events\.db: no such file or folder \(FIELDPROBE_STATE names its folder\)$/,
    ],
    ["below /proc", () => ({ STATE: "/proc/state" }), /^DataError: events: cannot open the store \/proc\/state[^\n]*$/],
    ["no database", () => ({ EVENTS_DB: folder.file("garbage.db", "x".repeat(5000)) }), /^DataError: events: /],
    [
      "damaged in the middle",
      () => {
        const file = join(folder.path, "damaged.db");
        load(file, [SAMPLE]);
        const bytes = readFileSync(file);
        writeFileSync(file, bytes.fill(0x55, 4096, bytes.length - 4096));
        return { EVENTS_DB: file };
      },
      /^DataError: events: /,
    ],
    [
      "of a newer program",
      () => {
        const file = join(folder.path, "newer.db");
        load(file, [EXAMPLE]);
        const db = openConnection(file, "write");
        db.exec("PRAGMA user_version = 99");
        db.close();
        return { EVENTS_DB: file };
      },
      /^DataError: events: the store has schema 99, this program knows 2$/,
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
    const file = join(folder.path, "events.db");
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

  it("is named with the reason where the disk is full", () => {
    const db = openConnection(join(folder.path, "events.db"), "write");
    migrate(db);
    db.exec("PRAGMA max_page_count = 30");
    const text = "x".repeat(1_000_000);
    const file = folder.file("long.json", {
      events: [{ id: 1, name: "A", start: { date: "2026-12-24" }, excerpt: text }],
    });
    const configured = { now: NOW, zone: null, site: null, source: null, fallbackSite: "" };
    let error: unknown = null;
    try {
      importFile(db, file, configured);
    } catch (thrown) {
      error = thrown;
    }
    expect(isStoreFailure(error)).toBe(true);
    expect(db.first("SELECT count(*) FROM event")).toEqual([0]);
    db.close();
  });

  it("that is full is not taken for a rule that cannot be expanded", () => {
    const db = openConnection(join(folder.path, "events.db"), "write");
    migrate(db);
    const configured = { now: NOW, zone: null, site: null, source: null, fallbackSite: "" };
    const event = { id: 1, name: "A", rrule: "FREQ=DAILY" };
    const daily = (date: string) => folder.file(`${date}.json`, { events: [{ ...event, start: { date } }] });
    const bound = () => db.exec(`PRAGMA max_page_count = ${Number(db.first("PRAGMA page_count")?.[0]) + 2}`);
    const failureOf = (write: () => void): unknown => {
      try {
        write();
        return null;
      } catch (error) {
        return error;
      }
    };
    bound();
    expect(isStoreFailure(failureOf(() => importFile(db, daily("2026-10-21"), configured)))).toBe(true);
    expect(db.first("SELECT count(*) FROM event")).toEqual([0]);
    db.exec("PRAGMA max_page_count = 1000000");
    importFile(db, daily("2036-01-01"), configured);
    bound();
    expect(isStoreFailure(failureOf(() => extendHorizon(db, seconds("2036-01-02T12:00:00Z"), "UTC")))).toBe(true);
    db.close();
  });

  it("fails in the thread with a message that names it", async () => {
    const file = join(folder.path, "events.db");
    load(file, [SAMPLE]);
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0x55, 4096));
    const configured = { now: NOW, zone: null, site: null, source: null, fallbackSite: "" };
    await expect(maintainInThread({ file, sample: null, configured })).rejects.toThrow(
      `events: the store ${file}: database disk image is malformed`,
    );
  });

  it("while it is served answers 503 for what cannot be read", async () => {
    const served = await serve();
    expect((await served.get("/events")).status).toBe(200);
    served.setClock(seconds("2026-10-25T12:00:00Z"));
    const bytes = readFileSync(served.db);
    writeFileSync(served.db, bytes.fill(0x55, 4096));
    const { status, json } = await served.get("/events?order_by=name&type=all&per_page=100");
    expect([status, json.code]).toEqual([503, "unavailable"]);
    await served.close();
  });
});

describe("the store", () => {
  it("reads only: a reader's connection cannot write", () => {
    const file = join(folder.path, "events.db");
    load(file, [EXAMPLE]);
    const db = openConnection(file, "read");
    expect(() => db.run("DELETE FROM event")).toThrow(/readonly/);
    db.close();
  });

  it("sorts in memory where it only reads: a full disk keeps no page from being made", () => {
    const file = join(folder.path, "events.db");
    load(file, [EXAMPLE]);
    const db = openConnection(file, "read");
    expect(db.first("PRAGMA temp_store")).toEqual([2]);
    db.close();
  });

  it("folds in what a writer left in the log when the last reader closes, and does not wait for others", () => {
    const file = join(folder.path, "events.db");
    load(file, [EXAMPLE]);
    const log = () => statSync(`${file}-wal`).size;
    const [first, last] = [openConnection(file, "read"), openConnection(file, "read")];
    const killed = openConnection(file, "write");
    killed.run("DELETE FROM event WHERE id = (SELECT min(id) FROM event)");
    first.transaction("read", () => {
      expect(first.first("SELECT count(*) FROM event")).toEqual([1]);
      killed.run("DELETE FROM event WHERE id = (SELECT max(id) FROM event)");
      last.close();
      expect(log()).toBeGreaterThan(0);
    });
    first.close();
    expect(log()).toBe(0);
  });

  it("shows what another process imports at once", async () => {
    const served = await serve();
    expect((await served.get("/events/7")).status).toBe(404);
    const tag = (await served.get("/events")).headers.get("etag");
    load(served.db, [folder.file("more.json", { events: [{ id: 7, name: "New", start: { date: "2026-12-24" } }] })]);
    expect((await served.get("/events/7")).json.name).toBe("New");
    expect((await served.get("/events")).headers.get("etag")).not.toBe(tag);
    expect((await served.get("/events")).json.total_available).toBe(5);
    await served.close();
  });
});

describe("extension", () => {
  const start = seconds("2026-10-20T12:00:00Z");
  const rule = { id: 9, name: "Daily", start: { dateTime: "2026-10-01T10:00:00" }, rrule: "FREQ=DAILY" };

  it("moves with the day, does nothing twice, and keeps ids", () => {
    const file = join(folder.path, "events.db");
    load(file, [EXAMPLE, folder.file("daily.json", { events: [rule] })], start);
    const db = openConnection(file, "write");
    const rows = () => db.all("SELECT event_id, original, start_key FROM instance WHERE event_id = 9 ORDER BY 2");
    const before = rows();
    expect(extendHorizon(db, start + 3600, "America/New_York").events).toBe(0);
    expect(extendHorizon(db, start + 10 * 86_400, "America/New_York").events).toBe(2);
    const after = rows();
    expect(after.length).toBe(before.length + 10);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(extendHorizon(db, start + 10 * 86_400, "America/New_York").events).toBe(0);
    expect(rows()).toEqual(after);
    extendHorizon(db, start + 10 * 86_400, "Asia/Tokyo");
    expect(readStored(db).get("instanceZone")).toBe("Asia/Tokyo");
    db.close();
  });

  it("runs after each local midnight until it is stopped", () => {
    let now = seconds("2026-10-31T22:00:00-04:00");
    const waits: number[] = [];
    let pending: (() => void) | null = null;
    let runs = 0;
    const stop = nightly(
      () => now,
      () => "America/New_York",
      (work, milliseconds) => {
        waits.push(milliseconds / 1000);
        pending = work;
        return () => {
          pending = null;
        };
      },
      () => {
        runs += 1;
      },
    );
    const pass = () => {
      now += waits.at(-1) ?? 0;
      pending?.();
    };
    pass();
    pass();
    // The night of 1 November 2026 is an hour longer.
    expect(waits).toEqual([2 * 3600 + 60, 25 * 3600, 24 * 3600]);
    expect(runs).toBe(2);
    stop();
    expect(pending).toBeNull();
  });

  it("is done by the running module, which shows it", async () => {
    const timers: (() => void)[] = [];
    const file = join(folder.path, "events.db");
    load(file, [folder.file("daily.json", { events: [rule] })], start - 5 * 86_400);
    const last = () => {
      const store = openStore(file);
      const count = store.view(start, (view) => view.instances(9).length);
      store.close();
      return count;
    };
    const before = last();
    const events = await opened({}, (work) => {
      timers.push(work);
      return () => undefined;
    });
    expect(last()).toBe(before + 5);
    expect(timers).toHaveLength(1);
    timers[0]?.();
    expect(timers).toHaveLength(2);
    await events.close();
    await events.close();
    expect(last()).toBe(before + 5);
  });

  it("outlives a night in which the store cannot be extended, and says so", async () => {
    const timers: (() => void)[] = [];
    log.length = 0;
    const { events, app } = await served({}, (work) => {
      timers.push(work);
      return () => undefined;
    });
    await events.open();
    const db = openConnection(join(folder.path, "events.db"), "write");
    db.exec("ALTER TABLE meta RENAME TO lost");
    timers[0]?.();
    // Resolves once the work of the night is over.
    await events.open();
    expect(log).toContain("the horizon of the events was not extended");
    db.exec("ALTER TABLE lost RENAME TO meta");
    db.close();
    expect((await app.inject("/events")).statusCode).toBe(200);
    await app.close();
  });

  it("outlives a night in which the store cannot be read", async () => {
    const timers: (() => void)[] = [];
    log.length = 0;
    const events = await opened({}, (work) => {
      timers.push(work);
      return () => undefined;
    });
    const db = openConnection(join(folder.path, "events.db"), "write");
    db.exec("ALTER TABLE meta RENAME TO lost");
    timers[0]?.();
    expect(timers).toHaveLength(2);
    expect(log).toContain("the events store cannot be read");
    db.exec("ALTER TABLE lost RENAME TO meta");
    db.close();
    await events.close();
  });
});

describe("the command line", () => {
  const env = () => ({ ...process.env, FIELDPROBE_STATE: folder.path, FIELDPROBE_EVENTS_NOW: "2026-10-20T12:00:00Z" });
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [BIN, "events", ...args], { env: env(), encoding: "utf8" });

  it("imports and lists", () => {
    expect(run("import", EXAMPLE).stdout).toMatch(/: 2 events\n$/);
    expect(run("list").stdout.split("\n").slice(0, 2)).toEqual([
      "      4101  2026-10-22 16:00     3  Turbulence Reading Group",
      "      4102  2026-10-30           1  Campus Open Days",
    ]);
    const more = folder.file("more.json", {
      events: [{ id: 1, name: "Only", start: { date: "2026-12-24" }, published: false }],
    });
    expect(run("import", more, "--replace").status).toBe(0);
    expect(run("list").stdout).toBe("         1  2026-12-24           1  Only  (not published)\n");
    const other = join(folder.path, "other.db");
    expect(run("import", EXAMPLE, more, "--db", other).status).toBe(0);
    expect(run("list", "--db", other).stdout.trim().split("\n")).toHaveLength(3);
  });

  it("lists every problem and exits with 1, with 2 for misuse", () => {
    const bad = folder.file("bad.json", { events: [{ id: 0 }, { id: 1, name: "A", start: { date: "x" } }] });
    const { status, stderr } = run("import", bad);
    expect(status).toBe(1);
    expect(stderr).toMatch(/bad\.json: \d+ problems, nothing was imported/);
    expect(stderr).toMatch(/^ {2}events\[0\]\.id: /m);
    expect(stderr).toMatch(/^ {2}events\[1\]\.start\.date: /m);
    expect(run("import").status).toBe(2);
    expect(run("export").status).toBe(2);
  });

  it("imports the files that are good, names those that are not, and empties the store for a good one only", () => {
    const bad = folder.file("bad.json", { events: [{ id: 1, name: "A", start: { date: "x" } }] });
    const none = join(folder.path, "none.ics");
    expect(run("import", EXAMPLE).status).toBe(0);
    const alone = run("import", bad, "--replace");
    expect([alone.status, alone.stdout]).toEqual([1, ""]);
    expect(run("list").stdout.trim().split("\n")).toHaveLength(2);
    const good = folder.file("good.json", { events: [{ id: 7, name: "Good", start: { date: "2026-12-24" } }] });
    const both = run("import", bad, good, none, "--replace");
    expect([both.status, both.stdout]).toEqual([1, `${good}: 1 event\n`]);
    expect(both.stderr.split("\n").filter((line) => !line.startsWith("  "))).toEqual([
      `fieldprobe: ${bad}: one problem, nothing was imported`,
      `${none}: one problem, nothing was imported`,
      "",
    ]);
    expect(run("list").stdout).toMatch(/^ +7 .*Good\n$/);
  });

  it("makes no store to list it", () => {
    const path = join(folder.path, "none", "events.db");
    const { status, stderr } = run("list", "--db", path);
    expect([status, stderr]).toEqual([
      2,
      `fieldprobe: ${path}: this store does not exist; fieldprobe events import creates it\n`,
    ]);
    expect(existsSync(join(folder.path, "none"))).toBe(false);
  });
});

describe("a page read while another process writes", () => {
  it("is of one state of the data", async () => {
    const served = await serve();
    const files = ["A", "B"].map((name) =>
      folder.file(`${name}.json`, {
        events: [1, 2, 3, 4].map((id) => ({ id, name, start: { date: `2026-11-0${id}` } })),
      }),
    );
    load(served.db, files.slice(0, 1));
    for (let round = 0; round < 4; round++) {
      const walking = walk(served, "/events?ids=1,2,3,4&per_page=4");
      load(served.db, [files[round % 2] ?? ""]);
      const { items } = await walking;
      expect(new Set(items.map(({ name }) => name)).size).toBe(1);
    }
    await served.close();
  });
});
