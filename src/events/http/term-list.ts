/** Terms selected, ordered and cut to a page; there are few, so this works on those in memory. */

import type { TermQuery } from "../model/event-query.js";
import { compareCodePoints, nameKey } from "../model/name-key.js";
import type { Term } from "../model/records.js";

/** @returns the terms of the page, and how many there are in all */
export function listTerms(terms: readonly Term[], query: TermQuery): { page: Term[]; total: number } {
  const { ids, excludedIds, slugs } = query;
  const position = new Map((ids ?? []).map((id, place) => [id, place]));
  const selected = terms.filter(
    (term) =>
      (ids === null || position.has(term.id)) &&
      !excludedIds.includes(term.id) &&
      (slugs === null || slugs.includes(term.slug)),
  );
  const comparisons = {
    id: (a: Term, b: Term) => a.id - b.id,
    list: (a: Term, b: Term) => (position.get(a.id) ?? 0) - (position.get(b.id) ?? 0),
    name: (a: Term, b: Term) => compareCodePoints(nameKey(a.name), nameKey(b.name)),
    weight: (a: Term, b: Term) => a.weight - b.weight,
  };
  const sorted = selected.sort((a, b) => {
    for (const { field, descending } of query.order) {
      const order = comparisons[field](a, b);
      if (order !== 0) return descending ? -order : order;
    }
    return a.id - b.id;
  });
  const first = (query.page - 1) * query.perPage;
  return { page: sorted.slice(first, first + query.perPage), total: sorted.length };
}
