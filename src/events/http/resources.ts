/** Holds what the routes share: store, clock, settings, and what is cached between requests. */
import type { EventInstance, StoredEvent } from "../model/entities.js";
import type { EventQuery } from "../model/event-query.js";
import { type EventText, eventText } from "../render/event.js";
import type { RenderSettings } from "../render/term.js";
import type { Interval, Store, StoreView } from "../store/store.js";
import type { Clock } from "../time/clock.js";
import type { EventsSettings } from "./events-settings.js";
import type { RenderThread } from "./render-thread.js";
import { RepresentationCache } from "./representation.js";

/** Parts that the routes share. */
export interface Resources {
  readonly store: Store;
  readonly clock: Clock;
  readonly settings: EventsSettings;
  readonly render: RenderSettings;
  readonly pages: RepresentationCache;
  /** Makes the pages that take long; null: they are made on the event loop like the others. */
  readonly thread: RenderThread | null;
  /** Texts of the events of some instances, by id. */
  texts(view: StoreView, instances: readonly EventInstance[]): ReadonlyMap<number, EventText>;
  /** `view.count`, remembered under `key` while it holds. */
  total(view: StoreView, key: string, query: EventQuery): number;
  /** Whether `total` knows its answer. */
  isCounted(interval: Interval, key: string): boolean;
  /** Remembers a number that was counted elsewhere; does nothing when another interval has begun. */
  noteTotal(interval: Interval, key: string, total: number): void;
}

const TEXTS = 20_000;
const TOTALS = 1_000;

/** @param prefix path with which links begin: that of the public address, and that of the routes below it */
export function openResources(
  store: Store,
  clock: Clock,
  settings: EventsSettings,
  prefix: string,
  thread: RenderThread | null,
): Resources {
  const render = { prefix, categoryUrl: settings.categoryUrl };
  let generation = -1;
  let interval: Interval | null = null;
  let totals = new Map<string, number>();
  let texts = new Map<number, EventText>();
  const totalsIn = (now: Interval): Map<string, number> => {
    if (now !== interval || totals.size >= TOTALS) totals = new Map();
    interval = now;
    return totals;
  };
  return {
    store,
    clock,
    settings,
    render,
    pages: new RepresentationCache(settings.cacheBytes),
    thread,
    texts(view, instances) {
      if (view.snapshot.generation !== generation || texts.size > TEXTS) texts = new Map();
      generation = view.snapshot.generation;
      const missing = [...new Set(instances.map(({ eventId }) => eventId))].filter((id) => !texts.has(id));
      for (const event of view.events(missing)) texts.set(event.id, eventText(event, view.snapshot, render));
      return texts;
    },
    total(view, key, query) {
      const known = totalsIn(view.interval).get(key) ?? view.count(query);
      totals.set(key, known);
      return known;
    },
    isCounted: (at, key) => totalsIn(at).has(key),
    noteTotal(at, key, total) {
      if (at === interval) totals.set(key, total);
    },
  };
}

/** Sources a caller may name: those of events, and the primary one. */
export function knownSources(view: StoreView, settings: EventsSettings): { primarySource: string; sources: string[] } {
  const primarySource = settings.source ?? view.snapshot.primarySource ?? "main";
  return { primarySource, sources: [...new Set([...view.snapshot.sources, primarySource])].sort() };
}

/** The text of an event that a view just returned. */
export function textOf(resources: Resources, view: StoreView, event: StoredEvent): EventText {
  return eventText(event, view.snapshot, resources.render);
}
