/** Routes of events: the collection, the events of a term, one event. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { preferred } from "../../server/http/negotiate.js";
import type { EventInstance, VocabularyName } from "../model/entities.js";
import { type EventParts, eventParts, renderSingle, renderWhole } from "../render/event.js";
import { jsonLd } from "../render/json-ld.js";
import { shownInstance } from "../render/shown-time.js";
import type { EventIndex } from "../store/event-index.js";
import { pageAddress, representPage } from "./collection.js";
import { notFound } from "./events-error.js";
import { openRequest, sendAs, sendJson } from "./open-request.js";
import type { QueryString } from "./query-string.js";
import { EVENT_PARAMETERS, readEventQuery } from "./read-query.js";
import { type Representation, represent } from "./representation.js";
import { knownSources, type Resources } from "./resources.js";

export function pathId(request: FastifyRequest): number {
  return Number((request.params as { readonly id: string }).id);
}

/** The id in `/events?id=12`, an address of old clients; null unless it is one whole number. */
export function looseId(parameters: QueryString): number | null {
  const [id, ...more] = parameters.raw("id");
  return id !== undefined && more.length === 0 && /^[0-9]{1,15}$/.test(id) ? Number(id) : null;
}

export function redirectTo(address: string, request: FastifyRequest, reply: FastifyReply) {
  const callback = request.eventsCallback === null ? "" : `?callback=${encodeURIComponent(request.eventsCallback)}`;
  return reply.code(308).header("location", `${address}${callback}`).send();
}

/** Instances on a page that are made in slices. */
const MANY = 2_000;

/** Answers `/events`, and `/{vocabulary}/{id}/events` when `vocabulary` is given. */
export function eventsHandler(resources: Resources, vocabulary: VocabularyName | null) {
  const { clock, settings, render } = resources;
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const id = vocabulary === null ? null : pathId(request);
    const { parameters, strict } = openRequest(request, settings, EVENT_PARAMETERS);
    const loose = vocabulary === null ? looseId(parameters) : null;
    if (loose !== null) {
      parameters.check();
      return redirectTo(`${render.prefix}/events/${loose}`, request, reply);
    }
    const index = resources.index();
    const pathTerm = vocabulary === null || id === null ? null : { vocabulary, ids: [id] };
    const query = readEventQuery(parameters, { strict, paged: true, pathTerm, ...knownSources(index, settings) });
    parameters.check();
    if (id !== null && index.terms.get(id)?.vocabulary !== vocabulary) throw notFound();
    const { shown, total } = index.select(query, clock());
    const path = id === null ? `${render.prefix}/events` : `${render.prefix}/${vocabulary}/${id}/events`;
    const { page, perPage } = query;
    const content = {
      name: "events",
      items: itemsOf(resources, index, shown, query.single),
      count: shown.length,
      find: `${render.prefix}/events/{id}`,
      address: pageAddress(path, EVENT_PARAMETERS, parameters, perPage),
      ...{ page, perPage, total },
    };
    const instances = query.single ? 0 : shown.reduce((sum, { eventId }) => sum + index.instanceCount(eventId), 0);
    const make = () => representPage(content);
    const made = await (instances > MANY ? resources.longBodies.run(make) : make());
    return sendJson(request, reply, made, settings);
  };
}

function* itemsOf({ render }: Resources, index: EventIndex, shown: readonly EventInstance[], single: boolean) {
  const made = new Map<number, EventParts>();
  for (const instance of shown) {
    const { eventId } = instance;
    const parts = made.get(eventId) ?? eventParts(index.eventOf(eventId), index.terms, render);
    made.set(eventId, parts);
    const item = single ? renderSingle(parts, instance) : renderWhole(parts, instance, index.instances(eventId));
    yield JSON.stringify(item);
  }
}

const LINKED = "application/ld+json";
const FORMS = ["application/json", LINKED] as const;

/** Answers `/events/{id}`, as schema.org JSON-LD to those who prefer it. */
export function eventHandler(resources: Resources) {
  const { clock, settings } = resources;
  return (request: FastifyRequest, reply: FastifyReply) => {
    const id = pathId(request);
    const { parameters } = openRequest(request, settings, EVENT_PARAMETERS);
    parameters.check();
    const linked = request.eventsCallback === null && preferred(request.headers.accept, FORMS) === LINKED;
    const page = eventPage(resources, id, clock(), linked);
    return linked ? sendAs(LINKED, request, reply, page, settings) : sendJson(request, reply, page, settings);
  };
}

function eventPage(resources: Resources, id: number, now: number, linked: boolean): Representation {
  const index = resources.index();
  const event = index.event(id, now);
  const instances = event ? index.instances(id) : [];
  const shown = shownInstance(instances, now);
  if (!event || !shown) throw notFound();
  const parts = eventParts(event, index.terms, resources.render);
  const page = linked ? jsonLd(event, instances, shown, index.terms) : renderWhole(parts, shown, instances);
  return represent(JSON.stringify(page));
}
