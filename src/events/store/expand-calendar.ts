/** Expands a stored calendar into the arrays that answer requests. */
import type { EventInstance, StoredEvent, TaxonomyTerm } from "../model/entities.js";
import { compareCodePoints, nameKey } from "../model/name-keys.js";
import { expand } from "../time/expand.js";
import { horizonAt } from "../time/horizon.js";
import { type StoredCalendar, sorted } from "./stored-calendar.js";

/**
 * Events by id, instances by local date, event and start, as indices into arrays; `...Ends` hold for each event the end
 * of its part of another array.
 */
export interface CalendarArrays {
  readonly zone: string;
  readonly site: string | null;
  readonly primarySource: string | null;
  readonly terms: readonly TaxonomyTerm[];
  readonly sources: readonly string[];
  readonly ids: Float64Array<ArrayBuffer>;
  /** Events as JSON. */
  readonly documents: Uint8Array<ArrayBuffer>;
  readonly documentEnds: Float64Array<ArrayBuffer>;
  readonly source: Uint32Array<ArrayBuffer>;
  readonly audience: Uint8Array<ArrayBuffer>;
  readonly allDay: Uint8Array<ArrayBuffer>;
  /** Infinite for events that are not published. */
  readonly published: Float64Array<ArrayBuffer>;
  readonly nameRank: Uint32Array<ArrayBuffer>;
  readonly termIds: Float64Array<ArrayBuffer>;
  readonly termEnds: Uint32Array<ArrayBuffer>;
  readonly event: Uint32Array<ArrayBuffer>;
  /** Days since 1970. */
  readonly day: Int32Array<ArrayBuffer>;
  readonly original: Float64Array<ArrayBuffer>;
  readonly start: Float64Array<ArrayBuffer>;
  readonly end: Float64Array<ArrayBuffer>;
  readonly startOffset: Int32Array<ArrayBuffer>;
  readonly endOffset: Int32Array<ArrayBuffer>;
  /** Instances event by event, in order of starts. */
  readonly series: Uint32Array<ArrayBuffer>;
  readonly seriesEnds: Uint32Array<ArrayBuffer>;
}

/** Its rule could not be expanded: only the dates that it names are shown. */
export interface FailedEvent {
  readonly id: number;
  readonly reason: string;
}

/** @param siteZone null: that of the imported files, else UTC */
export function expandCalendar(
  { settings, terms, events }: StoredCalendar,
  siteZone: string | null,
  now: number,
): { readonly arrays: CalendarArrays; readonly failed: readonly FailedEvent[] } {
  const zone = siteZone ?? settings.zone ?? "UTC";
  const horizon = horizonAt(now, zone);
  const list = sorted(events);
  const failed: FailedEvent[] = [];
  const series = list.map((event) => {
    try {
      return expand(event, zone, horizon);
    } catch (error) {
      failed.push({ id: event.id, reason: (error as Error).message });
      return expand({ ...event, rrule: null, overrides: [] }, zone, horizon);
    }
  });
  const sources = [...new Set(list.map(({ source }) => source))].sort();
  const sourceAt = new Map(sources.map((source, at) => [source, at]));
  const documents = list.map((event) => Buffer.from(JSON.stringify(event)));
  const termIds = list.map((event) => Object.values(event.terms).flat());
  const arrays = {
    zone,
    site: settings.site ?? null,
    primarySource: settings.primarySource ?? null,
    terms: sorted(terms),
    sources,
    ids: Float64Array.from(list, ({ id }) => id),
    documents: new Uint8Array(Buffer.concat(documents)),
    documentEnds: Float64Array.from(endsOf(documents)),
    source: Uint32Array.from(list, ({ source }) => sourceAt.get(source) ?? 0),
    audience: Uint8Array.from(list, ({ audience }) => audience),
    allDay: Uint8Array.from(list, ({ allDay }) => Number(allDay)),
    published: Float64Array.from(list, ({ published, publishDate }) => (published ? publishDate : Infinity)),
    nameRank: nameRanks(list),
    termIds: Float64Array.from(termIds.flat()),
    termEnds: Uint32Array.from(endsOf(termIds)),
    ...instanceArrays(series),
  };
  return { arrays, failed };
}

function endsOf(parts: readonly { readonly length: number }[]): number[] {
  let end = 0;
  return parts.map(({ length }) => (end += length));
}

function nameRanks(events: readonly StoredEvent[]): Uint32Array<ArrayBuffer> {
  const keys = events.map(({ name }) => nameKey(name));
  const rank = new Map([...new Set(keys)].sort(compareCodePoints).map((key, at) => [key, at]));
  return Uint32Array.from(keys, (key) => rank.get(key) ?? 0);
}

function instanceArrays(series: readonly (readonly EventInstance[])[]) {
  const all = series.flatMap((instances, event) =>
    instances.map((instance) => ({
      ...instance,
      event,
      day: Math.floor((instance.start + instance.startOffset) / 86_400),
    })),
  );
  const places = Uint32Array.from(all.keys());
  places.sort((a, b) => {
    const [one, other] = [all[a], all[b]] as [(typeof all)[number], (typeof all)[number]];
    return one.day - other.day || a - b;
  });
  const ordered = [...places].map((place) => all[place] as (typeof all)[number]);
  const positions = new Uint32Array(all.length);
  for (const [at, place] of places.entries()) positions[place] = at;
  return {
    event: Uint32Array.from(ordered, ({ event }) => event),
    day: Int32Array.from(ordered, ({ day }) => day),
    original: Float64Array.from(ordered, ({ original }) => original),
    start: Float64Array.from(ordered, ({ start }) => start),
    end: Float64Array.from(ordered, ({ end }) => end),
    startOffset: Int32Array.from(ordered, ({ startOffset }) => startOffset),
    endOffset: Int32Array.from(ordered, ({ endOffset }) => endOffset),
    series: positions,
    seriesEnds: Uint32Array.from(endsOf(series)),
  };
}
