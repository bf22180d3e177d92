/** The routes of iCalendar files: one event with its rule, or the events that a query selects. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { openExchange, pageOf, sendAs } from "./exchange.js";
import { renderCalendar } from "./ics-export.js";
import { pageAddress } from "./links.js";
import { notFound } from "./problem.js";
import type { EventQuery } from "./query.js";
import { EVENT_PARAMETERS, readEventQuery } from "./read-query.js";
import { instanceUrls } from "./render-time.js";
import { knownSources, type Resources } from "./resources.js";
import type { View } from "./store.js";
import { type CalendarContext, instanceComponent, seriesComponents } from "./vevent.js";

const MOST_COMPONENTS = 1000;
const TYPE = "text/calendar";

/** Parameters of the filters; a calendar has no pages. */
const FILTERS = EVENT_PARAMETERS.filter((name) => name !== "page" && name !== "per_page");

/** Answers `/events.ics`. */
export function calendarHandler(resources: Resources) {
  const { store, clock, settings, render } = resources;
  return (request: FastifyRequest, reply: FastifyReply) => {
    const { parameters, strict } = openExchange(request, settings, FILTERS);
    request.eventsCallback = null;
    const page = store.view(clock(), (view) => {
      const query = readEventQuery(parameters, {
        strict,
        paged: false,
        pathTerm: null,
        ...knownSources(view, settings),
      });
      parameters.check();
      const key = pageAddress(`${render.prefix}/events.ics`, FILTERS, parameters, query.perPage)(1);
      return resources.pages.get(view.interval, key, () => pageOf(calendarOf(resources, view, query)));
    });
    return sendAs(TYPE, request, reply, page, settings);
  };
}

function calendarOf(resources: Resources, view: View, query: EventQuery): string {
  const shown = view.page({ ...query, page: 1, perPage: MOST_COMPONENTS });
  const events = view.events([...new Set(shown.map(({ eventId }) => eventId))]);
  const byId = new Map(events.map((event) => [event.id, event]));
  const context = contextOf(resources, view);
  const components = shown.flatMap((instance) => {
    const event = byId.get(instance.eventId);
    if (event === undefined) return [];
    if (!query.single) return seriesComponents(event, context);
    return [instanceComponent(event, instance, instanceUrls(event.url, [instance])[0] ?? event.url, context)];
  });
  const first = Math.min(view.now, ...shown.map(({ start }) => start));
  const name = `Events of ${context.host}`;
  return renderCalendar({ name, components: components.slice(0, MOST_COMPONENTS), events, first, now: view.now });
}

/** Answers `/events/{id}.ics`; `file` is the segment with its suffix. */
export function eventCalendarHandler(resources: Resources, file: string, request: FastifyRequest, reply: FastifyReply) {
  const { store, clock, settings } = resources;
  const id = /^([0-9]{1,15})\.ics$/.exec(file)?.[1];
  if (id === undefined) throw notFound();
  const { parameters } = openExchange(request, settings, FILTERS);
  request.eventsCallback = null;
  parameters.check();
  const page = store.view(clock(), (view) => {
    const event = view.event(Number(id));
    if (!event) throw notFound();
    const components = seriesComponents(event, contextOf(resources, view));
    return pageOf(renderCalendar({ name: event.name, components, events: [event], first: view.now, now: view.now }));
  });
  return sendAs(TYPE, request, reply, page, settings);
}

function contextOf({ settings }: Resources, view: View): CalendarContext {
  const site = settings.site ?? view.snapshot.site ?? settings.fallbackSite;
  return { snapshot: view.snapshot, host: new URL(site).hostname };
}
