/** What a file to import comes to: settings of its head, terms, and events that are still to be given ids and defaults. */
import type { Address, EventRecord, Term, VocabularyName } from "./records.js";

/** Settings a file may carry. */
export interface Head {
  readonly zone?: string;
  readonly site?: string;
  readonly primarySource?: string;
}

/** A term whose address is still to be made when `url` is null. */
export type NewTerm = Omit<Term, "url" | "address"> & {
  readonly url: string | null;
  readonly address: Address | null;
  readonly place: string;
};

/** Reference to a term: by id, or by name, which creates the term when the vocabulary has none of that name. */
export type TermReference = number | { readonly name: string };

/** An event as a file gives it; null members get their default when it is stored. */
export interface NewEvent
  extends Omit<EventRecord, "id" | "uid" | "url" | "shortUrl" | "source" | "publishDate" | "terms" | "zone"> {
  readonly identity: { readonly id: number } | { readonly uid: string };
  readonly url: string | null;
  readonly shortUrl: string | null;
  readonly source: string | null;
  readonly publishDate: number | null;
  readonly zone: string;
  readonly terms: Readonly<Record<VocabularyName, readonly TermReference[]>>;
  /** Where it stands in the file. */
  readonly place: string;
}

export interface Calendar {
  readonly head: Head;
  readonly terms: readonly NewTerm[];
  readonly events: readonly NewEvent[];
  /** UIDs of events that the file cancels. */
  readonly removed: readonly string[];
}
