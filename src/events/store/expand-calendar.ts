/** Expands a stored calendar into the tables that answer requests. */
import type { StoredEvent, TaxonomyTerm } from "../model/entities.js";
import { compareCodePoints, nameKey } from "../model/name-keys.js";
import { expand, horizonAt } from "../time/expand.js";
import { instanceNames } from "../time/zone.js";
import { type StoredCalendar, sorted } from "./stored-calendar.js";

/** Event as requests filter and sort it. */
export interface IndexedEvent {
  readonly id: number;
  /** First byte of its JSON in `documents`, and the byte after its last. */
  readonly from: number;
  readonly to: number;
  readonly source: string;
  readonly audience: number;
  readonly allDay: boolean;
  /** Epoch seconds; infinite for events that are not published. */
  readonly published: number;
  readonly nameRank: number;
  readonly terms: readonly number[];
  /** Positions of its instances in the table of instances, in order of starts. */
  readonly series: readonly number[];
}

/**
 * Columns of the table of instances: position of the event, local date (days since 1970), rank of the name. As columns,
 * instances take less time to move to the main thread.
 */
const COLUMNS = ["event", "day", "name", "original", "start", "end", "startOffset", "endOffset"] as const;

/** Events by id, instances by local date, event and start. */
export interface ExpandedCalendar {
  readonly zone: string;
  readonly site: string | null;
  readonly primarySource: string | null;
  readonly terms: readonly TaxonomyTerm[];
  readonly events: readonly IndexedEvent[];
  /** The stored events as JSON: as texts, they would take longer to move to the main thread. */
  readonly documents: Uint8Array<ArrayBuffer>;
  readonly instances: Readonly<Record<(typeof COLUMNS)[number], Float64Array<ArrayBuffer>>>;
}

/** Its rule could not be expanded: only the dates that it names are shown. */
export interface FailedEvent {
  readonly id: number;
  readonly reason: string;
}

/** @param siteZone null: the zone of the imported files, else UTC */
export function expandCalendar(
  { settings, terms, events }: StoredCalendar,
  siteZone: string | null,
  now: number,
): { readonly calendar: ExpandedCalendar; readonly failed: readonly FailedEvent[] } {
  const zone = siteZone ?? settings.zone ?? "UTC";
  const horizon = horizonAt(now, zone);
  const failed: FailedEvent[] = [];
  const expandOrNamed = (event: StoredEvent) => {
    try {
      return expand(event, zone, horizon);
    } catch (error) {
      failed.push({ id: event.id, reason: (error as Error).message });
      return expand({ ...event, rrule: null, overrides: [] }, zone, horizon);
    }
  };
  const list = sorted(events);
  const rankOf = nameRanks(list);
  const series = list.map((stored, event) => {
    const names = instanceNames(stored);
    return expandOrNamed(stored).map((instance) => {
      const day = Math.floor((instance.start + instance.startOffset) / 86_400);
      return { ...instance, event, day, name: rankOf(names.get(instance.original) ?? stored.name) };
    });
  });
  const ordered = series.flat().sort((a, b) => a.day - b.day);
  const positions = new Map(ordered.map((instance, position) => [instance, position]));
  const columns = COLUMNS.map((name) => [name, Float64Array.from(ordered, (row) => row[name])]);
  const documents = list.map((event) => Buffer.from(JSON.stringify(event)));
  const ends = endsOf(documents);
  const calendar = {
    zone,
    site: settings.site ?? null,
    primarySource: settings.primarySource ?? null,
    terms: sorted(terms),
    events: list.map((event, position) => ({
      id: event.id,
      from: ends[position - 1] ?? 0,
      to: ends[position] as number,
      source: event.source,
      audience: event.audience,
      allDay: event.allDay,
      published: event.published ? event.publishDate : Infinity,
      nameRank: rankOf(event.name),
      terms: Object.values(event.terms).flat(),
      series: (series[position] ?? []).map((instance) => positions.get(instance) as number),
    })),
    documents: new Uint8Array(Buffer.concat(documents)),
    instances: Object.fromEntries(columns) as ExpandedCalendar["instances"],
  };
  return { calendar, failed };
}

function endsOf(parts: readonly { readonly length: number }[]): number[] {
  let end = 0;
  return parts.map(({ length }) => {
    end += length;
    return end;
  });
}

/** Ranks of names in the order of their keys. */
function nameRanks(events: readonly StoredEvent[]): (name: string) => number {
  const names = events.flatMap(({ name, overrides }) => [name, ...overrides.flatMap((one) => one.name ?? [])]);
  const keys = [...new Set(names.map(nameKey))].sort(compareCodePoints);
  const ranks = new Map(keys.map((key, rank) => [key, rank]));
  return (name) => ranks.get(nameKey(name)) ?? 0;
}
