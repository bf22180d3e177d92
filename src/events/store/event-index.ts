/** Events and instances in memory, as requests select them. */
import type { EventInstance, StoredEvent, TaxonomyTerm } from "../model/entities.js";
import type { EventOrder, EventQuery, TermFilter } from "../model/event-query.js";
import { addDays, startOfDay } from "../time/zone.js";
import type { CalendarArrays } from "./expand-calendar.js";

const WIDENED: readonly string[] = ["event_categories", "locations"];

const STORED_ORDER = "start_date id";

export interface Selection {
  /** Instances; with `single` false the shown one of each event. */
  readonly shown: readonly EventInstance[];
  readonly total: number;
}

export class EventIndex {
  readonly calendar: CalendarArrays;
  readonly #places: ReadonlyMap<number, number>;
  readonly terms: ReadonlyMap<number, TaxonomyTerm>;

  constructor(arrays: CalendarArrays) {
    this.calendar = arrays;
    this.#places = new Map([...arrays.ids].map((id, place) => [id, place]));
    this.terms = new Map(arrays.terms.map((term) => [term.id, term]));
  }

  event(id: number, now: number): StoredEvent | null {
    const place = this.#places.get(id);
    return place === undefined || (this.calendar.published[place] as number) > now ? null : this.#document(place);
  }

  eventOf(id: number): StoredEvent {
    return this.#document(this.#places.get(id) as number);
  }

  #document(place: number): StoredEvent {
    const { documents, documentEnds } = this.calendar;
    const text = documents.subarray(documentEnds[place - 1] ?? 0, documentEnds[place]);
    return JSON.parse(new TextDecoder().decode(text)) as StoredEvent;
  }

  instances(id: number): EventInstance[] {
    return [...this.#seriesOf(this.#places.get(id) as number)].map((at) => this.#instance(at));
  }

  instanceCount(id: number): number {
    return this.#seriesOf(this.#places.get(id) as number).length;
  }

  #seriesOf(place: number): Uint32Array {
    const { series, seriesEnds } = this.calendar;
    return series.subarray(seriesEnds[place - 1] ?? 0, seriesEnds[place]);
  }

  #instance(at: number): EventInstance {
    const { ids, event, original, start, end, allDay, startOffset, endOffset } = this.calendar;
    const place = event[at] as number;
    return {
      eventId: ids[place] as number,
      original: original[at] as number,
      start: start[at] as number,
      end: end[at] as number,
      allDay: allDay[place] === 1,
      startOffset: startOffset[at] as number,
      endOffset: endOffset[at] as number,
    };
  }

  #over(at: number): number {
    const { start, end } = this.calendar;
    return Math.max(end[at] as number, (start[at] as number) + 1);
  }

  select(query: EventQuery, now: number): Selection {
    const { single, order, page, perPage } = query;
    const passing = this.#passing(query, now);
    const items = single ? passing : this.#shownOf(passing, now);
    const [from, to] = [(page - 1) * perPage, page * perPage];
    const isStored =
      order.map(({ field, descending }) => field + (descending ? " desc" : "")).join(" ") === STORED_ORDER;
    if (!single || !isStored) sortPart(items, this.#comparison(query), from, to);
    return { shown: [...items.subarray(from, to)].map((at) => this.#instance(at)), total: items.length };
  }

  #passing(query: EventQuery, now: number): Uint32Array {
    const { event, start, day } = this.calendar;
    const admitted = this.#admitted(query, now);
    const { after, until, before, lastDay } = timeBounds(query, this.calendar.zone, now);
    const firstDay = query.startDate === null ? null : dayOf(query.startDate);
    const found = new Uint32Array(event.length);
    let count = 0;
    for (let at = 0; at < event.length; at++) {
      if (admitted[event[at] as number] === 0 || (start[at] as number) >= before) continue;
      if ((day[at] as number) > lastDay || (firstDay !== null && day[at] !== firstDay)) continue;
      const over = this.#over(at);
      if (over > after && over <= until) found[count++] = at;
    }
    return found.subarray(0, count);
  }

  /** For each event 1 if it passes the filters that are not about times. */
  #admitted(query: EventQuery, now: number): Uint8Array {
    const { ids, published, audience, source, sources, termIds, termEnds } = this.calendar;
    const wanted = query.ids && new Set(query.ids);
    const excluded = new Set(query.excludedIds);
    const admitted = new Uint8Array(ids.length);
    const filters = query.terms.map((filter) => this.#widened(filter, query.includeSubterms));
    for (let place = 0; place < ids.length; place++) {
      const id = ids[place] as number;
      if ((published[place] as number) > now || ((audience[place] as number) & query.audience) === 0) continue;
      if (query.sources && !query.sources.includes(sources[source[place] as number] as string)) continue;
      if ((wanted && !wanted.has(id)) || excluded.has(id)) continue;
      const own = filters.length === 0 ? null : termIds.subarray(termEnds[place - 1] ?? 0, termEnds[place]);
      admitted[place] = own === null || filters.every((terms) => own.some((term) => terms.has(term))) ? 1 : 0;
    }
    return admitted;
  }

  /** Ids of a filter that are terms of its vocabulary, with the children of those to be widened. */
  #widened({ vocabulary, ids }: TermFilter, includeSubterms: readonly number[]): ReadonlySet<number> {
    const own = ids.filter((id) => this.terms.get(id)?.vocabulary === vocabulary);
    const parents = WIDENED.includes(vocabulary) ? own.filter((id) => includeSubterms.includes(id)) : [];
    const children = [...this.terms.values()].filter(({ parent }) => parent !== null && parents.includes(parent));
    return new Set([...own, ...children.map(({ id }) => id)]);
  }

  /** Of each event the first instance that is not over, else its last. */
  #shownOf(passing: Uint32Array, now: number): Uint32Array {
    const places = new Set<number>();
    for (const at of passing) places.add(this.calendar.event[at] as number);
    return Uint32Array.from(places, (place) => {
      const series = this.#seriesOf(place);
      return series.find((at) => this.#over(at) > now) ?? (series.at(-1) as number);
    });
  }

  /** Ties are decided by start, id and original start. */
  #comparison({ order, ids }: EventQuery): (a: number, b: number) => number {
    const { event, start, original, allDay } = this.calendar;
    const keys = order.map(({ field, descending }) => ({ key: this.#key(field, ids), sign: descending ? -1 : 1 }));
    return (a, b) => {
      for (const { key, sign } of keys) {
        const difference = key(a) - key(b);
        if (difference !== 0) return sign * difference;
      }
      const [one, other] = [event[a] as number, event[b] as number];
      return (
        (start[a] as number) - (start[b] as number) ||
        // An all-day start precedes a timed one at the same instant.
        (allDay[other] as number) - (allDay[one] as number) ||
        one - other ||
        (original[a] as number) - (original[b] as number)
      );
    };
  }

  #key(field: EventOrder, ids: readonly number[] | null): (at: number) => number {
    const { ids: known, event, day, end, endOffset, allDay, nameRank, published } = this.calendar;
    const places = new Map((ids ?? []).map((id, place) => [id, place]));
    const keys: Readonly<Record<EventOrder, (at: number) => number>> = {
      start_date: (at) => day[at] as number,
      end_date: (at) => {
        const last = (end[at] as number) + (endOffset[at] as number) - 86_400 * (allDay[event[at] as number] as number);
        return Math.floor(last / 86_400);
      },
      id: (at) => event[at] as number,
      name: (at) => nameRank[event[at] as number] as number,
      publish_date: (at) => published[event[at] as number] as number,
      list: (at) => places.get(known[event[at] as number] as number) ?? 0,
    };
    return keys[field];
  }
}

/** Bounds of an instance: over after `after`, not later than `until`, begun before `before` and on `lastDay`. */
function timeBounds({ types, date }: EventQuery, zone: string, now: number) {
  const has = (type: EventQuery["types"][number]) => types.includes(type);
  const bounds = { after: -Infinity, until: Infinity, before: Infinity, lastDay: Infinity };
  if (!has("all") && !(has("upcoming") && has("past"))) {
    if (has("past") && !has("current")) bounds.until = now;
    else if (!has("past")) bounds.after = now;
    if (has("current") && !has("upcoming")) bounds.before = now + 1;
  }
  if (date) {
    bounds.after = Math.max(bounds.after, startOfDay(date[0], zone));
    bounds.before = Math.min(bounds.before, startOfDay(addDays(date[1], 1), zone));
    bounds.lastDay = dayOf(date[1]);
  }
  return bounds;
}

function dayOf(date: string): number {
  return Date.parse(`${date}T00:00:00Z`) / 86_400_000;
}

/** Sorts only the items at `from` to `to`, by quicksort of the parts that meet them. */
function sortPart(
  items: Uint32Array,
  compare: (a: number, b: number) => number,
  from: number,
  to: number,
  first = 0,
  last = items.length - 1,
): void {
  let low = first;
  while (low < last && low < to) {
    const pivot = items[(low + last) >> 1] as number;
    let [i, j] = [low, last];
    while (i <= j) {
      while (compare(items[i] as number, pivot) < 0) i++;
      while (compare(items[j] as number, pivot) > 0) j--;
      if (i > j) break;
      [items[i], items[j]] = [items[j] as number, items[i] as number];
      i++;
      j--;
    }
    if (j >= from) sortPart(items, compare, from, to, low, j);
    low = i;
  }
}
