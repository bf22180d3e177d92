/** Routes of events: the collection, the events of a term, one event. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { preferred } from "../../server/http/negotiate.js";
import { type EventInstance, shownInstance, type VocabularyName } from "../model/entities.js";
import { type EventParts, eventParts, renderSingle, renderWhole } from "../render/event.js";
import { jsonLd } from "../render/json-ld.js";
import type { EventIndex } from "../store/event-index.js";
import { pageAnswer } from "./collection.js";
import { notFound } from "./events-error.js";
import { openRequest, pathId, redirectLoose } from "./open-request.js";
import { EVENT_PARAMETERS, readEventQuery } from "./read-query.js";
import { knownSources, type Resources } from "./resources.js";
import { sendAnswer } from "./send.js";

/** Instances on a page that is made in slices. */
const MANY = 2_000;

/** Answers `/events`, and `/{vocabulary}/{id}/events` when `vocabulary` is given. */
export function eventsHandler(resources: Resources, vocabulary: VocabularyName | null) {
  const { clock, settings, render } = resources;
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const id = vocabulary === null ? null : pathId(request);
    const { parameters, strict } = openRequest(request, settings, EVENT_PARAMETERS);
    if (id === null && redirectLoose(`${render.prefix}/events`, parameters, request, reply)) return reply;
    const index = resources.index();
    const pathTerm = vocabulary === null || id === null ? null : { vocabulary, ids: [id] };
    const query = readEventQuery(parameters, { strict, paged: true, pathTerm, ...knownSources(index, settings) });
    parameters.check();
    if (id !== null && index.terms.get(id)?.vocabulary !== vocabulary) throw notFound();
    const { shown, total } = index.select(query, clock());
    const { page, perPage } = query;
    const answer = pageAnswer({
      name: "events",
      items: itemsOf(resources, index, shown, query.single),
      count: shown.length,
      find: `${render.prefix}/events/{id}`,
      path: id === null ? `${render.prefix}/events` : `${render.prefix}/${vocabulary}/${id}/events`,
      known: EVENT_PARAMETERS,
      ...{ parameters, page, perPage, total },
    });
    const instances = query.single ? 0 : shown.reduce((sum, { eventId }) => sum + index.instanceCount(eventId), 0);
    return sendAnswer(request, reply, resources, { ...answer, isLong: instances > MANY });
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

/** Answers `/events/{id}`, as schema.org JSON-LD to those who prefer it. */
export function eventHandler(resources: Resources) {
  const { clock, settings } = resources;
  return (request: FastifyRequest, reply: FastifyReply) => {
    const id = pathId(request);
    const { parameters } = openRequest(request, settings, EVENT_PARAMETERS);
    parameters.check();
    const [index, now] = [resources.index(), clock()];
    const event = index.event(id, now);
    const instances = event ? index.instances(id) : [];
    const shown = shownInstance(instances, now);
    if (!event || !shown) throw notFound();
    const linked =
      request.eventsCallback === null && preferred(request.headers.accept, ["application/json", LINKED]) === LINKED;
    const page = linked
      ? jsonLd(event, instances, shown, index.terms)
      : renderWhole(eventParts(event, index.terms, resources.render), shown, instances);
    const answer = { parts: [JSON.stringify(page)], ...(linked ? { type: LINKED } : {}) };
    return sendAnswer(request, reply, resources, answer);
  };
}
