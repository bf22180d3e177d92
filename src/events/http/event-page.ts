/** Reads the request for a page of events, estimates whether the page takes long, and renders it. */
import type { EventQuery } from "../model/event-query.js";
import { renderSingle, renderWhole } from "../render/event.js";
import { jsonLd } from "../render/json-ld.js";
import { shownInstance } from "../render/shown-time.js";
import type { StoreView } from "../store/store.js";
import { pageAddress, representPage } from "./collection.js";
import { notFound } from "./events-error.js";
import type { QueryString } from "./query-string.js";
import { EVENT_PARAMETERS, type EventsAsk, readEventQuery } from "./read-query.js";
import { type Representation, represent } from "./representation.js";
import { knownSources, type Resources, textOf } from "./resources.js";

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
export function readAsk(resources: Resources, view: StoreView, parameters: QueryString, ask: EventsAsk): WantedPage {
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

/** Instances of one event above which rendering it takes long. */
const MANY = 200;
/** Items before a page above which finding it takes long. */
const FAR = 10_000;

/**
 * Whether a page may hold up the event loop. It takes long unless its items have been counted, one index has them in
 * order, the page is near the start, and no filter makes the scan skip most of the store; a series may have many
 * instances.
 */
export function takesLong(resources: Resources, view: StoreView, { query, totalKey }: WantedPage): boolean {
  const { single, order, ids, excludedIds, terms, sources, audience, page, perPage } = query;
  const filtered =
    ids !== null || excludedIds.length > 0 || terms.length > 0 || sources?.length !== 1 || audience !== 1;
  const far = (page - 1) * perPage > FAR;
  return (
    !single || order[0]?.field !== "start_date" || filtered || far || !resources.isCounted(view.interval, totalKey)
  );
}

/** Whether an event has so many instances that rendering them may hold up the event loop. */
export function hasMany(view: StoreView, id: number): boolean {
  return view.instanceCount(id) > MANY;
}

/**
 * Renders one event with all its instances.
 *
 * @param linked as schema.org JSON-LD
 * @throws EventsError 404 when there is no such event
 */
export function eventPage(resources: Resources, view: StoreView, id: number, linked: boolean): Representation {
  const event = view.event(id);
  const instances = event ? view.instances(id) : [];
  const shown = shownInstance(instances, view.now);
  if (!event || !shown) throw notFound();
  if (linked) return represent(JSON.stringify(jsonLd(event, instances, shown, view.snapshot)));
  return represent(renderWhole(textOf(resources, view, event), shown, instances));
}

/** Renders a page of events. */
export function eventsPage(
  resources: Resources,
  view: StoreView,
  { query, address, totalKey }: WantedPage,
): Representation {
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
