/** Serves the routes of iCalendar files: one event with its rule, or the events that a query selects. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { renderCalendar } from "../render/calendar-file.js";
import { seriesComponents } from "../render/vevent.js";
import { pathId } from "./event-routes.js";
import { notFound } from "./events-error.js";
import { contextOf, makeCalendar, readCalendarAsk } from "./ics-page.js";
import { openRequest, sendAs, splitTarget } from "./open-request.js";
import { EVENT_PARAMETERS } from "./read-query.js";
import { represent } from "./representation.js";
import type { Resources } from "./resources.js";

const TYPE = "text/calendar";

/** Answers `/events.ics`. */
export function calendarHandler(resources: Resources) {
  const { store, clock, settings, pages, thread } = resources;
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const { parameters, strict } = openRequest(request, settings, EVENT_PARAMETERS);
    request.eventsCallback = null;
    const now = clock();
    const { interval, key, page } = store.view(now, (view) => {
      const { key } = readCalendarAsk(resources, view, parameters, strict);
      return { interval: view.interval, key, page: pages.find(view.interval, key) };
    });
    if (page) return sendAs(TYPE, request, reply, page, settings);
    const ask = { vocabulary: null, id: null, strict };
    const task = { form: "calendar", ask, search: splitTarget(request).query, now } as const;
    const fresh = await (thread?.make(interval, key, task) ?? makeCalendar(resources, now, parameters, strict));
    pages.keep(interval, key, fresh);
    return sendAs(TYPE, request, reply, fresh, settings);
  };
}

/** Answers `/events/{id}.ics`. */
export function eventCalendarHandler(resources: Resources) {
  const { store, clock, settings } = resources;
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const { parameters } = openRequest(request, settings, EVENT_PARAMETERS);
    request.eventsCallback = null;
    parameters.check();
    const calendar = store.view(clock(), (view) => {
      const event = view.event(pathId(request));
      if (!event) throw notFound();
      const components = seriesComponents(event, contextOf(resources, view));
      return { name: event.name, components, events: [event], first: view.now, now: view.now };
    });
    return sendAs(TYPE, request, reply, represent(await renderCalendar(calendar)), settings);
  };
}
