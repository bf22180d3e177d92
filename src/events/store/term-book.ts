/** Checks ids, names and parents of terms while a file adds them to those of the store. */

import type { SqlValue, StoreConnection } from "../../sqlite.js";
import type { ImportProblem, NewTerm, TermReference } from "../model/calendar.js";
import { type TaxonomyTerm, type VocabularyName, vocabulary } from "../model/entities.js";
import { nameKey, slugOf } from "../model/name-keys.js";

/** First id for events and terms that come without one; ids given by hand should be lower. */
const FIRST_GIVEN_ID = 1_000_000_000;

/** The first free id after `last`, but none below `FIRST_GIVEN_ID`. */
export function nextId(last: number, isTaken: (id: number) => boolean): number {
  let id = Math.max(last + 1, FIRST_GIVEN_ID);
  while (isTaken(id)) id += 1;
  return id;
}

/** The terms of a store, and those that a file adds. */
export class TermBook {
  readonly #db: StoreConnection;
  readonly #site: string;
  readonly #vocabularyOf = new Map<number, VocabularyName>();
  readonly #byName = new Map<string, number>();
  readonly #parents = new Map<number, number>();
  readonly #fromFile = new Map<number, string>();
  #lastGiven = 0;

  constructor(db: StoreConnection, site: string) {
    this.#db = db;
    this.#site = site;
    for (const [id, name, vocabularyName, parent] of db.all(
      "SELECT id, name, vocabulary, parent FROM term ORDER BY id DESC",
    )) {
      this.#note(Number(id), vocabularyName as VocabularyName, String(name), parent as number | null);
    }
  }

  #note(id: number, of: VocabularyName, name: string, parent: number | null): void {
    this.#vocabularyOf.set(id, of);
    this.#byName.set(`${of} ${nameKey(name)}`, id);
    if (parent === null) this.#parents.delete(id);
    else this.#parents.set(id, parent);
  }

  add(term: NewTerm, problems: ImportProblem[]): void {
    const earlier = this.#fromFile.get(term.id);
    const home = this.#vocabularyOf.get(term.id);
    if (earlier !== undefined) {
      problems.push({ place: term.place, reason: `has the id of ${earlier}` });
    } else if (home !== undefined && home !== term.vocabulary) {
      problems.push({ place: term.place, reason: `has the id of a stored term of ${home}` });
    } else {
      this.#write(term);
    }
  }

  #write(term: NewTerm): void {
    this.#fromFile.set(term.id, term.place);
    const segment = vocabulary(term.vocabulary)?.segment;
    const url = term.url ?? `${this.#site}/${segment}/${encodeURIComponent(term.slug)}`;
    this.#note(term.id, term.vocabulary, term.name, term.parent);
    writeTerm(this.#db, { ...term, url });
  }

  checkParents(terms: readonly NewTerm[], problems: ImportProblem[]): void {
    for (const { id, parent, vocabulary: home, place } of terms) {
      if (parent === null) continue;
      if (this.#vocabularyOf.get(parent) !== home) {
        problems.push({ place: `${place}.parent`, reason: `no term of ${home} has this id` });
      } else if (this.#isOwnAncestor(id)) {
        problems.push({ place: `${place}.parent`, reason: "makes the term its own ancestor" });
      }
    }
  }

  #isOwnAncestor(id: number): boolean {
    const passed = new Set<number>();
    for (let at = this.#parents.get(id); at !== undefined && !passed.has(at); at = this.#parents.get(at)) {
      if (at === id) return true;
      passed.add(at);
    }
    return false;
  }

  /** The id of a referenced term, or null when there is none; a name that is new becomes a term. */
  find(reference: TermReference, home: VocabularyName): number | null {
    if (typeof reference === "number") return this.#vocabularyOf.get(reference) === home ? reference : null;
    const known = this.#byName.get(`${home} ${nameKey(reference.name)}`);
    if (known !== undefined) return known;
    const id = nextId(this.#lastGiven, (taken) => this.#vocabularyOf.has(taken));
    this.#lastGiven = id;
    const slug = slugOf(reference.name);
    const blank = { address: null, city: null, state: null, zipcode: null, latitude: null, longitude: null };
    const address = home === "locations" ? blank : null;
    const { name } = reference;
    this.#write({ id, vocabulary: home, name, slug, parent: null, weight: 0, url: null, address, place: "" });
    return id;
  }
}

function writeTerm(db: StoreConnection, term: TaxonomyTerm): void {
  const cells: SqlValue[] = [term.id, term.vocabulary, term.name, term.slug, term.parent, term.weight, term.url];
  db.run(
    `INSERT INTO term (id, vocabulary, name, slug, parent, weight, url, address) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET name = excluded.name, slug = excluded.slug, parent = excluded.parent,
       weight = excluded.weight, url = excluded.url, address = excluded.address`,
    [...cells, term.address === null ? null : JSON.stringify(term.address)],
  );
}
