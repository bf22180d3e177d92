/** Content of an imported file, before it gets ids and defaults. */
import type { Address, StoredEvent, TaxonomyTerm, VocabularyName } from "./entities.js";

export interface FileHead {
  readonly zone?: string | undefined;
  readonly site?: string | undefined;
  readonly primarySource?: string | undefined;
}

/** The store makes the address if `url` is null. */
export type NewTerm = Omit<TaxonomyTerm, "url" | "address"> & {
  readonly url: string | null;
  readonly address: Address | null;
  readonly place: string;
};

/** A name that is new becomes a term. */
export type TermReference = number | { readonly name: string };

/** The store replaces null members by their defaults. */
export interface NewEvent
  extends Omit<StoredEvent, "id" | "url" | "shortUrl" | "source" | "publishDate" | "terms" | "zone"> {
  readonly identity: { readonly id: number } | { readonly uid: string };
  readonly url: string | null;
  readonly shortUrl: string | null;
  readonly source: string | null;
  readonly publishDate: number | null;
  readonly zone: string;
  readonly terms: Readonly<Record<VocabularyName, readonly TermReference[]>>;
  readonly place: string;
}

export interface Calendar {
  readonly head: FileHead;
  readonly terms: readonly NewTerm[];
  readonly events: readonly NewEvent[];
  readonly removed: readonly string[];
}

export interface ImportProblem {
  /** JSON path (`events[3].start`) or `line 12`. */
  readonly place: string;
  readonly reason: string;
}

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
