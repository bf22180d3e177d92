/** Routes of the five vocabularies: collections, the terms of an event, single terms. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { TaxonomyTerm, Vocabulary } from "../model/entities.js";
import type { TermQuery } from "../model/event-query.js";
import { compareCodePoints, nameKey } from "../model/name-keys.js";
import { renderWholeTerm } from "../render/term.js";
import type { EventIndex } from "../store/event-index.js";
import { pageAddress, representPage } from "./collection.js";
import { looseId, pathId, redirectTo } from "./event-routes.js";
import { notFound } from "./events-error.js";
import { openRequest, sendJson } from "./open-request.js";
import { readTermQuery, TERM_PARAMETERS } from "./read-query.js";
import { represent } from "./representation.js";
import type { Resources } from "./resources.js";

/** Answers `/{vocabulary}`, or with `ofEvent` `/events/{id}/{vocabulary}`: the terms of an event, by the same rules. */
export function termsHandler(resources: Resources, row: Vocabulary, ofEvent: boolean) {
  const { clock, settings, render } = resources;
  return async (request: FastifyRequest, reply: FastifyReply) => {
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
    const index = resources.index();
    const { page, perPage } = query;
    const selected = selectTerms(termsIn(index, row, id, clock()), query);
    const shown = selected.slice((page - 1) * perPage, page * perPage);
    const made = await representPage({
      name: row.name,
      items: shown.map((term) => JSON.stringify(renderWholeTerm(term, index.terms, render))),
      count: shown.length,
      find: `${render.prefix}/${row.name}/{id}`,
      address: pageAddress(path, TERM_PARAMETERS, parameters, perPage),
      ...{ page, perPage, total: selected.length },
    });
    return sendJson(request, reply, made, settings);
  };
}

/** Terms of a vocabulary, or of an event, in its order. @throws EventsError 404 without such an event */
function termsIn(index: EventIndex, { name }: Vocabulary, eventId: number | null, now: number): TaxonomyTerm[] {
  const { terms } = index;
  if (eventId === null) return [...terms.values()].filter((term) => term.vocabulary === name);
  const event = index.event(eventId, now);
  if (!event) throw notFound();
  return event.terms[name].flatMap((term) => terms.get(term) ?? []);
}

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

export function termHandler(resources: Resources, row: Vocabulary) {
  const { settings, render } = resources;
  return (request: FastifyRequest, reply: FastifyReply) => {
    const id = pathId(request);
    const { parameters } = openRequest(request, settings, TERM_PARAMETERS);
    parameters.check();
    const { terms } = resources.index();
    const term = terms.get(id);
    if (term?.vocabulary !== row.name) throw notFound();
    return sendJson(request, reply, represent(JSON.stringify(renderWholeTerm(term, terms, render))), settings);
  };
}
