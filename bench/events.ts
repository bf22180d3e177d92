/**
 * The events interface with 100 000 instances: a page in process and over ten connections against a route that sends
 * the same body as a constant, and the expansion of all instances. `npm run bench:events -- [--quick] [--json FILE]`.
 *
 * The longest turn of the event loop is measured while pages are asked for that read everything or are long.
 */
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import Fastify, { type FastifyInstance } from "fastify";
import { eventsInterface } from "../dist/events/http/events-plugin.js";
import { EventIndex } from "../dist/events/store/event-index.js";
import { type LoadTask, loadInThread } from "../dist/events/worker.js";
import { mainThreadCpu } from "../dist/server/http/policies/time-slices.js";
import { alternate, type Comparison, type Contestant } from "./alternate.js";
import type { Load } from "./events-load-worker.js";
import { readOptions, report } from "./row.js";

const NOW = Date.parse("2026-10-20T12:00:00Z") / 1000;
const PATH = "/events?per_page=100&page=50";
const CONNECTIONS = 10;
const PER_EVENT = 10;

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

async function service(index: EventIndex): Promise<FastifyInstance> {
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
  };
  await app.register(eventsInterface({ index: () => index, clock: () => NOW, config }));
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
  const sample = join(folder, "calendar.json");
  writeFileSync(sample, JSON.stringify(calendar()));
  const configured = { now: NOW, zone: null, site: null, source: null, fallbackSite: "http://127.0.0.1" };
  const place = { file: join(folder, "events.json"), db: join(folder, "events.db") };
  const task: LoadTask = { ...place, first: true, sample, configured };
  const { calendar: loaded } = await loadInThread(task);
  const app = await service(new EventIndex(loaded));
  const body = (await app.inject(PATH)).body;
  const shown = (JSON.parse(body) as { _embedded?: { events?: unknown[] } })._embedded?.events?.length;
  if (shown !== 100) throw new Error(`a page of 100 events has ${shown}`);
  const bare = Fastify();
  bare.get("/constant", (_request, reply) => reply.type("application/json; charset=utf-8").send(body));
  for (const one of [app, bare]) await one.listen({ host: "127.0.0.1", port: 0 });

  const params = { instances: loaded.instances.event.length, perPage: 100, page: 50, bytes: Buffer.byteLength(body) };
  const row = (name: string, backend: string, unit: string, more: Record<string, string | number> = {}) => ({
    bench: "events",
    case: name,
    backend,
    unit,
    params: { ...params, ...more },
  });
  const inProcess: Contestant = {
    run: () => median(50, () => app.inject(PATH)),
    row: row("page in process", "fieldprobe", "us"),
  };
  const expansion: Contestant = {
    run: () => median(1, () => loadInThread({ ...task, first: false })),
    row: row("expansion in a thread", "fieldprobe", "us"),
  };
  const constant: Contestant = {
    run: () => requestRate(bare, "/constant"),
    row: row("constant", "fastify", "req/s", { connections: CONNECTIONS }),
  };
  const overSockets: Contestant = {
    run: () => requestRate(app, PATH),
    row: row("page", "fieldprobe", "req/s", { connections: CONNECTIONS }),
  };
  const comparison: Comparison = { case: "page", unit: "of the constant", over: overSockets, under: constant };
  const turns = LONG_PATHS.map(
    (path): Contestant => ({
      run: () => longestTurn(app, path),
      row: row("longest turn", "fieldprobe", "ms CPU", { path }),
    }),
  );
  const few = options.quick ? 3 : 7;
  const rows = [
    ...(await alternate([inProcess], rounds, options.quick)),
    ...(await alternate([expansion], few, options.quick)),
    ...(await alternate([constant, overSockets], few, options.quick, [comparison])),
    ...(await alternate(turns, few, options.quick)),
  ];
  report(rows, options);
  await Promise.all([app.close(), bare.close()]);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
