/** The routes of iCalendar files: one event with its rule, or the events that a query selects. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { openExchange, pageOf, sendAs } from "./exchange.js";
import { type CalendarFile, renderCalendar } from "./ics-export.js";
import { pageAddress } from "./links.js";
import type { EventRecord, Instance } from "./model.js";
import { notFound } from "./problem.js";
import type { EventQuery } from "./query.js";
import { EVENT_PARAMETERS, readEventQuery } from "./read-query.js";
import { instanceUrls } from "./render-time.js";
import { knownSources, type Resources } from "./resources.js";
import type { View } from "./store.js";
import { type CalendarContext, instanceComponent, seriesComponents } from "./vevent.js";
import type { JCal } from "./vtimezone.js";

const MOST_COMPONENTS = 1000;
const TYPE = "text/calendar";

/** Parameters of the filters; a calendar has no pages. */
const FILTERS = EVENT_PARAMETERS.filter((name) => name !== "page" && name !== "per_page");

/** Answers `/events.ics`. */
export function calendarHandler(resources: Resources) {
  const { store, clock, settings, render, pages } = resources;
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const { parameters, strict } = openExchange(request, settings, EVENT_PARAMETERS);
    request.eventsCallback = null;
    const { interval, key, page, file } = store.view(clock(), (view) => {
      const query = readEventQuery(parameters, {
        strict,
        paged: false,
        pathTerm: null,
        ...knownSources(view, settings),
      });
      parameters.check();
      const key = pageAddress(`${render.prefix}/events.ics`, FILTERS, parameters, query.perPage)(1);
      const page = pages.find(view.interval, key);
      return { interval: view.interval, key, page, file: page ? null : calendarOf(resources, view, query) };
    });
    if (page) return sendAs(TYPE, request, reply, page, settings);
    if (file === null) throw new Error("a calendar is neither kept nor to be made");
    const fresh = pageOf(await renderCalendar(file));
    pages.keep(interval, key, fresh);
    return sendAs(TYPE, request, reply, fresh, settings);
  };
}

function calendarOf(resources: Resources, view: View, query: EventQuery): CalendarFile {
  const shown = view.page({ ...query, page: 1, perPage: MOST_COMPONENTS });
  const events = view.events([...new Set(shown.map(({ eventId }) => eventId))]);
  const context = contextOf(resources, view);
  const first = Math.min(view.now, ...shown.map(({ start }) => start));
  const components = componentsOf(shown, new Map(events.map((event) => [event.id, event])), query.single, context);
  return { name: `Events of ${context.host}`, components, events, first, now: view.now };
}

/** At most `MOST_COMPONENTS`, made one by one. */
function* componentsOf(
  shown: readonly Instance[],
  events: ReadonlyMap<number, EventRecord>,
  single: boolean,
  context: CalendarContext,
): Generator<JCal> {
  let count = 0;
  for (const instance of shown) {
    const event = events.get(instance.eventId);
    if (event === undefined) continue;
    const url = instanceUrls(event.url, [instance])[0] ?? event.url;
    const made = single ? [instanceComponent(event, instance, url, context)] : seriesComponents(event, context);
    for (const component of made) {
      if (count++ === MOST_COMPONENTS) return;
      yield component;
    }
  }
}

/** Answers `/events/{id}.ics`; `file` is the segment with its suffix. */
export async function eventCalendarHandler(
  resources: Resources,
  file: string,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const { store, clock, settings } = resources;
  const id = /^([0-9]{1,15})\.ics$/.exec(file)?.[1];
  if (id === undefined) throw notFound();
  const { parameters } = openExchange(request, settings, EVENT_PARAMETERS);
  request.eventsCallback = null;
  parameters.check();
  const calendar = store.view(clock(), (view) => {
    const event = view.event(Number(id));
    if (!event) throw notFound();
    const components = seriesComponents(event, contextOf(resources, view));
    return { name: event.name, components, events: [event], first: view.now, now: view.now };
  });
  return sendAs(TYPE, request, reply, pageOf(await renderCalendar(calendar)), settings);
}

function contextOf({ settings }: Resources, view: View): CalendarContext {
  const site = settings.site ?? view.snapshot.site ?? settings.fallbackSite;
  return { snapshot: view.snapshot, host: new URL(site).hostname };
}
