/** A served calendar for tests: files imported into a fresh folder, a clock that stands until it is set, a real socket. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Fastify, { type FastifyInstance } from "fastify";
import { afterEach, beforeEach } from "vitest";
import { eventsInterface } from "../../src/events/http/events-plugin.js";
import type { EventsSettings } from "../../src/events/http/events-settings.js";
import { type Configured, importFile } from "../../src/events/import/import-file.js";
import { ImportError } from "../../src/events/model/calendar.js";
import { EventIndex } from "../../src/events/store/event-index.js";
import { expandCalendar } from "../../src/events/store/expand-calendar.js";
import { changeCalendar, openCalendar, type StoredCalendar } from "../../src/events/store/stored-calendar.js";

export const EXAMPLE = fileURLToPath(new URL("fixtures/example.json", import.meta.url));
export const SAMPLE = fileURLToPath(new URL("../../data/events.json", import.meta.url));
export const EXAMPLE_NOW = seconds("2026-10-20T12:00:00Z");

export function seconds(instant: string): number {
  return Date.parse(instant) / 1000;
}

/** A temporary folder; `remove` it in the end. */
export function scratch(): { path: string; file(name: string, content: string | object): string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "fieldprobe-events-"));
  return {
    path,
    file(name, content) {
      writeFileSync(join(path, name), typeof content === "string" ? content : JSON.stringify(content));
      return join(path, name);
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** A calendar at a file, without a database of version 1.0. */
export const placeOf = (file: string) => ({ file, db: `${file}.none` });

export function load(file: string, files: readonly string[], now = EXAMPLE_NOW, zone: string | null = null): void {
  const configured = { now, zone, site: null, source: null, fallbackSite: "http://127.0.0.1" };
  for (const name of files) changeCalendar(placeOf(file), (stored) => importFile(stored, name, configured).calendar);
}

// biome-ignore lint/suspicious/noExplicitAny: bodies are looked into member by member
export type Json = any;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Json;
}

export interface Served {
  readonly url: string;
  load(files: readonly string[]): void;
  readonly app: FastifyInstance;
  setClock(now: number): void;
  get(path: string, headers?: Record<string, string>, method?: string): Promise<Answer>;
  close(): Promise<void>;
}

/** Settings of the events under test, where a test names no others. */
export const EVENTS_SETTINGS: EventsSettings = {
  prefix: "",
  basePath: "",
  site: null,
  fallbackSite: "http://127.0.0.1",
  source: null,
  keys: [],
  categoryUrl: "hash",
  perMinute: 0,
};

/** Places and reasons of the problems of a file that is imported; none if it is. */
export function problemsIn(
  store: ReturnType<typeof useEmptyCalendar>,
  name: string,
  content: string | object,
  configured: Configured,
): [string, string][] {
  try {
    store.bring(store.file(name, content), configured);
  } catch (error) {
    if (error instanceof ImportError) return error.problems.map(({ place, reason }) => [place, reason]);
    throw error;
  }
  return [];
}

/** An empty calendar and a folder, for each test of the file that calls this. */
export function useEmptyCalendar(): {
  readonly stored: StoredCalendar;
  bring(file: string, configured: Configured, replace?: boolean): void;
  path(name: string): string;
  file(name: string, content: string | object): string;
} {
  let folder: ReturnType<typeof scratch>;
  let stored: StoredCalendar;
  beforeEach(() => {
    folder = scratch();
    stored = openCalendar(placeOf(join(folder.path, "events.json")));
  });
  afterEach(() => folder.remove());
  return {
    get stored() {
      return stored;
    },
    bring(file, configured, replace = false) {
      stored = importFile(stored, file, configured, replace).calendar;
    },
    path: (name) => join(folder.path, name),
    file: (name, content) => folder.file(name, content),
  };
}

export interface ServeOptions extends Partial<EventsSettings> {
  readonly files?: readonly string[];
  readonly now?: number;
  /** Work on the instance before the events are registered. */
  readonly prepare?: (app: FastifyInstance) => void;
}

export async function serve(options: ServeOptions = {}): Promise<Served> {
  const { files = [EXAMPLE], now = EXAMPLE_NOW, prepare, ...settings } = options;
  const folder = scratch();
  const calendar = join(folder.path, "events.json");
  let index: EventIndex;
  const loadFiles = (more: readonly string[]) => {
    load(calendar, more, now);
    index = new EventIndex(expandCalendar(openCalendar(placeOf(calendar)), null, now).calendar);
  };
  loadFiles(files);
  let time = now;
  const config = { ...EVENTS_SETTINGS, ...settings };
  const app = Fastify();
  prepare?.(app);
  await app.register(eventsInterface({ index: () => index, clock: () => time, config }));
  await app.listen({ host: "127.0.0.1", port: 0 });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  return {
    url,
    load: loadFiles,
    app,
    setClock: (value) => {
      time = value;
    },
    async get(path, headers = {}, method = "GET") {
      const response = await fetch(url + path, { method, headers, redirect: "manual" });
      const text = await response.text();
      const json = /json/.test(response.headers.get("content-type") ?? "") && text !== "" ? JSON.parse(text) : null;
      return { status: response.status, headers: response.headers, text, json };
    },
    async close() {
      await app.close();
      folder.remove();
    },
  };
}

/** Every item of a collection by following `next`, each checked against the page's own numbers. */
export async function walk(served: Served, path: string, name = "events"): Promise<{ items: Json[]; total: number }> {
  const items: Json[] = [];
  let total = 0;
  for (let next: string | undefined = path; next !== undefined; ) {
    const { status, json }: Answer = await served.get(next);
    if (status !== 200) throw new Error(`${next}: ${status} ${JSON.stringify(json)}`);
    if (json.return_count !== json._embedded[name].length) throw new Error(`${next}: return_count`);
    items.push(...json._embedded[name]);
    total = json.total_available;
    next = json._links.next?.href;
  }
  return { items, total };
}
