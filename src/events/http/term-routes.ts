/** Routes of the five vocabularies: collections, the terms of an event, single terms. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { TaxonomyTerm, Vocabulary } from "../model/entities.js";
import type { TermQuery } from "../model/event-query.js";
import { compareCodePoints, nameKey } from "../model/name-keys.js";
import { renderWholeTerm } from "../render/term.js";
import type { EventIndex } from "../store/event-index.js";
import { pageAnswer } from "./collection.js";
import { notFound } from "./events-error.js";
import { openRequest, pathId, redirectLoose } from "./open-request.js";
import { readTermQuery, TERM_PARAMETERS } from "./read-query.js";
import type { Resources } from "./resources.js";
import { sendAnswer } from "./send.js";

/** Answers `/{vocabulary}`, or with `ofEvent` `/events/{id}/{vocabulary}`: the terms of an event, by the same rules. */
export function termsHandler(resources: Resources, row: Vocabulary, ofEvent: boolean) {
  const { clock, settings, render } = resources;
  const home = `${render.prefix}/${row.name}`;
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const { parameters, strict } = openRequest(request, settings, TERM_PARAMETERS);
    if (!ofEvent && redirectLoose(home, parameters, request, reply)) return reply;
    const query = readTermQuery(parameters, strict);
    parameters.check();
    const id = ofEvent ? pathId(request) : null;
    const index = resources.index();
    const { page, perPage } = query;
    const selected = selectTerms(termsIn(index, row, id, clock()), query);
    const shown = selected.slice((page - 1) * perPage, page * perPage);
    const answer = pageAnswer({
      name: row.name,
      items: shown.map((term) => JSON.stringify(renderWholeTerm(term, index.terms, render))),
      count: shown.length,
      find: `${home}/{id}`,
      path: id === null ? home : `${render.prefix}/events/${id}/${row.name}`,
      known: TERM_PARAMETERS,
      ...{ parameters, page, perPage, total: selected.length },
    });
    return sendAnswer(request, reply, resources, answer);
  };
}

/** Terms of a vocabulary, or of an event, in its order. Throws EventsError 404 without such an event. */
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
    return sendAnswer(request, reply, resources, { parts: [JSON.stringify(renderWholeTerm(term, terms, render))] });
  };
}
