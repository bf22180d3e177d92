/** A calendar is the content of an imported file: settings, terms and events before they get ids and defaults. */
import type { Address, StoredEvent, TaxonomyTerm, VocabularyName } from "./entities.js";

/** Settings that a file may carry. */
export interface FileHead {
  readonly zone?: string | undefined;
  readonly site?: string | undefined;
  readonly primarySource?: string | undefined;
}

/** A term as a file gives it; the store makes the address if `url` is null. */
export type NewTerm = Omit<TaxonomyTerm, "url" | "address"> & {
  readonly url: string | null;
  readonly address: Address | null;
  /** Place in the file, for problems. */
  readonly place: string;
};

/** Reference to a term: by id, or by name, which creates the term when the vocabulary has none of that name. */
export type TermReference = number | { readonly name: string };

/** An event as a file gives it; the store replaces null members by their defaults. */
export interface NewEvent
  extends Omit<StoredEvent, "id" | "url" | "shortUrl" | "source" | "publishDate" | "terms" | "zone"> {
  readonly identity: { readonly id: number } | { readonly uid: string };
  readonly url: string | null;
  readonly shortUrl: string | null;
  readonly source: string | null;
  readonly publishDate: number | null;
  readonly zone: string;
  readonly terms: Readonly<Record<VocabularyName, readonly TermReference[]>>;
  /** Place in the file, for problems. */
  readonly place: string;
}

/** The content of one file. */
export interface Calendar {
  readonly head: FileHead;
  readonly terms: readonly NewTerm[];
  readonly events: readonly NewEvent[];
  /** UIDs of events that the file cancels. */
  readonly removed: readonly string[];
}

/** One problem of a file. */
export interface ImportProblem {
  /** JSON path (`events[3].start`) or `line 12`. */
  readonly place: string;
  readonly reason: string;
}

/** A file was refused; the message lists every problem with its place. */
export class ImportError extends Error {
  readonly problems: readonly ImportProblem[];

  constructor(file: string, problems: readonly ImportProblem[]) {
    const lines = problems.map(({ place, reason }) => `  ${place}: ${reason}`);
    const count = problems.length === 1 ? "one problem" : `${problems.length} problems`;
    super(`${file}: ${count}, nothing was imported\n${lines.join("\n")}`);
    this.name = "ImportError";
    this.problems = problems;
  }
}
