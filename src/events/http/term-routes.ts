/** The routes of the five vocabularies: collections, of one event too, and single terms. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { TermQuery } from "../model/event-query.js";
import type { Term, Vocabulary } from "../model/records.js";
import { renderEnvelope } from "../render/collection.js";
import { renderWholeTerm } from "../render/term.js";
import type { View } from "../store/store.js";
import { looseId, pathId, redirectTo } from "./event-routes.js";
import { openExchange, pageOf, sendJson } from "./exchange.js";
import { collectionLinks, linkHeader, pageAddress } from "./links.js";
import type { Page } from "./page-cache.js";
import { notFound } from "./problem.js";
import type { QueryString } from "./query-string.js";
import { readTermQuery, TERM_PARAMETERS } from "./read-query.js";
import type { Resources } from "./resources.js";
import { listTerms } from "./term-list.js";

/** Answers `/{vocabulary}`. */
export function termsHandler(resources: Resources, row: Vocabulary) {
  const { store, clock, settings, render } = resources;
  return (request: FastifyRequest, reply: FastifyReply) => {
    const { parameters, strict } = openExchange(request, settings, TERM_PARAMETERS);
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
    const { parameters, strict } = openExchange(request, settings, TERM_PARAMETERS);
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

function termsPage(
  { render }: Resources,
  { snapshot }: View,
  row: Vocabulary,
  terms: readonly Term[],
  query: TermQuery,
  path: string,
  parameters: QueryString,
): Page {
  const { page, total } = listTerms(terms, query);
  const links = collectionLinks(
    pageAddress(path, TERM_PARAMETERS, parameters, query.perPage),
    query.page,
    query.perPage,
    total,
  );
  const items = page.map((term) => JSON.stringify(renderWholeTerm(term, snapshot, render)));
  const find = `${render.prefix}/${row.name}/{id}`;
  const body = renderEnvelope({ name: row.name, items, find, links, page: query.page, perPage: query.perPage, total });
  const link = linkHeader(links);
  return pageOf(body, { "x-total-count": String(total), ...(link === null ? {} : { link }) });
}

/** Answers `/{vocabulary}/{id}`. */
export function termHandler(resources: Resources, row: Vocabulary) {
  const { store, clock, settings, render } = resources;
  return (request: FastifyRequest, reply: FastifyReply) => {
    const id = pathId(request);
    const { parameters } = openExchange(request, settings, TERM_PARAMETERS);
    parameters.check();
    const page = store.view(clock(), ({ snapshot }) => {
      const term = snapshot.terms.get(id);
      if (term?.vocabulary !== row.name) throw notFound();
      return pageOf(JSON.stringify(renderWholeTerm(term, snapshot, render)));
    });
    return sendJson(request, reply, page, settings);
  };
}
