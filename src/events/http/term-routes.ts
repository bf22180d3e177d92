/** Serves the routes of the five vocabularies: collections, the terms of an event, single terms. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { TaxonomyTerm, Vocabulary } from "../model/entities.js";
import type { TermQuery } from "../model/event-query.js";
import { compareCodePoints, nameKey } from "../model/name-keys.js";
import { renderWholeTerm } from "../render/term.js";
import type { StoreView } from "../store/store.js";
import { pageAddress, representPage } from "./collection.js";
import { looseId, pathId, redirectTo } from "./event-routes.js";
import { notFound } from "./events-error.js";
import { openRequest, sendJson } from "./open-request.js";
import type { QueryString } from "./query-string.js";
import { readTermQuery, TERM_PARAMETERS } from "./read-query.js";
import { type Representation, represent } from "./representation.js";
import type { Resources } from "./resources.js";

/** Answers `/{vocabulary}`, or with `ofEvent` `/events/{id}/{vocabulary}`: the terms of an event, by the same rules. */
export function termsHandler(resources: Resources, row: Vocabulary, ofEvent: boolean) {
  const { store, clock, settings, render } = resources;
  return (request: FastifyRequest, reply: FastifyReply) => {
    const { parameters, strict } = openRequest(request, settings, TERM_PARAMETERS);
    const loose = ofEvent ? null : looseId(parameters);
    if (loose !== null) {
      parameters.check();
      return redirectTo(`${render.prefix}/${row.name}/${loose}`, request, reply);
    }
    const query = readTermQuery(parameters, strict);
    parameters.check();
    const id = ofEvent ? pathId(request) : null;
    const path = id === null ? `${render.prefix}/${row.name}` : `${render.prefix}/events/${id}/${row.name}`;
    const page = store.view(clock(), (view) =>
      termsPage(resources, view, row, termsIn(view, row, id), query, path, parameters),
    );
    return sendJson(request, reply, page, settings);
  };
}

/** The terms of a vocabulary, or those of an event, in its order. @throws EventsError 404 if there is no such event */
function termsIn(view: StoreView, { name }: Vocabulary, eventId: number | null): readonly TaxonomyTerm[] {
  const { terms } = view.snapshot;
  if (eventId === null) return [...terms.values()].filter((term) => term.vocabulary === name);
  const event = view.event(eventId);
  if (!event) throw notFound();
  return event.terms[name].flatMap((term) => terms.get(term) ?? []);
}

/** The page of some terms that a query selects; there are few, so they are filtered and sorted in memory. */
function termsPage(
  { render }: Resources,
  { snapshot }: StoreView,
  row: Vocabulary,
  terms: readonly TaxonomyTerm[],
  query: TermQuery,
  path: string,
  parameters: QueryString,
): Representation {
  const { page, perPage } = query;
  const selected = selectTerms(terms, query);
  const shown = selected.slice((page - 1) * perPage, page * perPage);
  return representPage({
    name: row.name,
    items: shown.map((term) => JSON.stringify(renderWholeTerm(term, snapshot, render))),
    find: `${render.prefix}/${row.name}/{id}`,
    address: pageAddress(path, TERM_PARAMETERS, parameters, perPage),
    page,
    perPage,
    total: selected.length,
  });
}

/** All terms that a query selects, in its order. */
function selectTerms(terms: readonly TaxonomyTerm[], query: TermQuery): TaxonomyTerm[] {
  const { ids, excludedIds, slugs } = query;
  const position = new Map((ids ?? []).map((id, place) => [id, place]));
  const comparisons = {
    id: (a: TaxonomyTerm, b: TaxonomyTerm) => a.id - b.id,
    list: (a: TaxonomyTerm, b: TaxonomyTerm) => (position.get(a.id) ?? 0) - (position.get(b.id) ?? 0),
    name: (a: TaxonomyTerm, b: TaxonomyTerm) => compareCodePoints(nameKey(a.name), nameKey(b.name)),
    weight: (a: TaxonomyTerm, b: TaxonomyTerm) => a.weight - b.weight,
  };
  const isSelected = (term: TaxonomyTerm) =>
    (ids === null || position.has(term.id)) &&
    !excludedIds.includes(term.id) &&
    (slugs === null || slugs.includes(term.slug));
  return terms.filter(isSelected).sort((a, b) => {
    for (const { field, descending } of query.order) {
      const order = comparisons[field](a, b);
      if (order !== 0) return descending ? -order : order;
    }
    return a.id - b.id;
  });
}

/** Answers `/{vocabulary}/{id}`. */
export function termHandler(resources: Resources, row: Vocabulary) {
  const { store, clock, settings, render } = resources;
  return (request: FastifyRequest, reply: FastifyReply) => {
    const id = pathId(request);
    const { parameters } = openRequest(request, settings, TERM_PARAMETERS);
    parameters.check();
    const page = store.view(clock(), ({ snapshot }) => {
      const term = snapshot.terms.get(id);
      if (term?.vocabulary !== row.name) throw notFound();
      return represent(JSON.stringify(renderWholeTerm(term, snapshot, render)));
    });
    return sendJson(request, reply, page, settings);
  };
}
