/** Adds an imported calendar to the stored one. */
import type { Calendar, ImportProblem, NewEvent, NewTerm, TermReference } from "../model/calendar.js";
import {
  byVocabulary,
  type StoredEvent,
  type TaxonomyTerm,
  type VocabularyName,
  vocabulary,
} from "../model/entities.js";
import { nameKey, slugOf } from "../model/name-keys.js";
import { expand, horizonAt, strayOverrides } from "../time/expand.js";
import { momentOf } from "../time/zone.js";
import { type StoredCalendar, sorted } from "./stored-calendar.js";

/** Settings of the site that an import is for. */
export interface ImportSettings {
  readonly now: number;
  readonly zone: string;
  readonly site: string;
  readonly source: string;
}

/** First id of events and terms that come without one; ids given by hand should be lower. */
const FIRST_GIVEN_ID = 1_000_000_000;

function nextId(last: number, taken: ReadonlyMap<number, unknown>): number {
  let id = Math.max(last + 1, FIRST_GIVEN_ID);
  while (taken.has(id)) id += 1;
  return id;
}

/**
 * The stored calendar with a file's terms and events, without the events that it cancels. @param problems receives
 * problems; if there are any, the result is of no use
 */
export function addCalendar(
  stored: StoredCalendar,
  calendar: Calendar,
  settings: ImportSettings,
  problems: ImportProblem[],
): StoredCalendar {
  const given = Object.entries(calendar.head).filter(([, value]) => value !== undefined);
  const terms = new TermBook(stored.terms, settings.site);
  for (const term of calendar.terms) terms.add(term, problems);
  terms.checkParents(calendar.terms, problems);
  const events = new Map(stored.events);
  const uids = new Map(stored.uids);
  for (const uid of calendar.removed) events.delete(uids.get(uid) ?? 0);
  let lastGiven = [...uids.values()].reduce((last, id) => Math.max(last, id), 0);
  // The id of a UID stays the same, even after its event has been deleted.
  const idOf = (uid: string): number => {
    const known = uids.get(uid);
    if (known !== undefined) return known;
    lastGiven = nextId(lastGiven, events);
    uids.set(uid, lastGiven);
    return lastGiven;
  };
  const seen = new Map<number, string>();
  for (const event of calendar.events) {
    const id = "id" in event.identity ? event.identity.id : idOf(event.identity.uid);
    const record = resolve(event, id, terms, settings, problems);
    const earlier = seen.get(id);
    if (earlier !== undefined) problems.push({ place: event.place, reason: `has the id of ${earlier}` });
    seen.set(id, event.place);
    events.set(id, record);
    for (const reason of seriesProblems(record, settings)) problems.push({ place: event.place, reason });
  }
  return { settings: { ...stored.settings, ...Object.fromEntries(given) }, terms: terms.terms, events, uids };
}

function seriesProblems(record: StoredEvent, { zone, now }: ImportSettings): string[] {
  try {
    const stray = strayOverrides(record).map((text) => `override of ${text}, which is not an instance of the event`);
    const { length } = expand(record, zone, horizonAt(now, zone));
    return length > 0 ? stray : [...stray, "has no instance: all are excluded or cancelled"];
  } catch (error) {
    return [`rrule cannot be expanded: ${(error as Error).message}`];
  }
}

/** Fills in addresses, publication, source and term ids. */
function resolve(
  event: NewEvent,
  id: number,
  terms: TermBook,
  settings: ImportSettings,
  problems: ImportProblem[],
): StoredEvent {
  const { identity: _identity, place, ...rest } = event;
  const day = event.allDay
    ? event.start
    : momentOf(event.start, event.zone).withTimeZone(settings.zone).toPlainDate().toString();
  const termIds = (home: VocabularyName): number[] => {
    const found = event.terms[home].map((reference, position) => {
      const term = terms.find(reference, home);
      if (term === null) problems.push({ place: `${place}.${home}[${position}]`, reason: "no such term" });
      return term;
    });
    return [...new Set(found.filter((term) => term !== null))].sort((a, b) => a - b);
  };
  return {
    ...rest,
    id,
    url: event.url ?? `${settings.site}/events/${day.replaceAll("-", "/")}/${encodeURIComponent(event.slug)}`,
    shortUrl: event.shortUrl ?? `${settings.site}/e/${id}`,
    publishDate: event.publishDate ?? settings.now,
    source: event.source ?? settings.source,
    terms: byVocabulary(termIds),
  };
}

/** The stored terms and the terms of a file; checks ids, names and parents. */
class TermBook {
  readonly terms: Map<number, TaxonomyTerm>;
  readonly #site: string;
  readonly #byName = new Map<string, number>();
  readonly #fromFile = new Map<number, string>();
  #lastGiven = 0;

  constructor(stored: ReadonlyMap<number, TaxonomyTerm>, site: string) {
    this.terms = new Map(stored);
    this.#site = site;
    for (const term of sorted(stored).reverse()) this.#byName.set(`${term.vocabulary} ${nameKey(term.name)}`, term.id);
  }

  add(term: NewTerm, problems: ImportProblem[]): void {
    const earlier = this.#fromFile.get(term.id);
    const home = this.terms.get(term.id)?.vocabulary;
    if (earlier !== undefined) problems.push({ place: term.place, reason: `has the id of ${earlier}` });
    else if (home !== undefined && home !== term.vocabulary) {
      problems.push({ place: term.place, reason: `has the id of a stored term of ${home}` });
    } else this.#put(term);
  }

  #put({ place, ...term }: NewTerm): void {
    const segment = vocabulary(term.vocabulary)?.segment;
    const url = term.url ?? `${this.#site}/${segment}/${encodeURIComponent(term.slug)}`;
    this.#fromFile.set(term.id, place);
    this.#byName.set(`${term.vocabulary} ${nameKey(term.name)}`, term.id);
    this.terms.set(term.id, { ...term, url });
  }

  checkParents(added: readonly NewTerm[], problems: ImportProblem[]): void {
    for (const { id, parent, vocabulary: home, place } of added) {
      if (parent === null) continue;
      if (this.terms.get(parent)?.vocabulary !== home) {
        problems.push({ place: `${place}.parent`, reason: `no term of ${home} has this id` });
      } else if (this.#isOwnAncestor(id)) {
        problems.push({ place: `${place}.parent`, reason: "makes the term its own ancestor" });
      }
    }
  }

  #isOwnAncestor(id: number): boolean {
    const passed = new Set<number>();
    for (let at = this.terms.get(id)?.parent; at != null && !passed.has(at); at = this.terms.get(at)?.parent) {
      if (at === id) return true;
      passed.add(at);
    }
    return false;
  }

  find(reference: TermReference, home: VocabularyName): number | null {
    if (typeof reference === "number") return this.terms.get(reference)?.vocabulary === home ? reference : null;
    const { name } = reference;
    const known = this.#byName.get(`${home} ${nameKey(name)}`);
    if (known !== undefined) return known;
    const id = nextId(this.#lastGiven, this.terms);
    this.#lastGiven = id;
    const blank = { address: null, city: null, state: null, zipcode: null, latitude: null, longitude: null };
    const address = home === "locations" ? blank : null;
    const unknown = { parent: null, weight: 0, url: null, place: "" };
    this.#put({ id, vocabulary: home, name, slug: slugOf(name), ...unknown, address });
    return id;
  }
}
