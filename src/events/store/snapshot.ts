/** Loads once per state of the data what requests need of the whole store. */

import type { StoreConnection } from "../../sqlite.js";
import type { Address, TaxonomyTerm, VocabularyName } from "../model/entities.js";
import { readStored } from "./site-settings.js";

/** What requests need of the whole store. */
export interface Snapshot {
  /** Distinguishes states of the data within this process. */
  readonly generation: number;
  /** The zone the instances were made for; all dates of the interface are in it. */
  readonly zone: string;
  readonly site: string | null;
  readonly primarySource: string | null;
  readonly terms: ReadonlyMap<number, TaxonomyTerm>;
  /** Ids of a term's direct children. */
  readonly children: ReadonlyMap<number, readonly number[]>;
  /** Sources of stored events, sorted. */
  readonly sources: readonly string[];
  /** Longest time between the start of an instance and its end, seconds: bounds the scan for those still running. */
  readonly longest: number;
}

/** Loads a snapshot. */
export function loadSnapshot(db: StoreConnection, generation: number): Snapshot {
  const stored = readStored(db);
  const terms = new Map<number, TaxonomyTerm>();
  const children = new Map<number, number[]>();
  const rows = db.all("SELECT id, vocabulary, name, slug, parent, weight, url, address FROM term ORDER BY id");
  for (const [id, vocabulary, name, slug, parent, weight, url, address] of rows) {
    const term = {
      id: Number(id),
      vocabulary: vocabulary as VocabularyName,
      name: String(name),
      slug: String(slug),
      parent: parent as number | null,
      weight: Number(weight),
      url: String(url),
      address: address === null ? null : (JSON.parse(String(address)) as Address),
    };
    terms.set(term.id, term);
    if (term.parent !== null) children.set(term.parent, [...(children.get(term.parent) ?? []), term.id]);
  }
  const sources = db.all("SELECT DISTINCT source FROM event ORDER BY source");
  return {
    generation,
    zone: stored.get("instanceZone") ?? "UTC",
    site: stored.get("site") ?? null,
    primarySource: stored.get("primarySource") ?? null,
    terms,
    children,
    sources: sources.map(([source]) => String(source)),
    longest: Number(db.first("SELECT max(over_ts - (start_key >> 1)) FROM instance")?.[0] ?? 0),
  };
}
