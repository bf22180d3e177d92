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
import { openRequest, sendJson } from "./exchange.js";
import type { QueryString } from "./query-string.js";
import { readTermQuery, TERM_PARAMETERS } from "./read-query.js";
import { type Representation, represent } from "./representation.js";
import type { Resources } from "./resources.js";

/** Answers `/{vocabulary}`. */
export function termsHandler(resources: Resources, row: Vocabulary) {
  const { store, clock, settings, render } = resources;
  return (request: FastifyRequest, reply: FastifyReply) => {
    const { parameters, strict } = openRequest(request, settings, TERM_PARAMETERS);
    const loose = looseId(parameters);
    if (loose !== null) {
      parameters.check();
      return redirectTo(`${render.prefix}/${row.name}/${loose}`, request, reply);
    }
    const query = readTermQuery(parameters, strict);
    parameters.check();
    const page = store.view(clock(), (view) => {
      const terms = [...view.snapshot.terms.values()].filter((term) => term.vocabulary === row.name);
      return termsPage(resources, view, row, terms, query, `${render.prefix}/${row.name}`, parameters);
    });
    return sendJson(request, reply, page, settings);
  };
}

/** Answers `/events/{id}/{sub}`: the event's terms, by the rules of their own collection. */
export function eventTermsHandler(resources: Resources, row: Vocabulary) {
  const { store, clock, settings, render } = resources;
  return (request: FastifyRequest, reply: FastifyReply) => {
    const id = pathId(request);
    const { parameters, strict } = openRequest(request, settings, TERM_PARAMETERS);
    const query = readTermQuery(parameters, strict);
    parameters.check();
    const page = store.view(clock(), (view) => {
      const event = view.event(id);
      if (!event) throw notFound();
      const terms = event.terms[row.name].flatMap((term) => view.snapshot.terms.get(term) ?? []);
      return termsPage(resources, view, row, terms, query, `${render.prefix}/events/${id}/${row.name}`, parameters);
    });
    return sendJson(request, reply, page, settings);
  };
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
