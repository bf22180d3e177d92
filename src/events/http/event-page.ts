/** Reads the request for a page of events, tells whether the page takes long, and renders it. */
import type { EventQuery } from "../model/event-query.js";
import { renderSingle, renderWhole } from "../render/event.js";
import type { View } from "../store/store.js";
import { pageAddress, representPage } from "./collection.js";
import { notFound } from "./events-error.js";
import type { QueryString } from "./query-string.js";
import { EVENT_PARAMETERS, type EventsAsk, readEventQuery } from "./read-query.js";
import type { Representation } from "./representation.js";
import { knownSources, type Resources } from "./resources.js";

/** A page that a request asks for, and the keys of what is remembered of it. */
export interface WantedPage {
  readonly query: EventQuery;
  /** Address of any page of the collection; that of this one is its key. */
  readonly address: (page: number) => string;
  readonly key: string;
  /** Key of the number of items in all pages. */
  readonly totalKey: string;
}

const UNCOUNTED = EVENT_PARAMETERS.filter((name) => name !== "per_page" && name !== "order_by");

/** @throws EventsError 400 with every fault of the parameters, 404 when there is no such term */
export function readAsk(resources: Resources, view: View, parameters: QueryString, ask: EventsAsk): WantedPage {
  const { prefix } = resources.render;
  const { vocabulary, id, strict } = ask;
  const pathTerm = vocabulary === null || id === null ? null : { vocabulary, ids: [id] };
  const sources = knownSources(view, resources.settings);
  const query = readEventQuery(parameters, { strict, paged: true, pathTerm, ...sources });
  parameters.check();
  if (id !== null && view.snapshot.terms.get(id)?.vocabulary !== vocabulary) throw notFound();
  const path = id === null ? `${prefix}/events` : `${prefix}/${vocabulary}/${id}/events`;
  const address = pageAddress(path, EVENT_PARAMETERS, parameters, query.perPage);
  const totalKey = pageAddress(path, UNCOUNTED, parameters, query.perPage)(0);
  return { query, address, key: address(query.page), totalKey };
}

/**
 * Whether a page may hold up the event loop: unless its items are counted and one index has them in order, the whole
 * store is read; and the instances of a series may be many.
 */
export function takesLong(resources: Resources, view: View, { query, totalKey }: WantedPage): boolean {
  return !query.single || query.order[0]?.field !== "start_date" || !resources.isCounted(view.interval, totalKey);
}

/** Renders a page of events. */
export function eventsPage(resources: Resources, view: View, { query, address, totalKey }: WantedPage): Representation {
  const total = resources.total(view, totalKey, query);
  const shown = (query.page - 1) * query.perPage < total ? view.page(query) : [];
  const texts = resources.texts(view, shown);
  const items = shown.map((instance) => {
    const text = texts.get(instance.eventId);
    if (text === undefined) throw new Error(`instance of event ${instance.eventId}, which is not stored`);
    return query.single ? renderSingle(text, instance) : renderWhole(text, instance, view.instances(instance.eventId));
  });
  const { page, perPage } = query;
  const find = `${resources.render.prefix}/events/{id}`;
  return representPage({ name: "events", items, find, address, page, perPage, total });
}
