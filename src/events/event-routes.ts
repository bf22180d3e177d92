/** The routes of events: the collection, under a term too, and one event. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { prefers } from "./accept.js";
import { renderEnvelope } from "./envelope.js";
import { openExchange, pageOf, sendAs, sendJson } from "./exchange.js";
import { jsonLd } from "./json-ld.js";
import { collectionLinks, linkHeader, pageAddress } from "./links.js";
import type { VocabularyName } from "./model.js";
import type { Page } from "./page-cache.js";
import { notFound } from "./problem.js";
import type { EventQuery } from "./query.js";
import type { QueryString } from "./query-string.js";
import { EVENT_PARAMETERS, readEventQuery } from "./read-query.js";
import { renderSingle, renderWhole } from "./render-event.js";
import { shownInstance } from "./render-time.js";
import { knownSources, type Resources, textOf } from "./resources.js";
import type { View } from "./store.js";

/** A path id as a number; anything but 1 to 15 digits is an unknown resource. */
export function pathId(request: FastifyRequest): number {
  const { id = "" } = request.params as { id?: string };
  if (!/^[0-9]{1,15}$/.test(id)) throw notFound();
  return Number(id);
}

/** The id in `/events?id=12`, an address that old clients expand; null unless it is one plain integer. */
export function looseId(parameters: QueryString): number | null {
  const [id, ...more] = parameters.raw("id");
  return id !== undefined && more.length === 0 && /^[0-9]{1,15}$/.test(id) ? Number(id) : null;
}

/** Sends the caller of a loose id to the member's own address. */
export function redirectTo(address: string, request: FastifyRequest, reply: FastifyReply) {
  const callback = request.eventsCallback === null ? "" : `?callback=${encodeURIComponent(request.eventsCallback)}`;
  return reply.code(308).header("location", `${address}${callback}`).send();
}

/** Answers `/events`, and `/{vocabulary}/{id}/events` when `vocabulary` is given. */
export function eventsHandler(resources: Resources, vocabulary: VocabularyName | null) {
  const { store, clock, settings, render } = resources;
  return (request: FastifyRequest, reply: FastifyReply) => {
    const id = vocabulary === null ? null : pathId(request);
    const { parameters, strict } = openExchange(request, settings, EVENT_PARAMETERS);
    const loose = vocabulary === null ? looseId(parameters) : null;
    const page = store.view(clock(), (view) => {
      if (loose !== null) return null;
      const pathTerm = vocabulary === null || id === null ? null : { vocabulary, ids: [id] };
      const query = readEventQuery(parameters, { strict, paged: true, pathTerm, ...knownSources(view, settings) });
      parameters.check();
      if (id !== null && view.snapshot.terms.get(id)?.vocabulary !== vocabulary) throw notFound();
      const path = id === null ? `${render.prefix}/events` : `${render.prefix}/${vocabulary}/${id}/events`;
      return eventsPage(resources, view, query, path, parameters);
    });
    if (page !== null) return sendJson(request, reply, page, settings);
    parameters.check();
    return redirectTo(`${render.prefix}/events/${loose}`, request, reply);
  };
}

function eventsPage(resources: Resources, view: View, query: EventQuery, path: string, parameters: QueryString): Page {
  const address = pageAddress(path, EVENT_PARAMETERS, parameters, query.perPage);
  return resources.pages.get(view.interval, address(query.page), () => {
    const filters = EVENT_PARAMETERS.filter((name) => name !== "per_page" && name !== "order_by");
    const total = resources.total(view, pageAddress(path, filters, parameters, query.perPage)(0), query);
    const shown = (query.page - 1) * query.perPage < total ? view.page(query) : [];
    const texts = resources.texts(view, shown);
    const items = shown.map((instance) => {
      const text = texts.get(instance.eventId);
      if (text === undefined) throw new Error(`instance of event ${instance.eventId}, which is not stored`);
      return query.single
        ? renderSingle(text, instance)
        : renderWhole(text, instance, view.instances(instance.eventId));
    });
    const links = collectionLinks(address, query.page, query.perPage, total);
    const find = `${resources.render.prefix}/events/{id}`;
    const body = renderEnvelope({
      name: "events",
      items,
      find,
      links,
      page: query.page,
      perPage: query.perPage,
      total,
    });
    const link = linkHeader(links);
    return pageOf(body, { "x-total-count": String(total), ...(link === null ? {} : { link }) });
  });
}

/** Answers `/events/{id}`, as schema.org JSON-LD to those who prefer it. */
export function eventHandler(resources: Resources) {
  const { store, clock, settings, render } = resources;
  return (request: FastifyRequest, reply: FastifyReply) => {
    const id = pathId(request);
    const { parameters } = openExchange(request, settings, EVENT_PARAMETERS);
    parameters.check();
    const linked = request.eventsCallback === null && prefers(request.headers.accept, "application/ld+json");
    const page = store.view(clock(), (view) =>
      resources.pages.get(view.interval, `${render.prefix}/events/${id}${linked ? " ld" : ""}`, () => {
        const event = view.event(id);
        const instances = event ? view.instances(id) : [];
        const shown = shownInstance(instances, view.now);
        if (!event || !shown) throw notFound();
        if (linked) return pageOf(JSON.stringify(jsonLd(event, instances, shown, view.snapshot)));
        return pageOf(renderWhole(textOf(resources, view, event), shown, instances));
      }),
    );
    if (linked) return sendAs("application/ld+json", request, reply, page, settings);
    return sendJson(request, reply, page, settings);
  };
}
