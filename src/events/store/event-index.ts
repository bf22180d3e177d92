/** Events and instances in memory, as requests select them. */
import { type EventInstance, overAt, type StoredEvent, type TaxonomyTerm } from "../model/entities.js";
import type { EventOrder, EventQuery, TermFilter } from "../model/event-query.js";
import { addDays, startOfDay } from "../time/zone.js";
import type { ExpandedCalendar, IndexedEvent } from "./expand-calendar.js";

/** Vocabularies whose filters may include children. */
const WIDENED: readonly string[] = ["event_categories", "locations"];

/** Order of the table of instances. */
const STORED_ORDER = "start_date id";

export interface Selection {
  /** Instances; with `single` false the shown one of each event. */
  readonly shown: readonly EventInstance[];
  readonly total: number;
}

/** Instances are passed on inside by their positions in the table of instances. */
export class EventIndex {
  readonly calendar: ExpandedCalendar;
  readonly terms: ReadonlyMap<number, TaxonomyTerm>;
  readonly sources: readonly string[];
  readonly #events: ReadonlyMap<number, IndexedEvent>;

  constructor(calendar: ExpandedCalendar) {
    this.calendar = calendar;
    this.terms = new Map(calendar.terms.map((term) => [term.id, term]));
    this.sources = [...new Set(calendar.events.map(({ source }) => source))];
    this.#events = new Map(calendar.events.map((event) => [event.id, event]));
  }

  /** Null if there is no such event, or it is not published yet. */
  event(id: number, now: number): StoredEvent | null {
    const found = this.#events.get(id);
    return found === undefined || found.published > now ? null : this.#document(found);
  }

  /** The event of a selected instance. */
  eventOf(id: number): StoredEvent {
    return this.#document(this.#events.get(id) as IndexedEvent);
  }

  #document({ from, to }: IndexedEvent): StoredEvent {
    return JSON.parse(new TextDecoder().decode(this.calendar.documents.subarray(from, to)));
  }

  instances(id: number): EventInstance[] {
    return (this.#events.get(id)?.series ?? []).map((at) => this.#instance(at));
  }

  instanceCount(id: number): number {
    return this.#events.get(id)?.series.length ?? 0;
  }

  #eventAt(at: number): IndexedEvent {
    return this.calendar.events[this.calendar.instances.event[at] as number] as IndexedEvent;
  }

  #instance(at: number): EventInstance {
    const { original, start, end, startOffset, endOffset } = this.calendar.instances;
    const { id, allDay } = this.#eventAt(at);
    return {
      eventId: id,
      original: original[at] as number,
      start: start[at] as number,
      end: end[at] as number,
      allDay,
      startOffset: startOffset[at] as number,
      endOffset: endOffset[at] as number,
    };
  }

  #over(at: number): number {
    const { start, end } = this.calendar.instances;
    return overAt(start[at] as number, end[at] as number);
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
    const { event, start, day } = this.calendar.instances;
    const admitted = this.calendar.events.map(this.#filter(query, now));
    const { after, until, before, lastDay } = timeBounds(query, this.calendar.zone, now);
    const firstDay = query.startDate === null ? null : dayOf(query.startDate);
    const found = new Uint32Array(event.length);
    let count = 0;
    for (let at = 0; at < event.length; at++) {
      if (!admitted[event[at] as number] || (start[at] as number) >= before) continue;
      if ((day[at] as number) > lastDay || (firstDay !== null && day[at] !== firstDay)) continue;
      const over = this.#over(at);
      if (over > after && over <= until) found[count++] = at;
    }
    return found.subarray(0, count);
  }

  /** The filters that are not about times. */
  #filter(query: EventQuery, now: number): (event: IndexedEvent) => boolean {
    const wanted = query.ids && new Set(query.ids);
    const excluded = new Set(query.excludedIds);
    const filters = query.terms.map((filter) => this.#widened(filter, query.includeSubterms));
    return ({ id, published, audience, source, terms }) =>
      published <= now &&
      (audience & query.audience) !== 0 &&
      (query.sources?.includes(source) ?? true) &&
      (wanted?.has(id) ?? true) &&
      !excluded.has(id) &&
      filters.every((filter) => terms.some((term) => filter.has(term)));
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
    const events = new Set([...passing].map((at) => this.#eventAt(at)));
    return Uint32Array.from(
      events,
      ({ series }) => series.find((at) => this.#over(at) > now) ?? (series.at(-1) as number),
    );
  }

  /** Ties are decided by start, id and original start. */
  #comparison(query: EventQuery): (a: number, b: number) => number {
    const { event, start, original } = this.calendar.instances;
    const keys = query.order.map(({ field, descending }) => ({
      key: this.#key(field, query),
      sign: descending ? -1 : 1,
    }));
    return (a, b) => {
      for (const { key, sign } of keys) {
        const difference = key(a) - key(b);
        if (difference !== 0) return sign * difference;
      }
      return (
        (start[a] as number) - (start[b] as number) ||
        // An all-day start precedes a timed one at the same instant.
        Number(this.#eventAt(b).allDay) - Number(this.#eventAt(a).allDay) ||
        (event[a] as number) - (event[b] as number) ||
        (original[a] as number) - (original[b] as number)
      );
    };
  }

  #key(field: EventOrder, { ids, single }: EventQuery): (at: number) => number {
    const { event, day, name, end, endOffset } = this.calendar.instances;
    const listed = new Map((ids ?? []).map((id, position) => [id, position]));
    const keys: Readonly<Record<EventOrder, (at: number) => number>> = {
      start_date: (at) => day[at] as number,
      end_date: (at) => {
        const local = (end[at] as number) + (endOffset[at] as number);
        return Math.floor(local / 86_400) - Number(this.#eventAt(at).allDay);
      },
      id: (at) => event[at] as number,
      name: (at) => (single ? (name[at] as number) : this.#eventAt(at).nameRank),
      publish_date: (at) => this.#eventAt(at).published,
      list: (at) => listed.get(this.#eventAt(at).id) ?? 0,
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
