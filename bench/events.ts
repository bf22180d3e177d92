/**
 * The events interface with 100 000 instances: a page in process against its SQL alone, and over ten connections
 * against a route that sends the same body as a constant. `npm run bench:events -- [--quick] [--json FILE]`.
 *
 * The longest turn of the event loop is measured while pages are asked for that a worker thread renders.
 *
 * Bodies are measured twice: made for every request, and kept as the service keeps them (until the data changes or an
 * instance begins, ends or is published).
 */
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import Fastify, { type FastifyInstance } from "fastify";
import { eventsPlugin } from "../dist/events/http/events-plugin.js";
import { QueryString } from "../dist/events/http/query-string.js";
import { readEventQuery } from "../dist/events/http/read-query.js";
import { pageSql } from "../dist/events/store/sql.js";
import { openStore, type Store } from "../dist/events/store/store.js";
import { maintainInThread } from "../dist/events/upkeep.js";
import { mainThreadCpu } from "../dist/server/life/event-loop.js";
import { openConnection } from "../dist/sqlite.js";
import { alternate, type Comparison, type Contestant } from "./alternate.js";
import type { Load } from "./events-load-worker.js";
import { readOptions, report } from "./row.js";

const NOW = Date.parse("2026-10-20T12:00:00Z") / 1000;
const PATH = "/events?per_page=100&page=50";
const CONNECTIONS = 10;
const PER_EVENT = 10;
/** The bodies that are kept in one of the two services. */
const CACHE_BYTES = 16 * 1024 * 1024;

const options = readOptions();
const eventCount = options.quick ? 2_000 : 10_000;
const rounds = options.quick ? 9 : 25;

/** Series of ten weekly, twice weekly, monthly or daily instances, spread over the days after `NOW`. */
function calendar(): object {
  const rules = ["FREQ=WEEKLY", "FREQ=WEEKLY;BYDAY=TU,TH", "FREQ=MONTHLY;BYDAY=2WE", "FREQ=DAILY"];
  const terms = (first: number, count: number) =>
    Array.from({ length: count }, (_, n) => ({ id: first + n, name: `Term ${first + n}` }));
  const events = Array.from({ length: eventCount }, (_, n) => {
    const day = new Date((NOW + 86_400 * (1 + ((n * 7) % 60))) * 1000).toISOString().slice(0, 10);
    const hour = String(8 + (n % 12)).padStart(2, "0");
    return {
      id: n + 1,
      name: `Event number ${n}`,
      excerpt: "A few words about what will happen there.",
      start: { dateTime: `${day}T${hour}:00:00` },
      end: { dateTime: `${day}T${hour}:50:00` },
      rrule: `${rules[n % rules.length]};COUNT=${PER_EVENT}`,
      event_categories: [100_001 + (n % 30)],
      locations: [100_101 + (n % 50)],
      tags: [100_201 + (n % 20), 100_201 + ((n * 3 + 1) % 20)],
    };
  });
  return {
    zone: "America/New_York",
    site: "https://events.example.edu",
    terms: { event_categories: terms(100_001, 30), locations: terms(100_101, 50), tags: terms(100_201, 20) },
    events,
  };
}

/** @param db store file for the thread that renders long representations; without it this thread renders them */
async function service(store: Store, cacheBytes: number, db?: string): Promise<FastifyInstance> {
  const app = Fastify();
  const config = {
    prefix: "",
    basePath: "",
    site: null,
    fallbackSite: "http://127.0.0.1",
    source: null,
    keys: [],
    categoryUrl: "hash" as const,
    perMinute: 0,
    cacheBytes,
  };
  await app.register(eventsPlugin({ store, clock: () => NOW, config, ...(db === undefined ? {} : { db }) }));
  return app;
}

/** Median of the microseconds of many calls. */
async function median(calls: number, work: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let call = 0; call < calls; call++) {
    const start = performance.now();
    await work();
    times.push((performance.now() - start) * 1000);
  }
  return times.toSorted((a, b) => a - b)[calls >> 1] ?? Number.NaN;
}

/** Requests per second that a load thread reaches on a listening service. */
function requestRate(app: FastifyInstance, path: string): Promise<number> {
  const { port } = app.server.address() as AddressInfo;
  const load: Load = { port, path, connections: CONNECTIONS, milliseconds: options.quick ? 300 : 800 };
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./events-load-worker.js", import.meta.url), { workerData: load });
    worker.once("message", resolve);
    worker.once("error", reject);
  });
}

/** Pages that read most of the store, or are long. */
const LONG_PATHS = [
  "/events?single_events=false&per_page=100&type=all",
  "/events?order_by=end_date|desc&per_page=100",
  "/events?event_categories=100001&per_page=100&page=2",
  `/events?per_page=100&page=${(eventCount * PER_EVENT) / 100}`,
  "/events.ics?type=all",
];

/** Milliseconds of processor time of the longest turn of the event loop while a path is asked for. */
async function longestTurn(app: FastifyInstance, path: string): Promise<number> {
  const cpu = mainThreadCpu();
  const read = () => cpu() ?? performance.now();
  let longest = 0;
  let last = read();
  let asking = true;
  const turn = () => {
    const now = read();
    longest = Math.max(longest, now - last);
    last = now;
    if (asking) setImmediate(turn);
  };
  setImmediate(turn);
  const { port } = app.server.address() as AddressInfo;
  const load: Load = { port, path, connections: 1, milliseconds: 1 };
  const worker = new Worker(new URL("./events-load-worker.js", import.meta.url), { workerData: load });
  await once(worker, "message");
  asking = false;
  return longest;
}

const folder = mkdtempSync(join(tmpdir(), "fieldprobe-bench-"));
try {
  const file = join(folder, "events.db");
  const source = join(folder, "calendar.json");
  writeFileSync(source, JSON.stringify(calendar()));
  // In a thread of its own, as the service does it, so that the heap that is measured holds no leftovers.
  await maintainInThread({
    file,
    sample: source,
    configured: { now: NOW, zone: null, site: null, source: null, fallbackSite: "" },
  });
  const db = openConnection(file, "read");
  const instances = Number(db.first("SELECT count(*) FROM instance")?.[0]);
  const store = openStore(file);
  const kept = await service(store, CACHE_BYTES);
  const made = await service(store, 0);
  const { text, cells } = store.view(NOW, (view) => {
    const sources = { sources: ["main"], primarySource: "main" };
    const query = readEventQuery(new QueryString(PATH.split("?")[1] ?? ""), {
      strict: false,
      paged: true,
      pathTerm: null,
      ...sources,
    });
    return pageSql(query, view.snapshot, NOW);
  });
  const body = (await kept.inject(PATH)).body;
  const bare = Fastify();
  bare.get("/constant", (_request, reply) => reply.type("application/json; charset=utf-8").send(body));
  for (const app of [kept, made, bare]) await app.listen({ host: "127.0.0.1", port: 0 });

  const params = { instances, perPage: 100, page: 50, bytes: Buffer.byteLength(body) };
  const row = (name: string, backend: string, unit: string, more: Record<string, string | number> = {}) => ({
    bench: "events",
    case: name,
    backend,
    unit,
    params: { ...params, ...more },
  });
  const inject = (app: FastifyInstance) => async () => {
    const { statusCode } = await app.inject(PATH);
    if (statusCode !== 200) throw new Error(`the page is answered with ${statusCode}`);
  };
  const shown = (JSON.parse(body) as { _embedded?: { events?: unknown[] } })._embedded?.events?.length;
  if (shown !== 100) throw new Error(`a page of 100 events has ${shown}`);
  if ((await made.inject(PATH)).body !== body) throw new Error("the page made anew is not the page that is kept");
  const sql: Contestant = { run: () => median(50, () => db.all(text, cells)), row: row("page SQL", "libsql", "us") };
  const inProcess = [[made, "made"] as const, [kept, "kept"] as const].map(
    ([app, bodies]): Contestant => ({
      run: () => median(50, inject(app)),
      row: row("page in process", "fieldprobe", "us", { bodies }),
    }),
  );
  const constant: Contestant = {
    run: () => requestRate(bare, "/constant"),
    row: row("constant", "fastify", "req/s", { connections: CONNECTIONS }),
  };
  const overSockets = [[made, "made"] as const, [kept, "kept"] as const].map(
    ([app, bodies]): Contestant => ({
      run: () => requestRate(app, PATH),
      row: row("page", "fieldprobe", "req/s", { connections: CONNECTIONS, bodies }),
    }),
  );
  const against =
    (unit: string, under: Contestant) =>
    (over: Contestant): Comparison => ({ case: over.row.case, unit, over, under });
  const rows = [
    ...(await alternate([sql, ...inProcess], rounds, options.quick, inProcess.map(against("times the SQL", sql)))),
    ...(await alternate(
      [constant, ...overSockets],
      options.quick ? 3 : 7,
      options.quick,
      overSockets.map(against("of the constant", constant)),
    )),
  ];
  const threaded = await service(store, 0, file);
  await threaded.listen({ host: "127.0.0.1", port: 0 });
  const turns = LONG_PATHS.map(
    (path): Contestant => ({
      run: () => longestTurn(threaded, path),
      row: row("longest turn", "fieldprobe", "ms CPU", { path }),
    }),
  );
  rows.push(...(await alternate(turns, options.quick ? 3 : 7, options.quick)));
  report(rows, options);
  await threaded.close();
  await Promise.all([kept.close(), made.close(), bare.close()]);
  store.close();
  db.close();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
