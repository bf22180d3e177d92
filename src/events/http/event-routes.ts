/** Serves the routes of events: the collection, the events of a term, one event. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { preferred } from "../../server/http/negotiate.js";
import type { VocabularyName } from "../model/entities.js";
import { eventPage, eventsPage, hasMany, readAsk, takesLong } from "./event-page.js";
import { openRequest, sendAs, sendJson, splitTarget } from "./open-request.js";
import type { QueryString } from "./query-string.js";
import { EVENT_PARAMETERS } from "./read-query.js";
import type { Representation } from "./representation.js";
import type { Resources } from "./resources.js";

/** The id in the path of a request. */
export function pathId(request: FastifyRequest): number {
  return Number((request.params as { readonly id: string }).id);
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
  const { store, clock, settings, render, pages, thread } = resources;
  return (request: FastifyRequest, reply: FastifyReply) => {
    const id = vocabulary === null ? null : pathId(request);
    const { parameters, strict } = openRequest(request, settings, EVENT_PARAMETERS);
    const loose = vocabulary === null ? looseId(parameters) : null;
    if (loose !== null) {
      parameters.check();
      return redirectTo(`${render.prefix}/events/${loose}`, request, reply);
    }
    const ask = { vocabulary, id, strict };
    const now = clock();
    const found = store.view(now, (view) => {
      const wanted = readAsk(resources, view, parameters, ask);
      const { interval } = view;
      if (thread === null || !takesLong(resources, view, wanted)) {
        return pages.get(interval, wanted.key, () => eventsPage(resources, view, wanted));
      }
      return pages.find(interval, wanted.key) ?? { interval, wanted };
    });
    if (!("wanted" in found)) return sendJson(request, reply, found, settings);
    const { interval, wanted } = found;
    const task = { form: "events", ask, search: splitTarget(request).query, now } as const;
    return thread?.make(interval, wanted.key, task).then((page) => {
      pages.keep(interval, wanted.key, page);
      resources.noteTotal(interval, wanted.totalKey, Number(page.headers["x-total-count"]));
      return sendJson(request, reply, page, settings);
    });
  };
}

/** The type of schema.org JSON-LD, and the forms of one event. */
const LINKED = "application/ld+json";
const FORMS = ["application/json", LINKED] as const;

/** Answers `/events/{id}`, as schema.org JSON-LD to those who prefer it. */
export function eventHandler(resources: Resources) {
  const { store, clock, settings, render, pages, thread } = resources;
  return (request: FastifyRequest, reply: FastifyReply) => {
    const id = pathId(request);
    const { parameters, strict } = openRequest(request, settings, EVENT_PARAMETERS);
    parameters.check();
    const linked = request.eventsCallback === null && preferred(request.headers.accept, FORMS) === LINKED;
    const send = (page: Representation) =>
      linked ? sendAs(LINKED, request, reply, page, settings) : sendJson(request, reply, page, settings);
    const key = `${render.prefix}/events/${id}${linked ? " ld" : ""}`;
    const now = clock();
    const found = store.view(now, (view) => {
      const { interval } = view;
      if (thread !== null && hasMany(view, id)) return pages.find(interval, key) ?? { interval };
      return pages.get(interval, key, () => eventPage(resources, view, id, linked));
    });
    if (!("interval" in found)) return send(found);
    const { interval } = found;
    const ask = { vocabulary: null, id, strict };
    return thread?.make(interval, key, { form: linked ? "linked" : "event", ask, search: "", now }).then((page) => {
      pages.keep(interval, key, page);
      return send(page);
    });
  };
}
